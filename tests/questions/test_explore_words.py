"""What a search says, in words: its faults, its result, a failure with its turns, samples; and what it is asked about."""

import attrs
import pytest

from kvolsched import Cluster, make, scenario
from kvolsched.api.unknown_name import UnknownName
from kvolsched.explore import Crash, Refuse, SearchedObjects, StopNodes, UserAct, sample
from kvolsched.questions import explore as room
from kvolsched.questions.explore import report, searched
from kvolsched.questions.explore.report import (
    Counterexample,
    EndState,
    Exploration,
    Sample,
    TracedTurn,
    count_ends,
    in_steps,
)
from kvolsched.questions.explore.searched import NamedObjects, never_holds, property_named
from kvolsched.world.history import Turn
from kvolsched.world.log import Key
from kvolsched.writes import delete


@pytest.mark.parametrize(("fault", "words", "times"), [
    (Refuse("pd.csi"), "the API server refuses a write of pd.csi with Conflict, once", 1),
    (Refuse("pd.csi", "NotFound", 2), "the API server refuses a write of pd.csi with NotFound, up to 2 times", 2),
    (Crash("kubelet"), "kubelet crashes, once", 1), (Crash("kubelet", 3, ("a", "b")), "kubelet crashes, up to 3 times", 3),
    (StopNodes("zone=a"), "the nodes zone=a stop", 1), (UserAct("a user acts", [delete("pod/a"), delete("pod/b")]), "a user acts", 2),
])  # fmt: skip
def test_a_fault_in_words(fault, words, times):
    """Whom it strikes and how often at most; a user acts as often as there are writes."""
    assert (words, times) == (str(fault), fault.times)


def test_what_a_search_assumes():
    """Who acts, how late they see, the faults, and when time passes, a sentence each."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("p")])
    names = [*c.world.processes]
    watching = [name for name, process in c.world.processes.items() if process.watching]
    some = room._assumptions_of(c.world, (), "none", "free", ["kubelet", "kube-scheduler"])
    every = room._assumptions_of(c.world, (Crash("kubelet"), StopNodes("n1")), "per kind", "idle", None)
    ordered = room._assumptions_of(c.world, (), "ordered", "idle", names)

    assert some == (f"{', '.join(name for name in names if name in ('kubelet', 'kube-scheduler'))} act, in any order; no other component does.",
                    "Each sees every change at once.", "No fault strikes.",
                    "A wait may end at any moment; periodic wake-ups come when nothing else can happen.", "Every outcome of a tie or a draw is tried.")
    assert every == (
        f"{', '.join(watching)} act, in any order; {'others once there is something for them to do' if watching != names else 'there is no other'}.",
        "Each sees changes late, in their order within a kind, in any order between kinds.",
        "Faults that may strike: kubelet crashes, once; the nodes n1 stop.",
        "Time passes only when nothing else can happen; periodic wake-ups come last.", "Every outcome of a tie or a draw is tried.")
    assert (f"{', '.join(names)} act, in any order; no other component does.", "Each sees changes late, but in their order.") == ordered[:2]


def turn(step, words, *, unseen=(), told=False):
    """Return a turn of a trace."""
    return TracedTurn(Turn(step, "kubelet", "kubelet", "default/p", 0, 1, 0.0, words), step, unseen, told)


TURNS = (turn(1, "user creates pod/p"), turn(12, "kubelet starts pod/p", unseen=(3,), told=True), turn(13, "it waits", unseen=(2, 5, 8)))
WRONG = Counterexample("pod p is lost", {}, TURNS, "p on n1", "kubelet had not seen step 3.")
RESULT = Exploration(None, (), exhausted=True, states=1234, transitions=56789, depth=7, outcomes=(EndState("p on n1", 1, True), EndState("no pods", 2000, False)),
                     assumptions=("One.", "Two " + "words " * 20), unseen=(), faults=(), options={}, ended="", bytes_per_state=0, random_run=None)  # fmt: skip


def test_steps_and_turns_in_words():
    """One step or several; what had not been seen stands behind what was done."""
    assert ["step 3", "steps 2 and 5", "steps 2, 5 and 8"] == [in_steps(steps) for steps in ((3,), (2, 5), (2, 5, 8))]
    assert ["User creates pod/p.", "Kubelet starts pod/p. It had not seen step 3.", "It waits. It had not seen steps 2, 5 and 8."] == [
        each.words for each in TURNS]


def test_a_failure_as_text():
    """Its cause, what is wrong and how it ends, then the turns that matter, or all of them if it hangs on none."""
    nobody = attrs.evolve(WRONG, turns=(TURNS[0], TURNS[2]), end="no pods")

    assert """kubelet had not seen step 3.
