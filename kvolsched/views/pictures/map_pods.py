"""Pods and claims on the cluster map: blocks with tickets, lines, chips and ghosts."""

from __future__ import annotations

from kvolsched.views.drawing import text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.drawing.svg import group, num, path, rect, ring, selectable, word
from kvolsched.views.frame import ClaimRow, PodRow
from kvolsched.views.pictures.states import CLAIM_GLYPHS, claim_words, pod_glyph, pod_words

HEAD, TICKET = 21, 34
ClaimRows = dict[str, ClaimRow]


def block_height(claims: int) -> float:
    """Return the height of a pod's block with that many tickets, px."""
    return HEAD + TICKET * claims + 3


def spoken(pod: PodRow) -> str:
    """Return a pod's name, state and node in words for a screen reader."""
    return f"pod {pod.name}, {pod_words(pod)}" + (f", on node {pod.node}" if pod.node else "")


def draw_block(scene: Scene, box: Box, pod: PodRow, claims: ClaimRows) -> None:
    """Draw a pod in focus as a dark block with its claims as tickets."""
    body = rect(0, 0, box.w, box.h, "k-pod", 5)
    if not pod.node:
        body += rect(1, 1, box.w - 2, box.h - 2, "k-pod k-dash", 4)
    named = min(text.width(pod.name, 11, bold=True) + 1, box.w * 0.5)  # names are cut last
    state = text.end(pod_words(pod), box.w - 40 - named, 10)
    room = box.w - 34 - text.width(state, 10) - 6
    body += word(11, 15, "k-on k-mid", pod_glyph(pod))
    body += word(23, 15, "k-on k-b", text.middle(pod.name, room, 11, bold=True))
    body += word(box.w - 9, 15, "k-c k-on k-end", state)
    for i, ref in enumerate(pod.claims):
        y = HEAD + i * TICKET
        body += _ticket(scene, ref, claims.get(ref), Box(5, y, box.w - 10, 31), notched=True)
        scene.boxes[ref] = Box(box.x + 5, box.y + y, box.w - 10, box.h - y - 5)
    scene.put(f"5:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=5)


def _shared(name: str, words: str, room: float, size: float) -> tuple[str, str]:
    """Return a pod's name (bold) and words about it (size 10), cut to one line; the words keep at least a third."""
    least = min(text.width(words, 10), room / 3)
    kept = text.middle(name, room - least, size, bold=True)
    return kept, text.end(words, room - text.width(kept, size, bold=True), 10)


def draw_claim(scene: Scene, box: Box, claim: ClaimRow) -> None:
    """Draw a claim that no pod in focus uses as a ticket of its own."""
    body = _ticket(scene, claim.ref, claim, Box(0, 0, box.w, 31), notched=False)
    scene.parts.append((f"5:{claim.ref}", group(f"5:{claim.ref}", box.x, box.y, body)))
    scene.boxes[claim.ref] = box


def _ticket(scene: Scene, ref: str, claim: ClaimRow | None, box: Box, *, notched: bool) -> str:
    """Draw one claim: sign, name, size, and in words what it waits for or has."""
    name = claim.name if claim else text.name_in_ref(ref)
    state = claim.state if claim else "pending"
    words = claim_words(claim) if claim else "no such claim"
    size = claim.size if claim else ""
    bound = " k-full" if state in ("bound", "selected node", "assumed") else ""
    dashed = {"assumed": " k-part", "bound": "", "selected node": ""}.get(state, " k-dot")
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, f"k-ticket{bound}{dashed}", 4)
    if notched:
        notch = num(box.h / 2 - 5)
        body += path(f"M-1 {notch}a5 5 0 0 1 0 10zM{num(box.w + 1)} {notch}a5 5 0 0 0 0 10z", "k-s-ink")
    body += word(14, 13.5, "k-t-storage k-mid", CLAIM_GLYPHS[state])
    room = box.w - 34 - text.width(size, 10) - 4
    body += word(23, 13, "k-b", text.middle(name, room, 11, bold=True)) + word(box.w - 9, 13, "k-w k-end", size)
    body += word(23, 25, "k-w", text.end(words, box.w - 34, 10))
    label = f"claim {name}, {size}, {words}".replace(", ,", ",")
    chosen = ref in scene.selected
    body += ring(box.w, box.h, 4) if chosen else ""
    return f'<g transform="translate({num(box.x)} {num(box.y)})"{selectable(ref, label, pressed=chosen)}>{body}</g>'


