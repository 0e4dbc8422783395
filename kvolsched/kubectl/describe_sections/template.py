"""The parts of `kubectl describe` that pods and pod templates share: containers, volumes, spreading, tolerations.

Pure generators of lines, fields parted by tabs, to be aligned with the lines around them. A template indents by `space`
and has no statuses. Mirrors kubectl `pkg/describe/describe.go` (v1.36.2).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...api.kinds.meta import EMPTY, Frozen
from ...api.kinds.pod import Container, ContainerPort, Pod, PodTemplateSpec, TopologySpreadConstraint
from ...api.kinds.pod_volume import Volume
from ...api.kinds.selector import Toleration
from ...api.text.convert import to_plain
from ..text import LONGEST_ANNOTATION, NONE, UNSET, annotations_column, column, labels_column, selected, stamp, truth

INDENT = "    "
Fields = Sequence[tuple[str, str, Any]]  # label, manifest name, what is printed when it is not given

# Volume sources of pods and PersistentVolumes by manifest name: what `Type` says, and the fields that follow it.
_DISK: Fields = (("FSType", "fsType", ""), ("Partition", "partition", 0), ("ReadOnly", "readOnly", False))
_SECRET: Fields = (("SecretRef", "secretRef", None), ("ReadOnly", "readOnly", False))
SOURCES: Mapping[str, tuple[str, Fields]] = {
    "hostPath": ("HostPath (bare host directory volume)", (("Path", "path", ""), ("HostPathType", "type", NONE))),
    "emptyDir": ("EmptyDir (a temporary directory that shares a pod's lifetime)",
                 (("Medium", "medium", ""), ("SizeLimit", "sizeLimit", UNSET))),
    "gcePersistentDisk": ("GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
                          (("PDName", "pdName", ""), *_DISK)),
    "awsElasticBlockStore": ("AWSElasticBlockStore (a Persistent Disk resource in AWS)",
                             (("VolumeID", "volumeID", ""), *_DISK)),
    "secret": ("Secret (a volume populated by a Secret)",
               (("SecretName", "secretName", ""), ("Optional", "optional", False))),
    "configMap": ("ConfigMap (a volume populated by a ConfigMap)",
                  (("Name", "name", ""), ("Optional", "optional", False))),
    "nfs": ("NFS (an NFS mount that lasts the lifetime of a pod)",
            (("Server", "server", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", False))),
    "azureDisk": ("AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
                  (("DiskName", "diskName", ""), ("DiskURI", "diskURI", ""), ("Kind", "kind", "Shared"),
                   ("FSType", "fsType", "ext4"), ("CachingMode", "cachingMode", "ReadWrite"),
                   ("ReadOnly", "readOnly", False))),
    "vsphereVolume": ("vSphereVolume (a Persistent Disk resource in vSphere)",
                      (("VolumePath", "volumePath", ""), ("FSType", "fsType", ""),
                       ("StoragePolicyName", "storagePolicyName", ""))),
    "cinder": ("Cinder (a Persistent Disk resource in OpenStack)",
               (("VolumeID", "volumeID", ""), ("FSType", "fsType", ""), ("ReadOnly", "readOnly", False),
                ("SecretRef", "secretRef", None))),
    "portworxVolume": ("PortworxVolume (a Portworx Volume resource)", (("VolumeID", "volumeID", ""),)),
    "local": ("LocalVolume (a persistent volume backed by local storage on a node)", (("Path", "path", ""),)),
    "cephfs": ("CephFS (a CephFS mount on the host that shares a pod's lifetime)",
               (("Monitors", "monitors", ()), ("Path", "path", ""), ("User", "user", ""),
                ("SecretFile", "secretFile", ""), *_SECRET)),
    "csi": ("CSI (a Container Storage Interface (CSI) volume source)",
            (("Driver", "driver", ""), ("FSType", "fsType", ""), ("ReadOnly", "readOnly", False))),
    "image": ("Image (a container image or OCI artifact)",
              (("Reference", "reference", ""), ("PullPolicy", "pullPolicy", ""))),
}  # fmt: skip
_CLAIM = "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)"


# -- templates -----------------------------------------------------------------------------------------------


def template_lines(template: PodTemplateSpec) -> Iterator[str]:
    """Yield the section `Pod Template`."""
    spec, space = template.spec, "  "
    yield "Pod Template:"
    yield from labels_column("  Labels", template.metadata.labels)
    if template.metadata.annotations:
        yield from annotations_column("  Annotations", template.metadata.annotations)
    if spec.rest.get("serviceAccountName"):
        yield f"  Service Account:\t{spec.rest['serviceAccountName']}"
    if spec.init_containers:
        yield from containers_lines("Init Containers", spec.init_containers, (), None, space)
    yield from containers_lines("Containers", spec.containers, (), None, space)
    yield from volumes_lines(spec.volumes, space)
    yield from spread_lines(spec.topology_spread_constraints, space)
    if spec.priority_class_name:
        yield f"  Priority Class Name:\t{spec.priority_class_name}"
    yield from labels_column("  Node-Selectors", spec.node_selector)
    yield from column("  Tolerations", tolerations(spec.tolerations))


def spread_lines(constraints: Sequence[TopologySpreadConstraint], space: str = "") -> list[str]:
    """Return the topology spread constraints, one a line; nothing without any."""
    items = [
        f"{one.topology_key}:{one.when_unsatisfiable} when max skew {one.max_skew} is exceeded"
        + (f" for selector {selected(one.label_selector) or NONE}" if one.label_selector is not None else "")
        for one in sorted(constraints, key=lambda one: one.topology_key)
    ]
    return column(f"{space}Topology Spread Constraints", items, f"{space}\t") if items else []


def tolerations(given: Sequence[Toleration]) -> list[str]:
    """Return tolerations sorted by key: `dedicated=db:NoSchedule`, `key:NoExecute op=Exists for 300s`."""
    return [_toleration(one) for one in sorted(given, key=lambda one: one.key)]


def _toleration(one: Toleration) -> str:
    said = one.key + (f"={one.value}" if one.value else "") + (f":{one.effect}" if one.effect else "")
    if one.operator == "Exists" and not one.value:
        said = f"{said} op=Exists" if said else "op=Exists"
    return said if one.toleration_seconds is None else f"{said} for {one.toleration_seconds}s"


# -- containers ----------------------------------------------------------------------------------------------


def containers_lines(
    label: str, containers: Sequence[Container], statuses: Sequence[Frozen], pod: Pod | None, space: str = ""
) -> Iterator[str]:
    """Yield a section of containers; `pod` resolves the fields that environment variables refer to."""
    by_name = {status.get("name"): status for status in statuses}
    yield f"{space}{label}:{'' if containers else f' {NONE}'}"
    for one in containers:
        status = by_name.get(one.name)
        yield f"  {space[:1]}{one.name}:"
        yield from _basics(one, status)
        for title, words in (("Command", one.rest.get("command", ())), ("Args", one.rest.get("args", ()))):
            if words:
                yield f"{INDENT}{title}:"
                yield from (f"      {line}" for word in words for line in word.split("\n"))
        if status is not None:
            yield from _state("State", status.get("state", EMPTY))
            if "terminated" in status.get("lastState", EMPTY):
                yield from _state("Last State", status["lastState"])
            yield f"{INDENT}Ready:\t{status.get('ready', False)}"
            yield f"{INDENT}Restart Count:\t{status.get('restartCount', 0)}"
        yield from resources_lines(one.resources.limits, one.resources.requests)
        for title, name in _PROBES:
            if name in one.rest:
                yield f"{INDENT}{title}:\t{_probe(one.rest[name])}"
        yield from _environment(one, pod)
        yield from _mounts(one)


_PROBES = (("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"), ("Startup", "startupProbe"))


def _basics(one: Container, status: Frozen | None) -> Iterator[str]:
    if status is not None:
        yield f"{INDENT}Container ID:\t{status.get('containerID', '')}"
    yield f"{INDENT}Image:\t{one.image}"
    if status is not None:
        yield f"{INDENT}Image ID:\t{status.get('imageID', '')}"
    for title, ports in (
        ("Port", [_port(port, port.container_port) for port in one.ports]),
        ("Host Port", [_port(port, port.host_port) for port in one.ports]),
    ):
        yield f"{INDENT}{title}{'s' if len(ports) > 1 else ''}:\t{', '.join(ports) or NONE}"
    profile = one.rest.get("securityContext", EMPTY).get("seccompProfile")
    if profile is not None:
        yield f"{INDENT}SeccompProfile:\t{profile.get('type', '')}"
        if profile.get("type") == "Localhost":
            yield f"      LocalhostProfile:\t{profile.get('localhostProfile', '')}"


def _port(port: ContainerPort, number: int) -> str:
    return f"{number}/{port.protocol}"


def _state(title: str, state: Mapping[str, Any]) -> Iterator[str]:
    if "running" in state:
        yield f"{INDENT}{title}:\tRunning"
        yield f"      Started:\t{stamp(state['running'].get('startedAt'))}"
    elif "terminated" in state and "waiting" not in state:
        ended = state["terminated"]
        yield f"{INDENT}{title}:\tTerminated"
        yield from (f"      {name.title()}:\t{ended[name]}" for name in ("reason", "message") if ended.get(name))
        yield f"      Exit Code:\t{ended.get('exitCode', 0)}"
        if ended.get("signal", 0) > 0:
            yield f"      Signal:\t{ended['signal']}"
        yield f"      Started:\t{stamp(ended.get('startedAt'))}"
        yield f"      Finished:\t{stamp(ended.get('finishedAt'))}"
    else:
        yield f"{INDENT}{title}:\tWaiting"
        if state.get("waiting", EMPTY).get("reason"):
            yield f"      Reason:\t{state['waiting']['reason']}"


def resources_lines(limits: Mapping[str, str], requests: Mapping[str, str], indent: str = INDENT) -> Iterator[str]:
    """Yield limits and requests, each sorted by resource."""
    for title, quantities in (("Limits", limits), ("Requests", requests)):
        if quantities:
            yield f"{indent}{title}:"
            yield from (f"{indent}  {name}:\t{text}" for name, text in sorted(quantities.items()))


def _probe(probe: Mapping[str, Any]) -> str:
    wanted = (
        ("delay={}s", "initialDelaySeconds", 0), ("timeout={}s", "timeoutSeconds", 1),
        ("period={}s", "periodSeconds", 10),
        ("#success={}", "successThreshold", 1), ("#failure={}", "failureThreshold", 3),
    )  # fmt: skip
    how = " ".join(words.format(probe.get(name, default)) for words, name, default in wanted)
    if "exec" in probe:
        return f"exec {truth(probe['exec'].get('command', ()))} {how}"
    if "httpGet" in probe:
        get = probe["httpGet"]
        where = f"{get.get('host', '')}:{get['port']}{get.get('path', '/')}"
        return f"http-get {get.get('scheme', 'HTTP').lower()}://{where} {how}"
    if "tcpSocket" in probe:
        return f"tcp-socket {probe['tcpSocket'].get('host', '')}:{probe['tcpSocket']['port']} {how}"
    if "grpc" in probe:
        return f"grpc <pod>:{probe['grpc']['port']} {probe['grpc'].get('service', '')} {how}"
    return f"unknown {how}"


def _environment(one: Container, pod: Pod | None) -> Iterator[str]:
    if one.rest.get("envFrom"):
        yield f"{INDENT}Environment Variables from:"
        for source in one.rest["envFrom"]:
            kind, field = ("ConfigMap", "configMapRef") if "configMapRef" in source else ("Secret", "secretRef")
            given, prefix = source.get(field, EMPTY), source.get("prefix", "")
            words = f"{kind} with prefix '{prefix}'" if prefix else kind
            yield f"      {given.get('name', '')}\t{words}\tOptional: {truth(given.get('optional', False))}"
    variables = one.rest.get("env", ())
    yield f"{INDENT}Environment:" + ("" if variables else f"\t{NONE}")
    for variable in variables:
        name, source = variable.get("name", ""), variable.get("valueFrom")
        if source is None:
            first, *others = variable.get("value", "").split("\n")
            yield f"      {name}:\t{first}"
            yield from (f"      \t{line}" for line in others)
        elif "fieldRef" in source:
            path = source["fieldRef"].get("fieldPath", "")
            yield f"      {name}:\t{_field(pod, path)} ({source['fieldRef'].get('apiVersion', 'v1')}:{path})"
        elif "resourceFieldRef" in source:
            resource = source["resourceFieldRef"].get("resource", "")
            yield f"      {name}:\t{_resource(one, resource)} ({resource})"
        elif "secretKeyRef" in source or "configMapKeyRef" in source:
            given, where = (
                (source["secretKeyRef"], "in secret") if "secretKeyRef" in source
                else (source["configMapKeyRef"], "of config map")
            )  # fmt: skip
            words = f"<set to the key '{given.get('key', '')}' {where} '{given.get('name', '')}'>"
            yield f"      {name}:\t{words}\tOptional: {truth(given.get('optional', False))}"


def _field(pod: Pod | None, path: str) -> str:
    """Return what a field path of the pod holds, "" where kubectl cannot say it."""
    if pod is None:
        return ""
    subject, _, key = path.partition("['")
    if key:
        kept = {"metadata.labels": pod.metadata.labels, "metadata.annotations": pod.metadata.annotations}
        return str(kept.get(subject, EMPTY).get(key.removesuffix("']"), ""))
    if path.removeprefix("metadata.") in ("name", "namespace", "uid"):
        return str(getattr(pod.metadata, path.removeprefix("metadata.")))
    found = {
        "spec.nodeName": pod.spec.node_name,
        "spec.serviceAccountName": pod.spec.rest.get("serviceAccountName", ""),
        "status.hostIP": pod.status.rest.get("hostIP", ""),
        "status.podIP": pod.status.rest.get("podIP", ""),
    }
    return str(found.get(path, ""))


def _resource(one: Container, resource: str) -> str:
    kind, _, name = resource.partition(".")
    given = one.resources.limits if kind == "limits" else one.resources.requests
    return str(given.get(name, "node allocatable" if resource in ("limits.cpu", "limits.memory") else "0"))


def _mounts(one: Container) -> Iterator[str]:
    mounts, devices = one.rest.get("volumeMounts", ()), one.rest.get("volumeDevices", ())
    none = "" if mounts else f"\t{NONE}"
    yield f"{INDENT}Mounts:{none}"
    for mount in sorted(mounts, key=lambda mount: mount.get("mountPath", "")):
        flags = "ro" if mount.get("readOnly") else "rw"
        if mount.get("subPath"):
            flags += f",path={json.dumps(mount['subPath'], ensure_ascii=False)}"
        yield f"      {mount.get('mountPath', '')} from {mount.get('name', '')} ({flags})"
    if devices:
        yield f"{INDENT}Devices:{none}"
        for device in sorted(devices, key=lambda device: device.get("devicePath", "")):
            yield f"      {device.get('devicePath', '')} from {device.get('name', '')}"


# -- volumes -------------------------------------------------------------------------------------------------


def volumes_lines(volumes: Sequence[Volume], space: str = "") -> Iterator[str]:
    """Yield the section `Volumes`."""
    yield f"{space}Volumes:" + ("" if volumes else f"\t{NONE}")
    for volume in volumes:
        yield f"  {space[:1]}{volume.name}:"
        claim, found = volume.persistent_volume_claim, to_plain(volume)
        if claim is not None:
            yield f"{INDENT}Type:\t{_CLAIM}"
            yield f"{INDENT}ClaimName:\t{claim.claim_name}"
            yield f"{INDENT}ReadOnly:\t{truth(claim.read_only)}"
        elif "ephemeral" in found:
            yield from _ephemeral(found["ephemeral"].get("volumeClaimTemplate"))
        elif "projected" in volume.rest:
            yield from _projected(volume.rest["projected"].get("sources", ()))
        elif "downwardAPI" in volume.rest:
            yield f"{INDENT}Type:\tDownwardAPI (a volume populated by information about the pod)"
            yield f"{INDENT}Items:"
            for item in volume.rest["downwardAPI"].get("items", ()):
                if "fieldRef" in item:
                    yield f"      {item['fieldRef'].get('fieldPath', '')} -> {item.get('path', '')}"
                if "resourceFieldRef" in item:
                    yield f"      {item['resourceFieldRef'].get('resource', '')} -> {item.get('path', '')}"
        else:
            yield from source_lines(found)


def source_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the source of a pod's volume or a PersistentVolume: its type and fields."""
    name = next((name for name in SOURCES if name in found), None)
    if name is None:
        yield "  <unknown>"
        return
    words, fields = SOURCES[name]
    source = found[name]
    if name == "csi" and "volumeHandle" in source:  # only a PersistentVolume has one
        fields = (*fields[:2], ("VolumeHandle", "volumeHandle", ""), *fields[2:])
    yield f"{INDENT}Type:\t{words}"
    for label, field, default in fields:
        yield f"{INDENT}{label}:\t{truth(source.get(field, default))}"
    if name == "csi":
        attributes = [f"{key}={value}" for key, value in sorted(source.get("volumeAttributes", EMPTY).items())]
        cut = [line[:LONGEST_ANNOTATION] + "..." if len(line) > LONGEST_ANNOTATION else line for line in attributes]
        # kubectl indents these values once more, and the lines that follow twice.
        items = [f"{INDENT}{cut[0]}", *cut[1:]] if cut else []
        yield from column(f"{INDENT}VolumeAttributes", items, f"{INDENT}{INDENT}\t{INDENT}")


