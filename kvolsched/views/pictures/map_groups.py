"""The cluster map from 300 nodes on: a tile a domain, and in it one card for all nodes of one verdict.

A click on a card opens it: its nodes by name, as cells that can be selected. So the picture grows with the number of
domains and plugins, not with that of nodes.
"""

from collections import Counter
from math import ceil

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.frame import Frame, NodeRow
from kvolsched.views.pictures import map_cells
from kvolsched.views.pictures.map_tray import draw_strip
from kvolsched.views.pictures.states import Domain, reason, selection_refs

CARD_H, CARD_GAP, CELL, NAMED, MOST_OPEN = 36.0, 5.0, 13, 60, 1500
"""Height of a card, and the gap below it; pitch of a cell; up to so many nodes have their names; most cells; px."""
NAME_W = 118.0


@frozen
class VerdictGroup:
    """All nodes of one domain with the same verdict."""

    domain: str
    kind: map_cells.CellKind
    nodes: list[NodeRow]
    placed: int  # pods in focus on them

    @property
    def ref(self) -> str:
        """What a click selects."""
        return f"kind/{self.domain}/{self.kind[2]}"


def draw_groups(frame: Frame, width: float, selection: str, domains: tuple[Domain, ...], word_of_key: str) -> str:
    """Draw the map as groups: a line of what waits, one tile a domain, what is open, the nodes of interest."""
    scene = Scene(selection_refs(frame, selection), frozenset(frame.head.hot))
    homes = Counter(pod.node for pod in frame.pods if pod.in_focus and pod.node)
    y = draw_strip(scene, frame, width, map_cells.fits_words(frame.nodes)) + map_cells.GAP
    per_row, wide = map_cells.tiles(width, len(domains))
    groups = {name: grouped(frame, name, nodes, homes) for name, nodes in domains}
    columns = max(1, int((wide - 2 * map_cells.PAD + CARD_GAP) // (150 + CARD_GAP)))
    for start in range(0, len(domains), per_row):
        shown = domains[start : start + per_row]
        rows = max(ceil(len(groups[name]) / columns) for name, _ in shown)
        height = map_cells.TOP + rows * (CARD_H + CARD_GAP) + 4
        for i, (name, nodes) in enumerate(shown):
            box = Box(i * (wide + map_cells.GAP), y, wide, height)
            kinds = [(group.kind, len(group.nodes)) for group in groups[name]]
            facts = map_cells.domain_facts(frame, name, nodes, homes)
            map_cells.draw_tile(scene, box, name, facts, kinds, word_of_key)
            card_w = (wide - 2 * map_cells.PAD - (columns - 1) * CARD_GAP) / columns
            for place, group in enumerate(groups[name]):
                x = box.x + map_cells.PAD + (place % columns) * (card_w + CARD_GAP)
                at = box.y + map_cells.TOP + (place // columns) * (CARD_H + CARD_GAP)
                _card(scene, Box(x, at, card_w, CARD_H), group)
        y += height + map_cells.GAP
    open_ = opened(groups, selection)
    if open_ is not None:
        y = _open(scene, y, width, open_, homes) + map_cells.GAP
    for node in map_cells.interesting(frame, selection, 2):
        map_cells.draw_node(scene, frame, Box(0, y, width, map_cells.DETAIL), node)
        y += map_cells.DETAIL + map_cells.GAP
    return scene.svg(width, y - map_cells.GAP + 2, "cluster map")


def grouped(frame: Frame, domain: str, nodes: tuple[NodeRow, ...], homes: Counter[str]) -> list[VerdictGroup]:
    """Group a domain's nodes by verdict: those that fit, then plugins in profile order, then the rest."""
    return [VerdictGroup(domain, kind, alike, sum(homes[node.name] for node in alike))
            for kind, alike in map_cells.by_kind(frame, nodes)]  # fmt: skip


def opened(groups: dict[str, list[VerdictGroup]], selection: str) -> VerdictGroup | None:
    """Return the group that is selected, or the one of the selected node."""
    if selection.startswith("kind/"):
        return next((group for row in groups.values() for group in row if group.ref == selection), None)
    wanted = selection if selection.startswith("node/") else ""
    if selection.startswith("verdict/"):
        wanted = "node/" + selection.split("/")[1]
    return next((group for row in groups.values() for group in row
                 if wanted and any(node.ref == wanted for node in group.nodes)), None)  # fmt: skip


def _words(group: VerdictGroup) -> tuple[str, str]:
    """Return a group in words: how many nodes are what, and why with an example."""
    _, role, words = group.kind
    count = len(group.nodes)
    nodes = counted(count, "node")
    if role == "ok":
        best = max(group.nodes, key=lambda node: node.score)
        return f"{nodes} fit{'s' * (count == 1)}", f"best: {best.name}" if best.score >= 0 else ""
    reasons = Counter(reason(node) for node in group.nodes if node.reason)
    told = reasons.most_common(1)[0][0] if reasons else ""
    more = f" +{len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{nodes}: {words}", told + more


def _card(scene: Scene, box: Box, group: VerdictGroup) -> None:
    letter, role, _ = group.kind
    head, told = _words(group)
    chosen = any(node.verdict == "chosen" for node in group.nodes)
    line = "k-thick k-l-ink" if chosen else f"k-l-{role}"
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5,
                f"k-node k-p-{role} {line}" if role != "none" else "k-card k-l-none", 6)  # fmt: skip
    room = box.w - 30
    facts = [f"★ {next(n.name for n in group.nodes if n.verdict == 'chosen')}"] if chosen else []
    facts += [f"● {group.placed}"] if group.placed else []
    right = " ".join(facts) if text.width(" ".join(facts), 10) < room / 2 else "★" if chosen else ""
    body += word(14, 16, f"k-b k-mid k-t-{role}" if role != "none" else "k-q k-mid", letter or "–")
    taken = text.width(right, 10, bold=True) + 6 if right else 0.0
    body += word(25, 15.5, "k-b", text.end(head, room - taken, 11, bold=True))
    body += word(box.w - 7, 15.5, "k-c k-b k-end", right)
    body += word(25, 28.5, f"k-c k-t-{role}" if role != "none" else "k-w", text.end(told, room, 10))
    label = ", ".join(filter(None, [head, told, f"{group.placed} placed pods" * bool(group.placed)]))
    hot = any(node.ref in scene.hot for node in group.nodes)
    if hot:
        body += rect(1.5, 1.5, box.w - 3, box.h - 3, "k-cell-hot", 5)
    scene.put(f"2:{group.ref}", box, body, ref=group.ref, label=label, radius=6)


def _open(scene: Scene, y: float, width: float, group: VerdictGroup, homes: Counter[str]) -> float:
    """Draw the nodes of a group across the map: with their names if they are few, else as cells; return the edge."""
    named = len(group.nodes) <= NAMED
    pitch_x, pitch_y = (NAME_W, 21.0) if named else (float(CELL), float(CELL))
    columns = max(1, int((width - 2 * map_cells.PAD) // pitch_x))
    shown = group.nodes[:MOST_OPEN]
    high = 28 + ceil(len(shown) / columns) * pitch_y + 8
    box = Box(0, y, width, high)
    head, told = _words(group)
    body = rect(0.5, 0.5, width - 1, high - 1, "k-panel", 8)
    title = text.end(f"{group.domain}: {head}", width - 40, 11, bold=True)
    body += word(map_cells.PAD, 18, "k-b", title)
    start = map_cells.PAD + text.width(title, 11, bold=True) + 8
    more = f"{len(group.nodes) - len(shown)} more are not shown" if len(shown) < len(group.nodes) else told
    body += word(start, 18, "k-w", text.end(more, width - start - 10, 10))
    role = group.kind[1]
    cells, above = [], []
    ground = f"k-s-{role}" if role != "none" and not named else "k-blank k-l-none"
    for i, node in enumerate(shown):
        x, top = map_cells.PAD + (i % columns) * pitch_x, 28 + (i // columns) * pitch_y
        w, h = (pitch_x - 5, 17.0) if named else (pitch_x - 3, pitch_y - 3)
        picked = node.ref in scene.selected
        state = ' aria-pressed="true"' if picked else ""
        cells.append(f'<path d="M{x:g} {top:g}h{w:g}v{h:g}h-{w:g}z" data-ref="{text.escape(node.ref)}"{state}/>')
        if named:
            sign = "★ " if node.verdict == "chosen" else ""
            above.append(word(x + 6, top + 12, "k-c", sign + text.middle(node.name, w - 26, 10)))
        if homes[node.name]:
            above.append(f'<circle class="k-home" cx="{x + w - 2:g}" cy="{top + 2:g}" r="3"/>')
        if picked or node.ref in scene.hot:
            above.append(rect(x - 2, top - 2, w + 4, h + 4, "k-cell-ring" if picked else "k-cell-hot", 3))
    say = text.escape(group.kind[2])
    body += f'<g class="{ground}" data-key="nodes" data-say="{say}">{"".join(cells)}</g>'
    body += f'<g style="pointer-events:none" data-key="signs">{"".join(above)}</g>'
    scene.put("2:open", box, body)
    return y + high
