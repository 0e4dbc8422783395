"""What the PV controller, provisioners, the attach controller and the kubelet say of claims and volumes."""

from __future__ import annotations

from ..meaning import Meaning

CLAIM = "kubectl describe pvc <claim> -n <namespace>"
VOLUME = "kubectl describe pv <volume>"
CLASS = "kubectl get storageclass <class> -o yaml"
DRIVER = "kubectl get csidrivers,csinodes"
PODS_OF_DRIVER = "kubectl get pods -A | grep -i csi"
CONTROLLER, PROVISIONER, KUBELET = "PV controller", "external-provisioner", "kubelet"

VOLUMES = (
    Meaning(
        CONTROLLER,
        ("waiting for first consumer to be created before binding",),
        "A claim of a class with WaitForFirstConsumer is bound when a pod that uses it is scheduled.",
        "Ordinary: no pod uses the claim yet.",
        CLASS,
    ),
    Meaning(
        CONTROLLER,
        ("waiting for pod <pod> to be scheduled", "waiting for pods <pods> to be scheduled"),
        "A pod uses the claim, but has no node yet; the claim follows the pod.",
        "The pod is pending for a reason of its own: look at the pod.",
        "kubectl describe pod <pod> -n <namespace>",
    ),
    Meaning(
        CONTROLLER,
        (
            (
                "Waiting for a volume to be created either by the external provisioner '<driver>' or manually by the "
                "system administrator. If volume creation is delayed, please verify that the provisioner is running "
                "and correctly registered"
            ),
            (
                'waiting for a volume to be created, either by external provisioner "<driver>" or manually created by '
                "system administrator"
            ),
        ),
        "The claim was handed to the driver of its class.",
        "Ordinary for some seconds; if it lasts, the driver is not installed, misspelled in the class, or cannot.",
        PODS_OF_DRIVER,
    ),
    Meaning(
        CONTROLLER,
        ("no persistent volumes available for this claim and no storage class is set",),
        "A claim without class binds only to an existing volume without class.",
        'The cluster has no default class, or the claim says storageClassName: "".',
        "kubectl get storageclass,pv",
    ),
    Meaning(
        CONTROLLER,
        ('storageclass.storage.k8s.io "<class>" not found',),
        "The class that the claim names must exist.",
        "Misspelled, or the class of another cluster.",
        "kubectl get storageclass",
    ),
    Meaning(
        CONTROLLER,
        ('volume "<volume>" already bound to a different claim',),
        "A volume serves one claim.",
        "The claim names a volume (volumeName) that another claim holds.",
        "kubectl get pv <volume> -o jsonpath='{.spec.claimRef}'",
    ),
    Meaning(
        CONTROLLER,
        (
            'Cannot bind to requested volume "<volume>": requested PV is too small',
            'Cannot bind to requested volume "<volume>": storageClassName does not match',
            'Cannot bind to requested volume "<volume>": storageClasseName does not match',
            'Cannot bind to requested volume "<volume>": incompatible accessMode',
            'Cannot bind to requested volume "<volume>": incompatible volumeMode',
            'Cannot bind to requested volume "<volume>": volumeAttributesClassName does not match',
            'Cannot bind to requested volume "<volume>": marked for deletion',
            'Cannot bind to requested volume "<volume>": <why…>',
            'Cannot bind PersistentVolume "<volume>" to requested PersistentVolumeClaim due to incompatible volumeMode',
            'Cannot bind PersistentVolume to requested PersistentVolumeClaim "<claim>" due to incompatible volumeMode',
            "requested PV is too small",
            "storageClassName does not match",
            "incompatible accessMode",
            "marked for deletion",
        ),
        "The volume that a claim names must be large enough, of its class, and offer its access modes and volumeMode.",
        "The volume or the claim was written by hand, and the two differ.",
        "kubectl get pv <volume> -o yaml",
    ),
    Meaning(
        CONTROLLER,
        (
            "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
            "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!",
        ),
        "The claim's volume, or its name in the claim, is gone: phase Lost, for good.",
        "Somebody deleted the PersistentVolume; the data may still be in the storage system.",
        CLAIM,
    ),
    Meaning(
        CONTROLLER,
        ("Two claims are bound to the same volume, this one is bound incorrectly",),
        "A volume serves the claim that its claimRef names; this one is Lost.",
        "Claims were restored from a backup, or volumeName was written by hand.",
        "kubectl get pv -o custom-columns=NAME:.metadata.name,CLAIM:.spec.claimRef.name",
    ),
    Meaning(
        CONTROLLER,
        (
            'invalid binding of claim "<claim>" to volume "<volume>": volume already claimed by "<rival>"',
            'Invalid binding of claim "<claim>" to volume "<volume>": volume already claimed by "<rival>"',
        ),
        "The controller bound the claim itself, and then finds the volume in other hands.",
        "Two controllers, or somebody edited the claimRef.",
        "kubectl get pv <volume> -o jsonpath='{.spec.claimRef}'",
    ),
    Meaning(
        CONTROLLER,
        (
            'Failed to provision volume with StorageClass "<class>": <<why>>',
            'failed to provision volume with StorageClass "<class>": <<why>>',
        ),
        "The class's provisioner tried to create the volume and failed; it tries again.",
        "What follows is the provisioner's answer.",
        CLAIM,
    ),
    Meaning(
        PROVISIONER,
        ("rpc error: code = ResourceExhausted desc = <why…>",),
        "No room in this topology: the selected node is given back, and the scheduler chooses again.",
        "The pool or the quota is used up.",
        "kubectl get csistoragecapacities -A",
    ),
    Meaning(
        "CSI driver",
        ("rpc error: code = <code> desc = <why…>", "rpc error: code = <code> desc"),
        "The driver's own answer; after Canceled, DeadlineExceeded, Unavailable or Aborted it may still be at work.",
        "Look into the driver's log.",
        PODS_OF_DRIVER,
    ),
    Meaning(
        "storage",
        ("disk full", "not enough capacity in <where…>"),
        "The storage behind the class has no room.",
        "The pool or the quota is used up.",
        "kubectl get csistoragecapacities -A",
    ),
    Meaning(
        "storage",
        (
            "driver is busy",
            "not today",
            "no such device",
            "mount failed",
            "still attached to <node>",
            "GetCapacity: <<why>>",
        ),
        "The driver's or plugin's own words, passed on as they are.",
        "Look into the driver's log.",
        PODS_OF_DRIVER,
    ),
    Meaning(
        CONTROLLER,
        (
            'Failed to get target node: node "<node>" not found',
            "Failed to get target node: <<why>>",
            "Failed to get target node",
            'failed to get target node: nodes "<node>" not found',
            'failed to get target node: node "<node>" not found',
        ),
        "The node that was selected for the claim must exist while the volume is provisioned.",
        "The node was removed; take the annotation volume.kubernetes.io/selected-node off the claim.",
        "kubectl get nodes",
    ),
    Meaning(
        CONTROLLER,
        (
            "Error creating provisioned PV object for claim <namespace>/<claim>: <why…>. Deleting the volume",
            "Error creating provisioned PV object for claim <claim>: <why…>. Deleting the volume",
        ),
        "The volume was made, but its PersistentVolume could not be saved five times: the volume is deleted again.",
        "The API server or etcd did not answer.",
        CLAIM,
    ),
    Meaning(
        CONTROLLER,
        (
            "Error cleaning provisioned volume for claim <namespace>/<claim>: <why…>. Please delete manually",
            "Error cleaning provisioned volume for claim <claim>: <why…>. Please delete manually",
        ),
        "A volume was made that no PersistentVolume names, and it could not be deleted: it stays in the storage.",
        "The storage refuses, after the API server did not answer.",
        CLAIM,
    ),
    Meaning(
        f"{CONTROLLER}, {PROVISIONER}",
        ("Successfully provisioned volume <volume> using <plugin>", "Successfully provisioned volume <volume>"),
        "The volume exists; the PV controller binds it to the claim.",
        "Ordinary.",
        "kubectl get pv <volume>",
    ),
    Meaning(
        PROVISIONER,
        ('External provisioner is provisioning volume for claim "<namespace>/<claim>"',),
        "The driver has taken up the claim.",
        "Ordinary for some seconds or minutes.",
        CLAIM,
    ),
    Meaning(
        CONTROLLER,
        (
            "no volume plugin matched name: <plugin>",
            "no volume plugin matched",
            "no deletable volume plugin matched",
            "Failed to create provisioner: <why…>",
        ),
        "The provisioner of a class, or of a volume, must be a plugin of the controller or a running CSI driver.",
        "kubernetes.io/no-provisioner makes no volumes; or a plugin that Kubernetes has removed.",
        "kubectl get storageclass -o custom-columns=NAME:.metadata.name,PROVISIONER:.provisioner",
    ),
    Meaning(
        CONTROLLER,
        (
            'Error getting deleter volume plugin for volume "<volume>": <<why>>',
            'error getting deleter volume plugin for volume "<volume>": <<why>>',
            'failed to create deleter for volume "<volume>": <<why>>',
        ),
        "A released volume with policy Delete is deleted by the plugin that made it.",
        "A volume made by hand with policy Delete, or a plugin that is gone.",
        VOLUME,
    ),
    Meaning(
        CONTROLLER,
        (
            (
                'Mount options are not supported by the provisioner but StorageClass "<class>" has mount options '
                "[<options…>]"
            ),
        ),
        "A class may have mountOptions only if its plugin supports them.",
        "Options copied from another class.",
        CLASS,
    ),
    Meaning(
        CONTROLLER,
        ('plugin "<plugin>" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource',),
        "Clones and snapshots need a CSI driver.",
        "The class still names an in-tree plugin.",
        CLASS,
    ),
    Meaning(
        CONTROLLER,
        (
            "Error saving claim: <<why>>",
            'can\'t update PersistentVolumeClaim["<claim>"]: <<why>>',
            "persistent Volume Controller can't anneal migration annotations: <<why>>",
            "persistent Volume Controller can't anneal migration annotations or finalizer: <<why>>",
        ),
        "The controller could not write the claim or volume and tries again.",
        "Another writer was first, or the object is gone.",
        CLAIM,
    ),
    Meaning(
        CONTROLLER,
        ("Volume has unrecognized PersistentVolumeReclaimPolicy",),
        "A reclaim policy is Retain, Delete or Recycle.",
        "Misspelled in an old object.",
        "kubectl get pv -o custom-columns=NAME:.metadata.name,POLICY:.spec.persistentVolumeReclaimPolicy",
    ),
    Meaning(
        CONTROLLER,
        ("No recycler plugin found for the volume!", "Volume recycled", "Recycle failed: <why…>"),
        "Policy Recycle empties a released volume and offers it again; few plugins can.",
        "Recycle is deprecated; use dynamic provisioning.",
        VOLUME,
    ),
    Meaning(
        CONTROLLER,
        ("Volume is used by pods: <pods…>",),
        "A volume is not recycled while a pod uses it.",
        "The claim was deleted before its pods.",
        VOLUME,
    ),
    Meaning(
        PROVISIONER,
        (
            "no topology key found for node <node>",
            "no topology key found on CSINode <node>",
            'failed to get selected CSINode <node>: csinode.storage.k8s.io "<other>" not found',
            'failed to get selected node <node>: node "<other>" not found',
            'csinode.storage.k8s.io "<node>" not found',
        ),
        "The selected node must have a CSINode with the driver and its topology keys.",
        "The driver's node plugin does not run on that node.",
        "kubectl get csinode <node> -o yaml",
    ),
    Meaning(
        PROVISIONER,
        (
            'topology [<selected…>] from selected node "<node>" is not in requisite: [<topologies…>]',
            "selected node '\"<node>\"' topology '[<selected…>]' is not in allowed topologies: [<topologies…>]",
        ),
        "The selected node must lie within the class's allowedTopologies.",
        "allowedTopologies changed after the node was chosen, or the node's labels did.",
        "kubectl get storageclass -o yaml",
    ),
    Meaning(
        PROVISIONER,
        (
            "topology labels from selected node map[<labels…>] does not match topology keys from CSINode [<keys…>]",
            "topologyKeys [<keys…>] were not found on any nodes",
            "no available topology found",
        ),
        "A node must carry, as labels, every topology key that its CSINode states for the driver.",
        "The cloud controller or the driver's node plugin has not set the labels.",
        "kubectl get nodes --show-labels",
    ),
    Meaning(
        PROVISIONER,
        ("error generating accessibility requirements: <<why>>", 'failed to get <kind> "<name>": <<why>>'),
        "The provisioner asks for the node's topology before it creates a volume.",
        "What follows names it.",
        DRIVER,
    ),
    Meaning(
        "in-tree plugin",
        (
            (
                "not enough zones found to provision a volume with 2 replicas. Need at least 2 distinct zones for a "
                "volume with 2 replicas"
            ),
            (
                "zone[s] cannot be specified in StorageClass if VolumeBindingMode is set to WaitForFirstConsumer. "
                "Please specify allowedTopologies in StorageClass for constraining zones"
            ),
            "zone[s] cannot be specified in StorageClass if allowedTopologies specified",
            "both zone and zones StorageClass parameters must not be used at the same time",
        ),
        "Zones of an in-tree class stand in its parameters or in allowedTopologies, never in both, and must be enough.",
        "An old class with the parameters zone or zones.",
        "kubectl get storageclass -o yaml",
    ),
    Meaning(
        "PV controller (design)",
        ("the claim is unbound again: its pod fits no node",),
        "The design's rollback: the claim gives its volume back.",
        "The pod fitted no node after its claim was bound.",
        CLAIM,
    ),
    Meaning(
        KUBELET,
        (
            'MountVolume.NodeAffinity check failed for volume "<volume>" : <<why>>',
            'MapVolume.NodeAffinity check failed for volume "<volume>" : <<why>>',
        ),
        "The kubelet mounts a volume only on a node that its nodeAffinity admits.",
        "spec.nodeName was set by hand, or the volume's affinity or the node's labels changed.",
        "kubectl get pv <volume> -o jsonpath='{.spec.nodeAffinity}'",
    ),
    Meaning(
        KUBELET,
        (
            'MountVolume.<step> failed for volume "<volume>" : <why…>',
            'MapVolume.<step> failed for volume "<volume>" : <why…>',
            'UnmountVolume.<step> failed for volume "<volume>" : <why…>',
        ),
        "The kubelet mounts every volume before it starts a container; it tries again, up to every 2 min 2 s.",
        "The reason after the colon is the driver's: a missing Secret, a dead node plugin, a broken file system.",
        "kubectl describe pod <pod> -n <namespace>",
    ),
    Meaning(
        KUBELET,
        ("Unable to attach or mount volumes: <what…>", "unmounted volumes=[<volumes…>]<more…>"),
        "The kubelet waited two minutes for the pod's volumes and begins again.",
        "An earlier FailedMount or FailedAttachVolume names the reason.",
        "kubectl get events -n <namespace> --field-selector involvedObject.name=<pod>",
    ),
    Meaning(
        KUBELET,
        ("PVC <namespace>/<claim> is not bound", "PV <volume> is not bound to <namespace>/<claim>"),
        "The kubelet mounts bound claims only.",
        "spec.nodeName was set by hand, so that no scheduler waited for the claim.",
        "kubectl get pvc <claim> -n <namespace>",
    ),
    Meaning(
        "attach/detach controller",
        (
            (
                'Multi-Attach error for volume "<volume>" Volume is already exclusively attached to one node '
                "and can't be attached to another"
            ),
            'Multi-Attach error for volume "<volume>" Volume is already used by pod(s) <pods…>',
        ),
        "A ReadWriteOnce volume is attached to one node at a time.",
        "The old pod's node is down (six minutes), or a rolling update starts the new pod elsewhere.",
        "kubectl get volumeattachments",
    ),
    Meaning(
        "attach/detach controller",
        (
            'AttachVolume.Attach failed for volume "<volume>" : <why…>',
            'AttachVolume.<step> failed for volume "<volume>" : <why…>',
        ),
        "A volume is attached to its node before it is mounted.",
        "The driver's controller does not run, the disk is elsewhere, or the node's limit is reached.",
        "kubectl get volumeattachments",
    ),
    Meaning(
        "attach/detach controller",
        ('AttachVolume.Attach succeeded for volume "<volume>"',),
        "The volume is attached; the kubelet mounts it next.",
        "Ordinary.",
        "kubectl get volumeattachments",
    ),
)
