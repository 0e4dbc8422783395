"""The words that stay in a redacted dump: those that Kubernetes' own code and documentation name, each in full.

A word that is in no list of `words.yaml`, in no enumeration of `fields.json` and in no sentence of `decode/table` is
replaced. No list goes by a domain: `kubernetes.io/hostname` stays, `kubernetes.io/of-my-own` does not.
"""

from ...api.kinds.kind import KINDS
from ...api.text.convert import schema
from ...api.text.yaml_text import packaged_data

_LISTS: dict[str, frozenset[str]] = {
    name: frozenset(text.split()) for name, text in packaged_data(__package__, "words.yaml").items()}
_FIELDS = [(name, field) for fields in schema()["types"].values() for name, field in fields.items()]

LABELS = _LISTS["labels"]
ANNOTATIONS = _LISTS["annotations"]
TAINTS = _LISTS["taints"]
FINALIZERS = _LISTS["finalizers"]
DRIVERS = _LISTS["drivers"]
RESOURCES = _LISTS["resources"]
NAMES = _LISTS["names"]
COMPONENTS = _LISTS["components"]
GROUPS = _LISTS["groups"]
API_KINDS = _LISTS["other_kinds"] | {kind.name for kind in KINDS}
IN_SENTENCES = _LISTS["in_sentences"]
PARAMETERS = _LISTS["parameters"]
COUNTING_KEYS = _LISTS["counting_keys"]
KEPT_PARTS = _LISTS["image_parts"]
ENUMERATED = _LISTS["conditions"] | _LISTS["reasons"] | _LISTS["other_values"] | {
    word for _, field in _FIELDS if isinstance(field, dict) for word in field.get("enum", ())
}  # fmt: skip
FIELD_NAMES = frozenset(name for name, _ in _FIELDS)
KEPT = LABELS | ANNOTATIONS | TAINTS | FINALIZERS | DRIVERS | RESOURCES | NAMES | {"kubernetes.io", "k8s.io", "aws:"}
KEPT_DOMAINS = frozenset(word.partition("/")[0] for word in KEPT if "/" in word)
