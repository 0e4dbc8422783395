"""The nearest edit alone, judged but not tried on a fork: what a picture of `why` can say at once.

The search begins when a picture is drawn, on the objects of the moment in which `why` was asked.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs

from kvolsched.core.acts import ClusterActs
from kvolsched.questions.why import Why, Whys, why, why_all
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.world.apiserver import moment
from kvolsched.world.log import Key

from ...core.seen_by_scheduler import kept_snapshot, objects_seen_by_scheduler
from ...scheduler.columns.hypothetical_snapshot import KeptSnapshot
from . import pods
from .edit import joined_words
from .edit_search import search
from .trial_cluster import TrialCluster


def why_with_edit(cluster: ClusterActs, pod: str) -> Why:
    """Say why a pod is pending; the picture names the nearest edit, too."""
    answer = why(cluster, pod)
    return attrs.evolve(answer, nearest_edit=_finder(cluster))


def why_all_with_edits(cluster: ClusterActs, most: int) -> Whys:
    """Say why each pod without a node is pending; the picture names the nearest edit of each cause, too."""
    return attrs.evolve(why_all(cluster, most), nearest_edit=_finder(cluster))


def nearest_edit(objects: Mapping[Key, Any], profile: Profile, kept: KeptSnapshot, at: str, pod: str) -> str:
    """Return the first edits after which a pending pod fits, in words; "" if the catalogue has none.

    Args:
        objects: the objects as the scheduler sees them.
        profile: the scheduler's plugins.
        kept: the snapshot that is kept of a cluster.
        at: the time at which the pod is judged.
        pod: `namespace/name`.
    """
    trial = TrialCluster(objects, Key("Pod", *pod.split("/")), profile, kept.of(objects, at))
    before = pods.let_it_be_tried(trial)
    with trial.with_changes([change for edit in before for change in edit.changes]):
        found = () if trial.judge().any_feasible else search(trial).found[:1]
    edits = [*before, *(edit for fix in found for edit in fix.edits)]
    if gates := trial.pod.spec.scheduling_gates:
        edits[0] = pods.wait_for_gates(gate.name for gate in gates)
    return joined_words(edits)


def _finder(cluster: ClusterActs) -> Any:
    objects, profile, at = objects_seen_by_scheduler(cluster), cluster.revision.profile, moment(cluster.world.log)
    return partial(nearest_edit, objects, profile, kept_snapshot(cluster), at)
