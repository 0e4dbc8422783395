"""Answers about a pod with a node, or about to get it: what its kubelet and its claims wait for, their last Events.

This module looks at what is stored, and judges nothing.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...api import volumes
from ...api.kinds.csi import CSINode
from ...api.kinds.pod import Pod
from ...controllers import pod_garbage_collector
from ...core.core import ClusterCore
from ...scheduler.columns.snapshot import Snapshot
from ...world.apiserver import ref
from ...world.log import Key
from ..near_names import near_misses
from .answer import Finding, Remark, Why


class LastEvents:
    """The Events of these objects, by the object that they are about."""

    def __init__(self, objects: Mapping[Key, Any]) -> None:
        self._about: dict[tuple[str, str, str], list[tuple[Key, Any]]] = {}
        for key, obj in objects.items():
            if key[0] == "Event":
                about = obj.involved_object
                self._about.setdefault((about.kind, about.namespace or "", about.name), []).append((key, obj))

    def of(self, obj: Any, type_: str = "") -> str:
        """Return reason and message of an object's last event, or of the last of this type; "" if there is none."""
        about = self._about.get((obj.kind, obj.metadata.namespace or "", obj.metadata.name), ())
        events = [event for _, event in sorted(about, key=lambda pair: pair[0])
                  if type_ in ("", event.type) and _is_about(event, obj)]  # fmt: skip
        if not events:
            return ""
        last = max(events, key=lambda event: (event.last_timestamp or event.metadata.creation_timestamp or ""))
        return f"{last.reason}: {last.message}"

    def refused_pods(self, objects: Mapping[Key, Any]) -> tuple[str, ...]:
        """Say of these objects which want more pods than they have, and why their controllers cannot create them."""
        owners = (owner for key, obj in objects.items() if key.kind == "Pod" for owner in obj.metadata.owner_references)
        owned = Counter(owner.uid for owner in owners)
        found = []
        for about, events in sorted(self._about.items()):
            obj = objects.get(Key(*about))
            last = max((event for _, event in events), key=lambda event: event.metadata.resource_version)
            if obj is None or last.reason != "FailedCreate" or not _is_about(last, obj):
                continue
            if owned[obj.metadata.uid] < getattr(obj.spec, "replicas", math.inf):
                found.append(f"{ref(Key(*about))} lacks pods: {last.reason}: {last.message}")
        return tuple(found)

    def warnings_of_claims(self, pod: Pod, seen: Snapshot) -> Iterator[Remark]:
        """Yield the last warning about each unbound claim of a pod: what its provisioner could not do."""
        for name in dict.fromkeys(pod.claim_names()):
            claim = seen.claim(pod.metadata.namespace, name)
            if claim is not None and not volumes.is_bound(claim) and (warning := self.of(claim, "Warning")):
                yield Remark(f"claim {name} is {claim.status.phase or 'Pending'}; last warning: {warning}")


def _is_about(event: Any, obj: Any) -> bool:
    """Say whether an Event is about this object, not about an earlier one of its name; kubelets give nodes no uid."""
    return event.involved_object.uid in ("", obj.metadata.name, obj.metadata.uid)


def answer_on_node(cluster: ClusterCore, pod: Pod, name: str) -> Why:
    """Return the answer about a pod with a node: its phase, what its node lacks, and the claims that it waits for."""
    node: Any = cluster.world.log.objects.get(Key("Node", "", pod.spec.node_name))
    phase, lacks = pod.status.phase, ""
    notes = tuple(claims_waited_for(cluster, pod)) if phase == "Pending" else ()
    if node is None:
        lacks, collector = ", a node that does not exist", cluster.world.processes.get(pod_garbage_collector.NAME)
        if collector is not None and collector.watching:
            notes = (*notes, Remark("the pod garbage collector deletes it within a minute, unless the node comes"))
    elif node.readiness != "True" and phase == "Pending":
        lacks = f", a node whose condition Ready is {node.readiness}, so that no kubelet starts it"
    head = f"it is not waiting for a node: it is on {pod.spec.node_name}{lacks}, and {phase}."
    return Why(name, cluster.revision.name, "bound", head, notes=notes)


