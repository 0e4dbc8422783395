"""Signs and words of states: the glyph, word and colour of each state of a node, pod, claim or volume; and domains.

Every picture takes its signs from here, so that a state looks alike wherever it stands, and a picture can draw no
state that a table below does not name. Solid is written to the API; dashed is assumed, planned or half done.
"""

from kvolsched.api.kinds.node import HOSTNAME_LABEL
from kvolsched.views.frame import ClaimRow, Frame, NodeRow, PluginHead, PodRow, VolumeRow

POD_GLYPHS = {
    "pending": "○", "gated": "‖", "assumed": "◐", "bound": "◉", "running": "●", "terminating": "⊖",
    "succeeded": "✓", "failed": "!",
}  # fmt: skip
CLAIM_GLYPHS = {
    "pending": "○", "waits for first consumer": "◷", "assumed": "◐", "selected node": "◎", "bound": "●",
    "lost": "!", "terminating": "⊖",
}  # fmt: skip
VOLUME_LEVEL = {"reserved": 0.5, "bound": 1.0, "released": 1.0, "terminating": 1.0}
CORDON = "node.kubernetes.io/unschedulable:"
UNKNOWN = PluginHead("a plugin", "?", "node")
NO_LABEL = "(no label)"
Domain = tuple[str, tuple[NodeRow, ...]]


def family(node: NodeRow, plugins: tuple[PluginHead, ...]) -> str:
    """Return the colour role of a node's verdict: ok, a plugin's family, or none."""
    if node.verdict in ("fits", "chosen"):
        return "ok"
    return plugin(node, plugins).family if node.verdict == "rejected" else "none"


def plugin(node: NodeRow, plugins: tuple[PluginHead, ...]) -> PluginHead:
    """Return the plugin that rejects the node first."""
    return plugins[node.first] if 0 <= node.first < len(plugins) else UNKNOWN


def verdict_glyph(node: NodeRow) -> str:
    """Return the sign of a node's verdict; empty when it was not judged."""
    if node.verdict == "rejected":
        return "✕" if node.resolvable else "⊘"
    return {"chosen": "★", "fits": "✓", "not asked": "·"}.get(node.verdict, "")


def reason(node: NodeRow) -> str:
    """Return a node's reason without its subject: events say "node(s) had ..." and "node(s) were ..."."""
    return node.reason.replace("node(s) were ", "").replace("node(s) ", "")


def node_facts(node: NodeRow) -> str:
    """Return in words what the API has against a node: not ready, cordoned, taints but that of the cordon."""
    facts = [] if node.ready else ["not ready"]
    facts += ["cordoned"] if node.unschedulable else []
    facts += [f"taint {taint}" for taint in node.taints if not (node.unschedulable and taint.startswith(CORDON))]
    return ", ".join(facts)


def pod_words(pod: PodRow) -> str:
    """Return a pod's state, or its part of the queue where that is more precise."""
    state = pod.state if pod.node else waiting_state(pod)
    if state == "gated" and pod.gates:
        return "gated: " + ", ".join(pod.gates)
    return f"{state} {pod.wait:.3g} s" if state == "back-off" and pod.wait else state


def waiting_state(pod: PodRow) -> str:
    """Return in a word what a pod without a node waits for: its gates, its part of the queue; else its state."""
    if pod.state not in ("pending", "gated", "assumed"):
        return pod.state
    return "gated" if pod.gates else pod.queue if pod.queue not in ("", "active") else "pending"


def pod_glyph(pod: PodRow, *, in_cache: bool = False) -> str:
    """Return a pod's sign by its state in the API, or in the scheduler's cache."""
    state = "pending" if pod.state == "assumed" and not in_cache else "gated" if pod.gates else pod.state
    return POD_GLYPHS[state]


def claim_words(claim: ClaimRow) -> str:
    """Return in words what a claim waits for or is bound to."""
    if claim.state == "bound" or (claim.volume and claim.state == "pending"):
        return f"⇄ {claim.volume}"
    if claim.state == "selected node":
        return f"selected-node {claim.selected_node}"
    if claim.state == "assumed":
        return f"assumed {claim.assumed_volume or 'for ' + claim.assumed_node} (cache)"
    return claim.state


def volume_words(volume: VolumeRow) -> str:
    """Return a volume's state in words."""
    return "reserved (claimRef)" if volume.state == "reserved" else volume.state


def selection_refs(frame: Frame, selection: str) -> frozenset[str]:
    """Return every ref that a selection concerns on a map: of a verdict its node, of a pod its claims and volumes."""
    if not selection:
        return frozenset()
    refs = {selection}
    if selection.startswith(("verdict/", "pool/")):  # a node's own pool has its name
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


def group_by(frame: Frame, key: str) -> tuple[Domain, ...]:
    """Group the nodes by a topology key, sorted by value; nodes without it stand last."""
    found: dict[str, list[NodeRow]] = {}
    for node in frame.nodes:
        value = node.name if key in (HOSTNAME_LABEL, "hostname") else dict(node.topology).get(key)
        found.setdefault(NO_LABEL if value is None else value, []).append(node)
    ordered = sorted(found, key=lambda value: (value == NO_LABEL, value))
    return tuple((value, tuple(found[value])) for value in ordered)


def key_word(key: str) -> str:
    """Return the last part of a topology key: "zone" of "topology.kubernetes.io/zone"."""
    return key.rpartition("/")[2]


def title(key: str, name: str) -> str:
    """Return a domain's title: "zone us-central1-a"."""
    return name if name == NO_LABEL else f"{key_word(key)} {name}"
