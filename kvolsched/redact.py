"""A dump without its names: what can be shown to others, and is scheduled as before.

Every text is replaced unless it is known to say nothing about its owner: kinds, words of enumerations, reasons,
quantities, times, and label keys of Kubernetes' own domains. Names are replaced part by part (`data-web-0` becomes
`bqf-cxo-0`), so that names made of others stay so, and in their order, so that whoever goes by name decides alike;
everything else that is a text becomes `redacted`. This room knows manifests, no cluster and no rule of scheduling.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from .api.kinds.node import REGION_LABELS, ZONE_LABELS
from .api.text.convert import schema, to_plain

REDACTED = "redacted"
KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")  # label keys of these domains and below stay
# Names that stay: every cluster has them, and components know them.
PUBLIC_NAMES = frozenset(
    {
        "default", "kube-system", "kube-public", "kube-node-lease", "kubernetes", "system-cluster-critical",
        "system-node-critical", "default-scheduler", "true", "false", "yes", "linux", "windows", "amd64", "arm64",
    }
)
# Drivers of public clouds and their label keys: what counts towards a limit, and where zones are, goes by these.
CLOUD_DOMAINS = (".csi.aws.com", ".csi.azure.com", ".gke.io", ".csi.openstack.org", "csi.vsphere.vmware.com")
IMAGE_TAGS = frozenset({"latest", "sha256"})  # parts of images that mean something
# Fields that hold a name or what is compared like one.
NAME_FIELDS = frozenset({
    "name", "generateName", "namespace", "namespaces", "nodeName", "nominatedNodeName", "claimName",
    "volumeName", "storageClassName", "uid", "host", "hostname", "subdomain", "persistentVolumeName",
    "priorityClassName", "schedulerName", "serviceName", "serviceAccountName", "serviceAccount",
    "runtimeClassName", "attacher", "provisioner", "driver", "image", "imageID", "names", "volumeHandle",
    "pdName", "volumeID", "diskName", "diskURI", "monitors", "pool", "iqn", "targetPortal", "portals", "path",
    "server", "address", "hostIP", "hostIPs", "podIP", "podIPs", "ip", "podCIDR", "podCIDRs", "providerID",
    "nodeID", "mountPath", "devicePath", "secretName", "clusterIP", "clusterIPs", "volumeAttributesClassName",
    "volumesInUse", "volumesAttached", "currentVolumeAttributesClassName",
})
# Fields that hold a label key.
KEY_FIELDS = frozenset({
    "key", "topologyKey", "matchLabelKeys", "mismatchLabelKeys", "topologyKeys", "finalizers",
})
# Fields that say nothing about their owner; words of enumerations, quantities and times stay as well.
PUBLIC_FIELDS = frozenset({
    "apiVersion", "kind", "resourceVersion", "operator", "effect", "type", "status", "reason", "phase",
    "protocol", "accessModes", "apiGroup", "restartPolicy", "component", "reportingComponent", "action",
    "volumeLifecycleModes", "fsGroupPolicy", "fsType", "medium", "resourceName", "resource", "kubeletVersion",
    "architecture", "operatingSystem", "qosClass", "volumeMode", "podManagementPolicy", "whenDeleted",
    "whenScaled", "unhealthyPodEvictionPolicy",
})
LABEL_FIELDS = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
# Annotations that decide something keep their key, and their value is a name; of all others the value goes.
NAME_ANNOTATIONS = tuple(
    f"{domain}.kubernetes.io/"
    for domain in (
        "pv", "volume", "volume.beta", "volume.alpha", "storageclass", "storageclass.beta", "storage.alpha",
    )
)
NAME_MESSAGE_REASONS = frozenset({"FailedScheduling", "Unschedulable", "SchedulingGated"})  # reasons whose message has only names in it
_NAME_PART = re.compile(r"\d{1,3}(?:[-.]\d{1,3}){3}|[^-./:@_,]+")  # an address, or what stands between separators
_NAME_IN_MESSAGE = re.compile(r'"([^"]*)"|\{([^{}:]*): ?([^{}]*)\}')  # a name in quotes, a taint as it was once printed
_MAX_ORDINAL_DIGITS = 5  # digits: longer numbers are no ordinals but somebody's
_COMMON_ADDRESSES = ("0.0.0.0", "127.0.0.1", "::", "::1")  # noqa: S104 - addresses that mean the same everywhere


@attrs.frozen
class RedactedDump:
    """What is left of a dump: its objects as plain data, and the owner's key: new name -> old name."""

    objects: tuple[dict[str, Any], ...]
    names: Mapping[str, str]


