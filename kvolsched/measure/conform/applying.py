"""Family `apply`: apply a manifest, change the object as another writer, apply a second manifest.

Calls `Cluster.apply` on a cluster that is not stepped; the API server has every admission plugin on.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import merge_patch
from kvolsched.cluster import Cluster
from kvolsched.core.results import ApplyRefused
from kvolsched.core.user_commands import LAST_APPLIED
from kvolsched.rules.revision import Revision
from kvolsched.world.apiserver import Write, key_of

from .api_server import without_server_values
from .recording import Case

ASPECTS = ("first", "second", "refused", "result")
OTHER = "another writer"


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return kubectl's output for both manifests, and the final object."""
    cluster = Cluster(attrs.evolve(revision, disabled=()))
    said: dict[str, Any] = {"first": repr(cluster.apply(case["first"]))}
    (key,) = (key for key in cluster.world.log.objects if key == key_of(from_plain(case["first"])))
    if case["other"] is not None:
        changed = from_plain(merge_patch(to_plain(cluster.world.log.objects[key]), case["other"]))
        cluster.world.perform(OTHER, [Write("update", key, changed)])
    try:
        said["second"] = repr(cluster.apply(case["second"]))
    except ApplyRefused as refused:
        said["refused"] = refused.lines[0].partition("\n")[0]
    said["result"] = _result(to_plain(cluster.world.log.objects[key]), case)
    return said


def expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded output (the first line of a refusal), and the final object in our converter's form."""
    recorded = dict(case["expect"])
    if "refused" in recorded:
        recorded["refused"] = recorded["refused"].partition("\n")[0]
    recorded["result"] = _result(to_plain(from_plain(recorded["result"])), case)
    return recorded


def _result(found: dict[str, Any], case: Case) -> dict[str, Any]:
    stored: dict[str, Any] = _without_uids(without_server_values(found, case["first"]))
    annotations = stored["metadata"].pop("annotations", {})
    kept = {key: text for key, text in annotations.items() if key != LAST_APPLIED}
    stored["metadata"] |= {"annotations": kept} if kept else {}
    return stored


def _without_uids(value: Any) -> Any:
    """Return data without uids: recorded references have none."""
    if isinstance(value, dict):
        return {key: _without_uids(item) for key, item in value.items() if key != "uid"}
    return [_without_uids(item) for item in value] if isinstance(value, list) else value
