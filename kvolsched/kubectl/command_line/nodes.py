"""`kubectl cordon`, `uncordon`, `drain` and `taint` in the words of kubectl v1.36. They are not recorded."""

from __future__ import annotations

from functools import partial

from ...core.results import CommandResult
from ...world.log import Key
from .changing import act_on_each, perform, split_changes
from .command import Command, reference
from .flags import CommandError


def cordon(command: Command) -> None:
    """Mark nodes unschedulable."""
    for key in _nodes(command):
        perform(command, partial(command.cluster.cordon, key.name))


def uncordon(command: Command) -> None:
    """Mark nodes schedulable."""
    for key in _nodes(command):
        perform(command, partial(command.cluster.uncordon, key.name))


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
    return chosen.keys
