"""Objects with other names: each field's text is an enumeration's word, a name, a sentence, or no one's business.

`fields.json` says what a field is; what it does not have is left out. A text stays only if its field's words are listed
in `words`; numbers, quantities, times and booleans stay if they are what the field wants.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...api.kinds import quantity
from ...api.text.convert import DESIGN_FIELDS, schema
from .names import Names
from .sentences import REDACTED, Sentences
from .words import API_KINDS, COMPONENTS, COUNTING_KEYS, ENUMERATED, FIELD_NAMES, GROUPS, PARAMETERS, RESOURCES

Replace = Callable[[Any], Any]

LABEL_KEYS, LABEL_VALUES, IMAGES, ANNOTATION_VALUES = "label keys", "label values", "images", "annotation values"
# Fields without an enumeration in fields.json whose words `words.ENUMERATED` has.
WORD_FIELDS = frozenset({
    "type", "status", "reason", "operator", "accessModes", "action", "fsGroupPolicy", "volumeLifecycleModes",
    "ipFamilies", "restartPolicy", "whenDeleted", "whenScaled", "recursiveReadOnly", "medium", "fsType",
    "seLinuxChangePolicy", "resize", "ipMode", "trafficDistribution", "conditionType", "health", "keyType",
    "allocatedResourceStatuses", "error",
})  # fmt: skip
WORDS_OF_FIELD = {
    "component": COMPONENTS, "reportingComponent": COMPONENTS, "apiGroup": GROUPS, "resource": RESOURCES,
    "resourceName": RESOURCES,
}  # fmt: skip
MESSAGES = frozenset({"message"})
FREE_TEXTS = frozenset({"command", "args", "description"})
LEFT_OUT = frozenset({"managedFields"})
SORTS = {
    "key": LABEL_KEYS, "topologyKey": LABEL_KEYS, "matchLabelKeys": LABEL_KEYS, "mismatchLabelKeys": LABEL_KEYS,
    "topologyKeys": LABEL_KEYS, "values": LABEL_VALUES, "value": LABEL_VALUES, "image": IMAGES, "imageID": IMAGES,
    "names": IMAGES,
}  # fmt: skip
LABEL_MAPS = frozenset({"labels", "matchLabels", "nodeSelector", "selector", "volumeAttributes"})
PORTS = frozenset({"ContainerPort", "ServicePort"})  # types whose field `name` names a port
VERSIONS = frozenset({"kubeletVersion", "kubeProxyVersion"})
_VERSION = re.compile(r"(v1\.[0-9]{1,2}\.[0-9]{1,2})(.*)")
_API_VERSION = re.compile(r"(?:(.*)/)?(v[0-9]{1,2}(?:(?:alpha|beta)[0-9]{1,2})?)")
_PERCENT = re.compile(r"[0-9]{1,3}%|[0-9]{1,5}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_COUNT = re.compile(r"[+-]?[0-9]{1,10}(?:,[0-9]{1,10})*(?:[KMGTPE]i?|[munk])?")
_FIELD_PATH = re.compile(r"([A-Za-z0-9.]*)(?:(\[['\"]?|\{)(.*?)(['\"]?\]|\}))?")


class Objects:
    """Replaces the names in plain objects. Mutable: it counts the objects whose names were replaced.

    Args:
        names: replaces names.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.counts: Counter[str] = Counter()
        self.sentences = Sentences(names.name)
        self._plans: dict[str, Mapping[str, Replace]] = {}

    def object(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object with its names replaced; one of a kind that is not modelled keeps only its metadata."""
        api_version, kind = data.get("apiVersion"), data.get("kind")
        type_name = schema()["kinds"].get(f"{api_version}/{kind}")
        if type_name is not None:
            redacted = self.structure(data, type_name)
        else:
            redacted = {"apiVersion": self.api_version(api_version), "kind": self.kind(kind),
                        "metadata": self.structure(data.get("metadata"), "ObjectMeta")}  # fmt: skip
        old, new = data.get("metadata"), redacted.get("metadata")
        if isinstance(old, dict) and isinstance(new, dict) and old.get("name") != new.get("name"):
            self.counts[str(redacted.get("kind"))] += 1
        return redacted

    def structure(self, data: Any, type_name: str) -> dict[str, Any]:
        """Return a mapping of known fields with its names replaced, without unknown ones."""
        if not isinstance(data, dict):
            return {}
        plan = self._plans.get(type_name)
        if plan is None:
            fields = {**schema()["types"].get(type_name, {}), **DESIGN_FIELDS.get(type_name, {})}
            plan = {name: self._field(type_name, name, each) for name, each in fields.items() if name not in LEFT_OUT}
            self._plans[type_name] = plan
        redacted = {}
        for name, value in data.items():
            replace = plan.get(name)
            if replace is not None:
                redacted[name] = None if value is None else replace(value)
        key = str(data.get("key"))
        if key in COUNTING_KEYS:
            values = {name: data[name] for name in ("value", "values") if name in redacted}
            redacted.update({name: self.value(key, value) for name, value in values.items()})
        return redacted

    def _field(self, type_name: str, name: str, declared: Any) -> Replace:
        """Return what replaces the values of a field."""
        field_type = declared if isinstance(declared, str) else declared["type"]
        is_list, inner = field_type.startswith("[]"), field_type.removeprefix("[]")
        if inner.startswith("map[string]"):
            replace = self._mapping(name, inner.removeprefix("map[string]"))
        elif inner == "string":
            replace = self._text(type_name, name, is_enumeration=isinstance(declared, dict) and "enum" in declared)
        else:
            replace = self._of_type(inner)
        if not is_list:
            return replace
        return lambda items: (
            [None if item is None else replace(item) for item in items] if isinstance(items, list) else []
        )

    def _of_type(self, type_name: str) -> Replace:
        """Return what replaces a value of a type: one that is not of this type is no one's business."""
        match type_name:
            case "boolean":
                return lambda value: value if isinstance(value, bool) else REDACTED
            case "int32" | "int64":
                return lambda value: value if isinstance(value, int) else REDACTED
            case "quantity":
                return lambda value: value if _is_quantity(value) else REDACTED
            case "time":
                return lambda value: value if _TIME.fullmatch(str(value)) else REDACTED
            case "intOrString":
                return self.int_or_port
        return lambda value: self.structure(value, type_name)

    def _text(self, type_name: str, name: str, *, is_enumeration: bool) -> Replace:
        """Return what replaces a text, by its field."""
        if is_enumeration or name in WORD_FIELDS:
            return partial(self.kept_or_named, ENUMERATED)
        if type_name in PORTS and name == "name":
            return lambda value: self.names.word(str(value)) if value else value
        if name in SORTS:
            sort = SORTS[name]
            return lambda value: self.names.name(str(value), sort)
        if name in FREE_TEXTS:
            return lambda value: REDACTED if value else value
        if name in MESSAGES:
            return lambda value: self.sentences.replaced(str(value))
        if name in VERSIONS:
            return self.version
        special = {"apiVersion": self.api_version, "kind": self.kind, "fieldPath": self.field_path}
        return special.get(name, partial(self.kept_or_named, WORDS_OF_FIELD.get(name, frozenset())))

    def _mapping(self, name: str, value_type: str) -> Replace:
        """Return what replaces a mapping, by its field: labels, annotations, parameters, quantities, or any other."""
        if name in LABEL_MAPS:
            return lambda labels: {
                self.names.name(key, LABEL_KEYS): self.value(key, text) for key, text in _items(labels)
            }
        if name == "annotations":
            return lambda value: {self.names.name(key): self.annotation(key, text) for key, text in _items(value)}
        if name == "parameters":
            kept = partial(self.kept_or_named, PARAMETERS)
            return lambda value: {kept(key): str(kept(text)) for key, text in _items(value)}
        replace = self._text("", name, is_enumeration=False) if value_type == "string" else self._of_type(value_type)
        return lambda value: {self.names.name(key): replace(item) for key, item in _items(value)}

    def kept_or_named(self, words: frozenset[str], text: Any) -> Any:
        """Return a text that is one of these words of Kubernetes, or the replacement of another one."""
        return text if str(text) in words else self.names.name(str(text))

    def value(self, key: str, value: Any) -> Any:
        """Return the replacement of a label's value or values; counts stay under the keys that Kubernetes counts by."""
        if isinstance(value, list):
            return [self.value(key, item) for item in value]
        text = str(value)
        return text if key in COUNTING_KEYS and _is_count(text) else self.names.name(text, LABEL_VALUES)

    def annotation(self, key: str, value: Any) -> str:
        """Return the replacement of an annotation's value: of JSON the texts within it."""
        text = str(value)
        if key in COUNTING_KEYS and _is_count(text):
            return text
        if not text.startswith(("{", "[")):
            return self.names.name(text, ANNOTATION_VALUES)
        try:
            return json.dumps(self.json(json.loads(text)), separators=(",", ":"), ensure_ascii=False)
        except (ValueError, RecursionError):
            return REDACTED

    def json(self, value: Any) -> Any:
        """Return the replacement of JSON: an object of the API by its fields, of all else every text and number."""
        if isinstance(value, dict):
            if isinstance(value.get("apiVersion"), str) and isinstance(value.get("kind"), str):
                return self.object(value)
            return {self.names.name(key): self.json(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.json(item) for item in value]
        if value is None or isinstance(value, bool):
            return value
        return self.names.name(value) if isinstance(value, str) else 0

    def int_or_port(self, value: Any) -> Any:
        """Return a number or percentage, or the replacement of a port's name."""
        return value if isinstance(value, int) or _PERCENT.fullmatch(str(value)) else self.names.word(str(value))

    def version(self, text: Any) -> str:
        """Return a release of Kubernetes, with what a vendor added to it replaced."""
        match = _VERSION.fullmatch(str(text))
        return match[1] + self.names.name(match[2]) if match is not None else self.names.name(str(text))

    def api_version(self, text: Any) -> str:
        """Return a version of Kubernetes' API, or of another group, whose name is replaced."""
        match = _API_VERSION.fullmatch(str(text))
        if match is None:
            return self.names.name(str(text))
        return f"{self.kept_or_named(GROUPS, match[1])}/{match[2]}" if match[1] else match[2]

    def kind(self, text: Any) -> str:
        """Return a kind of Kubernetes, or the replacement of another one."""
        return text if text in API_KINDS else self.names.name(str(text)).capitalize()

    def field_path(self, text: Any) -> str:
        """Return the path of a field, with a name within it replaced: spec.containers{app}."""
        match = _FIELD_PATH.fullmatch(str(text))
        if match is None or not set(match[1].split(".")) <= FIELD_NAMES:
            return self.names.name(str(text))
        return match[1] + (match[2] + self.names.name(match[3]) + match[4] if match[2] else "")


def _items(value: Any) -> Any:
    return [(str(key), item) for key, item in value.items() if item is not None] if isinstance(value, dict) else ()


def _is_count(text: str) -> bool:
    return _COUNT.fullmatch(text) is not None or _TIME.fullmatch(text) is not None


def _is_quantity(value: Any) -> bool:
    if isinstance(value, int | float):
        return True
    try:
        quantity.canonical(value)
    except (ValueError, TypeError, AttributeError):
        return False
    return True
