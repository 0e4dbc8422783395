"""The chart of domains: the nodes, pods, volumes and verdicts in each domain of a topology key.

One row a domain, a column a kind: a chip with its name where there are few, a square with its letter where there are
more, a bar of counts where there are many. Below a line stands what is in no domain: nodes without the key, pods
without a node, volumes that no node reaches.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import ceil

from attrs import evolve, frozen

from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures.ledger_parts import CROWD, with_more
from kvolsched.views.pictures.map_domains import NO_LABEL
from kvolsched.views.pictures.states import POD_GLYPHS, VOLUME_GLYPHS

NO_PLACE = "(no place yet)"
MOST_CHIPS, MOST_UNITS = 6, 36
"""More of a kind in one domain than this are drawn as squares; more than that, as a bar."""

_CHIPS = {"chip": 2, "line": 1}  # chips to a line
_UNIT, _CHIP, _GAP = 22.0, 20.0, 4.0


@frozen
class _Item:
    """A node, pod or volume, drawn as one unit."""

    name: str
    sign: str
    kind: str
    fill: str
    stroke: str
    ink: str
    ref: str
    dashed: bool = False


@frozen
class _Domain:
    name: str
    nodes: tuple[_Item, ...] = ()
    pods: tuple[_Item, ...] = ()
    volumes: tuple[_Item, ...] = ()
    verdicts: tuple[tuple[str, int], ...] = ()
    alike: tuple[str, ...] = ()  # the domains that this row stands for, if they are several

    @property
    def title(self) -> str:
        """The name, or how many domains the row stands for."""
        return f"{len(self.alike)} domains" if self.alike else self.name


def draw(frame: f.Frame, width: int, selection: str = "", key: str = ZONE_LABEL) -> Sheet:
    """Draw the domains of `key` with their nodes, pods, volumes and counts of verdicts."""
    rows = _domains(frame, key)
    sheet = Sheet(width, f"domains of {key}", selection)
    label = max((t.width(r.title, 12.5, bold=True) for r in rows), default=0)
    label = min(max(label, 150.0 if any(r.alike for r in rows) else 60.0) + 20, 0.24 * width)
    found = [f"{count} {verdict}" for r in rows for verdict, count in r.verdicts]
    words = min(max((t.width(each, 11, bold=True) for each in found), default=0.0) + 8, 0.27 * width)
    spans = _spans(rows, label, width - label - words - 30)
    title, moment = f"Domains of {key}", f"now: step {frame.head.step}, t = {frame.head.time:g} s"
    sheet.word(0, 8, title, "ink", size=13, bold=True, room=width)
    if t.width(title, 13, bold=True) + t.width(moment, 10.5) + 24 < width and frame.nodes:
        sheet.word(width, 8, moment, "soft", size=10.5, align="right")
    of_one = " of one" if any(row.alike for row in rows) else ""
    heads = (f"nodes{of_one}", f"pods{of_one}", f"volumes reachable{of_one}")
    for (x, wide), head in zip(spans, heads, strict=True):
        sheet.word(x, 32, head, "soft", room=wide)
    verdict_x = sum(spans[2]) + 10
    if frame.verdicts.pod:
        sheet.word(verdict_x, 32, f"verdicts for {t.name_in_ref(frame.verdicts.pod)}", "soft", room=words)
    inks = {"chosen": "ok", "fits": "ok"}
    inks |= {p.name.partition(" (")[0]: p.family if p.family in f.FAMILIES else "node" for p in frame.verdicts.plugins}
    y = 46.0
    if not rows:
        sheet.word(0, y + 10, "No nodes. Apply some, or load a scenario.", "soft")
    forms = [_form([_kind(row, i) for row in rows], spans[i][1]) for i in range(3)]
    for n, row in enumerate(rows):
        loose = row.name in {NO_LABEL, NO_PLACE}
        edge = "soft" if loose and n and rows[n - 1].name != NO_LABEL else "line"
        sheet.rule(0, y, width, y, edge)
        verdicts = [f"{count} {verdict}" for verdict, count in row.verdicts]
        heights = (_height(len(_kind(row, i)), forms[i], spans[i][1]) for i in range(3))
        high = max(*heights, 17.0 * len(verdicts) + 6, 30)
        ink = "soft" if loose else "ink"
        sheet.word(0, y + 20, row.title, ink, size=12.5, bold=True, room=label - 12, name=True)
        if row.alike:
            sheet.word(0, y + 35, with_more(row.alike, label - 12, 10, 2), "soft", size=10, room=label - 12)
        for i, (x, wide) in enumerate(spans):
            _units(sheet, _kind(row, i), forms[i], x, y + 9, wide)
        for j, content in enumerate(verdicts):
            ink, bold = inks.get(row.verdicts[j][0], "ink"), row.verdicts[j][0] in {"chosen", "fits"}
            sheet.word(verdict_x, y + 20 + 17 * j, content, ink, bold=bold, room=words - 4)
        y += high + 16
    sheet.height = _legend(sheet, rows, y + 14, width)
    return sheet


def _spans(rows: Sequence[_Domain], label: float, room: float) -> list[tuple[float, float]]:
    """Return left end and width of the columns of nodes, pods and volumes; one in which nothing is, is narrow."""
    empty = [not any(_kind(row, i) for row in rows) for i in range(3)]
    narrow = min(110.0, room / 3)
    wide = (room - narrow * sum(empty)) / (3 - sum(empty)) if not all(empty) else room / 3
    spans, x = [], label
    for is_empty in empty:
        spans.append((x, narrow if is_empty else wide))
        x += spans[-1][1] + 10
    return spans


def reading(frame: f.Frame, key: str = ZONE_LABEL) -> str:
    """Return the domains as lines: counts, and names where there are few."""
    table = [["domain", "nodes", "pods", "volumes", "verdicts"]]
    for row in _domains(frame, key):
        verdicts = ", ".join(f"{count} {content}" for content, count in row.verdicts) or "not judged yet"
        names = f" ({', '.join(row.alike[:4])}{', …' * (len(row.alike) > 4)})" if row.alike else ""
        cells = (_count_words(row, i) for i in range(3))
        table += [[f"{row.title}{names}", *cells, verdicts if row.nodes else "–"]]
    return f"domains of {key}\n" + (t.columns(table) if len(table) > 1 else "No nodes. Apply some, or load a scenario.")


def _count_words(row: _Domain, i: int) -> str:
    items = _kind(row, i)
    if row.alike:
        return f"{len(items)} each"
    few = ", ".join(item.name for item in items)
    return f"{len(items)}: {few}" if 0 < len(items) <= MOST_CHIPS else str(len(items))


def _kind(row: _Domain, i: int) -> tuple[_Item, ...]:
    return (row.nodes, row.pods, row.volumes)[i]


def _domains(frame: f.Frame, key: str) -> list[_Domain]:
    """Return nodes, pods, volumes and verdicts by domain: by name, then without the key, then without a place."""
    home = {n.name: dict(n.topology).get(key, NO_LABEL) for n in frame.nodes}
    names = [*sorted(set(home.values()) - {NO_LABEL}), *[NO_LABEL] * (NO_LABEL in home.values()), NO_PLACE]
    nodes, pods, volumes = (defaultdict[str, list[_Item]](list) for _ in range(3))
    counts = defaultdict[str, Counter[str]](Counter)
    for node in frame.nodes:
        nodes[home[node.name]].append(_node(frame, node))
        verdict = _verdict(frame, node)
        if verdict:
            counts[home[node.name]][verdict] += 1
    for pod in sorted(frame.pods, key=lambda p: (not p.in_focus, p.namespace, p.name)):
        pods[home.get(pod.node or pod.assumed_node, NO_PLACE)].append(_pod(pod))
    for volume in frame.volumes:
        for name in sorted({home[n] for n in reached(frame, volume)}) or [NO_PLACE]:
            volumes[name].append(_volume(volume))
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
        like = row.name if loose else tuple(tuple(sorted(item.kind for item in _kind(row, i))) for i in range(3))
        groups.setdefault(like, []).append(row)
    return [evolve(alike[0], alike=tuple(row.name for row in alike)) if len(alike) > 1 else alike[0]
            for alike in groups.values()]  # fmt: skip


def reached(frame: f.Frame, volume: f.VolumeRow) -> list[str]:
    """Return the names of the nodes that reach a volume."""
    kind, _, rest = volume.reach.partition(":")
    if kind == "all":
        return [n.name for n in frame.nodes]
    if kind == "node":
        return [n.name for n in frame.nodes if n.name == rest]
    zones = set(rest.split(","))
    return [n.name for n in frame.nodes if any(k.endswith("/zone") and v in zones for k, v in n.topology)]


def _verdict(frame: f.Frame, node: f.NodeRow) -> str:
    if node.verdict == "rejected" and 0 <= node.first < len(frame.verdicts.plugins):
        return frame.verdicts.plugins[node.first].name.partition(" (")[0]
    return "" if node.verdict == "not judged" else node.verdict


def _node(frame: f.Frame, node: f.NodeRow) -> _Item:
    ref = node.ref
    if node.verdict == "chosen":
        return _Item(node.name, "★", "chosen", "ok", "ink", "paper", ref)
    if node.verdict == "fits":
        return _Item(node.name, "✓", "fits", "ok-pale", "ok", "ok", ref)
    if node.verdict == "rejected" and 0 <= node.first < len(frame.verdicts.plugins):
        plugin = frame.verdicts.plugins[node.first]
        family = plugin.family if plugin.family in f.FAMILIES else "node"
        return _Item(node.name, plugin.letter, plugin.name.partition(" (")[0], f"{family}-pale", family, family, ref)
    sign, content = ("·", "not asked") if node.verdict == "not asked" else ("○", "not judged yet")
    return _Item(node.name, sign, content, "panel", "line", "soft", ref)


def _pod(pod: f.PodRow) -> _Item:
    sign = POD_GLYPHS[pod.state]
    if not pod.node:
        return _Item(pod.name, sign, "assumed or waiting", "paper", "ink", "ink", pod.ref, dashed=True)
    if pod.in_focus:
        return _Item(pod.name, sign, "pod with claims, or judged", "ink", "ink", "paper", pod.ref)
    return _Item(pod.name, sign, "other pod", "track", "track", "ink", pod.ref)


def _volume(volume: f.VolumeRow) -> _Item:
    sign = VOLUME_GLYPHS[volume.state]
    if volume.state == "bound":
        return _Item(volume.name, sign, "bound", "storage-pale", "storage", "storage", volume.ref)
    loose = volume.state in {"available", "pending"}
    edge = "soft" if volume.state in {"released", "terminating"} else "storage"
    return _Item(volume.name, sign, volume.state, "paper", edge, edge, volume.ref, dashed=not loose)


def _form(cells: Sequence[Sequence[_Item]], wide: float) -> str:
    """Return the form of a column: "chip", "line" (one chip a line, for long names), "unit" (squares) or "bar"."""
    most = max((len(items) for items in cells), default=0)
    if most > MOST_CHIPS:
        return "unit" if most <= MOST_UNITS else "bar"
    longest = max((t.width(item.name, 10.5) for items in cells for item in items), default=0)
    return "line" if most <= MOST_CHIPS // 2 and longest > wide / 2 - 28 else "chip"


def _per_line(form: str, wide: float) -> int:
    return _CHIPS[form] if form in _CHIPS else max(1, int((wide + _GAP) // (_UNIT + _GAP / 2)))


def _height(count: int, form: str, wide: float) -> float:
    if form == "bar" or not count:
        return 24
    return ceil(count / _per_line(form, wide)) * ((_CHIP if form in _CHIPS else _UNIT - 2) + _GAP)


def _units(sheet: Sheet, items: Sequence[_Item], form: str, x: float, y: float, wide: float) -> None:
    if not items:
        sheet.word(x, y + 11, "none", "soft")
        return
    if form == "bar":
        _bar(sheet, items, x, y, wide)
        return
    per = _per_line(form, wide)
    size = (wide - _GAP * (per - 1)) / per if form in _CHIPS else _UNIT - 2
    for i, item in enumerate(items):
        left, top = x + (i % per) * (size + _GAP), y + (i // per) * ((_CHIP if form in _CHIPS else _UNIT - 2) + _GAP)
        thick = 2.5 if item.kind == "chosen" else 1.4
        dash = (4.0, 3.0) if item.dashed else ()
        tip = f"{item.name}: {item.kind}"
        sheet.rect(left, top, size, 20, item.fill, stroke=item.stroke, dash=dash, thick=thick, ref=item.ref, tip=tip)
        if form in _CHIPS:
            sheet.word(left + 11, top + 10.5, item.sign, item.ink, size=11, bold=True, align="center")
            sheet.word(left + 21, top + 10.5, item.name, item.ink, size=10.5, room=size - 25, name=True)
        else:
            sheet.word(left + size / 2, top + 10.5, item.sign, item.ink, size=10.5, bold=True, align="center")


def _bar(sheet: Sheet, items: Sequence[_Item], x: float, y: float, wide: float) -> None:
    """Draw a bar of counts, its parts in the order of their size, what fits first."""
    counts = Counter((i.kind, i.sign, i.fill, i.stroke, i.ink) for i in items)
    order = sorted(counts.items(), key=lambda p: (p[0][0] not in {"chosen", "fits"}, -p[1], p[0][0]))
    number = f"{len(items)}"
    room = wide - t.width(number, 11, bold=True) - 8
    for (kind, sign, fill, stroke, ink), count in order:
        part = room * count / len(items)
        sheet.rect(x, y, max(part - 1.5, 1), 20, fill, stroke=stroke, radius=2, tip=f"{count} {kind}")
        if part > 14:
            sheet.word(x + part / 2, y + 10.5, sign, ink, size=10.5, bold=True, align="center")
        x += part
    sheet.word(x + 5, y + 10.5, number, "ink", bold=True)


def _legend(sheet: Sheet, rows: Sequence[_Domain], top: float, width: float) -> float:
    seen: dict[str, _Item] = {}
    for i in range(3):
        for row in rows:
            for item in _kind(row, i):
                if item.kind not in {"chosen", "fits"} or i == 0:
                    seen.setdefault(item.kind, item)
    y = top
    named = [(f"volume {kind}" if kind in f.VOLUME_STATES else kind, item) for kind, item in seen.items()]
    places = t.in_lines((t.width(words, 10) + 40 for words, _ in named), 0.0, width, top, 20)
    for (words, item), (x, y) in zip(named, places, strict=True):
        dash = (3.0, 2.0) if item.dashed else ()
        sheet.rect(x, y - 7, 14, 14, item.fill, stroke=item.stroke, radius=2, dash=dash, thick=1.2)
        sheet.word(x + 7, y + 0.5, item.sign, item.ink, size=9, bold=True, align="center")
        sheet.word(x + 20, y, words, "soft", size=10)
    return y + 14
