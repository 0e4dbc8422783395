"""The tray above the map: pods and claims that wait for a place, and the storage classes."""

from collections import Counter

from attrs import frozen

from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.frame import ClaimRow, ClassRow, Frame, PodRow
from kvolsched.views.pictures import map_pods
from kvolsched.views.pictures.states import waiting_state

TITLE, ROW_GAP, MOST_ROWS, NAME_W = 22.0, 5.0, 3, 120.0
WAITING, NONE_WAITS = "Waiting for a place", "Nothing is waiting."


@frozen
class _Item:
    """A pod or claim in the tray with its size, px."""

    w: float
    h: float
    block: PodRow | None = None
    line: PodRow | None = None
    chip: PodRow | None = None
    claim: ClaimRow | None = None


def tray_height(frame: Frame, width: float) -> float:
    """Return the height of the tray; it keeps room for one block when nothing waits."""
    content = sum(max(item.h for item in row) + ROW_GAP for row in _rows(frame, width))
    return TITLE + max(content, map_pods.BLOCK_H + ROW_GAP)


def draw_tray(scene: Scene, frame: Frame, box: Box) -> list[Box]:
    """Draw what waits on the left and the classes on the right; return the places of all words."""
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-panel", 8) + word(10, 15, "k-b", WAITING)
    rows = _rows(frame, box.w)
    if not rows:
        body += word(10, TITLE + 20, "k-q", NONE_WAITS)
    claims = {claim.ref: claim for claim in frame.claims}
    start = 10 + text.width(WAITING, 11, bold=True) + 12
    shown = _shown_classes(frame, box.w)
    title = _class_title(frame, len(shown))
    if title:
        body += word(box.w - 10, 15, "k-b k-end", title)
    right = text.width(title, 11, bold=True) + 24 if title else 10.0
    said = text.end(_left_out(frame, rows), box.w - start - right, 10)
    body += word(start, 15, "k-w", said)
    start += text.width(said, 10) + 14 if said else 0
    about = text.middle(about_words(frame), box.w - right - start - 10, 10)
    body += word(box.w - right - 10, 15, "k-w k-end", about) if text.width(about, 10) > 60 else ""
    scene.put("0:tray", box, body)
    y = TITLE
    for row in rows:
        x = 10.0
        for item in row:
            place = Box(box.x + x, box.y + y, item.w, item.h)
            if item.block:
                map_pods.draw_block(scene, place, item.block, claims, box.w - 20 - _class_room(frame, box.w))
            elif item.line:
                map_pods.draw_waiting(scene, place, item.line, claims)
            elif item.chip:
                map_pods.draw_chip(scene, place, item.chip, NAME_W)
            elif item.claim:
                map_pods.draw_claim(scene, place, item.claim)
            x += item.w + 6
        y += max(item.h for item in row) + ROW_GAP
    return [Box(box.x, box.y, box.w, 18), *_classes(scene, box, shown)]


def about_words(frame: Frame) -> str:
    """Return whose verdicts the nodes show, if several pods come into question: "verdicts: pass 2 of db-1"."""
    verdicts = frame.verdicts
    if sum(pod.in_focus or not pod.node for pod in frame.pods) < 2 or not verdicts.rows:
        return ""
    judged = f"pass {verdicts.number}" if verdicts.number else "trial"
    return f"verdicts: {judged} of {text.name_in_ref(verdicts.pod)}"


def _left_out(frame: Frame, rows: list[list[_Item]]) -> str:
    """Return how many that wait are not drawn, with their states: "+16 more: 12 gated, 4 unschedulable"."""
    items = [item for row in rows for item in row]
    drawn = {pod.ref for item in items for pod in (item.block, item.line, item.chip) if pod is not None}
    rest = [pod for pod in frame.pods if not pod.node and pod.ref not in drawn]
    claims = len(_orphans(frame)) - sum(item.claim is not None for item in items)
    if not rest and claims <= 0:
        return ""
    states = Counter(map(waiting_state, rest))
    parts = [f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: (-item[1], item[0]))]
    parts += [f"{claims} claims"] if claims > 0 else []
    return f"+{len(rest) + max(0, claims)} more: {', '.join(parts)}"


def _orphans(frame: Frame) -> list[ClaimRow]:
    """Return the claims that are not bound and that no pod in focus uses."""
    shown = {ref for pod in frame.pods if pod.in_focus for ref in pod.claims}
    return [claim for claim in frame.claims if claim.ref not in shown and claim.state != "bound"]


def _rows(frame: Frame, width: float) -> list[list[_Item]]:
    """Return what waits in rows beside the classes; blocks become lines where they would take more than two rows."""
    room = width - 20 - _class_room(frame, width)
    waiting = [pod for pod in frame.pods if not pod.node]
    blocks = [pod for pod in waiting if pod.in_focus]
    claims = {claim.ref: claim for claim in frame.claims}
    rows = _flow([_Item(*map_pods.block_size(pod, claims, room), block=pod) for pod in blocks], room)
    if len(rows) > 2:
        rows = _flow([_Item(map_pods.waiting_width(pod, room), 19, line=pod) for pod in blocks], room)
    items = [item for row in rows for item in row]
    items += [_Item(map_pods.claim_width(claim, room), map_pods.TICKET_H, claim=claim) for claim in _orphans(frame)]
    items += [_Item(min(room, map_pods.chip_width(pod, NAME_W)), map_pods.CHIP_H, chip=pod)
              for pod in waiting if not pod.in_focus]  # fmt: skip
    return _flow(items, room)[:MOST_ROWS]


