"""A simulation of some components and a user who writes, for the controllers' tests."""


from kvolsched.controllers import admission
from kvolsched.rules.revision import WITH_GENERATIONS
from kvolsched.world.apiserver import ApiServer, Write, key_for, key_of
from kvolsched.world.simulation import Simulation


class Harness:
    """A simulation of some components and a user. Mutable."""

    def __init__(self, *components, seed=0, permit=None, protects=False):
        off = ("TaintNodesByCondition",) if protects else ("TaintNodesByCondition", "StorageObjectInUseProtection")
        subresources = {"bind": admission.binding_subresource(zone_labels=True)}
        server = ApiServer(admission.DEFAULT_ADMISSION.without(*off), subresources, permit or admission.permissions_without({}), WITH_GENERATIONS)
        self.sim = Simulation(components, server, seed)

    def create(self, *created):
        """Let the user create objects; a refusal fails the test."""
        for outcome in self.sim.perform("user", [Write("create", key_of(obj), obj) for obj in created]):
            assert hasattr(outcome, "stored"), outcome
        return self

    def write(self, verb, obj, new=None, **more):
        """Let somebody carry out one write."""
        outcome, = self.sim.perform("user", [Write(verb, key_of(obj), new, **more)])
        return outcome

    def change(self, reference, change):
        """Let the user replace an object by what `change` makes of it."""
        old = self[reference]
        outcome = self.write("update", old, change(old))
        assert hasattr(outcome, "stored"), outcome
        return self

    def delete(self, reference, grace=None):
        """Let the user delete an object."""
        self.write("delete", self[reference], grace)
        return self

    def run(self, seconds=300.0):
        """Run until nothing is left to do, or the time is over."""
        for _ in self.sim.run(steps=3000, seconds=seconds):
            pass
        return self

    def __getitem__(self, reference):
        """Return an object by `pvc/data`, `pv/disk`, `pod/app`; None if absent."""
        return self.sim.log.objects.get(key_for(reference))

    def all(self, kind):
        """Return every object of a kind, sorted by key."""
        found = self.sim.log.objects
        return [found[key] for key in sorted(found) if key.kind == kind]

    def events(self, name):
        """Return (reason, message) of each Event about an object of this name."""
        return [(e.reason, e.message) for e in self.all("Event") if e.involved_object.name == name]

    def writes(self):
        """Return (writer, verb, subject) of every write that was carried out by a component, in order."""
        return [
            (turn.component, outcome.write.verb, outcome.write.subject)
            for turn in self.sim.turns for outcome in turn.outcomes
            if turn.component != "user" and getattr(outcome, "changed", False)
        ]
