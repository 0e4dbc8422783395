"""The catalogue, edits of the pod: a toleration more, another selector, a looser constraint, a smaller request.

Each function gives edits that might lift one demand; whether they do is tried, never assumed.
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
from kvolsched.scheduler import requests
from kvolsched.why.demands import Demand

from .edit import Edit, ObjectChange
from .trial_cluster import TrialCluster

LOWER_REQUEST_COST, LOOSEN_COST, DROP_COST = 2, 2, 3
FILTERING_EFFECTS = ("NoSchedule", "NoExecute")


def edit_spec(pod: Pod, words: str, cost: int, **spec: Any) -> Edit:
    """Return the edit that gives a pod another spec: it is created anew, or changed in the template of its owner."""
    owner = pod.metadata.controller
    note = f"change it in the template of {owner.kind} {owner.name}" if owner is not None else ""
    new = attrs.evolve(pod, spec=attrs.evolve(pod.spec, **spec))
    return Edit(words, cost, (ObjectChange(pod, new, recreate=True),), note=note)


def tolerate(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Tolerate the taint of a near node, or every taint of that key."""
    pod = trial.pod
    seen = dict.fromkeys(
        taint for node in near for taint in node.spec.taints if taint.key == demand.about and taint.effect in FILTERING_EFFECTS
    )
    for taint in seen:
        exact = Toleration(
            key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value, effect=taint.effect
        )
        more = evolve_parts(pod, spec={"tolerations": (*pod.spec.tolerations, exact)})
        yield Edit(f"let the pod tolerate {taint}", 1, (ObjectChange(pod, more),))
    several = {taint.effect for taint in seen}
    if len(seen) > 1 or len(several) > 1:
        every = Toleration(key=demand.about, operator="Exists")
        more = evolve_parts(pod, spec={"tolerations": (*pod.spec.tolerations, every)})
        yield Edit(f"let the pod tolerate every taint {demand.about}", 1, (ObjectChange(pod, more),))


