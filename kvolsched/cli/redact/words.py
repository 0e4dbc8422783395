"""The words that stay in a redacted dump: those that Kubernetes' own code and documentation name, each in full.

A word that is in no list of `words.yaml`, in no enumeration of `fields.json` and in no sentence of `decode/table` is
replaced. No list goes by a domain: `kubernetes.io/hostname` stays, `kubernetes.io/of-my-own` does not. `explanation`
has all of them with what becomes of everything else (`explained.yaml`).
"""

import textwrap

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
_EXPLAINED = {
    "label keys": LABELS, "annotation keys": ANNOTATIONS, "taint keys": TAINTS,
    "finalizers": FINALIZERS, "provisioners and drivers": DRIVERS,
    "resources": RESOURCES | {"hugepages-<size>"}, "names and values": NAMES,
    "sources of events": COMPONENTS, "groups": GROUPS, "kinds": API_KINDS,
    "keys whose numbers stay": COUNTING_KEYS, "parameters of StorageClasses": PARAMETERS,
    "words in sentences": IN_SENTENCES, "words of enumerations, conditions and reasons": ENUMERATED,
}  # fmt: skip
_INDENT = "    "


def explanation(width: int) -> str:
    """Return the table of what stays and what is replaced, and all words that stay, in lines of this width."""
    filled = textwrap.TextWrapper(max(width, 40), break_on_hyphens=False, break_long_words=False)
    indented = textwrap.TextWrapper(
        filled.width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False, break_long_words=False
    )
    told = packaged_data(__package__, "explained.yaml")
    lines = ["What becomes of a dump", ""]
    for row in told["rows"]:
        lines += filled.wrap(row["what"]) + indented.wrap(row["becomes"])
    lines += ["", *filled.wrap(told["limits"]), "", "Words that stay"]
    for title, words in _EXPLAINED.items():
        lines += ["", f"{title}:", *indented.wrap(" ".join(sorted(words, key=lambda word: (word.lower(), word))))]
    return "\n".join(lines)
