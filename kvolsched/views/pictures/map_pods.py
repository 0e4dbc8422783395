"""Pods and claims on the cluster map: blocks with tickets, lines, chips and ghosts."""

from math import ceil

from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import group, num, rect, ring, selectable, word
from kvolsched.views.frame import ClaimRow, PodRow
from kvolsched.views.pictures.states import CLAIM_GLYPHS, claim_words, pod_glyph, pod_words

BLOCK_H, TICKET_H, LINE_H, CHIP_H = 33.0, 27.0, 16.0, 17.0
"""Heights: a pod's block with one row of tickets, a ticket, a placed pod's line, a chip; px."""
TICKET_GAP = 3.0
ClaimRows = dict[str, ClaimRow]


def spoken(pod: PodRow) -> str:
    """Return a pod's name, state and node in words for a screen reader."""
    return f"pod {pod.name}, {pod_words(pod)}" + (f", on node {pod.node}" if pod.node else "")


def block_size(pod: PodRow, claims: ClaimRows, room: float) -> tuple[float, float]:
    """Return width and height of a pod's block, at most `room` wide: as wide as its words, tickets in rows."""
    if not pod.claims:
        return _pod_width(pod, room), BLOCK_H
    wide, per_row = _tickets(pod, claims, room)
    rows = ceil(len(pod.claims) / per_row)
    full = _pod_width(pod, room) + min(per_row, len(pod.claims)) * (wide + TICKET_GAP)
    return min(room, full), BLOCK_H + (rows - 1) * (TICKET_H + TICKET_GAP)


def _pod_width(pod: PodRow, room: float) -> float:
    words = max(text.width(pod.name, 11, bold=True), text.width(pod_words(pod), 10))
    return min(max(words + 34, 96.0), 190.0, room / 2 if pod.claims else room)


