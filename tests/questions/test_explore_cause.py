"""What is said of the cause of a failure: which turn, what it had not seen, what was lost, and what it would have done."""

from types import SimpleNamespace

import attrs
import pytest

from kvolsched import make
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.explore import cause
from kvolsched.questions.explore.cause import causes, shows_the_end
from kvolsched.questions.explore.report import TracedTurn
from kvolsched.questions.explore.transitions import Transition
from kvolsched.scheduler.loop.scheduling_cycle import PASS, SCHEDULER
from kvolsched.world.apiserver import RefusedWrite, Write
from kvolsched.world.history import Turn
from kvolsched.world.log import Change, Key, Note
from kvolsched.world.reconciler import RemainingWrites
from kvolsched.writes import delete


def turn(step, words, component="kubelet", actor="kubelet", cause_="default/p", *, unseen=(), refused=False, failed=False):
    """Return a turn of a trace, the one after the last step."""
    outcomes = (RefusedWrite(Write("bind", Key("Pod", "default", "p")), "Conflict", "no"),) if refused else ()
    return TracedTurn(Turn(step, component, actor, cause_, step * 10, step * 10 + 5, 0.0, words, outcomes, failed=failed), step - 1, unseen)


@pytest.mark.parametrize(("words", "inside"), [
    ("Scheduler binds p to n1. It is there.", "scheduler binds p to n1"), ("scheduler acts", "scheduler acts"), ("PV controller binds c.", "PV controller binds c"),
    ("User creates pod/p. ", "user creates pod/p"), ("pd.csi provisions a. b", "pd.csi provisions a"), ("", ""), ("A. B.", "a"),
    ("DaemonSet controller acts", "DaemonSet controller acts"),
])  # fmt: skip
def test_a_sentence_within_another(words, inside):
    """The first one, without its stop, and without its capital unless it is a name's."""
    assert inside == cause._inside(words)


@pytest.mark.parametrize(("component", "who"), [(SCHEDULER, "Scheduler"), ("kubelet", "Kubelet"), ("pd.csi", "pd.csi"), ("anna", "Anna"), ("my-own", "my-own")])
def test_who_it_was(component, who):
    """A component by the name that is shown, with a capital unless it is a name of its own."""
    assert who == cause._who(turn(1, "x", component))


@pytest.mark.parametrize(("instead", "said"), [
    ("", "Had it known, it would have done nothing."), ("Kubelet starts pod/p", "Had it known, it would have written something else."),
    ("Kubelet starts pod/p. It waits", "Had it known: it waits."), ("Scheduler binds p. Kubelet starts pod/p", "Had it known: scheduler binds p."),
])  # fmt: skip
def test_what_it_would_have_done(instead, said):
    """The first sentence that its own words have not; else that it would have written something else, or nothing."""
    assert said == cause._had_it_known(turn(1, "Kubelet starts pod/p on n1."), instead)


@pytest.mark.parametrize(("each", "other", "said"), [
    (turn(2, "Kubelet starts p."), turn(4, "PV controller binds c."), "Step 2 (kubelet starts p) was decided before step 4 (PV controller binds c)"),
    (turn(2, "x", SCHEDULER, PASS, "default/a"), turn(4, "y", SCHEDULER, "bind worker", "default/b"),
     "a's and b's nodes were chosen at steps 2 and 3 without either knowing of the other's"),
    (turn(3, "x", "pv", "claims", "default/c"), turn(4, "y", "pv", "volumes", "d"), "d's and c's turns were decided at steps 1 and 3 without either knowing of the other's"),
])  # fmt: skip
def test_a_turn_that_came_too_early(each, other, said):
    """It was decided before another one, or the same actor decided for what that one is about: then neither knew of the other."""
    twins = [turn(3, "z", SCHEDULER, PASS, "default/b"), turn(1, "w", "pv", "claims", "d"), turn(5, "v", "other", "other", "default/p")]

    assert said == cause._too_early([*twins, each], each, other)


def test_what_was_written_is_compared_without_versions():
    """Objects with their values, what is gone as None; no notes and no Events."""
    pod = from_plain(make.pod("p"))
    newer = evolve_parts(pod, metadata={"resource_version": 7})
    key = Key("Pod", "default", "p")
    changes = [Change(key, None, newer), Change(key, newer, None), Change(Note("x", "y", "z"), None, 1), Change(Key("Event", "default", "e"), None, 1)]

    assert [(key, evolve_parts(pod, metadata={"resource_version": 0})), (key, None)] == cause._decided(changes)


@pytest.mark.parametrize(("actor", "note", "shows"), [
    (PASS, (0, 25), True), (PASS, (0, 20), True), (PASS, (0, 19), False), (PASS, (0, 26), False), (PASS, (1, 22), False), (PASS, None, False),
    ("bind worker", (0, 22), False),
])  # fmt: skip
def test_the_last_pass_of_a_pod_that_fits_nowhere_shows_the_end(actor, note, shows):
    """Its note is of that turn, and no node fitted."""
    notes = {Note(SCHEDULER, "pass", "default/p"): SimpleNamespace(fit=note[0], place=note[1])} if note else {}

    assert shows == shows_the_end(SimpleNamespace(log=SimpleNamespace(notes=notes)), turn(2, "x", SCHEDULER, actor))


