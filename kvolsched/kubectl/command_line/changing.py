"""`kubectl apply`, `replace`, `delete`, `scale`, `label`, `annotate`, `patch`, `rollout`, `cordon`, `drain`, `taint`.

What `apply` says is judged by recordings. The words of the others are not recorded: they follow the sources of kubectl
v1.36. `rollout status` prints the line of now and ends, as with `--watch=false`: the cluster moves only when stepped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...api.kinds.kind import KINDS_BY_NAME, find_kind
from ...api.text import manifest
from ...api.text.convert import to_plain
from ...api.text.fault import ManifestError
from ...core import user_commands
from ...core.results import ApplyRefused, CommandResult
from ...core.user_commands import RESTARTABLE, SCALABLE
from ...world.apiserver import RefusedWrite, key_of, ref
from ...world.log import Key
from .command import Command, refusal, scope_of
from .flags import CommandError, Words

LACKS = (
    "Warning: resource {} is missing the kubectl.kubernetes.io/last-applied-configuration annotation "
    "which is required by kubectl apply. "
    "kubectl apply should only be used on resources created declaratively by either "
    "kubectl create --save-config or kubectl apply. "
    "The missing annotation will be patched automatically."
)
HELP = "See 'kubectl {} -h' for help and examples"
NOTHING_TO_DELETE = (
    "error: You must provide one or more resources by argument or filename.\nExample resource specifications include:\n"
    "   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'"
)
NO_OBJECT = "error: one or more resources must be specified as <resource> <name> or <resource>/<name>"
PATCH_TYPES = ("json", "merge", "strategic")


def apply(command: Command) -> None:
    """Apply manifests, object by object as kubectl does: what is refused leaves the others applied."""
    if command.words.arguments:
        raise CommandError(f"error: Unexpected args: [{' '.join(command.words.arguments)}]\n{HELP.format('apply')}")
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


def replace(command: Command) -> None:
    """Replace objects by manifests, object by object: what is refused leaves the others replaced."""
    if not command.words.flags.get("filename"):
        raise CommandError(f"error: Must specify --filename to replace\n{HELP.format('replace')}")
    for source, _, written in _manifests(command):
        try:
            command.out += command.cluster.replace(written).lines
        except ApplyRefused as error:
            command.fail(CommandError("\n".join(_refused(each, "replacing", source) for each in error.refusals)))


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
                differs = f'the namespace from the provided object "{own}" does not match the namespace "{asked}"'
                must = f"You must pass '--namespace={own}' to perform this operation."
                raise CommandError(f"error: {differs}. {must}")
            metadata = {**written["metadata"], "namespace": own or asked or "default"}
            placed = {**written, "metadata": metadata}
            yield source, next(iter(user_commands.read_for_apply(placed).objects)), placed


def _unread(command: Command, source: Any, shown: str, error: ManifestError) -> CommandError:
    """Return the error for a manifest that cannot be read: the server's where one object has unknown fields alone."""
    unknown = ", ".join(f'unknown field "{fault.path}"' for fault in error.faults)
    if not all(fault.rule == "unknown" and fault.document == 1 for fault in error.faults):
        return CommandError(f"error: {error}")
    read = manifest.read(source, lenient=True).objects
    if len(read) != 1:
        return CommandError(f"error: {error}")
    doing = "creating" if key_of(read[0]) not in command.objects else "patching"
    kind, version = read[0].kind, read[0].api_version.rpartition("/")[2]
    why = f'{kind} in version "{version}" cannot be handled as a {kind}: strict decoding error: {unknown}'
    return CommandError(f'Error from server (BadRequest): error when {doing} "{shown}": {why}', hint=str(error))


