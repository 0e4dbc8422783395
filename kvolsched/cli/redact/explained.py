"""What stays in a redacted dump and what is replaced, as a table: `explained.yaml`, and the lists of `words`."""

import textwrap

from ...api.text.yaml_text import packaged_data
from . import words as kept

_LISTS = {
    "label keys": kept.LABELS, "annotation keys": kept.ANNOTATIONS, "taint keys": kept.TAINTS,
    "finalizers": kept.FINALIZERS, "provisioners and drivers": kept.DRIVERS,
    "resources": kept.RESOURCES | {"hugepages-<size>"}, "names and values": kept.NAMES,
    "sources of events": kept.COMPONENTS, "groups": kept.GROUPS, "kinds": kept.API_KINDS,
    "keys whose numbers stay": kept.COUNTING_KEYS, "parameters of StorageClasses": kept.PARAMETERS,
    "words in sentences": kept.IN_SENTENCES, "words of enumerations, conditions and reasons": kept.ENUMERATED,
}  # fmt: skip
_INDENT = "    "


def explanation(width: int = 80) -> str:
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
    for title, words in _LISTS.items():
        lines += ["", f"{title}:", *indented.wrap(" ".join(sorted(words, key=lambda word: (word.lower(), word))))]
    return "\n".join(lines)
