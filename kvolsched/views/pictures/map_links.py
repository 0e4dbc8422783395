"""Links of the cluster map, from claims to nodes and volumes, as right-angled tracks.

A link starts at a block in the tray, runs in the gap below the tray and in the left gutter of a domain, and ends at a
card or a volume. It never crosses a card; where no such way exists it is left out, since the ticket has it in words.
"""

from __future__ import annotations

from itertools import pairwise

from attrs import define, field

from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import num, path, rect, word
from kvolsched.views.frame import ClaimRow, Frame

_STYLES = {
    "assumed in the cache": "k-link k-dot", "annotation selected-node": "k-link k-part",
    "claimRef only": "k-link k-part", "bound": "k-link",
}  # fmt: skip

Way = list[tuple[float, float]]


@define
class Tracks:
    """The tracks of one map, and how many of each channel are taken. Mutable."""

    gap: Box
    gutters: dict[str, float]
    lines: bool = False
    used: dict[str, int] = field(factory=dict)
    named: dict[str, tuple[Way, float]] = field(factory=dict)
    ways: list[Way] = field(factory=list)

    def offset(self, channel: str, step: float, room: int) -> float:
        """Take the next track of a channel, in px from its first."""
        taken = self.used.get(channel, 0)
        self.used[channel] = taken + 1
        return (taken % room) * step


def draw_links(scene: Scene, frame: Frame, tracks: Tracks, domain_of: dict[str, str]) -> None:
    """Draw the links of claims: caches and annotations to nodes, claimRefs and bindings to volumes."""
    for claim in frame.claims:
        start = scene.boxes.get(claim.ref)
        if start is None:
            continue
        waiting = start.y < tracks.gap.y
        if tracks.lines and not waiting:
            continue
        node = claim.assumed_node or claim.selected_node
        if waiting and node and f"node/{node}" in scene.boxes:
            kind = "assumed in the cache" if claim.assumed_node else "annotation selected-node"
            _to_node(scene, tracks, claim, start, node, kind, domain_of)
        for volume in frame.volumes:
            if volume.claim == claim.ref or volume.name in (claim.volume, claim.assumed_volume):
                both = volume.claim == claim.ref and claim.volume == volume.name
                kind = "bound" if both else "claimRef only" if volume.claim == claim.ref else "assumed in the cache"
                _to_volume(scene, tracks, claim, start, volume.ref, kind, domain_of)
    for kind, (way, corner) in tracks.named.items():
        _label(scene, tracks, kind, way, corner)


def _to_node(scene: Scene, tracks: Tracks, claim: ClaimRow, start: Box, node: str, kind: str,
             domain_of: dict[str, str]) -> None:
    target = scene.boxes[f"node/{node}"]
    domain = domain_of[f"node/{node}"]
    x0 = start.x + 20 + tracks.offset(f"out {claim.ref}", 8, 3)
    y0 = start.bottom + 5
    track = tracks.gap.y + 12 + tracks.offset("gap", 5, 3)
    first_row = target.y < tracks.gap.bottom + 40
    if first_row:
        x1 = target.x + min(target.w * 0.55, target.w - 20)
        title_ends = tracks.gutters[domain] + 13 + text.width(domain, 12.5, bold=True)
        if x1 < title_ends + 6 < target.right - 20:
            x1 = title_ends + 8
        points = [(x0, y0), (x0, track), (x1, track), (x1, target.y - 2)]
    else:
        gutter = tracks.gutters[domain] + tracks.offset(f"gutter {domain}", 3, 2)
        lane = target.y - 5
        x1 = target.x + 16
        points = [(x0, y0), (x0, track), (gutter, track), (gutter, lane), (x1, lane), (x1, target.y - 1)]
    tracks.named.setdefault(kind, (points, x1 if first_row else x0))
    _add(scene, tracks, f"{claim.ref} node/{node}", kind, points, heads=(False, True))


