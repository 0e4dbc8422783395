"""Why is this pod pending? The answer is a judgement made now, on what the API holds and the scheduler assumes.

Nothing is decided here: the plugins judge, `demands` says which clauses leave no node, and the rest is words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from kvolsched import volumes
from kvolsched.api.kinds.kind import kind_named
from kvolsched.api.kinds.pod import Pod
from kvolsched.cluster import Cluster
from kvolsched.scheduler import requests
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot
from kvolsched.scheduler.framework.judgement import Judgement, judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.loop import scheduling_queue as queue
from kvolsched.scheduler.loop.assume_cache import ASSUMED, key_of_note
from kvolsched.scheduler.loop.scheduling_cycle import RECORDER, SCHEDULER, post_filter_message
from kvolsched.scheduler.loop.scheduling_queue import QUEUE
from kvolsched.scheduler.requests import PODS
from kvolsched.why.demands import Demand, demands, failing_alike, minimal_unsatisfiable_core, node_with_most_left
from kvolsched.world.apiserver import key_for
from kvolsched.world.log import Key, Note

from ..api.kinds.meta import evolve_parts
from . import sentences, supplies
from .answer import DemandRow, FailureRow, Holding, Why, Whys

COMPARED = 12  # nodes of a group that are each compared; of a larger group one speaks for all
HOLDERS = 4  # pods named on a node that is short of something
SHORT = 2  # nodes whose holders are named, for each resource
UNSUPPLIED = ("NodeVolumeLimits", "VolumeRestrictions")  # a claim fails here whatever volume it has or gets
APART = 4  # different comparisons of one group that are shown apart


def why(cluster: Cluster, pod: str) -> Why:
    """Say why a pod is pending, or what else it is: gated, waiting for a volume, on its node, ended.

    Args:
        cluster: as it is now.
        pod: `web-0`, `NAMESPACE/web-0`, or a reference such as `pod/web-0`.

    Raises:
        KeyError: there is no such pod.
    """
    key = pod_key(cluster, pod)
    asked: Pod = cluster.world.log.objects[key]
    missing = told_by_nobody(cluster)
    plain = _not_pending(cluster, key, asked)
    if plain is not None:
        return attrs.evolve(plain, missing=missing if plain.state in ("gated", "waiting") else ())
    judgement = judged_now(cluster, key)
    condition = asked.status.condition("PodScheduled")
    said = condition.message if condition is not None and condition.status == "False" else ""
    answer = explain_judgement(judgement, f"{key.namespace}/{key.name}", cluster.revision.name, said)
    answer = attrs.evolve(answer, missing=missing)
    if asked.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in asked.spec.scheduling_gates)
        behind = f"{len(judgement.feasible)} of {answer.size} nodes would fit" if judgement.any_feasible else (
            "without its gates no node would fit either")  # fmt: skip
        head = f"it is not tried at all: its scheduling gates [{gates}] must be removed first ({behind})."
        return attrs.evolve(answer, state="gated", headline=head, sentence=gated_words(asked))
    if answer.state == "fits":
        return _untried(answer, judgement, said)
    return attrs.evolve(answer, notes=(*answer.notes, *sentences.compared(said, answer.sentence)))


def why_all(cluster: Cluster) -> Whys:
    """Say of each pod that has no node why that is."""
    return Whys(tuple(why(cluster, pod) for pod in pending(cluster)))


def explain_judgement(judgement: Judgement, name: str, revision: str, said: str = "") -> Why:
    """Explain a judgement: of a pod that fits nowhere, which demands leave no node; `said`: what the cluster told."""
    size = len(judgement.nodes)
    if judgement.any_feasible:
        head = f"{len(judgement.feasible)} of {size} node{'s' if size != 1 else ''} would take it."
        return Why(name, revision, "fits", head, size)
    sentence = judgement.sentence(postfilter=post_filter_message(judgement.pod, judgement))
    if not size:
        return Why(name, revision, "unschedulable", "there are no nodes.", 0, sentence=sentence)
    found = demands(judgement)
    chosen = minimal_unsatisfiable_core(found, said)
    rejected = judgement.rejected_by
    rows = () if rejected is not None else tuple(_rows(judgement))
    hidden = 0 if rejected is not None else int(((judgement.codes != 0).sum(axis=0) > 1).sum())
    if rejected is not None:
        head = f"rejected before any node is looked at: {rejected.message}."
    else:
        head = f"no node fits: {size} node{'s' if size != 1 else ''}, and on each some demand fails."
    also = tuple(demand for demand in found if demand not in chosen)
    return Why(
        name,
        revision,
        "unschedulable",
        head,
        size,
        tuple(_demanded(demand, judgement) for demand in chosen),
        tuple(_demanded(demand, judgement, short=True) for demand in also),
        rows,
        tuple(_holdings(judgement, found)),
        sentence,
        tuple(sentences.explained(sentence, hidden, rejected is not None)),
    )


# --- who and when ----------------------------------------------------------------------------------------------------


def pod_key(cluster: Cluster, pod: str) -> Key:
    """Return the key of a pod called `web-0`, `NAMESPACE/web-0` or `pod/web-0`; a plain name is looked for everywhere.

    Raises:
        KeyError: there is no such pod, or several namespaces have one.
    """
    objects = cluster.world.log.objects
    parts = pod.split("/")
    if len(parts) == 3 or (len(parts) == 2 and parts[0].lower() in ("pod", "pods", "po")):
        key = key_for(pod)
        if kind_named(parts[0]).name != "Pod":
            raise KeyError(f"{pod} is no pod")
    elif len(parts) == 2:
        key = Key("Pod", *parts)
    else:
        key = Key("Pod", "default", pod)
        others = [other for other in objects if other.kind == "Pod" and other.name == pod]
        if key not in objects and len(others) == 1:
            return others[0]
        if key not in objects and others:
            raise KeyError(f"several pods are called {pod}: {', '.join(f'{o.namespace}/{o.name}' for o in others)}")
    if key not in objects:
        raise KeyError(f"no pod {pod}; these have no node: {', '.join(pending(cluster)[:12]) or 'none'}")
    return key


def pending(cluster: Cluster) -> tuple[str, ...]:
    """Return the pods that have no node and have not ended, as `namespace/name`, sorted."""
    found = (key for key, obj in cluster.world.log.objects.items() if key.kind == "Pod" and waits(obj))
    return tuple(f"{key.namespace}/{key.name}" for key in sorted(found))


def waits(pod: Pod) -> bool:
    """Say whether a pod still waits for a node."""
    return not pod.spec.node_name and not pod.terminal


def seen_objects(cluster: Cluster) -> dict[Key, Any]:
    """Return what a scheduler that is up to date would see: the API's objects, and over them what is assumed."""
    log = cluster.world.log
    objects = dict(log.objects)
    for note, value in log.notes.items():
        if note.component == SCHEDULER and note.sort == ASSUMED and value is not None:
            objects[key_of_note(note.name)] = value
    return objects


