"""Answers why a pod is pending: judges it now, on what the API holds and the scheduler assumes.

This module decides nothing: the plugins judge, `demands` finds the minimal unsatisfiable core, and the rest is words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...api.progress import ProgressBar
from ...api.text.python_gc import infrequent_gc
from ...api.unknown_name import UnknownName
from ...api.words import counted
from ...api.workloads import WORKLOADS
from ...core.core import ClusterCore
from ...core.seen_by_scheduler import snapshot_of_scheduler
from ...rules.named import plugin_card
from ...rules.unread_fields import unread_fields, unread_words
from ...scheduler import requests
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.evidence import RequestExceeds
from ...scheduler.framework.judgement import Judgement, judge
from ...scheduler.framework.profile import Profile
from ...scheduler.loop import scheduling_queue as queue
from ...scheduler.loop.scheduling_cycle import RECORDER, SCHEDULER, post_filter
from ...scheduler.loop.scheduling_queue import QUEUE
from ...scheduler.requests import PODS
from ...world.apiserver import key_of, ref
from ...world.log import Key, Note
from . import claim_problems, sentences
from .alike import what_decides
from .answer import DemandRow, FailureRow, Finding, Holding, Remark, Why, remarks_on_not_read
from .causes import Alike, Answers, Whys
from .demands import (
    Demand,
    demands,
    group_nodes_by_first_rejection,
    minimal_unsatisfiable_core,
    node_with_most_left,
    nodes_with_one_failure,
)
from .first_sentence import UNBOUND, FirstSentence
from .on_node import LastEvents, answer_on_node, claim_of_pod, claims_waited_for, missing_components
from .table import clauses_of_sentence, node_groups, nodes_by_zone

MAX_COMPARED = 12  # nodes of a group that are each compared; a larger group is shown by one node
MAX_HOLDERS = 4  # named pods on a node that is short of a resource
MAX_SHORT_NODES = 2  # nodes whose holders are named, for each resource
MAX_OWNERS = 4  # a pod of a Deployment has two
MAX_CLAUSES = 4  # different comparisons of one group that are shown separately


@infrequent_gc()
def why(cluster: ClusterCore, pod: str) -> Why:
    """Say why a pod is pending, or which other state it is in: gated, waiting for a volume, on its node, ended.

    Args:
        cluster: the cluster; its present state is judged.
        pod: `web-0`, `NAMESPACE/web-0`, or a reference such as `pod/web-0`; or a workload, as `deploy/web`: then its
            first pod without a node is meant.

    Raises:
        UnknownName: there is no such pod; the message lists those without a node, too. It is a KeyError.
    """
    key, asked_for = pod_asked_for(cluster, pod)
    objects, missing = cluster.world.log.objects, effects_of_missing_kinds(cluster)
    judge_pod = cache(partial(judge_now, cluster, key))
    answer = _other_state(cluster, key, objects[key], missing, judge_pod)
    if answer is None:
        name = f"{key.namespace}/{key.name}"
        answer = _judged_answer(objects[key], name, cluster, missing, judge_pod, LastEvents(objects))
    unread = unread_fields(cluster.revision, objects[key], objects)
    words = [Remark(unread_words(cluster.revision, unread))] if unread else ()
    return attrs.evolve(answer, asked_for=asked_for, notes=(*words, *answer.notes))


def pod_asked_for(cluster: ClusterCore, reference: str, *, ever: bool = False) -> tuple[Key, str]:
    """Return the pod that a reference means, if asked for a deleted one, or that of a workload and which it is."""
    try:
        return cluster.world.find_key(reference, "pod", ever=ever), ""
    except UnknownName as unknown:
        try:
            workload = cluster.world.find_key(reference, WORKLOADS)
        except UnknownName:
            if ever:  # who asks about passes does not look for a pod that waits
                raise unknown from None
            without = ", ".join(pending(cluster)[:12]) or "none"
            there = f"{unknown.there}; these have no node: {without}"
            raise UnknownName(unknown.looked_for, there, unknown.near) from None
    named = ref(workload)
    mine = [key for key, obj in sorted(cluster.world.log.objects.items()) if key.kind == "Pod"
            and key.namespace == workload.namespace and is_managed_by(cluster, obj, workload)]  # fmt: skip
    waiting = [key for key in mine if is_pending(cluster.world.log.objects[key])]
    if not mine:
        objects = cluster.world.log.objects
        refused = LastEvents(objects).refused_pods({key: obj for key, obj in objects.items() if key == workload
                                                    or is_managed_by(cluster, obj, workload)})  # fmt: skip
        raise UnknownName(f"{named} has no pod{''.join(f'; {words}' for words in refused[:1])}")
    if not waiting:
        return mine[0], f"{named}, none of its pods waits for a node"
    which = "its only pending pod" if len(waiting) == 1 else f"the first of its {len(waiting)} pending pods"
    return waiting[0], f"{named}, {which}"


def is_managed_by(cluster: ClusterCore, obj: Any, workload: Key) -> bool:
    """Say whether a workload is the controller of an object, or of its controller."""
    owner = obj.metadata.controller
    for _ in range(MAX_OWNERS):  # manifests may own each other in a circle
        if owner is None:
            break
        key = Key(owner.kind, workload.namespace, owner.name)
        if key == workload:
            return True
        above: Any = cluster.world.log.objects.get(key)
        owner = above.metadata.controller if above is not None else None
    return False


@infrequent_gc()
def why_all(cluster: ClusterCore, most: int) -> Whys:
    """Say why each pod without a node is pending, and which pods wait for one cause.

    Pods that are judged alike are judged once; a bar is shown if it takes long.

    Args:
        cluster: the cluster; its present state is judged.
        most: how many causes are printed and drawn.

    Raises:
        ValueError: `most` is below 1.
    """
    if most < 1:
        raise ValueError(f"most is {most}: how many causes to show, from 1 on")
    seen = snapshot_of_scheduler(cluster)
    profile, missing = cluster.revision.profile, effects_of_missing_kinds(cluster)
    events = LastEvents(cluster.world.log.objects)
    known: dict[Any, Alike] = {}
    rows: list[tuple[str, Alike, Callable[[], Why] | None]] = []
    names = pending(cluster)
    with ProgressBar(len(names), unit=" pods", desc="judging") as bar:
        for name in names:
            key = Key("Pod", *name.split("/"))
            pod: Pod = cluster.world.log.objects[key]
            judgement = cache(partial(judge_without_node, pod, seen, profile))
            other_state = _other_state(cluster, key, pod, missing, judgement)
            if other_state is not None:
                rows.append((name, Alike(other_state), None))
            else:
                judged = partial(_judged_answer, pod, name, cluster, missing, judgement, events)
                decides = what_decides(pod, _condition_message(pod), seen, profile)
                alike = known.get(decides)
                own = tuple(pod.claim_names())
                if alike is None:
                    alike = Alike(judged(), own)
                    known |= {} if decides is None else {decides: alike}
                rows.append((name, alike, judged if own else None))
            bar.update()
    refused = events.refused_pods(cluster.world.log.objects)
    without_pods = () if names or refused else workloads_without_pods(cluster)
    return Whys(Answers(rows), nodes_by_zone(seen), None, most, without_pods, refused)


def workloads_without_pods(cluster: ClusterCore) -> tuple[str, ...]:
    """Return the workloads that want pods and have none, as `deploy/web`: nobody made them yet."""
    owners = {owner.uid for kind in ("pods", "replicasets") for obj in cluster.objects(kind)
              for owner in obj.metadata.owner_references}  # fmt: skip
    return tuple(ref(key_of(obj)) for kind in ("deployments", "replicationcontrollers", "statefulsets")
                 for obj in cluster.objects(kind) if obj.spec.replicas and obj.metadata.uid not in owners)  # fmt: skip


def _other_state(cluster: ClusterCore, key: Key, pod: Pod, missing: tuple[Remark, ...],
                 judge_pod: Callable[[], Judgement]) -> Why | None:
    """Return the answer for a pod that is not pending, with what a dump lacks; None for a pending one."""
    answer = _answer_if_not_pending(cluster, key, pod, judge_pod)
    if answer is None:
        return None
    waits = answer.state in ("gated", "waiting")
    return attrs.evolve(answer, missing=missing if waits else remarks_on_not_read(cluster.not_read))


def _judged_answer(asked: Pod, name: str, cluster: ClusterCore, missing: tuple[Remark, ...],
                   judge_pod: Callable[[], Judgement], events: LastEvents) -> Why:
    """Return the answer for a pod that is judged."""
    judgement = judge_pod()
    message = _condition_message(asked)
    answer = explain_judgement(judgement, name, cluster.revision.name, message)
    answer = attrs.evolve(answer, missing=missing)
    if [finding.kinds for finding in answer.findings] == [UNBOUND] and (lacking := missing_components(cluster, asked)):
        answer = attrs.evolve(answer, headline=lacking[0].words, findings=lacking)
    if asked.spec.scheduling_gates:
        gates = tuple(gate.name for gate in asked.spec.scheduling_gates)
        ungated = f"{len(judgement.feasible)} of {answer.size} nodes would fit" if judgement.any_feasible else (
            "without its gates no node would fit either")  # fmt: skip
        condition = asked.status.condition("PodScheduled")
        message = "Scheduling is blocked due to non-empty scheduling gates"
        if condition is not None and condition.reason == "SchedulingGated":
            message = condition.message
        head = f"it is not tried at all: its scheduling gates [{', '.join(gates)}] must be removed first ({ungated})."
        return attrs.evolve(answer, state="gated", headline=head, sentence=message, gates=gates,
                            ungated=ungated, findings=(Finding(("gate",), head),))  # fmt: skip
    if answer.state == "fits":
        return _fitting_answer(answer, judgement, message)
    compared = sentences.compare_with_condition(message, answer.sentence)
    return attrs.evolve(answer, notes=(*answer.notes, *events.warnings_of_claims(asked, judgement.seen), *compared))


def _condition_message(pod: Pod) -> str:
    """Return the cluster's own words on why a pod was not scheduled, or ""."""
    condition = pod.status.condition("PodScheduled")
    return condition.message if condition is not None and condition.status == "False" else ""


