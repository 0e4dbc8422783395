"""Explains kube-scheduler's sentences: what they count, their odd phrases, and the phrases of older releases.

This module reads sentences only; it judges nothing.
"""

import re
from collections.abc import Sequence

from .answer import Remark

ODD_PHRASES = tuple((re.compile(phrase), remark) for phrase, remark in (  # phrase, what it means
    (r'" not found\. not found$', Remark(
        "The last “not found” means nothing: kube-scheduler v1.36 ends any rejection before filtering with it.")),
    (r'(?<!" not found)\. not found$', Remark(
        "The closing “not found” means nothing: kube-scheduler v1.36 ends any rejection before filtering with it; "
        "it does not say that a class or claim was not found.")),
    (r"no new claims to deallocate", Remark(
        "“no new claims to deallocate” speaks of device claims (DynamicResources), not of volumes.", kind="words")),
    (r"Preemption is not helpful for scheduling", Remark(
        "on these nodes the pod would fail even if every other pod there were gone.",
        "“Preemption is not helpful”", "table")),
    (r"No preemption victims found", Remark(
        "no pod on these nodes has a lower priority than this one, so none can be evicted for it.",
        "“No preemption victims found”", "table")),
    (r"preemptionPolicy=Never", Remark("The pod's preemptionPolicy is Never, so it evicts no other pod.")),
    (r"didn't satisfy plugin", Remark(
        "“didn't satisfy plugin(s)”: these had left nodes out, as NodeAffinity does if the pod names nodes.")),
    (r"didn't find available persistent volumes to bind", Remark(
        "“didn't find available persistent volumes to bind” also means that a volume can be provisioned, but not "
        "for this node: allowedTopologies exclude it, or another node was selected before.")),
    (r"Too many pods", Remark(
        "“Too many pods”: the node's allocatable pods are used up, whatever cpu and memory are left.")),
))  # fmt: skip
_NODES = re.compile(r"^0/\d+ nodes are available: ")
EARLY = "early releases, 1.11 for example"
OLDER_PHRASES = tuple((re.compile(phrase), releases, today) for phrase, releases, today in (
    (r"had volume node affinity conflict", "1.9 to 1.31 or later",
     "node(s) didn't match PersistentVolume's node affinity"),
    (r"had untolerated taint \{", "1.34 and before", "node(s) had untolerated taint(s)"),
    (r"had taints? (\{.*\}, )?that the pod didn't tolerate", EARLY, "node(s) had untolerated taint(s)"),
    (r"didn't match node selector|didn't match Pod's node affinity(?!/selector)", EARLY,
     "node(s) didn't match Pod's node affinity/selector"),
    (r"didn't match pod affinity/anti-affinity", EARLY, "node(s) didn't match pod (anti-)affinity rules"),
    (r"pod has unbound PersistentVolumeClaims", "1.11", "pod has unbound immediate PersistentVolumeClaims"),
    (r"[Ii]nsufficient pods", EARLY, "Too many pods"),
))  # fmt: skip

# The API server's refusal of a write that a role does not allow.
_FORBIDDEN = re.compile(r'is forbidden: User "([^"]+)" cannot (\w+) resource "([^"]+)"')


def forbidden_write(message: str) -> tuple[str, str, str] | None:
    """Return who may not do what to which resource, if a message has the API server's refusal."""
    found = _FORBIDDEN.search(message)
    return None if found is None else (found[1], found[2], found[3])


def explain_sentence(sentence: str, hidden: int, before: bool) -> list[Remark]:  # noqa: FBT001 - a fact, not a switch
    """Return notes on a sentence: its odd phrases, and that each node counts for the first plugin only.

    Args:
        sentence: the event as kube-scheduler writes it.
        hidden: the number of nodes that more than one plugin rejects.
        before: whether the pod was rejected before any node was looked at.
    """
    notes = [remark for pattern, remark in ODD_PHRASES if pattern.search(sentence)]
    if before:
        rejected = "The pod was rejected before any node was looked at, so no node is counted."
        notes.insert(0, Remark(rejected, kind="table"))
    if hidden:
        first = "The sentence counts a node for the first plugin that rejects it"
        notes.append(Remark(f"{first}; more plugins reject {hidden} of them.", kind="table"))
    return notes


def translate_older_words(message: str) -> list[Remark]:
    """Return today's phrases for those of an older release in a message."""
    return [
        Remark(f"The cluster writes the phrase of {releases}; today it is “{today}”.")
        for pattern, releases, today in OLDER_PHRASES
        if pattern.search(message)
    ]


def compare_with_condition(message: str, sentence: str) -> list[Remark]:
    """Return notes on how the message of the pod's condition differs from our sentence, if it does."""
    if not message or _counted_reasons(message) == _counted_reasons(sentence):
        return []
    older = translate_older_words(message)
    if older:
        return [Remark(message, "The pod's condition says", "before"), *older]
    when = "It was written at the pod's last try; the cluster has changed since, or the dump does not show all."
    theirs, ours = (set(_counted_reasons(words)) for words in (message, sentence))
    told = ", ".join(sorted(theirs - ours)) or "nothing"
    place = ", ".join(sorted(ours - theirs)) or "nothing"
    said = f"“{told}” in place of “{place}”" if theirs & ours else f"“{message}”"
    return [Remark(f"{said}. {when}", "The pod's condition says otherwise", "before")]


def _counted_reasons(sentence: str) -> Sequence[str]:
    """Return the counted reasons of a sentence, without its part about preemption."""
    counted = sentence.partition(" no new claims")[0].partition(" preemption:")[0].rstrip(". ")
    return sorted(_NODES.sub("", counted).split(", "))
