"""The tray above the map: pods and claims that wait for a place, and the storage classes."""

from __future__ import annotations

from attrs import frozen

from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.drawing.text import short_names
from kvolsched.views.frame import ClaimRow, ClassRow, Frame, PodRow
from kvolsched.views.pictures.map_pods import block_height, button_chip, draw_block, draw_claim, draw_waiting

TITLE, LINE, CLASS_H, MOST = 24, 24, 33, 12


@frozen
class _Item:
    """A pod or claim in the tray with its size, px."""

    w: float
    h: float
    block: PodRow | None = None
    line: PodRow | None = None
    chip: PodRow | None = None
    claim: ClaimRow | None = None


def tray_height(frame: Frame, width: float, block_w: float, *, lines: bool) -> float:
    """Return the height of the tray; it keeps room for one block when nothing waits."""
    rows = _rows(frame, width, block_w, lines=lines)
    focus = [pod for pod in frame.pods if pod.in_focus]
    least = block_height(max((len(pod.claims) for pod in focus), default=1))
    content = sum(max(item.h for item in row) + 6 for row in rows)
    classes = _class_columns(frame)[1] * (CLASS_H + 4)
    return TITLE + max(content, min(least + 6, 130), classes) + 4


def draw_tray(scene: Scene, frame: Frame, box: Box, block_w: float, *, lines: bool) -> None:
    """Draw what waits on the left and the classes on the right."""
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-panel", 8) + word(10, 16, "k-b", "Waiting for a place")
    rows = _rows(frame, box.w, block_w, lines=lines)
    if not rows:
        body += word(10, TITLE + 28, "k-q", "Nothing is waiting.")
    if frame.classes:
        body += word(box.w - 10, 16, "k-b k-end", "Storage classes")
    claims = {claim.ref: claim for claim in frame.claims}
    y, left = float(TITLE), _left_out(frame, rows)
    if left:
        body += word(10 + text.width("Waiting for a place", 11, bold=True) + 12, 16, "k-w", f"+{left} more")
    body += _about(frame, box.w, 10 + text.width(f"Waiting for a place{f' +{left} more' * bool(left)}", 11, bold=True))
    scene.put("0:tray", box, body)
    for row in rows:
        x = 10.0
        for item in row:
            place = Box(box.x + x, box.y + y, item.w, item.h)
            if item.block:
                draw_block(scene, place, item.block, claims)
            elif item.line:
                draw_waiting(scene, place, item.line, claims)
            elif item.chip:
                button_chip(scene, place, item.chip, text.middle(item.chip.name, 140, 10), "tray")
            elif item.claim:
                draw_claim(scene, place, item.claim)
            x += item.w + 8
        y += max(item.h for item in row) + 6
    _classes(scene, frame, box)


def about_words(frame: Frame) -> str:
    """Return whose verdicts the nodes show, if several pods come into question: "verdicts: pass 2 of db-1"."""
    verdicts = frame.verdicts
    if sum(pod.in_focus or not pod.node for pod in frame.pods) < 2 or not verdicts.rows:
        return ""
    judged = f"pass {verdicts.number}" if verdicts.number else "trial"
    return f"verdicts: {judged} of {text.name_in_ref(verdicts.pod)}"


def _about(frame: Frame, width: float, start: float) -> str:
    """Draw whose verdicts the nodes show, between the two titles."""
    right = text.width("Storage classes", 11, bold=True) + 10 if frame.classes else 0.0
    room = width - start - right - 40
    words = text.middle(about_words(frame), room, 10)
    return word(width - right - 20, 16, "k-w k-end", words) if words and room > 60 else ""


def _left_out(frame: Frame, rows: list[list[_Item]]) -> int:
    waiting = sum(not pod.node for pod in frame.pods) + len(_orphans(frame))
    return waiting - sum(len(row) for row in rows)


def _orphans(frame: Frame) -> list[ClaimRow]:
    """Return the claims that are not bound and that no pod in focus uses."""
    shown = {ref for pod in frame.pods if pod.in_focus for ref in pod.claims}
    return [claim for claim in frame.claims if claim.ref not in shown and claim.state != "bound"]