def explain_judgement(judgement: Judgement, name: str, revision: str, condition_message: str) -> Why:
    """Explain a judgement: which requirements exclude every node, if no node fits.

    Args:
        judgement: the plugins' verdicts.
        name: the pod, as `namespace/name`.
        revision: the name of the rules.
        condition_message: the cluster's own words; of cores of equal size the one that they name is preferred.
    """
    size = len(judgement.nodes)
    if judgement.error and judgement.any_feasible:
        but = "they cannot be ranked" if judgement.error == judgement.ranking_error else "a plugin fails on another one"
        head = f"{len(judgement.feasible)} of {size} nodes fit, but {but}: an error ends each of its passes."
        return Why(name, revision, "unschedulable", head, size, sentence=judgement.sentence(), fits=judgement.feasible)
    if judgement.any_feasible:
        head = f"{len(judgement.feasible)} of {counted(size, 'node')} would take it."
        return Why(name, revision, "fits", head, size, fits=judgement.feasible)
    preempted = post_filter(judgement.pod, judgement)
    sentence = judgement.sentence(postfilter=preempted.message)
    if not size:
        return Why(name, revision, "unschedulable", "there are no nodes.", 0, sentence=sentence)
    found = demands(judgement)
    core = minimal_unsatisfiable_core(found, condition_message)
    rejected = judgement.rejected_by
    rows = () if rejected is not None else tuple(_failure_rows(judgement))
    hidden = 0 if rejected is not None else int(((judgement.codes != 0).sum(axis=0) > 1).sum())
    others = tuple(demand for demand in found if demand not in core)
    notes = sentences.explain_sentence(sentence, hidden, rejected is not None)
    if preempted.nominated:
        victims = ", ".join(f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in preempted.victims)
        next_try = f"The scheduler's next try evicts {victims} of lower priority from {preempted.nominated}."
        notes.insert(0, Remark(next_try))
    whole = rejected is not None or bool(judgement.error)  # then no node is counted
    clauses = () if whole else clauses_of_sentence(judgement, preempted.counted)
    order = [found.index(demand) for demand in (*core, *others)]
    alone = nodes_with_one_failure(found, judgement.nodes)
    holdings = tuple(_holdings(judgement, found))
    findings = FirstSentence(judgement, core, found, holdings).findings()
    return Why(
        name, revision, "unschedulable", "; ".join(finding.words for finding in findings), size,
        tuple(_demand_row(demand, judgement, alone) for demand in core),
        tuple(_demand_row(demand, judgement, alone, short=True) for demand in others), rows, holdings, sentence,
        tuple(notes), clauses=clauses, start=judgement.sentence_parts()[0],
        groups=() if whole else node_groups(judgement, found, order, clauses), findings=findings,
    )  # fmt: skip


