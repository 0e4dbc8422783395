"""Replaces the names in a dump, so that it can be shared and is scheduled as before.

Every text is replaced unless it says nothing about its owner: kinds, enumeration values, reasons, quantities, times,
and label keys of Kubernetes' domains. Names are replaced part by part (`data-web-0` becomes `bqf-cxo-0`), so that
derived names stay derived, and in alphabetical order, so that decisions by name stay the same; any other text becomes
`redacted`. This module knows manifests, no cluster and no rule of scheduling.
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
KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")  # label keys of these domains and their subdomains stay
# Names that every cluster has; they stay.
PUBLIC_NAMES = frozenset(
    {
        "default", "kube-system", "kube-public", "kube-node-lease", "kubernetes", "system-cluster-critical",
        "system-node-critical", "default-scheduler", "true", "false", "yes", "linux", "windows", "amd64", "arm64",
    }
)
# Drivers and label keys of public clouds: attach limits and zones depend on them.
CLOUD_DOMAINS = (".csi.aws.com", ".csi.azure.com", ".gke.io", ".csi.openstack.org", "csi.vsphere.vmware.com")
IMAGE_TAGS = frozenset({"latest", "sha256"})  # parts of image names that stay
# Fields that hold a name, or a value that is compared like one.
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
# Fields that say nothing about their owner; enumeration values, quantities and times stay as well.
PUBLIC_FIELDS = frozenset({
    "apiVersion", "kind", "resourceVersion", "operator", "effect", "type", "status", "reason", "phase",
    "protocol", "accessModes", "apiGroup", "restartPolicy", "component", "reportingComponent", "action",
    "volumeLifecycleModes", "fsGroupPolicy", "fsType", "medium", "resourceName", "resource", "kubeletVersion",
    "architecture", "operatingSystem", "qosClass", "volumeMode", "podManagementPolicy", "whenDeleted",
    "whenScaled", "unhealthyPodEvictionPolicy",
})
LABEL_FIELDS = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
# The values of these annotations are names that components read; the values of others are redacted.
NAME_ANNOTATIONS = tuple(
    f"{domain}.kubernetes.io/"
    for domain in (
        "pv", "volume", "volume.beta", "volume.alpha", "storageclass", "storageclass.beta", "storage.alpha",
    )
)
# Reasons whose messages hold nothing private but names.
NAME_MESSAGE_REASONS = frozenset({"FailedScheduling", "Unschedulable", "SchedulingGated"})
_NAME_PART = re.compile(r"\d{1,3}(?:[-.]\d{1,3}){3}|[^-./:@_,]+")  # an address, or text between separators
_NAME_IN_MESSAGE = re.compile(r'"([^"]*)"|\{([^{}:]*): ?([^{}]*)\}')  # a name in quotes, or a taint in an older format
_MAX_ORDINAL_DIGITS = 5  # longer numbers are not ordinals and may be private
_COMMON_ADDRESSES = ("0.0.0.0", "127.0.0.1", "::", "::1")  # noqa: S104 - addresses with one meaning everywhere


@attrs.frozen
class RedactedDump:
    """A redacted dump: its objects as plain data, and the owner's key {new name: old name}."""

    objects: tuple[dict[str, Any], ...]
    names: Mapping[str, str]


def redact(objects: Iterable[Any], *, salt: str = "") -> RedactedDump:
    """Return objects, typed or plain, with other names; equal objects and salts give equal results.

    Objects of kinds that are not modelled keep only their metadata.
    """
    plain = [to_plain(obj) for obj in objects]
    parts: set[str] = set()
    addresses: set[str] = set()
    collecting = _Replacer(_collector(parts), _collector(addresses))
    for obj in plain:
        collecting.object(obj)
    words, other_addresses = _replacement_words(parts, salt), _replacement_addresses(addresses, salt)
    replacing = _Replacer(words.__getitem__, other_addresses.__getitem__)
    redacted = tuple(map(replacing.object, plain))
    return RedactedDump(redacted, {new: old for old, new in sorted(replacing.replaced.items()) if old != new})


def _collector(words: set[str]) -> Callable[[str], str]:
    def note(word: str) -> str:
        words.add(word)
        return word

    return note


