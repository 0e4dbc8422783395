"""One command while it runs: the objects that its words mean (`pods`, `pod/web-0 pvc/data`, `-l`), and its output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from ...api.kinds.kind import Kind
from ...api.kinds.selector import read_label_selector
from ...core.acts import ClusterActs
from ...core.results import ApplyRefused, CommandResult
from ...core.user_commands import ActRefused
from ...world.log import Key
from ...world.namespaces import ReadObjects
from ..field_selectors import has_fields, known_fields, read_field_selector
from ..get_command import ALL_RESOURCES
from ..resource_lookup import ResourceNotFound, find_keys, lookup_kind
from .flags import CommandError, Words

Objects = Mapping[Key, Any]
NOT_SEPARATE = (
    "error: there is no need to specify a resource type as a separate argument when "
    "passing arguments in resource/name form "
    "(e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'"
)
SINGLE = "must have a single resource and name"


@attrs.frozen
class Selection:
    """The objects that a command means, by kind; what was not found; whether one object was named."""

    keys_by_kind: tuple[tuple[Kind, tuple[Key, ...]], ...]
    missing: tuple[ResourceNotFound, ...] = ()
    named: bool = False
    single: bool = False

    @property
    def keys(self) -> list[Key]:
        """Every key, in order."""
        return [key for _, keys in self.keys_by_kind for key in keys]


def namespace_of(words: Words) -> str:
    """Return the namespace of a command."""
    return words.text("namespace") or "default"


def scope_of(words: Words) -> str | None:
    """Return the namespace in which a command looks; None for all."""
    return None if words.has("all-namespaces") else namespace_of(words)


def select(objects: Objects, words: Words, arguments: tuple[str, ...], *, listing: bool = True) -> Selection:
    """Return the objects that arguments and selectors mean.

    Args:
        objects: what the API server stores.
        words: the flags of the command.
        arguments: kinds and names.
        listing: whether a kind without names means all its objects.

    Raises:
        CommandError: the arguments do not go together, or a kind or a selected field does not exist.
    """
    if any("/" in word for word in arguments):
        return _named_in_pairs(objects, words, arguments)
    kinds = _kinds(arguments[0], objects)
    names = arguments[1:]
    if names:
        if words.text("selector") or words.text("field-selector"):
            raise CommandError("error: name cannot be provided when a selector is specified")
        if words.has("all"):
            raise CommandError("error: setting 'all' parameter but found a non empty selector. ")
        if scope_of(words) is None:
            raise CommandError("error: a resource cannot be retrieved by name across all namespaces")
        found = [_find(objects, kind, namespace_of(words), name) for kind in kinds for name in names]
        return _selection(found)
    if not listing and not (words.text("selector") or words.text("field-selector") or words.has("all")):
        raise CommandError("error: resource(s) were provided, but no name was specified")
    chosen = _chosen(words, kinds[0])
    return Selection(tuple((kind, tuple(key for key in find_keys(objects, kind, scope_of(words))
                                        if chosen(kind, objects[key]))) for kind in kinds))  # fmt: skip


def _kinds(word: str, objects: Objects) -> list[Kind]:
    parts = [part for part in (ALL_RESOURCES if word == "all" else word.split(",")) if part]
    if not parts:
        raise CommandError("error: Required resource not specified.")
    try:
        return [lookup_kind(part, objects) for part in parts]
    except ResourceNotFound as error:
        raise CommandError(error.words, hint=error.hint) from None


def _named_in_pairs(objects: Objects, words: Words, arguments: tuple[str, ...]) -> Selection:
    """Return the objects of arguments such as `pod/web-0`."""
    found = []
    if words.has("all-namespaces"):
        raise CommandError("error: a resource cannot be retrieved by name across all namespaces")
    for word in arguments:
        kind, slash, name = word.partition("/")
        if not slash:
            raise CommandError(NOT_SEPARATE)
        if "/" in name or not name or not kind:
            must = "may not have more than one slash" if "/" in name else SINGLE
            raise CommandError(f"error: arguments in resource/name form {must}")
        kinds = _kinds(kind, objects)
        if len(kinds) != 1:
            raise CommandError(f"error: arguments in resource/name form {SINGLE}")
        found.append(_find(objects, kinds[0], namespace_of(words), name))
    return _selection(found)


def _find(objects: Objects, kind: Kind, namespace: str, name: str) -> tuple[Kind, Key | ResourceNotFound]:
    try:
        return kind, find_keys(objects, kind, namespace, [name])[0]
    except ResourceNotFound as error:
        return kind, error


def _selection(found: list[tuple[Kind, Key | ResourceNotFound]]) -> Selection:
    by_kind: dict[Kind, list[Key]] = {}
    for kind, key in found:
        by_kind.setdefault(kind, []).extend([key] if isinstance(key, Key) else [])
    missing = tuple(error for _, error in found if isinstance(error, ResourceNotFound))
    chosen = tuple((kind, tuple(keys)) for kind, keys in by_kind.items())
    return Selection(chosen, missing, named=True, single=len(found) == 1)


def _chosen(words: Words, first: Kind) -> Callable[[Kind, Any], bool]:
    """Return whether an object has the labels and fields of the selectors."""
    try:
        labels = read_label_selector(words.text("selector"))
    except ValueError as error:
        raise _unable_to_find(words, first, f"unable to parse requirement: {error}") from None
    text = words.text("field-selector")

    def holds(kind: Kind, obj: Any) -> bool:
        try:
            return has_fields(obj, read_field_selector(kind.name, text)) and labels.matches(obj.metadata.labels)
        except KeyError as error:
            known = ", ".join(known_fields(kind.name))
            raise _unable_to_find(words, kind, error.args[0], hint=f"there are: {known}") from None
        except ValueError as error:
            raise CommandError(f"error: invalid selector: '{error}'; can't understand '{error}'") from None

    return holds


def _unable_to_find(words: Words, kind: Kind, why: str, hint: str = "") -> CommandError:
    """Return the error for a selector that the API server refuses."""
    group, _, version = kind.type.api_version.rpartition("/")
    said = (f'Unable to find "{group}/{version}, Resource={kind.plural}" that match label selector '
            f'"{words.text("selector")}", field selector "{words.text("field-selector")}"')  # fmt: skip
    return CommandError(f"Error from server (BadRequest): {said}: {why}", hint=hint)


@attrs.define
class Command:
    """A running command. Mutable: it collects output, errors, and hints."""

    cluster: ClusterActs
    name: str
    words: Words
    stdin: str = ""
    out: list[str] = attrs.field(factory=list)
    errors: list[str] = attrs.field(factory=list)
    hints: list[str] = attrs.field(factory=list)
    failed: bool = False

    @property
    def objects(self) -> Objects:
        """What the API server stores now; commands that read get the namespaces, too, that nobody wrote."""
        log = self.cluster.world.log
        return ReadObjects(log) if self.name in ("get", "describe") else log.objects

    def warn(self, text: str) -> None:
        """Print a line to the errors that is no failure."""
        self.errors.append(text)

    def tell(self, done: CommandResult) -> None:
        """Print what an act did; what kubectl warns of goes to the errors."""
        for line in done.lines:
            (self.errors if line in done.warnings else self.out).append(line)

    def fail(self, error: CommandError | ActRefused | ResourceNotFound) -> None:
        """Print an error, and go on."""
        self.errors.append(error.words)
        self.hints += [error.hint] if error.hint else []
        self.failed = self.failed or not isinstance(error, CommandError) or error.code != 0

    def report_missing(self, missing: Iterable[ResourceNotFound]) -> None:
        """Print which objects were not found."""
        for error in missing:
            self.fail(error)

    def chosen(self, arguments: tuple[str, ...], *, listing: bool = True) -> Selection:
        """Return the objects that arguments mean."""
        return select(self.objects, self.words, arguments, listing=listing)


def refusal(error: ApplyRefused) -> CommandError:
    """Return kubectl's error for a write that the API server refuses."""
    return CommandError("\n".join(error.lines))
