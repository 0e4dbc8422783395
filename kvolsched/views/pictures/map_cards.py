"""The cluster map up to 24 nodes: domains as boxes, nodes as cards, pods as blocks, volumes as cylinders.

Room is reserved for pods and volumes to come, so that nothing jumps; a pod in focus is one keyed block wherever it
stands, so that a browser lets it glide.
"""

from __future__ import annotations

from math import ceil

from attrs import frozen

from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import path, rect, word
from kvolsched.views.drawing.text import short_names
from kvolsched.views.frame import ClaimRow, Frame, NodeRow, PodRow, VolumeRow
from kvolsched.views.pictures.map_domains import Domain
from kvolsched.views.pictures.map_links import Tracks, draw_links
from kvolsched.views.pictures.map_pods import block_height, button_chip, draw_block, draw_line, ghost
from kvolsched.views.pictures.map_tray import draw_tray, tray_height
from kvolsched.views.pictures.states import (
    VOLUME_LEVEL,
    family,
    node_facts,
    plugin,
    reason,
    selection_refs,
    verdict_glyph,
    volume_words,
)

GAP, PAD, BAND, VOLUME_H = 10, 10, 50, 35
TRACKS = 25


@frozen
class CardLayout:
    """Sizes that all cards of one map share, px."""

    per_row: int
    domain_w: float
    columns: int
    card_w: float
    card_h: float
    chip_rows: int
    lines: bool
    volume_columns: int
    volume_rows: int
    block_w: float


