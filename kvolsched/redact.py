"""Redact a dump: replace its names, so that it can be shared and is still scheduled alike.

Every text is replaced unless it reveals nothing about its owner: kinds, enumeration values, reasons, quantities, times,
and label keys of Kubernetes' domains. Names are replaced part by part (`data-web-0` becomes `bqf-cxo-0`), so that
names composed of others still are, and keep their order, so that ties by name are broken alike; all other texts become
`redacted`. This module knows manifests, but no cluster and no scheduling rule.
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
KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")  # label keys in them and their subdomains stay
# Names that stay: every cluster has them, and components refer to them.
PUBLIC_NAMES = frozenset(
    {
        "default", "kube-system", "kube-public", "kube-node-lease", "kubernetes", "system-cluster-critical",
        "system-node-critical", "default-scheduler", "true", "false", "yes", "linux", "windows", "amd64", "arm64",
    }
)
# Drivers of public clouds and their label keys stay: attach limits and zones depend on them.
CLOUD_DOMAINS = (".csi.aws.com", ".csi.azure.com", ".gke.io", ".csi.openstack.org", "csi.vsphere.vmware.com")
IMAGE_TAGS = frozenset({"latest", "sha256"})  # parts of image names that stay
# Fields that hold a name, or a text that is compared like one.
NAME_FIELDS = frozenset({
    "name", "generateName", "namespace", "namespaces", "nodeName", "nominatedNodeName", "claimName", "volumeName",
    "storageClassName", "uid", "host", "hostname", "subdomain", "persistentVolumeName", "priorityClassName",
    "schedulerName", "serviceName", "serviceAccountName", "serviceAccount", "runtimeClassName", "attacher",
    "provisioner", "driver", "image", "imageID", "names", "volumeHandle", "pdName", "volumeID", "diskName", "diskURI",
    "monitors", "pool", "iqn", "targetPortal", "portals", "path", "server", "address", "hostIP", "hostIPs", "podIP",
    "podIPs", "ip", "podCIDR", "podCIDRs", "providerID", "nodeID", "mountPath", "devicePath", "secretName", "clusterIP",
    "clusterIPs", "volumeAttributesClassName", "volumesInUse", "volumesAttached", "currentVolumeAttributesClassName",
})
# Fields that hold a label key.
LABEL_KEY_FIELDS = frozenset({
    "key", "topologyKey", "matchLabelKeys", "mismatchLabelKeys", "topologyKeys", "finalizers",
})
# Fields that reveal nothing about their owner; enumeration values, quantities and times stay as well.
KEPT_FIELDS = frozenset({
    "apiVersion", "kind", "resourceVersion", "operator", "effect", "type", "status", "reason", "phase",
    "protocol", "accessModes", "apiGroup", "restartPolicy", "component", "reportingComponent", "action",
    "volumeLifecycleModes", "fsGroupPolicy", "fsType", "medium", "resourceName", "resource", "kubeletVersion",
    "architecture", "operatingSystem", "qosClass", "volumeMode", "podManagementPolicy", "whenDeleted",
    "whenScaled", "unhealthyPodEvictionPolicy",
})
LABEL_FIELDS = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
# Annotations of volume binding, whose value is a name; the values of all others are redacted.
NAME_ANNOTATIONS = tuple(
    f"{domain}.kubernetes.io/"
    for domain in (
        "pv", "volume", "volume.beta", "volume.alpha", "storageclass", "storageclass.beta", "storage.alpha",
    )
)
# Reasons of messages in which only names are replaced.
SCHEDULER_REASONS = frozenset({"FailedScheduling", "Unschedulable", "SchedulingGated"})
_NAME_PART = re.compile(r"\d{1,3}(?:[-.]\d{1,3}){3}|[^-./:@_,]+")  # an address, or the text between separators
_NAME_IN_MESSAGE = re.compile(r'"([^"]*)"|\{([^{}:]*): ?([^{}]*)\}')  # a quoted name, or a taint in its older format
_MAX_ORDINAL_DIGITS = 5  # longer numbers are no ordinals and are replaced
_SPECIAL_ADDRESSES = ("0.0.0.0", "127.0.0.1", "::", "::1")  # noqa: S104 - equal on every host


@attrs.frozen
class RedactedDump:
    """A dump without names: its objects as plain data, and the secret key: new name -> old name."""

    objects: tuple[dict[str, Any], ...]
    names: Mapping[str, str]


def redact(objects: Iterable[Any], *, salt: str = "") -> RedactedDump:
    """Return objects, typed or plain, without their names; equal objects and salt give equal results.

    Objects of kinds that are not modelled keep only their metadata.
    """
    plain = [to_plain(item) for item in objects]
    parts: set[str] = set()
    addresses: set[str] = set()
    collector = _NameReplacer(_recorder(parts), _recorder(addresses))
    for item in plain:
        collector.object(item)
    replacer = _NameReplacer(_new_parts(parts, salt).__getitem__, _new_addresses(addresses, salt).__getitem__)
    redacted = tuple(map(replacer.object, plain))
    return RedactedDump(redacted, {new: old for old, new in sorted(replacer.new_names.items()) if old != new})


def _recorder(words: set[str]) -> Callable[[str], str]:
    """Return a function that adds each word to a set and returns it unchanged."""

    def record(word: str) -> str:
        words.add(word)
        return word

    return record


def _new_parts(parts: set[str], salt: str) -> dict[str, str]:
    """Return a new word for each part: of one length, in the order of the parts, with gaps that depend on the salt."""
    number, numbered = 0, {}
    for index, part in enumerate(sorted(parts)):
        number += 1 + hashlib.blake2b(f"{salt}/{index}".encode(), digest_size=1).digest()[0] % 9
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


def _new_addresses(addresses: set[str], salt: str) -> dict[str, str]:
    """Return a private address of the same IP version for each address."""
    start = hashlib.blake2b(salt.encode(), digest_size=1).digest()[0]
    new = {}
    for index, address in enumerate(sorted(addresses)):
        number = start * 65536 + index + 1
        old = ipaddress.ip_address(address)
        net: Any = ipaddress.IPv4Address("10.0.0.0") if old.version == 4 else ipaddress.IPv6Address("fd00::")
        new[address] = str(net + number)
    return new


class _NameReplacer:
    """Replaces the names in plain objects. Mutable: `new_names` maps every name to its replacement."""

    def __init__(self, new_part: Callable[[str], str], new_address: Callable[[str], str]) -> None:
        self.new_part, self.new_address = new_part, new_address
        self.new_names: dict[str, str] = {}

    def object(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object with its names replaced."""
        type_name = schema()["kinds"].get(f"{data.get('apiVersion')}/{data.get('kind')}")
        if type_name is not None:
            return self.structure(data, type_name)
        kept = {key: data[key] for key in ("apiVersion", "kind") if isinstance(data.get(key), str)}
        metadata = data.get("metadata")
        return {**kept, "metadata": self.structure(metadata, "ObjectMeta")} if isinstance(metadata, dict) else kept

    def structure(self, data: Mapping[str, Any], type_name: str) -> dict[str, Any]:
        """Return a mapping of known fields with its names replaced; unknown fields are dropped."""
        fields = schema()["types"][type_name]
        redacted = {}
        for name, value in data.items():
            declared = fields.get(name)
            if declared is None:
                continue
            field_type = declared if isinstance(declared, str) else declared["type"]
            keep = name in KEPT_FIELDS or (isinstance(declared, dict) and "enum" in declared)
            if name == "message":
                redacted[name] = self.message(str(value)) if data.get("reason") in SCHEDULER_REASONS else REDACTED
            elif name in ("value", "values") and "key" in fields:
                redacted[name] = self.values(str(data.get("key", "")), value)
            else:
                redacted[name] = self.field(name, value, field_type, keep=keep)
        return redacted

    def field(self, name: str, value: Any, type_name: str, *, keep: bool) -> Any:
        """Return the value of a field with its names replaced, by its type, and a text by the field's name."""
        if isinstance(value, list):
            return [self.field(name, item, type_name[2:], keep=keep) for item in value]
        if isinstance(value, dict):
            return self.mapping(name, value, type_name)
        if not isinstance(value, str) or keep or type_name in ("quantity", "time", "intOrString"):
            return value
        if name in NAME_FIELDS:
            return self.name(value)
        return self.key(value) if name in LABEL_KEY_FIELDS else REDACTED if value else value

    def mapping(self, name: str, value: Mapping[str, Any], type_name: str) -> Any:
        """Return labels, annotations, quantities by resource, other maps of texts, or a structure, redacted."""
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
        """Return the redacted value of an annotation: names in annotations of volume binding."""
        return ",".join(map(self.name, text.split(","))) if key.startswith(NAME_ANNOTATIONS) else REDACTED

    def values(self, key: str, value: Any) -> Any:
        """Return the redacted value or values of a label: numbers stay, zones joined by `__` stay joined."""
        if isinstance(value, list):
            return [self.values(key, item) for item in value]
        if not isinstance(value, str) or (value.lstrip("-").isdigit() and value.isascii()):
            return value
        if key in (*ZONE_LABELS, *REGION_LABELS):
            return "__".join(self.name(part) for part in value.split("__"))
        return self.name(value)

    def key(self, text: str) -> str:
        """Return a redacted label key, finalizer or other qualified name; those of Kubernetes' domains stay."""
        domain = text.rpartition("/")[0]
        subdomains = tuple(f".{suffix}" for suffix in KUBERNETES_DOMAINS)
        if domain.endswith((*CLOUD_DOMAINS, *subdomains)) or domain in KUBERNETES_DOMAINS:
            return text
        return text if text == "metadata.name" else self.name(text)

    def name(self, text: str) -> str:
        """Return the replacement of a name, part by part, or of an address."""
        known = self.new_names.get(text)
        if known is not None:
            return known
        address, _, bits = text.partition("/")
        in_tree_plugin = text.rpartition("/")[0] in KUBERNETES_DOMAINS
        if _is_address(address):
            new = text if address in _SPECIAL_ADDRESSES else f"{self.new_address(address)}{'/' if bits else ''}{bits}"
        elif text in PUBLIC_NAMES or in_tree_plugin or text.endswith(CLOUD_DOMAINS):
            new = text
        else:
            new = _NAME_PART.sub(self._replace_part, text)
        self.new_names[text] = new
        return new

    def _replace_part(self, match: re.Match[str]) -> str:
        part = match.group()
        is_ordinal = part.isdigit() and part.isascii() and len(part) <= _MAX_ORDINAL_DIGITS
        return part if is_ordinal or part in IMAGE_TAGS else self.new_part(part)

    def message(self, text: str) -> str:
        """Return a scheduler's message with its names replaced."""

        def replace_name(match: re.Match[str]) -> str:
            if match.group(1) is not None:
                return f'"{self.name(match.group(1))}"'
            return f"{{{self.key(match.group(2))}: {self.values(match.group(2), match.group(3))}}}"

        return _NAME_IN_MESSAGE.sub(replace_name, text)


def _is_address(text: str) -> bool:
    if not text or text[0] not in "0123456789abcdefABCDEF:":
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
