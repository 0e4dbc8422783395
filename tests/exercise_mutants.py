"""For each exercise three rules that are almost right, as learners write them. Each must be caught.

`python tests/exercise_mutants.py` chooses, among all recorded cases, the small selection that ships with the package.
"""

import gzip
from pathlib import Path

import attrs

from kvolsched.api.kinds.selector import NodeSelector, Toleration
from kvolsched.measure.conform import FAMILIES, read
from kvolsched.measure.conform.families import SCHEDULER
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler import requests
from kvolsched.scheduler.columns.attachments import attach_limits, volumes_of_pod
from kvolsched.scheduler.framework.verdict import OK, Ok
from kvolsched.scheduler.plugins.volume_binding.evidence import TopologyNotAllowed

ROOT = Path(__file__).parent.parent
JUDGED = tuple(name for name, family in FAMILIES.items() if family is SCHEDULER)  # verdicts of a scheduler
RECORDED = ROOT / "tests" / "conformance"
SHIPPED = ROOT / "kvolsched" / "learn" / "exercises"
PROFILE = upstream_profile()


def reference(name):
    """Return our own rule: what the plugin says of a node where it has something to ask, else Yes."""
    plugin = PROFILE.plugin(name)
    return plugin.rule


def with_pod(name, change):
    """Return a rule that reads a changed pod."""
    return lambda pod, node, seen: reference(name)(change(pod), node, seen)


def spec(pod, **fields):
    """Return a pod whose spec has other fields."""
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, **fields))


# --- NodeResourcesFit -----------------------------------------------------------------------------------------------


def ignores_who_is_there(pod, node, seen):
    """Compares with all that the node has."""
    total = seen.node_info(node.metadata.name).total
    return all(ask <= total.get(resource, 0) for resource, ask in requests.pod_requests(pod.spec).amounts.items())


forgets_init_containers = with_pod("NodeResourcesFit", lambda pod: spec(pod, init_containers=()))


def forgets_the_number_of_pods(pod, node, seen):
    """Looks at what is asked for, and a place on the node is not asked for."""
    room = seen.node_info(node.metadata.name)
    return all(ask <= room.free(resource) for resource, ask in requests.pod_requests(pod.spec).amounts.items())


# --- NodeAffinity ---------------------------------------------------------------------------------------------------


def only_the_node_selector(pod, node, seen):
    """Forgets required affinity."""
    return all(node.metadata.labels.get(key) == value for key, value in pod.spec.node_selector.items())


def every_term(pod, node, seen):
    """ANDs the terms."""
    terms = pod.spec.required_node_affinity
    parts = [NodeSelector(node_selector_terms=(term,)) for term in (terms.node_selector_terms if terms else ())]
    matches = all(part.matches(node.metadata.labels, node.metadata.name) for part in parts)
    return only_the_node_selector(pod, node, seen) and matches


def some_expression(pod, node, seen):
    """ORs the expressions of a term."""
    terms = pod.spec.required_node_affinity
    labels = node.metadata.labels
    expressions = [each for term in (terms.node_selector_terms if terms else ()) for each in term.match_expressions]
    return only_the_node_selector(pod, node, seen) and (terms is None or any(e.matches(labels) for e in expressions))


# --- TaintToleration ------------------------------------------------------------------------------------------------


def by_effect(*effects):
    """Return a rule that heeds taints with these effects."""
    def rule(pod, node, seen):
        taints = [taint for taint in node.spec.taints if taint.effect in effects]
        return all(any(each.tolerates(taint) for each in pod.spec.tolerations) for taint in taints)
    return rule


def by_key_alone(pod, node, seen):
    """Never looks at values and effects."""
    loose = tuple(Toleration(key=each.key, operator="Exists") for each in pod.spec.tolerations)
    return reference("TaintToleration")(spec(pod, tolerations=loose), node, seen)


# --- PodTopologySpread ----------------------------------------------------------------------------------------------


def constraints(change):
    """Return the spread rule over changed constraints."""
    def changed(pod):
        return spec(pod, topology_spread_constraints=tuple(map(change, pod.spec.topology_spread_constraints)))
    return with_pod("PodTopologySpread", changed)


counts_every_node = constraints(lambda one: attrs.evolve(one, node_affinity_policy="Ignore", node_taints_policy="Ignore"))
forgets_min_domains = constraints(lambda one: attrs.evolve(one, min_domains=None))


def a_missing_label_passes(pod, node, seen):
    """Takes a node outside of all domains for a free one."""
    hard = [one for one in pod.spec.topology_spread_constraints if one.when_unsatisfiable != "ScheduleAnyway"]
    has = all(one.topology_key in node.metadata.labels for one in hard)
    return reference("PodTopologySpread")(pod, node, seen) if has else OK


