"""Stop nodes and start them again: what the world, the kubelets and the node lifecycle controller note of it.

A stopped node's kubelet answers nobody. Nothing is written to the API: the controllers notice by and by.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..api.kinds.kind import find_kind
from ..api.kinds.selector import LabelSelector, read_label_selector
from ..api.unknown_name import UnknownName, unknown_name
from ..api.words import listed
from ..controllers import kubelet, node_lifecycle
from ..world.log import Key, Log, Note
from ..world.references import matching_keys
from ..world.simulation import Simulation
from ..world.stopped_nodes import stopped_note
from ..world.work_queue import WakeUp

NODE = find_kind("node").name


def chosen_nodes(log: Log, which: Sequence[str]) -> list[str]:
    """Return the names of the nodes that names and label selectors choose, sorted.

    Raises:
        UnknownName: a name names no node, or a selector chooses none; the message lists the nodes, or the values or
            labels that nodes have. It is a KeyError.
        ValueError: a selector cannot be read.
    """
    nodes = {key.name: obj for key, obj in log.objects.items() if key.kind == NODE}
    chosen: set[str] = set()
    for text in which:
        if "=" not in text and (named := matching_keys(log.objects, text, NODE) if text else []):
            chosen.add(named[0].name)
            continue
        selector = read_label_selector(text) if any(sign in text for sign in "=!(<>, ") or "." in text else None
        found = [n for n, node in nodes.items() if selector is not None and selector.matches(node.metadata.labels)]
        if not found and selector is not None:
            raise _no_node_with(selector, [node.metadata.labels for node in nodes.values()], text)
        if not found:
            name = text.rpartition("/")[2]
            looked_for = f"node/{text.removeprefix('node/')}"
            raise unknown_name(looked_for, name, [f"node/{n}" for n in sorted(nodes)], plural="nodes",
                               compared=lambda shown: shown.removeprefix("node/"))  # fmt: skip
        chosen.update(found)
    return sorted(chosen)


def _no_node_with(selector: LabelSelector, labels: Sequence[Mapping[str, str]], text: str) -> UnknownName:
    """Return the error about a selector without nodes: which label or value no node has, and those that there are."""
    keys = sorted({key for each in labels for key in each})
    for part in selector.match_expressions:
        if part.operator not in ("DoesNotExist", "NotIn") and part.key not in keys:
            return unknown_name(f"node has the label {part.key}", part.key.rpartition("/")[2], keys, plural="labels",
                                compared=lambda shown: shown.rpartition("/")[2])  # fmt: skip
        if part.operator == "In" and not any(part.matches(each) for each in labels):
            values = sorted({each[part.key] for each in labels if part.key in each})
            wanted = part.values[0] if part.values else ""
            return unknown_name(f"node has {part.key}={', '.join(part.values)}", wanted,
                                [f"{part.key}={value}" for value in values],
                                compared=lambda shown: shown.partition("=")[2])
    return UnknownName(f"no node has the labels {text}")


def stop(world: Simulation, which: Sequence[str]) -> None:
    """Stop nodes, as one step; those that are stopped already stay so.

    Raises:
        KeyError: a name or selector chooses no node.
        ValueError: none is given.
    """
    if not which:
        raise ValueError("name the nodes to stop, or give a label selector")
    nodes = chosen_nodes(world.log, which)
    _inject(world, stopping(world.log, nodes), "stop", f"{_joined(nodes)} stop{_s(nodes)}: {_its(nodes)} nobody")


def start(world: Simulation, which: Sequence[str]) -> None:
    """Start stopped nodes again, by default all, as one step.

    Raises:
        KeyError: a name or selector chooses no node.
    """
    stopped = stopped_nodes(world.log)
    nodes = [node for node in chosen_nodes(world.log, which) if node in stopped] if which else stopped
    words = f"{_joined(nodes)} start{_s(nodes)}: {_its(nodes)} again" if nodes else "no node is stopped"
    _inject(world, starting(world.log, nodes), "start", words)


def _inject(world: Simulation, notes: Mapping[Note, Any], fault: str, words: str) -> None:
    running = {"world", *world.processes}
    world.inject("world", words, fault, {note: value for note, value in notes.items() if note.component in running})


def _joined(nodes: Sequence[str]) -> str:
    return f"node{'s' * (len(nodes) > 1)} {listed(nodes)}"


def _s(nodes: Sequence[str]) -> str:
    return "s" if len(nodes) == 1 else ""


def _its(nodes: Sequence[str]) -> str:
    return "its kubelet answers" if len(nodes) == 1 else "their kubelets answer"


def stopping(log: Log, nodes: Sequence[str]) -> Mapping[Note, Any]:
    """Return the notes of nodes whose kubelets stop answering."""
    noticed = {_wake_up(node_lifecycle.NAME, node_lifecycle.ROUTINE, node): _due(log) for node in nodes}
    return {**{stopped_note(node): True for node in nodes}, **noticed}


def starting(log: Log, nodes: Sequence[str]) -> Mapping[Note, Any]:
    """Return the notes of nodes whose kubelets answer again: they report, and go on with their pods."""
    notes: dict[Note, Any] = {}
    for node in nodes:
        notes[stopped_note(node)] = False
        notes[Note(kubelet.NAME, "config", f"{kubelet.REPORT} {node}")] = True
        notes[_wake_up(kubelet.NAME, kubelet.NODE_STATUS, node)] = _due(log)
        notes[_wake_up(node_lifecycle.NAME, node_lifecycle.ROUTINE, node)] = _due(log)
        stored = log.objects.get(Key(NODE, "", node))
        if stored is not None and stored.readiness != "True":
            notes[Note(kubelet.NAME, kubelet.LEFT, node)] = True  # they follow when the node is reported as ready
            continue
        for key in _unfinished_pods(log, node):
            notes[_wake_up(kubelet.NAME, kubelet.NAME, f"{key.namespace}/{key.name}")] = _due(log)
    return notes


def stopped_nodes(log: Log) -> list[str]:
    """Return the names of the stopped nodes, sorted."""
    return sorted(note.name for note, value in log.notes.items() if value is True and note == stopped_note(note.name))


def _unfinished_pods(log: Log, node: str) -> Iterator[Key]:
    """Yield the pods of a node that its kubelet has yet to start or to stop, or whose end it waits for."""
    for key, pod in sorted(log.objects.items()):
        if key.kind != "Pod" or pod.spec.node_name != node:
            continue
        waits = Note(kubelet.NAME, "takes", f"{key.namespace}/{key.name}") in log.notes
        if pod.status.phase in ("", "Pending") or pod.metadata.deletion_timestamp is not None or waits:
            yield key


def _wake_up(component: str, actor: str, cause: str) -> Note:
    return Note(component, "wake", f"{actor}|{cause}")


def _due(log: Log) -> WakeUp:
    """Return a wake-up that is due now."""
    return WakeUp(float(log.notes.get(Note("world", "clock", ""), 0.0)), log.place)
