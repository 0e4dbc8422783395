"""Catalogue: edits of the pod: another toleration or selector, a looser constraint, a smaller request.

Each function yields edits that may lift one demand; `search` tries whether they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from kvolsched.api.kinds.meta import Frozen, evolve_parts
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, Affinity, Pod
from kvolsched.api.kinds.quantity import parse
from kvolsched.api.kinds.selector import Toleration
from kvolsched.api.validation.container_rules import allows_overcommit
from kvolsched.questions.why.demands import Demand
from kvolsched.scheduler import requests
from kvolsched.scheduler.profiles import plugin_card

from .edit import Edit, ObjectChange
from .owners import owner_on_top
from .trial_cluster import TrialCluster

LOWER_REQUEST_COST, LOOSEN_COST, DROP_COST = 2, 2, 3
FILTERING_EFFECTS = ("NoSchedule", "NoExecute")


def edit_spec(trial: TrialCluster, words: str, cost: int, **spec: Any) -> Edit:
    """Return the edit that recreates the pod with another spec."""
    return _recreate(trial, words, cost, evolve_parts(trial.pod, spec=spec))


def _recreate(trial: TrialCluster, words: str, cost: int, new: Pod) -> Edit:
    """Return the edit that creates the pod again as another one; a pod of a controller is changed in the template."""
    owner = owner_on_top(trial.pod, trial.objects)
    note = f"change it in the template of {owner}" if owner is not None else ""
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
    for taint in taints:
        exact = Toleration(
            key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value, effect=taint.effect
        )
        more = evolve_parts(pod, spec={"tolerations": (*pod.spec.tolerations, exact)})
        yield Edit(f"let the pod tolerate {taint}", 1, (ObjectChange(pod, more),), note=note)
    if len(taints) > 1:
        every = Toleration(key=demand.about, operator="Exists")
        more = evolve_parts(pod, spec={"tolerations": (*pod.spec.tolerations, every)})
        yield Edit(f"let the pod tolerate every taint {demand.about}", 1, (ObjectChange(pod, more),), note=note)


def change_node_selector(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Change a nodeSelector entry to a near node's value, or remove it."""
    pod, key = trial.pod, demand.about
    selector = pod.spec.node_selector
    for value in dict.fromkeys(node.metadata.labels[key] for node in near if key in node.metadata.labels):
        if value != selector.get(key):
            words = f"change nodeSelector {key} from {selector.get(key)} to {value}"
            yield edit_spec(trial, words, LOOSEN_COST, node_selector=selector.merged({key: value}))
    without = Frozen({other: value for other, value in selector.items() if other != key})
    yield edit_spec(trial, f"remove {key} from nodeSelector", DROP_COST, node_selector=without)


def drop_node_affinity(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Remove the required node affinity."""
    pod = trial.pod
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        looser = attrs.evolve(affinity, node_affinity=attrs.evolve(affinity.node_affinity, required=None))
        yield edit_spec(trial, "remove the required node affinity", DROP_COST, affinity=looser)


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
            yield edit_spec(trial, words, LOWER_REQUEST_COST, containers=containers)


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
        new = attrs.evolve(constraint, **fields)
        changed_constraints = (*constraints[:number], new, *constraints[number + 1 :])
        return edit_spec(trial, words, cost, topology_spread_constraints=changed_constraints)

    plugin: Any = trial.profile.plugin(demand.plugin)
    alone = tuple(
        attrs.evolve(other, max_skew=2**31 - 1, min_domains=None) if place != number else other
        for place, other in enumerate(constraints)
    )
    variant = evolve_parts(pod, spec={"topology_spread_constraints": alone})
    needed: set[int] = set()
    for node in near:
        evidence = getattr(plugin.rule(variant, node, trial.seen), "evidence", ())
        skews = [item.values[0] for item in evidence if isinstance(item.values[0], int)]
        needed.update(skew for skew in skews if skew > (constraint.max_skew or 1))
    if needed:
        words = f"raise maxSkew over {key} from {constraint.max_skew or 1} to {min(needed)}"
        yield changed(words, LOOSEN_COST, max_skew=min(needed))
    if constraint.node_taints_policy != "Honor":
        words = f"set nodeTaintsPolicy: Honor for {key}, so that tainted nodes do not count"
        yield changed(words, 2, node_taints_policy="Honor")
    if constraint.node_affinity_policy == "Ignore":
        words = f"set nodeAffinityPolicy: Honor for {key}, so that only nodes that the pod selects count"
        yield changed(words, 2, node_affinity_policy="Honor")
    if constraint.min_domains:
        yield changed(f"remove minDomains over {key}", LOOSEN_COST, min_domains=None)
    if constraint.when_unsatisfiable in (DO_NOT_SCHEDULE, ""):
        words = f"make the spread over {key} a preference (ScheduleAnyway)"
        yield changed(words, DROP_COST, when_unsatisfiable=SCHEDULE_ANYWAY, min_domains=None)


def drop_pod_affinity_term(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Remove a required podAffinity or podAntiAffinity term."""
    pod = trial.pod
    affinity = pod.spec.affinity or Affinity()
    field = "pod_affinity" if demand.sort == "affinity" else "pod_anti_affinity"
    terms = getattr(affinity, field)
    if terms is None or demand.number >= len(terms.required):
        return
    left = terms.required[: demand.number] + terms.required[demand.number + 1 :]
    left_terms = attrs.evolve(terms, required=left) if left or terms.preferred else None
    changed: dict[str, Any] = {field: left_terms}
    looser = attrs.evolve(affinity, **changed)
    name = "podAffinity" if demand.sort == "affinity" else "podAntiAffinity"
    yield edit_spec(trial, f"remove the required {name} over {demand.about}", DROP_COST, affinity=looser)


def let_it_be_tried(trial: TrialCluster) -> tuple[Edit, ...]:
    """Return the edits without which no pass can succeed, whatever nodes there are."""
    gates = tuple(remove_gates(trial))
    with trial.with_changes([change for edit in gates for change in edit.changes]):
        return (*gates, *drop_unreadable_preferences(trial))


def drop_unreadable_preferences(trial: TrialCluster) -> Iterator[Edit]:
    """Remove the preferred node affinity terms that cannot be read: with them no two nodes can be ranked."""
    affinity = trial.pod.spec.affinity
    wishes = affinity.node_affinity if affinity is not None else None
    if affinity is None or wishes is None:
        return
    read = tuple(term for term in wishes.preferred
                 if all(part.is_label_requirement for part in term.preference.match_expressions))  # fmt: skip
    if read != wishes.preferred:
        left = attrs.evolve(wishes, preferred=read)
        words = "remove the preferred node affinity that cannot be read"
        yield edit_spec(trial, words, DROP_COST, affinity=attrs.evolve(affinity, node_affinity=left))


def remove_gates(trial: TrialCluster) -> Iterator[Edit]:
    """Remove the scheduling gates."""
    pod = trial.pod
    if pod.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        new = evolve_parts(pod, spec={"scheduling_gates": ()})
        note = "a controller that sets gates also removes them: ask it first"
        yield Edit(f"remove the scheduling gates {gates}", 1, (ObjectChange(pod, new),), note=note)