def _sources(command: Command) -> Iterator[tuple[str, Any]]:
    for name in command.words.flags["filename"]:
        if name.startswith(("http://", "https://")):
            how = "nothing here uses the network; give a file, or - for the cell"
            raise CommandError(f"error: {name} is not read: {how}")
        if name == "-" and not command.stdin.strip():
            raise CommandError(f"error: no objects passed to {command.name}")
        if name != "-" and not Path(name).exists():
            raise CommandError(f'error: the path "{name}" does not exist')
        try:
            source, shown = (command.stdin, "STDIN") if name == "-" else (Path(name), name)
            yield shown, user_commands.read_for_apply(source)
        except ManifestError as error:
            raise _unread(command, source, shown, error) from None


def delete(command: Command) -> None:
    """Delete objects; a deletion that waits for finalizers or a grace period is not waited for."""
    words = command.words
    lost: list[Key] = []
    if words.flags.get("filename"):
        keys = [key_of(obj) for _, obj, _ in _manifests(command)]
        there = [key for key in keys if key in command.objects]
        lost = [key for key in keys if key not in command.objects]
    elif not words.arguments:
        raise CommandError(NOTHING_TO_DELETE)
    else:
        chosen = command.chosen(words.arguments, listing=False)
        there = chosen.keys
        if not words.has("ignore-not-found"):
            command.report_missing(chosen.missing)
        if not chosen.keys and not chosen.named:
            command.out.append("No resources found")
    if there:
        _delete(command, there)
    for key in lost if not words.has("ignore-not-found") else ():
        what = f'{find_kind(key.kind).resource} "{key.name}"'
        command.fail(CommandError(f"Error from server (NotFound): error when deleting: {what} not found"))


def _delete(command: Command, keys: list[Key]) -> None:
    refused: set[Key] = set()
    try:
        lines = command.cluster.delete(*map(ref, keys)).lines
    except ApplyRefused as error:
        command.fail(refusal(error))
        lines, refused = error.done.lines, {each.write.key for each in error.refusals}
    if command.words.text("output") == "name":
        lines = tuple(f"{find_kind(key.kind).singular}/{key.name}" for key in keys if key not in refused)
    command.out += lines


def scale(command: Command) -> None:
    """Set the number of replicas of workloads."""
    words = command.words
    if not words.text("replicas"):
        raise CommandError('error: required flag(s) "replicas" not set')
    replicas, wanted = int(words.text("replicas", "-1")), int(words.text("current-replicas", "-1"))
    user_commands.check_replicas(replicas)

    def act(name: str) -> CommandResult:
        obj = command.cluster[name]
        if wanted >= 0 and obj.kind in SCALABLE and obj.spec.replicas != wanted:
            raise user_commands.ActRefused(f"Expected replicas to be {wanted}, was {obj.spec.replicas}")
        return command.cluster.scale(name, replicas)

    act_on_each(command, words.arguments, act)


def label(command: Command) -> None:
    """Change labels, or with `annotate` annotations."""
    what, act = ("label", command.cluster.label) if command.name == "label" else (
        "annotation", command.cluster.annotate)  # fmt: skip
    named, changes = split_changes(command.words, what)
    wanted, overwrite = user_commands.text_changes(what, changes), command.words.has("overwrite")
    act_on_each(command, named, lambda name: act(name, wanted, overwrite=overwrite))


def split_changes(words: Words, what: str, signs: str = "=") -> tuple[tuple[str, ...], list[str]]:
    """Return the arguments that name objects, and those that are changes: with one of the signs, or a final `-`.

    Raises:
        CommandError: an object stands after a change, or no object is named.
    """
    changes: list[str] = []
    named: list[str] = []
    for word in words.arguments:
        if word.endswith("-") or any(sign in word for sign in signs):
            changes.append(word)
        elif changes:
            raise CommandError(f"error: all resources must be specified before {what} changes: {word}")
        else:
            named.append(word)
    if not named:
        raise CommandError(NO_OBJECT)
    return tuple(named), changes


