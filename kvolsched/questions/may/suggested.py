"""Changes of a pod that answer what may be changed on it: built from its own spec and the nodes there are.

Nothing here says whether a change is allowed: each is tried like any other patch. Where neither pod nor nodes have a
value to take, one is made up, and the change says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL, ZONE_LABELS, Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import find_untolerated_taint
from ...api.text.convert import to_plain
from .changes import REQUIRED

_TAG = re.compile(r"(@.*|:[^/]*)$")
ADDED_GATE, ADDED_KEY = "example.com/another-gate", "example.com/pool"


@attrs.frozen
class Suggestion:
    """One change: what it is in words, the merge patch, and what of it was made up ("" for nothing)."""

    words: str
    patch: Mapping[str, Any]
    made_up: str = ""

    @property
    def title(self) -> str:
        """The words, with what was made up."""
        return f"{self.words} ({self.made_up} is made up)" if self.made_up else self.words


def suggestions(pod: Pod, nodes: Sequence[Node]) -> Iterator[Suggestion]:
    """Yield five to eight changes, those of nodeSelector first; of some sorts one that narrows and one that widens.

    Args:
        pod: the pod.
        nodes: the nodes of the cluster.
    """
    yield from _of_selector(pod, nodes)
    yield from _of_affinity(pod, nodes)
    yield from _of_gates(pod)
    yield _of_tolerations(pod, nodes)
    yield _of_spreading(pod)
    if not pod.spec.scheduling_gates:
        yield _of_images(pod)


def _labels(nodes: Sequence[Node]) -> Mapping[str, Sequence[str]]:
    """Return label key -> its values on the nodes; zones first, then what tells few nodes apart, the hostname last."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        for key, value in node.metadata.labels.items():
            found.setdefault(key, [])
            if value not in found[key]:
                found[key].append(value)

    def place(key: str) -> tuple[bool, bool, int, str]:
        return key == HOSTNAME_LABEL, key not in ZONE_LABELS, -min(len(found[key]), 2), key

    return {key: sorted(found[key]) for key in sorted(found, key=place)}


def _of_selector(pod: Pod, nodes: Sequence[Node]) -> Iterator[Suggestion]:
    selector, labels = pod.spec.node_selector, _labels(nodes)
    key = next((key for key in labels if key not in selector), "")
    made_up = "" if key else ADDED_KEY
    value = labels[key][0] if key else "a"
    yield Suggestion("add an entry to nodeSelector", {"spec": {"nodeSelector": {key or ADDED_KEY: value}}}, made_up)
    for key, value in sorted(selector.items())[:1]:
        other = next((each for each in labels.get(key, ()) if each != value), "")
        made_up = "" if other else f"another-{value}"
        change = {"spec": {"nodeSelector": {key: other or made_up}}}
        yield Suggestion("change an entry of nodeSelector", change, made_up)


def _of_affinity(pod: Pod, nodes: Sequence[Node]) -> Iterator[Suggestion]:
    labels = _labels(nodes)
    required = pod.spec.required_node_affinity
    if required is None or not required.node_selector_terms:
        key = next((key for key in labels if key not in pod.spec.node_selector), "") or next(iter(labels), "")
        values = list(labels[key][:2]) if key else ["a", "b"]
        term = {"matchExpressions": [{"key": key or ADDED_KEY, "operator": "In", "values": values}]}
        yield Suggestion("set required node affinity", _terms([term]), "" if key else ADDED_KEY)
        return
    terms = [to_plain(term) for term in required.node_selector_terms]
    listed = [(number, index) for number, term in enumerate(terms)
              for index, each in enumerate(term.get("matchExpressions", ())) if each["operator"] == "In"]  # fmt: skip
    for number, index in listed[:1]:
        asked = terms[number]["matchExpressions"][index]
        values, key = asked["values"], asked["key"]
        if len(values) > 1:
            yield Suggestion("shorten the values of an affinity requirement", _terms(
                _with_values(terms, number, index, values[:-1])))  # fmt: skip
        other = next((each for each in labels.get(key, ()) if each not in values), "")
        made_up = "" if other else f"another-{values[-1]}"
        yield Suggestion("lengthen the values of an affinity requirement", _terms(
            _with_values(terms, number, index, [*values, other or made_up])), made_up)  # fmt: skip
    told = {each["key"] for term in terms for each in term.get("matchExpressions", ())}
    key = next((key for key in labels if key not in told), "")
    more = {"key": key or ADDED_KEY, "operator": "Exists"}
    longer = [{**term, "matchExpressions": [*term.get("matchExpressions", ()), more]} for term in terms]
    yield Suggestion("add a requirement to each affinity term", _terms(longer), "" if key else ADDED_KEY)


def _with_values(terms: Sequence[Any], number: int, index: int, values: Sequence[str]) -> list[Any]:
    """Return terms with other values in one requirement."""
    changed = [{**term} for term in terms]
    expressions = [*changed[number]["matchExpressions"]]
    expressions[index] = {**expressions[index], "values": list(values)}
    changed[number]["matchExpressions"] = expressions
    return changed


def _terms(terms: Sequence[Any]) -> dict[str, Any]:
    return {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}}


def _of_gates(pod: Pod) -> Iterator[Suggestion]:
    gates = [{"name": gate.name} for gate in pod.spec.scheduling_gates]
    if gates:
        words = "remove its gate" if len(gates) == 1 else f"remove one of its {len(gates)} gates"
        yield Suggestion(words, {"spec": {"schedulingGates": gates[1:] or None}})
    yield Suggestion("add a gate", {"spec": {"schedulingGates": [*gates, {"name": ADDED_GATE}]}}, ADDED_GATE)


def _of_tolerations(pod: Pod, nodes: Sequence[Node]) -> Suggestion:
    """Return the change that tolerates a taint of a node that the pod does not tolerate yet."""
    taints = (find_untolerated_taint(node.spec.taints, pod.spec.tolerations) for node in nodes)
    taint = next((taint for taint in taints if taint is not None), None)
    toleration = {"key": taint.key if taint is not None else ADDED_KEY, "operator": "Exists"}
    stored = [to_plain(each) for each in pod.spec.tolerations]
    patch = {"spec": {"tolerations": [*stored, toleration]}}
    return Suggestion("add a toleration", patch, "" if taint is not None else ADDED_KEY)


def _of_spreading(pod: Pod) -> Suggestion:
    """Return a change of something else of the spec."""
    stored = [to_plain(each) for each in pod.spec.topology_spread_constraints]
    if stored:
        looser = [{**stored[0], "maxSkew": stored[0].get("maxSkew", 1) + 1}, *stored[1:]]
        return Suggestion("loosen a spread constraint", {"spec": {"topologySpreadConstraints": looser}})
    labels = dict(sorted(pod.metadata.labels.items())[:1]) or {"app": pod.metadata.name}
    added = {"maxSkew": 1, "topologyKey": ZONE_LABEL, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": labels}}  # fmt: skip
    return Suggestion("add a spread constraint", {"spec": {"topologySpreadConstraints": [added]}})


def _of_images(pod: Pod) -> Suggestion:
    """Return the change of a container's image, with all that a merge patch keeps of a list."""
    stored = [to_plain(each) for each in pod.spec.containers]
    image = f"{_TAG.sub('', stored[0].get('image', 'app'))}:next"
    changed = [{**stored[0], "image": image}, *stored[1:]]
    return Suggestion("change an image", {"spec": {"containers": changed}}, image)