def pending(cluster: ClusterCore) -> tuple[str, ...]:
    """Return the pods that have no node and have not ended, as `namespace/name`, sorted."""
    found = (key for key, obj in cluster.world.log.objects.items() if key.kind == "Pod" and is_pending(obj))
    return tuple(f"{key.namespace}/{key.name}" for key in sorted(found))


def is_pending(pod: Pod) -> bool:
    """Say whether a pod has no node and has not ended."""
    return not pod.spec.node_name and not pod.terminal


def judge_now(cluster: ClusterCore, key: Key) -> Judgement:
    """Judge a pod on the present nodes, by the cluster's revision."""
    return judge_without_node(cluster.world.log.objects[key], snapshot_of_scheduler(cluster), cluster.revision.profile)


def judge_without_node(pod: Pod, seen: Snapshot, profile: Profile) -> Judgement:
    """Judge a pod as if it had no node."""
    return judge(evolve_parts(pod, spec={"node_name": ""}), seen, profile)


def effects_of_missing_kinds(cluster: ClusterCore) -> tuple[Remark, ...]:
    """Return what the answer cannot tell: what is not read, and of a dump or live cluster the kinds that it lacks."""
    loaded, not_read = cluster.loaded_manifests, remarks_on_not_read(cluster.not_read)
    if loaded is None or not any(obj.metadata.uid or obj.metadata.creation_timestamp for obj in loaded.objects):
        return not_read
    missing = [one for one in loaded.missing_kinds() if one.kind.plural not in loaded.unread]
    there = {key[0] for key in cluster.world.log.objects} if missing else ()  # what controllers have made meanwhile
    missing = [one for one in missing if one.kind.name not in there]
    return (
        *(Remark(effect, f"unread {what}", "unread", what) for what, effect in loaded.unread.items()),
        *(Remark(one.cannot_tell, f"no {one.kind.plural}", "absent", one.kind.plural) for one in missing),
        *not_read,
    )


