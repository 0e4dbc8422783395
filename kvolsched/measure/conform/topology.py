"""Family `topology`: the topology requirement sent to a CSI driver, and the node affinity of the created volume.

`controllers.provisioner.topology` computes both; a retry reuses what the first attempt read. The topology that the
recorded driver reports is input.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.volumes import Topology
from kvolsched.controllers.provisioner import topology
from kvolsched.controllers.provisioner.topology import (
    DriverTopology,
    FirstAttempt,
    NoTopologyYet,
    TopologyRequest,
    TopologyRequirement,
)
from kvolsched.rules.revision import Revision
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Key
from kvolsched.world.view import InformerCache

from .recording import Case

ASPECTS = ("requirement", "affinity", "error", "retry")
KINDS = ("Node", "CSINode", "StorageClass")


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return the requirement and the volume's affinity, or the error; the same for the retry under `retry`."""
    seen = InformerCache(KINDS)
    for plain in case["objects"]:
        _show(seen, plain)
    said, known = _attempt(case, seen, FirstAttempt())
    if "retry" in case:
        for plain in case["retry"].get("put", ()):
            _show(seen, plain)
        for gone in case["retry"].get("delete", ()):
            seen.apply(Key(gone["kind"], "", gone["name"]), None, None)
        said["retry"] = _attempt(case, seen, known)[0]
    return said


def _show(seen: InformerCache, plain: Mapping[str, Any]) -> None:
    obj = from_plain(plain)
    seen.apply(key_of(obj), None, obj)


def _attempt(case: Case, seen: InformerCache, known: FirstAttempt) -> tuple[dict[str, Any], FirstAttempt]:
    storage_class: StorageClass = seen.get("StorageClass", case["class"])
    asked = TopologyRequest(
        claim=case["claim"]["name"], allowed=storage_class.allowed_topologies, node=case["selectedNode"],
        strict=case["strict"], immediate=case["immediate"]
    )
    try:
        wanted, known = topology.accessibility(asked, DriverTopology(case["driver"], seen), known)
    except NoTopologyYet as why:
        return {"error": str(why)}, why.remembered
    requirement = None
    if wanted is not None:
        requirement = {"requisite": list(map(dict, wanted.requisite)), "preferred": list(map(dict, wanted.preferred))}
    return {"requirement": requirement, "affinity": _affinity(_accessible(case["accessible"], wanted))}, known


def _accessible(reported: str | list[dict[str, str]], wanted: TopologyRequirement | None) -> Sequence[Topology]:
    """Return the topologies that the recorded driver reports for its volume."""
    if isinstance(reported, str):
        if wanted is None:
            return ()
        return wanted.preferred[:1] if reported == "first-preferred" else wanted.requisite[:2]
    return [tuple(sorted(one.items())) for one in reported]


def _affinity(accessible: Sequence[Topology]) -> dict[str, Any] | None:
    """Return a volume's node affinity in the recordings' format: an empty list of terms is null."""
    affinity = topology.node_affinity_of(accessible)
    if affinity is None or affinity.required is None:
        return None
    terms = [to_plain(term) for term in affinity.required.node_selector_terms]
    return {"required": {"nodeSelectorTerms": terms or None}}