def claim_of_pod(cluster: ClusterCore, pod: Pod, name: str) -> Any:
    """Return the claim that a pod names, or None."""
    return cluster.world.log.objects.get(Key("PersistentVolumeClaim", pod.metadata.namespace or "default", name))


def is_running(cluster: ClusterCore, provisioner: str, registered: Collection[str]) -> bool:
    """Say whether somebody provisions for a name; nobody for one that no node lists and that is nearly another's."""
    dials = cluster.components.get(provisioner)
    if dials is not None:
        return dials.get("running") is not False
    return provisioner in registered or not near_misses(provisioner, registered)


def missing_components(cluster: ClusterCore, pod: Pod) -> tuple[Finding, ...]:
    """Return who would have to make the volumes of a pod with a chosen node and does not run, or not on that node."""
    objects, found = cluster.world.log.objects, []
    nodes: list[CSINode] = cluster.objects("csinodes")
    where = {driver.name: node.metadata.name for node in reversed(nodes) for driver in node.spec.drivers}
    for name in dict.fromkeys(pod.claim_names()):
        claim = claim_of_pod(cluster, pod, name)
        class_name = volumes.class_of_claim(claim) if claim is not None else ""
        storage_class: Any = objects.get(Key("StorageClass", "", class_name))
        provisioned = storage_class is not None and volumes.has_provisioner(storage_class)
        if claim is None or volumes.is_bound(claim) or not provisioned:
            continue
        driver, selected = storage_class.provisioner, volumes.selected_node(claim)
        here = next((node for node in nodes if node.metadata.name == selected), None)
        if not is_running(cluster, driver, where):
            others = (name for name in {*where, *cluster.components} if is_running(cluster, name, where))
            near = next(iter(near_misses(driver, sorted(others))), "")
            has = f"CSINode {where[near]} has" if near in where else "there is"
            typo = f"; {has} {near}: a typo in class {class_name}?" if near else ""
            found.append(Finding(("provisioner",), f"nobody provisions {driver} for claim {name}{typo}"))
        elif driver in where and here is not None and here.driver(driver) is None:
            lacks = f"driver {driver} of class {class_name} does not run on {selected}, the chosen node"
            found.append(Finding(("driver",), f"{lacks} (its CSINode lacks it)"))
    return tuple(found)


def claims_waited_for(cluster: ClusterCore, pod: Pod) -> Iterator[Remark]:
    """Yield, for each unbound claim of a pod, which component acts next, and the claim's last event."""
    events = LastEvents(cluster.world.log.objects)
    for name in dict.fromkeys(pod.claim_names()):
        claim = claim_of_pod(cluster, pod, name)
        if claim is None:
            yield Remark(f"claim {name} does not exist")
            continue
        if volumes.is_bound(claim):
            continue
        phase = claim.status.phase or "Pending"
        class_name = volumes.class_of_claim(claim)
        storage_class: Any = cluster.world.log.objects.get(Key("StorageClass", "", class_name))
        provisioner = storage_class.provisioner if storage_class is not None else ""
        node = volumes.selected_node(claim)
        if claim.spec.volume_name:
            next_act = f"the volume controller completes its binding to {claim.spec.volume_name} next"
        elif node and provisioner:
            next_act = f"{provisioner} provisions a volume for node {node} next"
        elif not pod.spec.node_name or node:
            next_act = "the volume controller binds it to the chosen volume next"
        else:
            next_act = "no node is selected for it, since the pod got its node without the scheduler, which selects it"
        event, warning = events.of(claim), events.of(claim, "Warning")
        told = f"; last event: {event}" if event else ""
        warned = f"; last warning: {warning}" if warning not in ("", event) else ""
        yield Remark(f"{next_act}{told}{warned}", f"claim {name} is {phase}")
