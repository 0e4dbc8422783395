"""Kubectl's commands as functions of plain objects: each returns what is to be written; the cluster writes it.

This file only re-exports: `apply` has the merge of `kubectl apply`, `fields` what changes single fields (labels,
replicas, gates), `taints` the changes of taints, `drain` the choice of pods to evict.
"""

from .apply import LAST_APPLIED, apply_manifest, read_for_apply, skipped_objects, with_last_applied
from .drain import DrainedPods, DrainRefused, choose_pods, not_drained
from .fields import (
    ActRefused,
    TextChanges,
    check_replicas,
    restart_patch,
    scale_patch,
    text_changes,
    texts_patch,
    without_gates,
)
from .taints import change_taints

__all__ = [
    "LAST_APPLIED", "ActRefused", "DrainRefused", "DrainedPods", "TextChanges", "apply_manifest",
    "change_taints", "check_replicas", "choose_pods", "not_drained", "read_for_apply", "restart_patch", "scale_patch",
    "skipped_objects", "text_changes", "texts_patch", "with_last_applied", "without_gates",
]  # fmt: skip