def _replacement_words(parts: set[str], salt: str) -> dict[str, str]:
    """Return a word for each part, of equal length and in the order of the parts, with gaps decided by the salt."""
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
    """Return a private address of equal version for each address."""
    start = hashlib.blake2b(salt.encode(), digest_size=1).digest()[0]
    replacements = {}
    for place, address in enumerate(sorted(found)):
        number = start * 65536 + place + 1
        old = ipaddress.ip_address(address)
        net: Any = ipaddress.IPv4Address("10.0.0.0") if old.version == 4 else ipaddress.IPv6Address("fd00::")
        replacements[address] = str(net + number)
    return replacements


class _Replacer:
    """Replaces texts of plain objects. Mutable: `replaced` maps every name so far to its replacement."""

    def __init__(self, part: Callable[[str], str], address: Callable[[str], str]) -> None:
        self.part, self.address = part, address
        self.replaced: dict[str, str] = {}

    def object(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return one object with replaced texts."""
        type_name = schema()["kinds"].get(f"{data.get('apiVersion')}/{data.get('kind')}")
        if type_name is not None:
            return self.structure(data, type_name)
        kept = {key: data[key] for key in ("apiVersion", "kind") if isinstance(data.get(key), str)}
        metadata = data.get("metadata")
        return {**kept, "metadata": self.structure(metadata, "ObjectMeta")} if isinstance(metadata, dict) else kept

    def structure(self, data: Mapping[str, Any], type_name: str) -> dict[str, Any]:
        """Return the fields of a structure that Kubernetes knows, with replaced texts."""
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
        """Return the replaced value of a field, by its type and name."""
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
        """Return a replaced mapping: labels, annotations, quantities, other maps of texts, or a structure."""
        if not type_name.startswith("map["):
            return self.structure(value, type_name) if type_name in schema()["types"] else {}
        if name in LABEL_FIELDS:
            return {self.key(key): self.values(key, text) for key, text in value.items()}
        if name == "annotations":
            return {self.key(key): self.annotation(key, text) for key, text in value.items()}
        if type_name == "map[string]quantity":
            return dict(value)
        times = type_name == "map[string]time"
        return {self.key(key): text if times else REDACTED for key, text in value.items()}

    def annotation(self, key: str, text: str) -> str:
        """Return the replaced value of an annotation: names that components read, else REDACTED."""
        return ",".join(map(self.name, text.split(","))) if key.startswith(NAME_ANNOTATIONS) else REDACTED

    def values(self, key: str, value: Any) -> Any:
        """Return the replaced value, or values, of a label; numbers stay, joined zones are replaced one by one."""
        if isinstance(value, list):
            return [self.values(key, item) for item in value]
        if not isinstance(value, str) or (value.lstrip("-").isdigit() and value.isascii()):
            return value
        if key in (*ZONE_LABELS, *REGION_LABELS):
            return "__".join(self.name(part) for part in value.split("__"))
        return self.name(value)

    def key(self, text: str) -> str:
        """Return a replaced label key, finalizer or other qualified name; those of Kubernetes' domains stay."""
        domain = text.rpartition("/")[0]
        subdomains = tuple(f".{known}" for known in KUBERNETES_DOMAINS)
        if domain in KUBERNETES_DOMAINS or domain.endswith((*CLOUD_DOMAINS, *subdomains)):
            return text
        return text if text == "metadata.name" else self.name(text)

    def name(self, text: str) -> str:
        """Return a name replaced part by part, or another address for an address."""
        known = self.replaced.get(text)
        if known is not None:
            return known
        address, _, bits = text.partition("/")
        if _is_address(address):
            found = text if address in _COMMON_ADDRESSES else f"{self.address(address)}{'/' if bits else ''}{bits}"
        else:
            in_tree = text.rpartition("/")[0] in KUBERNETES_DOMAINS  # a volume plugin
            stays = text in PUBLIC_NAMES or in_tree or text.endswith(CLOUD_DOMAINS)
            found = text if stays else _NAME_PART.sub(self._part, text)
        self.replaced[text] = found
        return found

    def _part(self, match: re.Match[str]) -> str:
        part = match.group()
        short = part.isdigit() and part.isascii() and len(part) <= _MAX_ORDINAL_DIGITS
        return part if short or part in IMAGE_TAGS else self.part(part)

    def message(self, text: str) -> str:
        """Return a scheduler's sentence with replaced names."""

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
