"""`kubectl cordon`, `uncordon`, `drain` and `taint` in the words of kubectl v1.36. They are not recorded."""

from __future__ import annotations

import attrs

from ...core.results import ApplyRefused
from .changing import each_object, perform, split_changes
from .command import Command, reference, refusal
from .flags import CommandError


def cordon(command: Command) -> None:
    """Mark nodes unschedulable."""
    for name in _nodes(command):
        if command.cluster[f"node/{name}"].spec.unschedulable:
            command.out.append(f"node/{name} already cordoned")
        else:
            perform(command, lambda name=name: command.cluster.cordon(name))  # type: ignore[misc]


def uncordon(command: Command) -> None:
    """Mark nodes schedulable."""
    for name in _nodes(command):
        if not command.cluster[f"node/{name}"].spec.unschedulable:
            command.out.append(f"node/{name} already uncordoned")
        else:
            perform(command, lambda name=name: command.cluster.uncordon(name))  # type: ignore[misc]


def drain(command: Command) -> None:
    """Cordon nodes and evict their pods; a node whose pods need another option stays cordoned, as in kubectl."""
    remaining: dict[str, str] = {}
    for name in _nodes(command):
        try:
            _drain(command, name)
        except ValueError as error:
            if command.cluster[f"node/{name}"].spec.unschedulable:
                command.out.append(f"node/{name} already cordoned")
            else:
                perform(command, lambda name=name: command.cluster.cordon(name))  # type: ignore[misc]
            why = str(error).partition(" due to error: ")[2]
            command.warn(f"error: {error}, continuing command...")
            remaining[name] = why
        except ApplyRefused as error:
            command.fail(refusal(error))
    if remaining:
        pending = "\n".join(f" {name}" for name in remaining)
        each = [line for why in remaining.values() for line in _single(why)]
        command.fail(CommandError("\n".join([f"There are pending nodes to be drained:\n{pending}", *each])))


def _drain(command: Command, name: str) -> None:
    words = command.words
    done = command.cluster.drain(
        name,
        ignore_daemonsets=words.has("ignore-daemonsets"),
        delete_emptydir_data=words.has("delete-emptydir-data"),
        force=words.has("force"),
    )
    for line in done.lines:
        if line.startswith(("Warning: ", "error when evicting")):
            command.warn(line)
        else:
            command.out.append(line)


def _single(why: str) -> list[str]:
    """Return the reasons of `[one, another]`, each by itself."""
    if not why.startswith("["):
        return [why]
    first, *others = why[1:-1].split(", cannot delete ")
    return [first, *(f"cannot delete {other}" for other in others)]


def taint(command: Command) -> None:
    """Add and remove taints: `kubectl taint nodes n1 key=value:NoSchedule`."""
    named, taints = split_changes(_with_bare_taints(command).words, "taint")
    if not named:
        raise CommandError("error: one or more resources must be specified as <resource> <name>")
    if not taints:
        raise CommandError("error: at least one taint update is required")
    for key in each_object(command, named):
        if key.kind != "Node":
            raise CommandError(f"error: invalid resource type {key.kind.lower()}, only node is supported")
        perform(
            command,
            lambda key=key: command.cluster.taint(  # type: ignore[misc]
                key.name, *taints, overwrite=command.words.has("overwrite")
            ),
        )


def _with_bare_taints(command: Command) -> Command:
    """Return the command; a taint without value (`key:Effect`) is told from a name by its colon."""
    spelled = tuple(_spelled(word) for word in command.words.arguments)
    return attrs.evolve(command, words=attrs.evolve(command.words, arguments=spelled))


def _spelled(word: str) -> str:
    bare = ":" in word and "=" not in word and not word.endswith("-")
    return word.replace(":", "=:", 1) if bare else word


def _nodes(command: Command) -> list[str]:
    """Return the nodes that a command names, `n1` or `node/n1`, or selects."""
    arguments, words = command.words.arguments, command.words
    if not arguments and not words.text("selector"):
        raise CommandError(
            f"error: USAGE: {command.name} NODE [flags]\nSee 'kubectl {command.name} -h' for help and examples"
        )
    if arguments and words.text("selector"):
        raise CommandError("error: cannot specify both a node name and a --selector option")
    named = tuple(word if "/" in word else f"node/{word}" for word in arguments)
    chosen = command.chosen(named or ("nodes",))
    command.report_missing(chosen.missing)
    if other := [key for key in chosen.keys if key.kind != "Node"]:
        raise CommandError(f"error: {reference(other[0])} is no node")
    return [key.name for key in chosen.keys]