def draw_line(scene: Scene, box: Box, pod: PodRow, claims: ClaimRows) -> None:
    """Draw a placed pod in focus as one dark line: sign, name, and its volume."""
    volumes = [claims[ref].volume for ref in pod.claims if ref in claims and claims[ref].volume]
    more = f"⇄ {volumes[0]}" if len(volumes) == 1 else f"⇄ {len(volumes)} volumes" if volumes else ""
    name, more = _shared(pod.name, more, box.w - 34, 10)
    body = rect(0, 0, box.w, box.h, "k-pod", 4) + word(10, 12.5, "k-c k-on k-mid", pod_glyph(pod))
    body += word(19, 12.5, "k-c k-on k-b", name)
    body += word(box.w - 6, 12.5, "k-c k-on k-end", more)
    scene.put(f"5:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=4)
    for ref in pod.claims:
        scene.boxes.setdefault(ref, box)


def draw_waiting(scene: Scene, box: Box, pod: PodRow, claims: ClaimRows) -> None:
    """Draw a waiting pod in focus as one dark, dashed line: sign, name, and its first claim's sign."""
    first = claims.get(pod.claims[0]) if pod.claims else None
    words = pod_words(pod)
    more = words if words != "pending" else f"{CLAIM_GLYPHS[first.state]} {first.name}" if first else words
    name, more = _shared(pod.name, more, box.w - 36, 10)
    body = rect(0, 0, box.w, box.h, "k-pod", 4) + rect(1, 1, box.w - 2, box.h - 2, "k-pod k-dash", 3)
    body += word(11, 13.5, "k-c k-on k-mid", pod_glyph(pod))
    body += word(20, 13.5, "k-c k-on k-b", name)
    body += word(box.w - 8, 13.5, "k-c k-on k-end", more)
    scene.put(f"5:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=4)


def button_chip(scene: Scene, box: Box, pod: PodRow | None, shown: str, node: str) -> None:
    """Draw one of the other pods as a pale chip; without a pod, how many more there are."""
    body = rect(0.5, 0.5, box.w - 1, box.h - 1, "k-chip", 3) + word(6, 12.5, "k-c", shown)
    if pod is None:
        scene.put(f"4:more/{node}", box, body)
    else:
        scene.put(f"4:{pod.ref}", box, body, ref=pod.ref, label=spoken(pod), radius=3)


def ghost(scene: Scene, box: Box, pod: PodRow, node: str) -> None:
    """Draw a pod on the node where only the scheduler's cache, or a nomination, has it."""
    assumed = pod.assumed_node == node
    room = box.w - 34
    words = "assumed (cache)" if assumed else "nominated"
    if text.width(pod.name, 11, bold=True) + text.width(words, 10) > room:
        words = "cache" if assumed else "nom."
    name, words = _shared(pod.name, words, room, 11)
    line = "k-ghost" if assumed else "k-ghost k-dot"
    body = rect(0.75, 0.75, box.w - 1.5, box.h - 1.5, line, 4)
    body += word(11, 13, "k-mid", pod_glyph(pod, in_cache=True) if assumed else "○")
    body += word(21, 13, "k-b", name)
    body += word(box.w - 8, 13, "k-c k-end", words)
    scene.parts.append((f"4:ghost {pod.ref}", group(f"4:ghost {pod.ref}", box.x, box.y, body)))
