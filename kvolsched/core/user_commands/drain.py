"""Which pods `kubectl drain` evicts from a node, and why it refuses to (mirrors `kubectl/pkg/drain`, v1.36.2)."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ...api.kinds.pod import Pod
from .fields import ActRefused

MIRROR = "kubernetes.io/config.mirror"
DAEMONS = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "Pods that declare no controller (use --force to override)"


@attrs.frozen
class DrainedPods:
    """The pods of a node that a drain evicts, what kubectl warns of, and why it evicts none, a sentence a sort."""

    evicted: tuple[Pod, ...]
    warnings: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class DrainRefused(ActRefused):
    """Raised when pods of nodes need an option that was not given: the reasons by node, and what was done before."""

    def __init__(self, faults: Mapping[str, tuple[str, ...]], done: Any) -> None:
        words = ["There are pending nodes to be drained:", *(f" {node}" for node in faults)]
        words += [fault for found in faults.values() for fault in found]
        super().__init__("; ".join(not_drained(*each) for each in faults.items()), words="\n".join(words))
        self.faults, self.done = dict(faults), done


def not_drained(node: str, faults: tuple[str, ...]) -> str:
    """Return kubectl's sentence for a node whose pods it does not evict."""
    joined = ", ".join(faults)
    return f'unable to drain node "{node}" due to error: {joined if len(faults) == 1 else f"[{joined}]"}'


def choose_pods(
    pods: Iterable[Pod], *, ignore_daemonsets: bool, delete_emptydir_data: bool, force: bool
) -> DrainedPods:
    """Return the pods of a node that a drain evicts: none if one needs an option that was not given."""
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
        refusals = (f"cannot delete {why}: {', '.join(names)}" for why, names in sorted(faults.items()))
        return DrainedPods((), faults=tuple(refusals))
    said = "; ".join(f"{why}: {', '.join(names)}" for why, names in sorted(warnings.items()))
    return DrainedPods(tuple(evicted), (f"Warning: {said}",) if said else ())