Found: pod p is lost (p on n1).
The turns that matter, 1 of 3:
 12. Kubelet starts pod/p. It had not seen step 3.""" == repr(WRONG)
    assert """kubelet had not seen step 3.
Found: pod p is lost.
The turns:
  1. User creates pod/p.
 13. It waits. It had not seen steps 2, 5 and 8.""" == repr(nobody)
    assert "kubelet had not seen step 3.\nFound: pod p is lost." == repr(attrs.evolve(WRONG, turns=(), end=""))
    assert (("user creates pod/p", "kubelet starts pod/p", "it waits"), TURNS[1:2], "The turns") == (
        WRONG.story, WRONG.told, attrs.evolve(WRONG, turns=TURNS[1:2]).title)


ASSUMED = """Assumed: One.
Assumed: Two words words words words words words words words words words words words words words words words
         words words words words"""


@pytest.mark.parametrize(("change", "headline", "text"), [
    ({}, "Exhausted: no failure in any state", f"""Exhausted: 1,234 states, 56,789 transitions, depth 7; no failure in any state.
Ends 1 time: p on n1
Ends 2,000 times: no pods
{ASSUMED}"""),
    ({"exhausted": False, "outcomes": (), "unseen": ("pod/a existed in no visited state; did you mean pod/b?", "pvc/c existed in no visited state")},
     ("Nothing wrong in the states that were visited; more remain; but pod/a existed in no visited state; did you mean pod/b?; but pvc/c existed in no "
     "visited state"), f"""Not exhausted: 1,234 states, 56,789 transitions, depth 7; no failure in the visited states.
But pod/a existed in no visited state; did you mean pod/b?
But pvc/c existed in no visited state.
{ASSUMED}"""),
    ({"exhausted": False, "ended": "interrupted", "outcomes": ()}, "Nothing wrong in the states that were visited; more remain",
     f"""Not exhausted (interrupted): 1,234 states, 56,789 transitions, depth 7; no failure in the visited states.
{ASSUMED}"""),
    ({"counterexample": WRONG}, "kubelet had not seen step 3.", f"""{WRONG!r}
