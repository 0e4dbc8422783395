"""The cluster map up to 24 nodes: domains as boxes, nodes as cards, pods as blocks and lines, volumes as cylinders.

A card is as high as what it holds; cards in a row of a domain are alike, and a domain always has room for one more
pod, so that little moves when a pod lands. A pod in focus is one keyed group wherever it stands: a browser lets it
glide.
"""

from __future__ import annotations

from math import ceil

from attrs import define, frozen

from kvolsched.api.words import amount, cores, counted
from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import path, rect, word
from kvolsched.views.frame import Frame, NodeRow, PodRow, VolumeRow
from kvolsched.views.pictures import map_pods, states
from kvolsched.views.pictures.map_links import Tracks, draw_links
from kvolsched.views.pictures.map_tiles import tiles
from kvolsched.views.pictures.map_tray import draw_tray, tray_height
from kvolsched.views.pictures.matrix import name_legend
from kvolsched.views.pictures.states import Domain

GAP, PAD, HEAD, CARD_GAP, COLUMN_GAP = 8.0, 10.0, 26.0, 7.0, 6.0
CARD_H, CARD_END, VOLUME_H, TRACKS = 50.0, 2.0, 29.0, 18.0
NARROW = 230.0  # px of a card; under it a reason has two lines and bars stand below their words
SECOND_LINE = 11.5
LINE_PITCH, CHIP_PITCH = map_pods.LINE_H + 3, map_pods.CHIP_H + 3
MOST_VOLUME_ROWS = 6
NO_VOLUME = "no volume in reach"


@frozen
class CardLayout:
    """Sizes that all cards of one map share, px."""

    per_row: int
    domain_w: float
    columns: int
    card_w: float
    volume_columns: int
    volume_rows: int
    lines: int  # Of the longest reason

    @property
    def base(self) -> float:
        """The height of a card without pods."""
        return CARD_H + SECOND_LINE * (self.lines - 1) + (6 if self.card_w < NARROW else 0)

    @property
    def volumes_h(self) -> float:
        """The height that the volumes of a domain take."""
        return self.volume_rows * (VOLUME_H + 5) + 4 if self.volume_rows else 3.0


@define
class _Contents:
    """What the cards hold, by node. Mutable while it is read off the frame."""

    lines: dict[str, list[PodRow]]  # pods in focus on a node
    ghosts: dict[str, list[PodRow]]  # pods that are assumed, nominated or chosen there
    chips: dict[str, list[PodRow]]  # its other pods
    claims: map_pods.ClaimRows

    @classmethod
    def of(cls, frame: Frame) -> _Contents:
        found = cls({}, {}, {}, {claim.ref: claim for claim in frame.claims})
        chosen = next((node.name for node in frame.nodes if node.verdict == "chosen"), "")
        for pod in frame.pods:
            if pod.node:
                (found.lines if pod.in_focus else found.chips).setdefault(pod.node, []).append(pod)
                continue
            to_be = chosen if pod.ref == frame.head.focus and not pod.assumed_node else ""
            for name in sorted({pod.assumed_node, pod.nominated_node, to_be} - {""}):
                found.ghosts.setdefault(name, []).append(pod)
        return found


