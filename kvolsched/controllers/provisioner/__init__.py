"""A driver's provisioner: it alone makes volumes for claims that are handed to it, and deletes them after release.

Where a volume may lie is one pure function of class, node and nodes (`place`); when it comes, and whether it fails, are
dials. What it was told at the start of an attempt (class, node) is what it makes in the end, whatever has changed
since; until the volume stands in the API nothing of it can be seen.
Mirrors external-provisioner v6.3.0 and sig-storage-lib; as `in_tree` the zone chooser of Kubernetes' own plugins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.meta import Frozen, ObjectMeta
from ...api.node import Node
from ...api.quantity import canonical
from ...api.selector import NodeSelector, NodeSelectorTerm, Requirement
from ...api.storage import StorageClass
from ...api.volume import (
    BETA_STORAGE_PROVISIONER,
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    STORAGE_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from ...volumes import (
    MIGRATED,
    ZONE_LABELS,
    claim_key,
    claim_ref_of,
    class_of_claim,
    is_bound,
    selected_node,
    with_selected_node,
)
from ...world.apiserver import Write
from ...world.component import Component, Hand
from ...world.decision import Decision, named, say_done, say_refused
from ...world.log import Key
from ...world.routine import Routine
from .placing import Nowhere, allowed, place

HOSTNAME = "kubernetes.io/hostname"
ZONE = ZONE_LABELS[0]
EXHAUSTED = "ResourceExhausted"


@attrs.frozen(kw_only=True)
class Failure:
    """Attempts that fail: the next `times` (None: all) that fall on this topology ("": any value)."""

    times: int | None = 1
    topology: str = ""
    code: str = EXHAUSTED
    desc: str = ""


@attrs.frozen(kw_only=True)
class Options:
    """The dials of a driver.

    Args:
        serves: provisioner names in classes and annotations that it acts for (beside its own name).
        topology_keys: node labels that tell where a volume can be reached.
        delay: seconds from taking up a claim to the volume in the API, and from release to deletion.
        fails: failures to come, in order.
        fail_chance: share of attempts that fail besides, in percent, drawn by seed.
        on_failure: "reschedule" takes the selected node away, "retry" tries the same node again (checklist C19).
        reschedule_codes: which failures are rescheduled; () means every one (S0: always).
        immediate_zone: where volumes of claims without a selected node lie ("" = by the claim's name).
        plays_in_tree: under a name of Kubernetes' own it plays the plugin inside the controller: told by class and
            node, not by annotation, with the controller's words.
        running: a driver that does not run answers nobody.
    """

    serves: tuple[str, ...] = ()
    topology_keys: tuple[str, ...] = (ZONE,)
    delay: float = 0.3
    fails: tuple[Failure, ...] = ()
    fail_chance: int = 0
    on_failure: str = "reschedule"
    reschedule_codes: tuple[str, ...] = (EXHAUSTED,)
    immediate_zone: Mapping[str, str] | str = ""
    plays_in_tree: bool = False
    running: bool = True


@attrs.frozen
class Attempt:
    """A note: a volume in the making, as it was asked for when the attempt began; `number` counts from 1."""

    number: int
    node: str
    volume: PersistentVolume | None = None
    error: str = ""


# -- the provisioner --------------------------------------------------------------------------------


UPSTREAM = Options()
DESIGN = Options(reschedule_codes=(), plays_in_tree=True)  # S0: a failure always takes the annotation away


def component(name: str, options: Options = UPSTREAM) -> Component:
    """Return the provisioner of a driver: a component of the driver's name.

    A name of Kubernetes' own (`kubernetes.io/gce-pd`) stands for its plugin, or for the CSI driver that acts for it.
    """
    in_tree = options.plays_in_tree and name.startswith("kubernetes.io/")
    driver = Provisioner(name, name if in_tree else MIGRATED.get(name, name), in_tree, options)
    routines = (
        Routine(f"{name} provisioner", driver.claims_of, driver.provision, say_refused, say_done, driver.backoff),
        Routine(f"{name} deleter", driver.volumes_of, driver.delete, say_refused, say_done, driver.backoff),
    )
    watches = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Node")
    return Component(name, watches, routines if options.running else ())


@attrs.frozen
class Provisioner:
    """The decisions of a driver's provisioner."""

    component: str
    name: str
    in_tree: bool
    options: Options

    @staticmethod
    def backoff(failures: int) -> float:
        """Return the seconds between two attempts: 1 s, doubled up to 5 minutes."""
        return float(min(2 ** (failures - 1), 300))

    @property
    def source(self) -> str:
        """Who speaks in Events: the driver's controller pod, or the PV controller for its own plugins."""
        if self.in_tree:
            return "persistentvolume-controller"
        return f"{self.name}_{self.name.partition('.')[0]}-csi-controller-0"

    def _serves(self, name: str) -> bool:
        return name == self.name or name in self.options.serves

    # -- which claims -----------------------------------------------------------------------------------

    def claims_of(self, hand: Hand, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a claim that has changed, if it is handed to this driver and not taken up yet."""
        if key.kind == "PersistentVolumeClaim" and new is not None and self._is_mine(hand, new):
            cause = f"{key.namespace}/{key.name}"
            if hand.note("attempt", cause) is None:
                yield cause

    def _is_mine(self, hand: Hand, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim waits for this driver: it is named, and for a delayed class a node is selected."""
        if claim.spec.volume_name or is_bound(claim):
            return False
        annotations = claim.metadata.annotations
        found = hand.seen.get("StorageClass", class_of_claim(claim))
        if found is None:
            return False
        if self.in_tree:
            named_one = found.provisioner
        else:
            named_one = annotations.get(STORAGE_PROVISIONER) or annotations.get(BETA_STORAGE_PROVISIONER, "")
        return self._serves(named_one) and (not found.delayed or bool(selected_node(claim)))

    # -- an attempt ---------------------------------------------------------------------------------------

    def provision(self, hand: Hand, cause: str) -> Sequence[Write]:
        """Begin an attempt for a claim, or bring one to its end."""
        attempt: Attempt | None = hand.note("attempt", cause)
        if attempt is not None and (attempt.volume is not None or attempt.error):
            return self._finish(hand, cause, attempt)
        key = Key("PersistentVolumeClaim", *cause.split("/"))
        claim: PersistentVolumeClaim | None = hand.seen.at(key)
        if claim is None or not self._is_mine(hand, claim):
            hand.remember("attempt", cause, None)
            return ()
        if hand.seen.get("PersistentVolume", volume_name(claim)) is not None:
            return ()  # made by an earlier attempt: the PV controller is to bind it
        number = attempt.number + 1 if attempt is not None else 1
        node = selected_node(claim)
        if not self.in_tree:
            words = f'External provisioner is provisioning volume for claim "{claim_key(claim)}"'
            hand.event(claim, "Normal", "Provisioning", words, self.source)
        try:
            begun = Attempt(number, node, volume=self._make(hand, claim, node))
        except Nowhere as why:
            begun = Attempt(number, node, error=str(why))
        hand.say(f"{self.name} takes up {named(claim)}{f' for {node}' if node else ''}")
        if self.options.delay <= 0:
            return self._finish(hand, cause, begun)
        hand.remember("attempt", cause, begun)
        hand.wake(cause, self.options.delay)
        return ()

    def _make(self, hand: Hand, claim: PersistentVolumeClaim, node_name: str) -> PersistentVolume:
        """Return the volume that a claim asks for, where the node or the class wants it."""
        found = self._read(hand, Key("StorageClass", "", class_of_claim(claim)))
        node = self._read(hand, Key("Node", "", node_name)) if node_name else None
        wanted = self.options.immediate_zone
        zone = wanted if isinstance(wanted, str) else wanted.get(claim.metadata.name, "")
        if zone and node is None:
            terms: Sequence[Mapping[str, tuple[str, ...]]] = ({self.options.topology_keys[0]: (zone,)},)
        else:
            try:
                terms = place(claim.metadata.name, found, node, _nodes(hand), self.options.topology_keys)
            except Nowhere as why:
                if self.in_tree:
                    raise
                raise Nowhere(f"error generating accessibility requirements: {why}") from why
        return volume_for(claim, found, self.name, terms, in_tree=self.in_tree)

    def _read(self, hand: Hand, key: Key) -> Any:
        """Read an object that the driver needs `get` for (S0, New Permissions)."""
        plural = {"StorageClass": "storageclasses.storage.k8s.io", "Node": "nodes"}[key.kind]
        if not hand.sim.server.permit(self.component, "get", key.kind):
            resource, _, group = plural.partition(".")
            raise Nowhere(
                f'failed to get {key.kind} "{key.name}": {plural} "{key.name}" is forbidden: '
                f'User "system:{self.component}" cannot get resource "{resource}" in API group "{group}" '
                "at the cluster scope"
            )
        found = hand.get(key)
        if found is None:
            if self.in_tree:
                raise Nowhere(f'Failed to get target node: node "{key.name}" not found')
            raise Nowhere(f'failed to get {key.kind} "{key.name}": {plural} "{key.name}" not found')
        return found

    def _finish(self, hand: Hand, cause: str, attempt: Attempt) -> Sequence[Write]:
        """End an attempt: the volume is there, or it has failed."""
        claim: PersistentVolumeClaim | None = hand.seen.at(Key("PersistentVolumeClaim", *cause.split("/")))
        volume = attempt.volume
        failure = self._failure(hand, cause, attempt)
        if volume is None or failure is not None:
            return self._failed(hand, cause, attempt, claim, failure)
        hand.remember("attempt", cause, None)
        decision = Decision(hand, self.source)
        decision.create(volume, f"{self.name} creates {named(volume)} for {cause.removeprefix('default/')}")
        if claim is not None:
            using = f" using {self.name}" if self.in_tree else ""
            words = f"Successfully provisioned volume {volume.metadata.name}{using}"
            decision.event(claim, "Normal", "ProvisioningSucceeded", words)
        return decision.writes

    def _failure(self, hand: Hand, cause: str, attempt: Attempt) -> Failure | None:
        """Return the failure that strikes this attempt, and count it."""
        if attempt.volume is None:
            return Failure(code="", desc=attempt.error)
        where = _domain(attempt.volume)
        for number, failure in enumerate(self.options.fails):
            struck = hand.note("struck", str(number)) or 0
            if (failure.times is None or struck < failure.times) and failure.topology in ("", where):
                if failure.times is not None:
                    hand.remember("struck", str(number), struck + 1)
                return attrs.evolve(failure, desc=failure.desc or f"not enough capacity in {where}")
        chance = self.options.fail_chance
        if chance and hand.draw("provisioning fails", cause, 100, attempt.number) < chance:
            return Failure(desc=f"not enough capacity in {where}")
        return None

    def _failed(
        self,
        hand: Hand,
        cause: str,
        attempt: Attempt,
        claim: PersistentVolumeClaim | None,
        failure: Failure | None,
    ) -> Sequence[Write]:
        """Say why an attempt failed; give the node back to the scheduler, or try again later on the same one."""
        assert failure is not None
        decision = Decision(hand, self.source)
        if claim is None:
            hand.remember("attempt", cause, None)
            return ()
        words = failure.desc
        if failure.code and not self.in_tree:
            words = f"rpc error: code = {failure.code} desc = {failure.desc}"
        if not words.startswith("Failed to get target node"):
            start = "Failed" if self.in_tree else "failed"
            words = f'{start} to provision volume with StorageClass "{class_of_claim(claim)}": {words}'
        codes = self.options.reschedule_codes
        again = self.options.on_failure == "reschedule" and (not codes or failure.code in codes)
        if again and failure.code and attempt.node and selected_node(claim):
            hand.remember("attempt", cause, None)
            asked = with_selected_node(claim, "")
            lane = f"{self.name} cannot provision for {attempt.node}: takes selected-node off {named(claim)}"
            decision.update(claim, asked, lane)
        else:
            number = min(attempt.number, 9)  # the wait grows no more after that
            hand.remember("attempt", cause, Attempt(number, attempt.node))
            hand.wake(cause, self.backoff(number))
            decision.say(f"{self.name} cannot provision for {named(claim)}: {failure.desc}")
        decision.event(claim, "Warning", "ProvisioningFailed", words)
        return decision.writes

    # -- deletion -----------------------------------------------------------------------------------------

    def volumes_of(self, hand: Hand, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a volume of this driver that was released."""
        if key.kind == "PersistentVolume" and new is not None and self._is_to_go(new):
            if self.options.delay > 0:
                hand.wake(key.name, self.options.delay)
            else:
                yield key.name

    def _is_to_go(self, volume: PersistentVolume) -> bool:
        return (
            volume.status.phase == "Released"
            and volume.spec.persistent_volume_reclaim_policy == "Delete"
            and self._serves(volume.metadata.annotations.get(PROVISIONED_BY, ""))
            and volume.metadata.deletion_timestamp is None
        )

    def delete(self, hand: Hand, cause: str) -> Sequence[Write]:
        """Delete a released volume."""
        volume: PersistentVolume | None = hand.seen.get("PersistentVolume", cause)
        decision = Decision(hand, self.source)
        if volume is not None and self._is_to_go(volume):
            decision.delete(volume, f"{self.name} deletes {named(volume)}, which was released")
        return decision.writes


def _nodes(hand: Hand) -> Iterator[Node]:
    yield from hand.seen.all("Node")


def volume_name(claim: PersistentVolumeClaim) -> str:
    """Return the name of the volume that is made for a claim: the same in every attempt."""
    return f"pvc-{claim.metadata.uid}"


def volume_for(
    claim: PersistentVolumeClaim,
    storage_class: StorageClass,
    driver: str,
    terms: Sequence[Mapping[str, tuple[str, ...]]],
    *,
    in_tree: bool,
) -> PersistentVolume:
    """Return a new volume for a claim: bound to it from the start, reachable where the terms say.

    What a plugin of Kubernetes' own makes bears the mark of the controller.
    """
    selector = NodeSelector(
        node_selector_terms=tuple(
            NodeSelectorTerm(
                match_expressions=tuple(
                    Requirement(key=key, operator="In", values=tuple(term[key])) for key in sorted(term)
                )
            )
            for term in terms
        )
    )
    name = volume_name(claim)
    source = {"csi": Frozen({"driver": driver, "volumeHandle": name})}
    if in_tree:
        source = {"gcePersistentDisk": Frozen({"pdName": name})}
    annotations = Frozen({PROVISIONED_BY: driver})
    if in_tree:
        annotations = annotations.merged({BOUND_BY_CONTROLLER: "yes"})
    size = canonical(claim.spec.resources.requests.get("storage", "0"))
    return PersistentVolume(
        metadata=ObjectMeta(name=name, annotations=annotations),
        spec=PersistentVolumeSpec(
            capacity=Frozen({"storage": size}),
            access_modes=claim.spec.access_modes,
            claim_ref=claim_ref_of(claim),
            persistent_volume_reclaim_policy=storage_class.reclaim_policy or "Delete",
            storage_class_name=class_of_claim(claim),
            volume_mode=claim.spec.volume_mode,
            node_affinity=VolumeNodeAffinity(required=selector) if terms else None,
            mount_options=storage_class.mount_options,
            rest=Frozen(source),
        ),
        status=PersistentVolumeStatus(phase="Pending"),
    )


def _domain(volume: PersistentVolume) -> str:
    """Return the first value of a volume's affinity: the domain that capacity ran out in."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return "the cluster"
    return affinity.required.node_selector_terms[0].match_expressions[0].values[0]


__all__ = [
    "DESIGN",
    "EXHAUSTED",
    "HOSTNAME",
    "UPSTREAM",
    "Failure",
    "Nowhere",
    "Options",
    "Provisioner",
    "allowed",
    "component",
    "place",
]
