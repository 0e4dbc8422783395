"""Provisioners that are no CSI drivers, as kind, k3s and minikube have them; and volumes that the server refuses."""

import pytest
from objects import claim, csi_node, node, pod, storage_class

from kvolsched import Cluster


def cluster(provisioner, *, waits=True, asks="", **more):
    """A cluster of two nodes without CSINodes, and a pod whose claim is of a class with this provisioner."""
    made = Cluster("upstream")
    wanted = claim("data", storage_class="disk", **({"volumeAttributesClassName": asks} if asks else {}))
    made._load([node("node-a"), node("node-b"), storage_class("disk", provisioner, waits=waits), wanted,
               pod("app", "data", **more)])
    return made


def volume_of(run):
    """The volume that was provisioned."""
    return run["pv/" + run["pvc/data"].spec.volume_name]


@pytest.mark.parametrize("provisioner", ["rancher.io/local-path", "microk8s.io/hostpath", "example.com/directories"])
def test_a_class_that_waits_gets_a_directory_of_the_selected_node(provisioner):
    """The volume is a hostPath with the node's hostname, written under the provisioner's name, without a CSINode."""
    run = cluster(provisioner)
    run.run("pod/app Running")
    volume = volume_of(run)
    term, = volume.spec.node_affinity.required.node_selector_terms

    assert "hostPath" in volume.spec.rest
    assert ("kubernetes.io/hostname", (run["pod/app"].spec.node_name,)) == (
        term.match_expressions[0].key, term.match_expressions[0].values)
    assert provisioner == volume.metadata.annotations["pv.kubernetes.io/provisioned-by"]
    assert ("kubernetes.io/pv-protection",) == volume.metadata.finalizers


@pytest.mark.parametrize(("provisioner", "source", "waits"), [
    ("k8s.io/minikube-hostpath", "hostPath", False),
    ("cluster.local/nfs-subdir-external-provisioner", "nfs", False),
    ("cluster.local/nfs-subdir-external-provisioner", "nfs", True),
])
def test_other_directories_are_for_every_node(provisioner, source, waits):
    """It is a directory of minikube's only node, or one of a server; neither says where it can be reached."""
    run = cluster(provisioner, waits=waits)
    run.run("pod/app Running")

    assert [source] == list(volume_of(run).spec.rest)
    assert volume_of(run).spec.node_affinity is None


def test_a_provisioned_volume_carries_the_attributes_class_of_its_claim():
    """Without it the volume would not match the claim, and the pod would wait for ever."""
    run = cluster("disk.example.com", asks="gold")
    run._load([csi_node(name, 9, "disk.example.com", topology_keys=["kubernetes.io/hostname"])
              for name in ("node-a", "node-b")])
    run.run("pod/app Running")

    assert "gold" == volume_of(run).spec.volume_attributes_class_name


def test_a_refused_volume_is_told():
    """The claim gets a warning with the server's words, `why` repeats it, and the volume comes by the next try."""
    run = cluster("rancher.io/local-path")
    run.refuse("rancher.io/local-path", reason="Forbidden")
    run.run(lambda c: any(event.type == "Warning" for event in c.objects("events")))
    told = [event.message for event in run.objects("events") if event.reason == "ProvisioningFailed"]

    assert 1 == len(told)
    assert told[0].startswith("Error creating provisioned PV object for claim default/data: ")
    assert told[0] in " ".join(run.why("app").notes)
    run.run("pod/app Running")
