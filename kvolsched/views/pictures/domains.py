"""The domains of a topology key in words: the nodes, pods, volumes and verdicts in each; their picture is a chart.

Last stands what is in no domain: nodes without the key, pods without a node, volumes that no node reaches.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from attrs import evolve, frozen

from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.pictures import states
from kvolsched.views.pictures.ledger_parts import CROWD
from kvolsched.views.pictures.states import NO_LABEL

NO_PLACE = "(no place yet)"
NO_NODE = "No nodes. Apply some, or load a scenario."
MOST_NAMES = 6
"""Of more of a kind in one domain the reading has their number alone."""

_Named = tuple[tuple[str, str], ...]  # of each its name, and its state as far as domains are compared by it


@frozen
class _Domain:
    name: str
    nodes: _Named = ()
    pods: _Named = ()
    volumes: _Named = ()
    verdicts: tuple[tuple[str, int], ...] = ()
    alike: tuple[str, ...] = ()  # the domains that this row stands for, if they are several

    @property
    def kinds(self) -> tuple[_Named, ...]:
        return self.nodes, self.pods, self.volumes


def reading(frame: f.Frame, key: str = ZONE_LABEL) -> str:
    """Return the domains as lines: counts, and names where there are few."""
    table = [["domain", "nodes", "pods", "volumes", "verdicts"]]
    for row in _domains(frame, key):
        verdicts = ", ".join(f"{count} {content}" for content, count in row.verdicts) or "not judged yet"
        names = f"{len(row.alike)} domains ({', '.join(row.alike[:4])}{', …' * (len(row.alike) > 4)})"
        cells = (_count_words(items, each=bool(row.alike)) for items in row.kinds)
        table += [[names if row.alike else row.name, *cells, verdicts if row.nodes else "–"]]
    return f"domains of {key}\n" + (t.columns(table) if len(table) > 1 else NO_NODE)


def _count_words(items: _Named, *, each: bool) -> str:
    if each:
        return f"{len(items)} each"
    few = ", ".join(name for name, _ in items)
    return f"{len(items)}: {few}" if 0 < len(items) <= MOST_NAMES else str(len(items))


def _domains(frame: f.Frame, key: str) -> list[_Domain]:
    """Return nodes, pods, volumes and verdicts by domain: by name, then without the key, then without a place."""
    home = {n.name: dict(n.topology).get(key, NO_LABEL) for n in frame.nodes}
    names = [*sorted(set(home.values()) - {NO_LABEL}), *[NO_LABEL] * (NO_LABEL in home.values()), NO_PLACE]
    nodes, pods, volumes = (defaultdict[str, list[tuple[str, str]]](list) for _ in range(3))
    counts = defaultdict[str, Counter[str]](Counter)
    for node in frame.nodes:
        rejects = states.plugin(node, frame.verdicts.plugins).name.partition(" (")[0]
        verdict = rejects if node.verdict == "rejected" else node.verdict
        nodes[home[node.name]].append((node.name, verdict))
        if verdict != "not judged":
            counts[home[node.name]][verdict] += 1
    for pod in sorted(frame.pods, key=lambda p: (not p.in_focus, p.namespace, p.name)):
        state = "waits" if not pod.node else "in focus" if pod.in_focus else ""
        pods[home.get(pod.node or pod.assumed_node, NO_PLACE)].append((pod.name, state))
    for volume in frame.volumes:
        for name in sorted({home[n] for n in _reached(frame, volume)}) or [NO_PLACE]:
            volumes[name].append((volume.name, volume.state))
    found = []
    for name in names:
        order = sorted(counts[name].items(), key=lambda i: (i[0] != "chosen", i[0] != "fits", -i[1], i[0]))
        row = _Domain(name, tuple(nodes[name]), tuple(pods[name]), tuple(volumes[name]), tuple(order))
        if name != NO_PLACE or row.pods or row.volumes:
            found.append(row)
    return _grouped(found) if len(found) > CROWD else found


def _grouped(rows: Sequence[_Domain]) -> list[_Domain]:
    """Return one row for domains with as many nodes, pods, volumes and verdicts of each kind; others by themselves."""
    groups: dict[object, list[_Domain]] = {}
    for row in rows:
        loose = row.name in {NO_LABEL, NO_PLACE}
        like = row.name if loose else tuple(tuple(sorted(state for _, state in items)) for items in row.kinds)
        groups.setdefault(like, []).append(row)
    return [evolve(alike[0], alike=tuple(row.name for row in alike)) if len(alike) > 1 else alike[0]
            for alike in groups.values()]  # fmt: skip


def _reached(frame: f.Frame, volume: f.VolumeRow) -> list[str]:
    """Return the names of the nodes that reach a volume."""
    kind, _, rest = volume.reach.partition(":")
    if kind in ("all", "node"):
        return [n.name for n in frame.nodes if kind == "all" or n.name == rest]
    zones = set(rest.split(","))
    return [n.name for n in frame.nodes if any(k.endswith("/zone") and v in zones for k, v in n.topology)]
