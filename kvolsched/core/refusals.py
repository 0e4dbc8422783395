"""What loading leaves unsaid: what an API server would refuse of manifests, and what of them is not read."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs

from ..api.notebook_output import PrintedAnswer
from ..api.text.fault import MAX_LINES, fault_lines
from ..api.text.manifest import Manifests
from ..api.text.not_read import FIELDS, NotRead, not_read_line
from ..api.words import counted, first_of
from ..rules.revision import Revision
from ..world.apiserver import ApiServer, RefusedWrite, Write, key_for, key_of
from ..world.log import Key, Log
from .results import MAX_PRINTED, ApplyRefused

ASKED_FIRST = ("Namespace", "PriorityClass", "RuntimeClass", "LimitRange", "ResourceQuota", "StorageClass", "Node")
MOST = 3  # refused objects that a line names


@attrs.frozen(repr=False, slots=False, eq=False)
class Refusals(PrintedAnswer):
    """The loaded objects that an API server would refuse, each with all its faults; empty if there are none.

    An empty server is asked once they are looked at: classes, limits, quotas and nodes come first, as the others are
    judged by them, and what a server has stored already is only counted.
    """

    objects: Sequence[Any] = attrs.field(default=())
    server: ApiServer = attrs.field(factory=ApiServer)

    @cached_property
    def refused(self) -> tuple[RefusedWrite, ...]:
        """The refused writes, in the order in which the objects were asked for."""
        stored, refused = Log(), []
        order = {kind: place for place, kind in enumerate(ASKED_FIRST)}
        for obj in sorted(self.objects, key=lambda each: order.get(each.kind, len(order))):
            meta, key = obj.metadata, key_of(obj)
            if meta.uid or meta.creation_timestamp or meta.resource_version:
                stored.write(key, obj)
                continue
            answer = self.server.commit(stored, Write("create", key, obj), "user")
            refused += [answer] if isinstance(answer, RefusedWrite) else []
        return tuple(refused)

    def __len__(self) -> int:
        return len(self.refused)

    def __iter__(self) -> Iterator[RefusedWrite]:
        return iter(self.refused)

    def line(self, present: Collection[Key] | None = None) -> str:
        """Return how many objects would be refused, and which, of those that are present if these are given; or ""."""
        names = [each.write.subject for each in self if present is None or each.write.key in present]
        said = f"{counted(len(names), 'object')} would be refused by an API server"
        return f"{said}: {first_of(names, MOST)}" if names else ""

    def __repr__(self) -> str:
        if not self:
            return "an API server would refuse none of the objects"
        lines = "\n".join(ApplyRefused(self.refused).lines).split("\n")
        hidden = len(lines) - MAX_PRINTED
        return "\n".join(lines if hidden <= 0 else [*lines[:MAX_PRINTED], f"... and {hidden} more lines"])


def remarks_on_loading(refusals: Refusals, not_read: NotRead, objects: Collection[Key]) -> tuple[str, ...]:
    """Return a line on present objects that would be refused and one on what is not read, each if there is any."""
    refused = refusals.line(objects)
    return tuple(filter(None, (refused and f"{refused} (`.refusals()`)", not_read_line(not_read))))


def still_there(not_read: NotRead, objects: Collection[Key]) -> NotRead:
    """Return what is not read without the fields of objects that are not there, or not any more."""
    found = {what: frozenset(name for name in names if what not in FIELDS or key_for(name) in objects)
             for what, names in not_read.items()}
    return {what: names for what, names in found.items() if names}


def dropped_fields(read: Manifests | None, rules: Revision) -> list[str]:
    """Return the API server's warnings about loaded fields that it does not know, in at most `MAX_LINES` lines.

    >>> from kvolsched.api.text.manifest import read
    >>> from kvolsched.make import inline
    >>> from kvolsched.rules.named import upstream
    >>> dropped_fields(read(inline()), upstream())
    ['pod/app: unknown field "spec.volumes[0].csi.fsSize"']
    """
    warnings = read.warnings if read is not None else ()
    return fault_lines(rules.unknown_fields.warnings(warnings), MAX_LINES, "")
