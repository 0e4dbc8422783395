"""Manifests and scripts under other names, which a name of a reader draws: what one of them types helps no other.

Names are replaced in plain data, before anything is loaded, wherever they stand as a whole word; so objects, selectors,
scripts and expectations keep fitting each other.
"""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from ..api.kinds.node import ZONE_LABELS

WORKLOADS = (
    "basket", "billing", "catalog", "checkout", "coupon", "delivery", "gallery", "invoice", "ledger", "loyalty",
    "mailer", "menu", "orders", "parcel", "payment", "pricing", "refund", "returns", "reviews", "search",
    "session", "stock", "tracking", "wallet",
)  # fmt: skip
CLASSES = ("block", "bronze", "disks", "gold", "plain", "platter", "quick", "silver", "slow", "steady", "swift")
NAMED = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod")
MACHINES = "worker-"  # how the names of nodes begin
_SHORT = 1  # names as short as that are replaced only where they stand alone


def number_of(*words: object) -> int:
    """Return a number that these words draw, always the same."""
    return int(sha256("/".join(map(str, words)).encode()).hexdigest()[:12], 16)


def names_for(objects: Iterable[Mapping[str, Any]], *seed: object, machines: str = MACHINES) -> dict[str, str]:
    """Return new names for the nodes, zones, workloads and classes of objects, drawn by a seed; nodes begin so."""
    found: dict[str, str] = {}
    free = {kind: sorted(words, key=lambda word: number_of(*seed, word))
            for kind, words in (("workload", WORKLOADS), ("class", CLASSES))}  # fmt: skip
    for obj in objects:
        metadata, kind = obj.get("metadata", {}), obj.get("kind")
        name = str(metadata.get("name", ""))
        if kind == "Node":
            found.setdefault(name, f"{machines}{number_of(*seed, name) % 0x10000:04x}")
            for label in ZONE_LABELS:
                if zone := metadata.get("labels", {}).get(label):
                    found.setdefault(str(zone), f"zone-{number_of(*seed, 'zone', zone) % 0x1000:03x}")
        elif kind in NAMED and name not in found:
            found[name] = f"{free['workload'].pop()}-{number_of(*seed, name) % 0x100:02x}"
        elif kind == "PersistentVolume":
            found[name] = f"disk-{number_of(*seed, kind, name) % 0x10000:04x}"
        elif kind == "StorageClass":
            found[name] = f"{free['class'].pop()}-{number_of(*seed, name) % 0x100:02x}"
    return found


def renamed(data: Any, names: Mapping[str, str]) -> Any:
    """Return plain data in which each of these names has its new one; of mappings also in keys that name an object."""
    long, short = ("|".join(map(re.escape, sorted(found, key=len, reverse=True))) or "(?!)" for found in (
        [name for name in names if len(name) > _SHORT], [name for name in names if len(name) <= _SHORT]))
    whole = re.compile(rf'(?<![A-Za-z0-9])(?:{long})(?![A-Za-z0-9]|\.[a-z])|(?<=")(?:{short})(?=")')

    def replace(value: Any) -> Any:
        if isinstance(value, str):
            return names.get(value) or whole.sub(lambda found: names[found[0]], value)
        if isinstance(value, Mapping):
            return {replace(key) if names_an_object(key) else key: replaced(key, each) for key, each in value.items()}
        return [replace(each) for each in value] if isinstance(value, list | tuple) else value

    def replaced(key: Any, each: Any) -> Any:
        if key == "passes":  # of pods, by their names
            return {replace(pod): number for pod, number in each.items()}
        return each if key == "kind" else replace(each)

    def names_an_object(key: Any) -> bool:
        """Say whether a key is a reference such as `pod/web-0`, or a node's name; a label's key is neither."""
        kind, slash, _ = str(key).partition("/")
        return bool(slash and "." not in kind) or (key in names and names[key].startswith(MACHINES))

    return replace(data)
