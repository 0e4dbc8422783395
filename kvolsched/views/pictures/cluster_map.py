"""The cluster map: where everything is, what the scheduler believes, which claims and volumes are bound.

This module groups the nodes by a topology key, chooses between cards and groups, and holds the reading in words.
"""

from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.api.words import amount, counted
from kvolsched.views.drawing import text
from kvolsched.views.drawing.svg import picture, word
from kvolsched.views.frame import ClaimRow, Frame, NodeRow, PodRow, VolumeRow
from kvolsched.views.pictures import states as s
from kvolsched.views.pictures.map_cards import draw_cards, volume_places
from kvolsched.views.pictures.map_groups import draw_groups
from kvolsched.views.pictures.map_tiles import tally_words
from kvolsched.views.pictures.map_tray import about_words
from kvolsched.views.pictures.states import group_by, key_word, title

MOST_CARDS, MOST_IN_DOMAIN = 24, 8
"""Up to so many nodes, and so many a domain, each is a card; of more, those with the same verdict share one."""
EMPTY = "No nodes. Apply some, or load a scenario."


def draw(frame: Frame, width: float, selection: str = "", key: str = ZONE_LABEL) -> str:
    """Draw the map as SVG, `width` px wide, with the nodes grouped by the topology `key`."""
    if not frame.nodes:
        return picture(width, 60, word(10, 34, "k-q", EMPTY), "cluster map")
    domains = group_by(frame, key)
    cards = len(frame.nodes) <= MOST_CARDS and all(len(nodes) <= MOST_IN_DOMAIN for _, nodes in domains)
    return (draw_cards if cards else draw_groups)(frame, width, selection, domains, key_word(key))


def reading(frame: Frame, key: str = ZONE_LABEL) -> str:
    """Return the map as lines: what waits, then each domain with its nodes, pods and volumes."""
    if not frame.nodes:
        return EMPTY
    domains = group_by(frame, key)
    claims = {claim.ref: claim for claim in frame.claims}
    lines = [*_waiting_lines(frame, claims), *filter(None, [about_words(frame)])]
    if len(frame.nodes) > MOST_CARDS:
        for name, nodes in domains:
            lines.append(f"{title(key, name)}  {counted(len(nodes), 'node')}  {tally_words(frame, nodes)}")
        return "\n".join(lines)
    places = volume_places(frame, domains)
    for name, nodes in domains:
        lines.append(title(key, name))
        for node in nodes:
            lines.append(_node_line(frame, node))
            lines += [f"    {_pod_line(pod, claims)}" for pod in frame.pods if pod.node == node.name]
            lines += [
                f"    pod {pod.name} {'assumed (cache)' if pod.assumed_node == node.name else 'nominated'}"
                for pod in frame.pods if not pod.node and node.name in (pod.assumed_node, pod.nominated_node)
            ]  # fmt: skip
        lines += [f"  {_volume_line(volume)}" for volume in places.get(name, ())]
    lines += [f"{_volume_line(volume)}, reach {volume.reach}" for volume in places.get("", ())]
    return "\n".join(lines)


def _waiting_lines(frame: Frame, claims: dict[str, ClaimRow]) -> list[str]:
    lines, shown = [], {ref for pod in frame.pods for ref in pod.claims}
    for pod in frame.pods:
        if not pod.node:
            lines.append(f"pod {_full(pod)} {s.pod_words(pod).capitalize()}")
            lines += [f"  {_claim_line(claims[ref])}" for ref in pod.claims if ref in claims]
    lines += [_claim_line(claim) for claim in frame.claims if claim.ref not in shown and claim.state != "bound"]
    if not lines:
        return ["waiting  nothing"]
    return [f"{'waiting' if i == 0 else '':7}  {line}" for i, line in enumerate(lines)]


def _full(pod: PodRow) -> str:
    return text.name_in_ref(pod.ref)


def _claim_line(claim: ClaimRow) -> str:
    return f"claim {claim.name} {claim.size} {claim.class_name or 'no class'}: {s.claim_words(claim)}"


def _node_line(frame: Frame, node: NodeRow) -> str:
    parts = [
        f"  node {node.name}", f"cpu {node.cpu_used}m/{node.cpu}m",
        f"mem {amount(node.memory_used)}/{amount(node.memory)}",
    ]
    words = {"chosen": "✓ fits, chosen", "fits": "✓ fits", "not judged": "not judged yet", "not asked": "· not asked"}
    if node.verdict == "rejected":
        parts.append(f"{s.verdict_glyph(node)} {s.plugin(node, frame.verdicts.plugins).name}: {s.reason(node)}")
    else:
        parts.append(words[node.verdict])
    if facts := s.node_facts(node):
        parts.append(f"({facts})")
    return "  ".join(parts)


def _pod_line(pod: PodRow, claims: dict[str, ClaimRow]) -> str:
    words = [s.claim_words(claims[ref]) for ref in pod.claims if ref in claims]
    return f"pod {_full(pod)} {pod.state.capitalize()}" + (f"  {', '.join(words)}" if words else "")


def _volume_line(volume: VolumeRow) -> str:
    claim = f", claimRef {text.name_in_ref(volume.claim)}" if volume.claim else ""
    return f"volume {volume.name} {volume.size} {volume.class_name or 'no class'}: {s.volume_words(volume)}{claim}"