def draw_cards(frame: Frame, width: float, selection: str, domains: tuple[Domain, ...], word_of_key: str) -> str:
    """Draw the map as cards: tray and classes above, one box a domain, volumes below their nodes."""
    scene = Scene(selection_refs(frame, selection), frozenset(frame.head.hot))
    claims = {claim.ref: claim for claim in frame.claims}
    places = volume_places(frame, domains)
    plan = _plan(frame, width, domains, places)
    tray = Box(0, 0, width, tray_height(frame, width, plan.block_w, lines=plan.lines))
    draw_tray(scene, frame, tray, plan.block_w, lines=plan.lines)
    gap = Box(0, tray.bottom, width, TRACKS)
    domain_of: dict[str, str] = {}
    gutters: dict[str, float] = {}
    shorts = short_names(name for name, _ in domains)
    card_rows = [max(ceil(len(nodes) / plan.columns) for _, nodes in domains[i : i + plan.per_row])
                 for i in range(0, len(domains), plan.per_row)]  # fmt: skip
    y = gap.bottom
    for row, rows in enumerate(card_rows):
        height = 30 + rows * (plan.card_h + GAP) + 16 + plan.volume_rows * (VOLUME_H + 5) + 6
        for column, (name, nodes) in enumerate(domains[row * plan.per_row : (row + 1) * plan.per_row]):
            box = Box(column * (plan.domain_w + GAP), y, plan.domain_w, height)
            gutters[name] = box.x + 3
            _domain(scene, frame, box, name, nodes, word_of_key)
            for i, node in enumerate(nodes):
                card = Box(
                    box.x + PAD + (i % plan.columns) * (plan.card_w + 8),
                    box.y + 30 + (i // plan.columns) * (plan.card_h + GAP), plan.card_w, plan.card_h,
                )  # fmt: skip
                domain_of[node.ref] = name
                _card(scene, frame, node, card, plan, claims, name, word_of_key)
            volumes = places.get(name, ())
            domain_of.update((volume.ref, name) for volume in volumes)
            words = name if word_of_key == "hostname" else f"{word_of_key} {shorts[name]}"
            _volumes(scene, box, 30 + rows * (plan.card_h + GAP), volumes, plan, words)
        y += height + GAP
    bottom = y - GAP
    if places.get(""):
        bottom = _strip(scene, Box(0, y, width, 0), places[""], plan)
    draw_links(scene, frame, Tracks(gap, gutters, lines=plan.lines), domain_of)
    return scene.svg(width, bottom + 2, "cluster map")


def volume_places(frame: Frame, domains: tuple[Domain, ...]) -> dict[str, tuple[VolumeRow, ...]]:
    """Return the volumes of each domain; under "" those that several domains, all or none reach."""
    home = {node.name: name for name, nodes in domains for node in nodes}
    names = {name for name, _ in domains}
    found: dict[str, list[VolumeRow]] = {}
    for volume in frame.volumes:
        kind, _, value = volume.reach.partition(":")
        zone = value if kind == "zone" and value in names else ""
        place = home.get(value, "") if kind == "node" else zone
        found.setdefault(place, []).append(volume)
    return {place: tuple(rows) for place, rows in found.items()}


def _plan(frame: Frame, width: float, domains: tuple[Domain, ...],
          places: dict[str, tuple[VolumeRow, ...]]) -> CardLayout:
    most = max(len(nodes) for _, nodes in domains)
    fit = max(1, int((width + GAP) // (190 + GAP)))
    rows = ceil(len(domains) / fit)
    per_row = ceil(len(domains) / rows)
    domain_w = (width - (per_row - 1) * GAP) / per_row
    inner = domain_w - 2 * PAD
    columns = max(1, min(most, int((inner + 8) // (140 + 8))))
    columns = ceil(most / ceil(most / columns))
    card_w = (inner - (columns - 1) * 8) / columns
    focus = [pod for pod in frame.pods if pod.in_focus]
    at: dict[str, int] = {}
    for pod in focus:
        at[pod.node] = at.get(pod.node, 0) + bool(pod.node)
    lines = len(frame.nodes) > 6 or len(focus) > 6 or max(at.values(), default=0) > 2
    chips = max((len(_chip_rows(frame, node, card_w)) for _, nodes in domains for node in nodes), default=0)
    need: float
    if lines:
        need = max(max(at.values(), default=0), ceil(len(focus) / max(1, len(frame.nodes))) + 1, 2) * 20
    else:
        need = max(1, max(at.values(), default=0)) * (block_height(max((len(p.claims) for p in focus), default=1)) + 6)
    most_volumes = max((len(places.get(name, ())) for name, _ in domains), default=0)
    roomy, tight = (max(1, int((inner + 5) // (least + 5))) for least in (165, 135))  # for all of their words, or not
    volume_columns = roomy if most_volumes <= 3 * roomy else tight
    held = ceil(most_volumes / volume_columns)
    return CardLayout(per_row, domain_w, columns, card_w, BAND + 30 + max(1, chips) * 23 + need + 8, chips, lines,
                      volume_columns, min(max(1, held), 6), min(280, max(172, card_w - 16)))


def _domain(scene: Scene, frame: Frame, box: Box, name: str, nodes: tuple[NodeRow, ...], word_of_key: str) -> None:
    judged = any(node.verdict != "not judged" for node in nodes)
    fits = sum(node.verdict in ("fits", "chosen") for node in nodes)
    tally = f"{fits} of {len(nodes)} fit" if judged else ""
    room = box.w - 26 - text.width(tally, 11) - 8
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-panel", 8)
    body += word(16, 19, "k-h", text.middle(name, room, 12.5, bold=True))
    body += word(box.w - 12, 19, "k-q k-end", tally)
    label = f"{word_of_key} {name}, {len(nodes)} nodes" + (f", {tally}" if tally else "")
    scene.put(f"1:zone/{name}", box, body, ref=f"zone/{name}", label=label, radius=8)


def _card(scene: Scene, frame: Frame, node: NodeRow, box: Box, plan: CardLayout, claims: dict[str, ClaimRow],
          domain: str, key: str) -> None:
    role = family(node, frame.verdicts.plugins)
    line = "k-thick k-l-ink" if node.verdict == "chosen" else f"k-l-{role}"
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, f"k-card {line}", 7)
    edge = 2.2 if node.verdict == "chosen" else 1.4
    right = f"{box.w - edge - 5.5:.1f}"
    body += path(f"M{edge} {BAND}V7a5.5 5.5 0 0 1 5.5-5.5H{right}a5.5 5.5 0 0 1 5.5 5.5V{BAND}z", f"k-p-{role}")
    body += _head(frame, node, box.w, role) + _bars(frame, node, box.w)
    spoken = filter(None, [f"node {node.name}", f"{key} {domain}", spoken_verdict(frame, node), node_facts(node)])
    scene.put(f"2:{node.ref}", box, body, ref=node.ref, label=", ".join(spoken))
    y = BAND + 31.0
    for row in _chip_rows(frame, node, box.w):
        x = 8.0
        for pod, shown, wide in row:
            button_chip(scene, Box(box.x + x, box.y + y, wide, 18), pod, shown, node.name)
            x += wide + 5
        y += 23
    y = BAND + 30.0 + max(1, plan.chip_rows) * 23 + 2
    for pod in frame.pods:
        if pod.node == node.name and pod.in_focus:
            if plan.lines:
                draw_line(scene, Box(box.x + 7, box.y + y, box.w - 14, 17), pod, claims)
                y += 20
            else:
                high = block_height(len(pod.claims))
                draw_block(scene, Box(box.x + 8, box.y + y, min(plan.block_w, box.w - 16), high), pod, claims)
                y += high + 6
        elif not pod.node and node.name in (pod.assumed_node, pod.nominated_node):
            ghost(scene, Box(box.x + 8, box.y + y, box.w - 16, 18), pod, node.name)
            y += 22


def spoken_verdict(frame: Frame, node: NodeRow) -> str:
    """Return a node's verdict in words for a screen reader."""
    if node.verdict == "rejected":
        return f"rejected by {plugin(node, frame.verdicts.plugins).name}: {reason(node)}"
    return {"chosen": "fits, chosen"}.get(node.verdict, node.verdict)


def _head(frame: Frame, node: NodeRow, wide: float, role: str) -> str:
    """Draw name, badge and up to two lines of words on the band."""
    sign = verdict_glyph(node)
    first = plugin(node, frame.verdicts.plugins)
    content = first.letter if node.verdict == "rejected" else node.verdict
    badge, taken = "", 0.0
    if not sign or node.verdict == "not asked":
        content = "not judged yet" if node.verdict == "not judged" else "· not asked"
        if text.width(node.name, 12.5, bold=True) + text.width(content, 11) + 26 > wide:
            content = "" if node.verdict == "not judged" else "·"
        badge, taken = word(wide - 10, 19, "k-q k-end", content), text.width(content, 11) + 6
    else:
        if wide < 175 and node.verdict == "chosen" and text.width(node.name, 12.5, bold=True) > wide - 90:
            content = ""
        taken = text.width(content, 11, bold=True) + (27 if content else 20)
        ground = "k-s-ink" if node.verdict == "chosen" else f"k-s-{role}"
        left = wide - taken - 6
        badge = rect(left, 7, taken, 17, ground, 8.5)
        badge += word(left + 10, 19, "k-b k-on k-mid", sign) + word(left + 19, 19.5, "k-b k-on", content)
    out = word(9, 19, "k-h", text.middle(node.name, wide - taken - 20, 12.5, bold=True)) + badge
    said_of_it = _band_words(node, first.name.partition(" (")[0], wide)
    rows = [row for words in said_of_it for row in text.wrap(words, wide - 18, 10, 2)]
    for i, row in enumerate(rows[:2]):
        out += word(9, 32.5 + i * 11.5, f"k-c k-t-{role}" if role != "none" else "k-w", row)
    return out


def _band_words(node: NodeRow, first: str, wide: float) -> tuple[str, ...]:
    facts = (node_facts(node),)  # the verdict may be older than what the API says of the node now
    if node.verdict == "rejected":
        return (reason(node) if wide < 180 or not first else f"{first}: {reason(node)}", *facts)
    if node.verdict not in ("chosen", "fits"):
        return facts
    best = ("best score",) if node.verdict == "chosen" and node.score >= 0 and not any(facts) else ()
    return ("passes every filter", *best, *facts)


def _bars(frame: Frame, node: NodeRow, wide: float) -> str:
    """Draw requested of allocatable for cpu and memory; dashed: what the pod in focus would add."""
    pod = next((p for p in frame.pods if p.ref == frame.head.focus and not p.node), None)
    adds = pod if pod and node.verdict in ("fits", "chosen") else None
    half = (wide - 26) / 2
    return _bar(9, half, f"cpu {text.cpu(node.cpu_used)}/{text.cpu(node.cpu)}", node.cpu_used, node.cpu,
                adds.cpu if adds else 0) + _bar(
        17 + half, half, f"mem {text.used_of(node.memory_used, node.memory)}", node.memory_used, node.memory,
        adds.memory if adds else 0)  # fmt: skip


def _bar(x: float, w: float, label: str, used: int, capacity: int, more: int) -> str:
    share = min(1.0, used / capacity) if capacity else 0.0
    out = word(x, BAND + 13, "k-z", text.end(label, w, 9.5)) + rect(x, BAND + 16, w, 5, "k-rail", 2.5)
    out += rect(x, BAND + 16, w * share, 5, "k-fill", 2.5)
    if more and capacity:
        grown = min(1.0 - share, more / capacity)
        out += rect(x + w * share, BAND + 16, max(w * grown, 2), 5, "k-plus", 1.5)
    return out


def _chip_rows(frame: Frame, node: NodeRow, wide: float) -> list[list[tuple[PodRow | None, str, float]]]:
    """Return the pods of a node that are not in focus in at most two rows of chips; the last chip counts the rest."""
    rows: list[list[tuple[PodRow | None, str, float]]] = [[]]
    x, rest = 8.0, 0
    for pod in frame.pods:
        if pod.node != node.name or pod.in_focus:
            continue
        shown = text.middle(pod.name, min(wide - 28, 110), 10)
        w = text.width(shown, 10) + 12
        spare = 34 if len(rows) == 2 else 0
        if rest or (x + w + spare > wide - 8 and len(rows) == 2):
            rest += 1
            continue
        if x + w > wide - 8 and rows[-1]:
            rows.append([])
            x = 8.0
        rows[-1].append((pod, shown, w))
        x += w + 5
    if rest:
        rows[-1].append((None, f"+{rest}", text.width(f"+{rest}", 10) + 12))
    return rows if rows[0] else []


def _volumes(scene: Scene, box: Box, y: float, volumes: tuple[VolumeRow, ...], plan: CardLayout, words: str) -> None:
    room = box.w - 2 * PAD
    wide = (room - (plan.volume_columns - 1) * 5) / plan.volume_columns
    space = wide - 20 if volumes and not plan.lines else room - 6
    title = f"Volumes reachable from {words}"
    title = title if text.width(title, 10) <= space else f"Volumes of {words}"
    body = word(16, y + 10, "k-w", text.end(title, space, 10))
    if not volumes:
        body += rect(PAD, y + 16.5, room, VOLUME_H - 1, "k-void", 5) + word(PAD + 10, y + 37, "k-w", "none")
    scene.put(f"2:volumes {box.x:.0f}/{box.y:.0f}", box, body)
    shown = volumes[: plan.volume_columns * plan.volume_rows]
    for i, volume in enumerate(shown):
        place = Box(box.x + PAD + (i % plan.volume_columns) * (wide + 5),
                    box.y + y + 16 + (i // plan.volume_columns) * (VOLUME_H + 5), wide, VOLUME_H)  # fmt: skip
        draw_volume(scene, place, volume, within=words)
    _more(scene, box, y, len(volumes) - len(shown), room)


def _more(scene: Scene, box: Box, y: float, rest: int, room: float) -> None:
    if rest > 0:
        scene.put(f"2:more {box.x:.0f}/{box.y:.0f}", box, word(PAD + room, y + 10, "k-w k-end", f"+{rest} more"))


def draw_volume(scene: Scene, box: Box, volume: VolumeRow, within: str = "") -> None:
    """Draw a volume as a cylinder, full if bound, half if reserved; `within` a node's box its node is not repeated."""
    dashed = {"assumed": " k-dot", "reserved": " k-part"}.get(volume.state, "")
    kind = " k-full" if volume.state == "bound" else ""
    gone = " k-gone" if volume.state == "released" else ""
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, f"k-ticket{kind}{dashed}{gone}", 5)
    level = VOLUME_LEVEL.get(volume.state, 0.0)
    fill = "k-s-none" if gone else "k-s-storage"
    if level:
        top = 11 + 15 * (1 - level)
        body += path(f"M7 {top:.1f}V26a7 3 0 0 0 14 0V{top:.1f}z", fill)
    outline = dashed if volume.state == "assumed" else ""
    body += path("M7 10.5V26a7 3 0 0 0 14 0V10.5a7 3 0 0 0-14 0a7 3 0 0 0 14 0", f"k-cyl{gone}{outline}")
    room = box.w - 34
    body += word(26, 15, "k-b", text.middle(volume.name, room, 11, bold=True))
    where = {"node": "on " + volume.reach[5:], "zones": volume.reach[6:]}.get(volume.reach.partition(":")[0], "")
    where = where or ("reachable from nowhere" if volume.reach == "nowhere" else "")
    where = "" if volume.reach == f"node:{within}" else where
    words = [word_ for word_ in (volume.size, volume_words(volume), where) if word_]
    body += word(26, 28, "k-w", text.end(" · ".join(words), room, 10))
    label = f"volume {volume.name}, {volume.size}, {volume_words(volume)}, reach {volume.reach}"
    scene.put(f"3:{volume.ref}", box, body, ref=volume.ref, label=label, radius=5)


def _strip(scene: Scene, box: Box, volumes: tuple[VolumeRow, ...], plan: CardLayout) -> float:
    """Draw the volumes that belong to no single domain, across all domains; return the lower edge."""
    columns = max(1, int((box.w - 15) // 175))
    rows = min(3, ceil(len(volumes) / columns))
    strip = Box(0, box.y, box.w, 24 + rows * (VOLUME_H + 5) + 6)
    body = rect(0.5, 0.5, strip.w - 1, strip.h - 1, "k-panel", 8)
    body += word(16, 16, "k-w", "Volumes of several domains, of all, or of none")
    scene.put("1:zone/ strip", strip, body)
    wide = (strip.w - 2 * PAD - (columns - 1) * 5) / columns
    shown = volumes[: columns * rows]
    for i, volume in enumerate(shown):
        place = Box(PAD + (i % columns) * (wide + 5), strip.y + 22 + (i // columns) * (VOLUME_H + 5), wide, VOLUME_H)
        draw_volume(scene, place, volume)
    _more(scene, strip, 6, len(volumes) - len(shown), strip.w - 2 * PAD)
    return strip.bottom
