"""The cards of `fix`: what they say, which of them open, and that words stand apart at every width."""

from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from kvolsched import Cluster
from kvolsched.api.text import manifest
from kvolsched.views.drawing.figure import SCRIPT, WIDTHS
from kvolsched.views.drawing.svg import picture
from kvolsched.views.fill.fix import page_of
from kvolsched.views.pictures import fix, fix_body, fix_head

from .placed import misplaced

DUMPS = Path(__file__).parents[1] / "conformance" / "dumps"


@cache
def answer(name, pod):
    """Search fixes in a recorded dump once."""
    return Cluster.from_manifests(DUMPS / f"{name}.yaml.gz").fix(pod)


@cache
def rows(name, pod):
    """Fill the cards of fixes in a recorded dump once."""
    return page_of(answer(name, pod))


SHOWN = [("storage", "kafka-2"), ("storage", "huge"), ("shop", "nightly"), ("shop", "batch"), ("shop", "trainer")]


def test_a_card_says_what_changes_what_is_touched_and_who_waits_then():
    """A card has words, lifted verdicts with their letter, the node, the objects and the outcome."""
    page = rows("storage", "kafka-2")
    told = [(card.words, [row.letter + row.glyph for row in card.lifted], card.node, fix_head.touched_words(card),
             card.outcome.short) for card in page.cards]  # fmt: skip

    assert "8 edits would place demo/kafka-2; the first touches this pod alone" == page.title
    assert ("let the pod tolerate dedicated=gpu:NoSchedule", ["T⊘"], "node-b", ["pod edited"], "nobody") == told[0]
    assert ("remove the taint dedicated from node-b", ["T⊘"], "node-b", ["node edited"], "also places 1 pod") == told[1]
    moved = ("delete or move demo/kafka-1 from node-a", ["L✕"], "node-a", ["pod gone", "restart"])
    assert (*moved, "moves the lack to kafka-1") == told[2]
    assert ("add a node like node-a", [], "node-a-more", ["node new", "driver new"], "nobody") == told[4]


def test_the_fork_stands_beside_the_cluster_without_the_fix():
    """Places come in the same order on both sides; the pods that the fix concerns are marked, and come first."""
    both = rows("storage", "kafka-2").cards[2].beside
    shown = [[(place.title, place.pods[0]) for place in side] for side in (both.without, both.within)]

    assert [[("waits", ("kafka-2", True)), ("node-a", ("kafka-1", True))],
            [("waits", ("kafka-1", True)), ("node-a", ("kafka-2", True))]] == shown  # fmt: skip


def test_whom_an_edit_concerns_and_what_must_restart():
    """Only an owner knows whether a driver or a machine must restart; what is opened to one is opened to all."""
    cards = rows("storage", "kafka-2").cards

    assert ["no", "no", "yes", "driver"] == [card.restart for card in cards[:4]]
    assert ["", "node-b opens for all", "", "pods of node-a"] == [card.others for card in cards[:4]]
    assert ["machine", "pods of node-a2"] == [
        value for card in rows("shop", "trainer").cards if card.words.startswith("give") for value in (card.restart, card.others)
    ]


def test_gates_and_rejections_before_filtering_have_a_letter_too():
    """A gated pod has G, a pod rejected as a whole the plugin's letter, without a node."""
    assert [("G", "‖", "")] == [(row.letter, row.glyph, rows("shop", "nightly").cards[0].where)
                                for row in rows("shop", "nightly").cards[0].lifted]  # fmt: skip
    assert "before any node is looked at" in fix_body.body(rows("shop", "batch").cards[0], 700)[0]


def test_a_page_opens_the_first_card_and_folds_long_diffs():
    """All cards can be opened without a kernel; a diff of at most eight changed lines is unfolded in its card."""
    page = ET.fromstring(f"<div>{fix.page(rows('storage', 'kafka-2'), 940)}</div>")  # noqa: S314 - our own string
    cards = page.findall("details")
    diffs = [card.find(".//div/details") for card in cards]

    assert [True] + [False] * 7 == ["open" in card.attrib for card in cards]
    assert ["open" in diff.attrib for diff in diffs[:4]] == [True, True, False, True]
    assert all("".join(diff.itertext()).startswith("YAML diff · ") for diff in diffs)
    assert "+  - effect: NoSchedule" in "".join(diffs[0].itertext())


def test_the_figure_is_the_page_and_reads_as_the_answer_prints():
    """A notebook shows the cards that open, a saved picture has the first one open; both read as the answer."""
    drawn = answer("storage", "kafka-2").figure()
    script = drawn._repr_mimebundle_()[SCRIPT]

    assert repr(answer("storage", "kafka-2")) == drawn.reading == repr(drawn)
    assert "<details" in script
    assert ".k-fx-d[open]" in script
    assert "<details" not in drawn.svg
    assert "k-fx-on" not in drawn.svg
    assert 260_000 > len(script)


def test_one_fix_is_one_open_card():
    """A single fix shows its outcome as the title, and keeps its number."""
    page = page_of(answer("storage", "kafka-2")[2])

    assert ("demo/kafka-2: it only moves the lack to demo/kafka-1", 2) == (page.title, page.cards[0].number)
    assert "[2].fork.lab()" in fix.page(page, 720)


@pytest.mark.parametrize("number", [0, 2, 4])
def test_a_tried_fix_is_the_fork_beside(number):
    """The value of a trial has a picture of its own: both runs, the outcome as its title; a new node was not there."""
    tried = answer("storage", "kafka-2")[number].try_it()
    for width in WIDTHS:
        svg = tried.figure().draw(width, "")
        assert [] == misplaced(svg), width
        assert "without the fix" in svg
        assert (number == 4) == ("not there yet" in svg)
    assert repr(tried) == repr(tried.figure())


def test_without_a_fix_the_picture_says_why():
    """Nothing to fix is one sentence; what no edit lifts is a list."""
    page = page_of(answer("shop", "cache-0"))

    assert page.title.startswith("demo/cache-0: nothing to fix: ")
    assert "<details" not in fix.page(page, 720)
    assert [] == misplaced(fix.draw(page, 520))


HOSTILE = """
apiVersion: v1
kind: Node
metadata: {name: n0, labels: {kubernetes.io/hostname: n0}}
spec: {taints: [{key: "<script>alert(1)</script>", value: "a&b", effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, annotations: {note: "<img src=x onerror=alert(1)>"}}
spec: {containers: [{name: c, image: "<script>"}]}
"""


def test_a_strangers_words_are_no_markup():
    """Names from manifests are escaped in the drawn parts and in the diff."""
    objects = manifest.read(HOSTILE, lenient=True).objects
    cluster = Cluster()
    cluster._load(objects)
    page = page_of(cluster.fix("web"))
    for width in WIDTHS:
        shown = fix.page(page, width) + fix.draw(page, width)
        assert "<script" not in shown
        assert "<img" not in shown
        assert "&lt;script&gt;" in shown


def test_what_to_mind_takes_a_second_line():
    """A long note is not cut where two lines have room for it, and the label of its card has all of it."""
    note = "the template of Deployment web stays as it is: its next pod would lack the toleration"
    card = evolve(rows("storage", "kafka-2").cards[0], notes=(note,))

    shown = ET.fromstring(picture(860, 90, fix_head.head(card, 860)[0], "card"))  # noqa: S314 - our own string
    words = " ".join(text.text for text in shown.iter("{http://www.w3.org/2000/svg}text") if text.get("class") == "k-fx-q")

    assert note in words
    assert note in fix.card_html(card, 560).partition("</summary>")[0]
