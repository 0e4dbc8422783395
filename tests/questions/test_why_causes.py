"""Pods that lack alike are one cause: its sentence, its sides and its pods, and how many causes there are."""

import attrs
import pytest

from kvolsched.api.notebook_output import IN_TERMINAL
from kvolsched.questions.why.answer import AlikeNodes, Cell, DemandRow, Remark, Why
from kvolsched.questions.why.causes import Alike, Answers, Cause, Whys, answers_of
from kvolsched.scheduler.framework.evidence import Sides


def demand(title, kind="", *, sort="request", plugin="P", about="", details=()):
    """Return a demand."""
    return DemandRow(plugin, sort, about, f"words of {title}", 1, 0, tuple(map(Remark, details)), title, kind or title, ())


def cell(left, relation="", right="", about="", asked=None, verdict="first"):
    """Return how a demand fares."""
    return Cell(verdict, Sides(left, relation, right, about, asked))


def answer(pod, *demands, cells=((),), state="unschedulable", headline="", **fields):
    """Return why a pod waits: its demands, and for each group of nodes a cell for each of them."""
    groups = tuple(AlikeNodes((f"n{number}",), (), "P", True, (1,), (), tuple(each)) for number, each in enumerate(cells) if each)
    return Why(f"ns/{pod}", "upstream", state, headline or f"headline of {pod}", demands=tuple(demands), groups=groups, **fields)


def whys(*answers, most=9, without_pods=(), refused=()):
    """Return the answers of several pods."""
    return Whys(answers, (), None, most, without_pods, refused)


CPU, DISK = demand("Too little cpu"), demand("The claim a finds no volume", "The claim finds no volume", sort="claim", plugin="VolumeBinding")
OTHER_DISK = demand("The claim b finds no volume", "The claim finds no volume", sort="claim", plugin="VolumeBinding")


@pytest.mark.parametrize(("answers", "said"), [
    ([answer("a", CPU, headline="no cpu")], "P: no cpu – ns/a"), ([answer("a", CPU, headline="no cpu"), answer("b", CPU, headline="no cpu")], "P: no cpu – ns/a, ns/b"),
    ([answer("a", CPU, cells=[[cell("2", ">", "1", asked=2)]]), answer("b", CPU, cells=[[cell("5", ">", "1", asked=5)]])],
     "P: Too little cpu (2 … 5 > 1 left) – ns/a, ns/b"),
    ([answer("a", CPU, cells=[[cell("2", ">", "1", asked=2)]]), answer("b", CPU, cells=[[cell("2", ">", "1", asked=2)]])], "P: Too little cpu (2 > 1 left) – ns/a, ns/b"),
    ([answer(name, CPU, cells=[[cell("2", ">", "1", asked=2)], [cell("2", ">", "0", asked=2)], [cell("2", ">", "x", asked=2)], [cell("", verdict="passes")]])
      for name in "ab"], "P: Too little cpu (2 > 1, 2 > 0 left) – ns/a, ns/b"),
    ([answer("a", DISK, cells=[[cell("b", "≠", "a", "zones")]]), answer("b", OTHER_DISK, cells=[[cell("c", "≠", "a", "zones")]])],
     "VolumeBinding: The claim finds no volume (zones: b ≠ a) – ns/a, ns/b"),
    ([answer(name, DISK, cells=[[cell("b", "≠", "a", "zones")], [cell("c", "≠", "a", "zones")]]) for name in "ab"],
     "VolumeBinding: The claim a finds no volume (zones: b, c ≠ a) – ns/a, ns/b"),
    ([answer(name, DISK, cells=[[cell("b", "≠", "a", "zones")], [cell("c", "≠", "a", "racks")]]) for name in "ab"],
     "VolumeBinding: The claim a finds no volume (b, c ≠ a) – ns/a, ns/b"),
    ([answer(name, demand("It is cordoned", sort="cordon"), cells=[[cell("cordoned", about="x")]]) for name in "ab"], "P: It is cordoned (cordoned) – ns/a, ns/b"),
    ([answer(name, *(demand(f"Demand {number}", plugin=f"P{number % 2}") for number in range(3)), cells=[[cell("x"), cell("", verdict="passes"), cell("x")]]) for name in "ab"],
     "P0 + P1: Demand 0; demand 1; demand 2 (x left) – ns/a, ns/b"),
    ([answer(name, *(demand(f"Demand {number}", sort="taint") for number in range(5)), cells=[[*map(cell, "vwxyz")]]) for name in "ab"],
     "P: Demand 0; demand 1; demand 2; and 2 more demands (v; w; x) – ns/a, ns/b"),
    ([answer(name, state="gated", gates=("g.io/a", "g.io/b"), ungated="it would fit then") for name in "ab"],
     "not tried: Held by a scheduling gate: g.io/a, g.io/b (it would fit then) – ns/a, ns/b"),
    *(([answer(name, state=state) for name in "ab"], f"not tried: {said} – ns/a, ns/b") for state, said in (
        ("fits", "A node would take it now"), ("waiting", "A node is chosen; its volumes are not bound yet"), ("leaving", "It is being deleted"),
        ("not ours", "It asks for another scheduler"), ("ended", "headline of a"))),
    ([answer(name, demand("gone", "a kind", sort="before filtering", details=["the claim x is lost"])) for name in "ab"], "P: The claim x is lost – ns/a, ns/b"),
    ([answer(name, demand("gone", "a kind", sort="before filtering", details=[f"claim {name} is lost"])) for name in "ab"], "P: A kind – ns/a, ns/b"),
    ([answer(name, demand("gone", "a kind", sort="before filtering")) for name in "ab"], "P: Words of gone – ns/a, ns/b"),
    ([answer(name, CPU, headline="no cpu") for name in "abc"], "P: no cpu – ns/a, ns/b, ns/c"), ([answer(name, CPU, headline="no cpu") for name in "abcde"],
                                                                                               "P: no cpu – ns/a, ns/b, ns/c and 2 more"),
])  # fmt: skip
def test_a_cause_as_text(answers, said):
    """Its plugins, the sentence that all share or what all lack, both sides with amounts as a range, and the first pods."""
    assert [said] == [repr(cause) for cause in whys(*answers).causes]


