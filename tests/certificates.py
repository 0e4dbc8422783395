"""Judges what `why` and `fix` say: each demand of a core by itself, each fix and each of its edits in the whole loop.

Nothing here asks how demands are found: a pod is built from the demand's plugin, sort, subject and number alone, the
cluster is reduced to what that demand reads, and the plugin of the profile says where the pod is rejected.
"""

import re
from collections import defaultdict
from contextlib import suppress

import attrs

from kvolsched.api.kinds.meta import Frozen
from kvolsched.api.kinds.pod import Affinity, Pod, PodAffinity
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm, Toleration
from kvolsched.core.results import ApplyRefused
from kvolsched.questions.fix import edits_without
from kvolsched.questions.fix.edit import carry_out, merge_changes
from kvolsched.scheduler import requests
from kvolsched.scheduler.columns.pod_counts import required_anti_affinity
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import judge

BARE = ("node_name", "node_selector", "affinity", "tolerations", "topology_spread_constraints", "containers",
        "init_containers", "volumes")  # what a demand may read; the rest of a spec stays
ANY_SKEW = 2**31 - 1
POD_ROOM = defaultdict(str, {requests.PODS: "Too many pods"})


def bare(pod, **kept):
    """Return a pod that asks for nothing but what is given."""
    empty = {name: getattr(Pod().spec, name) for name in BARE}
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, **{**empty, **kept}))


def asking_for(pod, resource):
    """Return a pod that asks for one resource only."""
    def only(amounts):
        return Frozen({name: amount for name, amount in amounts.items() if name == resource})

    def less(container):
        return attrs.evolve(container, resources=attrs.evolve(container.resources, requests=only(container.resources.requests),
                                                              limits=only(container.resources.limits)))

    spec = pod.spec
    found = bare(pod, containers=tuple(map(less, spec.containers)), init_containers=tuple(map(less, spec.init_containers)))
    return attrs.evolve(found, spec=attrs.evolve(found.spec, overhead=only(spec.overhead)))


def selecting(pod, number):
    """Return a pod with one expression of its required node affinity, or with all of it if it has several terms."""
    wanted = pod.spec.affinity.node_affinity.required
    terms = wanted.node_selector_terms
    if len(terms) == 1:
        alone = [NodeSelectorTerm(match_expressions=(part,)) for part in terms[0].match_expressions]
        alone += [NodeSelectorTerm(match_fields=(part,)) for part in terms[0].match_fields]
        wanted = NodeSelector(node_selector_terms=(alone[number],)) if len(alone) > 1 else wanted
    affinity = Affinity(node_affinity=attrs.evolve(pod.spec.affinity.node_affinity, required=wanted))
    return bare(pod, affinity=affinity)


def with_port(pod, number):
    """Return a pod with one of its host ports."""
    held = [(each, port) for each in (*pod.spec.containers, *pod.spec.init_containers) for port in each.ports if port.host_port]
    container, port = held[number]
    return bare(pod, containers=(attrs.evolve(container, ports=(port,), resources=type(container.resources)()),))


def spreading(pod, number):
    """Return a pod with one constraint, read first; the others, and what the pod selects, only say which nodes count."""
    constraints = pod.spec.topology_spread_constraints
    others = [attrs.evolve(each, max_skew=ANY_SKEW, min_domains=None)
              for place, each in enumerate(constraints) if place != number]
    spec = pod.spec
    return bare(pod, topology_spread_constraints=(constraints[number], *others), node_selector=spec.node_selector,
                affinity=spec.affinity, tolerations=spec.tolerations)


def with_term(pod, field, number):
    """Return a pod with one required term of pod affinity or anti-affinity."""
    term = getattr(pod.spec.affinity, field).required[number]
    return bare(pod, affinity=Affinity(**{field: PodAffinity(required=(term,))}))


def without_objections(obj, but=""):
    """Return a placed pod without anti-affinity, but for the terms that the words of a demand quote of it."""
    if obj.kind != "Pod" or obj.spec.affinity is None or obj.spec.affinity.pod_anti_affinity is None:
        return obj
    anti = obj.spec.affinity.pod_anti_affinity
    named = re.search(rf"\b{obj.metadata.namespace}/{obj.metadata.name}\b", but) or " more forbids " in but
    terms = zip(anti.required, required_anti_affinity(obj), strict=True)
    kept = tuple(mine for mine, term in terms if named and str(term) in but)
    affinity = attrs.evolve(obj.spec.affinity, pod_anti_affinity=attrs.evolve(anti, required=kept))
    return attrs.evolve(obj, spec=attrs.evolve(obj.spec, affinity=affinity))


def reduced(demand, pod, objects):  # noqa: PLR0911
    """Return the pod with this demand alone, and the cluster without what would reject it for another reason."""
    match demand.sort:
        case "node selector":
            return bare(pod, node_selector=Frozen({demand.about: pod.spec.node_selector[demand.about]})), objects
        case "node affinity":
            return selecting(pod, demand.number), objects
        case "node name":
            return bare(pod, node_name=demand.about), objects
        case "taint":
            keys = {taint.key for obj in objects if obj.kind == "Node" for taint in obj.spec.taints} - {demand.about}
            others = (Toleration(key=key, operator="Exists") for key in sorted(keys))
            return bare(pod, tolerations=(*pod.spec.tolerations, *others)), objects
        case "cordon":
            return bare(pod, tolerations=pod.spec.tolerations), objects
        case "port":
            return with_port(pod, demand.number), objects
        case "request":
            return asking_for(pod, demand.about), objects
        case "spread":
            return spreading(pod, demand.number), objects
        case "affinity" | "anti-affinity":
            field = "pod_affinity" if demand.sort == "affinity" else "pod_anti_affinity"
            return with_term(pod, field, demand.number), [without_objections(obj) for obj in objects]
        case "objection":
            return bare(pod), [without_objections(obj, demand.words) for obj in objects]
        case "claim" | "volume" if demand.pod is not None:
            return bare(pod, volumes=(pod.spec.volumes[demand.number],)), objects
    return pod, objects