def _to_volume(scene: Scene, tracks: Tracks, claim: ClaimRow, start: Box, ref: str, kind: str,
               domain_of: dict[str, str]) -> None:
    target = scene.boxes.get(ref)
    if target is None:
        return
    waiting = start.y < tracks.gap.y
    heads = (True, True) if kind == "bound" else (True, False) if kind == "claimRef only" else (False, True)
    below = target.y > start.bottom
    if waiting and ref in domain_of:
        domain = domain_of[ref]
        x0 = start.x + 8 + tracks.offset(f"in {claim.ref}", 6, 2)
        gutter = tracks.gutters[domain] + tracks.offset(f"gutter {domain}", 3, 2)
        track = tracks.gap.y + 6 + tracks.offset("gap volumes", 3, 2)
        first_column = target.x < tracks.gutters[domain] + 14
        way = [(target.x - 0.5, target.y + target.h / 2)] if first_column else [
            (target.x + 14, target.y - 3), (target.x + 14, target.y - 1),
        ]  # fmt: skip
        points = [(x0, start.bottom + 5), (x0, track), (gutter, track), (gutter, way[0][1]), *way]
    elif not waiting and below and _clear(scene, start, target):
        x0 = min(start.right - 22, target.right - 8)
        points = [(x0, start.bottom + 5), (x0, target.y - 1)]
    else:
        return
    _add(scene, tracks, f"{claim.ref} {ref}", kind, points, heads=heads)


def _clear(scene: Scene, start: Box, target: Box) -> bool:
    """Say whether a straight way down from a ticket to a volume crosses no other card, ticket or volume."""
    x = min(start.right - 22, target.right - 8)
    if not (max(start.x, target.x) + 8 <= x):
        return False
    return not any(
        box.x <= x <= box.right and box.y > start.bottom + 3 and box.bottom < target.y
        for ref, box in scene.boxes.items()
        if ref.split("/")[0] in ("node", "pv", "pvc")
    )


def _label(scene: Scene, tracks: Tracks, kind: str, way: Way, corner: float) -> None:
    """Draw the name of a kind of link once, on paper: beside its last corner in the gap, or where no link runs."""
    wide, y = text.width(kind, 10, bold=True), way[1][1] + 3
    ends = [min(way[0][0], corner) - 8 - wide]
    crossing = ([x for x, down in other if down <= tracks.gap.bottom] for other in tracks.ways)
    ends += sorted(max(across) + 8 for across in crossing if across)  # a way beside the gap has nothing in it
    places = [x for x in (corner + 8, *ends) if 4 <= x <= tracks.gap.right - wide - 4]
    free = (x for x in places if not any(_crosses(other, x - 4, x + wide + 4, y - 10, y + 4) for other in tracks.ways))
    x = next(free, next(iter(places), corner + 8))
    drawn = rect(x - 2, y - 9, wide + 4, 11.5, "k-blank") + word(x, y, "k-c k-b k-t-storage", kind)
    scene.parts.append((f"8:{kind}", f'<g data-key="8:{text.escape(kind)}" class="k-new">{drawn}</g>'))


def _crosses(way: Way, left: float, right: float, top: float, bottom: float) -> bool:
    return any(
        min(ax, bx) < right and max(ax, bx) > left and min(ay, by) < bottom and max(ay, by) > top
        for (ax, ay), (bx, by) in pairwise(way)
    )


def _add(scene: Scene, tracks: Tracks, key: str, kind: str, points: list[tuple[float, float]], *,
         heads: tuple[bool, bool]) -> None:
    tracks.ways.append(points)
    body = path(_commands(points), _STYLES[kind])
    for wanted, tip, before in ((heads[0], points[0], points[1]), (heads[1], points[-1], points[-2])):
        if wanted:
            body += _head(tip, before)
    scene.parts.append((f"7:{key}", f'<g data-key="{text.escape("7:" + key)}" class="k-new">{body}</g>'))


def _commands(points: list[tuple[float, float]], radius: float = 5) -> str:
    """Return the path commands of a right-angled way with rounded corners."""
    out = [f"M{num(points[0][0])} {num(points[0][1])}"]
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        before = min(radius, (abs(bx - ax) + abs(by - ay)) / 2)
        after = min(radius, (abs(cx - bx) + abs(cy - by)) / 2)
        sx, sy = bx - before * _sign(bx - ax), by - before * _sign(by - ay)
        ex, ey = bx + after * _sign(cx - bx), by + after * _sign(cy - by)
        out.append(f"L{num(sx)} {num(sy)}Q{num(bx)} {num(by)} {num(ex)} {num(ey)}")
    out.append(f"L{num(points[-1][0])} {num(points[-1][1])}")
    return "".join(out)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _head(tip: tuple[float, float], before: tuple[float, float]) -> str:
    (x, y), dx, dy = tip, _sign(tip[0] - before[0]), _sign(tip[1] - before[1])
    ax, ay, bx, by = x - 7 * dx - 4 * dy, y - 7 * dy - 4 * dx, x - 7 * dx + 4 * dy, y - 7 * dy + 4 * dx
    return path(f"M{num(x)} {num(y)}L{num(ax)} {num(ay)}L{num(bx)} {num(by)}z", "k-s-storage")