def judged_now(cluster: Cluster, key: Key) -> Judgement:
    """Judge a pod on the nodes as they are, by the cluster's revision."""
    seen = snapshot(seen_objects(cluster).values())
    return judged_on(cluster.world.log.objects[key], seen, cluster.revision.profile)


def judged_on(pod: Pod, seen: Snapshot, profile: Profile) -> Judgement:
    """Judge a pod as if it had no node yet."""
    return judge(evolve_parts(pod, spec={"node_name": ""}), seen, profile)


def told_by_nobody(cluster: Cluster) -> tuple[str, ...]:
    """Return what cannot be told, as what was loaded lacks a kind."""
    if cluster.loaded is None:
        return ()
    return tuple(f"no {one.kind.plural}: {one.cannot_tell}" for one in cluster.loaded.missing_kinds())


def gated_words(pod: Pod) -> str:
    """Return what the API says of a gated pod."""
    condition = pod.status.condition("PodScheduled")
    if condition is not None and condition.reason == "SchedulingGated":
        return condition.message
    return "Scheduling is blocked due to non-empty scheduling gates"


def _not_pending(cluster: Cluster, key: Key, pod: Pod) -> Why | None:
    """Answer for a pod that waits for no node: it has one, has ended, is leaving, or its volumes are being bound."""
    name, rules = f"{key.namespace}/{key.name}", cluster.revision.name
    if pod.terminal:
        return Why(name, rules, "ended", f"it has ended ({pod.status.phase}): nothing is left to schedule.")
    if pod.spec.node_name:
        gone = "" if f"node/{pod.spec.node_name}" in cluster else ", a node that does not exist"
        notes = tuple(_what_it_waits_for(cluster, pod)) if pod.status.phase in ("", "Pending") else ()
        phase = pod.status.phase or "Pending"
        head = f"it is not waiting for a node: it is on {pod.spec.node_name}{gone}, and {phase}."
        return Why(name, rules, "bound", head, notes=notes)
    if pod.metadata.deletion_timestamp is not None:
        return Why(name, rules, "leaving", "it is being deleted, so the scheduler leaves it alone.")
    if (pod.spec.scheduler_name or RECORDER) != RECORDER:
        return Why(name, rules, "not ours", f"it asks for the scheduler {pod.spec.scheduler_name}, not {RECORDER}.")
    entry: Any = cluster.world.log.notes.get(Note(SCHEDULER, QUEUE, name))
    binding = entry is not None and entry.part in (queue.BINDING, queue.WAITING)
    selected = {
        node
        for claim_name in pod.claim_names()
        if (claim := _claim(cluster, pod, claim_name)) is not None
        and not volumes.is_bound(claim)
        and (node := volumes.selected_node(claim))
    }
    chosen = pod.status.nominated_node_name
    if binding or (selected and selected == {chosen}):
        node = ", ".join(sorted(selected)) or chosen or "its node"
        head = f"a node is chosen ({node}); it waits for its volumes to be bound."
        return Why(name, rules, "waiting", head, notes=tuple(_what_it_waits_for(cluster, pod)))
    return None


