"""Remembered transitions: each leads where its execution would lead, and a search without memory finds the same."""

from types import SimpleNamespace

import pytest
from questions.test_discoveries import one_disk, two_claims
from questions.test_explore import account, bank

import kvolsched
from kvolsched import make, writes
from kvolsched.explore import Crash, Refuse, UserAct, explore
from kvolsched.questions.explore import expansion
from kvolsched.questions.explore.transitions import TransitionSystem
from kvolsched.questions.explore.turn_memory import TurnMemory
from kvolsched.world.apiserver import CLOCK
from kvolsched.world.log import Note

WORLDS = {
    "payers": (lambda: bank(careful=True), {"goal": lambda objects: account(objects) == 2, "faults": [Crash("anna")]}),
    "zone": (lambda: kvolsched.scenario("zonal-example"),
             {"until": None, "lag": "none", "faults": [Crash("kube-scheduler"), Refuse("kube-scheduler")]}),
    "per kind": (lambda: one_disk("upstream", driver=False), {"lag": "per kind", "until": None, "max_states": 400}),
    "two claims": (lambda: two_claims("design"), {"until": None, "clock": "free", "max_states": 300}),
    "replicas": (lambda: kvolsched.scenario("two-replicas", "upstream"), {"max_states": 300}),
}


def found(result):
    """Return everything that a result says."""
    return repr(result), result.trace, result.states, result.transitions, result.depth


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_remembered_is_what_execution_does(name, monkeypatch):
    """Every remembered transition is executed, too: it reaches the state that was foretold, with the same draws."""
    world, options = WORLDS[name]
    foretell, checked = expansion.Expander._foretell, []

    def compared(self, here, counts, transition, transitions, expanded):
        before = len(expanded.successors)
        known = foretell(self, here, counts, transition, transitions, expanded)
        if known and len(expanded.successors) > before:
            system, log, parts = self.system, self.sim.log, expanded.successors[-1].parts
            draws = list(system.draw_sizes)
            place = self._enter(present[-1])
            after = system.execute(transition, counts)
            assert draws == system.draw_sizes
            system.run_urgent(place)
            assert expanded.successors[-1].key == self._key(self._parts().digest, after)
            assert parts in (None, self._parts())
            log.seek(place)
            log.truncate()
            system.draw_sizes = draws
            checked.append(transition)
        return known

    def noting(self, state):
        present.append(state)
        return expand(self, state)

    expand, present = expansion.Expander.expand, []
    monkeypatch.setattr(expansion.Expander, "expand", noting)

    monkeypatch.setattr(expansion.Expander, "_foretell", compared)
    explore(world(), **options, progress=False)

    assert len(checked) > 5


@pytest.mark.parametrize("name", WORLDS)
def test_memory_changes_nothing_of_a_result(name, monkeypatch):
    """States, transitions, trace and words are those of a search that executes every transition."""
    world, options = WORLDS[name]
    remembering = explore(world(), **options, progress=False)
    monkeypatch.setattr(TurnMemory, "key", lambda *_: None)

    assert found(remembering) == found(explore(world(), **options, progress=False))


def test_a_turn_that_writes_is_remembered_too(monkeypatch):
    """What a turn changes in the store is known from another order of turns, with what the others see of it."""
    foretold, state_after = [], TurnMemory.state_after

    def noting(self, state, transition, effect):
        there = state_after(self, state, transition, effect)
        foretold.append(there is not None and there.objects != state.objects)
        return there

    monkeypatch.setattr(TurnMemory, "state_after", noting)
    world, options = WORLDS["zone"]
    explore(world(), **options, progress=False)

    assert any(foretold)


def test_a_state_that_was_foretold_wrongly_makes_the_search_begin_without_memory(monkeypatch):
    """A world whose turns depend on more than is compared costs time, and changes no result."""
    world, options = WORLDS["payers"]
    expected = found(explore(world(), **options, progress=False))
    state_after = TurnMemory.state_after

    def wrong(self, *args):
        there = state_after(self, *args)
        return there and there._replace(digest=there.digest + 1)

    monkeypatch.setattr(TurnMemory, "state_after", wrong)

    assert expected == found(explore(world(), **options, progress=False))


def test_a_claim_that_goes_before_anybody_saw_it_does_not_end_the_search():
    """A kind whose changes undo each other is pending for nothing: two states that differ in this alone are one."""
    objects = [make.node("n1", "a"), make.storage_class("late", make.DRIVER), make.volume("d", claim="data"), make.claim("data")]
    absent = {name: {"absent": True} for name in ("kube-scheduler", "kubelet")}
    cluster = kvolsched.Cluster.from_manifests(objects, revision="design", components=absent)
    gone = UserAct("the claim is deleted", (writes.delete("pvc/data"),))

    assert cluster.explore(lag="per kind", faults=[gone], progress=False).exhausted


def test_a_log_without_its_beginning_is_read_from_the_right_place():
    """Whether the clock moved between two places is read there, also if the log's first changes were dropped."""
    changes = [(CLOCK, 0, 1), (Note("anna", "x", ""), 0, 1), (Note("bert", "x", ""), 0, 1)]
    sim = SimpleNamespace(log=SimpleNamespace(base=10, changes=changes), processes={"anna": None, "bert": None})
    memory = SimpleNamespace(sim=sim, open=True)

    assert TurnMemory.forbids(memory, 10, 11, "anna")
    assert not TurnMemory.forbids(memory, 11, 12, "anna")
    assert memory.open
    assert TurnMemory.forbids(memory, 12, 13, "anna")
    assert not memory.open


def test_a_delayed_component_changes_not_even_its_queue(monkeypatch):
    """Of a component that is delayed no turn is tried ahead, though it has some that are ready."""
    c = kvolsched.Cluster.from_manifests([make.node("n1"), make.pod("app")])
    c.step()
    c.delay("kube-scheduler", 60)
    options = {"lag": "ordered", "clock": "idle", "components": None, "eager": True, "idle": True}
    system, tried = TransitionSystem(c.world.fork(), **options), []
    monkeypatch.setattr(system, "_try_idly", lambda process, *_: tried.append(process.name))
    for process in system.processes:
        system.sim.deliver(process)
        system._reconcile_idly(process)

    assert "kube-scheduler" not in tried
    monkeypatch.setattr(system.sim, "is_delayed", lambda _process: False)
    system._reconcile_idly(system.sim.processes["kube-scheduler"])
    assert "kube-scheduler" in tried