def _tickets(pod: PodRow, claims: ClaimRows, room: float) -> tuple[float, int]:
    """Return the width of a ticket, and how many stand beside each other."""
    wanted = max(_ticket_width(ref, claims.get(ref)) for ref in pod.claims)
    left = room - _pod_width(pod, room) - TICKET_GAP
    per_row = max(1, int((left + TICKET_GAP) // (wanted + TICKET_GAP)))
    return min(wanted, left), per_row


def _ticket_width(ref: str, claim: ClaimRow | None) -> float:
    name, size, words = _claim_texts(ref, claim)
    head = text.width(name, 11, bold=True) + text.width(size, 10) + 12
    return min(max(head, text.width(words, 10)) + 34, 260.0)


def _claim_texts(ref: str, claim: ClaimRow | None) -> tuple[str, str, str]:
    if claim is None:
        return text.name_in_ref(ref), "", "no such claim"
    return claim.name, claim.size, claim_words(claim)


def draw_block(scene: Scene, box: Box, pod: PodRow, claims: ClaimRows, room: float) -> None:
    """Draw a pod in focus as a dark block: sign, name, state in words, and its claims as tickets beside it.

    `room` is that for which `block_size` gave the size of the box.
    """
    body = rect(0, 0, box.w, box.h, "k-pod", 5)
    if not pod.node:
        body += rect(1, 1, box.w - 2, box.h - 2, "k-pod k-dash", 4)
    left = _pod_width(pod, room) if pod.claims else box.w
    body += word(14, 20.5, "k-on k-mid", pod_glyph(pod))
    body += word(26, 14.5, "k-on k-b", text.middle(pod.name, left - 32, 11, bold=True))
    body += word(26, 26.5, "k-c k-on", text.end(pod_words(pod), left - 32, 10))
    if pod.claims:
        wide, per_row = _tickets(pod, claims, room)
        for i, ref in enumerate(pod.claims):
            x = left + (i % per_row) * (wide + TICKET_GAP)
            y = 3 + (i // per_row) * (TICKET_H + TICKET_GAP)
            body += _ticket(scene, ref, claims.get(ref), Box(x, y, wide, TICKET_H), " k-inlay")
            scene.boxes[ref] = Box(box.x + x, box.y + y, wide, box.h - y)
    scene.put(f"5:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=5)


def draw_claim(scene: Scene, box: Box, claim: ClaimRow) -> None:
    """Draw a claim that no pod in focus uses as a ticket of its own."""
    body = _ticket(scene, claim.ref, claim, Box(0, 0, box.w, TICKET_H))
    scene.parts.append((f"5:{claim.ref}", group(f"5:{claim.ref}", box.x, box.y, body)))
    scene.boxes[claim.ref] = box


def claim_width(claim: ClaimRow, room: float) -> float:
    """Return the width of a claim's own ticket."""
    return min(room, _ticket_width(claim.ref, claim))


def _ticket(scene: Scene, ref: str, claim: ClaimRow | None, box: Box, ink: str = "") -> str:
    """Draw one claim: sign, name, size, and in words what it waits for or has; `ink`: a class, on a pod's block."""
    name, size, words = _claim_texts(ref, claim)
    state = claim.state if claim else "pending"
    bound = " k-full" if state in ("bound", "selected node", "assumed") else ""
    dashed = {"assumed": " k-part", "bound": "", "selected node": ""}.get(state, " k-dot")
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, f"k-ticket{bound}{dashed}", 4)
    body += word(13, 17.5, f"k-t-storage k-mid{ink}", CLAIM_GLYPHS[state])
    size = size if text.width(size, 10) < box.w / 3 else ""
    room = box.w - 32 - (text.width(size, 10) + 6 if size else 0)
    body += word(23, 12, f"k-b{ink}", text.middle(name, room, 11, bold=True))
    body += word(box.w - 7, 12, f"k-w k-end{ink}", size)
    body += word(23, 23, f"k-w{ink}", text.end(words, box.w - 30, 10))
    label = f"claim {name}, {size}, {words}".replace(", ,", ",")
    chosen = ref in scene.selected
    body += ring(box.w, box.h, 4) if chosen else ""
    return f'<g transform="translate({num(box.x)} {num(box.y)})"{selectable(ref, label, pressed=chosen)}>{body}</g>'


def _shared(name: str, words: str, room: float, size: float) -> tuple[str, str]:
    """Return a pod's name (bold) and words about it (size 10), cut to one line; the words keep at least a third."""
    least = min(text.width(words, 10), room / 3)
    kept = text.middle(name, room - least, size, bold=True)
    return kept, text.end(words, room - text.width(kept, size, bold=True), 10)


def draw_line(scene: Scene, box: Box, pod: PodRow, claims: ClaimRows) -> None:
    """Draw a placed pod in focus as one dark line: sign, name, state and its volume."""
    volumes = [claims[ref].volume for ref in pod.claims if ref in claims and claims[ref].volume]
    more = f"⇄ {volumes[0]}" if len(volumes) == 1 else f"⇄ {len(volumes)} volumes" if volumes else pod_words(pod)
    told = f"{pod_words(pod)} {more}" if volumes else more
    whole = text.width(pod.name, 10, bold=True) + text.width(told, 10) <= box.w - 34
    name, more = _shared(pod.name, told if whole else more, box.w - 34, 10)
    body = rect(0, 0, box.w, box.h, "k-pod", 4) + word(10, 11.5, "k-c k-on k-mid", pod_glyph(pod))
    body += word(19, 11.5, "k-c k-on k-b", name)
    body += word(box.w - 6, 11.5, "k-c k-on k-end", more)
    scene.put(f"5:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=4)
    for ref in pod.claims:
        scene.boxes.setdefault(ref, box)


def waiting_width(pod: PodRow, room: float) -> float:
    """Return the width of a waiting pod's line."""
    return min(room, text.width(pod.name, 10, bold=True) + text.width(pod_words(pod), 10) + 44)


def draw_waiting(scene: Scene, box: Box, pod: PodRow, claims: ClaimRows) -> None:
    """Draw a waiting pod in focus as one dark, dashed line: sign, name, and its state in words."""
    name, words = _shared(pod.name, pod_words(pod), box.w - 36, 10)
    body = rect(0, 0, box.w, box.h, "k-pod", 4) + rect(1, 1, box.w - 2, box.h - 2, "k-pod k-dash", 3)
    base = num(box.h / 2 + 3.5)
    body += word(11, float(base), "k-c k-on k-mid", pod_glyph(pod))
    body += word(20, float(base), "k-c k-on k-b", name)
    body += word(box.w - 8, float(base), "k-c k-on k-end", words)
    scene.put(f"5:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=4)


def chip_words(pod: PodRow, most: float) -> tuple[str, str]:
    """Return a chip's name, and for a pod that waits its state in words."""
    return text.middle(pod.name, most, 10), "" if pod.node else text.end(pod_words(pod), most, 10)


def chip_width(pod: PodRow, most: float) -> float:
    """Return the width of a pod's chip whose name takes at most `most` px."""
    name, words = chip_words(pod, most)
    return text.width(name, 10) + 12 + (text.width(words, 10) + 5 if words else 0)


def draw_chip(scene: Scene, box: Box, pod: PodRow, most: float) -> None:
    """Draw one of the other pods as a pale chip; one that waits has its state in words."""
    name, words = chip_words(pod, most)
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-chip" if pod.node else "k-chip k-dot", 3)
    body += word(6, 12, "k-c", name) + word(box.w - 6, 12, "k-w k-end", words)
    scene.put(f"4:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=3)


def count_chip(scene: Scene, box: Box, shown: str, node: str) -> None:
    """Draw how many more pods a node has."""
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-chip", 3) + word(6, 12, "k-c", shown)
    scene.put(f"4:more/{node}", box, body)


def ghost(scene: Scene, box: Box, pod: PodRow, node: str) -> None:
    """Draw a pod on a node where the API does not have it: assumed in the cache, nominated, or only chosen."""
    assumed, nominated = pod.assumed_node == node, pod.nominated_node == node
    room = box.w - 34
    words = ["assumed (cache)", "cache"] if assumed else ["nominated", "nom."] if nominated else [
        "would go here: not written, not assumed", "would go here", "here",
    ]  # fmt: skip
    named = text.width(pod.name, 10, bold=True)
    shown = next((w for w in words if named + text.width(w, 10) + 6 <= room), words[-1])
    name, shown = _shared(pod.name, shown, room, 10)
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, "k-ghost" if assumed else "k-ghost k-dot", 4)
    body += word(11, 11.5, "k-c k-mid", pod_glyph(pod, in_cache=True) if assumed else "○")
    body += word(21, 11.5, "k-c k-b", name)
    body += word(box.w - 8, 11.5, "k-c k-end", shown)
    scene.parts.append((f"4:ghost {pod.ref}", group(f"4:ghost {pod.ref}", box.x, box.y, body)))
