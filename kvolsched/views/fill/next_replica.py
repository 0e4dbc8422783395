"""The next replica of a workload, as its controller would make it: stored on a fork only, to be judged there.

The pod, the claims that a StatefulSet makes before it, and those of its generic ephemeral volumes pass through the API
server of the fork, so that defaults and admission apply; what the server refuses is refused here too.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from attrs import evolve

from ...api.kinds.meta import evolve_parts
from ...api.kinds.workload import Deployment, ReplicaSet, ReplicaSetSpec, StatefulSet
from ...api.unmodelled_defaults import with_unmodelled_defaults
from ...api.workloads import REVISION_LABEL, TEMPLATE_LABEL, template_hash
from ...controllers import ephemeral_volume
from ...controllers.deployment.rollout import has_template
from ...controllers.replica_set import pod_for as replica_of_set
from ...controllers.stateful_set import claims_for
from ...controllers.stateful_set import pod_for as replica_of_stateful_set
from ...core.core import USER, ClusterCore
from ...core.results import ApplyRefused
from ...world.apiserver import RefusedWrite, Write, key_of, ref
from ...world.log import Key

REPLICATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
"""Kinds with replicas, which are scaled, and whose next replica can be asked about."""
_SUFFIX = "next"  # of its name, where the controller would draw one


def add_next_replica(fork: ClusterCore, owner: Any) -> Key:
    """Store the next replica of a workload, with its claims, on a fork; return the pod's key.

    Raises:
        ApplyRefused: the API server refuses the pod or a claim.
    """
    if isinstance(owner, StatefulSet):
        made = list(_stateful_replica(fork, owner))
    else:
        made = [replica_of_set(_new_set(fork, owner) if isinstance(owner, Deployment) else owner, _SUFFIX)]
    pod = key_of(made[-1])
    _create(fork, made)
    _create(fork, [claim for _, claim in ephemeral_volume.claims_for(fork.world.log.objects[pod])])
    return pod


def _create(fork: ClusterCore, made: Iterable[Any]) -> None:
    missing = [each for each in made if key_of(each) not in fork.world.log.objects]
    outcomes = fork.world.perform(USER, [Write("create", key_of(each), each) for each in missing], atomic=True)
    if refusals := [outcome for outcome in outcomes if isinstance(outcome, RefusedWrite)]:
        raise ApplyRefused(refusals)


def title_of(owner: Any, pod: Key) -> str:
    """Return how the next replica is called: "the next replica of deploy/web", of a StatefulSet with its name."""
    words = f"the next replica of {ref(key_of(owner))}"
    return f"{pod.name}, {words}" if isinstance(owner, StatefulSet) else words


def _new_set(fork: ClusterCore, owner: Deployment) -> ReplicaSet:
    """Return the ReplicaSet of a Deployment's present template; if it is not created yet, as it will be."""
    template = with_unmodelled_defaults(owner).spec.template
    for found in fork.objects("ReplicaSet"):
        controller = found.metadata.controller
        if controller is not None and controller.uid == owner.metadata.uid and has_template(found, template):
            return cast("ReplicaSet", found)
    label = template_hash(template, int(owner.status.rest.get("collisionCount", 0)))
    labels = template.metadata.labels.merged({TEMPLATE_LABEL: label})
    meta = evolve(owner.metadata, name=f"{owner.metadata.name}-{label}", labels=labels)  # its uid is not known yet
    return ReplicaSet(metadata=meta, spec=ReplicaSetSpec(template=evolve_parts(template, metadata={"labels": labels})))


def _stateful_replica(fork: ClusterCore, owner: StatefulSet) -> Iterator[Any]:
    """Yield the claims of the replica, then the pod: the first ordinal that is missing."""
    space, start = owner.metadata.namespace or "default", int((owner.spec.rest.get("ordinals") or {}).get("start", 0))
    ordinal = start
    while Key("Pod", space, f"{owner.metadata.name}-{ordinal}") in fork.world.log.objects:
        ordinal += 1
    yield from claims_for(owner, ordinal)
    pod = replica_of_stateful_set(owner, ordinal)
    revision = owner.status.update_revision
    labels = pod.metadata.labels.merged({REVISION_LABEL: revision}) if revision else pod.metadata.labels
    yield evolve_parts(pod, metadata={"labels": labels})