def alike(count, example, *names, make=None):
    """Return pods that are judged alike, of which one was judged."""
    group = Alike(example, names)
    return Answers([(f"ns/{number}", group, make) for number in range(count)])


def test_pods_that_are_judged_alike_share_what_is_not_of_one():
    """The headline, title or detail of the example is told unless it names what that pod alone has; so many are counted."""
    example = answer("0", DISK, headline="claim a is lost", cells=[[cell("x")]])
    before = answer("0", demand("gone", "a kind", sort="before filtering", details=["claim a is lost"]), cells=[[cell("x")]])

    assert ["VolumeBinding: claim a is lost – 4 pods alike: ns/0, ns/1, ns/2 and 1 more", "VolumeBinding: claim a is lost – ns/0, ns/1, ns/2",
            "VolumeBinding: The claim finds no volume (x) – ns/0, ns/1", "VolumeBinding: claim a is lost – ns/0", "P: A kind (x) – ns/0, ns/1"] == [
        repr(Whys(each, (), None, 9, (), ()).causes[0]) for each in (
            alike(4, example), alike(3, example), alike(2, example, "claim a"), alike(1, example, "claim a"), alike(2, before, "claim a", "headline"))]
    assert [True, False, False] == [Cause(answers, "").alike for answers in (alike(2, example), alike(1, example), answers_of([example, before]))]


def test_answers_are_made_once_when_they_are_asked_for():
    """The example's own, one made for another pod, kept, or the example's with its name; slices are answers again."""
    example, made = answer("0", CPU), []
    group = Alike(example)
    found = Answers([("ns/0", group, lambda: 1 / 0), ("ns/1", group, None), ("ns/2", group, lambda: made.append(2) or answer("2", DISK))])

    assert (example, attrs.evolve(example, pod="ns/1")) == (found[0], found[1])
    assert [("ns/2", DISK)] * 2 == [(found[2].pod, found[2].demands[0]) for _ in range(2)]
    assert [2] == made
    assert (("ns/0", "ns/1", "ns/2"), (group,) * 3, ["ns/1", "ns/2"], ["ns/0", "ns/2"]) == (
        found.pods, found.alike, [each.pod for each in found[1:]], [each.pod for each in found[::2]])
    assert found == [example, attrs.evolve(example, pod="ns/1"), found[2]]
    assert [False] * 3 == [found == other for other in ([example], [example, example, found[2]], 5)]
    assert f"({example!r}, {found[1]!r}, {found[2]!r})" == repr(found)
    assert answers_of(found) is found


def several(*counts):
    """Return answers of so many pods for each of several causes."""
    return [answer(f"{number}-{place}", demand(f"Cause {number}"), headline=f"cause {number}") for number, count in enumerate(counts) for place in range(count)]


