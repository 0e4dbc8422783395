"""Predictions with buttons, without a browser: clicks, the picture, the words that nbval compares, every width."""

import re
from types import SimpleNamespace

import pytest

import kvolsched
from kvolsched import Cluster, make
from kvolsched.questions.predict import NONE, forget_grades, predict
from kvolsched.views.pages.predict import ScoreBar, draw, rows_of, score_bars
from kvolsched.views.panel import host
from kvolsched.views.panel.predict import Quiz

from .pages import cells, faults, told


@pytest.fixture(autouse=True)
def _no_grades():
    """Begin every test without counted answers."""
    forget_grades()


@pytest.fixture
def cluster():
    """Return the zonal example at its start."""
    return kvolsched.scenario("zonal-example")


def test_bars_are_of_the_points_that_differ():
    """Each scored node has a bar, the highest sum first; what every node gets alike is said in words, and no zero."""
    nodes = [make.node("n1", cpu="4"), make.node("n2", cpu="8")]
    asked = predict(Cluster.from_manifests([*nodes, make.pod("app", cpu="2")]), "Which node?", pod="app")
    asked.answer("n1")
    page = rows_of(asked.reveal())

    assert "the same for each, left out of the bars: TaintToleration 300" == page.constant
    assert [
        ("n2", {"NodeResourcesFit": 87, "NodeResourcesBalancedAllocation": 68}, 455, "chosen"),
        ("n1", {"NodeResourcesFit": 74, "NodeResourcesBalancedAllocation": 62}, 436, "your answer: 19 short"),
    ] == [(bar.node, {name: points for name, points, _ in bar.parts}, bar.total, bar.remark) for bar in page.bars]


A, B, C = make.node("a", cpu="8"), make.node("b", cpu="8"), make.node("c", cpu="4")
AVOIDED = make.node("b", cpu="8", taints=[{"key": "x", "effect": "PreferNoSchedule"}])
AVOIDED_SMALL = make.node("b", cpu="4", taints=[{"key": "x", "effect": "PreferNoSchedule"}])
AFTER = "the same for each, left out of the bars: "


@pytest.mark.parametrize(("nodes", "answers", "tag", "bars", "constant"), [
    ((A, B, C), ("a",), "✓ as good as b", [("a", 455, "your answer: an equal sum, counts as right"), ("b", 455, "drawn among 2 equal"),
                                          ("c", 436, "")], f"{AFTER}TaintToleration 300"),
    ((A, B, C), ("c", "b"), "✓ b", [("a", 455, ""), ("b", 455, "drawn among 2 equal"), ("c", 436, "your answer: 19 short")],
     f"{AFTER}TaintToleration 300"),
    ((A, B, C), (NONE,), "✕ not none of them", [("a", 455, ""), ("b", 455, "drawn among 2 equal"), ("c", 436, "")], f"{AFTER}TaintToleration 300"),
    ((A, B), (), "", [("a", 455, ""), ("b", 455, "drawn among 2 equal")],
     f"{AFTER}TaintToleration 300, NodeResourcesFit 87, NodeResourcesBalancedAllocation 68"),
    ((A, AVOIDED), ("b",), "✕ not b", [("a", 455, "chosen"), ("b", 155, "your answer: 300 short")],
     f"{AFTER}NodeResourcesFit 87, NodeResourcesBalancedAllocation 68"),
    ((A, AVOIDED_SMALL), ("a",), "✓ a", [("a", 455, "chosen"), ("b", 136, "")], ""),
    ((A,), ("a",), "✓ a", [], ""),
])  # fmt: skip
def test_what_an_answer_comes_to_is_told_with_the_sums(nodes, answers, tag, bars, constant):
    """The mark of the last answer, and each node's sum with what it is to the answer: chosen, drawn, equal or short."""
    asked = predict(Cluster.from_manifests([*nodes, make.pod("app", cpu="2")]), pod="app")
    for each in answers:
        asked.answer(each)
    page = rows_of(asked.give_up())

    assert (tag, bars, constant) == (page.tag, [(bar.node, bar.total, bar.remark) for bar in page.bars], page.constant)
    assert [bar.node in answers for bar in page.bars] == [bar.answered for bar in page.bars]
    assert (f"{constant[:1].upper()}{constant[1:]}." if constant else "") in told(draw(page, 940))