def patch(command: Command) -> None:
    """Patch objects with JSON or YAML."""
    words = command.words
    if not words.text("patch"):
        raise CommandError("error: must specify --patch or --patch-file containing the contents of the patch")
    kind = words.text("type", "strategic").lower()
    if kind not in PATCH_TYPES:
        raise CommandError(f'error: --type must be one of [{" ".join(PATCH_TYPES)}], not "{kind}"')
    change, subresource = words.text("patch"), words.text("subresource")
    act_on_each(command, words.arguments, lambda name: command.cluster.patch(name, change, kind, subresource))


def each_object(command: Command, arguments: tuple[str, ...]) -> list[Key]:
    """Return the objects that a command changes; what is missing is reported."""
    if not arguments:
        raise CommandError(NO_OBJECT)
    chosen = command.chosen(arguments, listing=False)
    command.report_missing(chosen.missing)
    if not chosen.keys and not chosen.named:
        scope = scope_of(command.words)
        command.warn("No resources found" if scope is None else f"No resources found in {scope} namespace.")
    return chosen.keys


def act_on_each(command: Command, arguments: tuple[str, ...], act: Callable[[str], CommandResult]) -> None:
    """Perform one act on each object that is named."""
    for key in each_object(command, arguments):
        perform(command, partial(act, ref(key)))


def perform(command: Command, act: Callable[[], CommandResult]) -> None:
    """Perform one act, and print its lines or its refusal."""
    try:
        command.tell(act())
    except ApplyRefused as error:
        command.tell(error.done)
        command.fail(refusal(error))
    except user_commands.DrainRefused as error:
        command.tell(error.done)
        command.fail(error)
    except user_commands.ActRefused as error:
        command.fail(error)
    except ManifestError as error:
        patch, fault = command.words.text("patch"), error.faults[0].message
        of_server = f"Error from server (BadRequest): error decoding patch: {fault}"
        is_json = patch.lstrip().startswith(("{", "["))  # all else kubectl reads as YAML
        command.fail(CommandError(of_server if is_json else f'error: unable to parse "{patch}": {error}'))
    except (KeyError, ValueError) as error:
        command.fail(CommandError(f"error: {error.args[0] if error.args else error}"))


def cordon(command: Command) -> None:
    """Mark nodes unschedulable, or with `uncordon` schedulable."""
    act = command.cluster.cordon if command.name == "cordon" else command.cluster.uncordon
    for key in _nodes(command):
        perform(command, partial(act, key.name))


def drain(command: Command) -> None:
    """Cordon nodes, then evict the pods of each; a node whose pods need another option stays cordoned."""
    words, nodes = command.words, _nodes(command)
    options = ("ignore-daemonsets", "delete-emptydir-data", "force")
    flags = {flag.replace("-", "_"): words.has(flag) for flag in options}
    if nodes:
        perform(command, lambda: command.cluster.drain(*(key.name for key in nodes), **flags))


def taint(command: Command) -> None:
    """Add and remove taints: `kubectl taint nodes n1 key=value:NoSchedule`."""
    named, taints = split_changes(command.words, "taint", "=:")
    if not taints:
        raise CommandError("error: at least one taint update is required")
    overwrite = command.words.has("overwrite")

    def act(name: str) -> CommandResult:
        kind, _, node = name.partition("/")
        if kind != "node":
            word = named[0].partition("/")[0]
            raise CommandError(f'error: invalid resource type {word}, only ["node" "nodes"] are supported')
        return command.cluster.taint(node, *taints, overwrite=overwrite)

    act_on_each(command, named, act)


def _nodes(command: Command) -> list[Key]:
    """Return the nodes that a command names, `n1` or `node/n1`, or selects."""
    arguments, words = command.words.arguments, command.words
    if not arguments and not words.text("selector"):
        raise CommandError(f"error: USAGE: {command.name} NODE [flags]\n{HELP.format(command.name)}")
    if arguments and words.text("selector"):
        raise CommandError("error: cannot specify both a node name and a --selector option")
    named = tuple(word if "/" in word else f"node/{word}" for word in arguments)
    chosen = command.chosen(named or ("nodes",))
    command.report_missing(chosen.missing)
    if other := [key for key in chosen.keys if key.kind != "Node"]:
        raise CommandError(f"error: {ref(other[0])} is no node")
    return chosen.keys


