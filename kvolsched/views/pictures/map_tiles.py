"""What maps of more than 24 nodes are made of: a tile a domain, the kinds of verdicts, a node of interest as a row.

A letter repeats the colour of a verdict, and words repeat both.
"""

from collections import Counter
from math import ceil

from kvolsched.api.words import cores, counted
from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.frame import Frame, NodeRow
from kvolsched.views.pictures.map_pods import chip_width, count_chip, draw_chip, draw_line, ghost
from kvolsched.views.pictures.states import node_facts, plugin, reason, selection_refs, verdict_glyph

GAP, PAD, TOP, DETAIL = 8, 10, 44, 62
CellKind = tuple[str, str, str]
"""Letter, colour role and words of a cell."""


def tiles(width: float, domains: int, least: int = 172) -> tuple[int, float]:
    """Return how many tiles of at least this width stand in a row, and the width of one."""
    fit = max(1, int((width + GAP) // (least + GAP)))
    per_row = ceil(domains / ceil(domains / fit))
    return per_row, (width - (per_row - 1) * GAP) / per_row


def domain_facts(frame: Frame, name: str, nodes: tuple[NodeRow, ...], homes: Counter[str]) -> list[str]:
    """Return a domain in words: its nodes, how many fit, its placed pods and volumes."""
    volumes = Counter(volume.reach.partition(":")[2] for volume in frame.volumes)
    placed = sum(homes[node.name] for node in nodes)
    held = volumes[name] + sum(volumes[node.name] for node in nodes)
    return [counted(len(nodes), "node"), fits_words(nodes), f"{placed} placed", counted(held, "volume")]


def interesting(frame: Frame, selection: str, most: int) -> tuple[NodeRow, ...]:
    """Return the nodes that get a row: selected, chosen, assumed, nominated, just changed."""
    wanted = {ref.partition("/")[2] for ref in selection_refs(frame, selection) if ref.startswith("node/")}
    wanted |= {pod.node or pod.assumed_node for pod in frame.pods if pod.ref == selection}
    nominated = {pod.assumed_node for pod in frame.pods} | {pod.nominated_node for pod in frame.pods}
    ranked = sorted(
        frame.nodes,
        key=lambda node: (
            node.name not in wanted, node.verdict != "chosen", node.name not in nominated,
            node.ref not in frame.head.hot, node.verdict != "fits", node.name,
        ),
    )  # fmt: skip
    wanted |= nominated
    hot = frame.head.hot
    picked = [node for node in ranked if node.name in wanted or node.verdict == "chosen" or node.ref in hot]
    return tuple((picked or ranked)[:most])


def fits_words(nodes: tuple[NodeRow, ...]) -> str:
    """Return how many of these nodes fit."""
    if all(node.verdict == "not judged" for node in nodes):
        return "not judged yet"
    return f"{sum(node.verdict in ('fits', 'chosen') for node in nodes)} fit"


def kind_of(frame: Frame, node: NodeRow) -> CellKind:
    """Return letter, colour role and words of a node's verdict: nodes of one kind are alike on the map."""
    if node.verdict in ("fits", "chosen"):
        return ("✓", "ok", "fits")
    if node.verdict == "rejected":
        first = plugin(node, frame.verdicts.plugins)
        return (first.letter, first.family, first.name)
    return ("·" if node.verdict == "not asked" else "", "none", node.verdict)


def by_kind(frame: Frame, nodes: tuple[NodeRow, ...]) -> list[tuple[CellKind, list[NodeRow]]]:
    """Return the nodes of each kind of verdict: fits, then plugins in profile order, then the rest."""
    order = {head.name: i for i, head in enumerate(frame.verdicts.plugins)} | {"fits": -1}
    found: dict[CellKind, list[NodeRow]] = {}
    for node in nodes:
        found.setdefault(kind_of(frame, node), []).append(node)
    return sorted(found.items(), key=lambda item: (order.get(item[0][2], len(order)), item[0]))


def tally(frame: Frame, nodes: tuple[NodeRow, ...]) -> list[tuple[CellKind, int]]:
    """Return the count of each kind of verdict, in that order."""
    return [(kind, len(alike)) for kind, alike in by_kind(frame, nodes)]


def tally_words(frame: Frame, nodes: tuple[NodeRow, ...]) -> str:
    """Return the counts of a domain in words: "152 fits, 11 NodeUnschedulable"."""
    return ", ".join(f"{count} {kind[2]}" for kind, count in tally(frame, nodes))


def draw_tile(scene: Scene, box: Box, name: str, facts: list[str], counted: list[tuple[CellKind, int]],
              word_of_key: str) -> None:
    """Draw a domain's tile: its name, facts in words as far as they have room, and a bar of its verdicts."""
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-panel", 8)
    room = box.w - 2 * PAD - min(90, text.width(name, 11, bold=True)) - 10
    while len(facts) > 1 and text.width(" · ".join(facts), 10) > room:
        facts = facts[:-1]
    words = text.end(" · ".join(facts), room, 10)
    body += word(box.w - PAD, 18, "k-w k-end", words)
    body += word(PAD, 18, "k-b", text.middle(name, box.w - 2 * PAD - text.width(words, 10) - 8, 11, bold=True))
    x, room, nodes = float(PAD), box.w - 2 * PAD, sum(count for _, count in counted)
    for (letter, role, _), count in counted:
        wide = room * count / nodes
        body += rect(x, 25, wide, 12, f"k-s-{role}" if letter else "k-rail")
        if wide >= 11 and letter:
            body += word(x + wide / 2, 34.5, "k-letters k-on", letter)
        x += wide
    label = f"{word_of_key} {name}, {words}"
    scene.put(f"1:zone/{name}", box, body, ref=f"zone/{name}", label=label, radius=8)


def draw_node(scene: Scene, frame: Frame, box: Box, node: NodeRow) -> None:
    """Draw one node as a row: name, verdict in words, bars, pods."""
    _, role, _ = kind_of(frame, node)
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-panel", 6)
    body += rect(0.5, 0.5, 5, box.h - 1, f"k-s-{role}" if role != "none" else "k-rail")
    left = box.w * 0.42
    shown = text.middle(node.name, left - 120, 12.5, bold=True)
    body += word(16, 20, "k-h", shown)
    after = 22 + text.width(shown, 12.5, bold=True)
    where = ", ".join(value for _, value in node.topology if value != node.name)
    body += word(after, 20, "k-w", text.middle(where, min(105, left - 8 - after), 10))
    first = plugin(node, frame.verdicts.plugins).name
    words = f"{first}: {reason(node)}" if node.verdict == "rejected" else node.verdict
    facts = node_facts(node)
    sign = verdict_glyph(node)
    tone = f"k-t-{role}" if role != "none" else ""
    body += word(16, 38, f"k-b {tone}".strip(), sign)
    for i, row in enumerate(text.wrap(words + (f" · {facts}" if facts else ""), left - 44, 11, 2, bold=True)):
        body += word(30 if sign else 16, 38 + i * 14, f"k-b {tone}".strip(), row)
    x = left
    for label, used, most in (
        (f"cpu {cores(node.cpu_used)}/{cores(node.cpu)}", node.cpu_used, node.cpu),
        (f"mem {text.used_of(node.memory_used, node.memory)}", node.memory_used, node.memory),
        (f"pods {node.pods_used}/{node.pods}", node.pods_used, node.pods),
    ):
        body += word(x, 16, "k-z", text.end(label, 92, 9.5)) + rect(x, 21, 90, 5, "k-rail", 2.5)
        body += rect(x, 21, 90 * (min(used, most) / max(most, 1)), 5, "k-fill", 2.5)
        x += 104
    scene.put(f"2:detail {box.y:.0f}", box, body, ref=node.ref, label=f"node {node.name}: {words}", quiet=True)
    _pods(scene, frame, Box(box.x + left, box.y + 34, box.w - left - 10, 18), node)


def _pods(scene: Scene, frame: Frame, box: Box, node: NodeRow) -> None:
    claims = {claim.ref: claim for claim in frame.claims}
    x, rest = box.x, 0
    pods = [pod for pod in frame.pods if node.name in (pod.node, pod.assumed_node, pod.nominated_node)]
    for pod in sorted(pods, key=lambda pod: not pod.in_focus):
        wide = 150.0 if pod.in_focus or not pod.node else chip_width(pod, 110)
        if x + wide > box.right - 34:
            rest += 1
            continue
        place = Box(x, box.y, wide, 18)
        if not pod.node:
            ghost(scene, place, pod, node.name)
        elif pod.in_focus:
            draw_line(scene, place, pod, claims)
        else:
            draw_chip(scene, place, pod, 110)
        x += wide + 5
    if rest:
        count_chip(scene, Box(x, box.y, 32, 18), f"+{rest}", node.name)
