"""What stays in a redacted dump and what is replaced, as a table for people; the lists are those of `words`."""

from __future__ import annotations

import textwrap

from .words import (
    ANNOTATIONS,
    API_KINDS,
    COMPONENTS,
    COUNTING_KEYS,
    DRIVERS,
    ENUMERATED,
    FINALIZERS,
    GROUPS,
    IN_SENTENCES,
    LABELS,
    NAMES,
    PARAMETERS,
    RESOURCES,
    TAINTS,
)

_ROWS = {
    "names of objects, hosts, users, images, ports, keys, resources; labels, annotations, parameters, attributes":
        "part by part: data-web-0 becomes bqf-cxv-0; the same part by the same word everywhere, in the parts' order",
    "the ordinal of a StatefulSet's pod or claim": "stays",
    "whole numbers in labels, selectors, taints and annotations":
        "other numbers in the same order, so Gt and Lt say the same; zero stays",
    "IP addresses and networks": "private ones; networks keep their size; 0.0.0.0, 127.0.0.1, ::, ::1 stay",
    "quantities, times, booleans, numbers of fields (ports, replicas, users)": "stay",
    "texts of fields with an enumeration, reasons, types of conditions":
        "Kubernetes' words stay, others are replaced",
    "messages and notes":
        "a sentence that Kubernetes writes keeps its words, names in it are replaced; any other becomes redacted",
    "commands, arguments, descriptions": "become redacted",
    "annotations that hold JSON": "an object of the API by its fields; of other JSON every key, text and number",
    "kubeletVersion": "v1.36.2 stays, what a vendor added is replaced",
    "managedFields, unknown fields, comments": "are left out",
    "objects of other kinds, also Secrets and ConfigMaps":
        "only metadata is left; custom kinds and groups are replaced",
    "keys below kubernetes.io or k8s.io that are not listed":
        "are replaced; that they are below Kubernetes' domain stays",
}  # fmt: skip
_LISTS = {
    "label keys": LABELS, "annotation keys": ANNOTATIONS, "taint keys": TAINTS, "finalizers": FINALIZERS,
    "provisioners and drivers": DRIVERS, "resources": RESOURCES | {"hugepages-<size>"}, "names and values": NAMES,
    "sources of events": COMPONENTS, "groups": GROUPS, "kinds": API_KINDS, "keys whose numbers stay": COUNTING_KEYS,
    "parameters of StorageClasses": PARAMETERS, "words in sentences": IN_SENTENCES,
    "words of enumerations, conditions and reasons": ENUMERATED,
}  # fmt: skip
_LIMITS = (
    "Verdicts of the scheduler, their reasons and what would help are the same for the redacted dump, up to names. "
    "Which of several equally good nodes is chosen may differ: ties go by a hash of names. Shapes stay too: how many "
    "objects there are, their sizes, times and ports, of how many parts a name is made, which comes first by alphabet. "
    "A name that is itself one of the words below stays."
)
_INDENT = "    "


def explanation(width: int = 80) -> str:
    """Return the table of what stays and what is replaced, and all words that stay, in lines of this width."""
    filled = textwrap.TextWrapper(max(width, 40), break_on_hyphens=False, break_long_words=False)
    indented = textwrap.TextWrapper(
        filled.width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False, break_long_words=False
    )
    lines = ["What becomes of a dump", ""]
    for what, becomes in _ROWS.items():
        lines += filled.wrap(what) + indented.wrap(becomes)
    lines += ["", *filled.wrap(_LIMITS), "", "Words that stay"]
    for title, words in _LISTS.items():
        lines += ["", f"{title}:", *indented.wrap(" ".join(sorted(words, key=lambda word: (word.lower(), word))))]
    return "\n".join(lines)
