"""Toy components over real kinds, for the laws of the world: they greet, count, and write twice.

Each shows one habit of a controller (an update with a version, a plan of two writes, a draw), so that the laws are
tested with all of them.
"""

from collections.abc import Mapping

import attrs
from objects import pod

from kvolsched.api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from kvolsched.api.kinds.volume import PersistentVolumeClaim
from kvolsched.api.kinds.workload import Namespace
from kvolsched.world.apiserver import Write, key_of
from kvolsched.world.component import Component
from kvolsched.world.log import Key
from kvolsched.world.reconciler import Reconciler
from kvolsched.world.simulation import Simulation
from kvolsched.world.view import Index

KINDS = ("Pod", "PersistentVolumeClaim", "Namespace")
TALLY = Key("Namespace", "", "tally")


def create(obj):
    """The write that creates an object."""
    return Write("create", key_of(obj), obj)


def relabel(obj, **labels):
    """The write that sets labels of an object as last read."""
    meta = attrs.evolve(obj.metadata, labels=obj.metadata.labels.with_(**labels))
    return Write("update", key_of(obj), attrs.evolve(obj, metadata=meta), version=obj.metadata.resource_version)


@attrs.frozen
class Annotate:
    """A patch that sets annotations."""

    items: Frozen

    def apply(self, old):
        """Return the object with them."""
        return evolve_parts(old, metadata={"annotations": old.metadata.annotations.merged(self.items)})


def name_in(key):
    """A pod's key as a cause."""
    return f"{key.namespace}/{key.name}"


def _pods(_ctx, key, _old, _new):
    return [name_in(key)] if key.kind == "Pod" else []


def _greet(ctx, cause):
    namespace, name = cause.split("/")
    seen = ctx.seen.get("Pod", name, namespace)
    if seen is None or "greeted" in seen.metadata.labels:
        return ()
    ctx.event(seen, "Normal", "Greeted", f"{name} was greeted")
    return [relabel(seen, greeted=str(ctx.draw("word", name, 3)))]


def _any_pod(_ctx, key, _old, _new):
    return ["tally"] if key.kind in ("Pod", "Namespace") else []


def _count(ctx, _cause):
    seen = ctx.seen.at(TALLY)
    greeted = len(ctx.views["greeted"].get("yes"))
    count = str(greeted)
    if seen is None:
        return [create(Namespace(metadata=ObjectMeta(name="tally", labels=Frozen(greeted=count))))]
    return [relabel(seen, greeted=count)] if seen.metadata.labels.get("greeted") != count else ()


def _claim(ctx, cause):
    namespace, name = cause.split("/")
    seen = ctx.seen.get("Pod", name, namespace)
    if seen is None or "claimed" in seen.metadata.annotations:
        return ()
    claim = PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace=namespace))
    creates = [] if ctx.seen.at(key_of(claim)) is not None else [create(claim)]
    return [*creates, Write("patch", key_of(seen), Annotate(Frozen(claimed="yes")), uid=seen.metadata.uid)]


GREETER = Component("greeter", ("Pod",), (Reconciler("greet", _pods, _greet),))
COUNTER = Component(
    "counter", ("Pod", "Namespace"), (Reconciler("count", _any_pod, _count),),
    views=lambda _seen: {"greeted": Index("Pod", lambda p: ["yes"] if "greeted" in p.metadata.labels else ["no"])},
)
CLAIMER = Component("claimer", ("Pod", "PersistentVolumeClaim"), (Reconciler("claim", _pods, _claim),))
TOYS = (GREETER, COUNTER, CLAIMER)


def world(*components, pods=2, seed=0):
    """A world with these components (all toys if none) and some pods, a step each."""
    sim = Simulation(components or TOYS, seed=seed)
    for n in range(pods):
        sim.perform("user", [create(pod(f"p{n}"))])
    return sim


def contents(sim):
    """Everything a world holds now, plainly: objects with their versions, notes."""
    versions = {key: obj.metadata.resource_version for key, obj in sim.log.objects.items()}
    return dict(sim.log.objects), versions, dict(sim.log.notes)


def views(sim):
    """Every view of every component, plainly."""
    return {
        (name, what): view
        for name, process in sim.processes.items()
        for what, view in {
            "seen": process.seen.kinds, "todo": {a: w.items for a, w in process.work_queues.items()},
            "plans": {a: w.items for a, w in process.plans.items()}, "wakes": process.wake_ups.items,
            "pending": dict(process.pending), "oldest task": sim.oldest_task(process),
            **{label: vars(index).get("objects") for label, index in process.views.items()},
        }.items()
    }  # fmt: skip


def state(sim):
    """Contents and views together."""
    return contents(sim), views(sim)


def copied(value):
    """Return a deep copy of nested mappings, so that later changes do not reach it."""
    if isinstance(value, Mapping) and not isinstance(value, Frozen):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(copied(item) for item in value)
    return value


def picture(sim):
    """A copy of contents and views, to compare later."""
    return copied(state(sim))