def failing(demand, pod, objects, profile):
    """Return the nodes on which the demand's plugin rejects the pod reduced to it; for a resource, for lack of that."""
    alone, cluster = reduced(demand, pod, objects)
    judgement = judge(alone, snapshot(cluster), profile)
    if judgement.rejected_by is not None:
        return frozenset(judgement.nodes)
    inside = [restriction.names for restriction in judgement.restrictions if restriction.plugin == demand.plugin]
    found, labels = set(), {obj.metadata.name: obj.metadata.labels for obj in objects if obj.kind == "Node"}
    for node in judgement.nodes:
        reasons, _ = judgement.verdict(node, demand.plugin)
        if demand.sort == "request":
            reasons = [each for each in reasons if each in (f"Insufficient {demand.about}", POD_ROOM[demand.about])]
        if demand.sort == "spread" and demand.about in labels[node]:  # a label that another constraint lacks is not its fault
            reasons = [each for each in reasons if "missing required label" not in each]
        if reasons or any(node not in names for names in inside):
            found.add(node)
    # What no single demand explains is told of the whole pod, where nothing else explains it.
    return frozenset(found & said_nodes(demand, objects) if alone is pod else found)


def faults_of_core(core, pod, objects, profile):
    """Yield what is wrong with a core: a demand that holds where it is said to fail, a node let through, one too many."""
    nodes = sorted(obj.metadata.name for obj in objects if obj.kind == "Node")
    fails = [failing(demand, pod, objects, profile) for demand in core]
    for demand, said, found in zip(core, (said_nodes(demand, objects) for demand in core), fails, strict=True):
        if not said <= found:
            yield f"{demand.plugin} {demand.sort} {demand.about!r} holds on {sorted(said - found)}: {demand.words}"
    through = [node for node in nodes if not any(node in each for each in fails)]
    if through:
        yield f"the core lets {through} through"
    for place, demand in enumerate(core):
        others = [each for other, each in enumerate(fails) if other != place]
        if all(any(node in each for each in others) for node in nodes) and nodes:
            yield f"{demand.plugin} {demand.sort} {demand.about!r} is not needed: {demand.words}"


def said_nodes(demand, objects):
    """Return the nodes on which a demand is said to fail."""
    names = snapshot(objects).nodes.names
    return frozenset(name for name, fails in zip([each for each in names if each], demand.fails.tolist(), strict=True) if fails)


def run_out(cluster):
    """Run a cluster until nothing is left to do, and return its objects and whether it came to rest."""
    run = cluster.run(steps=4000, seconds=600.0)
    return cluster.world.log.objects, run.ended.startswith("nothing is left to do")


def nodes_of_pods(objects):
    """Return the node of each pod that has one and has not ended, by name."""
    return {f"{key.namespace}/{key.name}": obj.spec.node_name for key, obj in objects.items()
            if key.kind == "Pod" and obj.spec.node_name and not obj.terminal}


def lost_claims(objects):
    """Return the claims in phase Lost."""
    return {key for key, obj in objects.items() if key.kind == "PersistentVolumeClaim" and obj.status.phase == "Lost"}


def faults_of_fixes(cluster, name):
    """Yield what is wrong with the fixes of a pod, each tried on a fork of its own that runs until it is at rest."""
    found = cluster.fix(name)
    before, (alone, _) = nodes_of_pods(cluster.world.log.objects), run_out(cluster.fork())
    helped = name in nodes_of_pods(alone)
    for fix in found:
        words, told = f"{fix.words} ({fix.proof})", repr(fix) + " ".join(fix.costs_others)
        if not fix.attempt:  # somebody must act who has no object here
            continue
        fork = cluster.fork()
        carry_out(fork, fix.changes, fix.acts)
        after, rests = run_out(fork)
        placed = nodes_of_pods(after)
        if name not in placed and f"{name} still waits" not in told and f"{name} is evicted from " not in told:
            yield f"{words}: the pod waits or is gone, and the fix does not say so"
        if name in placed and f"{name} is evicted from " in told:
            yield f"{words}: the pod keeps its node, and the fix says that it does not"
        if name in placed:
            pod = next(obj for key, obj in after.items() if key.kind == "Pod" and f"{key.namespace}/{key.name}" == name)
            claims = {key.name: obj for key, obj in after.items() if key.kind == "PersistentVolumeClaim"
                      and key.namespace == pod.metadata.namespace}  # fmt: skip
            unbound = [each for each in pod.claim_names() if each not in claims or claims[each].status.phase != "Bound"]
            if unbound and rests:
                yield f"{words}: claims {unbound} are not bound"
        if lost := lost_claims(after) - lost_claims(alone):
            yield f"{words}: {lost} lose their volumes"
        untold = [pod for pod in before if pod not in placed and pod in nodes_of_pods(alone) and pod not in told]
        if untold:
            yield f"{words}: {untold} lose their nodes, and the fix does not say so"
        parts = [part for edit in fix.edits for part in edit.parts or (edit,)]
        for number in range(len(parts) if len(parts) > 1 and name in placed and not helped else 0):
            fork = cluster.fork()
            with suppress(ApplyRefused, KeyError):
                carry_out(fork, merge_changes(edits_without(parts, number)))
                fewer = nodes_of_pods(run_out(fork)[0])
                if name in fewer and {pod for pod in before if pod not in fewer} <= {pod for pod in before if pod not in placed}:
                    yield f"{words}: not needed: {parts[number].words}"