class Reruns:
    """A trace whose turns would have decided otherwise as told: by turn, of what was unseen ("") or of a later turn."""

    def __init__(self, turns, kinds, otherwise=(), changes=(), independent=()):
        self.turns, self._otherwise, self._changes, self._independent = turns, dict(otherwise), dict(changes), dict(independent)
        self.trace = [Transition(kind, fault=0 if kind == "fault" else -1) for kind in kinds]
        self.sim = SimpleNamespace(history=SimpleNamespace(turns_of=lambda step: [
            SimpleNamespace(words="quiet words", quiet=True), SimpleNamespace(words="", quiet=False), SimpleNamespace(words=f"Words of {step}. More", quiet=False)]))

    def otherwise(self, each, known=None):
        """Return what a turn would have done."""
        return self._otherwise.get((each.turn.step, known))

    def changes(self, each):
        """Return what a turn changed."""
        return self._changes.get(each.turn.step, ())

    def independent_of(self, each):
        """Return later turns that did not come of this one, with what they wrote."""
        return {other: other.turn.step for other in self._independent.get(each.turn.step, ())}


ONE, TWO, THREE = turn(1, "Anna reads.", "anna", "anna"), turn(2, "Bert writes.", "bert", "bert", unseen=(1,)), turn(3, "Carl acts.", "carl", "carl", unseen=(1, 2))
REFUSED, CRASH = turn(2, "Bert writes.", "bert", "bert", refused=True), turn(2, "Anna crashes.", "anna", "anna")
PLAN = Note("anna", "plan", "x")
LEFT = RemainingWrites((delete("pod/a"), delete("pod/b")), 0)
LOSES = {1: [Change(PLAN, None, 1)], 2: [Change(PLAN, LEFT, None)]}


@pytest.mark.parametrize(("turns", "kinds", "told", "found"), [
    ([ONE, TWO], ["act", "act"], {"otherwise": {(2, None): ""}}, [
        "Bert had not seen step 1 (words of 1) when it took step 2 (bert writes). Had it known, it would have done nothing.",
        "It takes steps 1 and 2; with all there was to see each would have gone the same way."]),
    ([ONE, TWO, THREE], ["act", "see", "act"], {"otherwise": {(2, None): "", (3, None): "Carl waits"}}, [
        "Carl had not seen step 2 (words of 2) when it took step 3 (carl acts). Had it known: carl waits.",
        "It takes steps 1, 2 and 3; with all there was to see each would have gone the same way."]),
    ([THREE], ["see", "see", "act"], {"otherwise": {(3, None): ""}}, [
        "Carl had not seen step 2 (words of 2) when it took step 3 (carl acts). Had it known, it would have done nothing.",
        "It takes step 3; with all there was to see each would have gone the same way."]),
    ([ONE, attrs.evolve(TWO, turn=attrs.evolve(TWO.turn, failed=True))], ["act", "act"], {}, [
        "Bert failed at step 2.", "It takes steps 1 and 2; with all there was to see each would have gone the same way."]),
    ([ONE, REFUSED], ["act", "fault"], {}, ["Nobody made a write again that was refused: step 2 (bert writes).", "It takes step 2 (bert writes), of steps 1 and 2."]),
    ([REFUSED], ["act", "act"], {}, ["It takes step 2 (bert writes)."]),
    ([ONE, CRASH], ["act", "fault"], {"changes": LOSES}, [
        "Anna forgot at step 2 what it had noted at step 1 (anna reads); it still had to delete pod/a.",
        "It takes step 2 (anna crashes), of steps 1 and 2."]),
    ([ONE, CRASH], ["act", "fault"], {"changes": LOSES | {2: [Change(PLAN, 1, None)]}}, [
        "Anna forgot at step 2 what it had noted at step 1 (anna reads).", "It takes step 2 (anna crashes), of steps 1 and 2."]),
    *(([ONE, CRASH, THREE], ["act", "fault", "act"], {"changes": changes}, ["It takes step 2 (anna crashes), of steps 1, 2 and 3."]) for changes in (
        LOSES | {2: [Change(PLAN, 1, 2)]}, LOSES | {2: [Change(Note("bert", "plan", "x"), 1, None)], 1: [Change(Note("bert", "plan", "x"), None, 1)]},
        {2: LOSES[2], 3: LOSES[1]}, {2: [Change(Key("Pod", "default", "p"), 1, None)], 1: [Change(Key("Pod", "default", "p"), None, 1)]})),
    ([ONE, THREE], ["act", "act", "act"], {"independent": {1: (TWO, THREE)}, "otherwise": {(1, 2): "Anna waits", (1, 3): ""}}, [
        "Step 1 (anna reads) was decided before step 3 (carl acts). Had it known, it would have done nothing.",
        "Step 1 (anna reads) was decided before step 2 (bert writes). Had it known: anna waits.",
        "It takes steps 1 and 3; with all there was to see each would have gone the same way."]),
    ([], [], {}, ["It is so from the start."]),
])  # fmt: skip
def test_causes_are_told_nearest_first(turns, kinds, told, found):
    """What failed, what was not seen, what a fault lost, what came too early; at last which turns it takes."""
    assert found == list(causes(Reruns(turns, kinds, **told), turns))


def test_a_failure_that_hangs_on_no_turn_says_so():
    """Where turns led there and none matters, it happens in the natural order, too."""
    assert ["It happens in the natural order of turns, too, and hangs on no single turn."] == list(causes(Reruns([ONE], ["act"]), []))
