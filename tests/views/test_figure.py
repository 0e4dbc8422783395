"""A figure's bundle needs no kernel, no sheet and no network, and says the same in words."""

import base64
import json
import re
import sys
from xml.etree import ElementTree as ET

import pytest

from kvolsched.views.drawing import png, theme
from kvolsched.views.drawing.figure import SCRIPT, WIDTHS, Figure
from kvolsched.views.drawing.text import escape
from kvolsched.views.pictures import lanes, log, matrix

from . import frames

PNG = b"\x89PNG\r\n\x1a\n"
DRAWN = {
    "matrix": matrix.draw(frames.with_cell(frames.zonal(5)), 700),
    "lanes": lanes.draw(frames.refused(frames.zonal(9)), 700),
}


def parsed(svg):
    """Parse a picture: it must be well-formed XML."""
    return ET.fromstring(svg)  # noqa: S314 - our own string


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", DRAWN)
def test_a_resolved_picture_stands_alone(name, colours):
    """No class, variable, ref, role of a control or switch is left, and every text has its colour."""
    svg = theme.resolve(DRAWN[name], colours)
    root = parsed(svg)
    assert [] == re.findall(r'\s(?:class|data-\w+|tabindex|style)=|var\(|role="button"', svg)
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert [] == [t.text for t in texts if not re.fullmatch("#[0-9a-f]{6}", t.get("fill", ""))]


def test_switches_that_need_a_kernel_are_left_out():
    """What unfolds a lane is no part of a saved picture."""
    folds = re.compile(">[▸▾]<")
    drawn = lanes.draw(frames.zonal(8), 1000, fold=True)
    assert folds.search(drawn)
    assert not folds.search(theme.resolve(drawn))


def test_paper_and_margin():
    """A saved picture brings its paper and its margin."""
    root = parsed(theme.resolve(DRAWN["lanes"], "dark", 10))
    assert ("720", "-10 -10") == (root.get("width"), " ".join(root.get("viewBox").split()[:2]))
    assert theme.palette("dark")["paper"] == root[0].get("fill")


def test_classes_win_in_the_order_of_the_sheet():
    """Two classes on one mark resolve as a browser would: the later rule of the sheet wins."""
    svg = '<svg width="9" height="9"><text class="k-on k-q">a</text><text class="k-q k-on">b</text></svg>'
    fills = re.findall(r'<text fill="([^"]*)"', theme.resolve(svg))
    assert [theme.palette()["paper"]] * 2 == fills


def test_a_movable_group_keeps_its_place():
    """A place that a browser would animate becomes an attribute that every viewer knows."""
    svg = '<svg width="9" height="9"><g data-key="a" style="transform:translate(3.5px,-2px)"></g></svg>'
    assert 'transform="translate(3.5,-2)"' in theme.resolve(svg)


def test_palette_has_every_role_in_both_themes():
    """Light and dark name the same roles; what text stands on is paper in both."""
    light, dark = theme.palette(), theme.palette("dark")
    assert set(light) == set(dark)
    assert {"ok", "node", "resources", "storage", "spread", "paper", "ink", "soft", "accent"} <= set(light)
    assert ("#02775d", "#acf5d3") == (light["ok"], dark["ok"])


