"""The visual language: which glyph, word, line and colour a state has.

Every view takes its signs from here, so that a state looks alike wherever it stands, and
a picture can draw no state that a table below does not name. Solid is written to the
API; dashed is assumed, planned or half done. A glyph always gets a `<text>` of its own:
one that the font lacks would change the face of the whole run.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field, frozen

from kvolsched.views.drawing import text
from kvolsched.views.frame import ClaimRow, Frame, NodeRow, PluginHead, PodRow, VolumeRow

POD_GLYPHS = {
    "pending": "○", "gated": "‖", "assumed": "◐", "bound": "◉", "running": "●", "terminating": "⊖",
    "succeeded": "✓", "failed": "!",
}  # fmt: skip
CLAIM_GLYPHS = {
    "pending": "○", "waits for first consumer": "◷", "assumed": "◐", "selected node": "◎", "bound": "●",
    "lost": "!", "terminating": "⊖",
}  # fmt: skip
VOLUME_GLYPHS = {
    "available": "○", "assumed": "◐", "reserved": "◒", "bound": "●", "released": "⊖", "failed": "!",
    "pending": "○", "terminating": "⊖",
}  # fmt: skip
VOLUME_LEVEL = {"reserved": 0.5, "bound": 1.0, "released": 1.0, "terminating": 1.0}
UNKNOWN = PluginHead("a plugin", "?", "node")


@frozen
class Box:
    """A rectangle of the picture, px."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Give the right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """Give the lower edge."""
        return self.y + self.h


@define
class Scene:
    """The picture in the making (it mutates): keyed groups, and the boxes that links end at."""

    selected: frozenset[str]
    hot: frozenset[str]
    parts: list[tuple[str, str]] = field(factory=list)
    boxes: dict[str, Box] = field(factory=dict)

    def put(
        self,
        key: str,
        box: Box,
        body: str,
        *,
        ref: str = "",
        label: str = "",
        radius: float = 7,
        quiet: bool = False,
    ) -> None:
        """Add a group at `box`; with a ref it can be selected, and unless quiet it shows that."""
        inner = halo(box.w, box.h, radius) + body if ref in self.hot and not quiet else body
        chosen = bool(ref) and ref in self.selected
        if chosen and not quiet:
            inner += ring(box.w, box.h, radius)
        self.parts.append((key, group(key, box.x, box.y, inner, ref=ref, label=label, pressed=chosen)))
        if ref:
            self.boxes.setdefault(ref, box)

    def svg(self, width: float, height: float, label: str) -> str:
        """Give the whole picture; siblings stand in the order of their keys, which begin with their layer."""
        body = "".join(part for _, part in sorted(self.parts))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{n(width)}" height="{n(height)}" '
            f'viewBox="0 0 {n(width)} {n(height)}" role="group" aria-label="{text.escape(label)}">'
            f"{body}</svg>"
        )


def n(value: float) -> str:
    """Write a coordinate in as few characters as a tenth of a px allows."""
    return f"{value:.1f}".removesuffix(".0")


def group(
    key: str, x: float, y: float, body: str, *, ref: str = "", label: str = "", pressed: bool = False
) -> str:
    """Give a keyed, movable group; its position is a style, so that a browser lets it glide."""
    extra = button(ref, label, pressed=pressed) if ref else ""
    return (
        f'<g data-key="{text.escape(key)}" style="transform:translate({n(x)}px,{n(y)}px)"{extra}>{body}</g>'
    )


def button(ref: str, label: str, *, pressed: bool = False) -> str:
    """Give the attributes of something that can be selected."""
    state = ' aria-pressed="true"' if pressed else ""
    return f' data-ref="{text.escape(ref)}" role="button" aria-label="{text.escape(label)}"{state}'


def word(x: float, y: float, classes: str, content: str) -> str:
    """Give one line of text, escaped."""
    name = f' class="{classes}"' if classes else ""
    return f'<text x="{n(x)}" y="{n(y)}"{name}>{text.escape(content)}</text>' if content else ""


def rect(x: float, y: float, w: float, h: float, classes: str, radius: float = 0) -> str:
    """Give one rectangle."""
    round_ = f' rx="{n(radius)}"' if radius else ""
    size = f'width="{n(max(w, 0))}" height="{n(max(h, 0))}"{round_}'
    return f'<rect class="{classes}" x="{n(x)}" y="{n(y)}" {size}/>'


def halo(w: float, h: float, radius: float) -> str:
    """Give the gold halo of what this step changed."""
    return rect(-2, -2, w + 4, h + 4, "k-glow", radius + 2) + rect(-2, -2, w + 4, h + 4, "k-hot", radius + 2)


def ring(w: float, h: float, radius: float) -> str:
    """Give the accent ring of what is selected, outside its edge."""
    return rect(-2.5, -2.5, w + 5, h + 5, "k-ring", radius + 2.5)


def family(node: NodeRow, plugins: tuple[PluginHead, ...]) -> str:
    """Give the colour role of a node's verdict: ok, a plugin's family, or none."""
    if node.verdict in ("fits", "chosen"):
        return "ok"
    return plugin(node, plugins).family if node.verdict == "rejected" else "none"


def plugin(node: NodeRow, plugins: tuple[PluginHead, ...]) -> PluginHead:
    """Give the plugin that rejects the node first."""
    return plugins[node.first] if 0 <= node.first < len(plugins) else UNKNOWN


def verdict_glyph(node: NodeRow) -> str:
    """Give the sign of a node's verdict; empty when it was not judged."""
    if node.verdict == "rejected":
        return "✕" if node.resolvable else "⊘"
    return {"chosen": "★", "fits": "✓", "not asked": "·"}.get(node.verdict, "")


