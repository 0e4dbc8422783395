"""Catalogue: edits of the pod: another toleration or selector, a looser constraint, a smaller request.

Each function yields edits that may lift one demand; `search` tries whether they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from ...api.kinds.directives import (
    constraint_alone,
    with_constraint,
    with_node_affinity,
    with_pod_term,
    with_pod_term_preferred,
    with_required_node_affinity,
    with_tolerations,
    without_pod_term,
)
from ...api.kinds.meta import Frozen, evolve, evolve_parts
from ...api.kinds.node import HOSTNAME_LABEL, Node
from ...api.kinds.pod import SCHEDULE_ANYWAY, Affinity, Pod, PodAffinityTerm, PodSpec
from ...api.kinds.quantity import parse
from ...api.kinds.selector import Toleration
from ...api.validation.pod_rules import allows_overcommit
from ...api.words import listed
from ...rules.named import plugin_card
from ...scheduler import requests
from ...scheduler.plugins.pod_topology_spread import SkewExceeds, match_domains
from ...scheduler.plugins.taint_toleration import mended_by
from ..near_names import near_misses, right_keys
from ..why.demands import Demand
from .edit import Edit, ObjectChange, rebased
from .nodes import MACHINE
from .owners import owner_on_top, siblings
from .trial_cluster import TrialCluster

LOWER_REQUEST_COST, LOOSEN_COST, DROP_COST = 2, 2, 3
UNITS = (1024, 1000, 1024**2, 1000**2)  # a slip of the unit is one of these
MUCH = 10  # times what the largest machine has: nobody means that
LEAST = {"cpu": 10, "memory": 4 * 1024**2}  # what a pod asks for at least: 10m, 4Mi
WHOLE = frozenset({requests.PODS})  # what nobody asks for less of
FILTERING_EFFECTS = ("NoSchedule", "NoExecute")


def edit_spec(trial: TrialCluster, words: str, cost: int, spec: PodSpec, kind: str, **details: Any) -> Edit:
    """Return the edit that creates the pod again with another spec; that of a workload's template is changed."""
    change = ObjectChange(trial.pod, attrs.evolve(trial.pod, spec=spec), recreate=True)
    return Edit(words, cost, (change,), kind, **details)