UNSEEN = "Waiting for {} spec update to be observed..."
WAITING = 'Waiting for {} "{}" rollout to finish: '


def rollout_restart(command: Command) -> None:
    """Replace the pods of workloads by new ones."""
    _needs_arguments(command)
    act_on_each(command, command.words.arguments, command.cluster.rollout_restart)


def rollout_status(command: Command) -> None:
    """Print how far the rollout of a workload is, now."""
    _needs_arguments(command)
    for key in each_object(command, command.words.arguments):
        if key.kind not in RESTARTABLE:
            command.fail(CommandError(f"error: no status viewer has been implemented for {key.kind}"))
            continue
        kind, data = key.kind, to_plain(command.objects[key])
        said = {"Deployment": _deployment, "DaemonSet": _daemon_set, "StatefulSet": _stateful_set}[kind](key.name, data)
        if said.startswith("error: "):
            command.fail(CommandError(said))
        else:
            command.out.append(said)


def _needs_arguments(command: Command) -> None:
    if not command.words.arguments:
        raise CommandError("error: required resource not specified")


def _unseen(data: dict[str, Any]) -> bool:
    """Say whether the controller has not seen the present spec."""
    return bool(data["metadata"].get("generation", 0) > data.get("status", {}).get("observedGeneration", 0))


def _deployment(name: str, data: dict[str, Any]) -> str:
    found, wanted = data.get("status", {}), data["spec"].get("replicas", 1)
    if _unseen(data):
        return UNSEEN.format("deployment")
    if any(each.get("reason") == "ProgressDeadlineExceeded" for each in found.get("conditions", ())):
        return f'error: deployment "{name}" exceeded its progress deadline'
    updated, there, ready = (found.get(field, 0) for field in ("updatedReplicas", "replicas", "availableReplicas"))
    waiting = WAITING.format("deployment", name)
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new replicas have been updated..."
    if there > updated:
        return f"{waiting}{there - updated} old replicas are pending termination..."
    if ready < updated:
        return f"{waiting}{ready} of {updated} updated replicas are available..."
    return f'deployment "{name}" successfully rolled out'


def _daemon_set(name: str, data: dict[str, Any]) -> str:
    found = data.get("status", {})
    if _unseen(data):
        return UNSEEN.format("daemon set")
    wanted, updated, ready = (
        found.get(field, 0) for field in ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    )
    waiting = WAITING.format("daemon set", name)
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new pods have been updated..."
    if ready < wanted:
        return f"{waiting}{ready} of {wanted} updated pods are available..."
    return f'daemon set "{name}" successfully rolled out'


def _stateful_set(_name: str, data: dict[str, Any]) -> str:
    found, wanted = data.get("status", {}), data["spec"].get("replicas", 1)
    strategy = data["spec"].get("updateStrategy", {})
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return "error: rollout status is only available for RollingUpdate strategy type"
    if _unseen(data):
        return UNSEEN.format("statefulset")
    ready, updated = found.get("readyReplicas", 0), found.get("updatedReplicas", 0)
    if ready < wanted:
        return f"Waiting for {wanted - ready} pods to be ready..."
    if partition := strategy.get("rollingUpdate", {}).get("partition", 0):
        if updated < wanted - partition:
            head = "Waiting for partitioned roll out to finish"
            return f"{head}: {updated} out of {wanted - partition} new pods have been updated..."
        return f"partitioned roll out complete: {updated} new pods have been updated..."
    new, present = found.get("updateRevision", ""), found.get("currentRevision", "")
    if new != present:
        return f"waiting for statefulset rolling update to complete {updated} pods at revision {new}..."
    return f"statefulset rolling update complete {found.get('currentReplicas', 0)} pods at revision {present}..."