def draw_cards(frame: Frame, width: float, selection: str, domains: tuple[Domain, ...], word_of_key: str) -> str:
    """Draw the map as cards: tray and classes above, one box a domain, volumes below their nodes."""
    scene = Scene(states.selection_refs(frame, selection), frozenset(frame.head.hot))
    places = volume_places(frame, domains)
    contents = _Contents.of(frame)
    plan = _plan(frame, width, domains, places)
    tray = Box(0, 0, width, tray_height(frame, width))
    tracks = Tracks(Box(0, tray.bottom, width, TRACKS), few=len(frame.nodes) <= 6)
    tracks.texts += draw_tray(scene, frame, tray)
    shorts = text.short_names(name for name, _ in domains)
    y = tracks.gap.bottom
    for start in range(0, len(domains), plan.per_row):
        shown = domains[start : start + plan.per_row]
        heights = [_row_heights(nodes, plan, contents) for _, nodes in shown]
        # one more pod may land in any domain
        cards = max(sum(rows) + CARD_GAP * (len(rows) - 1) for rows in heights)
        bare = [_row_heights(nodes, plan, _Contents({}, {}, contents.chips, {})) for _, nodes in shown]
        least = max(sum(rows) + CARD_GAP * (len(rows) - 1) for rows in bare)
        room = max(cards, least + LINE_PITCH) if any(pod.in_focus for pod in frame.pods) else cards
        high = HEAD + room + CARD_GAP + plan.volumes_h
        for column, (name, nodes) in enumerate(shown):
            box = Box(column * (plan.domain_w + GAP), y, plan.domain_w, high)
            tracks.gutters[name] = box.x + 3
            tracks.texts += _domain(scene, box, name, nodes, word_of_key)
            _nodes(scene, frame, box, (name, nodes, heights[column]), plan, contents, tracks, word_of_key)
            volumes = places.get(name, ())
            tracks.domain_of.update((volume.ref, name) for volume in volumes)
            words = name if word_of_key == "hostname" else f"{word_of_key} {shorts[name]}"
            if plan.volume_rows:
                _volumes(scene, box, volumes, plan, words)
        y += high + GAP
    bottom = y - GAP
    if places.get(""):
        bottom = _strip(scene, Box(0, y, width, 0), places[""])
    bottom = _letters(scene, frame, Box(0, bottom, width, 0))
    draw_links(scene, frame, tracks)
    return scene.svg(width, bottom + 2, "cluster map")