def reason(node: NodeRow) -> str:
    """Return a node's reason without its subject: events say "node(s) had ..." and "node(s) were ..."."""
    return node.reason.replace("node(s) were ", "").replace("node(s) ", "")


def node_facts(node: NodeRow) -> str:
    """Give in words what the API says against a node."""
    facts = [] if node.ready else ["not ready"]
    facts += ["cordoned"] if node.unschedulable else []
    facts += [f"taint {taint}" for taint in node.taints]
    return ", ".join(facts)


def pod_words(pod: PodRow) -> str:
    """Give a pod's state, or its part of the queue once that says more."""
    if pod.state not in ("pending", "gated", "assumed") or pod.node:
        return pod.state
    if pod.gates:
        return "gated: " + ", ".join(pod.gates)
    if pod.queue == "back-off" and pod.wait:
        return f"back-off {pod.wait:.3g} s"
    return pod.queue if pod.queue not in ("", "active") else "pending"


def pod_glyph(pod: PodRow, *, here: bool = False) -> str:
    """Give a pod's sign; the block in the tray shows the API's truth, the ghost in the node the cache's."""
    state = "pending" if pod.state == "assumed" and not here else "gated" if pod.gates else pod.state
    return POD_GLYPHS[state]


def claim_words(claim: ClaimRow) -> str:
    """Give what a claim waits for or has."""
    if claim.state == "bound" or (claim.volume and claim.state == "pending"):
        return f"⇄ {claim.volume}"
    if claim.state == "selected node":
        return f"selected-node {claim.selected_node}"
    if claim.state == "assumed":
        return f"assumed {claim.assumed_volume or 'for ' + claim.assumed_node} (cache)"
    return claim.state


def volume_words(volume: VolumeRow) -> str:
    """Give a volume's state; reserved says by what."""
    return "reserved (claimRef)" if volume.state == "reserved" else volume.state


def selection_refs(frame: Frame, selection: str) -> frozenset[str]:
    """Give every ref that a selection concerns on a map: a verdict its node, a pod its claims and volumes."""
    if not selection:
        return frozenset()
    refs = {selection}
    if selection.startswith("verdict/"):
        refs.add("node/" + selection.split("/")[1])
    claims = {claim.ref: claim for claim in frame.claims}
    for pod in frame.pods:
        if pod.ref == selection:
            refs.update(pod.claims)
    for ref in tuple(refs):
        claim = claims.get(ref)
        if claim and claim.volume:
            refs.add(f"pv/{claim.volume}")
    if selection.startswith("pv/"):
        refs.update(v.claim for v in frame.volumes if v.ref == selection and v.claim)
    return frozenset(refs)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Give each name without the start that all share up to a separator: "a" of "us-central1-a"."""
    pool = list(dict.fromkeys(names))
    cut = 0
    if len(pool) > 1:
        low, high = min(pool), max(pool)
        while cut < min(len(low), len(high)) and low[cut] == high[cut]:
            cut += 1
        cut = max((low.rfind(mark, 0, cut) for mark in "-._/ "), default=-1) + 1
    return {name: name[cut:] or name for name in pool}