def _claim(cluster: Cluster, pod: Pod, name: str) -> Any:
    return cluster.world.log.objects.get(Key("PersistentVolumeClaim", pod.metadata.namespace or "default", name))


def _what_it_waits_for(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """Tell of each claim that is not bound who is to act, and what was last said of it."""
    for name in dict.fromkeys(pod.claim_names()):
        claim = _claim(cluster, pod, name)
        if claim is None:
            yield f"claim {name} does not exist"
            continue
        if volumes.is_bound(claim):
            continue
        phase = claim.status.phase or "Pending"
        words = volumes.class_of_claim(claim)
        storage_class: Any = cluster.world.log.objects.get(Key("StorageClass", "", words))
        provisioner = storage_class.provisioner if storage_class is not None else ""
        node = volumes.selected_node(claim)
        if claim.spec.volume_name:
            who = f"the volume controller is to complete its binding to {claim.spec.volume_name}"
        elif node and provisioner:
            who = f"{provisioner} is to make a volume for node {node}"
        elif not pod.spec.node_name or node:
            who = "the volume controller is to bind it to the volume that was chosen"
        else:
            who = "nobody chose a node for it: the pod was given its node without the scheduler, which is who would"
        said = last_event(cluster, claim)
        yield f"claim {name} is {phase}: {who}" + (f"; last event: {said}" if said else "")


def last_event(cluster: Cluster, obj: Any) -> str:
    """Return the last thing said of an object, or ""."""
    about = (obj.kind, obj.metadata.namespace or "", obj.metadata.name)
    told = [
        event
        for event in cluster.objects("events")
        if (event.involved_object.kind, event.involved_object.namespace or "", event.involved_object.name) == about
    ]
    if not told:
        return ""
    last = max(told, key=lambda event: (event.last_timestamp or event.metadata.creation_timestamp or ""))
    return f"{last.reason}: {last.message}"


def _untried(answer: Why, judgement: Judgement, said: str) -> Why:
    some = ", ".join(judgement.feasible[:4]) + (" …" if len(judgement.feasible) > 4 else "")
    if not said:
        head = f"it has not been tried yet: {len(judgement.feasible)} of {answer.size} nodes would take it ({some})."
        return attrs.evolve(answer, headline=head)
    head = f"{len(judgement.feasible)} of {answer.size} nodes would take it now ({some}), though its last try failed."
    notes = (f"Its last try said: “{said}”. The cluster has changed since, or the dump does not show all.",)
    return attrs.evolve(answer, headline=head, notes=(*notes, *sentences.older_words(said)))


# --- rows and demands ------------------------------------------------------------------------------------------------


def _rows(judgement: Judgement) -> Iterator[FailureRow]:
    """Give the nodes that fail alike in one row; in a small group every node is compared, in a large one, one."""
    for plugin, reasons, nodes in failing_alike(judgement):
        if len(nodes) > COMPARED:
            short = _resources(reasons)
            example = node_with_most_left(judgement, short[0], nodes) if short else nodes[0]
            clause = _clause(judgement, plugin, example, reasons)
            yield FailureRow(nodes, plugin, reasons, f"{clause} (node {example}, for example)", example)
            continue
        alike: dict[str, list[str]] = {}
        for node in nodes:
            alike.setdefault(_clause(judgement, plugin, node, reasons), []).append(node)
        if len(alike) > APART:
            clause, (example, *_) = next(iter(alike.items()))
            yield FailureRow(nodes, plugin, reasons, f"{clause} (node {example}, for example)", example)
            continue
        for clause, members in alike.items():
            yield FailureRow(tuple(members), plugin, reasons, clause, members[0])


def _clause(judgement: Judgement, plugin: str, node: str, reasons: Sequence[str]) -> str:
    """Return both sides of what a plugin rejects a node for, or its reasons if it shows none."""
    evidence = judgement.cell(node, plugin).evidence
    words = "; ".join(map(str, evidence))
    return words.replace(f"node {node}", "the node") if words else ", ".join(reasons)


def _resources(reasons: Sequence[str]) -> list[str]:
    found = [reason.removeprefix("Insufficient ") for reason in reasons if reason.startswith("Insufficient ")]
    return found + [PODS] * ("Too many pods" in reasons)


def _demanded(demand: Demand, judgement: Judgement, *, short: bool = False) -> DemandRow:
    details = () if short else tuple(_details(demand, judgement))
    return DemandRow(
        demand.plugin, demand.sort, demand.about, demand.words, demand.nodes, demand.number, details
    )


def _details(demand: Demand, judgement: Judgement) -> Iterator[str]:
    """Tell what is behind a demand about claims; of a rejection before filtering, behind each claim of the pod."""
    pod, seen = judgement.pod, judgement.seen
    wanted = demand.about.split(",") if demand.sort == "claim" and demand.plugin not in UNSUPPLIED else []
    whole = demand.sort == "before filtering"
    for name, claim in supplies.claims_of(pod, seen) if wanted or whole else ():
        if claim is None:
            if whole or name in wanted:
                yield f"claim {name} does not exist in namespace {pod.metadata.namespace}"
        elif name in wanted or (whole and (supplies.should_be_bound(claim, seen) or f'"{name}"' in demand.words)):
            yield from (f"claim {name}: {words}" for words in supplies.claim_details(claim, seen))


def _holdings(judgement: Judgement, found: Sequence[Demand]) -> Iterator[Holding]:
    """Tell, for each resource that a demand asks for in vain, who holds it on the nodes that come nearest."""
    asked = requests.pod_requests(judgement.pod.spec).amounts
    for demand in found:
        if demand.sort != "request":
            continue
        resource = demand.about
        ask = 1 if resource == PODS else asked.get(resource, 0)
        short = [name for name, fails in zip(judgement.nodes, demand.fails.tolist(), strict=True) if fails]
        for _ in range(min(SHORT, len(short))):
            node = node_with_most_left(judgement, resource, short)
            short.remove(node)
            room = judgement.seen.node_info(node)
            holders = sorted(
                (
                    (-(1 if resource == PODS else requests.pod_requests(pod.spec).amounts.get(resource, 0)), pod)
                    for pod in judgement.seen.pods_on(node)
                ),
                key=lambda one: (one[0], one[1].metadata.namespace, one[1].metadata.name),
            )
            holders = [one for one in holders if one[0]]
            yield Holding(
                node,
                resource,
                requests.format_amount(resource, ask),
                requests.format_amount(resource, room.total.get(resource, 0)),
                requests.format_amount(resource, room.free(resource)),
                tuple(
                    (f"{pod.metadata.namespace}/{pod.metadata.name}", requests.format_amount(resource, -amount))
                    for amount, pod in holders[:HOLDERS]
                ),
                max(0, len(holders) - HOLDERS),
            )
