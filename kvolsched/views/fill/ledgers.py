"""The ledgers of skew and of capacity at one moment, for the pod that a frame is about or for any reference."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from ...api.unknown_name import UnknownName
from ...core.core import ClusterCore
from ...questions import explain
from ...world.apiserver import ref
from ...world.log import Key
from ...world.references import matching_keys
from ...world.storage_pools import CapacityResponse
from .. import frame as f
from .capacity_ledgers import capacity_ledgers
from .context import FrameContext
from .moments import NOW, JudgedMoment, judged_at
from .next_replica import REPLICATED
from .skew_ledgers import NO_LABEL, skew_ledgers

__all__ = ["LEDGERS", "NO_LABEL", "capacity_at", "capacity_ledgers", "of_focus", "skew_at", "skew_ledgers",
           "without_ledger"]

CLAIM = "PersistentVolumeClaim"


LedgersAt = Callable[[ClusterCore, str, str | int], tuple[Any, ...]]


def of_focus(ledgers_at: LedgersAt, context: FrameContext) -> tuple[Any, ...]:
    """Return the ledgers of the pod in focus at the moment of a frame."""
    if context.focus is not None and context.at != NOW:
        return ledgers_at(context.cluster, ref(context.focus), context.at)
    if context.focus is None or context.focus not in context.objects:
        return ()
    moment = f"now, rules {context.cluster.revision.name}"  # without the step, which the panel shows: fewer pictures
    return tuple(evolve(ledger, moment=moment) for ledger in ledgers_at(context.cluster, ref(context.focus), NOW))


def skew_at(cluster: ClusterCore, reference: str, at: str | int = NOW) -> tuple[f.SkewLedger, ...]:
    """Return one ledger for each spread constraint of a pod, or of a workload's next replica; see `judged_at`."""
    return tuple(skew_ledgers(judged_at(cluster, reference, at).pod))


def capacity_at(cluster: ClusterCore, reference: str, at: str | int = NOW) -> tuple[f.CapacityLedger, ...]:
    """Return one ledger for each volume to be made for a pod, or for a workload's next replica; see `judged_at`.

    A claim stands for the pod that uses it.
    """
    moment = judged_at(cluster, _user_of(cluster, reference), at)
    drivers = _Drivers(moment)
    judgement, words = moment.pod.judgement, moment.pod.moment
    return tuple(capacity_ledgers(judgement, drivers.age, drivers.room, words, drivers.objects))


def _user_of(cluster: ClusterCore, reference: str) -> str:
    """Return the pod that uses a claim, first one without a node; any other reference stays.

    Raises:
        UnknownName: no pod uses the claim.
    """
    objects = cluster.world.log.objects
    if matching_keys(objects, reference, ("Pod", *REPLICATED)) or not matching_keys(objects, reference, CLAIM):
        return reference
    claim = cluster.world.find_key(reference, CLAIM)
    users = [(bool(pod.spec.node_name), key) for key, pod in objects.items()
             if key.kind == "Pod" and key.namespace == claim.namespace and claim.name in pod.claim_names()]
    if not users:
        raise UnknownName(f"no pod uses {ref(claim)}; name a pod or a workload")
    return ref(min(users)[1])


LEDGERS: Mapping[str, LedgersAt] = {"skew": skew_at, "capacity": capacity_at}
"""The function that fills a ledger, by the table of the frame."""


def without_ledger(cluster: ClusterCore, name: str, reference: str, at: str | int) -> str:
    """Say why a pod, or a workload's next replica, has no ledger of this name at a moment."""
    moment = judged_at(cluster, _user_of(cluster, reference) if name == "capacity" else reference, at)
    pod = moment.pod.judgement.pod
    about, namespace = moment.pod.subject or pod.metadata.name, pod.metadata.namespace
    if name == "skew":
        return f"{about} has no spread constraint."
    objects = moment.cluster.world.log.objects
    claims = [objects.get(Key(CLAIM, namespace, each)) for each in dict.fromkeys(pod.claim_names())]
    bound = [f"{claim.metadata.name} is bound to volume {claim.spec.volume_name}"
             for claim in claims if claim is not None and claim.spec.volume_name]  # fmt: skip
    if not bound:
        return f"{about} has no claim to provision."
    more = f", and {len(bound) - 3} claims more are bound" if len(bound) > 3 else ""
    return (f"{about} has no claim to provision: its claim {', its claim '.join(bound[:3])}{more}. "
            f"An earlier step is shown with at=, such as at=0.")


class _Drivers:
    """What drivers have and when they published it, at one moment."""

    def __init__(self, moment: JudgedMoment) -> None:
        self.cluster = moment.cluster
        self.world = moment.cluster.world
        self.storages = moment.cluster.revision.drivers(moment.cluster.components).storages

    def room(self, driver: str, parameters: Mapping[str, str], labels: Mapping[str, str]) -> CapacityResponse | None:
        """Return what a driver has at a place, whatever it published; None if its pools are unknown."""
        storage = self.storages.get(driver)
        segment = tuple(sorted(labels.items()))
        return None if storage is None else storage.get_capacity(self.world.log, parameters, segment)

    def objects(self, class_name: str) -> int:
        """Return how many CSIStorageCapacity objects a class has; a scheduler that does not read them has none."""
        return sum(each.storage_class_name == class_name for each in self.cluster.objects("CSIStorageCapacity"))

    def age(self, key: Key) -> float:
        """Return the seconds since an object was last written; since the start of the run if it never was."""
        world = self.world
        for turn in reversed(world.turns):
            if turn.end <= world.place and any(each.key == key for each in explain.changes_of(self.cluster, turn)):
                return world.now - turn.time
        return world.now
