"""CSI migration: in-tree disks are judged by the driver's zone label on nodes that have migrated the plugin."""

import objects
import pytest
import yaml
from matrices import check

from kvolsched.api.text.manifest import from_plain
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.csi_migration import effective_affinity, translated_affinity
from kvolsched.scheduler.framework.extension_points import EnabledPlugin
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.plugins.volume_binding import VolumeBinding
from kvolsched.scheduler.plugins.volume_binding.releases import stored_affinity
from kvolsched.world.log import Key

ZONE, BETA = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
EBS = "topology.ebs.csi.aws.com/zone"


def disk(*terms, affinity=True, source="awsElasticBlockStore", **labels):
    """Make a bound in-tree volume; each term {key: zones}."""
    required = {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": key, "operator": "In", "values": values} for key, values in term.items()]}
        for term in terms]}
    field = {"azureDisk": {"diskName": "d", "diskURI": "d"}}.get(source, {"volumeID": "d"})
    return from_plain({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk", "labels": labels},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], source: field,
                 **({"nodeAffinity": {"required": required}} if affinity else {})}})  # fmt: skip


def csi_node(name, plugins):
    """Return a CSINode that has migrated these plugins."""
    return objects.csi_node(name, annotations={"storage.alpha.kubernetes.io/migrated-plugins": plugins})


@pytest.mark.parametrize(("volume", "said"), [
    (disk({ZONE: ["a"]}), f"{EBS} In [a]"),
    (disk({BETA: ["a"]}, {"disk": ["ssd"]}), f"{EBS} In [a] or disk In [ssd]"),
    (disk({ZONE: ["a"]}, **{ZONE: "b"}), f"{EBS} In [a]"),
    (disk({"disk": ["ssd"]}, {"gen": ["2"]}, **{BETA: "b"}), f"disk In [ssd] and {EBS} In [b] or gen In [2] and {EBS} In [b]"),
    (disk(affinity=False, **{ZONE: "a__b"}), f"{EBS} In [a, b]"),
    (disk(affinity=False), "None"),
    (disk(), "nothing"),
])  # fmt: skip
def test_zones_go_by_the_drivers_label(volume, said):
    """Both zone keys become the driver's; the volume's zone label counts only if no term names a zone."""
    assert said == str(translated_affinity(volume))


def test_only_nodes_that_migrated_the_plugin_read_the_translation():
    """Without the annotation, for another plugin and for an Azure disk, the stored affinity is read."""
    ours, other = csi_node("n", "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"), csi_node("n", "kubernetes.io/gce-pd")

    assert f"{EBS} In [a]" == str(effective_affinity(disk({ZONE: ["a"]}), ours))
    assert f"{ZONE} In [a]" == str(effective_affinity(disk({ZONE: ["a"]}), other))
    assert f"{ZONE} In [a]" == str(effective_affinity(disk({ZONE: ["a"]}), None))
    assert f"{ZONE} In [a]" == str(effective_affinity(disk({ZONE: ["a"]}, source="azureDisk"), csi_node("n", "kubernetes.io/azure-disk")))


CLUSTER = f"""
- {{kind: Node, apiVersion: v1, metadata: {{name: handed, labels: {{{ZONE}: a}}}}}}
- {{kind: Node, apiVersion: v1, metadata: {{name: served, labels: {{{ZONE}: b, {EBS}: a}}}}}}
- {{kind: Node, apiVersion: v1, metadata: {{name: plain, labels: {{{ZONE}: a}}}}}}
- kind: PersistentVolumeClaim
  apiVersion: v1
  metadata: {{name: data, namespace: default, annotations: {{pv.kubernetes.io/bind-completed: "yes"}}}}
  spec: {{volumeName: disk}}
  status: {{phase: Bound}}
"""
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": {
    "containers": [{"name": "c", "image": "i"}],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}  # fmt: skip


@pytest.mark.parametrize(
    ("node_affinity", "feasible"), [(effective_affinity, ("plain", "served")), (stored_affinity, ("handed", "plain"))]
)
def test_each_node_reads_the_affinity_by_its_own_csi_node(node_affinity, feasible):
    """A volume is matched by Kubernetes' zone label or by the driver's, node by node; column and rule agree."""
    objects = [*map(from_plain, yaml.safe_load(CLUSTER)), disk({ZONE: ["a"]})]
    objects += [csi_node(name, "kubernetes.io/aws-ebs") for name in ("handed", "served")]
    profile = Profile("volumes alone", (EnabledPlugin(VolumeBinding(node_affinity=node_affinity)),), upstream_profile().words)
    judgement = judge(from_plain(POD), snapshot(objects), profile)

    check(judgement)
    assert feasible == judgement.feasible


def test_a_changed_csi_node_changes_the_verdict():
    """A node whose CSINode begins or ends the migration is judged by the other affinity from then on."""
    seen = snapshot([*map(from_plain, yaml.safe_load(CLUSTER)), disk({ZONE: ["a"]})])
    profile = Profile("volumes alone", (EnabledPlugin(VolumeBinding()),), upstream_profile().words)
    feasible = [judge(from_plain(POD), seen, profile).feasible]
    for old, new in ((None, "kubernetes.io/aws-ebs"), ("kubernetes.io/aws-ebs", None)):
        told = [plugins and csi_node("handed", plugins) for plugins in (old, new)]
        seen.apply(Key("CSINode", "", "handed"), *told)
        judgement = judge(from_plain(POD), seen, profile)
        check(judgement)
        feasible.append(judgement.feasible)

    assert [("handed", "plain"), ("plain",), ("handed", "plain")] == feasible
