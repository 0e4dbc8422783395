"""Links of the cluster map, from claims to nodes and volumes, as right-angled tracks.

A link starts at a block in the tray, runs in the gap below the tray and in the left gutter of a domain, and ends at a
card or a volume. Of several ways the first is taken that crosses no card, chip, ticket or word; where there is none
the link is left out, since the ticket has it in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from attrs import define, field

from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import num, path, piece, rect, rounded, sign, word
from kvolsched.views.frame import ClaimRow, Frame

_STYLES = {
    "assumed in the cache": "k-link k-dot", "annotation selected-node": "k-link k-part",
    "claimRef only": "k-link k-part", "bound": "k-link",
}  # fmt: skip

Way = list[tuple[float, float]]


@define
class Tracks:
    """The tracks of one map: how many of each channel are taken, and the places of words. Mutable."""

    gap: Box
    few: bool  # whether a placed pod has links to its volumes
    gutters: dict[str, float] = field(factory=dict)
    domain_of: dict[str, str] = field(factory=dict)
    texts: list[Box] = field(factory=list)
    used: dict[str, int] = field(factory=dict)
    named: dict[str, tuple[Way, float]] = field(factory=dict)
    ways: list[Way] = field(factory=list)
    labels: list[Box] = field(factory=list)

    def offset(self, channel: str, step: float, room: int) -> float:
        """Return the next track of a channel, in px from its first."""
        return (self.used.get(channel, 0) % room) * step

    def take(self, *channels: str) -> None:
        """Mark a track of each channel as taken."""
        for channel in channels:
            self.used[channel] = self.used.get(channel, 0) + 1


def draw_links(scene: Scene, frame: Frame, tracks: Tracks) -> None:
    """Draw the links of claims: caches and annotations to nodes, claimRefs and bindings to volumes."""
    owners = {ref: (pod.ref, f"node/{pod.node}") for pod in frame.pods for ref in pod.claims}
    for claim in frame.claims:
        start = scene.boxes.get(claim.ref)
        if start is None:
            continue
        waiting = start.y < tracks.gap.y
        if not tracks.few and not waiting:
            continue
        own = frozenset((claim.ref, *owners.get(claim.ref, ())))
        node = claim.assumed_node or claim.selected_node
        if waiting and node and f"node/{node}" in scene.boxes:
            kind = "assumed in the cache" if claim.assumed_node else "annotation selected-node"
            _to_node(scene, tracks, claim, own, f"node/{node}", kind)
        for volume in frame.volumes:
            if volume.ref in scene.boxes and (
                volume.claim == claim.ref or volume.name in (claim.volume, claim.assumed_volume)
            ):
                both = volume.claim == claim.ref and claim.volume == volume.name
                kind = "bound" if both else "claimRef only" if volume.claim == claim.ref else "assumed in the cache"
                _to_volume(scene, tracks, claim, own, volume.ref, kind)
    for kind, (way, corner) in tracks.named.items():
        _label(scene, tracks, kind, way, corner)


def _to_node(scene: Scene, tracks: Tracks, claim: ClaimRow, own: frozenset[str], ref: str, kind: str) -> None:
    start, target, domain = scene.boxes[claim.ref], scene.boxes[ref], tracks.domain_of[ref]
    x0, y0 = start.x + 20 + tracks.offset(f"out {claim.ref}", 8, 3), start.bottom + 3
    track = tracks.gap.y + 9 + tracks.offset("gap", 4, 2)
    gutter = tracks.gutters[domain] + tracks.offset(f"gutter {domain}", 3, 2)

    def ways() -> Iterator[Way]:
        # straight down to the card, beside the domain's words; or by the gutter to its edge, or to its top
        for share in (0.55, 0.5, 0.62, 0.42, 0.7, 0.34, 0.8, 0.26, 0.88):
            x1 = target.x + target.w * share
            yield [(x0, y0), (x0, track), (x1, track), (x1, target.y - 2)]
        middle = target.y + min(25.0, target.h / 2)
        yield [(x0, y0), (x0, track), (gutter, track), (gutter, middle), (target.x - 0.5, middle)]
        lane, x1 = target.y - 3.5, target.x + 16
        yield [(x0, y0), (x0, track), (gutter, track), (gutter, lane), (x1, lane), (x1, target.y)]

    way = _first_free(scene, tracks, ways(), own | {ref})
    if way is None:
        return
    tracks.take(f"out {claim.ref}", "gap", *([f"gutter {domain}"] if way[2][0] == gutter else []))
    tracks.named.setdefault(kind, (way, way[2][0] if way[2][0] != gutter else x0))
    _add(scene, tracks, f"{claim.ref} {ref}", kind, way, heads=(False, True))


def _to_volume(scene: Scene, tracks: Tracks, claim: ClaimRow, own: frozenset[str], ref: str, kind: str) -> None:
    start, target = scene.boxes[claim.ref], scene.boxes[ref]
    heads = (True, True) if kind == "bound" else (True, False) if kind == "claimRef only" else (False, True)
    if start.y >= tracks.gap.y:
        x = min(start.right - 22, target.right - 12)
        straight = [[(x, start.bottom + 3), (x, target.y - 1)]] if x > max(start.x, target.x) + 8 else []
        ways, channels = iter(straight), []
    elif ref in tracks.domain_of:
        domain = tracks.domain_of[ref]
        x0 = start.x + 8 + tracks.offset(f"in {claim.ref}", 6, 2)
        gutter = tracks.gutters[domain] + tracks.offset(f"gutter {domain}", 3, 2)
        track = tracks.gap.y + 5 + tracks.offset("gap volumes", 3, 2)
        middle, lane = target.y + target.h / 2, target.y - 2.5
        first = [(x0, start.bottom + 3), (x0, track), (gutter, track)]
        ways = iter([
            [*first, (gutter, middle), (target.x - 0.5, middle)],
            [*first, (gutter, lane), (target.x + 14, lane), (target.x + 14, target.y)],
        ])  # fmt: skip
        channels = [f"in {claim.ref}", f"gutter {domain}", "gap volumes"]
    else:
        return
    way = _first_free(scene, tracks, ways, own | {ref})
    if way is not None:
        tracks.take(*channels)
        _add(scene, tracks, f"{claim.ref} {ref}", kind, way, heads=heads)


def _first_free(scene: Scene, tracks: Tracks, ways: Iterable[Way], ends: frozenset[str]) -> Way | None:
    """Return the first way that crosses no word and no box but its ends."""
    boxes = [box for ref, box in scene.boxes.items() if ref not in ends and not ref.startswith("zone/")]
    solid = [*tracks.texts, *boxes]
    return next((way for way in ways if not any(
        _crosses(way, box.x, box.right, box.y, box.bottom) for box in solid
    )), None)  # fmt: skip


def _label(scene: Scene, tracks: Tracks, kind: str, way: Way, corner: float) -> None:
    """Draw the name of a kind of link once, on paper: beside its last corner in the gap, or where no link runs."""
    wide, y = text.width(kind, 10, bold=True), tracks.gap.y + 12.5
    ends = [min(way[0][0], corner) - 8 - wide]
    crossing = ([x for x, down in other if down <= tracks.gap.bottom] for other in tracks.ways)
    ends += sorted(max(across) + 8 for across in crossing if across)  # a way beside the gap has nothing in it
    places = [x for x in (corner + 8, *ends, tracks.gap.right - wide - 6, 6.0) if 4 <= x <= tracks.gap.right - wide - 4]
    free = (x for x in places if not any(_crosses(other, x - 4, x + wide + 4, y - 10, y + 4) for other in tracks.ways)
            and not any(x < box.right + 6 and box.x < x + wide + 6 for box in tracks.labels))  # fmt: skip
    x = next(free, None)
    if x is None:
        return  # the ticket has it in words
    tracks.labels.append(Box(x, y - 9, wide, 12))
    drawn = rect(x - 2, y - 9, wide + 4, 11.5, "k-blank") + word(x, y, "k-c k-b k-t-storage", kind)
    scene.parts.append((f"8:{kind}", piece(f"8:{kind}", drawn, ' class="k-new"')))


def _crosses(way: Way, left: float, right: float, top: float, bottom: float) -> bool:
    return any(
        min(ax, bx) < right and max(ax, bx) > left and min(ay, by) < bottom and max(ay, by) > top
        for (ax, ay), (bx, by) in pairwise(way)
    )


def _add(scene: Scene, tracks: Tracks, key: str, kind: str, points: Way, *, heads: tuple[bool, bool]) -> None:
    tracks.ways.append(points)
    body = path(rounded(points, 5), _STYLES[kind])
    for wanted, tip, before in ((heads[0], points[0], points[1]), (heads[1], points[-1], points[-2])):
        if wanted:
            body += _head(tip, before)
    scene.parts.append((f"7:{key}", piece(f"7:{key}", body, ' class="k-new"')))


def _head(tip: tuple[float, float], before: tuple[float, float]) -> str:
    (x, y), dx, dy = tip, sign(tip[0] - before[0]), sign(tip[1] - before[1])
    ax, ay, bx, by = x - 6 * dx - 3.5 * dy, y - 6 * dy - 3.5 * dx, x - 6 * dx + 3.5 * dy, y - 6 * dy + 3.5 * dx
    return path(f"M{num(x)} {num(y)}L{num(ax)} {num(ay)}L{num(bx)} {num(by)}z", "k-s-storage")