def _letters(scene: Scene, frame: Frame, box: Box) -> float:
    """Draw the names of the plugins whose letters the cards show; return the lower edge."""
    plugins = frame.verdicts.plugins
    heads = {node.first: states.plugin(node, plugins) for node in frame.nodes if node.verdict == "rejected"}
    shown = [head for _, head in sorted(heads.items())]
    if not shown:
        return box.y
    body, high = name_legend(shown, 4, box.w)
    scene.put("0:letters", box, body)
    return box.y + high


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
    per_row, domain_w = tiles(width, len(domains), 168)
    inner = domain_w - 2 * PAD
    columns = max(1, min(most, int((inner + COLUMN_GAP) // (138 + COLUMN_GAP))))
    columns = ceil(most / ceil(most / columns))
    if columns == 2 and most <= 2 and inner < 2 * NARROW:
        columns = 1  # two wide cards under each other say more than two narrow ones
    card_w = (inner - (columns - 1) * COLUMN_GAP) / columns
    storage = bool(frame.classes or frame.claims or frame.volumes)
    most_volumes = max(len(places.get(name, ())) for name, _ in domains)
    volume_columns = max(1, int((inner + 5) // (140 + 5))) if most_volumes > 1 else 1
    rows = min(max(1, ceil(most_volumes / volume_columns)), MOST_VOLUME_ROWS) if storage else 0
    least, most = (2, 4) if card_w < NARROW else (1, 2)
    lines = max([least, *(len(_said(frame, node, card_w, most)[1]) for _, nodes in domains for node in nodes)])
    return CardLayout(per_row, domain_w, columns, card_w, volume_columns, rows, lines)


def _row_heights(nodes: tuple[NodeRow, ...], plan: CardLayout, contents: _Contents) -> list[float]:
    """Return the height of each row of a domain's cards: that of its highest card."""
    heights = [_card_height(node, plan, contents) for node in nodes]
    return [max(heights[i : i + plan.columns]) for i in range(0, len(heights), plan.columns)]


def _card_height(node: NodeRow, plan: CardLayout, contents: _Contents) -> float:
    chips = len(_chip_rows(contents.chips.get(node.name, []), plan.card_w))
    lines = len(contents.lines.get(node.name, ())) + len(contents.ghosts.get(node.name, ()))
    return plan.base + chips * CHIP_PITCH + lines * LINE_PITCH + (CARD_END if chips or lines else 0)


def _domain(scene: Scene, box: Box, name: str, nodes: tuple[NodeRow, ...], word_of_key: str) -> list[Box]:
    """Draw a domain's box with its name and how many of its nodes fit; return the places of the words."""
    judged = any(node.verdict != "not judged" for node in nodes)
    fits = sum(node.verdict in ("fits", "chosen") for node in nodes)
    tally = f"{fits} of {len(nodes)} fit" if judged else ""
    taken = text.width(tally, 11)
    shown = text.middle(name, box.w - 30 - taken, 12.5, bold=True)
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-panel", 8)
    body += word(11, 18, "k-h", shown) + word(box.w - 11, 18, "k-q k-end", tally)
    label = f"{word_of_key} {name}, {counted(len(nodes), 'node')}" + (f", {tally}" if tally else "")
    scene.put(f"1:zone/{name}", box, body, ref=f"zone/{name}", label=label, radius=8)
    left, right = text.width(shown, 12.5, bold=True), box.right - 11
    return [Box(box.x + 9, box.y + 5, left + 5, 18), *([Box(right - taken - 4, box.y + 5, taken + 6, 18)] * judged)]


def _nodes(scene: Scene, frame: Frame, box: Box, domain: tuple[str, tuple[NodeRow, ...], list[float]],
           plan: CardLayout, contents: _Contents, tracks: Tracks, key: str) -> None:
    name, nodes, heights = domain
    y = box.y + HEAD
    for row, high in enumerate(heights):
        for column, node in enumerate(nodes[row * plan.columns : (row + 1) * plan.columns]):
            card = Box(box.x + PAD + column * (plan.card_w + COLUMN_GAP), y, plan.card_w, high)
            tracks.domain_of[node.ref] = name
            _card(scene, frame, node, card, plan, contents, f"{key} {name}")
        y += high + CARD_GAP


def _card(scene: Scene, frame: Frame, node: NodeRow, box: Box, plan: CardLayout, contents: _Contents,
          where: str) -> None:
    role = states.family(node, frame.verdicts.plugins)
    line = "k-thick k-l-ink" if node.verdict == "chosen" else f"k-l-{role}"
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, f"k-node k-p-{role} {line}" if role != "none" else
                "k-card k-l-none", 6)  # fmt: skip
    body += _head(frame, node, box.w, role, plan.lines) + _bars(frame, node, box.w, plan.base)
    spoken = filter(None, [f"node {node.name}", where, spoken_verdict(frame, node), states.node_facts(node)])
    scene.put(f"2:{node.ref}", box, body, ref=node.ref, label=", ".join(spoken), radius=6)
    y = box.y + plan.base
    for row in _chip_rows(contents.chips.get(node.name, []), box.w):
        x = box.x + 8.0
        for pod, wide in row:
            if pod is None:
                shown = len([p for r in _chip_rows(contents.chips[node.name], box.w) for p, _ in r if p])
                more = f"+{len(contents.chips[node.name]) - shown}"
                map_pods.count_chip(scene, Box(x, y, wide, map_pods.CHIP_H), more, node.name)
            else:
                map_pods.draw_chip(scene, Box(x, y, wide, map_pods.CHIP_H), pod, min(box.w - 28, 110))
            x += wide + 4
        y += CHIP_PITCH
    for pod in contents.lines.get(node.name, ()):
        map_pods.draw_line(scene, Box(box.x + 7, y, box.w - 14, map_pods.LINE_H), pod, contents.claims)
        y += LINE_PITCH
    for pod in contents.ghosts.get(node.name, ()):
        map_pods.ghost(scene, Box(box.x + 7, y, box.w - 14, map_pods.LINE_H), pod, node.name)
        y += LINE_PITCH


def spoken_verdict(frame: Frame, node: NodeRow) -> str:
    """Return a node's verdict in words for a screen reader."""
    if node.verdict == "rejected":
        return f"rejected by {states.plugin(node, frame.verdicts.plugins).name}: {states.reason(node)}"
    return {"chosen": "fits, chosen"}.get(node.verdict, node.verdict)


def _badge(frame: Frame, node: NodeRow, wide: float) -> tuple[str, float]:
    """Return a verdict in a word or a letter, as short as the name of its node leaves room for, and its width."""
    content = states.plugin(node, frame.verdicts.plugins).letter if node.verdict == "rejected" else node.verdict
    if not states.verdict_glyph(node) or node.verdict == "not asked":
        content = "not judged yet" if node.verdict == "not judged" else "· not asked"
        if text.width(node.name, 12.5, bold=True) + text.width(content, 10) + 30 > wide:
            content = "" if node.verdict == "not judged" else "·"
        return content, text.width(content, 10) + 6
    if text.width(node.name, 12.5, bold=True) + text.width(content, 11, bold=True) + 44 > wide and len(content) > 1:
        content = ""
    return content, text.width(content, 11, bold=True) + (20 if content else 14)


def _said(frame: Frame, node: NodeRow, wide: float, lines: int) -> tuple[str, list[tuple[str, str]]]:
    """Return what the API has against a node, if that has room beside its name, and so many lines of what is below."""
    taken = _badge(frame, node, wide)[1]
    name = text.middle(node.name, wide - taken - 20, 12.5, bold=True)
    rows = _reason_rows(node, states.plugin(node, frame.verdicts.plugins).name.partition(" (")[0], wide, lines)
    facts = states.node_facts(node)
    if not facts or text.width(facts, 10) <= wide - taken - text.width(name, 12.5, bold=True) - 30:
        return facts, rows  # the verdict may be older than what the API says of the node now
    if len(rows) < lines:
        return "", rows + [(row, "k-t-resources") for row in text.wrap(facts, wide - 18, 10, lines - len(rows))]
    words, kind = rows[-1]
    return "", [*rows[:-1], (text.end(f"{words} · {facts}", wide - 18, 10), kind)]


def _head(frame: Frame, node: NodeRow, wide: float, role: str, lines: int) -> str:
    """Draw name and verdict, what the API has against the node, and why in words."""
    sign, (content, taken) = states.verdict_glyph(node), _badge(frame, node, wide)
    tone = "k-t-ink" if node.verdict == "chosen" else f"k-t-{role}"
    if not sign or node.verdict == "not asked":
        badge = word(wide - 9, 17, "k-w k-end", content)
    else:
        badge = word(wide - 9 - taken + 11, 17, f"k-b k-mid {tone}", sign)
        badge += word(wide - 9, 17, f"k-b k-end {tone}", content)
    name = text.middle(node.name, wide - taken - 20, 12.5, bold=True)
    facts, rows = _said(frame, node, wide, lines)
    out = word(9, 17, "k-h", name) + badge
    out += word(18 + text.width(name, 12.5, bold=True), 17, "k-c k-t-resources", facts)
    for i, (row, kind) in enumerate(rows):
        tone = kind or (f"k-t-{role}" if role != "none" else "k-soft")
        out += word(9, 30.5 + i * SECOND_LINE, f"k-c {tone}", row)
    return out


def _reason_rows(node: NodeRow, first: str, wide: float, lines: int) -> list[tuple[str, str]]:
    """Return why, in so many lines: the plugin's name only where all words have room."""
    if node.verdict in ("chosen", "fits"):
        score = f"score {node.score}" if node.score >= 0 else ""
        words = ", ".join(filter(None, ["passes every filter", score]))
        return [(words if not score or text.width(words, 10) <= wide - 18 else score, "")]
    if node.verdict != "rejected":
        return []
    words = f"{first}: {states.reason(node)}" if first else states.reason(node)
    few = 2 if wide < NARROW else 1  # the last line of a card is for what cannot be said shorter
    if len(text.wrap(words, wide - 18, 10, 9)) > few:
        words = states.reason(node)
    if len(text.wrap(words, wide - 18, 10, 9)) > few:
        words = words.replace(", that the pod didn't tolerate", "")  # the verdict says so
    return [(row, "") for row in text.wrap(words, wide - 18, 10, lines)]


def _bars(frame: Frame, node: NodeRow, wide: float, base: float) -> str:
    """Draw requested of allocatable for cpu and memory; dashed: what the pod in focus would add."""
    pod = next((p for p in frame.pods if p.ref == frame.head.focus and not p.node), None)
    adds = pod if pod and node.verdict in ("fits", "chosen") else None
    half = (wide - 18 - 10) / 2
    cpu = f"cpu {cores(node.cpu_used)}/{cores(node.cpu)}"
    memory = f"mem {_used_of(node.memory_used, node.memory)}"
    inline = wide >= NARROW
    y = base - (8 if inline else 10)
    return _bar(9, y, half, cpu, node.cpu_used, node.cpu, adds.cpu if adds else 0, inline=inline) + _bar(
        19 + half, y, half, memory, node.memory_used, node.memory, adds.memory if adds else 0, inline=inline)


def _used_of(used: int, capacity: int) -> str:
    """Write two amounts of bytes in the unit of the second: "0.2/64Gi"."""
    whole = amount(capacity)
    unit = whole.lstrip("0123456789.")
    scale = next((1 << 10 * (i + 1) for i, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi")) if suffix == unit), 1)
    share = f"{used / scale:.1f}".removesuffix(".0")
    return f"{'<0.1' if used and share == '0' else share}/{whole}"


def _bar(x: float, y: float, w: float, label: str, used: int, capacity: int, more: int, *, inline: bool) -> str:
    """Draw one bar beside its words, or below them in a narrow card."""
    share = min(1.0, used / capacity) if capacity else 0.0
    if inline:
        label = text.end(label, w - 30, 9.5)
        taken = text.width(label, 9.5) + 6
        out, left, room, top = word(x, y + 2, "k-z", label), x + taken, w - taken, y - 3
    else:
        out, left, room, top = word(x, y - 2, "k-z", text.end(label, w, 9.5)), x, w, y + 1
    out += rect(left, top, room, 4.5, "k-rail", 2)
    out += rect(left, top, room * share, 4.5, "k-fill", 2)
    if more and capacity:
        grown = min(1.0 - share, more / capacity)
        out += rect(left + room * share, top, max(room * grown, 2), 4.5, "k-plus", 1.5)
    return out


def _chip_rows(pods: list[PodRow], wide: float) -> list[list[tuple[PodRow | None, float]]]:
    """Return a node's other pods in at most two rows of chips; the last chip counts the rest."""
    rows: list[list[tuple[PodRow | None, float]]] = [[]]
    x, rest = 8.0, 0
    for pod in pods:
        w = map_pods.chip_width(pod, min(wide - 28, 110))
        if rest or (len(rows) == 2 and x + w + 34 > wide - 8):
            rest += 1
            continue
        if x + w > wide - 8 and rows[-1]:
            rows.append([])
            x = 8.0
        rows[-1].append((pod, w))
        x += w + 4
    if rest:
        rows[-1].append((None, text.width(f"+{rest}", 10) + 12))
    return rows if rows[0] else []


def _volumes(scene: Scene, box: Box, volumes: tuple[VolumeRow, ...], plan: CardLayout, words: str) -> None:
    room = box.w - 2 * PAD
    wide = (room - (plan.volume_columns - 1) * 5) / plan.volume_columns
    y = box.bottom - plan.volumes_h
    if not volumes:
        body = rect(0.5, 0.5, room - 1, VOLUME_H - 1, "k-void", 5)
        body += word(10, VOLUME_H / 2 + 3.5, "k-w", text.end(NO_VOLUME, room - 16, 10))
        scene.put(f"2:volumes {box.x:.0f}/{box.y:.0f}", Box(box.x + PAD, y, room, VOLUME_H), body)
        return
    rest = _in_rows(scene, Box(box.x + PAD, y, wide, VOLUME_H), volumes, plan.volume_columns, plan.volume_rows, words)
    _more(scene, Box(box.right - PAD - wide, box.bottom - 9 - VOLUME_H, wide, VOLUME_H), rest)


def _in_rows(scene: Scene, first: Box, volumes: tuple[VolumeRow, ...], columns: int, rows: int,
             within: str = "") -> int:
    """Draw volumes in rows, the first of them in its box, with room for one more if not all fit; return the rest."""
    shown = volumes if len(volumes) <= columns * rows else volumes[: columns * rows - 1]
    for i, volume in enumerate(shown):
        x, y = first.x + (i % columns) * (first.w + 5), first.y + (i // columns) * (VOLUME_H + 5)
        draw_volume(scene, Box(x, y, first.w, VOLUME_H), volume, within=within)
    return len(volumes) - len(shown)


def _more(scene: Scene, box: Box, rest: int) -> None:
    if not rest:
        return
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-void", 5)
    body += word(10, box.h / 2 + 3.5, "k-w", text.end(f"+{rest} more volumes", box.w - 16, 10))
    scene.put(f"2:more {box.x:.0f}/{box.y:.0f}", box, body)


def draw_volume(scene: Scene, box: Box, volume: VolumeRow, within: str) -> None:
    """Draw a volume as a cylinder, full if bound, half if reserved; `within` a node's box its node is not repeated."""
    dashed = {"assumed": " k-dot", "reserved": " k-part"}.get(volume.state, "")
    kind = " k-full" if volume.state == "bound" else ""
    gone = " k-gone" if volume.state == "released" else ""
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, f"k-ticket{kind}{dashed}{gone}", 5)
    level = states.VOLUME_LEVEL.get(volume.state, 0.0)
    fill = "k-s-none" if gone else "k-s-storage"
    if level:
        top = 9 + 12 * (1 - level)
        body += path(f"M8 {top:.1f}V21a6 2.6 0 0 0 12 0V{top:.1f}z", fill)
    outline = dashed if volume.state == "assumed" else ""
    body += path("M8 8.5V21a6 2.6 0 0 0 12 0V8.5a6 2.6 0 0 0-12 0a6 2.6 0 0 0 12 0", f"k-cyl{gone}{outline}")
    size = volume.size if text.width(volume.size, 10) < box.w / 3 else ""
    room = box.w - 33 - (text.width(size, 10) + 6 if size else 0)
    body += word(26, 12.5, "k-b", text.middle(volume.name, room, 11, bold=True))
    body += word(box.w - 7, 12.5, "k-w k-end", size)
    where = {"node": "on " + volume.reach[5:], "zones": volume.reach[6:]}.get(volume.reach.partition(":")[0], "")
    where = where or ("reachable from nowhere" if volume.reach == "nowhere" else "")
    where = "" if volume.reach == f"node:{within}" else where
    choices = (", ".join(filter(None, (state, where))) for state in (states.volume_words(volume), volume.state))
    words = next((each for each in choices if text.width(each, 10) <= box.w - 33), volume.state)
    body += word(26, 24, "k-w", words)
    label = f"volume {volume.name}, {volume.size}, {states.volume_words(volume)}, reach {volume.reach}"
    scene.put(f"3:{volume.ref}", box, body, ref=volume.ref, label=label, radius=5)


def _strip(scene: Scene, box: Box, volumes: tuple[VolumeRow, ...]) -> float:
    """Draw the volumes that belong to no single domain, across all domains; return the lower edge."""
    columns = max(1, int((box.w - 15) // 175))
    rows = min(3, ceil(len(volumes) / columns))
    strip = Box(0, box.y, box.w, 22 + rows * (VOLUME_H + 5) + 5)
    body = rect(0.5, 0.5, strip.w - 1, strip.h - 1, "k-panel", 8)
    body += word(11, 15, "k-w", "Volumes of several domains, of all, or of none")
    scene.put("1:zone/ strip", strip, body)
    wide = (strip.w - 2 * PAD - (columns - 1) * 5) / columns
    rest = _in_rows(scene, Box(PAD, strip.y + 22, wide, VOLUME_H), volumes, columns, rows)
    _more(scene, Box(strip.w - PAD - wide, strip.bottom - 10 - VOLUME_H, wide, VOLUME_H), rest)
    return strip.bottom
