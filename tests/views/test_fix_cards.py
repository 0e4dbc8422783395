"""The cards of `fix`: what they say, which of them open, and that words stand apart at every width."""

from functools import cache
from pathlib import Path

import pytest
from attrs import evolve

from kvolsched import Cluster, incident
from kvolsched.api.text import manifest
from kvolsched.questions.fix import ObjectChange
from kvolsched.views.drawing.figure import SCRIPT, WIDTHS
from kvolsched.views.pages import fix
from kvolsched.views.pages.fix import page_of

from .pages import faults, parsed, told

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


def kafka_moved():
    """Try the deletion of another pod of the StatefulSet, in whose place the same lack waits."""
    pod = Cluster.from_manifests(DUMPS / "storage.yaml.gz")["pod/demo/kafka-1"]
    return answer("storage", "kafka-2")[0].asked.try_changes((ObjectChange(pod, None),), "Move demo/kafka-1 away")


def test_a_card_says_who_decides_what_changes_what_is_touched_and_who_waits_then():
    """A card has words, class, who decides, lifted verdicts with their letter, the node, the objects and the outcome."""
    page = rows("storage", "kafka-2")
    told = [(card.words, [row.letter + row.glyph for row in card.lifted], card.node, fix.touched_words(card),
             card.outcome.short) for card in page.cards]  # fmt: skip

    assert "demo/kafka-2: 3 fixes, what restores or corrects first, each tried on a fork" == page.title
    assert {"D adds capacity · operator of the cluster; it costs money"} == {card.decides for card in page.cards[:2]}
    assert ("E promises less · owner of the workload", "nobody") == (page.cards[2].decides, page.cards[2].outcome.short)
    assert ("Add a node in zone zone-a (4 cpu, 16Gi memory)", [], "node-a-more", ["node new", "driver new"], "nobody") == told[0]
    assert (["U⊘", "V⊘"], "node-c", ["node edited", "driver edited"], "nobody") == told[1][1:]
    assert ["pod replaced"] == fix.touched_words(rows("shop", "reports").cards[0])


def test_the_fork_stands_beside_the_cluster_without_the_fix():
    """Places come in the same order on both sides; the pods that the fix concerns are marked, and come first."""
    tried = kafka_moved()
    beside = fix.beside_of(tried)
    shown = [[(place.title, place.pods[0]) for place in side] for side in (beside.without, beside.within)]

    assert [[("waits", ("kafka-2", True)), ("node-a", ("kafka-1", True))],
            [("waits", ("kafka-1", True)), ("node-a", ("kafka-2", True))]] == shown  # fmt: skip
    assert "moves the lack to kafka-1" == fix.outcome_of(tried).short


def test_whom_an_edit_concerns_and_what_must_restart():
    """A machine restarts with all its pods, a template makes them anew; what is opened to one is opened to all."""
    machine = next(fix for fix in incident("attach-limit").play().fix("web-2") if "larger machine" in fix.kinds)
    cards = [*rows("storage", "kafka-2").cards[:2], page_of(machine).cards[0], page_of(spread_fix()).cards[0]]

    assert ["no", "no", "machine", "yes"] == [card.restart for card in cards]
    assert ["", "claims of class ebs, node-c opens for all", f"pods of {cards[2].node}", ""] == [card.others for card in cards]
    assert ["pod template", "pods restart"] == fix.touched_words(cards[-1])


def spread_fix():
    """Return the first fix of a Deployment whose template is changed by it."""
    cluster = Cluster.from_manifests(Path(__file__).parents[1] / "questions" / "posted" / "17-spread-over-tainted-host.yaml")
    cluster.run(steps=500)
    waiting = next(pod for pod in cluster.objects("pods") if not pod.spec.node_name)
    return cluster.fix(waiting.metadata.name)[0]


def test_an_open_card_says_what_to_do_and_how_to_take_it_back():
    """The command, who restarts and the way back stand in the card; lost data in bold and in the colour of storage."""
    said = dict(page_of(spread_fix()).cards[0].said)
    lost = evolve(rows("shop", "batch").cards[0], said=(("data", "EMPTY VOLUME: pvc-1 (10Gi, Delete) is GONE with its claim"),))

    assert ["do", "restarts", "lasts", "undo"] == list(said)
    assert said["do"].startswith("kubectl patch deployment web ")
    assert "the 3 running pods of Deployment web" == said["restarts"]
    assert fix.card_html(lost, opened=False).partition("EMPTY VOLUME")[0].endswith('class="k-b k-t-storage">')


