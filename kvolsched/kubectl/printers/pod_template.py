"""What `kubectl describe` prints of pods and templates alike: containers, volumes, spread constraints, tolerations."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ...api.kinds.meta import EMPTY, Frozen
from ...api.kinds.pod import Container, Pod, PodTemplateSpec, TopologySpreadConstraint, Volume
from ...api.kinds.selector import Toleration
from ...api.text.convert import to_plain
from ...api.text.yaml_text import packaged_data
from ..formatting import (
    MAX_ANNOTATION_LENGTH,
    NONE,
    annotation_lines,
    field_lines,
    format_selector,
    format_time,
    given_lines,
    go_string,
    label_lines,
)

INDENT = "    "
_PROBES = (("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"), ("Startup", "startupProbe"))


def container_lines(label: str, containers: Sequence[Container], statuses: Sequence[Frozen], pod: Pod | None,
                    space: str = "") -> Iterator[str]:
    """Yield a section of containers; `pod` resolves the fields that environment variables refer to."""
    by_name = {status.get("name"): status for status in statuses}
    yield f"{space}{label}:{'' if containers else f' {NONE}'}"
    for container in containers:
        status = by_name.get(container.name)
        yield f"  {space[:1]}{container.name}:"
        yield from _basic_lines(container, status)
        for title, words in (("Command", container.rest.get("command", ())), ("Args", container.rest.get("args", ()))):
            if words:
                yield f"{INDENT}{title}:"
                yield from (f"      {line}" for word in words for line in word.split("\n"))
        if status is not None:
            yield from _state_lines("State", status.get("state", EMPTY))
            if "terminated" in status.get("lastState", EMPTY):
                yield from _state_lines("Last State", status["lastState"])
            yield f"{INDENT}Ready:\t{status.get('ready', False)}"
            yield f"{INDENT}Restart Count:\t{status.get('restartCount', 0)}"
        yield from resource_lines(container.resources.limits, container.resources.requests)
        for title, name in _PROBES:
            if name in container.rest:
                yield f"{INDENT}{title}:\t{_format_probe(container.rest[name])}"
        yield from _environment_lines(container, pod)
        yield from _mount_lines(container)


def _basic_lines(container: Container, status: Frozen | None) -> Iterator[str]:
    if status is not None:
        yield f"{INDENT}Container ID:\t{status.get('containerID', '')}"
    yield f"{INDENT}Image:\t{container.image}"
    if status is not None:
        yield f"{INDENT}Image ID:\t{status.get('imageID', '')}"
    for title, ports in (
        ("Port", [f"{port.container_port}/{port.protocol}" for port in container.ports]),
        ("Host Port", [f"{port.host_port}/{port.protocol}" for port in container.ports]),
    ):
        yield f"{INDENT}{title}{'s' if len(ports) > 1 else ''}:\t{', '.join(ports) or NONE}"
    profile = container.rest.get("securityContext", EMPTY).get("seccompProfile")
    if profile is not None:
        yield f"{INDENT}SeccompProfile:\t{profile.get('type', '')}"
        if profile.get("type") == "Localhost":
            yield f"      LocalhostProfile:\t{profile.get('localhostProfile', '')}"


def _state_lines(title: str, state: Mapping[str, Any]) -> Iterator[str]:
    if "running" in state:
        yield f"{INDENT}{title}:\tRunning"
        yield f"      Started:\t{format_time(state['running'].get('startedAt'))}"
    elif "terminated" in state and "waiting" not in state:
        terminated = state["terminated"]
        yield f"{INDENT}{title}:\tTerminated"
        for name in ("reason", "message"):
            if terminated.get(name):
                yield f"      {name.title()}:\t{terminated[name]}"
        yield f"      Exit Code:\t{terminated.get('exitCode', 0)}"
        if terminated.get("signal", 0) > 0:
            yield f"      Signal:\t{terminated['signal']}"
        yield f"      Started:\t{format_time(terminated.get('startedAt'))}"
        yield f"      Finished:\t{format_time(terminated.get('finishedAt'))}"
    else:
        yield f"{INDENT}{title}:\tWaiting"
        if state.get("waiting", EMPTY).get("reason"):
            yield f"      Reason:\t{state['waiting']['reason']}"


def resource_lines(limits: Mapping[str, str], requests: Mapping[str, str], indent: str = INDENT) -> Iterator[str]:
    """Yield limits and requests, each sorted by resource."""
    for title, quantities in (("Limits", limits), ("Requests", requests)):
        if quantities:
            yield f"{indent}{title}:"
            yield from (f"{indent}  {name}:\t{text}" for name, text in sorted(quantities.items()))


def _format_probe(probe: Mapping[str, Any]) -> str:
    settings = (
        ("delay={}s", "initialDelaySeconds", 0), ("timeout={}s", "timeoutSeconds", 1),
        ("period={}s", "periodSeconds", 10),
        ("#success={}", "successThreshold", 1), ("#failure={}", "failureThreshold", 3),
    )  # fmt: skip
    timing = " ".join(words.format(probe.get(name, default)) for words, name, default in settings)
    if "exec" in probe:
        return f"exec {go_string(probe['exec'].get('command', ()))} {timing}"
    if "httpGet" in probe:
        get = probe["httpGet"]
        address = f"{get.get('host', '')}:{get['port']}{get.get('path', '/')}"
        return f"http-get {get.get('scheme', 'HTTP').lower()}://{address} {timing}"
    if "tcpSocket" in probe:
        return f"tcp-socket {probe['tcpSocket'].get('host', '')}:{probe['tcpSocket']['port']} {timing}"
    if "grpc" in probe:
        return f"grpc <pod>:{probe['grpc']['port']} {probe['grpc'].get('service', '')} {timing}"
    return f"unknown {timing}"


def _environment_lines(container: Container, pod: Pod | None) -> Iterator[str]:
    if container.rest.get("envFrom"):
        yield f"{INDENT}Environment Variables from:"
        for source in container.rest["envFrom"]:
            kind, field = ("ConfigMap", "configMapRef") if "configMapRef" in source else ("Secret", "secretRef")
            given, prefix = source.get(field, EMPTY), source.get("prefix", "")
            words = f"{kind} with prefix '{prefix}'" if prefix else kind
            yield f"      {given.get('name', '')}\t{words}\tOptional: {go_string(given.get('optional', False))}"
    variables = container.rest.get("env", ())
    yield f"{INDENT}Environment:" + ("" if variables else f"\t{NONE}")
    for variable in variables:
        name, source = variable.get("name", ""), variable.get("valueFrom")
        if source is None:
            first, *others = variable.get("value", "").split("\n")
            yield f"      {name}:\t{first}"
            yield from (f"      \t{line}" for line in others)
        elif "fieldRef" in source:
            path = source["fieldRef"].get("fieldPath", "")
            yield f"      {name}:\t{_field_value(pod, path)} ({source['fieldRef'].get('apiVersion', 'v1')}:{path})"
        elif "resourceFieldRef" in source:
            resource = source["resourceFieldRef"].get("resource", "")
            yield f"      {name}:\t{_resource_value(container, resource)} ({resource})"
        elif "secretKeyRef" in source or "configMapKeyRef" in source:
            given, where = (
                (source["secretKeyRef"], "in secret") if "secretKeyRef" in source
                else (source["configMapKeyRef"], "of config map")
            )  # fmt: skip
            words = f"<set to the key '{given.get('key', '')}' {where} '{given.get('name', '')}'>"
            yield f"      {name}:\t{words}\tOptional: {go_string(given.get('optional', False))}"


def _field_value(pod: Pod | None, path: str) -> str:
    """Return what a field path of the pod holds, "" for paths that kubectl does not resolve."""
    if pod is None:
        return ""
    field, _, key = path.partition("['")
    if key:
        maps = {"metadata.labels": pod.metadata.labels, "metadata.annotations": pod.metadata.annotations}
        return str(maps.get(field, EMPTY).get(key.removesuffix("']"), ""))
    if path.removeprefix("metadata.") in ("name", "namespace", "uid"):
        return str(getattr(pod.metadata, path.removeprefix("metadata.")))
    fields = {
        "spec.nodeName": pod.spec.node_name, "spec.serviceAccountName": pod.spec.rest.get("serviceAccountName", ""),
        "status.hostIP": pod.status.rest.get("hostIP", ""), "status.podIP": pod.status.rest.get("podIP", ""),
    }
    return str(fields.get(path, ""))


def _resource_value(container: Container, resource: str) -> str:
    kind, _, name = resource.partition(".")
    amounts = container.resources.limits if kind == "limits" else container.resources.requests
    return str(amounts.get(name, "node allocatable" if resource in ("limits.cpu", "limits.memory") else "0"))


def _mount_lines(container: Container) -> Iterator[str]:
    mounts, devices = container.rest.get("volumeMounts", ()), container.rest.get("volumeDevices", ())
    suffix = "" if mounts else f"\t{NONE}"
    yield f"{INDENT}Mounts:{suffix}"
    for mount in sorted(mounts, key=lambda mount: mount.get("mountPath", "")):
        flags = "ro" if mount.get("readOnly") else "rw"
        if mount.get("subPath"):
            flags += f",path={json.dumps(mount['subPath'], ensure_ascii=False)}"
        yield f"      {mount.get('mountPath', '')} from {mount.get('name', '')} ({flags})"
    if devices:
        yield f"{INDENT}Devices:{suffix}"
        for device in sorted(devices, key=lambda device: device.get("devicePath", "")):
            yield f"      {device.get('devicePath', '')} from {device.get('name', '')}"


_CLAIM_TYPE = "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)"


def volume_lines(volumes: Sequence[Volume], space: str = "") -> Iterator[str]:
    """Yield the section `Volumes`."""
    yield f"{space}Volumes:" + ("" if volumes else f"\t{NONE}")
    for volume in volumes:
        yield f"  {space[:1]}{volume.name}:"
        claim, plain = volume.persistent_volume_claim, to_plain(volume)
        if claim is not None:
            yield f"{INDENT}Type:\t{_CLAIM_TYPE}"
            yield f"{INDENT}ClaimName:\t{claim.claim_name}"
            yield f"{INDENT}ReadOnly:\t{go_string(claim.read_only)}"
        elif "ephemeral" in plain:
            yield from _ephemeral_lines(plain["ephemeral"].get("volumeClaimTemplate"))
        elif "projected" in volume.rest:
            yield from _projected_lines(volume.rest["projected"].get("sources", ()))
        elif "downwardAPI" in volume.rest:
            yield f"{INDENT}Type:\tDownwardAPI (a volume populated by information about the pod)"
            yield f"{INDENT}Items:"
            for item in volume.rest["downwardAPI"].get("items", ()):
                if "fieldRef" in item:
                    yield f"      {item['fieldRef'].get('fieldPath', '')} -> {item.get('path', '')}"
                if "resourceFieldRef" in item:
                    yield f"      {item['resourceFieldRef'].get('resource', '')} -> {item.get('path', '')}"
        else:
            yield from source_lines(plain)


@cache
def _volume_sources() -> dict[str, dict[str, Any]]:
    """Return by manifest name the `type` of a source, and its `fields`: label, manifest name, text if it is missing."""
    return dict(packaged_data(__package__, "volume_sources.yaml"))


def source_lines(plain: Mapping[str, Any]) -> Iterator[str]:
    """Yield the source of a pod's volume or a PersistentVolume: its type and fields."""
    sources = _volume_sources()
    name = next((name for name in sources if name in plain), None)
    if name is None:
        yield "  <unknown>"
        return
    source, fields = plain[name], sources[name]["fields"]
    if name == "csi" and "volumeHandle" in source:  # only a PersistentVolume has one
        fields = (*fields[:2], ("VolumeHandle", "volumeHandle", ""), *fields[2:])
    yield f"{INDENT}Type:\t{sources[name]['type']}"
    for label, field, default in fields:
        yield f"{INDENT}{label}:\t{go_string(source.get(field, default))}"
    if name == "csi":
        attributes = [f"{key}={value}" for key, value in sorted(source.get("volumeAttributes", EMPTY).items())]
        longest = MAX_ANNOTATION_LENGTH
        items = [f"{line[:longest]}..." if len(line) > longest else line for line in attributes]
        # kubectl indents the first of these values once more, and the others twice.
        items[:1] = [f"{INDENT}{item}" for item in items[:1]]
        yield from field_lines(f"{INDENT}VolumeAttributes", items, f"{INDENT}{INDENT}\t{INDENT}")