Found after 1,234 states, 56,789 transitions, depth 7.
{ASSUMED}"""),
])  # fmt: skip
def test_a_result_as_text(change, headline, text):
    """A failure, or that there is none in every state or in those that were visited; how runs end, and what was assumed."""
    found = attrs.evolve(RESULT, **change)

    assert (headline, text, "counterexample" in change) == (found.headline, repr(found), bool(found))


@pytest.mark.parametrize(("seeds", "ends", "reached"), [
    (20, [("a", 12, True), ("b", 5, False), ("c", 3, False)], "every pod runs in 12 of 20"), (3, [("a", 3, True)], "every pod runs in all"),
    (3, [("a", 3, False)], "every pod runs in none"), (0, [], "every pod runs in none"),
])  # fmt: skip
def test_a_sample_as_text(seeds, ends, reached):
    """In how many runs the goal holds, then each way to end with its count."""
    found = Sample(seeds, tuple(EndState(*end) for end in ends), "", "every pod runs")
    lines = [f"{count:4}  {words}" for words, count, _ in ends]

    assert (reached, sum(count for _, count, holds in ends if not holds)) == (found.reached, found.stuck)
    assert "\n".join([f"{seeds} seeds; in the end {reached}:", *lines]) == repr(found)


def test_ends_are_counted_until_time_is_over(monkeypatch):
    """The most frequent end first; a run that has begun ends, no other begins after the time, and Ctrl-C keeps what there is."""
    ends = {0: ("late", False), 1: ("fine", True), 2: ("late", False), 3: ("fine", False)}
    clock, bars = iter([0.0, 1.0, 5.0, 5.5]), []
    bar = type("Bar", (), {"__enter__": lambda self: self, "__exit__": lambda *_: None, "update": lambda _self: bars.append(1)})
    monkeypatch.setattr(report, "ProgressBar", lambda total, **options: bars.append((total, options)) or bar())

    def interrupted(seed):
        if seed == 2:
            raise KeyboardInterrupt
        return ends[seed]

    assert (("late", 2, False), ("fine", 1, True), ("fine", 1, False)) == count_ends(ends.__getitem__, 4)
    assert [(4, {"unit": " runs", "disable": False}), 1, 1, 1, 1] == bars
    monkeypatch.setattr(report.time, "monotonic", lambda: next(clock))
    assert (("late", 1, False), ("fine", 1, True)) == count_ends(ends.__getitem__, 4, 5.0, progress=False)
    monkeypatch.undo()
    assert (("late", 1, False), ("fine", 1, True)) == count_ends(interrupted, 4)


def test_a_sample_says_whose_runs_and_what_they_should_reach():
    """A cluster's name and rules, or nothing of a world alone; a goal in words, as a function, or that every pod runs."""
    c = scenario("zonal-example")
    found = [sample(world, 2, **options) for world, options in ((c, {}), (c.world, {}), (Cluster(), {}), (c, {"goal": "my-pod gone"}), (
        c, {"goal": lambda _: True, "summary": lambda objects: f"{len(objects.objects('pods'))} pod", "steps": 1}))]

    assert ["zonal-example, rules design", "", "rules upstream", "zonal-example, rules design", "zonal-example, rules design"] == [
        each.about for each in found]
    assert ["every pod runs in all", "every pod runs in all", "every pod runs in all", "my-pod gone holds in none", "the goal holds in all"] == [
        each.reached for each in found]
    assert (EndState("1 pod", 2, goal_holds=True),) == found[-1].end_states
    assert {2, "seeds"} == {found[0].seeds, found[0].how}
    assert 20 == sample(Cluster()).seeds


def test_a_state_is_asked_as_a_cluster_is():
    """Objects by kind in the order of their keys, one by key or by reference, and whether it is there."""
    c = Cluster.from_manifests([make.pod("b"), make.pod("a"), make.pod("z", namespace="apart"), make.node("n1")])
    found, log = SearchedObjects(c.world), c.world.log.objects

    assert ["z", "a", "b"] == [pod.metadata.name for pod in found.objects("pods")] == [pod.metadata.name for pod in found.objects("Pod")]
    assert c["pod/a"] is found["pod/a"] is found[Key("Pod", "default", "a")]
    assert [True, False, True, False] == [each in found for each in ("pod/a", "pod/c", Key("Pod", "default", "b"), Key("Pod", "default", "n1"))]
    assert (len(log), list(log), list(log.items())) == (len(found), list(found), list(found.items()))


class Odd:
    """An odd property. """  # noqa: D210 - what is asked

    def __call__(self, objects):
        """Say yes."""
        return 1


def documented(_objects):
    """Two pods share a node.

    And more of it.
    """
    return True


def plain(objects):  # noqa: D103 - it has no docstring
    return "what is wrong" if "pod/b" in objects else 0