def _answer_if_not_pending(
    cluster: ClusterCore, key: Key, pod: Pod, judge_pod: Callable[[], Judgement]
) -> Why | None:
    """Return the answer for a pod that is not pending: it has a node, has ended, is deleted, or waits for volumes."""
    name, rules = f"{key.namespace}/{key.name}", cluster.revision.name
    if pod.terminal:
        said = f": {pod.status.reason}, {pod.status.message}" if pod.status.message else ""
        return Why(name, rules, "ended", f"it has ended ({pod.status.phase}{said}): nothing is left to schedule.")
    if pod.spec.node_name:
        return answer_on_node(cluster, pod, name)
    if pod.metadata.deletion_timestamp is not None:
        return Why(name, rules, "leaving", "it is being deleted, so the scheduler skips it.")
    if (pod.spec.scheduler_name or RECORDER) != RECORDER:
        return Why(name, rules, "not ours", f"it asks for the scheduler {pod.spec.scheduler_name}, not {RECORDER}.")
    entry: Any = cluster.world.log.notes.get(Note(SCHEDULER, QUEUE, name))
    binding = entry is not None and entry.part in (queue.BINDING, queue.WAITING)
    selected = {
        node
        for claim_name in pod.claim_names()
        if (claim := claim_of_pod(cluster, pod, claim_name)) is not None
        and not volumes.is_bound(claim)
        and (node := volumes.selected_node(claim))
    }
    chosen = pod.status.nominated_node_name
    # A dump tells of a pod that is being bound by its nominated node; an annotation may be left from an earlier try.
    nominated = selected == {chosen} and not pod.spec.scheduling_gates and chosen in judge_pod().feasible
    if binding or nominated:
        node = ", ".join(sorted(selected)) or chosen
        head = f"a node is chosen{f' ({node})' if node else ''}; it waits for its volumes to be bound."
        lacking = missing_components(cluster, pod)
        return Why(name, rules, "waiting", lacking[0].words if lacking else head, findings=lacking,
                   notes=tuple(claims_waited_for(cluster, pod)))  # fmt: skip
    return None


def _fitting_answer(answer: Why, judgement: Judgement, condition_message: str) -> Why:
    some = ", ".join(judgement.feasible[:4]) + (" …" if len(judgement.feasible) > 4 else "")
    refused = sentences.forbidden_write(condition_message)
    if refused is not None:
        user, verb, resource = refused
        who = user.rpartition(":")[2]
        words = f"{who} may not {verb} {resource} (RBAC): a pod that needs it is not bound, though {some} would take it"
        return attrs.evolve(answer, headline=words, findings=(Finding(("permission",), words),))
    if not condition_message:
        head = f"it has not been tried yet: {len(judgement.feasible)} of {answer.size} nodes would take it ({some})."
        return attrs.evolve(answer, headline=head)
    head = f"{len(judgement.feasible)} of {answer.size} nodes would take it now ({some}), though its last try failed."
    since = "The cluster has changed since, or the dump does not show all."
    ended = Remark(f"“{condition_message}”. {since}", "Its last try ended with", "before")
    return attrs.evolve(answer, headline=head, notes=(ended, *sentences.translate_older_words(condition_message)))


