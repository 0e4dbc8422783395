"""Try patches of a pod on forks: the API server's answer, the nodes that match, and why a refusal is one.

The API server of the fork decides; this module only compares the directives before and after. The rules it names are
those of S4, Design Details, as `ValidatePodUpdate` (v1.36.2) checks them.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ...api.kinds.directives import selects_node, with_node_affinity
from ...api.kinds.meta import EMPTY, thaw
from ...api.kinds.node import Node
from ...api.kinds.pod import Affinity, Pod, PodSpec
from ...api.kinds.selector import NodeSelectorTerm
from ...api.text import manifest
from ...api.text.convert import schema, to_plain
from ...core.core import USER, ClusterCore
from ...core.upgrades import rules_of
from ...rules.settings import API_SERVER, DIRECTIVES_GATE
from ...world.apiserver import Denial, RefusedWrite, Write
from ...world.log import Key
from ...world.manifest_patch import PATCH_KINDS, ManifestPatch
from ..requests import CODES
from .answer import AS_WRITTEN, PatchAnswers, PatchRow
from .changes import REQUIRED, changes_of
from .suggested import suggestions
from .witness import Witness, find_witness

NO_GATE = ("the pod has no scheduling gate, so its nodeSelector and node affinity are immutable, whether a change "
           "narrows them or not: the scheduler may be placing it")
GATE_IS_OFF = f"the API server's feature gate {DIRECTIVES_GATE} is off, so directives are immutable, gated or not"
SELECTOR_RULE = "entries of nodeSelector may be added, none may be changed or removed"
COUNT_RULE = "required terms may be set where there are none; where there are some, none may be added or removed"
TERM_RULE = ("each required term keeps its requirements in their order; others may be added (Kubernetes: at its end), "
             "none may be changed or removed")
ALWAYS_RULE = ("images, tolerations (only added; tolerationSeconds of one may change), activeDeadlineSeconds (set, "
               "then only shortened) and a negative terminationGracePeriodSeconds (to 1)")
SPEC_RULE = ("of the spec of a gated pod only these may change: nodeSelector and required node affinity (only "
             f"additions), preferred node affinity, gates (only removed), {ALWAYS_RULE}; pod affinity, pod "
             "anti-affinity and spread constraints are immutable")
FREE_RULE = f"of the spec of a pod that no gate holds only these may change: {ALWAYS_RULE}"
RULES = (  # part of a fault's path and of its detail -> the rule that it breaks
    ("spec.nodeSelector", "", SELECTOR_RULE),
    ("nodeSelectorTerms", "NodeSelectorTerms list", COUNT_RULE),
    ("nodeSelectorTerms", "only additions are allowed", TERM_RULE),
    ("spec.schedulingGates", "only deletion", "scheduling gates may be removed, none may be added after creation"),
    ("spec.tolerations", "existing toleration", "tolerations may be added, none may be changed or removed"),
)
RELATION_OF = {  # by whether nodes come, and whether some go
    (False, False): "same", (False, True): "narrower", (True, False): "wider", (True, True): "different"}  # fmt: skip
PROVED = (
    "no node that can exist would newly match, proved over all values of labels that its selector and affinity tell "
    "apart"
)


def may(cluster: ClusterCore, pod: str, *patches: Any, kind: str = "merge") -> PatchAnswers:
    """Say of each patch of a pod whether the API server takes it, and which nodes match before and after.

    Args:
        cluster: the cluster in its present state; it does not change.
        pod: `web-0`, `NAMESPACE/web-0`, or a reference such as `pod/web-0`.
        patches: mappings or YAML; each is tried by itself. A list of operations is a JSON patch. By default some that
            answer what may be changed on the pod, made of its own spec and the nodes there are.
        kind: the kind of patch, as in `kubectl patch --type`.

    Raises:
        UnknownName: there is no such pod. It is a KeyError.
        ValueError: a patch is no YAML document, or there is no such kind of patch.
    """
    key = cluster.world.find_key(pod, "pod")
    nodes: list[Node] = cluster.objects("nodes")
    before: Pod = cluster.world.log.objects[key]
    wanted = [(_as_patch(patch, kind), "") for patch in patches]
    own = [(ManifestPatch(each.patch), each.title) for each in suggestions(before, nodes)] if not patches else []
    ManifestPatch({}, kind)  # refuses a kind that there is not
    rows = tuple(attrs.evolve(_try(cluster, key, before, nodes, patch), title=title) for patch, title in wanted or own)
    gates = tuple(gate.name for gate in before.spec.scheduling_gates)
    name = f"{key.namespace}/{key.name}"
    places = {node.metadata.name: node.zone for node in nodes}
    rules = rules_of(cluster, API_SERVER)
    broken = [rule for row in rows for rule in row.rules if rule in (SPEC_RULE, FREE_RULE)] if own else []
    return PatchAnswers(name, rules.name, rules.called, gates, len(nodes), _matching(before, nodes), rows, places,
                        rule=broken[0] if broken else "", suggested=bool(own))


def _as_patch(patch: Any, kind: str) -> ManifestPatch:
    """Return a patch as it is sent by kubectl; a list of operations is a JSON patch, whatever kind is asked for.

    Raises:
        ValueError: a text is not one YAML document.
    """
    documents = manifest.read_plain(patch, "patch") if isinstance(patch, str) else [patch]
    if len(documents) != 1:
        raise ValueError(f"a patch is one YAML document; this text has {len(documents)}: {patch[:60]!r}")
    listed = isinstance(documents[0], list | tuple) and kind in PATCH_KINDS
    return ManifestPatch(documents[0], "json" if listed else kind, drops_unknown=True)


def _try(cluster: ClusterCore, key: Key, before: Pod, nodes: Sequence[Node], patch: ManifestPatch) -> PatchRow:
    fork = cluster.fork("with the patch")
    outcome = fork.world.perform(USER, [Write("patch", key, patch, words=f"user patches pod/{key.name}")])[0]
    refused = outcome if isinstance(outcome, RefusedWrite) else None
    after = patch.apply(before) if refused is not None else fork.world.log.objects.get(key)
    after = None if isinstance(after, Denial) else after
    witness = find_witness(before, after, nodes) if after is not None else None
    rules = _broken_rules(before, after, refused) if refused is not None and after is not None else ()
    loses = after is not None and find_witness(after, before) is not None
    relation = "unknown" if after is None else RELATION_OF[witness is not None, loses]
    instead = _allowed_instead(cluster, key, before, after) if refused is not None and after is not None else []
    return PatchRow(
        patch=_one_line(patch), allowed=refused is None,
        code=200 if refused is None else CODES.get(refused.reason, 500),
        reason="" if refused is None else refused.reason, message="" if refused is None else refused.message,
        before=_matching(before, nodes), after=() if after is None else _matching(after, nodes), relation=relation,
        witness=witness, explanation="" if refused is None else _explain(before, after, refused, witness),
        changes=None if after is None else changes_of(before, after), rules=rules,
        directives=after is not None and _changes_directives(before, after),
        hint=_hint(before, after, patch) if refused is not None or patch.warnings(before) else "",
        warnings=() if refused is not None else patch.warnings(before),
        instead=_one_line(instead[0]) if instead else "",
        remedy=" or ".join(_added_words(before, patch) for patch in reversed(instead)),
    )  # fmt: skip


def _hint(before: Pod, after: Pod | None, patch: ManifestPatch) -> str:
    """Return how else a refused patch may be written: below the spec, or as a patch that merges lists; or ""."""
    data = thaw(patch.data)
    if patch.kind == "json" or not isinstance(data, dict):
        return ""
    if after is None or patch.warnings(before):
        outside = [key for key in data if key in schema()["types"]["PodSpec"]]
        paths = " and ".join(f"spec.{key}" for key in outside)
        return f"write {paths}: a patch begins where a manifest does" if outside else ""
    merged = attrs.evolve(patch, kind="strategic").apply(before)
    if isinstance(merged, Denial) or merged == after:
        return ""
    lost = list(dict.fromkeys(_lost(to_plain(before), to_plain(after), data, "")))
    return (f'a merge patch replaces a whole list: this one drops {", ".join(lost)}; kind="strategic" merges the list'
            if lost else "")  # fmt: skip


def _lost(old: Any, new: Any, patch: Any, path: str) -> Iterator[str]:
    """Yield what the lists of a merge patch drop of the stored ones: items, and fields of items with the same name."""
    if isinstance(patch, dict):
        if isinstance(old, dict) and isinstance(new, dict):
            for key in patch:
                yield from _lost(old.get(key), new.get(key), patch[key], f"{path}.{key}".lstrip("."))
    elif isinstance(patch, list) and isinstance(old, list) and isinstance(new, list):
        items = {item.get("name"): item for item in new if isinstance(item, dict)}
        for item in (item for item in old if isinstance(item, dict) and "name" in item):
            fields = items.get(item["name"])
            place = f"{path}[{item['name']}]"
            yield from (f"{place}.{key}" for key in item if key not in fields) if fields is not None else (place,)


def _allowed_instead(cluster: ClusterCore, key: Key, before: Pod, after: Pod) -> list[ManifestPatch]:
    """Return the merge patches found that the API server allows and that select the nodes of a refused one.

    Both are proved: the nodes by the search for a witness in both directions, the answer on a fork.
    """
    found = []
    for patch in _additions(before, after):
        wanted = ManifestPatch({"spec": patch})
        changed = wanted.apply(before)
        if isinstance(changed, Denial) or find_witness(changed, after) or find_witness(after, changed):
            continue
        outcome = cluster.fork().world.perform(USER, [Write("patch", key, wanted)])[0]
        if not isinstance(outcome, RefusedWrite):
            found.append(wanted)
    return found


def _added_words(before: Pod, patch: ManifestPatch) -> str:
    """Return in words what a patch adds to directives: requirements to terms, entries to nodeSelector."""
    after = patch.apply(before)
    assert isinstance(after, Pod)
    stored, wanted = before.spec.required_node_affinity, after.spec.required_node_affinity
    old = stored.node_selector_terms if stored is not None else ()
    new = wanted.node_selector_terms if wanted is not None else ()
    words = []
    for number, term in enumerate(new):
        kept = old[number] if number < len(old) else NodeSelectorTerm()
        more = [*term.match_expressions[len(kept.match_expressions):], *term.match_fields[len(kept.match_fields):]]
        place = f"nodeSelectorTerms[{number}]"
        added = " and ".join(f"{each.key} {each.operator}" + f" [{', '.join(each.values)}]" * bool(each.values)
                             for each in more)  # fmt: skip
        words += [f"append the requirement{'s' * (len(more) > 1)} {added} to {place}"] if more else []
    entries = [f"{name}: {value}" for name, value in after.spec.node_selector.items()
               if name not in before.spec.node_selector]  # fmt: skip
    words += [f"add {', '.join(entries)} to nodeSelector"] if entries else []
    return " and ".join(words)


def _additions(before: Pod, after: Pod) -> Iterator[dict[str, Any]]:
    """Yield patches that only add to a pod's directives what others demand: entries of nodeSelector, or requirements.

    Where the other directives narrow, the present ones with all of them added select the same nodes.
    """
    stored, wanted = before.spec.required_node_affinity, after.spec.required_node_affinity
    selector = {**after.spec.node_selector, **before.spec.node_selector}
    entries = {"nodeSelector": selector} if selector != dict(before.spec.node_selector) else {}
    terms = [to_plain(term) for term in wanted.node_selector_terms] if wanted is not None else []
    if terms and stored != wanted:
        if len(terms) == 1 and all(each.get("operator") == "In" and len(each["values"]) == 1  # as in nodeSelector
                                   for each in terms[0].get("matchExpressions", ({},))):  # fmt: skip
            pairs = {each["key"]: each["values"][0] for each in terms[0]["matchExpressions"]}
            yield {"nodeSelector": {**pairs, **selector}}
        old = [to_plain(term) for term in stored.node_selector_terms] if stored is not None else [{}] * len(terms)
        more = terms * len(old) if len(terms) == 1 else terms
        if len(more) == len(old):
            both = [_and(term, extra) for term, extra in zip(old, more, strict=True)]
            yield {**entries, "affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": both}}}}
    elif entries:
        yield entries


def _and(term: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return a term with the requirements of another one that it does not have, at its end."""
    names = dict.fromkeys((*term, *more))
    return {name: [*term.get(name, ()), *(each for each in more.get(name, ()) if each not in term.get(name, ()))]
            for name in names}  # fmt: skip