def luminance(colour):
    """The relative luminance of `#rrggbb` by WCAG."""
    parts = (int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_stored_picture_is_legible_on_white_and_on_black():
    """Until a notebook is run, or trusted, its PNG stands on the page's ground: it has none, and its words suit both."""
    shown = dict(theme.palette("either"))
    inlay = shown.pop("inlay")  # of words on the block of a pod, which is filled with ink on both grounds
    words = [colour for role, colour in shown.items() if role != "paper" and len(colour) == 7]
    contrasts = [ratio for colour in words for ratio in
                 (1.05 / (luminance(colour) + 0.05), (luminance(colour) + 0.05) / (luminance("#111111") + 0.05))]
    stored = theme.stored_png(Figure(DRAWN["matrix"], "x").svg, 10)

    assert set(theme.palette()) == {*shown, "inlay"}
    assert min(*contrasts, (luminance(inlay) + 0.05) / (luminance(shown["ink"]) + 0.05)) > 4.2
    assert stored[stored.index(b"tRNS") + 4] == 0  # of the colour that most pixels have
    assert stored == base64.b64decode(Figure(DRAWN["matrix"], "x")._repr_mimebundle_()["image/png"])


def test_bundle_has_picture_png_and_reading():
    """Trusted notebooks get the script, untrusted ones the PNG, everyone the reading; never text/html."""
    bundle = Figure(DRAWN["lanes"], "the reading")._repr_mimebundle_()
    assert [SCRIPT, "image/png", "text/plain"] == list(bundle)
    assert PNG == base64.b64decode(bundle["image/png"])[:8]
    assert "the reading" == bundle["text/plain"]


def test_without_vl_convert_the_png_is_left_out(monkeypatch):
    """Where vl-convert cannot be imported, the bundle is the picture and the reading."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert [SCRIPT, "text/plain"] == list(Figure(DRAWN["lanes"], "x")._repr_mimebundle_())


def test_repr_is_the_reading():
    """In a terminal a figure is its reading."""
    assert "the reading" == repr(Figure(DRAWN["lanes"], "the reading"))


def test_same_picture_same_bytes():
    """Drawing and resolving twice gives the same bundle, so that a re-run notebook is byte-identical."""
    one = Figure(matrix.draw(frames.zonal(12), 700), "x")._repr_mimebundle_()
    two = Figure(matrix.draw(frames.zonal(12), 700), "x")._repr_mimebundle_()
    assert one == two


def test_save_by_ending(tmp_path):
    """The name's ending decides what is written; another ending is refused by name."""
    drawn = Figure(DRAWN["lanes"], "the reading")
    assert PNG == drawn.save(tmp_path / "a.png").read_bytes()[:8]
    parsed(drawn.save(tmp_path / "a.svg").read_text("utf-8"))
    assert "the reading" == drawn.save(tmp_path / "a.txt").read_text("utf-8")
    with pytest.raises(ValueError, match=r"must end in \.html, \.png, \.svg, \.txt"):
        drawn.save(tmp_path / "a.gif")


def test_a_page_of_words_is_saved_as_a_page_or_as_words(tmp_path):
    """It has one layout for all widths and no image; asked for one, it says what there is instead."""
    drawn = Figure(lambda width, _: log.draw_events(frames.zonal(14), width), "the reading")
    assert {SCRIPT, "text/plain"} == set(drawn._repr_mimebundle_())
    assert 1 == len(shown(drawn)["layouts"])
    assert "Scheduled" in drawn.save(tmp_path / "a.html").read_text("utf-8")
    assert "the reading" == drawn.save(tmp_path / "a.txt").read_text("utf-8")
    for name in ("a.svg", "a.png"):
        with pytest.raises(ValueError, match=r"a page of words is no picture: save it as \.html or \.txt"):
            drawn.save(tmp_path / name)


def test_save_says_what_is_missing(monkeypatch, tmp_path):
    """Without vl-convert a PNG cannot be written, and the error names the package."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ValueError, match="vl-convert-python"):
        Figure(DRAWN["lanes"], "x").save(tmp_path / "a.png")


def shown(figure):
    """Return what the script of a figure shows."""
    script = figure._repr_mimebundle_()[SCRIPT]
    return json.loads(script[script.index('{"root"') : script.rindex(")(element)")])


def test_a_figure_is_laid_out_for_each_width():
    """The page chooses among layouts for several widths; equal ones are stored once."""
    data = shown(Figure(lambda width, _: lanes.draw(frames.zonal(9), width), "x"))
    assert list(WIDTHS) == [width for width, _ in data["layouts"]]
    assert [f"width='{width}'" for width in WIDTHS] == [
        re.search(r"width='\d+'", drawn)[0] for _, drawn in data["layouts"]]
    assert 1 == len(shown(Figure(DRAWN["lanes"], "x"))["layouts"])


def test_a_figure_brings_the_rules_it_uses():
    """Every class of the picture that has a rule brings it, in both themes, and the panel's rules stay away."""
    data = shown(Figure(DRAWN["matrix"], "x"))
    used = {name for classes in re.findall(r'class="([^"]*)"', DRAWN["matrix"]) for name in classes.split()}
    known = set(re.findall(r"\.(k-[-\w]+)", theme.sheet()))
    assert set() == used & known - set(re.findall(r"\.(k-[-\w]+)", data["style"]))
    assert '[data-jp-theme-light="false"] .' + data["root"] in data["style"]
    assert ".kv " not in data["style"]
    assert "k-toolbar" not in data["style"]


def test_a_script_cannot_be_closed_by_a_name():
    """A name from a manifest cannot end the script that shows it, in a notebook or in a saved page."""
    figure = Figure(f'<svg width="9" height="9"><text>{escape("</script><script>alert(1)")}</text></svg>', "</script>")
    assert "</script" not in figure._repr_mimebundle_()[SCRIPT]


def test_save_as_a_page(tmp_path):
    """A figure saved as .html is one file that shows it without a network."""
    page = Figure(DRAWN["lanes"], "<b>the reading").save(tmp_path / "a.html").read_text("utf-8")
    assert "<title>&lt;b&gt;the reading</title>" in page
    assert [] == re.findall(r'(?:src|href)="', page)


def test_a_png_is_packed_without_a_visible_loss():
    """A stored picture takes a fraction of what its writer makes of it; where there is much of a colour, it stays."""
    import vl_convert

    picture = theme.resolve(DRAWN["matrix"], margin=10)
    packed = theme.svg_png(picture)
    palette = packed[packed.index(b"PLTE") + 4 : packed.index(b"tRNS") - 8]
    colours = {palette[i : i + 3].hex() for i in range(0, len(palette), 3)}
    assert len(packed) < len(vl_convert.svg_to_png(picture, scale=1.0)) / 4
    assert {theme.palette()[role][1:] for role in ("paper", "ok-pale", "resources", "storage")} <= colours


def test_a_png_of_another_form_stays_as_it_is():
    """Only the form that the writer of our pictures uses is packed."""
    packed = theme.svg_png(theme.resolve(DRAWN["lanes"]))
    assert packed == png.packed(packed)
