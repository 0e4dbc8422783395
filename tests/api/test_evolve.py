"""`evolve` copies a value as its constructor would make it, for every class of values that objects consist of."""

import attrs
import pytest

from kvolsched.api.kinds import meta, node, pod, volume, workload
from kvolsched.api.kinds.kind import KINDS

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
