"""The cluster map from 25 nodes on: a tile a domain, and in it one card for all nodes of one verdict.

Under 300 nodes a card holds a cell for each of them. A click on a card opens it: its nodes by name, as cells that can
be selected. So the picture of a large cluster grows with the number of domains and plugins, not with that of nodes.
"""

from collections import Counter
from math import ceil

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.frame import Frame, NodeRow
from kvolsched.views.pictures import map_tiles
from kvolsched.views.pictures.map_tray import draw_strip
from kvolsched.views.pictures.states import Domain, reason, selection_refs

CARD_H, CARD_GAP, CELL, NAMED, MOST_OPEN, MANY = 36.0, 5.0, 13.0, 60, 1500, 300
"""Height of a card without cells, and the gap below it; pitch of a cell, px; up to so many nodes have their names; most
cells; from so many nodes on only an open card has cells."""
NAME_W = 118.0


@frozen
class VerdictGroup:
    """All nodes of one domain with the same verdict."""

    domain: str
    kind: map_tiles.CellKind
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
    y = draw_strip(scene, frame, width, map_tiles.fits_words(frame.nodes)) + map_tiles.GAP
    per_row, wide = map_tiles.tiles(width, len(domains))
    groups = {name: grouped(frame, name, nodes, homes) for name, nodes in domains}
    columns = max(1, int((wide - 2 * map_tiles.PAD + CARD_GAP) // (150 + CARD_GAP)))
    card_w = (wide - 2 * map_tiles.PAD - (columns - 1) * CARD_GAP) / columns
    for start in range(0, len(domains), per_row):
        shown = domains[start : start + per_row]
        heights = [_row_heights(groups[name], columns, card_w, cells=len(frame.nodes) < MANY) for name, _ in shown]
        height = map_tiles.TOP + max(sum(rows) + CARD_GAP * len(rows) for rows in heights) + 4
        for i, (name, nodes) in enumerate(shown):
            box = Box(i * (wide + map_tiles.GAP), y, wide, height)
            kinds = [(group.kind, len(group.nodes)) for group in groups[name]]
            facts = map_tiles.domain_facts(frame, name, nodes, homes)
            map_tiles.draw_tile(scene, box, name, facts, kinds, word_of_key)
            for place, group in enumerate(groups[name]):
                row, column = divmod(place, columns)
                at = box.y + map_tiles.TOP + sum(heights[i][:row]) + CARD_GAP * row
                card = Box(box.x + map_tiles.PAD + column * (card_w + CARD_GAP), at, card_w, heights[i][row])
                _card(scene, card, group, homes)
        y += height + map_tiles.GAP
    open_ = opened(groups, selection)
    if open_ is not None:
        y = _open(scene, y, width, open_, homes) + map_tiles.GAP
    for node in map_tiles.interesting(frame, selection, 2):
        map_tiles.draw_node(scene, frame, Box(0, y, width, map_tiles.DETAIL), node)
        y += map_tiles.DETAIL + map_tiles.GAP
    return scene.svg(width, y - map_tiles.GAP + 2, "cluster map")


def _row_heights(groups: list[VerdictGroup], columns: int, card_w: float, *, cells: bool) -> list[float]:
    """Return the height of each row of a tile's cards, px: that of the card with most nodes, if they have cells."""
    most = (max(len(group.nodes) for group in groups[at : at + columns]) for at in range(0, len(groups), columns))
    return [CARD_H + (ceil(count / _in_a_row(card_w)) * CELL + 4 if cells else 0) for count in most]


def _in_a_row(card_w: float) -> int:
    """Return how many cells stand beside each other in a card."""
    return max(1, int((card_w - 12) // CELL))


def grouped(frame: Frame, domain: str, nodes: tuple[NodeRow, ...], homes: Counter[str]) -> list[VerdictGroup]:
    """Group a domain's nodes by verdict: those that fit, then plugins in profile order, then the rest."""
    return [VerdictGroup(domain, kind, alike, sum(homes[node.name] for node in alike))
            for kind, alike in map_tiles.by_kind(frame, nodes)]  # fmt: skip


def opened(groups: dict[str, list[VerdictGroup]], selection: str) -> VerdictGroup | None:
    """Return the group that is selected, or the one of the selected node."""
    if selection.startswith("kind/"):
        return next((group for row in groups.values() for group in row if group.ref == selection), None)
    wanted = "node/" + selection.split("/")[1] if selection.startswith("verdict/") else selection
    return next((group for row in groups.values() for group in row
                 if any(node.ref == wanted for node in group.nodes)), None)  # fmt: skip


def _words(group: VerdictGroup) -> tuple[str, str]:
    """Return a group in words: how many nodes are what, and why with an example."""
    _, role, words = group.kind
    count = len(group.nodes)
    nodes = counted(count, "node")
    if role == "ok":
        best = max(group.nodes, key=lambda node: node.score)
        return f"{nodes} fit{'s' * (count == 1)}", f"best: {best.name}" if best.score >= 0 else ""
    reasons = Counter(map(reason, group.nodes))
    told = reasons.most_common(1)[0][0]
    more = f" +{len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{nodes}: {words}", told + more


def _card(scene: Scene, box: Box, group: VerdictGroup, homes: Counter[str]) -> None:
    letter, role, _ = group.kind
    head, told = _words(group)
    chosen = any(node.verdict == "chosen" for node in group.nodes)
    line = "k-thick k-l-ink" if chosen else f"k-l-{role}"
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5,
                f"k-node k-p-{role} {line}" if role != "none" else "k-card k-l-none", 6)  # fmt: skip
    room = box.w - 30
    facts = [f"★ {next(n.name for n in group.nodes if n.verdict == 'chosen')}"] if chosen else []
    facts += [f"● {group.placed}"] if group.placed else []
    right = " ".join(facts) if text.width(" ".join(facts), 10) < room / 2 else "★"
    body += word(14, 16, f"k-b k-mid k-t-{role}" if role != "none" else "k-q k-mid", letter or "–")
    taken = text.width(right, 10, bold=True) + 6 if right else 0.0
    short = head if text.width(head, 11, bold=True) <= room - taken else f"{len(group.nodes)} {group.kind[2]}"
    body += word(25, 15.5, "k-b", text.end(short, room - taken, 11, bold=True))
    body += word(box.w - 7, 15.5, "k-c k-b k-end", right)
    body += word(25, 28.5, f"k-c k-t-{role}" if role != "none" else "k-w", text.end(told, room, 10))
    label = ", ".join(filter(None, [head, told, f"{group.placed} placed pods" * bool(group.placed)]))
    hot = any(node.ref in scene.hot for node in group.nodes)
    if hot:
        body += rect(1.5, 1.5, box.w - 3, box.h - 3, "k-cell-hot", 5)
    if box.h > CARD_H:
        body += _cells(scene, group, group.nodes, homes, (8, CARD_H - 1), (CELL, CELL), _in_a_row(box.w))
    scene.put(f"2:{group.ref}", box, body, ref=group.ref, label=label, radius=6)


def _open(scene: Scene, y: float, width: float, group: VerdictGroup, homes: Counter[str]) -> float:
    """Draw the nodes of a group across the map: with their names if they are few, else as cells; return the edge."""
    named = len(group.nodes) <= NAMED
    pitch = (NAME_W, 21.0) if named else (CELL, CELL)
    columns = max(1, int((width - 2 * map_tiles.PAD) // pitch[0]))
    shown = group.nodes[:MOST_OPEN]
    high = 28 + ceil(len(shown) / columns) * pitch[1] + 8
    box = Box(0, y, width, high)
    head, told = _words(group)
    body = rect(0.5, 0.5, width - 1, high - 1, "k-panel", 8)
    title = text.end(f"{group.domain}: {head}", width - 40, 11, bold=True)
    body += word(map_tiles.PAD, 18, "k-b", title)
    start = map_tiles.PAD + text.width(title, 11, bold=True) + 8
    more = f"{len(group.nodes) - len(shown)} more are not shown" if len(shown) < len(group.nodes) else told
    body += word(start, 18, "k-w", text.end(more, width - start - 10, 10))
    body += _cells(scene, group, shown, homes, (map_tiles.PAD, 28), pitch, columns, named=named)
    scene.put("2:open", box, body)
    return y + high


def _cells(
    scene: Scene, group: VerdictGroup, nodes: list[NodeRow], homes: Counter[str], start: tuple[float, float],
    pitch: tuple[float, float], columns: int, *, named: bool = False,
) -> str:
    """Return a cell for each node, in rows from `start` on; the host adds the group's words and the node's name."""
    cells, above, role = [], [], group.kind[1]
    ground = f"k-s-{role}" if role != "none" and not named else "k-blank k-l-none"
    w, h = (pitch[0] - 5, 17.0) if named else (CELL - 3, CELL - 3)
    for i, node in enumerate(nodes):
        x, top = start[0] + (i % columns) * pitch[0], start[1] + (i // columns) * pitch[1]
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
    return (f'<g class="{ground}" data-key="nodes" data-say="{say}">{"".join(cells)}</g>'
            f'<g style="pointer-events:none" data-key="signs">{"".join(above)}</g>')
