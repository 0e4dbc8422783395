"""A patch of an object as plain data, as a client of the API server sends it: a merge, strategic merge or JSON patch.

Mirrors the PATCH handler of the API server (v1.36.2): the patch is applied to the stored object, then the result goes
through admission as an update does.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import attrs

from ..api.kinds.kind import UnmodelledObject
from ..api.kinds.meta import freeze, thaw
from ..api.text import patches, strategic_patch
from ..api.text.convert import decode, from_plain, to_plain, without_unknown
from ..api.text.fault import ManifestError, Problem, format_path
from ..api.unknown_name import UnknownName, did_you_mean
from .apiserver import Denial, conflict_message, key_of

PATCH_KINDS: Mapping[str, Callable[[Any, Any], Any]] = {
    "merge": patches.merge_patch,
    "strategic": strategic_patch.strategic_patch,
    "json": patches.json_patch,
}


def unmodelled_object(data: Mapping[str, Any], problems: list[Problem] | None = None) -> UnmodelledObject:
    """Return an object of a kind that no class models; `problems` gets what is wrong with its metadata."""
    bare, found = decode({"apiVersion": "v1", "kind": "Namespace", "metadata": data.get("metadata")})
    (problems if problems is not None else []).extend(found)
    rest = {name: value for name, value in data.items() if name not in ("apiVersion", "kind", "metadata")}
    head = {"api_version": data["apiVersion"], "kind": data["kind"]}
    return UnmodelledObject(**head, metadata=bare.metadata, rest=freeze(rest))


@attrs.frozen
class ManifestPatch:
    """A patch in a manifest's words.

    Args:
        data: a mapping, or for a JSON patch a list of operations.
        kind: one of `PATCH_KINDS`.
        subresource: "status" patches the status alone; by default the status stays as it is.
        drops_unknown: fields that nothing knows are dropped, as the API server does for kubectl patch, which sends no
            fieldValidation: the default is Warn. Otherwise they are refused.
    """

    data: Any = attrs.field(converter=freeze)
    kind: str = "merge"
    subresource: str = ""
    drops_unknown: bool = False

    @property
    def admitted(self) -> bool:
        """Whether its result goes through admission."""
        return not self.subresource

    def __attrs_post_init__(self) -> None:
        """Refuse a kind of patch that is not known."""
        if self.kind not in PATCH_KINDS:
            hint = did_you_mean(self.kind, PATCH_KINDS)
            raise UnknownName(f"no kind of patch is called {self.kind!r}; there are: {', '.join(PATCH_KINDS)}{hint}")
        if self.subresource not in ("", "status"):
            raise ValueError(f"no subresource {self.subresource!r} can be patched; there is: status")

    def warnings(self, old: Any, names: Collection[str] = ()) -> tuple[str, ...]:
        """Return the API server's warnings about fields that it drops: `unknown field "spec.nodeSelecter"`.

        Args:
            old: the object before.
            names: the last steps of the paths to fields of the documents that the server does not know.
        """
        if not self.drops_unknown:
            return ()
        try:
            patched = PATCH_KINDS[self.kind](to_plain(old), thaw(self.data))
        except ValueError:
            return ()
        problems = decode(patched)[1] if isinstance(patched, dict) else ()
        found = [problem.path for problem in problems
                 if problem.rule == "unknown" or (problem.rule == "design" and problem.path[-1] in names)]
        return tuple(f'unknown field "{format_path(path)}"' for path in found)

    def apply(self, old: Any) -> Any:
        """Return the object with the patch applied, or why it cannot be."""
        plain = to_plain(old)
        try:
            patched = PATCH_KINDS[self.kind](plain, thaw(self.data))
        except ValueError as error:
            return Denial("Invalid", f"the server rejected our request due to an error in our request: {error}")
        if not isinstance(patched, dict):
            listed = '; a list of operations is a patch of kind "json"' if isinstance(patched, list | tuple) else ""
            return Denial("BadRequest", f"the patch leaves no object: {patched!r}{listed}")
        if self.drops_unknown:
            patched, _ = without_unknown(patched)
        asked = patched.get("metadata") or {}
        version = str(asked.pop("resourceVersion", "") or "") if isinstance(asked, dict) else ""
        if version not in ("", "0", str(old.metadata.resource_version)):
            return Denial("Conflict", conflict_message(key_of(old)))
        try:
            new: Any = unmodelled_object(patched) if isinstance(old, UnmodelledObject) else from_plain(patched)
        except ManifestError as error:
            return Denial("BadRequest", "; ".join(map(str, error.faults)))
        if new.kind != old.kind or new.metadata.name != old.metadata.name:
            theirs, ours = f"{new.kind} {new.metadata.name}", f"{old.kind} {old.metadata.name}"
            return Denial("BadRequest", f"the patch names another object ({theirs}) than the request ({ours})")
        if not hasattr(old, "status"):
            return Denial("NotFound", "the server could not find the requested resource") if self.subresource else new
        return attrs.evolve(old, status=new.status) if self.subresource else attrs.evolve(new, status=old.status)
