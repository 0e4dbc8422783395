"""Which pending pods are judged alike: all that a verdict can depend on, without the names that only one pod has.

Replicas differ in their labels that no selector reads, the volume of their token, their hostname, and the names of
their claims. Claims count as alike while they are unbound, nobody else uses them, and no volume is reserved for them.
"""

from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Any

import attrs

from ...api.kinds.meta import Frozen
from ...api.kinds.pod import Pod, PodSpec
from ...api.kinds.selector import LabelSelector
from ...api.volumes import is_bound
from ...scheduler.columns.exclusive_use import claim_resource
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.profile import Profile
from ...world.log import Key

TOKEN = "kube-api-access-"  # noqa: S105 - begins the name of the volume that holds a pod's token
OF_ONE_POD = frozenset({"hostname", "subdomain"})  # unmodelled fields of a spec that no plugin reads
MOUNTS = frozenset({"volumeMounts"})
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SHIPPED = "kvolsched.scheduler.plugins."


def what_decides(pod: Pod, said: str, seen: Snapshot, profile: Profile) -> Hashable | None:
    """Return what decides on a pod: pods for which it is equal get equal verdicts. None: the pod is judged by itself.

    Args:
        pod: a pod without a node.
        said: what the cluster itself says of it.
        seen: what the scheduler sees.
        profile: the scheduler's plugins; of those of a reader nobody knows what they read.
    """
    spec, namespace = pod.spec, pod.metadata.namespace
    if pod.status.nominated_node_name or any(volume.ephemeral is not None for volume in spec.volumes):
        return None
    names = list(dict.fromkeys(pod.claim_names()))
    if not all(type(each.plugin).__module__.startswith(SHIPPED) for each in profile.plugins):
        return None if names else (namespace, pod.metadata.labels, spec, said)
    claims = []
    for name in names:
        claim = _what_decides_on_claim(namespace, name, seen)
        if claim is None:
            return None
        claims.append(claim)
        said = said.replace(f'"{name}"', '""')
    placed = (key for term, _ in seen.pod_counts.anti_affinity_terms() for key in _keys(term.label_selector))
    read = frozenset((*placed, *_keys_of_pod(spec)))  # of a new pod, by anti-affinity of placed ones and by itself
    labels = Frozen({key: value for key, value in pod.metadata.labels.items() if key in read})
    order = tuple(sorted(range(len(names)), key=names.__getitem__))
    selectors = seen.owner_selectors.selectors(pod)
    return namespace, labels, _without_names(spec), said, tuple(claims), order, selectors


def _what_decides_on_claim(namespace: str, name: str, seen: Snapshot) -> Hashable | None:
    """Return what of an unbound claim decides, or of a missing one; None for a claim that is not like others."""
    key = Key("PersistentVolumeClaim", namespace, name)
    if seen.exclusive_use.users(claim_resource(namespace, name)) or seen.free_volumes.claimed_for(key):
        return None
    claim = seen.claim(namespace, name)
    if claim is None:
        return "missing"
    if claim.spec.volume_name or is_bound(claim):
        return None
    meta = claim.metadata
    annotations = Frozen({key: value for key, value in meta.annotations.items() if key != LAST_APPLIED})
    return claim.spec, annotations, meta.deletion_timestamp is None, claim.status


@lru_cache(maxsize=1 << 10)
def _keys_of_pod(spec: PodSpec) -> frozenset[str]:
    """Return the label keys by which a pod's own constraints and terms select pods, perhaps itself."""
    keys: set[str] = set()
    for constraint in spec.topology_spread_constraints:
        keys.update((*_keys(constraint.label_selector), *constraint.match_label_keys))
    for term in spec.pod_terms:
        keys.update((*_keys(term.label_selector), *term.match_label_keys, *term.mismatch_label_keys))
    return frozenset(keys)


def _keys(selector: LabelSelector | None) -> Iterator[str]:
    if selector is not None:
        yield from selector.match_labels
        yield from (expression.key for expression in selector.match_expressions)


def _without_names(spec: PodSpec) -> PodSpec:
    """Return a spec without what only one of several replicas has and no plugin reads."""
    def bare(part: Any, names: frozenset[str]) -> Any:
        kept = Frozen({name: value for name, value in part.rest.items() if name not in names})
        return part if kept == part.rest else attrs.evolve(part, rest=kept)

    volumes = [each if (source := each.persistent_volume_claim) is None else attrs.evolve(
        each, persistent_volume_claim=attrs.evolve(source, claim_name=""))
        for each in spec.volumes if not each.name.startswith(TOKEN)]  # fmt: skip
    containers, init_containers = (tuple(bare(each, MOUNTS) for each in group)
                                   for group in (spec.containers, spec.init_containers))  # fmt: skip
    plain: PodSpec = bare(spec, OF_ONE_POD)
    return attrs.evolve(plain, volumes=tuple(volumes), containers=containers, init_containers=init_containers)
