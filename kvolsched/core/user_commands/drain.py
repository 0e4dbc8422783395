"""Which pods `kubectl drain` evicts from a node, and why it refuses to (mirrors `kubectl/pkg/drain`, v1.36.2)."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ...api.kinds.pod import Pod

MIRROR = "kubernetes.io/config.mirror"
DAEMONS = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "Pods that declare no controller (use --force to override)"


@attrs.frozen
class DrainedPods:
    """The pods that a drain evicts, and what kubectl warns of."""

    evicted: tuple[Pod, ...]
    warning: str = ""


def choose_pods(
    node: str, pods: Iterable[Pod], *, ignore_daemonsets: bool, delete_emptydir_data: bool, force: bool
) -> DrainedPods:
    """Return the pods of a node that a drain evicts.

    Raises:
        ValueError: a pod needs an option that was not given; the message is kubectl's and names every such pod.
    """
    faults: dict[str, list[str]] = {}
    warnings: dict[str, list[str]] = {}
    evicted: list[Pod] = []
    for pod in pods:
        name = f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}"
        owner = pod.metadata.controller
        if owner is not None and owner.kind == "DaemonSet" and not pod.terminal:
            found = (warnings, "ignoring DaemonSet-managed Pods") if ignore_daemonsets else (faults, DAEMONS)
            found[0].setdefault(found[1], []).append(name)
            continue
        if MIRROR in pod.metadata.annotations:
            continue
        if not pod.terminal and any("emptyDir" in volume.rest for volume in pod.spec.volumes):
            if not delete_emptydir_data:
                faults.setdefault(LOCAL_STORAGE, []).append(name)
                continue
            warnings.setdefault("deleting Pods with local storage", []).append(name)
        if owner is None and not pod.terminal:
            if not force:
                faults.setdefault(UNMANAGED, []).append(name)
                continue
            warnings.setdefault("deleting Pods that declare no controller", []).append(name)
        evicted.append(pod)
    if faults:
        texts = [f"cannot delete {why}: {', '.join(names)}" for why, names in sorted(faults.items())]
        joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        raise ValueError(f'unable to drain node "{node}" due to error: {joined}')
    said = "; ".join(f"{why}: {', '.join(names)}" for why, names in sorted(warnings.items()))
    return DrainedPods(tuple(evicted), said)