@pytest.mark.parametrize(("never", "wrong"), [
    ((), ""), ((lambda _: False, documented), "Two pods share a node"), ((plain, documented), "what is wrong"),
    ((lambda _: True,), "what must never hold does"), (("pod/a Running",), ""), (("pod/b gone", "pod/a Pending"), "pod/a Pending"),
    ((Odd(),), "An odd property"),
])  # fmt: skip
def test_what_must_never_hold_says_what_it_is(never, wrong):
    """The first that holds: what it answers, its words, the first line of its docstring, or that it does."""
    c = Cluster.from_manifests([make.pod("a"), make.pod("b")])

    assert wrong == never_holds(never, c.world)({}, {})
    assert "plain holds" == searched._name(plain)


def test_what_is_no_property_is_refused():
    """A property is a function or words about an object."""
    with pytest.raises(TypeError) as refused:
        property_named(5, Cluster().world)
    assert "a property is a function of the cluster or words such as 'pod/web-0 Running', not 5" == str(refused.value)
    assert plain is property_named(plain, Cluster().world)


def test_objects_that_never_were_are_told_with_the_nearest_names():
    """What words name and no state had; each once, until a state has it; of the kinds that are meant, the nearest names."""
    c = Cluster.from_manifests([make.pod("web-0"), make.claim("data"), make.node("n1")])
    named = NamedObjects(["pod/web-1 Running", "pod/web-1 gone", "pod/web-1 Pending", "pvc/dato Bound", "pod/web-0 Running", len, None], c.world.log.objects)
    told = named.sentences(c.world.log.objects)

    assert ("pod/web-1 existed in no visited state; did you mean pod/web-0?", "pvc/dato existed in no visited state; did you mean pvc/data?") == told
    named.notice({Key("Pod", "default", "other"): 1, Key("PersistentVolumeClaim", "default", "dato"): 2})
    assert told[:1] == named.sentences(c.world.log.objects)
    assert ("pod/web-1 existed in no visited state",) == named.sentences({})


SCRATCH = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": make.claim()["spec"]}}}]
ELSEWHERE, IN_SHOP = make.stateful_set("web"), make.pod("p", namespace="shop", volumes=SCRATCH)
ELSEWHERE["metadata"]["namespace"] = "shop"


@pytest.mark.parametrize(("words", "more", "comes"), [
    ("pod/web-x Running", [], False), ("pod/web-x Running", [make.stateful_set("web")], True), ("pod/webx Running", [make.stateful_set("web")], False),
    ("pvc/data Bound", [], False), ("pvc/data Bound", [make.deployment("web")], True),
    ("pvc/data Bound", [make.pod("p", volumes=SCRATCH)], True),
    ("pvc/data Bound", [make.pod("p", "other")], False), ("pv/disk Bound", [], True), ("node/n9 gone", [], True),
    (f"pod/{'w' * 40}-x Running", [make.deployment("w" * 60)], True), (f"pod/{'w' * 39}-x Running", [make.deployment("w" * 60)], False),
])  # fmt: skip
def test_which_objects_a_workload_may_create(words, more, comes):
    """Pods whose names begin with a workload's, however long that is, claims beside workloads or ephemeral volumes, and all other kinds."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("app"), *more])
    named = NamedObjects([words], c.world.log.objects)

    if comes:
        named.check(c)
    else:
        with pytest.raises(UnknownName, match="no workload would create it"):
            named.check(c)


def test_options_are_checked_by_name():
    """A reduction, a lag or a clock that is none is refused with all that there are, and the nearest."""
    for option, value, there in (("lag", "orderd", "ordered, per kind, none; did you mean ordered?"), ("clock", "x", "idle, free"),
                                 ("reductions", ["eagle"], "eager, idle; did you mean eager?")):
        with pytest.raises(ValueError, match="there are") as refused:
            Cluster().explore(**{option: value})
        name, written = option.removesuffix("s"), value if isinstance(value, str) else value[0]
        assert f"{written!r} is no {name}; there are: {there}" == refused.value.args[0]