def _projected(sources: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{INDENT}Type:\tProjected (a volume that contains injected data from multiple sources)"
    for source in sources:
        for field, label in (("secret", "SecretName"), ("configMap", "ConfigMapName")):
            if field in source:
                yield f"{INDENT}{label}:\t{source[field].get('name', '')}"
                yield f"{INDENT}Optional:\t{truth(source[field].get('optional', False))}"
        if "downwardAPI" in source:
            yield f"{INDENT}DownwardAPI:\ttrue"
        if "serviceAccountToken" in source:
            yield f"{INDENT}TokenExpirationSeconds:\t{source['serviceAccountToken'].get('expirationSeconds', 3600)}"


def _ephemeral(template: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield a generic ephemeral volume; kubectl's nested writer indents every piece, values of labels too."""
    words = "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)"
    yield f"{INDENT}Type:\t{words}"
    if template is None:
        return
    meta, spec = template.get("metadata", EMPTY), template.get("spec", EMPTY)
    yield f"{INDENT}StorageClass:\t{spec.get('storageClassName', '')}"
    yield f"{INDENT}Volume:\t{spec.get('volumeName', '')}"
    labels = [f"{key}={value}" for key, value in sorted(meta.get("labels", EMPTY).items())]
    annotations = [f"{key}: {value}" for key, value in sorted(meta.get("annotations", EMPTY).items())]
    for title, items, more in (("Labels", labels, INDENT + INDENT), ("Annotations", annotations, INDENT)):
        first, *others = items or [NONE]
        yield from column(f"{INDENT}{title}", [INDENT + first, *others], f"{more}\t{INDENT}")
    yield f"{INDENT}Capacity:\t"
    yield f"{INDENT}Access Modes:\t"
    yield f"{INDENT}VolumeMode:\t{spec.get('volumeMode', 'Filesystem')}"
