"""The words that stay in a redacted dump: those that Kubernetes' own code and documentation name, each in full.

A word that is in no list here, in no enumeration of `fields.json` and in no sentence of `decode/table` is replaced. No
list goes by a domain: `kubernetes.io/hostname` stays, `kubernetes.io/of-my-own` does not.
"""

from __future__ import annotations

from ...api.kinds.kind import KINDS
from ...api.text.convert import schema


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LABELS = _words("""
    kubernetes.io/hostname kubernetes.io/os kubernetes.io/arch kubernetes.io/metadata.name kubernetes.io/role
    kubernetes.io/cluster-service kubernetes.io/service-name kubernetes.io/service-account.name
    beta.kubernetes.io/os beta.kubernetes.io/arch beta.kubernetes.io/instance-type
    beta.kubernetes.io/fluentd-ds-ready topology.kubernetes.io/zone topology.kubernetes.io/region
    failure-domain.beta.kubernetes.io/zone failure-domain.beta.kubernetes.io/region
    node.kubernetes.io/instance-type node.kubernetes.io/windows-build
    node.kubernetes.io/exclude-from-external-load-balancers node.kubernetes.io/exclude-disruption
    node-role.kubernetes.io/control-plane node-role.kubernetes.io/master node-role.kubernetes.io/worker
    node-restriction.kubernetes.io statefulset.kubernetes.io/pod-name apps.kubernetes.io/pod-index
    controller-revision-hash pod-template-hash pod-template-generation batch.kubernetes.io/job-name
    batch.kubernetes.io/controller-uid batch.kubernetes.io/job-completion-index job-name controller-uid
    endpointslice.kubernetes.io/managed-by service.kubernetes.io/headless service.kubernetes.io/service-proxy-name
    app.kubernetes.io/name app.kubernetes.io/instance app.kubernetes.io/version app.kubernetes.io/component
    app.kubernetes.io/part-of app.kubernetes.io/managed-by csi.storage.k8s.io/drivername
    csi.storage.k8s.io/managed-by pod-security.kubernetes.io/enforce pod-security.kubernetes.io/enforce-version
    pod-security.kubernetes.io/audit pod-security.kubernetes.io/audit-version pod-security.kubernetes.io/warn
    pod-security.kubernetes.io/warn-version topology.ebs.csi.aws.com/zone topology.gke.io/zone
    topology.disk.csi.azure.com/zone topology.cinder.csi.openstack.org/zone topology.csi.vmware.com/zone
    topology.csi.vmware.com/region addonmanager.kubernetes.io/mode csi.storage.k8s.io/size
""")
ANNOTATIONS = _words("""
    pv.kubernetes.io/bind-completed pv.kubernetes.io/bound-by-controller pv.kubernetes.io/provisioned-by
    pv.kubernetes.io/migrated-to pv.kubernetes.io/rollback volume.kubernetes.io/selected-node
    volume.kubernetes.io/storage-provisioner volume.kubernetes.io/storage-resizer
    volume.kubernetes.io/controller-managed-attach-detach volumes.kubernetes.io/controller-managed-attach-detach
    volumes.kubernetes.io/keep-terminated-pod-volumes volume.kubernetes.io/provisioner-deletion-secret-name
    volume.kubernetes.io/provisioner-deletion-secret-namespace volume.beta.kubernetes.io/storage-class
    volume.beta.kubernetes.io/storage-provisioner volume.beta.kubernetes.io/mount-options
    volume.alpha.kubernetes.io/selected-node volume.alpha.kubernetes.io/selectedNode
    volume.alpha.kubernetes.io/pre-resize-capacity volume.alpha.kubernetes.io/node-affinity
    volume.alpha.kubernetes.io/storage-class storage.alpha.kubernetes.io/migrated-plugins
    csi.volume.kubernetes.io/nodeid storageclass.kubernetes.io/is-default-class
    storageclass.beta.kubernetes.io/is-default-class kubectl.kubernetes.io/last-applied-configuration
    kubectl.kubernetes.io/restartedAt kubectl.kubernetes.io/default-container kubernetes.io/change-cause
    kubernetes.io/description deployment.kubernetes.io/revision deployment.kubernetes.io/revision-history
    deployment.kubernetes.io/desired-replicas deployment.kubernetes.io/max-replicas
    deprecated.daemonset.template.generation controller.kubernetes.io/pod-deletion-cost
    kubernetes.io/config.mirror kubernetes.io/config.source kubernetes.io/config.seen kubernetes.io/config.hash
    kubernetes.io/created-by kubernetes.io/limit-ranger kubernetes.io/psp kubernetes.io/egress-bandwidth
    kubernetes.io/ingress-bandwidth node.alpha.kubernetes.io/ttl alpha.kubernetes.io/provided-node-ip
    scheduler.alpha.kubernetes.io/critical-pod scheduler.alpha.kubernetes.io/preferAvoidPods
    scheduler.alpha.kubernetes.io/node-selector scheduler.alpha.kubernetes.io/defaultTolerations
    scheduler.alpha.kubernetes.io/tolerationsWhitelist seccomp.security.alpha.kubernetes.io/pod
    cluster-autoscaler.kubernetes.io/safe-to-evict cluster-autoscaler.kubernetes.io/scale-down-disabled
    cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes endpoints.kubernetes.io/last-change-trigger-time
    batch.kubernetes.io/job-tracking kubeadm.alpha.kubernetes.io/cri-socket
    storage.kubernetes.io/csiProvisionerIdentity service.kubernetes.io/topology-mode
    service.kubernetes.io/topology-aware-hints
""")
TAINTS = _words("""
    node.kubernetes.io/not-ready node.kubernetes.io/unreachable node.kubernetes.io/unschedulable
    node.kubernetes.io/memory-pressure node.kubernetes.io/disk-pressure node.kubernetes.io/pid-pressure
    node.kubernetes.io/network-unavailable node.kubernetes.io/out-of-service node.kubernetes.io/out-of-disk
    node.cloudprovider.kubernetes.io/uninitialized node.cloudprovider.kubernetes.io/shutdown
    ToBeDeletedByClusterAutoscaler DeletionCandidateOfClusterAutoscaler
""")
FINALIZERS = _words("""
    kubernetes foregroundDeletion orphan kubernetes.io/pvc-protection kubernetes.io/pv-protection
    kubernetes.io/pv-controller external-provisioner.volume.kubernetes.io/finalizer
    service.kubernetes.io/load-balancer-cleanup batch.kubernetes.io/job-tracking
    snapshot.storage.kubernetes.io/pvc-as-source-protection
""")
# In-tree plugins, and the CSI drivers that Kubernetes' migration and tests name.
DRIVERS = _words("""
    kubernetes.io/no-provisioner kubernetes.io/aws-ebs kubernetes.io/azure-disk kubernetes.io/azure-file
    kubernetes.io/cinder kubernetes.io/gce-pd kubernetes.io/portworx-volume kubernetes.io/vsphere-volume
    kubernetes.io/rbd kubernetes.io/cephfs kubernetes.io/glusterfs kubernetes.io/quobyte kubernetes.io/scaleio
    kubernetes.io/storageos kubernetes.io/flocker kubernetes.io/photon-pd kubernetes.io/host-path
    kubernetes.io/nfs kubernetes.io/iscsi kubernetes.io/fc kubernetes.io/local-volume kubernetes.io/csi
    kubernetes.io/empty-dir kubernetes.io/secret kubernetes.io/configmap kubernetes.io/projected
    kubernetes.io/downward-api ebs.csi.aws.com disk.csi.azure.com file.csi.azure.com cinder.csi.openstack.org
    pd.csi.storage.gke.io pxd.portworx.com csi.vsphere.vmware.com rbd.csi.ceph.com hostpath.csi.k8s.io
""")
_PLAIN_RESOURCES = _words("cpu memory storage pods ephemeral-storage")
_LIMITED = {f"{side}.{name}" for side in ("limits", "requests") for name in _PLAIN_RESOURCES}
RESOURCES = _PLAIN_RESOURCES | _LIMITED | _words("""
    attachable-volumes-aws-ebs attachable-volumes-gce-pd attachable-volumes-azure-disk attachable-volumes-cinder
    attachable-volumes-vsphere
""")
# Names of objects that every cluster has, or that Kubernetes gives a meaning; values of its labels and annotations.
NAMES = _words("""
    default kubernetes kube-system kube-public kube-node-lease kube-root-ca.crt kube-dns system-cluster-critical
    system-node-critical default-scheduler metadata.name metadata.namespace None true false yes no linux windows
    amd64 arm64 arm ppc64le s390x riscv64 /dev/termination-log /var/run/secrets/kubernetes.io/serviceaccount
""")
COMPONENTS = _words("""
    kube-scheduler default-scheduler kubelet kube-controller-manager kube-apiserver kube-proxy kubectl
    cluster-autoscaler persistentvolume-controller persistent-volume-binder statefulset-controller
    deployment-controller replicaset-controller replication-controller daemonset-controller daemon-set-controller
    node-controller node-lifecycle-controller taint-eviction-controller attachdetach-controller
    attach-detach-controller ephemeral-volume-controller ephemeral_volume ephemeral-volume
    generic-garbage-collector pvc-protection-controller pv-protection-controller disruption-controller
    controllermanager job-controller cronjob-controller volume_expand horizontal-pod-autoscaler
    endpoint-controller service-controller namespace-controller kubernetes.io/kubelet
""")
GROUPS = _words("""
    apps batch autoscaling policy extensions storage.k8s.io networking.k8s.io rbac.authorization.k8s.io
    scheduling.k8s.io coordination.k8s.io discovery.k8s.io events.k8s.io node.k8s.io admissionregistration.k8s.io
    apiextensions.k8s.io apiregistration.k8s.io authentication.k8s.io authorization.k8s.io certificates.k8s.io
    flowcontrol.apiserver.k8s.io internal.apiserver.k8s.io resource.k8s.io storagemigration.k8s.io
    snapshot.storage.k8s.io metrics.k8s.io
""")
API_KINDS = frozenset(kind.name for kind in KINDS) | _words("""
    List APIService Binding CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle
    ComponentStatus ConfigMap ControllerRevision CronJob CustomResourceDefinition DeviceClass Endpoints
    EndpointSlice Eviction FlowSchema HorizontalPodAutoscaler Ingress IngressClass IPAddress Job Lease LimitRange
    MutatingWebhookConfiguration NetworkPolicy PodTemplate PriorityLevelConfiguration ResourceClaim
    ResourceClaimTemplate ResourceQuota ResourceSlice Role RoleBinding RuntimeClass Secret ServiceAccount
    ServiceCIDR StorageVersionMigration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
    ValidatingWebhookConfiguration VolumeAttributesClass VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent
    Workload PodGroup PodMetrics NodeMetrics
""")
_CONDITIONS = _words("""
    Ready MemoryPressure DiskPressure PIDPressure NetworkUnavailable OutOfDisk PodScheduled Initialized
    ContainersReady PodReadyToStartContainers DisruptionTarget PodResizePending PodResizeInProgress
    AllContainersRestarting Resizing FileSystemResizePending ControllerResizeError NodeResizeError ModifyingVolume
    ModifyVolumeError Unused Available Progressing ReplicaFailure DisruptionAllowed LoadBalancerPortsError
    NamespaceDeletionDiscoveryFailure NamespaceDeletionContentFailure NamespaceDeletionGroupVersionParsingFailure
    NamespaceContentRemaining NamespaceFinalizersRemaining
""")
_REASONS = _words("""
    Unschedulable SchedulingGated SchedulerError Scheduled FailedScheduling Preempted Preempting Binding
    Scheduling TerminationByKubelet PreemptionByScheduler DeletionByTaintManager DeletionByPodGC
    EvictionByEvictionAPI KubeletReady KubeletNotReady KubeletHasSufficientMemory KubeletHasInsufficientMemory
    KubeletHasNoDiskPressure KubeletHasDiskPressure KubeletHasSufficientPID KubeletHasInsufficientPID
    NodeStatusUnknown NodeStatusNeverUpdated NodeLost NodeReady NodeNotReady NodeNotSchedulable NodeSchedulable
    NodeHasSufficientMemory NodeHasNoDiskPressure NodeHasSufficientPID NodeHasInsufficientMemory
    NodeHasDiskPressure NodeAllocatableEnforced RegisteredNode RemovingNode DeletingNode Starting Rebooted
    InvalidDiskCapacity RouteCreated NoRouteCreated ContainersNotReady ContainersNotInitialized PodCompleted
    PodFailed UnexpectedAdmissionError Evicted Completed Error OOMKilled ContainerCannotRun DeadlineExceeded
    StartError ContainerStatusUnknown ContainerCreating PodInitializing CrashLoopBackOff ImagePullBackOff
    ErrImagePull ErrImageNeverPull InvalidImageName CreateContainerConfigError CreateContainerError
    RunContainerError ImageInspectError RegistryUnavailable PreCreateHookError PreStartHookError
    PostStartHookError NodeAffinity NodeName NodePorts TaintToleration OutOfcpu OutOfmemory OutOfpods
    OutOfephemeral-storage Pulling Pulled Created Started Killing BackOff Failed Unhealthy ProbeWarning
    FailedPostStartHook FailedPreStopHook FailedMount FailedMapVolume FailedAttachVolume FailedDetachVolume
    FailedUnMount SuccessfulAttachVolume SuccessfulMountVolume VolumeResizeFailed FileSystemResizeSuccessful
    FileSystemResizeRequired FailedCreatePodSandBox SandboxChanged FailedKillPod FailedSync FailedValidation
    NetworkNotReady MinimumReplicasAvailable MinimumReplicasUnavailable NewReplicaSetCreated
    NewReplicaSetAvailable FoundNewReplicaSet ReplicaSetUpdated ReplicaSetCreateError ProgressDeadlineExceeded
    DeploymentPaused DeploymentResumed ScalingReplicaSet FailedCreate FailedDelete FailedUpdate SuccessfulCreate
    SuccessfulDelete SuccessfulUpdate RecreatingFailedPod FailedDaemonPod SucceededDaemonPod FailedPlacement
    SelectingAll SufficientPods InsufficientPods SyncFailed NoPods NoControllers CalculateExpectedPodCountFailed
    UnmanagedPods WaitForFirstConsumer WaitForPodScheduled ExternalProvisioning Provisioning ProvisioningFailed
    ProvisioningSucceeded ProvisioningCleanupFailed FailedBinding VolumeMismatch VolumeDelete VolumeFailedDelete
    VolumeFailedRecycle VolumeRecycled VolumeUnknownReclaimPolicy VolumeConditionAbnormal ClaimLost ClaimMisbound
    RecyclerPod ExternalExpanding Resizing ResizeFinished FileSystemResizeFailed TaintManagerEviction
    TriggeredScaleUp NotTriggerScaleUp ScaleDown ScaleDownFailed ScaledUpGroup ScaleUpTimedOut ScaleDownEmpty
    Infeasible Deferred DisruptionAllowed
""")
# Words of fields for which fields.json has no enumeration.
_OTHER_VALUES = _words("""
    ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod True False Unknown Normal Warning In NotIn Exists
    DoesNotExist Equal Gt Lt Hostname InternalIP ExternalIP InternalDNS ExternalDNS Memory HugePages HugePages-2Mi
    HugePages-1Gi ext2 ext3 ext4 xfs btrfs zfs vfat ntfs NTFS nfs tmpfs None File ReadWriteOnceWithFSType
    Persistent Ephemeral IPv4 IPv6 Retain Delete Disabled IfPossible Enabled MountOption Recursive VIP Proxy
    PreferClose PreferSameZone PreferSameNode Restart RestartAllContainers NotRequired RestartContainer Proposed
    InProgress Infeasible Deferred Healthy Unhealthy AlwaysAllow IfHealthyBudget ControllerResizeInProgress
    ControllerResizeInfeasible NodeResizePending NodeResizeInProgress NodeResizeInfeasible RSA3072 RSA4096
    ECDSAP256 ECDSAP384 ECDSAP521 ED25519 Always OnFailure Never OrderedReady Parallel
""")
ENUMERATED = (
    frozenset(word for fields in schema()["types"].values() for field in fields.values() if isinstance(field, dict)
              for word in field.get("enum", ()))
    | _CONDITIONS | _REASONS | _OTHER_VALUES
)  # fmt: skip
FIELD_NAMES = frozenset(name for fields in schema()["types"].values() for name in fields)
# What a sentence may name beside objects: plugins, extension points, codes of gRPC.
IN_SENTENCES = _words("""
    DefaultBinder DefaultPreemption DynamicResources GangScheduling ImageLocality InterPodAffinity NodeAffinity
    NodeName NodeDeclaredFeatures NodePorts NodeResourcesBalancedAllocation NodeResourcesFit NodeUnschedulable
    NodeVolumeLimits PodTopologySpread PrioritySort SchedulingGates TaintToleration VolumeBinding
    VolumeRestrictions VolumeZone PreEnqueue QueueSort PreFilter Filter PostFilter PreScore Score Reserve Permit
    PreBind Bind PostBind Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists
    PermissionDenied ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable
    DataLoss Unauthenticated persistentvolumeclaims persistentvolumes storageclasses.storage.k8s.io
    csinodes.storage.k8s.io pods nodes namespaces
""")
# Keys of a StorageClass's parameters that in-tree plugins and CSI's provisioner read, and their values.
PARAMETERS = _words("""
    type zone zones replication-type regional-pd none fsType fstype csi.storage.k8s.io/fstype
    csi.storage.k8s.io/provisioner-secret-name csi.storage.k8s.io/provisioner-secret-namespace
    csi.storage.k8s.io/node-stage-secret-name csi.storage.k8s.io/node-stage-secret-namespace
    csi.storage.k8s.io/node-publish-secret-name csi.storage.k8s.io/node-publish-secret-namespace
    csi.storage.k8s.io/controller-publish-secret-name csi.storage.k8s.io/controller-publish-secret-namespace
    csi.storage.k8s.io/controller-expand-secret-name csi.storage.k8s.io/controller-expand-secret-namespace
    csi.storage.k8s.io/node-expand-secret-name csi.storage.k8s.io/node-expand-secret-namespace
    csi.storage.k8s.io/pv/name csi.storage.k8s.io/pvc/name csi.storage.k8s.io/pvc/namespace
""")
# Keys whose numbers, quantities and times are counts, no names.
COUNTING_KEYS = _words("""
    apps.kubernetes.io/pod-index batch.kubernetes.io/job-completion-index deployment.kubernetes.io/revision
    deployment.kubernetes.io/revision-history deployment.kubernetes.io/desired-replicas
    deployment.kubernetes.io/max-replicas deprecated.daemonset.template.generation pod-template-generation
    controller.kubernetes.io/pod-deletion-cost volume.alpha.kubernetes.io/pre-resize-capacity
    node.alpha.kubernetes.io/ttl kubectl.kubernetes.io/restartedAt csi.storage.k8s.io/size
""")
KEPT_PARTS = frozenset({"latest", "sha256"})  # parts of images' names
KEPT = LABELS | ANNOTATIONS | TAINTS | FINALIZERS | DRIVERS | RESOURCES | NAMES | {"kubernetes.io", "k8s.io", "aws:"}
KEPT_DOMAINS = frozenset(word.partition("/")[0] for word in KEPT if "/" in word)