def test_parts_of_one_family_are_strong_and_pale_in_turn():
    """Beside each other two parts of a bar never have one colour; each is as wide as its points of the most."""
    parts = (("A", 2, "node"), ("B", 1, "node"), ("C", 1, "node"), ("D", 4, "resources"))
    bars = (ScoreBar("n1", parts, 308, "", happened=False, answered=True), ScoreBar("n2", (("A", 0, "node"),), 300, "chosen", happened=True, answered=False))
    page = score_bars(SimpleNamespace(bars=bars, constant=""))

    assert [("k-s-node k-on", "25%", "2 A"), ("k-p-node k-t-node", "12.5%", "1 B"), ("k-s-node k-on", "12.5%", "1 C"),
            ("k-s-resources k-on", "50%", "4 D"), ("k-s-node k-on", "0%", "0 A")] == re.findall(
                r'<span class="(k-[sp]-[^"]+)" style="width:([^"]+)">([^<]+)', page)  # fmt: skip
    assert [["n1", "2 A1 B1 C4 D", "308", ""], ["n2", "0 A", "300", "★ chosen"]] == cells(page)
    assert [("k-t-accent", "n1"), ("k-t-ok", "n2")] == re.findall(r'<b class="([^"]+)">(n\d)', page)
    assert [] == faults(page)


def test_before_an_answer_nothing_is_said_to_be_right():
    """What to do next is said: answer, try another or see why, see why; the verdicts of other nodes stay hidden."""
    asked = predict(Cluster.from_manifests([A, make.node("b", cpu="1", taints=["y"]), make.pod("app", cpu="2")]), pod="app")
    pages = [rows_of(asked), rows_of(asked.answer("b")), rows_of(asked.answer("a"))]

    assert [("", None, "Nothing is judged before an answer."), ("✕ not b", False, "Try another, or let it happen."),
            ("✓ a", True, "Let it happen, and see why.")] == [(page.tag, page.right, page.sentence) for page in pages]
    assert [("", "", "", "", None), ("⊘", "node(s) had untolerated taint(s); F too", "T", "TaintToleration", False), ("", "", "", "", None)] == [
        (card.sign, card.words, card.letter, card.plugin, card.right) for card in pages[1].cards]


def test_a_plugin_of_ones_own_has_its_first_letter():
    """It has no letter of its own on the card of the node that it rejects, so the first of its name stands there."""
    c = Cluster.from_manifests([A, B, make.pod("app", cpu="2")])
    asked = c.with_plugin(lambda _pod, node, _seen: node.metadata.name == "a" or "too far", name="MoonPhase").predict(pod="app").answer("b")
    card = rows_of(asked.prediction).cards[1]

    assert ("M", "MoonPhase", "✕", "too far") == (card.letter, card.plugin, card.sign, card.words)


@pytest.mark.parametrize(("nodes", "keys"), [
    (1, "2 candidates, keys 1 to 2"), (2, "3 candidates, keys 1 to 3"), (12, "12 candidates, keys 1 to 9")])
def test_the_note_says_which_keys_answer(nodes, keys):
    """A node each, and that none fits; many nodes stand in groups; keys end at 9."""
    named = [make.node(f"n{n:02}", cpu=f"{4 + n}", labels={"n": str(n)}) for n in range(nodes)]
    asked = predict(Cluster.from_manifests([*named, make.pod("app", cpu="2")]), pod="app")

    assert keys == rows_of(asked).note