def change_node_selector(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Ask nodeSelector for what a near node carries, or leave the entry out."""
    pod, key = trial.pod, demand.about
    selector = pod.spec.node_selector
    for value in dict.fromkeys(node.metadata.labels[key] for node in near if key in node.metadata.labels):
        if value != selector.get(key):
            words = f"change nodeSelector {key} from {selector.get(key)} to {value}"
            yield edit_spec(pod, words, LOOSEN_COST, node_selector=selector.merged({key: value}))
    without = Frozen({other: value for other, value in selector.items() if other != key})
    yield edit_spec(pod, f"leave {key} out of nodeSelector", DROP_COST, node_selector=without)


def drop_node_affinity(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Only prefer what the node affinity requires."""
    pod = trial.pod
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        looser = attrs.evolve(affinity, node_affinity=attrs.evolve(affinity.node_affinity, required=None))
        yield edit_spec(pod, "leave out the required node affinity", DROP_COST, affinity=looser)


def drop_node_name(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Leave the choice of node to the scheduler."""
    yield edit_spec(trial.pod, "leave out spec.nodeName", DROP_COST, node_name="")


def lower_request(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Ask for no more than a near node has left."""
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
            yield edit_spec(pod, words, LOWER_REQUEST_COST, containers=containers)


def _lower_containers(pod: Pod, resource: str, less: int) -> tuple[Any, ...] | None:
    """Return the containers with the one that asks for most asking for less, if it alone can give that much."""
    amounts = [
        requests.to_units(resource, parse(text)) if (text := one.resources.requests.get(resource)) else 0
        for one in pod.spec.containers
    ]
    if not amounts or max(amounts) < less:
        return None
    place = amounts.index(max(amounts))
    one = pod.spec.containers[place]
    left = requests.format_amount(resource, amounts[place] - less)
    resources = attrs.evolve(one.resources, requests=one.resources.requests.merged({resource: left}))
    changed = attrs.evolve(one, resources=resources)
    return (*pod.spec.containers[:place], changed, *pod.spec.containers[place + 1 :])


def drop_host_port(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Ask for no host port."""
    pod = trial.pod
    wanted = int(demand.about.rpartition("/")[0].rpartition(":")[2] or 0)

    def without(container: Any) -> Any:
        ports = tuple(attrs.evolve(p, host_port=0) if p.host_port == wanted else p for p in container.ports)
        return attrs.evolve(container, ports=ports)

    yield edit_spec(
        pod, f"ask for no host port {wanted}", DROP_COST, containers=tuple(map(without, pod.spec.containers)),
        init_containers=tuple(map(without, pod.spec.init_containers)),
    )  # fmt: skip


def loosen_spread(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Raise maxSkew as far as a near node needs, count only nodes that come into question, or only prefer."""
    pod, number = trial.pod, demand.number
    every = pod.spec.topology_spread_constraints
    if number >= len(every):
        return
    constraint = every[number]
    key = constraint.topology_key

    def changed(words: str, cost: int, **fields: Any) -> Edit:
        new = attrs.evolve(constraint, **fields)
        return edit_spec(
            pod, words, cost, topology_spread_constraints=(*every[:number], new, *every[number + 1 :])
        )

    plugin: Any = trial.profile.plugin("PodTopologySpread")
    alone = tuple(
        attrs.evolve(one, max_skew=2**31 - 1, min_domains=None) if place != number else one
        for place, one in enumerate(every)
    )
    asked = evolve_parts(pod, spec={"topology_spread_constraints": alone})
    needed: set[int] = set()
    for node in near:
        answer = plugin.rule(asked, node, trial.seen)
        skews = [one.values[0] for one in getattr(answer, "evidence", ()) if isinstance(one.values[0], int)]
        needed.update(skew for skew in skews if skew > (constraint.max_skew or 1))
    if needed:
        least = min(needed)
        yield changed(f"raise maxSkew over {key} from {constraint.max_skew or 1} to {least}", LOOSEN_COST, max_skew=least)
    if constraint.node_taints_policy != "Honor":
        yield changed(f"nodeTaintsPolicy: Honor for {key}: tainted nodes do not count", 2, node_taints_policy="Honor")
    if constraint.node_affinity_policy == "Ignore":
        words = f"nodeAffinityPolicy: Honor for {key}: only nodes that the pod may use count"
        yield changed(words, 2, node_affinity_policy="Honor")
    if constraint.min_domains:
        yield changed(f"leave out minDomains over {key}", LOOSEN_COST, min_domains=None)
    if constraint.when_unsatisfiable in (DO_NOT_SCHEDULE, ""):
        words = f"only prefer to spread over {key} (ScheduleAnyway)"
        yield changed(words, DROP_COST, when_unsatisfiable=SCHEDULE_ANYWAY, min_domains=None)


def drop_pod_affinity_term(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Leave out the required term, for company or against it."""
    pod = trial.pod
    affinity = pod.spec.affinity or Affinity()
    word = "pod_affinity" if demand.sort == "affinity" else "pod_anti_affinity"
    company = getattr(affinity, word)
    if company is None or demand.number >= len(company.required):
        return
    left = company.required[: demand.number] + company.required[demand.number + 1 :]
    looser = attrs.evolve(affinity, **{word: attrs.evolve(company, required=left)})
    name = "podAffinity" if demand.sort == "affinity" else "podAntiAffinity"
    yield edit_spec(pod, f"leave out the required {name} over {demand.about}", DROP_COST, affinity=looser)


def remove_gates(trial: TrialCluster) -> Iterator[Edit]:
    """Remove the scheduling gates."""
    pod = trial.pod
    if pod.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        new = evolve_parts(pod, spec={"scheduling_gates": ()})
        note = "whoever set them waits for something: look there first"
        yield Edit(f"remove the scheduling gates {gates}", 1, (ObjectChange(pod, new),), note=note)
