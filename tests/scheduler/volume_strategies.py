"""Clusters in which ports, disks, limits, zones, images and room for volumes have much to say."""

from functools import cache

from hypothesis import strategies as st

from kvolsched.api.kinds.csi import (
    CSIDriver,
    CSIDriverSpec,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSIStorageCapacity,
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
    VolumeNodeResources,
)
from kvolsched.api.kinds.meta import Frozen, ObjectMeta, ObjectReference, OwnerReference
from kvolsched.api.kinds.node import Node, NodeStatus
from kvolsched.api.kinds.pod import (
    AWSElasticBlockStoreVolumeSource,
    Container,
    ContainerPort,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodSpec,
    PodStatus,
    RBDVolumeSource,
    Resources,
    Volume,
)
from kvolsched.api.kinds.selector import LabelSelector, Requirement
from kvolsched.api.kinds.storage_class import StorageClass, TopologySelectorLabelRequirement, TopologySelectorTerm
from kvolsched.api.kinds.volume import (
    BIND_COMPLETED,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
)
from kvolsched.scheduler.columns.exclusive_use import ANY_ADDRESS
from kvolsched.world.log import Key
from scheduler.strategies import between, some_of, tuples

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
NODES = ["n0", "n1", "n2", "n3"]
CLAIMS = ["c0", "c1", "c2", "p-own"]
VOLUMES = ["v0", "v1", "v2"]
DRIVERS = ["one.csi", "ebs.csi.aws.com"]
CLASSES = {"fast": "one.csi", "old": "kubernetes.io/aws-ebs", "local": "kubernetes.io/no-provisioner"}
SIZES = ["1Gi", "2Gi", "5Gi", "8Gi"]
flags = st.booleans()
some_images = st.lists(some_of(["web:latest", "db:1"]), unique=True)
some_drivers = st.lists(some_of(DRIVERS), unique=True, min_size=1)


@cache
@st.composite
def nodes(draw, name):
    """Give a node with a zone, perhaps by its old name, and images."""
    labels = {
        key: value
        for key, value in ((ZONE, draw(some_of(["a", "b", None]))), (OLD_ZONE, draw(some_of([None, None, "a", "b"]))))
        if value is not None
    }
    images = [
        Frozen(names=(image,), sizeBytes=draw(some_of([30 * 2**20, 500 * 2**20, 3 * 2**30])))
        for image in draw(some_images)
    ]
    rest = Frozen(images=tuple(images)) if images else Frozen()
    status = NodeStatus(allocatable=Frozen(cpu="9", memory="9", pods="99"), rest=rest)
    return Node(metadata=ObjectMeta(name=name, labels=Frozen(labels)), status=status)


@cache
@st.composite
def sources(draw):
    """Give one source of a pod's volume."""
    match draw(some_of(["claim", "claim", "claim", "own", "gce", "aws", "iscsi", "rbd", "none"])):
        case "claim":
            name = draw(some_of(CLAIMS))
            return {"persistent_volume_claim": PersistentVolumeClaimVolumeSource(claim_name=name)}
        case "own":
            return {"ephemeral": EphemeralVolumeSource(), "name": "own"}
        case "gce":
            return {"gce_persistent_disk": GCEPersistentDiskVolumeSource(pd_name="d", read_only=draw(flags))}
        case "aws":
            name = draw(some_of(["vol-1", "aws://zone/vol-1"]))
            return {"aws_elastic_block_store": AWSElasticBlockStoreVolumeSource(volume_id=name)}
        case "iscsi":
            return {"iscsi": ISCSIVolumeSource(iqn=draw(some_of(["i", "j"])), read_only=draw(flags))}
        case "rbd":
            monitors = draw(some_of([("m",), ("m", "n"), ("n",)]))
            return {"rbd": RBDVolumeSource(monitors=monitors, image="i", read_only=draw(flags))}
    return {}


ports = st.builds(
    ContainerPort,
    container_port=st.just(80),
    host_port=some_of([0, 80, 80, 443]),
    host_ip=some_of(["", ANY_ADDRESS, "10.0.0.1", "10.0.0.2"]),
    protocol=some_of(["", "TCP", "UDP"]),
)


@cache
@st.composite
def pods(draw, name, on):
    """Give a pod that asks for ports and volumes, and may have some."""
    containers = [
        Container(
            image=draw(some_of(["web", "db:1", "other"])),
            ports=draw(tuples(ports, 2)),
            restart_policy=draw(some_of(["", "Always"])) if first else "",
        )
        for first in (True, False)[: draw(between(1, 2))]
    ]
    volumes = [Volume(**{"name": f"v{index}", **draw(sources())}) for index in range(draw(between(0, 3)))]
    return Pod(
        metadata=ObjectMeta(name=name, namespace=draw(some_of(["default"] * 4 + ["other"])), uid=f"uid-{name}"),
        spec=PodSpec(
            node_name=draw(some_of(on)),
            containers=tuple(containers[1:] or containers),
            init_containers=tuple(containers[:1]),
            volumes=tuple(volumes),
        ),
        status=PodStatus(phase=draw(some_of(["Running"] * 6 + ["Succeeded"]))),
    )


@cache
@st.composite
def claims(draw, name):
    """Give a claim: bound, waiting, for a single pod or not."""
    volume = draw(some_of(["", "", "", *VOLUMES]))
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            annotations=Frozen({BIND_COMPLETED: "yes"}) if volume else Frozen(),
            owner_references=(OwnerReference(uid="uid-p", controller=True),) if name == "p-own" else (),
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=(draw(some_of(["ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"])),),
            resources=Resources(requests=draw(some_of([Frozen(), *(Frozen(storage=size) for size in SIZES * 2)]))),
            volume_name=volume,
            storage_class_name=draw(some_of([*CLASSES, "fast"])),
        ),
        status=PersistentVolumeClaimStatus(phase="Bound" if volume else "Pending"),
    )


