"""Colours are judged by computation: contrast of words, distance of families, and the budget of bytes."""

import re
from itertools import combinations

import pytest

from kvolsched import UnknownName
from kvolsched.views.drawing import theme as styles
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.frame import FAMILIES
from kvolsched.views.panel import host

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    """Return linear red, green, blue of a colour."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def contrast(one, other):
    """Return the WCAG contrast of two colours."""
    light = [sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear(c), strict=True)) for c in (one, other)]
    return (max(light) + 0.05) / (min(light) + 0.05)


def test_a_misspelt_role_is_refused():
    """A mark in the colour of no role is an error with the nearest ones, not a mark without colour."""
    with pytest.raises(UnknownName, match="did you mean storage"):
        Sheet(100).rect(0, 0, 10, 10, "storrage")


def lab(rgb):
    """Return CIE L*a*b* of linear RGB."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(w * p for w, p in zip(row, rgb, strict=True)) for row in rows]
    scaled = [v / white for v, white in zip(xyz, (0.9505, 1.0, 1.089), strict=True)]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in scaled)
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def seen(colour, kind):
    """Return linear RGB as somebody without full colour vision sees it."""
    return [min(1, max(0, sum(w * p for w, p in zip(row, linear(colour), strict=True)))) for row in BLINDNESS[kind]]


def distance(one, other, kind):
    """Return ΔE76 of two colours under one kind of colour blindness."""
    pair = [lab(seen(colour, kind)) for colour in (one, other)]
    return sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("role", ["ok", *FAMILIES])
def test_words_stand_out_on_pale_and_on_strong_ground(theme, role):
    """A family's word on its pale ground has contrast 4.7, paper on its strong ground 5.4."""
    colours = styles.palette(theme)
    measured = (contrast(colours[role], colours[f"{role}-pale"]), contrast(colours["paper"], colours[role]))
    assert (round(measured[0], 1) >= 4.7, round(measured[1], 1) >= 5.4) == (True, True), measured


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("word", "ground"), [("ink", "paper"), ("soft", "panel"), ("soft", "paper"), ("accent", "paper")]
)
def test_plain_words_are_readable(theme, word, ground):
    """Ink, secondary words and the accent reach 4.5 on the grounds they stand on."""
    colours = styles.palette(theme)
    assert contrast(colours[word], colours[ground]) >= 4.5


@pytest.mark.parametrize(("theme", "least"), [("light", 16), ("dark", 23)])
def test_families_stay_apart_without_full_colour_vision(theme, least):
    """No two families come closer than ΔE76 16 (light) and 23 (dark) under three kinds of colour blindness."""
    colours = styles.palette(theme)
    pairs = combinations(["ok", *FAMILIES], 2)
    worst = min((distance(colours[a], colours[b], kind), kind, a, b) for a, b in pairs for kind in BLINDNESS)
    assert worst[0] >= least, worst


def test_host_and_sheet_keep_their_budget():
    """The host is at most 8 kB and the sheets of all views, with those of pages of words, at most 26 kB, as served."""
    assert (len(host.script().encode()) <= 8192, len(host.style().encode()) <= 26 * 1024) == (True, True)


def test_every_rule_stands_under_the_versioned_root():
    """No selector could touch the rest of a page, or be touched by an older sheet."""
    plain = re.sub(r"@(container|media)[^{]*\{|@keyframes[^{]*\{[^{}]*\{[^{}]*\}\}", "", host.style())
    selectors = [s for head in re.findall(r"([^{}]+)\{", plain) for s in re.split(r",(?![^(]*\))", head)]
    assert [s for s in selectors if f".{host.ROOT}" not in s] == []
    assert [c for c in re.findall(r"\.([a-zA-Z][\w-]*)", "".join(selectors))
                  if not c.startswith(("k-", "kv-", "noUi-", "widget-", "jupyter-", "mod-"))] == []  # fmt: skip


def test_switches_that_need_a_kernel_are_hidden_in_figures():
    """A figure, where nobody answers a click, does not show what only the panel and a saved page can do."""
    assert f".{host.ROOT}.k-fig .k-live{{display:none}}" in host.style()


def test_a_stored_picture_has_a_colour_for_every_role():
    """The colours that suit both grounds are of the same roles as those of a theme; a pale one is its role's, thinned."""
    either = styles.palette("either")

    assert set(styles.palette("light")) == set(styles.palette("dark")) == set(either)
    assert (either["storage"] + "26", either["soft"] + "80") == (either["storage-pale"], either["line"])
