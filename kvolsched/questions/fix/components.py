"""Advice for a pod with a chosen node and no volume, or that the scheduler may not bind: who must run, who may write.

No object is at fault: nobody runs a provisioner, a driver is not on the node, a permission is gone.
"""

from collections.abc import Iterator

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.csi import CSINode
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.volume import PersistentVolumeClaim
from kvolsched.core.acts import ClusterActs
from kvolsched.world.log import Key

from ..near_names import near_misses
from ..why.on_node import is_running
from ..why.sentences import forbidden_write
from .edit import Edit, ObjectChange, OutsideAct


def edits_of_components(cluster: ClusterActs, key: Key) -> Iterator[Edit]:
    """Yield what somebody must run or permit, so that the volumes of a pod are made and the pod is bound."""
    objects = cluster.world.log.objects
    pod: Pod = objects[key]
    condition = pod.status.condition("PodScheduled")
    refused = forbidden_write(condition.message if condition is not None else "")
    if refused is not None:
        yield _permit(*refused)
    for name in dict.fromkeys(pod.claim_names()):
        claim = objects.get(Key("PersistentVolumeClaim", key.namespace, name))
        if claim is not None and not volumes.is_bound(claim) and volumes.selected_node(claim):
            yield from _provisioning(cluster, claim)


def _permit(user: str, verb: str, resource: str) -> Edit:
    """Return the edit that gives a component back what it may do."""
    short = user.rpartition(":")[2]
    do = f"kubectl auth can-i {verb} {resource} --as={user}   # then restore its ClusterRole or binding"
    return Edit(f"Permit {short} to {verb} {resource}", 1, (), "permit", do=do,
                note="no pod with such a volume can be bound until then")  # fmt: skip


def _provisioning(cluster: ClusterActs, claim: PersistentVolumeClaim) -> Iterator[Edit]:
    """Yield what keeps a claim from getting its volume: no such provisioner, or no driver on the selected node."""
    objects = cluster.world.log.objects
    storage_class = objects.get(Key("StorageClass", "", volumes.class_of_claim(claim)))
    if storage_class is None or not volumes.has_provisioner(storage_class):
        return
    name = storage_class.provisioner
    nodes: list[CSINode] = [obj for key, obj in sorted(objects.items()) if key.kind == "CSINode"]
    registered = {driver.name for node in nodes for driver in node.spec.drivers}
    known = {*registered, *(key.name for key in objects if key.kind == "CSIDriver"), *cluster.components}
    if not is_running(cluster, name, registered):
        for near in near_misses(name, sorted(each for each in known if is_running(cluster, each, registered))):
            right = attrs.evolve(storage_class, provisioner=near)
            again = ObjectChange(claim, claim, recreate=True)
            words = f"Use provisioner {near} in class {storage_class.metadata.name}, not {name}"
            note = "a class cannot be changed: make it, the claim and the pod anew; nothing is lost"
            changes = (ObjectChange(storage_class, right, recreate=True), again)
            yield Edit(words, 1, changes, "use provisioner", note=note)
        do = f"kubectl get pods -A | grep -i {name.partition('.')[0]}   # install or repair it: nobody answers"
        yield Edit(f"Run the provisioner {name}", 2, (), "run a provisioner", do=do,
                   note=f"claims of class {storage_class.metadata.name} wait until then")  # fmt: skip
    selected = volumes.selected_node(claim)
    lacking = next((node for node in nodes if node.metadata.name == selected and node.driver(name) is None), None)
    like = next((driver for node in nodes if (driver := node.driver(name)) is not None), None)
    if lacking is not None and like is not None:
        runs = evolve_parts(lacking, spec={"drivers": (*lacking.spec.drivers, attrs.evolve(like, node_id=selected))})
        words = f"Run the driver {name} on {selected}"
        do = f"kubectl get pods -A --field-selector spec.nodeName={selected}   # the driver's DaemonSet must run there"
        note = f"CSINode {selected} does not list it; the driver's own pod registers it"
        yield Edit(words, 2, (ObjectChange(lacking, runs),), "run a driver", note=note,
                   acts=(OutsideAct(words),), do=do)  # fmt: skip
