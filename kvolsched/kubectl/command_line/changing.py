"""`kubectl apply`, `delete`, `scale`, `label`, `annotate` and `patch` in the words of kubectl v1.36.

What `apply` says is judged by recordings. The words of the others are not recorded: they follow kubectl's sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...api.kinds.kind import KINDS_BY_NAME, find_kind
from ...api.text.fault import ManifestError
from ...core import user_commands
from ...core.results import ApplyRefused, CommandResult
from ...core.user_commands.fields import SCALABLE
from ...world.apiserver import RefusedWrite, key_of
from ...world.log import Key
from .command import Command, reference, refusal
from .flags import CommandError, Words
from .selection import namespace_of

LACKS = (
    "Warning: resource {} is missing the kubectl.kubernetes.io/last-applied-configuration annotation "
    "which is required by kubectl apply. "
    "kubectl apply should only be used on resources created declaratively by either "
    "kubectl create --save-config or kubectl apply. "
    "The missing annotation will be patched automatically."
)
NOTHING_TO_DELETE = (
    "error: You must provide one or more resources by argument or filename.\nExample resource specifications include:\n"
    "   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'"
)
NO_OBJECT = "error: one or more resources must be specified as <resource> <name> or <resource>/<name>"
PATCH_TYPES = ("json", "merge", "strategic")


# -- apply -----------------------------------------------------------------------------------------------------


def apply(command: Command) -> None:
    """Apply manifests, object by object as kubectl does: what is refused leaves the others applied."""
    if command.words.arguments:
        raise CommandError(
            f"error: Unexpected args: [{' '.join(command.words.arguments)}]\n"
            "See 'kubectl apply -h' for help and examples"
        )
    if not command.words.flags.get("filename"):
        raise CommandError("error: must specify one of -f and -k")
    for source, obj, written in _manifests(command):
        key = key_of(obj)
        old = command.objects.get(key)
        if old is not None and user_commands.LAST_APPLIED not in old.metadata.annotations:
            command.warn(LACKS.format(f"{KINDS_BY_NAME[key.kind].plural}/{key.name}"))
        try:
            command.out += command.cluster.apply(written).lines
        except ApplyRefused as error:
            doing = "creating" if old is None else "patching"
            command.fail(CommandError("\n".join(_refused(each, doing, source) for each in error.refusals)))


def _refused(refused: RefusedWrite, doing: str, source: str) -> str:
    """Return what kubectl says of an object that is refused; of a fault of the object it names no file."""
    (line,) = ApplyRefused([refused]).lines
    plain = f"Error from server ({refused.reason}): "
    return line.replace(plain, f'{plain}error when {doing} "{source}": ', 1) if line.startswith(plain) else line


def _manifests(command: Command) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield source, object and plain data of each manifest, in the namespace of the command."""
    asked = command.words.text("namespace")
    for source, read in _sources(command):
        for line in user_commands.skipped_objects(read):
            command.fail(CommandError(f'error: resource mapping not found for "{source}": {line}'))
        for obj, written in zip(read.objects, read.written, strict=True):
            own = obj.metadata.namespace
            if not KINDS_BY_NAME[obj.kind].namespaced:
                yield source, obj, dict(written)
                continue
            if asked and own and own != asked:
                raise CommandError(
                    f'error: the namespace from the provided object "{own}" does not match the namespace "{asked}". '
                    f"You must pass '--namespace={own}' to perform this operation."
                )
            metadata = {**written["metadata"], "namespace": own or asked or "default"}
            placed = {**written, "metadata": metadata}
            yield source, next(iter(user_commands.read_for_apply(placed).objects)), placed


def _sources(command: Command) -> Iterator[tuple[str, Any]]:
    for name in command.words.flags["filename"]:
        if name.startswith(("http://", "https://")):
            raise CommandError(
                f"error: {name} is not read: nothing here uses the network; give a file, or - for the cell"
            )
        if name == "-" and not command.stdin.strip():
            raise CommandError("error: no objects passed to apply")
        if name != "-" and not Path(name).exists():
            raise CommandError(f'error: the path "{name}" does not exist')
        try:
            yield (
                "STDIN" if name == "-" else name,
                user_commands.read_for_apply(command.stdin if name == "-" else Path(name)),
            )
        except ManifestError as error:
            raise CommandError(f"error: {error}") from None


# -- delete ----------------------------------------------------------------------------------------------------


def delete(command: Command) -> None:
    """Delete objects; a deletion that waits for finalizers or a grace period is not waited for."""
    words = command.words
    if words.flags.get("filename"):
        keys = [key_of(obj) for _, obj, _ in _manifests(command)]
        there = [key for key in keys if key in command.objects]
        lost = [key for key in keys if key not in command.objects]
    elif not words.arguments:
        raise CommandError(NOTHING_TO_DELETE)
    else:
        chosen = command.chosen(words.arguments, listing=False)
        there, lost = chosen.keys, []
        if not words.has("ignore-not-found"):
            command.report_missing(chosen.missing)
        if not chosen.keys and not chosen.named:
            command.out.append("No resources found")
    for key in there:
        _delete(command, key)
    for key in lost if not words.has("ignore-not-found") else ():
        command.fail(
            CommandError(
                "Error from server (NotFound): error when deleting: "
                f'{find_kind(key.kind).resource} "{key.name}" not found'
            )
        )