def _rows(frame: Frame, width: float, block_w: float, *, lines: bool) -> list[list[_Item]]:
    """Return what waits in rows beside the classes; many blocks become lines."""
    room = width - 20 - _class_columns(frame)[0]
    waiting = [pod for pod in frame.pods if not pod.node]
    blocks = [pod for pod in waiting if pod.in_focus]
    per_row = max(1, int((room + 8) // (block_w + 8)))
    compact = len(blocks) > (per_row if lines else 2 * per_row)
    items = [
        _Item(min(block_w, room), 19, line=pod) if compact
        else _Item(min(block_w, room), block_height(len(pod.claims)), block=pod)
        for pod in blocks[: MOST if compact else 99]
    ]  # fmt: skip
    items += [_Item(min(190, room), 31, claim=claim) for claim in _orphans(frame)[:MOST]]
    others = [pod for pod in waiting if not pod.in_focus]
    items += [_Item(text.width(text.middle(pod.name, 140, 10), 10) + 12, 18, chip=pod) for pod in others[:MOST]]
    rows: list[list[_Item]] = []
    x = 0.0
    for item in items:
        if not rows or x + item.w > room:
            rows.append([])
            x = 0.0
        rows[-1].append(item)
        x += item.w + 8
    return rows


def _class_columns(frame: Frame) -> tuple[float, int]:
    """Return the width that the classes take at the right, px, and their number of rows."""
    if not frame.classes:
        return 0.0, 0
    columns = 1 if len(frame.classes) <= 2 else 2
    wide = max(_class_width(row, 200.0 if columns > 1 else 280.0) for row in frame.classes)
    return columns * (wide + 6) + 10, min(3, -(-len(frame.classes) // columns))


def _class_width(row: ClassRow, most: float) -> float:
    words = max(text.width(row.name, 11, bold=True), text.width(_class_words(row), 9.5))
    return min(most, max(words + 18, 100.0))


def _class_words(row: ClassRow) -> str:
    """Return mode and topologies in words; values of one key without their common start."""
    words = row.topologies
    key, _, values = words.partition(" ")
    if "," in values and " and " not in words and " or " not in words:
        names = values.split(", ")
        words = f"{key}s {names[0]}, {', '.join(_tails(names))}"
    return f"{row.mode} · {words}"


def _tails(names: list[str]) -> list[str]:
    """Return all but the first name without their common start: "-b" after "us-central1-a"."""
    shorts = short_names(names)
    return [("-" if shorts[name] != name else "") + shorts[name] for name in names[1:]]


def _classes(scene: Scene, frame: Frame, box: Box) -> None:
    taken, rows = _class_columns(frame)
    columns = 1 if len(frame.classes) <= 2 else 2
    for i, row in enumerate(frame.classes[: columns * rows]):
        wide = (taken - 10) / columns - 6
        x, y = box.right - 10 - wide - (i % columns) * (wide + 6), box.y + TITLE + (i // columns) * (CLASS_H + 4)
        place = Box(x, y, wide, CLASS_H)
        body = rect(0.5, 0.5, wide - 1, CLASS_H - 1, "k-panel", 4)
        body += word(9, 14, "k-b", text.middle(row.name, wide - 16, 11, bold=True))
        body += word(9, 26, "k-z", text.end(_class_words(row), wide - 16, 9.5))
        label = f"storage class {row.name}, {row.mode}, {row.topologies}, provisioner {row.provisioner}"
        scene.put(f"3:{row.ref}", place, body, ref=row.ref, label=label, radius=4)


def draw_strip(scene: Scene, frame: Frame, width: float, tally: str) -> float:
    """Draw what waits as one line, for maps of many nodes; return its lower edge."""
    claims = {claim.ref: claim for claim in frame.claims}
    words = f"{tally.removesuffix(' fit')} of {len(frame.nodes)} nodes fit" if tally.endswith(" fit") else tally
    if about_words(frame) and width >= 700:
        words = f"{text.middle(text.name_in_ref(frame.verdicts.pod), 160, 11, bold=True)}: {words}"
    taken = text.width(words, 11, bold=True) + 20
    body = rect(0.5, 0.5, width - 1, 41, "k-panel", 8) + word(10, 25, "k-b", "Waiting")
    body += word(width - 10, 25, "k-b k-end", words)
    waiting = [pod for pod in frame.pods if not pod.node]
    x, room, shown = 66.0, width - taken - 50, 0
    for pod in waiting:
        chip = text.middle(pod.name, 120, 10)
        wide = 150.0 if pod.in_focus else text.width(chip, 10) + 12
        if x + wide > room:
            break
        if pod.in_focus:
            draw_waiting(scene, Box(x, 11, wide, 20), pod, claims)
        else:
            button_chip(scene, Box(x, 12, wide, 18), pod, chip, "tray")
        x, shown = x + wide + 6, shown + 1
    if not waiting:
        body += word(x, 25, "k-q", "Nothing is waiting.")
    elif shown < len(waiting):
        body += word(x + 2, 25, "k-q", f"+{len(waiting) - shown}")
    scene.put("0:tray", Box(0, 0, width, 42), body)
    return 42.0