def test_the_only_candidate_has_key_1():
    """Where one actor alone may go on, its key is the first."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("app")])

    assert "1 candidate, key 1" == rows_of(predict(c, ask="order")).note


def test_buttons_answer_and_let_it_happen(cluster):
    """A click answers: the wrong one is marked and told; the last button steps the cluster and shows the picture."""
    asked = cluster.predict("Which node?", pod="my-pod")
    assert "1\u2002node-a\nus-central1-a · 4 cpu, 16Gi free" == asked.buttons[0].description
    asked.buttons[1].click()

    assert asked.buttons[1].disabled
    assert "Insufficient cpu" in asked.said.value
    assert 0 == cluster._last_step.number
    asked.happen.click()
    assert 1 == cluster._last_step.number
    assert (asked.host,) == asked.children
    assert "★" in asked.host.body
    assert repr(asked).endswith("it happened: node-a. node-a has the highest sum of scores, 274.")


def test_number_keys_answer(cluster):
    """A key that the page sends answers by number; other messages do nothing."""
    asked = cluster.predict()
    for message in ({"cmd": "act", "number": 1}, {"cmd": "act", "number": 77}, {"cmd": "who"}):
        asked._message(None, message, [])
    assert ("node-a",) == asked.answers
    assert asked.is_right


def test_before_an_answer_all_cards_look_alike(cluster):
    """The drawn question has no colour of a verdict and no star."""
    page = rows_of(predict(cluster))
    svg = draw(page, 940)
    assert len(page.cards) == svg.count('<div class="k-place-box" role="button"')
    assert not any(mark in svg for mark in ("★", "✕", "✓", "k-s-storage", "k-p-ok"))


def test_a_wrong_answer_is_no_bar_of_ink():
    """Filled is the verdict of a plugin; where none speaks against an answer it has an outline: in the dark ink is white."""
    asked = kvolsched.ask("Which?", "both", "neither")
    asked.answer("both").was("neither")

    assert "k-s-ink" not in asked.figure().draw(900, "").partition("<p>")[0]
    assert "k-refused" in asked.figure().draw(900, "")


def test_no_tooltip_lies_over_a_verdict():
    """The cards of a question say all in words; beside a panel's step a question has the panel's width."""
    sheet = host.style().replace(host.ROOT, "kv")

    assert ".kv.k-predict .k-tip{display:none}" in sheet
    assert ".kv.kv .k-slot>*,.kv.kv .k-predict{flex:1" in sheet


def test_bars_show_only_scores_that_differ(cluster):
    """What all nodes share stands in words; the chosen node is first and has its star."""
    page = rows_of(predict(cluster).answer("node-b").reveal())
    assert [("node-a", 274, "chosen"), ("node-b", 249, "your answer: 25 short")] == [
        (bar.node, bar.total, bar.remark) for bar in page.bars]  # fmt: skip
    assert {"NodeResourcesFit", "NodeResourcesBalancedAllocation"} == {part[0] for part in page.bars[0].parts}
    assert "TaintToleration 100" in page.constant


def test_a_quiz_asks_before_a_step(cluster):
    """The first call shows a question and makes no step, the next lets it happen; without a choice it does not ask."""
    quiz = Quiz(lambda: kvolsched.questions.predict.question_of_next_step(cluster), cluster.step)
    assert quiz.ask()
    assert 0 == cluster._last_step.number
    quiz.asked.answer("node-c")
    assert quiz.ask()
    assert 1 == cluster._last_step.number
    assert quiz.asked.prediction.revealed
    cluster.run()
    assert not quiz.ask()
    assert () == quiz.children
    assert "node" == next(iter(kvolsched.grade())).ask


def test_the_panel_asks_before_each_step(cluster):
    """It opens with a question and does not list who may act; Step lets it happen, the next Step asks again."""
    lab = cluster.lab(predict=True)
    quiz, = lab.slot.children
    assert ("node", "none") == (quiz.asked.prediction.ask, lab.chips.layout.display)
    answers = [f"{turn.actor} {turn.words}" for turn in cluster.next] + ["chooses node-a", "next  1"]
    for lines in (lab.reading(), str(cluster.lab(text=True, predict=True))):
        assert [each for each in answers if each in lines] == []
        assert "Which node will my-pod get?" in lines
    lab.do("act", number=4)
    assert (0, ("node-c",)) == (lab.frame.head.step, quiz.asked.answers)
    lab.buttons["step"].click()
    assert (1, True) == (lab.frame.head.step, quiz.asked.prediction.revealed)
    assert ("next  1" in lab.reading(), "Step asks" in lab.reading()) == (False, True)
    lab.do("step")
    assert (1, True) == (lab.frame.head.step, quiz.is_open)
    quiz.asked.happen.click()
    assert 2 == lab.frame.head.step
    lab.do("step")
    lab.do("back")
    assert quiz.asked is None
    lab.do("run")
    assert 9 == lab.frame.head.step


def test_who_chooses_an_actor_or_plays_is_not_asked(cluster):
    """A step of a named actor, or of playing, is made at once, and takes the question away."""
    lab = cluster.lab(predict=True)
    quiz, = lab.slot.children
    lab.do("step", actor=lab.frame.next[0].actor)
    assert (1, None) == (lab.frame.head.step, quiz.asked)
    lab.do("step")
    assert (1, True) == (lab.frame.head.step, quiz.is_open)
    lab.do("play")
    lab.player.once()
    assert (2, None) == (lab.frame.head.step, quiz.asked)


def test_scores_without_a_node_are_no_bars():
    """A page without bars has nothing to draw, and no error."""
    assert "" == score_bars(SimpleNamespace(bars=(), constant=""))


def test_a_question_is_put_together_whole(cluster):
    """Title with what is known, a button a candidate with its facts, what is said of the last answer, and one that lets it happen."""
    asked = cluster.predict("Which node?", pod="my-pod")
    head, choices, said, happen, shown = asked.children
    facts = ["us-central1-a · 4 cpu, 16Gi free", "us-central1-a · 0.5 cpu, 2Gi free", "us-central1-b · 2 cpu, 8Gi free",
             "us-central1-c · 4 cpu, 16Gi free"]  # fmt: skip

    assert (host.ROOT, "k-predict") == asked._dom_classes
    assert (asked.head, asked.said, asked.happen, asked.host) == (head, said, happen, shown)
    assert ('<div class="k-quiz"><b>Which node?</b><span class="k-who">It asks for 1 cpu, 1Gi of memory and the claim my-pvc of 100Gi.</span></div>'
            == head.value)
    assert '<p class="k-quiz" role="status"><span class="k-who">Nothing is judged before an answer.</span></p>' == said.value
    assert [*((f"{number}\u2002{name}\n{fact}", fact, ("k-cand",), False) for number, (name, fact) in enumerate(
        zip(("node-a", "node-a-small", "node-b", "node-c"), facts, strict=True), 1)), ("5\u2002none of them", "", ("k-cand",), False)] == [
        (each.description, each.tooltip, each._dom_classes, each.disabled) for each in choices.children]
    assert (("k-cands",), ("k-btn", "k-step"), "I cannot say: show me") == (choices._dom_classes, happen._dom_classes, happen.description)
    assert (asked.buttons, 1, "") == (list(choices.children), shown.tick, shown.body)


def test_each_answer_is_told_with_what_speaks_against_it(cluster):
    """The verdict or the points, then what to do; what was answered is marked, and cannot be pressed again."""
    asked = cluster.predict("Which node?", pod="my-pod")

    def tagged(tone, tag, reason, proof, then):
        proof = f' <span class="k-who">{proof}</span>' if proof else ""
        return (f'<p class="k-quiz" role="status"><span class="k-tag" style="background:var(--kv-{tone})">{tag}</span> <b>{reason}</b>{proof}'
                f'<span class="k-who"> · {then}</span></p>')

    more = "Try another, or let it happen."
    expected = {
        "node-b": (tagged("ink", "✕ not node-b", "fits, but 249 points against 274",
                        "NodeResourcesFit 68 to 84, NodeResourcesBalancedAllocation 81 to 90", more), [3]),
        "node-a-small": (tagged("resources", "✕ not node-a-small", "NodeResourcesFit: Insufficient cpu",
                              "requests.cpu 1 &gt; allocatable 500m − requested 0 = 500m", more), [2, 3]),
        "node-a": (tagged("ok", "✓ node-a", "chosen, with 274 points", "", "Let it happen, and see why."), [1, 2, 3]),
    }
    for name, (words, pressed) in expected.items():
        asked.answer(name)
        marked = [number for number, each in enumerate(asked.buttons, 1) if "k-mine" in each._dom_classes]
        assert (words, pressed, pressed, "Let it happen") == (
            asked.said.value, marked, [number for number, each in enumerate(asked.buttons, 1) if each.disabled], asked.happen.description)
    assert tuple(expected) == asked.answers


@pytest.mark.parametrize(("message", "answers", "step"), [
    ({"cmd": "act", "number": 1}, ("node-a",), 0), ({"cmd": "act", "number": 5}, ("none of them",), 0), ({"cmd": "act", "number": 6}, (), 0),
    ({"cmd": "act", "number": 0}, (), 0), ({"cmd": "act"}, (), 0), ({"cmd": "step"}, (), 0), ({"cmd": "other", "number": 1}, (), 0),
    ({"cmd": "width", "px": 700}, (), 0),
])  # fmt: skip
def test_a_message_answers_or_lets_it_happen(cluster, message, answers, step):
    """A number of a candidate answers, Step lets it happen only after an answer, the width is drawn for."""
    asked = cluster.predict("Which node?", pod="my-pod")
    asked._message(None, message, [])
    assert (answers, step, 700 if message["cmd"] == "width" else 1000) == (asked.answers, cluster.world.step_number, asked._width)
    asked._message(None, {"cmd": "other"}, [])
    assert step == cluster.world.step_number
    asked._message(None, {"cmd": "step"}, [])
    assert (bool(answers), asked._width) == (cluster.world.step_number == 1, asked._width)
    if answers:
        assert ((asked.host,), draw(rows_of(asked.prediction), asked._width)) == (asked.children, asked.host.body)
        assert (repr(asked), draw(rows_of(asked.prediction), 640, "")) == (asked.figure().reading, asked.figure().draw(640, ""))


def test_it_happens_once_whoever_asks(cluster):
    """Nobody reveals without an answer; to give up does, and a second time moves nothing; both say what happened."""
    asked = cluster.predict("Which node?", pod="my-pod")
    with pytest.raises(kvolsched.NotAnswered, match="Which node"):
        asked.reveal()
    with pytest.raises(TypeError) as refused:
        asked.was("node-a")
    assert ("'Which node?' finds by itself what happens; was() is for kvolsched.ask",) == refused.value.args
    assert (0, None, False) == (cluster.world.step_number, asked.outcome, asked.is_right)
    assert asked is asked.give_up() is asked.give_up() is asked.reveal()
    assert (1, "node-a", (), 5) == (cluster.world.step_number, asked.outcome.happened, asked.answers, len(asked.candidates))


def test_a_number_is_typed(cluster):
    """Enter answers; what is no number is said, and the field stays."""
    asked = kvolsched.ask("How many, typed?", number=True)
    field, = asked.buttons
    assert ("a number, then Enter", False, (field,), '<div class="k-quiz"><b>How many, typed?</b></div>') == (
        field.placeholder, field.continuous_update, asked.children[1].children, asked.head.value)
    field.value = "x<"
    assert ('<p class="k-quiz" role="status">&#39;x&lt;&#39; is no number.</p>', ()) == (asked.said.value, asked.answers)
    field.value = "3.5"
    assert (("3.5",), (asked.host,)) == (asked.answers, asked.children)


class Asked:
    """What a quiz does, noted."""

    def __init__(self, cluster):
        self.cluster, self.steps, self.changes = cluster, 0, 0
        self.quiz = Quiz(lambda: kvolsched.questions.predict.question_of_next_step(cluster), self.step, self.change)

    def step(self):
        """Make the step."""
        self.steps += 1
        self.cluster.step()

    def change(self):
        """Note that the panel is to be drawn."""
        self.changes += 1


def test_a_quiz_waits_for_the_step_that_it_asks_about(cluster):
    """An answer redraws the panel; the step is made once, by who asks again, and then the next question comes."""
    asked = Asked(cluster)
    quiz = asked.quiz
    closed = (quiz.is_open, quiz.words(), quiz.children)
    assert quiz.ask()
    first = quiz.asked
    opened = (quiz.is_open, quiz.words(), quiz.children)
    first.answer("node-b")
    after = (asked.changes, asked.steps)
    assert quiz.ask()
    happened = (quiz.is_open, quiz.words(), asked.steps, quiz.asked is first)
    assert quiz.ask()

    words = "next  who may act is not told here: Step asks before it happens"
    assert (False, words, ()) == closed
    assert (True, (first,)) == (opened[0], opened[2])
    assert "Which node will my-pod get?" in opened[1]
    assert [(1, 0), (False, words, 1, True)] == [after, happened]
    assert quiz.asked is not first
    quiz.clear()
    assert (None, (), False) == (quiz.asked, quiz.children, quiz.is_open)


def test_the_keys_of_a_panel_answer_its_question(cluster):
    """A number of a candidate answers, a higher one and one after the answer do nothing, and no actor acts by it."""
    lab = cluster.lab(predict=True)
    quiz, = lab.slot.children
    seen = []
    for number in (6, 5, 4):
        lab.do("act", number=number)
        seen.append((quiz.asked.answers, lab.frame.head.step))
    lab.do("step")
    lab.do("act", number=1)
    seen.append((quiz.asked.answers, lab.frame.head.step))
    lab.do("back")

    assert [((), 0), (("none of them",), 0), (("none of them", "node-c"), 0), (("none of them", "node-c"), 1)] == seen
    assert (0, True) == (lab.frame.head.step, quiz.asked is not None)
