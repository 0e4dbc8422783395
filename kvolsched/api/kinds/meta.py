"""Frozen values and the types that all kinds share: metadata, references, conditions, resources.

Values are deeply frozen, so any number of histories may share one object. Fields that this package does not
model are kept in `rest`, under their manifest names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import ismemberdescriptor
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, ParamSpec, TypeVar

import attrs

from ..notebook_output import ShownAsYaml, printable

Value = TypeVar("Value")
Fields = ParamSpec("Fields")


class Frozen(dict[str, Any]):
    """Immutable, hashable mapping; it compares and prints like a dict."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    def with_(self, **items: Any) -> Frozen:
        """Return a copy with these items set; a value of None removes its key."""
        return self.merged(items)

    def merged(self, items: Mapping[str, Any]) -> Frozen:
        """Return a copy with `items` set; a value of None removes its key."""
        merged = {**self, **items}
        return Frozen({key: value for key, value in merged.items() if value is not None})

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a Frozen mapping cannot change; create a changed copy with .merged(...)")

    __setitem__ = __delitem__ = _refuse
    __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, (dict(self),)


EMPTY = Frozen()


def freeze(value: Any) -> Any:
    """Return plain data with dicts as `Frozen` and lists as tuples."""
    if isinstance(value, dict):
        return value if isinstance(value, Frozen) else Frozen({str(k): freeze(v) for k, v in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """Return frozen data with plain dicts and lists, the reverse of `freeze`."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def evolve(value: Value, /, **changes: Any) -> Value:
    """Return a copy with these attributes changed; `attrs.evolve` takes three times as long."""
    shape = (type(value), *changes)
    copy = _copies.get(shape)
    if copy is None:
        copy = _copies[shape] = _copy_function(type(value), frozenset(changes))
    copied: Value = copy(value, changes)
    return copied


def evolve_parts(value: Value, /, **changes: Any) -> Value:
    """Return a copy with these attributes changed; a mapping for metadata, spec or status changes fields inside it.

    `evolve_parts(pod, spec={"node_name": "node-a"})` keeps the rest of the spec.
    """
    for name, fields in changes.items():
        if isinstance(fields, dict) and name in ("metadata", "spec", "status"):
            changes[name] = evolve(getattr(value, name), **fields)
    return evolve(value, **changes)


def without_finalizers(value: Value, *names: str) -> Value:
    """Return an object without these finalizers."""
    meta: ObjectMeta = value.metadata  # type: ignore[attr-defined]
    return evolve_parts(value, metadata={"finalizers": tuple(name for name in meta.finalizers if name not in names)})


CopyFunction = Callable[[Any, Mapping[str, Any]], Any]
_copies: dict[tuple[Any, ...], CopyFunction] = {}  # by class and changed attributes


def _copy_function(cls: type[Any], changed: frozenset[str]) -> CopyFunction:
    """Return a function (value, changes) that copies a value of this class with these attributes changed."""
    names = {field.name for field in attrs.fields(cls)}
    if not _stores_only(cls) or not changed <= names:
        return lambda value, changes: attrs.evolve(value, **changes)
    return _making(cls, "value, changes", lambda name: f"changes[{name!r}]" if name in changed else f"value.{name}")


def maker(cls: Callable[Fields, Value]) -> Callable[Fields, Value]:
    """Return a function that makes values of a frozen class as calling the class does, in a third of the time.

    It is for the few classes of which every turn makes values; they only store what they are given.
    """
    assert isinstance(cls, type)
    assert _stores_only(cls)
    fields = attrs.fields(cls)
    known = [field.name if field.default is attrs.NOTHING else f"{field.name}=_defaults.{field.name}.default"
             for field in fields]  # fmt: skip
    return _making(cls, ", ".join([*["*"][: fields[0].kw_only], *known]), str)


def _stores_only(cls: type[Any]) -> bool:
    """Return whether making a value of a class does no more than to store its attributes in slots."""
    return not hasattr(cls, "__attrs_post_init__") and not cls.__dictoffset__ and all(
        field.init and field.alias == field.name and field.converter is None and field.validator is None
        and ismemberdescriptor(getattr(cls, field.name, None)) for field in attrs.fields(cls)
    )


def _making(cls: type[Any], parameters: str, expression: Callable[[str], str]) -> Callable[..., Any]:
    """Return generated code that makes a value of a class, each attribute by the expression of its name.

    They are written into a twin of the class that allows it, which takes half as long, and then becomes the class.
    """
    writes = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    twin = type(cls.__name__, (cls,), {"__slots__": (), **writes})
    lines = [f"def make({parameters}):", "    _made = _new(_twin)"]
    lines += [f"    _made.{field.name} = {expression(field.name)}" for field in attrs.fields(cls)]
    if hasattr(cls, "_attrs_cached_hash"):
        lines.append("    _made._attrs_cached_hash = None")
    lines += ["    _made.__class__ = _cls", "    return _made"]
    names: dict[str, Any] = {"_cls": cls, "_new": object.__new__, "_twin": twin, "_defaults": attrs.fields(cls)}
    exec("\n".join(lines), names)  # noqa: S102 - as attrs makes its methods
    make: Callable[..., Any] = names["make"]
    return make


def _equality(cls: type[Any]) -> Callable[[Any, object], bool]:
    """Return `__eq__` that does not look into what both values share: most parts of an object that has changed."""
    parts = attrgetter(*(field.name for field in attrs.fields(cls) if field.eq))

    def equal(self: Any, other: object) -> bool:
        return parts(self) == parts(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


# Fields that hold a time of the simulated clock: the state digest asks only whether they are set, since states that
# differ only in such times are equivalent.
TIMESTAMP: Mapping[str, str] = {"digest": "presence"}
# Fields that the API server writes even when they are 0 or false.
ALWAYS_WRITTEN: Mapping[str, str] = {"written": "always"}


@attrs.define(frozen=True, kw_only=True, weakref_slot=False, repr=False)
class ManifestPart:
    """A part of a manifest: the fields that this package models, and all others in `rest`, under their names."""

    rest: Frozen = EMPTY

    def __repr__(self) -> str:  # one for all: attrs would compile it for each of a hundred classes
        fields = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in attrs.fields(type(self)))
        return f"{type(self).__qualname__}({fields})"


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class OwnerReference(ManifestPart):
    """metadata.ownerReferences[]: an owner of this object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class ObjectMeta(ManifestPart):
    """metadata: name, labels, owners, and the times of creation and deletion.

    `resource_version` counts writes of the simulated store and is not compared or hashed.
    """

    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    labels: Frozen = EMPTY
    annotations: Frozen = EMPTY
    uid: str = ""
    creation_timestamp: str | None = attrs.field(default=None, metadata=TIMESTAMP)
    deletion_timestamp: str | None = attrs.field(default=None, metadata=TIMESTAMP)
    deletion_grace_period_seconds: int | None = None
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    resource_version: int = attrs.field(default=0, eq=False, hash=False)

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object, if any."""
        return next((owner for owner in self.owner_references if owner.controller), None)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class ObjectReference(ManifestPart):
    """A reference to an object: a PersistentVolume's claimRef, an Event's involvedObject."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: int = attrs.field(default=0, eq=False, hash=False)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Condition(ManifestPart):
    """status.conditions[] of a Pod, Node or claim."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = attrs.field(default=None, metadata=TIMESTAMP)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class Resources(ManifestPart):
    """resources of containers, pods and claims: quantities by resource name, as canonical text."""

    requests: Frozen = EMPTY
    limits: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, weakref_slot=False, repr=False)
class ApiObject(ShownAsYaml, ManifestPart):
    """An object of the API: it prints as its manifest; its kind is the class's name; each adds its spec and status."""

    kind: ClassVar[str]
    metadata: ObjectMeta = ObjectMeta()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__name__
        if "__attrs_attrs__" in vars(cls):
            cls.__eq__ = _equality(cls)  # type: ignore[method-assign]

    def _repr_pretty_(self, printer: Any, cycle: object) -> None:
        """Show the manifest in a notebook, and in a list kind and name."""
        alone = len(printer.stack) == 1
        printer.text(repr(self) if alone else printable(f"{self.kind} {self.metadata.name}"))
