"""Family `design-bind`: passes of one or two pods through predicate, assume and bind queue of the 1.11 scheduler.

Where a recording has `fresh` answers, those are expected: a pass must not depend on an earlier decision.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from kvolsched.rules.revision import Revision
from kvolsched.scheduler.loop.binding_flow import WORKER
from kvolsched.scheduler.plugins.volume_binding.releases import WITHOUT_GATE
from kvolsched.world.log import Key

from .bind import RecordedBinding, recorded_cache_fields, recorded_write_fields
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
    options = WITHOUT_GATE[GATE] if case.get("gates", {}).get(GATE) is False else {}
    fine = attrs.evolve(revision, flow=attrs.evolve(revision.flow, fine=True))
    stage = RecordedBinding(as_in_1_11(fine, only=("VolumeBinding",), **options), case)
    passes, once = [], dict(case)  # changes after find or assume happen once, in the first pass that gets there
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


def _pass(stage: RecordedBinding, case: dict[str, Any]) -> dict[str, Any]:
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
        said["bind"] = {"writes": recorded_write_fields(stage.writes), "caches": recorded_cache_fields(stage.caches())}
        if failed := [event["message"] for event in stage.events if event["type"] == "Warning"]:
            said["bind"]["error"] = failed[0]
    elif bound:
        stage.act(WORKER, stage.pod)
    said["outcome"] = _outcome(stage, queued=queued, bound=bound)
    stage.together(taken)
    return said


def _assumed(stage: RecordedBinding, case: dict[str, Any]) -> tuple[dict[str, Any], bool, bool]:
    """Replay Reserve; return the assumed objects, and whether the pod is queued for binding or fully bound."""
    reserving = bool(stage.note("cycle", stage.pod).found.static)
    stage.changes(case.pop("afterFind", ()))
    stage.assume()
    binding = stage.note("binding", stage.pod)
    queued, bound = binding is not None and binding.stage == "write", binding is not None and binding.stage == "bind"
    caches = recorded_cache_fields(stage.caches())
    said: dict[str, Any] = {"allBound": bound, "bindingRequired": queued, "caches": caches}
    if error := next((event["message"] for event in stage.events if event["message"].startswith(ASSUMING)), ""):
        said |= {"error": error.removeprefix(ASSUMING), "bindingRequired": reserving}
    if not bound:
        said["nodeName"] = stage.node
    stage.changes(case.pop("afterAssume", ()))
    return said, queued, bound


def _outcome(stage: RecordedBinding, *, queued: bool, bound: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"assumed": bound, "bindQueue": queued, "requeued": not bound}
    said["events"] = [{word: event[word] for word in ("type", "reason", "message")} for event in stage.events]
    pod = stage.sim.log.objects.get(Key("Pod", "default", stage.turn))
    condition = pod.status.condition("PodScheduled") if pod is not None else None
    if not bound and condition is not None:
        words = {"message": condition.message} if condition.message else {}
        said["condition"] = {"reason": condition.reason, **words}
    return said