def redact(objects: Iterable[Any], *, salt: str = "") -> RedactedDump:
    """Return objects, typed or plain, without their names; the same objects and salt give the same.

    Objects of kinds that are not modelled keep only their metadata.
    """
    plain = [to_plain(item) for item in objects]
    parts: set[str] = set()
    addresses: set[str] = set()
    collecting = _Replacer(_collector(parts), _collector(addresses))
    for item in plain:
        collecting.item(item)
    replacing = _Replacer(_replacement_words(parts, salt).__getitem__, _replacement_addresses(addresses, salt).__getitem__)
    found = tuple(map(replacing.item, plain))
    return RedactedDump(found, {new: old for old, new in sorted(replacing.said.items()) if old != new})


def _collector(words: set[str]) -> Callable[[str], str]:
    def note(word: str) -> str:
        words.add(word)
        return word

    return note


def _replacement_words(parts: set[str], salt: str) -> dict[str, str]:
    """Return a word of equal length for each part, in the order of the parts, with gaps that the salt decides."""
    number, numbered = 0, {}
    for place, part in enumerate(sorted(parts)):
        number += 1 + hashlib.blake2b(f"{salt}/{place}".encode(), digest_size=1).digest()[0] % 9
        numbered[part] = number
    width = 3
    while 26**width <= number:
        width += 1
    return {part: _letters(number, width) for part, number in numbered.items()}


def _letters(number: int, width: int) -> str:
    word = ""
    for _ in range(width):
        number, digit = divmod(number, 26)
        word = chr(97 + digit) + word
    return word


def _replacement_addresses(found: set[str], salt: str) -> dict[str, str]:
    """Return another address of a private net for each, of the same version."""
    start = hashlib.blake2b(salt.encode(), digest_size=1).digest()[0]
    made = {}
    for place, address in enumerate(sorted(found)):
        number = start * 65536 + place + 1
        old = ipaddress.ip_address(address)
        net: Any = ipaddress.IPv4Address("10.0.0.0") if old.version == 4 else ipaddress.IPv6Address("fd00::")
        made[address] = str(net + number)
    return made


