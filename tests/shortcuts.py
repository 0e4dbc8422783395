"""Every shortcut of the engine switched off at once: what is kept from before, what is not asked, columns for rules.

The pass has a switch of its own; here are those around it: who is next is found by asking every component anew, an
actor that goes on is asked again, actors are told of changes of every kind, functions remember nothing, and a pass
reads a snapshot that is built from its contents. A shortcut that is renamed fails here, so that none is forgotten.
"""

import sys
from contextlib import contextmanager

import pytest

from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.loop import scheduling_cycle
from kvolsched.scheduler.loop.binding_flow import BindWorker
from kvolsched.scheduler.shortcuts import without_shortcuts
from kvolsched.world import runtime
from kvolsched.world.simulation import Simulation


def remembering_functions():
    """Return the functions and methods of the package that remember their answers."""
    modules = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "kvolsched"]
    owners = [*modules, *(value for module in modules for value in vars(module).values() if isinstance(value, type))]
    found = {id(value): value for owner in owners for value in vars(owner).values() if hasattr(value, "cache_clear")}
    return list(found.values())


@contextmanager
def contents_kept():
    """Have every snapshot keep its contents, so that it can be built again (`built_again`)."""
    with pytest.MonkeyPatch.context() as patch:
        apply = Snapshot.apply

        def keeping(self, key, old, new):
            contents = self.__dict__.setdefault("contents", {})
            contents.pop(key, None)
            if new is not None:
                contents[key] = new
            apply(self, key, old, new)

        patch.setattr(Snapshot, "apply", keeping)
        yield


def built_again(seen):
    """Return a snapshot with the contents of another one, in the order of their keys."""
    found = Snapshot()
    for key, obj in sorted(seen.__dict__.get("contents", {}).items()):
        found.apply(key, None, obj)
    found.moment = seen.moment
    return found


@contextmanager
def no_shortcuts():
    """Take no shortcut inside this block."""
    with pytest.MonkeyPatch.context() as patch, without_shortcuts(columns=False), contents_kept():
        step, turn, longest_waiting = Simulation.step, Simulation.turn, Simulation._longest_waiting

        def forgetful_step(self, *args, **options):
            for function in remembering_functions():
                function.cache_clear()
            return step(self, *args, **options)

        def asked_turn(self, *args, goes_on=False, **options):
            return turn(self, *args, **options)

        def asking_all(self):
            for process in self.processes.values():
                assert hasattr(process, "knows_oldest_task")
                process.knows_oldest_task = False
            return longest_waiting(self)

        def every_kind(actor, name, *default):
            return None if name == "reacts_to" else getattr(actor, name, *default)

        assert hasattr(BindWorker, "reacts_to")
        patch.setattr(runtime, "getattr", every_kind, raising=False)
        patch.setattr(Simulation, "step", forgetful_step)
        patch.setattr(Simulation, "turn", asked_turn)
        patch.setattr(Simulation, "_longest_waiting", asking_all)
        patch.setattr(scheduling_cycle, "judge", lambda pod, seen, profile: judge(pod, built_again(seen), profile))
        yield
