"""What is modelled and what is not: kinds, their fields, and whether answers of real components are recorded.

It is the one source: `kvolsched kinds` prints it, README and docs/kinds.md are held equal to it.
"""


import attrs

from ..kinds.kind import KINDS, Kind, find_kind
from ..notebook_output import PrintedAnswer, table_text
from .convert import fields_of_parts, schema
from .not_read import KINDS as NOT_READ
from .yaml_text import packaged_data

RECORDED = "recorded"
HEAD = ("KIND", "APIVERSION", "SHORT", "FIELDS", "ANSWERS OF REAL COMPONENTS")
WITHOUT_PLACEMENT = {
    "HorizontalPodAutoscaler": "replicas change by hand",
    "Role, RoleBinding": "what a component may do is the dial `denied`",
    "ControllerRevision": "StatefulSets write none, and no workload is rolled back",
    "VolumeSnapshot": "volumes are neither copied nor resized",
    "Ingress, NetworkPolicy": "nothing is sent anywhere",
}
NOT_MODELLED = {
    ", ".join(dict.fromkeys(kind for (_, kind), each in NOT_READ.items() if each == effect)): f"not told: {effect}"
    for effect in dict.fromkeys(NOT_READ.values())
} | WITHOUT_PLACEMENT
"""Kinds without effect, those that bear on where pods go first: their objects are kept and printed."""
KEPT = "kept: checked, stored and printed as written"
READ_AS_WRITTEN = packaged_data(__package__, "read_as_written.yaml")
"""Part -> the fields without a value of their own that some rule reads."""


@attrs.frozen
class PartFields:
    """The fields of one part of a kind.

    Args:
        path: of the part, such as `spec.containers[]`; "" for the object itself.
        read: fields by which rules go.
        kept: fields that are kept as they are written.
    """

    path: str
    read: tuple[str, ...]
    kept: tuple[str, ...]

    def __str__(self) -> str:
        words = {"read": self.read, "kept": self.kept}
        return "; ".join(f"{word} {', '.join(names)}" for word, names in words.items() if names)


@attrs.frozen(repr=False)
class KindTable(PrintedAnswer):
    """The modelled kinds; printed, one with all its fields, or all with what is not modelled."""

    kinds: tuple[Kind, ...]

    def __repr__(self) -> str:
        if len(self.kinds) == 1:
            (kind,) = self.kinds
            head = f"{kind.name} ({kind.type.api_version}): {kind.note or RECORDED}"
            return "\n".join([head, *(f"  {part.path or 'object'}: {part}" for part in parts(kind)), KEPT])
        rows = [HEAD]
        for kind in self.kinds:
            read, kept = (sum(len(getattr(part, word)) for part in parts(kind)) for word in ("read", "kept"))
            fields = f"{read} read, {kept} kept"
            rows.append((kind.name, kind.type.api_version, ", ".join(kind.short) or "–", fields, kind.note or RECORDED))
        told = (f"  {what}: {why}" for what, why in NOT_MODELLED.items())
        return "\n".join([*table_text(rows, 3), KEPT, "not modelled:", *told])


def kind_table(kind: str = "") -> KindTable:
    """Return one modelled kind, or all.

    Raises:
        UnknownName: no modelled kind has this name. It is a KeyError.

    >>> print(str(kind_table("pc")).splitlines()[1])
      object: read description, globalDefault, metadata, preemptionPolicy, value
    """
    return KindTable((find_kind(kind),) if kind else KINDS)


def parts(kind: Kind) -> list[PartFields]:
    """Return the fields of a kind, part by part; a part that several share stands there once."""
    type_name = schema()["kinds"][f"{kind.type.api_version}/{kind.name}"]
    found = []
    for path, part, modelled, others in fields_of_parts(type_name, kind.type):
        read = others.intersection(READ_AS_WRITTEN.get(part, "").split())
        found.append(PartFields(path, tuple(sorted(modelled | read)), tuple(sorted(others - read))))
    return found