def test_what_no_fork_shows_is_not_tried():
    """Who must be asked is no edit: the card has neither verdicts nor a fork, and is not called tried."""
    card = rows("shop", "nightly").cards[0]
    shown = fix.card_html(card, opened=False)

    assert ("not tried", (), (), False) == (card.outcome.short, card.lifted, card.beside.within, card.can_be_tried)
    assert "fork.lab()" not in shown
    assert "Try it" not in shown


def test_gates_and_rejections_before_filtering_have_a_letter_too():
    """A gated pod has G, a pod rejected as a whole the plugin's letter, without a node."""
    card = rows("shop", "nightly").cards[1]

    assert [("G", "‖", "")] == [(row.letter, row.glyph, card.where) for row in card.lifted]
    assert "before any node is looked at" in told(fix.card_html(rows("shop", "batch").cards[0], opened=False))


def test_a_page_opens_the_first_card_and_folds_long_diffs():
    """All cards can be opened without a kernel; a diff of at most eight changed lines is unfolded in its card."""
    shown = rows("storage", "kafka-2")
    reports = rows("shop", "reports").cards
    page = parsed(fix.draw(evolve(shown, cards=(*shown.cards[:3], *reports)), 940))
    cards = page.findall("details")
    diffs = [card.find(".//div/details") for card in cards]

    assert [True] + [False] * 4 == ["open" in card.attrib for card in cards]
    assert [None, True, True, True, True] == [diff if diff is None else "open" in diff.attrib for diff in diffs]
    assert all("".join(diff.itertext()).startswith("YAML diff · ") for diff in diffs if diff is not None)
    assert "-    topology.kubernetes.io/zone: zone-c" in "".join(diffs[3].itertext())


def test_the_figure_is_the_page_and_reads_as_the_answer_prints(tmp_path):
    """A notebook shows the cards that open, in few bytes; they are saved as a page or as words, and read as the answer."""
    drawn = answer("storage", "kafka-2").figure()
    script = drawn._repr_mimebundle_()[SCRIPT]

    assert repr(answer("storage", "kafka-2")) == drawn.reading == repr(drawn)
    assert "<details" in script
    assert ".k-card[open]" in script
    assert 40_000 > len(script)
    assert "<details" in drawn.save(tmp_path / "fix.html").read_text("utf-8")
    assert drawn.reading == drawn.save(tmp_path / "fix.txt").read_text("utf-8")
    with pytest.raises(ValueError, match=r"save it as \.html or \.txt"):
        drawn.save(tmp_path / "fix.svg")


def test_one_fix_is_one_open_card():
    """A single fix shows its outcome as the title, and keeps its number."""
    page = page_of(answer("storage", "kafka-2")[1])

    assert ("demo/kafka-2: demo/kafka-2 gets a node, and no other pod waits for it", 1) == (page.title, page.cards[0].number)
    assert "[1].fork.lab()" in told(fix.draw(page, 720))


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_tried_fix_is_the_fork_beside(number):
    """The value of a trial has a picture of its own: both runs, the outcome as its title; a new node was not there."""
    tried = answer("storage", "kafka-2")[number].try_it() if number < 2 else kafka_moved()
    for width in WIDTHS:
        svg = tried.figure().draw(width, "")
        assert [] == faults(svg), width
        assert "without the fix" in svg
        assert (number == 0) == ("not there yet" in svg)
    assert repr(tried) == repr(tried.figure())


def test_without_a_fix_the_picture_says_why():
    """Nothing to fix is one sentence; what no edit lifts is a list."""
    page = page_of(answer("shop", "cache-0"))

    assert page.title.startswith("demo/cache-0: nothing to fix: ")
    assert "<details" not in fix.draw(page, 720)
    assert [] == faults(fix.draw(page, 520))


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
        shown = fix.draw(page, width)
        assert "<script" not in shown
        assert "<img" not in shown
        assert "&lt;script&gt;" in shown


def test_a_card_says_all_there_is():
    """Who decides stands whole on the closed card; the notes stand in the open one."""
    note = "the template of Deployment web stays as it is: its next pod would lack the toleration"
    who = "D adds capacity · operator of the cluster; it costs money"
    shown = fix.card_html(evolve(rows("storage", "kafka-2").cards[0], notes=(note,), decides=who), opened=False)

    assert who in shown.partition("</summary>")[0]
    assert f"Mind: {note}" in told(shown)


def test_one_fix_that_no_fork_shows_is_its_title():
    """The page of a fix that is not tried says what it is, and that there is nothing to try."""
    fix_of = answer("shop", "nightly")[0]
    page = page_of(fix_of)

    assert (f"{fix_of.pod}: {fix_of.title}", "nothing to try") == (page.title, page.corner)
    assert "tried on a fork" == page_of(answer("storage", "kafka-2")[1]).corner