def _flow(items: list[_Item], room: float) -> list[list[_Item]]:
    rows: list[list[_Item]] = []
    x = 0.0
    for item in items:
        if not rows or x + item.w > room:
            rows.append([])
            x = 0.0
        rows[-1].append(item)
        x += item.w + 6
    return rows


def _class_title(frame: Frame, shown: int) -> str:
    if not frame.classes:
        return ""
    left_out = f", {shown} of {len(frame.classes)}" if shown < len(frame.classes) else ""
    return "Storage class" + ("es" if len(frame.classes) > 1 else "") + left_out


def _shown_classes(frame: Frame, width: float) -> list[tuple[ClassRow, float]]:
    """Return the classes that have room in two fifths of the tray, with their widths."""
    shown: list[tuple[ClassRow, float]] = []
    room = max(0.4 * width, min(130.0, width / 2))
    for row in frame.classes:
        words = max(text.width(row.name, 11, bold=True), text.width(_class_words(row), 10))
        wide = min(words + 2, 250.0, room)
        if shown and wide > room - 14:
            break
        shown.append((row, wide))
        room -= wide + 14
    return shown


def _class_room(frame: Frame, width: float) -> float:
    shown = _shown_classes(frame, width)
    title = text.width(_class_title(frame, len(shown)), 11, bold=True)
    return max(title, sum(wide + 14 for _, wide in shown)) + 10 if shown else 0.0


def _class_words(row: ClassRow) -> str:
    """Return mode and topologies in words; values of one key without their common start."""
    words = row.topologies
    key, _, values = words.partition(" ")
    if words == "any":
        return row.mode
    if "," in values and " and " not in words and " or " not in words:
        names = values.split(", ")
        shorts = text.short_names(names)  # "-b" after "us-central1-a"
        tails = (f"{'-' * (shorts[name] != name)}{shorts[name]}" for name in names[1:])
        words = f"{key}s {names[0]}, {', '.join(tails)}"
    return f"{row.mode}, {words}"


def _classes(scene: Scene, box: Box, shown: list[tuple[ClassRow, float]]) -> list[Box]:
    places, right = [], box.right - 10
    for row, wide in reversed(shown):
        lines = text.wrap(_class_words(row), wide, 10, 2)
        place = Box(right - wide, box.y + TITLE - 1, wide, 16 + 12 * len(lines))
        body = rect(-3, 0, wide + 6, place.h, "k-hit", 4)
        body += word(wide, 12, "k-b k-end", text.middle(row.name, wide, 11, bold=True))
        body += "".join(word(wide, 24 + 12 * i, "k-w k-end", line) for i, line in enumerate(lines))
        label = f"storage class {row.name}, {row.mode}, {row.topologies}, provisioner {row.provisioner}"
        scene.put(f"3:{row.ref}", place, body, ref=row.ref, label=label, radius=4)
        places.append(place)
        right -= wide + 14
    return places


def draw_strip(scene: Scene, frame: Frame, width: float, tally: str) -> float:
    """Draw what waits as one line, for maps of many nodes; return its lower edge."""
    claims = {claim.ref: claim for claim in frame.claims}
    words = f"{tally.removesuffix(' fit')} of {len(frame.nodes)} nodes fit" if tally.endswith(" fit") else tally
    if about_words(frame) and width >= 700:
        words = f"{text.middle(text.name_in_ref(frame.verdicts.pod), 160, 11, bold=True)}: {words}"
    taken = text.width(words, 11, bold=True) + 20
    body = rect(0.5, 0.5, width - 1, 31, "k-panel", 8) + word(10, 20, "k-b", "Waiting")
    body += word(width - 10, 20, "k-b k-end", words)
    waiting = sorted((pod for pod in frame.pods if not pod.node), key=lambda pod: not pod.in_focus)
    x, room, shown = 62.0, width - taken - 44, 0
    for pod in waiting:
        wide = map_pods.waiting_width(pod, 200) if pod.in_focus else map_pods.chip_width(pod, NAME_W)
        if x + wide > room:
            break
        if pod.in_focus:
            map_pods.draw_waiting(scene, Box(x, 6, wide, 20), pod, claims)
        else:
            map_pods.draw_chip(scene, Box(x, 7.5, wide, map_pods.CHIP_H), pod, NAME_W)
        x, shown = x + wide + 6, shown + 1
    if not waiting:
        body += word(x, 20, "k-q", text.end(NONE_WAITS, width - taken - x, 11))
    elif shown < len(waiting):
        body += word(x + 2, 20, "k-q", f"+{len(waiting) - shown}")
    scene.put("0:tray", Box(0, 0, width, 32), body)
    return 32.0
