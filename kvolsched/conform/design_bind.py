"""`design-bind`: passes of one or two pods through predicate, assume and bind queue, as 1.11's scheduler did them.

Where the recordings have `fresh` answers, those are wanted: a pass must not know what an earlier one decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from kvolsched.revision import Revision
from kvolsched.scheduler.loop.binding_flow import WORKER
from kvolsched.scheduler.plugins.volume_binding.releases import WITHOUT_GATE
from kvolsched.world.log import Key

from .bind import BindStage, brief, short
from .design_releases import as_in_1_11
from .recording import Case

ASPECTS = ("passes", "find", "others", "assume", "bind", "outcome")
GATE = "DynamicProvisioningScheduling"
ASSUMING = "AssumePodVolumes failed: "


def expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded passes, aspect by aspect."""
    return _by_aspect(case["expect"].get("fresh", case["expect"]["passes"]))


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return our passes, aspect by aspect."""
    gate_off = case.get("gates", {}).get(GATE) is False
    options = WITHOUT_GATE[GATE] if gate_off else {}
    stage = BindStage(as_in_1_11(attrs.evolve(revision, fine=True), only=("VolumeBinding",), **options), case)
    passes, once = [], dict(case)  # what happens after find or assume happens in the first pass that gets there
    for number in range(len(case["beforePass"]) + 1):
        if number:
            stage.changes(case["beforePass"][number - 1])
        if number and stage.cache.get(Key("Pod", "default", stage.turn)).spec.node_name:
            break
        passes.append(_pass(stage, once))
    return _by_aspect(passes)


def _by_aspect(passes: list[dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"passes": [[each["node"], each.get("pod")] for each in passes]}
    for aspect in ASPECTS[1:]:
        said[aspect] = {f"pass {number}": each[aspect] for number, each in enumerate(passes) if aspect in each}
    return said


def _pass(stage: BindStage, case: dict[str, Any]) -> dict[str, Any]:
    """Play one pass."""
    said: dict[str, Any] = {"node": stage.node}
    if case.get("others"):
        said["pod"] = stage.turn
    nodes = sorted(key.name for key in stage.sim.log.objects if key.kind == "Node")
    said["find"] = stage.found(stage.node)
    said["others"] = {node: stage.found(node) for node in nodes if node != stage.node}
    stage.since()
    taken = stage.alone()
    bound = queued = False
    if stage.one_pass():
        said["assume"], queued, bound = _assumed(stage, case)
    if queued:
        stage.writes.clear()
        stage.act(WORKER, stage.pod)
        said["bind"] = {"writes": brief(stage.writes), "caches": short(stage.caches())}
        failed = [event["message"] for event in stage.events if event["type"] == "Warning"]
        if failed:
            said["bind"]["error"] = failed[0]
    elif bound:
        stage.act(WORKER, stage.pod)
    said["outcome"] = _outcome(stage, queued=queued, bound=bound)
    stage.together(taken)
    return said


def _assumed(stage: BindStage, case: dict[str, Any]) -> tuple[dict[str, Any], bool, bool]:
    """Play the second half of a pass; return what was assumed, and whether the pod is queued or all is bound."""
    reserving = bool(stage.note("cycle", stage.pod).found.static)
    stage.changes(case.pop("afterFind", ()))
    stage.assume()
    binding = stage.note("binding", stage.pod)
    queued, bound = binding is not None and binding.stage == "write", binding is not None and binding.stage == "bind"
    said: dict[str, Any] = {"allBound": bound, "bindingRequired": queued, "caches": short(stage.caches())}
    error = next((event["message"] for event in stage.events if event["message"].startswith(ASSUMING)), "")
    if error:
        said |= {"error": error.removeprefix(ASSUMING), "bindingRequired": reserving}
    if not bound:
        said["nodeName"] = stage.node
    stage.changes(case.pop("afterAssume", ()))
    return said, queued, bound


def _outcome(stage: BindStage, *, queued: bool, bound: bool) -> dict[str, Any]:
    """Return what became of the pod."""
    said: dict[str, Any] = {"assumed": bound, "bindQueue": queued, "requeued": not bound}
    said["events"] = [{word: event[word] for word in ("type", "reason", "message")} for event in stage.events]
    pod = stage.sim.log.objects.get(Key("Pod", "default", stage.turn))
    condition = pod.status.condition("PodScheduled") if pod is not None else None
    if not bound and condition is not None:
        words = {"message": condition.message} if condition.message else {}
        said["condition"] = {"reason": condition.reason, **words}
    return said