def edits_of_plugin(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Yield the edits on the card of the plugin that judges a demand; a pod is created again."""
    for edit in plugin_card(demand.plugin).edits(trial.pod, demand.about, near):
        change = ObjectChange(edit.old, edit.new, recreate=isinstance(edit.old, Pod))
        yield Edit(edit.words, edit.cost, (change,), edit.kind, note=edit.note)


def tolerate(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Add a toleration of a near node's taint, or of every taint with its key; of none that tells of its state."""
    pod = trial.pod
    if mended_by(demand.about):
        return
    taints = dict.fromkeys(
        taint
        for node in near
        for taint in node.spec.taints
        if taint.key == demand.about and taint.effect in FILTERING_EFFECTS
    )
    more = {str(taint): Toleration(key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value,
                                   effect=taint.effect) for taint in taints}  # fmt: skip
    if len(taints) > 1:
        more[f"every taint {demand.about}"] = Toleration(key=demand.about, operator="Exists")
    for what, toleration in more.items():
        tolerant = attrs.evolve(pod, spec=with_tolerations(pod.spec, toleration))
        mine = demand.about in requests.pod_requests(pod.spec).amounts  # it keeps off those without such a device
        note = f"the pod asks for {demand.about}" if mine else "ask who keeps these nodes for others"
        yield Edit(f"Let the pod tolerate {what}", 1, (ObjectChange(pod, tolerant),), "tolerate", note=note,
                   letter="B" if mine else "G")  # fmt: skip


def change_node_selector(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Change a nodeSelector entry to a near node's value, or to one that it nearly names, or remove it."""
    pod, key = trial.pod, demand.about
    selector = pod.spec.node_selector
    asked = selector.get(key, "")

    def changed(value: str, cost: int, kind: str) -> Edit:
        words = f"Change nodeSelector {key} from {asked} to {value}"
        looser = evolve(pod.spec, node_selector=selector.merged({key: value}))
        alike = [other for other in slips if other != value] if value in slips else []
        which = f"nodes have {listed(alike)}, too: ask which is meant" if alike else ""
        return edit_spec(trial, words, cost, looser, kind, note=note.format(value) or which)

    found = dict.fromkeys(node.metadata.labels[key] for node in near if key in node.metadata.labels)
    there = [node.metadata.labels.get(key, "") for node in trial.seen.all_nodes()]
    slips = [] if key in MACHINE else near_misses(asked, there)
    note = "only if the image is built for {}" if key.endswith(("/arch", "/os")) else ""
    for right in right_keys(key, trial.seen.all_nodes()):
        kept = {right if other == key else other: value for other, value in selector.items()}
        yield edit_spec(trial, f"Use the key {right} in nodeSelector, not {key}", 1,
                        evolve(pod.spec, node_selector=Frozen(kept)), "use selector")  # fmt: skip
    for place, value in enumerate(slips, 1):
        yield changed(value, place, "use selector")
    for value in found:
        if value != asked and value not in slips:
            yield changed(value, LOOSEN_COST + (key == HOSTNAME_LABEL), "change selector")
    without = Frozen({other: value for other, value in selector.items() if other != key})
    yield edit_spec(trial, f"Remove {key} from nodeSelector", DROP_COST, evolve(pod.spec, node_selector=without),
                    "drop selector", note=note.format(" and ".join(found) or "every node"))  # fmt: skip


def drop_node_affinity(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Correct a slip in the required node affinity, or remove it; that of a DaemonSet's pod names its node."""
    looser = with_required_node_affinity(trial.pod.spec, None)
    owner = owner_on_top(trial.pod, trial.objects)
    yield from _correct_node_affinity(trial)
    if looser != trial.pod.spec and (owner is None or owner.kind != "DaemonSet"):
        yield edit_spec(trial, "Remove the required node affinity", DROP_COST, looser, "drop affinity")


def _correct_node_affinity(trial: TrialCluster) -> Iterator[Edit]:
    """Correct a key or a value that no node has, where nodes have nearly that."""
    required, nodes = trial.pod.spec.required_node_affinity, trial.seen.all_nodes()
    if required is None:
        return
    for number, term in enumerate(required.node_selector_terms):
        for place, part in enumerate(term.match_expressions):
            there = [node.metadata.labels.get(part.key, "") for node in nodes]
            wrong = part.values[0] if len(part.values) == 1 and part.values[0] not in there else ""
            others = [(f"Use the key {key} in the node affinity, not {part.key}", evolve(part, key=key))
                      for key in right_keys(part.key, nodes)]  # fmt: skip
            others += [(f"Change the node affinity {part.key} from {wrong} to {value}", evolve(part, values=(value,)))
                       for value in near_misses(wrong, there) if part.operator == "In"]  # fmt: skip
            for words, right in others:
                terms = list(required.node_selector_terms)
                parts = (*term.match_expressions[:place], right, *term.match_expressions[place + 1 :])
                terms[number] = evolve(term, match_expressions=parts)
                spec = with_required_node_affinity(trial.pod.spec, evolve(required, node_selector_terms=tuple(terms)))
                yield edit_spec(trial, words, 1, spec, "use selector")


def lower_request(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Lower a request to what a near node has left, but not below half; or to what a slip of the unit meant."""
    pod, resource = trial.pod, demand.about
    ask = requests.pod_requests(pod.spec).amounts.get(resource, 0)
    if resource in WHOLE:
        return
    least = LEAST.get(resource, 1)  # less is no slip of the unit
    totals = (requests.allocatable(node.status.allocatable).get(resource, 0) for node in trial.seen.all_nodes())
    too_much = all(MUCH * total <= ask for total in totals)
    for node in near:
        free = trial.seen.node_info(node.metadata.name).free(resource)
        slips = [unit for unit in UNITS if ask % unit == 0 and least <= ask // unit <= free] if too_much else []
        if not 0 < free < ask or (2 * free < ask and not slips):
            continue
        less = ask // slips[0] if slips else free
        containers = _lower_containers(pod, resource, ask - less)
        if containers is not None:
            lowered, before = requests.format_amount(resource, less), requests.format_amount(resource, ask)
            words = f"Ask for {lowered} {resource} instead of {before}"
            slip = "no node of this cluster has as much: a slip of the unit?"
            known = "compare kubectl top pod first" if _has_run(trial) else "none of it ran yet: ask what it needs"
            note = slip if slips else known
            yield edit_spec(trial, words, 1 if slips else LOWER_REQUEST_COST, evolve(pod.spec, containers=containers),
                            "lower request", letter="B" if slips else "E", note=note)  # fmt: skip


def _has_run(trial: TrialCluster) -> bool:
    """Say whether a pod of the same controller has a node, so that what it uses is measured."""
    owner = trial.pod.metadata.controller
    return owner is not None and any(
        pod.spec.node_name and pod.metadata.controller == owner for pod in trial.of_kind("Pod"))


def _lower_containers(pod: Pod, resource: str, less: int) -> tuple[Any, ...] | None:
    """Return the containers with the largest request lowered; None if that one is smaller than the difference."""
    amounts = [
        requests.to_units(resource, parse(text)) if (text := container.resources.requests.get(resource)) else 0
        for container in pod.spec.containers
    ]
    if not amounts or max(amounts) < less:
        return None
    place = amounts.index(max(amounts))
    largest = pod.spec.containers[place]
    left = requests.format_amount(resource, amounts[place] - less)
    requested, limits = largest.resources.requests.merged({resource: left}), largest.resources.limits
    if not allows_overcommit(resource):
        limits = limits.merged({resource: left})
    resources = attrs.evolve(largest.resources, requests=requested, limits=limits)
    changed = attrs.evolve(largest, resources=resources)
    return (*pod.spec.containers[:place], changed, *pod.spec.containers[place + 1 :])


def loosen_spread(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Raise maxSkew to what a near node needs, count fewer nodes, drop minDomains, or make the constraint soft."""
    pod, number = trial.pod, demand.number
    constraints = pod.spec.topology_spread_constraints
    if number >= len(constraints):
        return
    constraint = constraints[number]
    key = constraint.topology_key

    def changed(words: str, cost: int, kind: str, **fields: Any) -> Edit:
        return edit_spec(trial, words, cost, with_constraint(pod.spec, number, **fields), kind)

    plugin: Any = trial.profile.plugin(demand.plugin)
    variant = attrs.evolve(pod, spec=constraint_alone(pod.spec, number))
    needed: set[int] = set()
    keys = {each.topology_key for each in constraints if each.is_hard}  # nodes without one of them do not count
    for node in (node for node in near if keys <= node.metadata.labels.keys()):
        evidence = getattr(plugin.rule(variant, node, trial.seen), "evidence", ())
        skews = [item.skew.skew for item in evidence if isinstance(item, SkewExceeds)]
        needed.update(skew for skew in skews if skew > constraint.skew_limit)
    right_ones = right_keys(key, trial.seen.all_nodes())
    for right in right_ones:
        yield changed(f"Use the topologyKey {right}, not {key}", 1, "use selector", topology_key=right)
    if right_ones:
        return  # whatever else is loosened, the key stays wrong
    if constraint.node_taints_policy != "Honor":
        yield changed(f"Set nodeTaintsPolicy: Honor for {key}, so that tainted nodes do not count", 2, "spread policy",
                      node_taints_policy="Honor")  # fmt: skip
    if constraint.node_affinity_policy == "Ignore":
        words = f"Set nodeAffinityPolicy: Honor for {key}, so that only nodes that the pod selects count"
        yield changed(words, 2, "spread policy", node_affinity_policy="Honor")
    counted = plugin.hard_constraints(variant)[:1] if constraint.min_domains else ()
    domains = sum(len(match_domains(variant, each, counted, trial.seen).match_num) for each in counted)
    if constraint.min_domains and 0 < domains < constraint.min_domains:
        words = f"Set minDomains: {domains} for {key} instead of {constraint.min_domains}: there are no more"
        yield changed(words, LOOSEN_COST, "soften spread", min_domains=domains)
    if constraint.is_hard:
        words = f"Set whenUnsatisfiable: ScheduleAnyway for {key}: spread if it can be"
        yield changed(words, LOOSEN_COST, "soften spread", when_unsatisfiable=SCHEDULE_ANYWAY, min_domains=None)
    if needed and min(needed) <= 2 * constraint.skew_limit:
        words = f"Set maxSkew: {min(needed)} for {key} instead of {constraint.skew_limit}"
        yield changed(words, DROP_COST, "raise maxSkew", max_skew=min(needed))


def drop_pod_affinity_term(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Remove a required podAffinity or podAntiAffinity term."""
    spec = trial.pod.spec
    side, name = ("pod_affinity", "podAffinity") if demand.sort == "affinity" else (
        "pod_anti_affinity", "podAntiAffinity")  # fmt: skip
    terms = getattr(spec.affinity or Affinity(), side)
    if terms is not None and demand.number < len(terms.required):
        term = terms.required[demand.number]
        slips = [*_near_selector(term, demand, trial)] if demand.sort == "affinity" else []
        yield from slips
        for key in right_keys(term.topology_key, trial.seen.all_nodes()):
            right = with_pod_term(spec, side, demand.number, evolve(term, topology_key=key))
            words = f"Use the topologyKey {key} in the {name}, not {term.topology_key}"
            yield edit_spec(trial, words, 1, right, "use selector")
        looser = without_pod_term(spec, side, demand.number)
        yield edit_spec(trial, f"Remove the required {name} over {demand.about}", DROP_COST, looser, "drop pod term")
        if slips:
            return  # nobody prefers what he did not mean
        wish = with_pod_term_preferred(spec, side, demand.number)
        words = f"Set the {name} over {demand.about} as a preference"
        follow = (ObjectChange(pod, evolve(pod, spec=rebased(spec, wish, pod.spec)))
                  for pod in siblings(trial.pod, trial.objects))  # by the same change of their template
        yield edit_spec(trial, words, LOOSEN_COST, wish, "soften spread", expected=tuple(follow))


def _near_selector(term: PodAffinityTerm, demand: Demand, trial: TrialCluster) -> Iterator[Edit]:
    """Correct a label of a podAffinity term that matches no pod, where pods have nearly that value."""
    labels = term.label_selector.match_labels if term.label_selector is not None else Frozen()
    everywhere: list[Pod] = trial.of_kind("Pod")
    pods = [pod for pod in everywhere if pod.metadata.namespace == trial.key.namespace]
    others = dict.fromkeys(pod.metadata.namespace for pod in everywhere if pod not in pods
                           and term.label_selector is not None and term.label_selector.matches(pod.metadata.labels))
    for namespace in others if not term.namespaces and term.namespace_selector is None else ():
        right = evolve(term, namespaces=(namespace,))
        spec = with_pod_term(trial.pod.spec, "pod_affinity", demand.number, right)
        words = f"Let the podAffinity look for its pods in namespace {namespace}"
        yield edit_spec(trial, words, 1, spec, "use selector")
    for key, value in labels.items():
        there = [pod.metadata.labels.get(key, "") for pod in pods]
        for near in () if value in there else near_misses(value, there, longer=True):
            selector = evolve(term.label_selector, match_labels=labels.merged({key: near}))
            right = evolve(term, label_selector=selector)
            spec = with_pod_term(trial.pod.spec, "pod_affinity", demand.number, right)
            words = f"Change the podAffinity from {key}={value} to {key}={near}"
            yield edit_spec(trial, words, 1, spec, "use selector")


def let_it_be_tried(trial: TrialCluster) -> tuple[Edit, ...]:
    """Return the edits without which no pass can succeed, whatever nodes there are."""
    gates = tuple(remove_gates(trial))
    with trial.with_changes([change for edit in gates for change in edit.changes]):
        return (*gates, *drop_unreadable_preferences(trial))


def drop_unreadable_preferences(trial: TrialCluster) -> Iterator[Edit]:
    """Remove the preferred node affinity terms that cannot be read: with them no two nodes can be ranked."""
    spec, wishes = trial.pod.spec, trial.pod.spec.node_affinity
    if wishes is None:
        return
    read = tuple(term for term in wishes.preferred
                 if all(part.is_label_requirement for part in term.preference.match_expressions))  # fmt: skip
    if read != wishes.preferred:
        left = with_node_affinity(spec, evolve(wishes, preferred=read))
        words = "Remove the preferred node affinity that cannot be read"
        yield edit_spec(trial, words, DROP_COST, left, "drop preferences")


def wait_for_gates(gates: Iterable[str]) -> Edit:
    """Return the advice to wait for who removes scheduling gates."""
    words = f"Wait for the controller that removes the gate {listed(gates)}, or ask it"
    return Edit(words, 0, (), "ask the gate's controller", who="whoever runs the controller of the gate")


def remove_gates(trial: TrialCluster) -> Iterator[Edit]:
    """Remove the scheduling gates."""
    pod = trial.pod
    if pod.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        new = evolve_parts(pod, spec={"scheduling_gates": ()})
        note = "a controller that sets gates also removes them: ask it first"
        yield Edit(f"Remove the scheduling gates {gates}", 1, (ObjectChange(pod, new),), "remove gates", note=note)