# --- the volume rules -----------------------------------------------------------------------------------------------


def claims_of(pod, seen, **wanted):
    """Return a pod's claims, bound or not."""
    found = [seen.claim(pod.metadata.namespace, name) for name in pod.claim_names()]
    return [claim for claim in found if claim is not None and bool(claim.spec.volume_name) in wanted.values()]


def only_some_claims(*, bound):
    """Return the binding rule over the claims that are bound, or those that are not."""
    def rule(pod, node, seen):
        kept = {claim.metadata.name for claim in claims_of(pod, seen, bound=bound)}
        uses = [volume for volume in pod.spec.volumes
                if volume.persistent_volume_claim and volume.persistent_volume_claim.claim_name in kept]
        return reference("VolumeBinding")(spec(pod, volumes=tuple(uses)), node, seen)
    return rule


def provisions_anywhere(pod, node, seen):
    """Takes a class without topologies of its own for one that reaches every node."""
    answer = reference("VolumeBinding")(pod, node, seen)
    return OK if isinstance(answer, Ok) or all(isinstance(each, TopologyNotAllowed) for each in answer.evidence) else answer


def zones(*, region=True, split=True, unlabelled=True):
    """Return the zone rule with something left out."""
    def rule(pod, node, seen):
        labels = node.metadata.labels
        if unlabelled and not any(key.endswith(("/zone", "/region")) for key in labels):
            return True
        for claim in claims_of(pod, seen, bound=True):
            volume = seen.volume(claim.spec.volume_name)
            for key, value in (volume.metadata.labels.items() if volume else ()):
                if not key.endswith(("/zone", "/region") if region else "/zone"):
                    continue
                values = value.split("__") if split else [value]
                here = labels.get(key, labels.get(key.replace("failure-domain.beta", "topology")))
                if here not in values:
                    return f"{key}={here} is not in {values}"
        return True
    return rule


def limits(*, shared=True, there=True, off=0):
    """Return the limits rule with something left out."""
    def rule(pod, node, seen):
        most = attach_limits(seen.csi_node(node.metadata.name))
        others = [volume for other in seen.pods_on(node.metadata.name) for volume in sorted(volumes_of_pod(other, seen))]
        attached = (set(others) if shared else others) if there else []
        new = [volume for volume in volumes_of_pod(pod, seen) if not shared or volume not in others]
        for driver in {volume.driver for volume in new} & most.keys():
            if sum(volume.driver == driver for volume in [*attached, *new]) > most[driver] - off:
                return f"too many of {driver}"
        return True
    return rule


MUTANTS = {
    "NodeResourcesFit": [ignores_who_is_there, forgets_init_containers, forgets_the_number_of_pods],
    "NodeAffinity": [only_the_node_selector, every_term, some_expression],
    "TaintToleration": [by_effect("NoSchedule"), by_effect("NoSchedule", "NoExecute", "PreferNoSchedule"), by_key_alone],
    "PodTopologySpread": [counts_every_node, forgets_min_domains, a_missing_label_passes],
    "VolumeBinding": [only_some_claims(bound=True), only_some_claims(bound=False), provisions_anywhere],
    "VolumeZone": [zones(region=False), zones(split=False), zones(unlabelled=False)],
    "NodeVolumeLimits": [limits(shared=False), limits(there=False), limits(off=1)],
}
CASES = 20
"""How many cases of each exercise ship: those in which mutants are caught, then some of every size up to the middle."""


def main():
    """Choose and write."""
    from kvolsched.learn.exercise import RecordedCase

    found = [case.case for family in JUDGED for case in read(RECORDED / f"{family}.jsonl.gz")]
    SHIPPED.mkdir(exist_ok=True)
    for name, mutants in MUTANTS.items():
        recorded = [RecordedCase.of(case, name) for case in found if "nodes" in case["expect"]]
        usable = [told for told in recorded if any(told.recorded.values()) and not told.wrong(reference(name))]
        usable.sort(key=lambda told: (len(told.line()), told.id))
        chosen = []
        for mutant in mutants:
            caught = [told for told in usable if told.wrong(mutant)]
            print(f"{name}: {len(usable)} cases, {len(caught)} catch a mutant")
            chosen += caught[:3]
        chosen = list({told.id: told for told in [*chosen, *usable[:: max(1, len(usable) // 2 // CASES)]]}.values())[:CASES]
        chosen.sort(key=lambda told: (len(told.line()), told.id))
        text = "".join(f"{told.line()}\n" for told in chosen)
        packed = gzip.compress(text.encode(), mtime=0)
        (SHIPPED / f"{name}.jsonl.gz").write_bytes(packed)
        print(f"{name}: {len(chosen)} cases, {len(packed):,} bytes")


if __name__ == "__main__":
    main()