@pytest.mark.parametrize(("counts", "title"), [
    ((), "No pod waits for a node."), ((1,), "1 pod waits for a node, for one cause"), ((2,), "2 pods wait for a node, for one cause"),
    ((1, 1), "2 pods wait for a node, for 2 causes"), ((2, 1, 1, 1), "5 pods wait for a node, for 4 causes"),
    ((1, 1, 1, 1, 1), "5 pods wait for a node, for 5 causes"), ((2, 1, 1, 1, 1), "6 pods wait for a node, for 5 causes; the first three hold 4 of them"),
    ((2, 2, 2, 2, 2, 2), "12 pods wait for a node, for 6 causes"), ((2, 2, 2, 2, 2, 1), "11 pods wait for a node, for 6 causes; the first three hold 6 of them"),
])  # fmt: skip
def test_how_many_causes_there_are(counts, title):
    """If there are many and the first three hold more than half of the pods, this is said."""
    assert title == whys(*several(*counts)).title


def test_causes_as_text():
    """That of most pods first, then as the pods stand; more than are printed share a line; in a terminal by its option."""
    found = whys(*several(1, 12, 1, 2), most=2)
    lines = ["16 pods wait for a node, for 4 causes", "  12  P: cause 1 – ns/1-0, ns/1-1, ns/1-2 and 9 more", "   2  P: cause 3 – ns/3-0, ns/3-1"]

    assert "\n".join([*lines, "   2  of 2 more causes (`.causes`, or a larger `most`)"]) == repr(found)
    assert "\n".join([*lines, "   1  P: cause 0 – ns/0-0", "   1  of 1 more cause (`.causes`, or a larger `most`)"]) == repr(attrs.evolve(found, most=3))
    assert repr(attrs.evolve(found, most=4)).endswith("   1  P: cause 2 – ns/2-0")
    typed = IN_TERMINAL.set(True)
    try:
        assert repr(found).endswith("   2  of 2 more causes (a larger --most)")
        assert whys(without_pods=("deploy/a",)).title == "No pod waits for a node: deploy/a has no pods yet. `kvolsched check` makes them of manifests."
    finally:
        IN_TERMINAL.reset(typed)


def test_workloads_without_pods_are_told():
    """That they have none yet, and what makes them; after the pods that wait, whose controllers were refused."""
    makes = "c.run() lets their controllers make them; `kvolsched check` does so for manifests."

    assert f"No pod waits for a node: deploy/a, sts/b have no pods yet. {makes}" == whys(without_pods=("deploy/a", "sts/b")).title
    assert "No pod waits for a node; deploy/a lacks pods: x; sts/b lacks pods: y" == whys(refused=("deploy/a lacks pods: x", "sts/b lacks pods: y")).title
    assert "1 pod waits for a node, for one cause; deploy/a lacks pods: x" == whys(*several(1), refused=("deploy/a lacks pods: x",)).title
    assert (3, ["ns/0-0", "ns/0-1", "ns/1-0"], "ns/0-1") == (len(whys(*several(2, 1))), [each.pod for each in whys(*several(2, 1))], whys(*several(2, 1))[1].pod)


@pytest.mark.parametrize(("one", "other", "together"), [
    (answer("a", CPU, DISK), answer("b", DISK, CPU), True), (answer("a", DISK), answer("b", OTHER_DISK), True), (answer("a", CPU), answer("b", DISK), False),
    (answer("a", CPU), answer("b", CPU, DISK), False), (answer("a", CPU), answer("b", attrs.evolve(CPU, plugin="Q")), False),
    (answer("a", CPU), answer("b", attrs.evolve(CPU, sort="x")), False), (answer("a", headline="x"), answer("b", headline="x"), True),
    (answer("a", headline="x"), answer("b", headline="y"), False), (answer("a", state="fits"), answer("b", state="fits"), True),
    (answer("a", state="fits"), answer("b", state="waiting"), False), (answer("a", state="gated", gates=("g",)), answer("b", state="gated", gates=("h",)), False),
    (answer("a", CPU, state="fits"), answer("b", DISK, state="fits"), True),
])  # fmt: skip
def test_which_pods_wait_for_one_cause(one, other, together):
    """Those whose demands are of equal kinds, in whatever order; without demands those of one sentence, or of one state and its gates."""
    assert together == (len(whys(one, other).causes) == 1)
