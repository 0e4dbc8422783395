"""Catalogue: edits of the pod: another toleration or selector, a looser constraint, a smaller request.

Each function yields edits that may lift one demand; `search` tries whether they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from kvolsched.api.kinds.directives import (
    constraint_alone,
    with_constraint,
    with_node_affinity,
    with_required_node_affinity,
    with_tolerations,
    without_pod_term,
)
from kvolsched.api.kinds.meta import Frozen, evolve, evolve_parts
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import SCHEDULE_ANYWAY, Affinity, Pod, PodSpec
from kvolsched.api.kinds.quantity import parse
from kvolsched.api.kinds.selector import Toleration
from kvolsched.api.validation.container_rules import allows_overcommit
from kvolsched.questions.why.demands import Demand
from kvolsched.rules.named import plugin_card
from kvolsched.scheduler import requests
from kvolsched.scheduler.plugins.pod_topology_spread import SkewExceeds

from .edit import Edit, ObjectChange
from .owners import owner_on_top
from .trial_cluster import TrialCluster

LOWER_REQUEST_COST, LOOSEN_COST, DROP_COST = 2, 2, 3
FILTERING_EFFECTS = ("NoSchedule", "NoExecute")


def edit_spec(trial: TrialCluster, words: str, cost: int, spec: PodSpec) -> Edit:
    """Return the edit that recreates the pod with another spec."""
    return _recreate(trial, words, cost, attrs.evolve(trial.pod, spec=spec))


def _recreate(trial: TrialCluster, words: str, cost: int, new: Pod) -> Edit:
    """Return the edit that creates the pod again as another one; a pod of a controller is changed in the template."""
    owner = owner_on_top(trial.pod, trial.objects)
    note = f"change it in the template of {owner}" if owner is not None else ""
    if owner is not None and owner.kind == "Job":
        note = f"the template of a running Job is immutable: delete {owner}, and create it again with the change"
    return Edit(words, cost, (ObjectChange(trial.pod, new, recreate=True),), note=note)


def edits_of_plugin(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Yield the edits on the card of the plugin that judges a demand; a pod is created again."""
    for edit in plugin_card(demand.plugin).edits(trial.pod, demand.about, near):
        if isinstance(edit.old, Pod):
            yield _recreate(trial, edit.words, edit.cost, edit.new)
        else:
            yield Edit(edit.words, edit.cost, (ObjectChange(edit.old, edit.new),), note=edit.note)


def tolerate(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Add a toleration of a near node's taint, or of every taint with its key."""
    pod = trial.pod
    taints = dict.fromkeys(
        taint
        for node in near
        for taint in node.spec.taints
        if taint.key == demand.about and taint.effect in FILTERING_EFFECTS
    )
    owner = owner_on_top(pod, trial.objects)
    note = f"the template of {owner} stays as it is: its next pod would lack the toleration" if owner else ""
    more = {str(taint): Toleration(key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value,
                                   effect=taint.effect) for taint in taints}  # fmt: skip
    if len(taints) > 1:
        more[f"every taint {demand.about}"] = Toleration(key=demand.about, operator="Exists")
    for what, toleration in more.items():
        tolerant = attrs.evolve(pod, spec=with_tolerations(pod.spec, toleration))
        yield Edit(f"let the pod tolerate {what}", 1, (ObjectChange(pod, tolerant),), note=note)


def change_node_selector(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Change a nodeSelector entry to a near node's value, or remove it."""
    pod, key = trial.pod, demand.about
    selector = pod.spec.node_selector
    for value in dict.fromkeys(node.metadata.labels[key] for node in near if key in node.metadata.labels):
        if value != selector.get(key):
            words = f"change nodeSelector {key} from {selector.get(key)} to {value}"
            yield edit_spec(trial, words, LOOSEN_COST, evolve(pod.spec, node_selector=selector.merged({key: value})))
    without = Frozen({other: value for other, value in selector.items() if other != key})
    yield edit_spec(trial, f"remove {key} from nodeSelector", DROP_COST, evolve(pod.spec, node_selector=without))


def drop_node_affinity(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Remove the required node affinity."""
    looser = with_required_node_affinity(trial.pod.spec, None)
    if looser != trial.pod.spec:
        yield edit_spec(trial, "remove the required node affinity", DROP_COST, looser)


def lower_request(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Lower a request to what a near node has left."""
    pod, resource = trial.pod, demand.about
    ask = requests.pod_requests(pod.spec).amounts.get(resource, 0)
    for node in near:
        free = trial.seen.node_info(node.metadata.name).free(resource)
        if not 0 < free < ask:
            continue
        containers = _lower_containers(pod, resource, ask - free)
        if containers is not None:
            less, before = requests.format_amount(resource, free), requests.format_amount(resource, ask)
            words = f"ask for {less} {resource} instead of {before}"
            yield edit_spec(trial, words, LOWER_REQUEST_COST, evolve(pod.spec, containers=containers))


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

    def changed(words: str, cost: int, **fields: Any) -> Edit:
        return edit_spec(trial, words, cost, with_constraint(pod.spec, number, **fields))

    plugin: Any = trial.profile.plugin(demand.plugin)
    variant = attrs.evolve(pod, spec=constraint_alone(pod.spec, number))
    needed: set[int] = set()
    keys = {each.topology_key for each in constraints if each.is_hard}  # nodes without one of them do not count
    for node in (node for node in near if keys <= node.metadata.labels.keys()):
        evidence = getattr(plugin.rule(variant, node, trial.seen), "evidence", ())
        skews = [item.skew.skew for item in evidence if isinstance(item, SkewExceeds)]
        needed.update(skew for skew in skews if skew > constraint.skew_limit)
    if needed:
        words = f"raise maxSkew over {key} from {constraint.skew_limit} to {min(needed)}"
        yield changed(words, LOOSEN_COST, max_skew=min(needed))
    if constraint.node_taints_policy != "Honor":
        words = f"set nodeTaintsPolicy: Honor for {key}, so that tainted nodes do not count"
        yield changed(words, 2, node_taints_policy="Honor")
    if constraint.node_affinity_policy == "Ignore":
        words = f"set nodeAffinityPolicy: Honor for {key}, so that only nodes that the pod selects count"
        yield changed(words, 2, node_affinity_policy="Honor")
    if constraint.min_domains:
        yield changed(f"remove minDomains over {key}", LOOSEN_COST, min_domains=None)
    if constraint.is_hard:
        words = f"make the spread over {key} a preference (ScheduleAnyway)"
        yield changed(words, DROP_COST, when_unsatisfiable=SCHEDULE_ANYWAY, min_domains=None)


def drop_pod_affinity_term(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Remove a required podAffinity or podAntiAffinity term."""
    spec = trial.pod.spec
    side, name = ("pod_affinity", "podAffinity") if demand.sort == "affinity" else (
        "pod_anti_affinity", "podAntiAffinity")  # fmt: skip
    terms = getattr(spec.affinity or Affinity(), side)
    if terms is not None and demand.number < len(terms.required):
        looser = without_pod_term(spec, side, demand.number)
        yield edit_spec(trial, f"remove the required {name} over {demand.about}", DROP_COST, looser)


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
        yield edit_spec(trial, "remove the preferred node affinity that cannot be read", DROP_COST, left)


def remove_gates(trial: TrialCluster) -> Iterator[Edit]:
    """Remove the scheduling gates."""
    pod = trial.pod
    if pod.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        new = evolve_parts(pod, spec={"scheduling_gates": ()})
        note = "a controller that sets gates also removes them: ask it first"
        yield Edit(f"remove the scheduling gates {gates}", 1, (ObjectChange(pod, new),), note=note)