def _failure_rows(judgement: Judgement) -> Iterator[FailureRow]:
    """Yield a row for each group of nodes that fail alike; in a small group each node is compared, else one."""
    for plugin, reasons, nodes in group_nodes_by_first_rejection(judgement):
        if len(nodes) > MAX_COMPARED:
            evidence = judgement.cell(nodes[0], plugin).evidence if plugin in judgement.plugins else ()
            short = [each.resource for each in evidence if isinstance(each, RequestExceeds)]
            resource = min(short, key=lambda each: each == PODS, default="")
            example = node_with_most_left(judgement, resource, nodes) if resource else nodes[0]
            clause = _failure_clause(judgement, plugin, example, reasons)
            yield FailureRow(nodes, plugin, reasons, f"{clause} (node {example}, for example)", example)
            continue
        alike: dict[str, list[str]] = {}
        for node in nodes:
            alike.setdefault(_failure_clause(judgement, plugin, node, reasons), []).append(node)
        if len(alike) > MAX_CLAUSES:
            clause, (example, *_) = next(iter(alike.items()))
            yield FailureRow(nodes, plugin, reasons, f"{clause} (node {example}, for example)", example)
            continue
        for clause, members in alike.items():
            yield FailureRow(tuple(members), plugin, reasons, clause, members[0])


def _failure_clause(judgement: Judgement, plugin: str, node: str, reasons: Sequence[str]) -> str:
    """Return both sides of the comparison on which a plugin rejects a node, or its reasons without evidence."""
    evidence = judgement.cell(node, plugin).evidence if plugin in judgement.plugins else ()
    return "; ".join(str(each.of_any_node()) for each in evidence) or ", ".join(reasons)


def _demand_row(demand: Demand, judgement: Judgement, alone: Mapping[Demand, tuple[str, ...]], *,
                short: bool = False) -> DemandRow:
    details = {} if short else dict(_demand_details(demand, judgement))
    kind = next(iter(details.values()), demand.kind) if demand.sort == "before filtering" else demand.kind
    return DemandRow(
        demand.plugin, demand.sort, demand.about, demand.words, demand.nodes, demand.number, tuple(details),
        demand.title, kind, alone.get(demand, ()),
    )


def _demand_details(demand: Demand, judgement: Judgement) -> Iterator[tuple[Remark, str]]:
    """Yield details of the claims that a demand is about, with the same without the claim's name.

    A rejection before filtering is about each claim.
    """
    pod, seen = judgement.pod, judgement.seen
    by_volume = demand.sort == "claim" and plugin_card(demand.plugin).finds_fault_with_volumes
    wanted = demand.about.split(",") if by_volume else []
    before = demand.sort == "before filtering"
    for name, claim in claim_problems.claims_of(pod, seen) if wanted or before else ():
        if claim is None:
            if before or name in wanted:
                lost = f"does not exist in namespace {pod.metadata.namespace}"
                yield Remark(f"claim {name} {lost}"), f"the claim {lost}"
        elif name in wanted or (
            before and (claim_problems.should_be_bound(claim, seen) or f'"{name}"' in demand.words)
        ):
            for words in claim_problems.describe_claim(claim, seen):
                yield Remark(words, f"claim {name}"), f"the claim: {words}"


def _holdings(judgement: Judgement, found: Sequence[Demand]) -> Iterator[Holding]:
    """Yield, for each short resource, the pods that hold it on the nodes with most of it left."""
    asked = requests.pod_requests(judgement.pod.spec).amounts
    for demand in found:
        if demand.sort != "request":
            continue
        resource, amount_of = demand.about, partial(requests.format_amount, demand.about)
        ask = 1 if resource == PODS else asked.get(resource, 0)
        enough = judgement.seen.nodes.total(resource) >= ask  # where it is not, it helps nobody that pods leave
        short = [name for name, fails in zip(judgement.nodes, demand.fails.tolist(), strict=True)
                 if fails and enough[judgement.seen.nodes.row_of[name]]]  # fmt: skip
        for _ in range(min(MAX_SHORT_NODES, len(short))):
            node = node_with_most_left(judgement, resource, short)
            short.remove(node)
            room = judgement.seen.node_info(node)
            held = ((1 if resource == PODS else requests.held_requests(pod).amounts.get(resource, 0), pod.metadata)
                    for pod in judgement.seen.pods_on(node))  # fmt: skip
            holders = sorted((-amount, meta.namespace, meta.name) for amount, meta in held if amount)
            largest = [(f"{namespace}/{name}", amount_of(-less)) for less, namespace, name in holders[:MAX_HOLDERS]]
            yield Holding(node, resource, amount_of(ask), amount_of(room.total.get(resource, 0)),
                          amount_of(room.free(resource)), tuple(largest), max(0, len(holders) - MAX_HOLDERS))