def _projected_lines(sources: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{INDENT}Type:\tProjected (a volume that contains injected data from multiple sources)"
    for source in sources:
        for field, label in (("secret", "SecretName"), ("configMap", "ConfigMapName")):
            if field in source:
                yield f"{INDENT}{label}:\t{source[field].get('name', '')}"
                yield f"{INDENT}Optional:\t{go_string(source[field].get('optional', False))}"
        if "downwardAPI" in source:
            yield f"{INDENT}DownwardAPI:\ttrue"
        if "serviceAccountToken" in source:
            yield f"{INDENT}TokenExpirationSeconds:\t{source['serviceAccountToken'].get('expirationSeconds', 3600)}"


def _ephemeral_lines(template: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield a generic ephemeral volume; kubectl's nested writer indents everything, even the values of labels."""
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
        yield from field_lines(f"{INDENT}{title}", [INDENT + first, *others], f"{more}\t{INDENT}")
    yield f"{INDENT}Capacity:\t"
    yield f"{INDENT}Access Modes:\t"
    yield f"{INDENT}VolumeMode:\t{spec.get('volumeMode', 'Filesystem')}"


def template_lines(template: PodTemplateSpec) -> Iterator[str]:
    """Yield the section `Pod Template`."""
    spec, space = template.spec, "  "
    yield "Pod Template:"
    yield from label_lines("  Labels", template.metadata.labels)
    if template.metadata.annotations:
        yield from annotation_lines("  Annotations", template.metadata.annotations)
    yield from (f"  {line}" for line in given_lines(Service_Account=spec.rest.get("serviceAccountName")))
    if spec.init_containers:
        yield from container_lines("Init Containers", spec.init_containers, (), None, space)
    yield from container_lines("Containers", spec.containers, (), None, space)
    yield from volume_lines(spec.volumes, space)
    yield from spread_constraint_lines(spec.topology_spread_constraints, space)
    yield from (f"  {line}" for line in given_lines(Priority_Class_Name=spec.priority_class_name))
    yield from label_lines("  Node-Selectors", spec.node_selector)
    yield from field_lines("  Tolerations", format_tolerations(spec.tolerations))


def spread_constraint_lines(constraints: Sequence[TopologySpreadConstraint], space: str = "") -> list[str]:
    """Return the topology spread constraints, one a line; nothing without any."""
    items = []
    for constraint in sorted(constraints, key=lambda constraint: constraint.topology_key):
        selector = constraint.label_selector
        selected = f" for selector {format_selector(selector) or NONE}" if selector is not None else ""
        mode, skew = constraint.when_unsatisfiable, constraint.max_skew
        items.append(f"{constraint.topology_key}:{mode} when max skew {skew} is exceeded{selected}")
    return field_lines(f"{space}Topology Spread Constraints", items, f"{space}\t") if items else []


def format_tolerations(tolerations: Sequence[Toleration]) -> list[str]:
    """Return tolerations sorted by key: `dedicated=db:NoSchedule`, `key:NoExecute op=Exists for 300s`."""
    texts = []
    for each in sorted(tolerations, key=lambda toleration: toleration.key):
        text = each.key + f"={each.value}" * bool(each.value) + f":{each.effect}" * bool(each.effect)
        if each.operator == "Exists" and not each.value:
            text = f"{text} op=Exists".lstrip()
        texts.append(text if each.toleration_seconds is None else f"{text} for {each.toleration_seconds}s")
    return texts