class _Replacer:
    """One way through plain objects. Changes `said`: every name that was met, and what it became."""

    def __init__(self, part: Callable[[str], str], address: Callable[[str], str]) -> None:
        self.part, self.address = part, address
        self.said: dict[str, str] = {}

    def item(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return one object."""
        type_name = schema()["kinds"].get(f"{data.get('apiVersion')}/{data.get('kind')}")
        if type_name is not None:
            return self.structure(data, type_name)
        kept = {key: data[key] for key in ("apiVersion", "kind") if isinstance(data.get(key), str)}
        metadata = data.get("metadata")
        return {**kept, "metadata": self.structure(metadata, "ObjectMeta")} if isinstance(metadata, dict) else kept

    def structure(self, data: Mapping[str, Any], type_name: str) -> dict[str, Any]:
        """Return a mapping of known fields; what Kubernetes does not know goes."""
        fields = schema()["types"][type_name]
        found = {}
        for name, value in data.items():
            declared = fields.get(name)
            if declared is None:
                continue
            inner = declared if isinstance(declared, str) else declared["type"]
            plain = name in PUBLIC_FIELDS or (isinstance(declared, dict) and "enum" in declared)
            if name == "message":
                found[name] = self.message(str(value)) if data.get("reason") in NAME_MESSAGE_REASONS else REDACTED
            elif name in ("value", "values") and "key" in fields:
                found[name] = self.values(str(data.get("key", "")), value)
            else:
                found[name] = self.field(name, value, inner, plain=plain)
        return found

    def field(self, name: str, value: Any, type_name: str, *, plain: bool) -> Any:
        """Return the value of a field, by its type, and of a text by its name."""
        if isinstance(value, list):
            return [self.field(name, item, type_name[2:], plain=plain) for item in value]
        if isinstance(value, dict):
            return self.mapping(name, value, type_name)
        if not isinstance(value, str) or plain or type_name in ("quantity", "time", "intOrString"):
            return value
        if name in NAME_FIELDS:
            return self.name(value)
        return self.key(value) if name in KEY_FIELDS else REDACTED if value else value

    def mapping(self, name: str, value: Mapping[str, Any], type_name: str) -> Any:
        """Return labels, annotations, quantities by resource, other maps of texts, or a structure."""
        if not type_name.startswith("map["):
            return self.structure(value, type_name) if type_name in schema()["types"] else {}
        if name in LABEL_FIELDS:
            return {self.key(key): self.values(key, text) for key, text in value.items()}
        if name == "annotations":
            return {self.key(key): self.annotation(key, text) for key, text in value.items()}
        if type_name == "map[string]quantity":
            return dict(value)
        return {self.key(key): text if type_name == "map[string]time" else REDACTED for key, text in value.items()}

    def annotation(self, key: str, text: str) -> str:
        """Return the value of an annotation: a name where the binding loop reads it."""
        return ",".join(map(self.name, text.split(","))) if key.startswith(NAME_ANNOTATIONS) else REDACTED

    def values(self, key: str, value: Any) -> Any:
        """Return the value, or the list of values, of a label; numbers can be compared, zones stand several in one."""
        if isinstance(value, list):
            return [self.values(key, item) for item in value]
        if not isinstance(value, str) or (value.lstrip("-").isdigit() and value.isascii()):
            return value
        if key in (*ZONE_LABELS, *REGION_LABELS):
            return "__".join(self.name(part) for part in value.split("__"))
        return self.name(value)

    def key(self, text: str) -> str:
        """Return a label key, a finalizer or another qualified name; those of Kubernetes' domains stay."""
        domain = text.rpartition("/")[0]
        if domain.endswith(CLOUD_DOMAINS) or domain in KUBERNETES_DOMAINS or domain.endswith(tuple(f".{own}" for own in KUBERNETES_DOMAINS)):
            return text
        return text if text == "metadata.name" else self.name(text)

    def name(self, text: str) -> str:
        """Return a name, part by part, or another address for an address."""
        known = self.said.get(text)
        if known is not None:
            return known
        address, _, bits = text.partition("/")
        if _is_address(address):
            found = text if address in _COMMON_ADDRESSES else f"{self.address(address)}{'/' if bits else ''}{bits}"
        elif text in PUBLIC_NAMES or text.rpartition("/")[0] in KUBERNETES_DOMAINS or text.endswith(CLOUD_DOMAINS):  # the second: in-tree plugins
            found = text
        else:
            found = _NAME_PART.sub(self._part, text)
        self.said[text] = found
        return found

    def _part(self, match: re.Match[str]) -> str:
        part = match.group()
        short = part.isdigit() and part.isascii() and len(part) <= _MAX_ORDINAL_DIGITS
        return part if short or part in IMAGE_TAGS else self.part(part)

    def message(self, text: str) -> str:
        """Return a scheduler's sentence with other names in it."""

        def other(match: re.Match[str]) -> str:
            if match.group(1) is not None:
                return f'"{self.name(match.group(1))}"'
            return f"{{{self.key(match.group(2))}: {self.values(match.group(2), match.group(3))}}}"

        return _NAME_IN_MESSAGE.sub(other, text)


def _is_address(text: str) -> bool:
    if not text or text[0] not in "0123456789abcdefABCDEF:":
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
