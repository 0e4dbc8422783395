"""Kubectl's commands as functions of plain objects: each returns what is to be written; the cluster writes it.

This file only re-exports: `apply` has the merge of `kubectl apply`, `fields` what changes single fields (labels,
replicas, gates, cordons), `taints` the changes of taints, `drain` the choice of pods to evict.
"""

from __future__ import annotations

from .apply import LAST_APPLIED, apply_manifest, read_for_apply, skipped_objects, with_last_applied
from .drain import DrainedPods, choose_pods
from .fields import (
    annotation_patch,
    cordon,
    label_changes,
    label_patch,
    restart_patch,
    scale_patch,
    uncordon,
    without_gates,
)
from .taints import change_taints

__all__ = [
    "LAST_APPLIED", "DrainedPods", "annotation_patch", "apply_manifest", "change_taints", "choose_pods", "cordon",
    "label_changes", "label_patch",
    "read_for_apply", "restart_patch", "scale_patch", "skipped_objects", "uncordon",
    "with_last_applied", "without_gates",
]  # fmt: skip