def _delete(command: Command, key: Key) -> None:
    kind = find_kind(key.kind)
    try:
        command.cluster.delete(reference(key))
    except ApplyRefused as error:
        command.fail(refusal(error))
        return
    if command.words.text("output") == "name":
        command.out.append(f"{kind.singular}/{key.name}")
        return
    where = f" from {key.namespace} namespace" if kind.namespaced else ""
    command.out.append(f'{kind.singular} "{key.name}" deleted{where}')


# -- single fields ---------------------------------------------------------------------------------------------


def scale(command: Command) -> None:
    """Set the number of replicas of workloads."""
    words = command.words
    replicas = int(words.text("replicas", "-1"))
    if replicas < 0:
        raise CommandError("error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
    wanted = int(words.text("current-replicas", "-1"))
    for key in _each(command, words.arguments):
        if key.kind not in SCALABLE:
            command.fail(
                CommandError(
                    "Error from server (NotFound): the server could not find the requested resource",
                    hint=f"these kinds have replicas: {', '.join(SCALABLE)}",
                )
            )
            continue
        there = command.objects[key].spec.replicas
        if wanted not in (-1, there):
            command.fail(CommandError(f"error: Expected replicas to be {wanted}, was {there}"))
            continue
        _act(command, lambda key=key: command.cluster.scale(reference(key), replicas))  # type: ignore[misc]


def label(command: Command) -> None:
    """Change labels."""
    _change_texts(
        command,
        "label",
        lambda name, changes: command.cluster.label(name, *changes, overwrite=command.words.has("overwrite")),
    )


def annotate(command: Command) -> None:
    """Change annotations."""
    _change_texts(
        command,
        "annotation",
        lambda name, changes: command.cluster.annotate(name, *changes, overwrite=command.words.has("overwrite")),
    )


def _change_texts(command: Command, what: str, change: Callable[[str, list[str]], CommandResult]) -> None:
    named, changes = split_changes(command.words, what)
    if not named:
        raise CommandError(NO_OBJECT)
    if not changes:
        raise CommandError(f"error: at least one {what} update is required")
    for key in _each(command, named):
        meta = command.objects[key].metadata
        present = meta.labels if what == "label" else meta.annotations
        gone = [text.removesuffix("-") for text in changes if "=" not in text]
        command.out += [f'{what} "{name}" not found.' for name in gone if name not in present and what == "label"]
        _act(command, lambda key=key: change(reference(key), changes))  # type: ignore[misc]


def split_changes(words: Words, what: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the arguments that name objects, and those that are changes (`key=value`, `key-`).

    Raises:
        CommandError: an object stands after a change.
    """
    changes: list[str] = []
    named: list[str] = []
    for word in words.arguments:
        if "=" in word or word.endswith("-"):
            changes.append(word)
        elif changes:
            raise CommandError(f"error: all resources must be specified before {what} changes: {word}")
        else:
            named.append(word)
    return tuple(named), changes


def patch(command: Command) -> None:
    """Patch objects with JSON or YAML."""
    words = command.words
    if not words.text("patch"):
        raise CommandError("error: must specify --patch or --patch-file containing the contents of the patch")
    kind = words.text("type", "strategic").lower()
    if kind not in PATCH_TYPES:
        raise CommandError(f'error: --type must be one of [{" ".join(PATCH_TYPES)}], not "{kind}"')
    for key in _each(command, words.arguments):
        _act(
            command,
            lambda key=key: command.cluster.patch(  # type: ignore[misc]
                reference(key), words.text("patch"), kind, words.text("subresource")
            ),
        )


def _each(command: Command, arguments: tuple[str, ...]) -> list[Key]:
    """Return the objects that a command changes; what is missing is reported."""
    if not arguments:
        raise CommandError(NO_OBJECT)
    chosen = command.chosen(arguments, listing=False)
    command.report_missing(chosen.missing)
    if not chosen.keys and not chosen.named:
        command.warn(
            "No resources found"
            if command.words.has("all-namespaces")
            else f"No resources found in {namespace_of(command.words)} namespace."
        )
    return chosen.keys


def _act(command: Command, act: Callable[[], CommandResult]) -> None:
    """Perform one act, and print its line or its refusal."""
    try:
        for line in act().lines:
            if line.startswith("Warning: "):
                command.warn(line)
            else:
                command.out.append(line)
    except ApplyRefused as error:
        command.fail(refusal(error))
    except ManifestError as error:
        command.fail(CommandError(f'error: unable to parse "{command.words.text("patch")}": {error}'))
    except (KeyError, ValueError) as error:
        command.fail(CommandError(f"error: {error.args[0] if error.args else error}"))


def perform(command: Command, act: Callable[[], CommandResult]) -> None:
    """Perform one act of another module, and print its line or its refusal."""
    _act(command, act)


def each_object(command: Command, arguments: tuple[str, ...]) -> list[Key]:
    """Return the objects that a command of another module changes."""
    return _each(command, arguments)
