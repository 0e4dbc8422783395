"""`evolve` copies a value as its constructor would make it, for every class of values that objects consist of."""

import pickle

import attrs
import pytest

import kvolsched.api.text.manifest  # noqa: F401 - objects print as manifests
from kvolsched.api.kinds import meta, node, pod, volume, workload
from kvolsched.api.kinds.kind import KINDS
from kvolsched.scheduler.loop.scheduling_queue import QueueEntry
from kvolsched.world.apiserver import CommittedWrite
from kvolsched.world.history import Turn
from kvolsched.world.plan import PlannedWrite
from kvolsched.world.reconciler import RemainingWrites
from kvolsched.world.work_queue import WorkItem

VALUES = [
    found() for module in (meta, node, pod, volume, workload) for found in vars(module).values()
    if isinstance(found, type) and attrs.has(found)
]


@pytest.mark.parametrize("value", [*VALUES, *(kind.type() for kind in KINDS)], ids=lambda value: type(value).__name__)
def test_a_copy_equals_what_attrs_makes(value):
    """One changed attribute, all of them, and none: equal to attrs' copy, with its hash; the original stays."""
    before, names = repr(value), [field.alias for field in attrs.fields(type(value))]
    hash(value)
    for changed in ([], names[:1], names[-1:], names):
        changes = {name: ("changed", name) for name in changed}
        copy = meta.evolve(value, **changes)
        assert copy == attrs.evolve(value, **changes)
        assert hash(copy) == hash(attrs.evolve(value, **changes))
        assert copy is not value
    assert repr(value) == before


def test_what_a_constructor_checks_is_checked():
    """Validators, converters and unknown names are minded as by the constructor."""

    @attrs.frozen
    class Checked:
        size: int = attrs.field(default=1, validator=attrs.validators.ge(0))
        name: str = attrs.field(default="", converter=str)

    assert meta.evolve(Checked(), name=5).name == "5"
    with pytest.raises(ValueError, match="size"):
        meta.evolve(Checked(), size=-1)
    with pytest.raises(TypeError, match="colour"):
        meta.evolve(pod.Pod(), colour="red")


MADE = (meta.ObjectMeta, meta.ObjectReference, workload.Event, Turn, CommittedWrite, PlannedWrite, RemainingWrites,
        QueueEntry, WorkItem)  # fmt: skip


@pytest.mark.parametrize("cls", MADE, ids=lambda cls: cls.__name__)
def test_a_quickly_made_value_is_as_its_class_makes_it(cls):
    """With what it needs alone, and with every field: equal, of one hash, frozen, and pickled and evolved as ever."""
    make, fields = meta.maker(cls), attrs.fields(cls)
    needed = {field.name: ("made", field.name) for field in fields if field.default is attrs.NOTHING}
    for given in (needed, {field.name: ("made", field.name) for field in fields}):
        made, expected = make(**given), cls(**given)
        assert attrs.astuple(made, recurse=False) == attrs.astuple(expected, recurse=False)
        assert (made, hash(made), type(made)) == (expected, hash(expected), cls)
        assert pickle.loads(pickle.dumps(made)) == attrs.evolve(made) == meta.evolve(made) == made  # noqa: S301 - ours
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(made, fields[0].name, "other")
    with pytest.raises(TypeError, match="colour"):
        make(**needed, colour="red")
    if needed:
        with pytest.raises(TypeError, match="missing"):
            make()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_objects_are_equal_if_all_that_counts_is(kind):
    """An object equals a copy of its parts, not one of which a compared field differs, and nothing of another class."""
    value = kind.type()
    assert value == attrs.evolve(value, metadata=meta.ObjectMeta())
    for field in attrs.fields(kind.type):
        other = attrs.evolve(value, **{field.alias: ("other", field.name)})
        assert (value == other) is not field.eq
        assert (value != other) is bool(field.eq)
    assert value.__eq__(object()) is NotImplemented