def _matching(pod: Pod, nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(node.metadata.name for node in nodes if selects_node(pod.spec, node))


def _one_line(patch: ManifestPatch) -> str:
    return json.dumps(thaw(patch.data), ensure_ascii=False, default=str)


def _explain(before: Pod, after: Pod | None, refused: RefusedWrite, witness: Witness | None) -> str:
    """Say why a patch is refused: a node that would newly match, or the rule that it breaks all the same."""
    if after is None:
        return "the patch leaves nothing that the API server can read as this pod"
    if refused.reason != "Invalid":
        return ""
    rules = _broken_rules(before, after, refused)
    words = "; ".join(rules)
    if not before.spec.scheduling_gates or GATE_IS_OFF in rules or SPEC_RULE in rules:
        return f"rule: {words}" if words else ""
    if witness is not None:
        return f"it would widen the set of nodes: {witness} would newly match" + (f"; rule: {words}" if words else "")
    if not _changes_directives(before, after) or not words:
        return f"rule: {words}" if words else ""
    return f"{PROVED}; it is refused all the same, since {AS_WRITTEN}: {words}"


def _broken_rules(before: Pod, after: Pod, refused: RefusedWrite) -> tuple[str, ...]:
    found: list[str] = []
    for cause in refused.causes:
        path, detail = str(getattr(cause, "path", "")), str(getattr(cause, "detail", ""))
        if path == "spec" and detail.startswith("pod updates may not change"):
            found.append(_immutable_rule(before, after))
        found += [rule for place, words, rule in RULES if place in path and words in detail]
    return tuple(dict.fromkeys(found))


def _immutable_rule(before: Pod, after: Pod) -> str:
    """Return why a change of the spec is refused as a whole: no gate, the feature is off, or another field changes."""
    if _changes_directives(before, after):
        if not before.spec.scheduling_gates:
            return NO_GATE
        if _without_directives(before) == _without_directives(after):
            return GATE_IS_OFF
    return SPEC_RULE if before.spec.scheduling_gates else FREE_RULE


def _without_directives(pod: Pod) -> PodSpec:
    """Return a pod's spec without what a gated pod may change: directives, tolerations and gates."""
    others = with_node_affinity(pod.spec, None).affinity
    return attrs.evolve(pod.spec, node_selector=EMPTY, affinity=None if others == Affinity() else others,
                        tolerations=(), scheduling_gates=())


def _changes_directives(before: Pod, after: Pod) -> bool:
    old, new = before.spec, after.spec
    return old.node_selector != new.node_selector or old.node_affinity != new.node_affinity
