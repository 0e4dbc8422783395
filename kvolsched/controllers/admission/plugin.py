"""What an admission plugin is: a rule about objects of one kind, and how it refuses."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import attrs

from ...api.kinds.kind import KINDS_BY_NAME
from ...world.apiserver import Denial
from ...world.log import Key


class StoredObjects(Protocol):
    """The stored objects that an admission plugin may read."""

    @property
    def objects(self) -> Mapping[Key, Any]: ...

    def of_kind(self, kind: str) -> Iterable[Any]: ...


AdmissionRule = Callable[[Any, Any, StoredObjects], Any]


@attrs.frozen
class AdmissionPlugin:
    """An admission plugin: its name, the kind and verbs it handles, and whether it only refuses (validating).

    One that only refuses is called after validation, as in Kubernetes.
    """

    name: str
    kind: str
    verbs: tuple[str, ...]
    rule: AdmissionRule
    refuses: bool = False


def deny_forbidden(obj: Any, why: str) -> Denial:
    """Return the Forbidden refusal of an admission plugin, in the API server's words."""
    return Denial("Forbidden", f'{KINDS_BY_NAME[obj.kind].resource} "{obj.metadata.name}" is forbidden: {why}')