@cache
@st.composite
def persistent_volumes(draw, name):
    """Give a volume of a driver, an in-tree disk or a local one, some with a zone in their labels."""
    source = draw(
        some_of(
            [
                Frozen(csi=Frozen(driver="one.csi", volumeHandle=name)),
                Frozen(csi=Frozen(driver="one.csi", volumeHandle="same")),
                Frozen(awsElasticBlockStore=Frozen(volumeID="aws://zone/vol-1")),
                Frozen(local=Frozen(path="/x")),
            ]
        )
    )
    zone = draw(some_of([None, None, "a", "b", "a__b", "a__"]))
    return PersistentVolume(
        metadata=ObjectMeta(
            name=name, labels=Frozen() if zone is None else Frozen({draw(some_of([ZONE, OLD_ZONE])): zone})
        ),
        spec=PersistentVolumeSpec(
            capacity=Frozen(storage=draw(some_of(SIZES))),
            access_modes=("ReadWriteOnce", "ReadWriteOncePod"),
            claim_ref=draw(some_of([None, None, ObjectReference(namespace="default", name="c9")])),
            storage_class_name=draw(some_of([*CLASSES, "fast"])),
            rest=source,
        ),
        status=PersistentVolumeStatus(phase="Available"),
    )


@cache
@st.composite
def classes(draw, name):
    """Give a class that waits for its consumer, some only for one zone."""
    expression = TopologySelectorLabelRequirement(key=ZONE, values=("a",))
    term = TopologySelectorTerm(match_label_expressions=(expression,))
    return StorageClass(
        metadata=ObjectMeta(name=name),
        provisioner=CLASSES[name],
        volume_binding_mode="WaitForFirstConsumer",
        allowed_topologies=draw(some_of([(), (), (term,)])),
    )


@cache
@st.composite
def csi_nodes(draw, name):
    """Give what the drivers of a node say of their limits."""
    drivers = [
        CSINodeDriver(name=driver, allocatable=draw(some_of([None, *map(limit, (0, 1, 1, 2, 3))])))
        for driver in draw(some_drivers)
    ]
    return CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=tuple(drivers)))


def limit(count):
    """Make a limit."""
    return VolumeNodeResources(count=count)


topologies = st.builds(
    LabelSelector,
    match_labels=some_of([Frozen(), Frozen({ZONE: "a"}), Frozen({ZONE: "b"})]),
    match_expressions=some_of([(), (), (), (Requirement(key=OLD_ZONE, operator="DoesNotExist"),)]),
)


@cache
def capacities(name):
    """Give room for volumes of a class somewhere."""
    return st.builds(
        CSIStorageCapacity,
        metadata=st.just(ObjectMeta(name=name, namespace="kube-system")),
        storage_class_name=some_of(["fast", "fast", "fast", "old"]),
        node_topology=topologies | topologies | st.none(),
        capacity=some_of([None, "1Gi", "2Gi", "4Gi", "8Gi"]),
        maximum_volume_size=some_of([None, None, None, "1Gi"]),
    )


@cache
def attachments(name):
    """Give a VolumeAttachment."""
    source = st.builds(VolumeAttachmentSource, persistent_volume_name=some_of([None, *VOLUMES, "v9"]))
    spec = st.builds(VolumeAttachmentSpec, attacher=st.just("one.csi"), node_name=some_of(NODES), source=source)
    return st.builds(VolumeAttachment, metadata=st.just(ObjectMeta(name=name)), spec=spec)


@cache
def drivers(name):
    """Give a driver that tells its room, or not."""
    spec = st.builds(CSIDriverSpec, storage_capacity=some_of([True, True, True, True, False, None]))
    return st.builds(CSIDriver, metadata=st.just(ObjectMeta(name=name)), spec=spec)


MAKE = {
    "Node": (nodes, NODES),
    "StorageClass": (classes, list(CLASSES)),
    "CSINode": (csi_nodes, NODES),
    "CSIDriver": (drivers, ["one.csi"]),
    "CSIStorageCapacity": (capacities, ["r0", "r1", "r2"]),
    "PersistentVolume": (persistent_volumes, VOLUMES),
    "PersistentVolumeClaim": (claims, CLAIMS),
    "VolumeAttachment": (attachments, ["a0", "a1", "a2"]),
    "Pod": (lambda name: pods(name, (*NODES, *NODES, "gone")), [f"e{index}" for index in range(6)]),
}
kinds = st.lists(some_of([*MAKE, "Pod", "PersistentVolumeClaim", "CSIStorageCapacity"]), max_size=8)


@st.composite
def disks(draw):
    """Give a cluster with much of everything that volumes and ports are judged by, and a pod."""
    found = [
        draw(make(name))
        for kind, (make, names) in MAKE.items()
        for name in names
        if kind in ("PersistentVolumeClaim", "StorageClass") or draw(between(0, 5))
    ]
    return found, draw(pods("p", ("",)))


@st.composite
def changes(draw):
    """Give a cluster, a pod and changes of anything: (key, new version or None)."""
    found, wanted = draw(disks())
    made = []
    for kind in draw(kinds):
        make, names = MAKE[kind]
        new = draw(make(draw(some_of(names))))
        made.append((Key(new.kind, new.metadata.namespace, new.metadata.name), new if draw(some_of([True, True, False])) else None))
    return found, wanted, made
