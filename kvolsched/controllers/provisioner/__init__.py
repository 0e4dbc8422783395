"""A driver's provisioner: it alone makes volumes for claims that are handed to it, and deletes them after release.

Where a volume may lie is what the driver is asked for (`topology`), or its own choice (`placing`); when it comes, and
whether it fails, are dials; a driver with `pools` fails where no room is left, and publishes how much is (`capacity`).
What it was told at the start of an attempt (class, node) is what it makes in the end, whatever has changed since; until
the volume stands in the API nothing of it can be seen. Mirrors external-provisioner v6.3.0 and sig-storage-lib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from ...api.meta import EMPTY, without_finalizers
from ...api.node import Node
from ...api.storage import StorageClass
from ...api.volume import (
    BETA_STORAGE_PROVISIONER,
    PROVISIONED_BY,
    STORAGE_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...volumes import (
    MIGRATED,
    Segment,
    claim_key,
    class_of_claim,
    is_bound,
    requested,
    selected_node,
    with_selected_node,
)
from ...world.apiserver import Write
from ...world.component import Component, Hand
from ...world.decision import Decision, ask, named, say_done, say_refused
from ...world.log import Key
from ...world.routine import Routine
from ...world.view import Seen, View
from . import driver_status, pools, topology
from .capacity import ITEM, WATCHES, Items, Publisher, Publishing
from .driver_status import StatusPublisher
from .made import FINALIZER, chooses, domain_of, volume_for, volume_name
from .options import DESIGN, EXHAUSTED, HOSTNAME, UNFINISHED, UPSTREAM, Failure, Options
from .placing import allowed, place
from .pools import Room, Storage, places
from .topology import Asked, NotYet, Nowhere, Registered, Remembered


@attrs.frozen
class Attempt:
    """A note: a volume in the making, as it was asked for when the attempt began; `number` counts from 1.

    `remembered` is what was read for the claim of this uid; it is kept while the driver may still be at work.
    """

    number: int
    node: str
    volume: PersistentVolume | None = None
    error: str = ""
    claim: str = ""
    remembered: Remembered = Remembered()


PLACES = "places"  # the view that counts topologies


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
    watches: tuple[str, ...] = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Node", "CSINode")
    if not options.running:
        return Component(name, watches, ())
    if options.pools:
        of_status = options.publishing.form != "objects"
        watches = tuple(dict.fromkeys((*watches, *(driver_status.WATCHES if of_status else WATCHES))))
        views: dict[str, Callable[[], View]] = {ITEM: Items, PLACES: topology.Places}
        return Component(name, watches, (*routines, driver.publisher.routine()), partial(_views, views))
    return Component(name, watches, routines, partial(_views, {PLACES: topology.Places}))


def _views(kinds: Mapping[str, Callable[[], View]], _seen: Seen) -> Mapping[str, View]:
    return {name: make() for name, make in kinds.items()}


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

    @property
    def storage(self) -> Storage:
        """The driver's pools."""
        return Storage(self.name, self.options.pools)

    @property
    def publisher(self) -> Publisher | StatusPublisher:
        """Who publishes how much room there is."""
        if self.options.publishing.form != "objects":
            return StatusPublisher(self.name, self.room, self.options.publishing)
        return Publisher(self.name, self.options.topology_keys, self.room, self.options.publishing)

    def room(self, hand: Hand, parameters: Mapping[str, str], segment: Segment) -> Room:
        """Answer GetCapacity."""
        return self.storage.room(hand.sim.log, parameters, segment)

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
        unpinned = not self.options.heeds_node and BETA_STORAGE_PROVISIONER in annotations
        return self._serves(named_one) and (not found.delayed or unpinned or bool(selected_node(claim)))

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
        begun = self._begun(hand, claim, node, attempt, number)
        hand.say(f"{self.name} takes up {named(claim)}{f' for {node}' if node else ''}")
        if self.options.delay <= 0:
            return self._finish(hand, cause, begun)
        hand.remember("attempt", cause, begun)
        hand.wake(cause, self.options.delay)
        return ()

    def _begun(self, hand: Hand, claim: PersistentVolumeClaim, node: str, last: Attempt | None, number: int) -> Attempt:
        """Return a new attempt: the volume that is to be made, or why there is no place for it."""
        uid = claim.metadata.uid
        known = last.remembered if last is not None and last.claim == uid else Remembered()
        try:
            found = self._read(hand, Key("StorageClass", "", class_of_claim(claim)))
            at = self._read(hand, Key("Node", "", node)) if node and self.options.heeds_node else None
            terms, known = self._terms(hand, claim, found, at, known)
        except NotYet as why:
            error = f"error generating accessibility requirements: {why}"
            return Attempt(number, node, error=error, claim=uid, remembered=why.remembered)
        except Nowhere as why:
            return Attempt(number, node, error=str(why))
        guarded = self.options.guards and not self.in_tree
        volume = volume_for(claim, found, self.name, terms, in_tree=self.in_tree, guarded=guarded)
        return Attempt(number, node, volume, claim=uid, remembered=known)

    def _terms(
        self,
        hand: Hand,
        claim: PersistentVolumeClaim,
        found: StorageClass,
        node: Node | None,
        known: Remembered,
    ) -> tuple[Sequence[Mapping[str, tuple[str, ...]]], Remembered]:
        """Return where a volume for a claim is made: terms (ORed) of label key -> values; and what to remember."""
        keys, name = self.options.topology_keys, claim.metadata.name
        wanted = self.options.immediate_zone
        zone = wanted if isinstance(wanted, str) else wanted.get(name, "")
        if zone and node is None:
            return ({keys[0]: (zone,)},), known
        if self.in_tree or chooses(found):
            try:
                return place(name, found, node, _nodes(hand), keys), known
            except Nowhere as why:
                if self.in_tree:
                    raise
                raise NotYet(str(why), known) from why
        assumed = topology.keys_in_use(found.allowed_topologies, [node] if node is not None else _nodes(hand), keys)
        # This driver takes the first place: without a list that is the node's own, and no other need be looked for.
        strict = self.options.strict_topology or (node is not None and not found.allowed_topologies)
        asked = Asked(
            claim=name,
            allowed=found.allowed_topologies,
            node=node.metadata.name if node is not None else "",
            strict=strict,
            immediate=self.options.immediate_topology,
        )
        counted = hand.views[PLACES]
        assert isinstance(counted, topology.Places)
        registered = Registered(self.name, hand.seen, assumed, node, counted)
        access, known = topology.accessibility(asked, registered, known)
        if access is None:
            return (), known
        first = access.preferred[0]
        if self.options.pools and node is None:  # the driver may take any; it tries them in the order of preference
            log, size = hand.sim.log, requested(claim)
            with_room = (one for one in access.preferred if self.storage.has_room(log, found.parameters, one, size))
            first = next(with_room, first)
        return ({key: (value,) for key, value in first},), known

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
        if self.options.pools:
            self.storage.take(hand.sim.log, self._parameters(hand, volume), volume)
            self._refresh(hand, volume)
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
        where = domain_of(attempt.volume)
        for number, failure in enumerate(self.options.fails):
            struck = hand.note("struck", str(number)) or 0
            if (failure.times is None or struck < failure.times) and failure.topology in ("", where):
                if failure.times is not None:
                    hand.remember("struck", str(number), struck + 1)
                return attrs.evolve(failure, desc=failure.desc or f"not enough capacity in {where}")
        chance = self.options.fail_chance
        if chance and hand.draw("provisioning fails", cause, 100, attempt.number) < chance:
            return Failure(desc=f"not enough capacity in {where}")
        parameters = self._parameters(hand, attempt.volume)
        if self.options.pools and not self.storage.fits(hand.sim.log, parameters, attempt.volume):
            return Failure(desc=f"not enough capacity in {where}")
        return None

    @staticmethod
    def _parameters(hand: Hand, volume: PersistentVolume) -> Mapping[str, str]:
        """Return the parameters of a volume's class, as last seen."""
        found: StorageClass | None = hand.seen.get("StorageClass", volume.spec.storage_class_name)
        return found.parameters if found is not None else EMPTY

    def _refresh(self, hand: Hand, volume: PersistentVolume, *, failed: bool = False) -> None:
        """Have what is published looked at again, where a volume came, went or found no room."""
        segments = places(volume) if volume.spec.node_affinity is not None and not failed else None
        for name in self.publisher.refresh(hand, segments, volume.spec.storage_class_name):
            ask(hand, self.publisher.name, name)

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
        if self.options.pools and attempt.volume is not None:
            self._refresh(hand, attempt.volume, failed=True)
        codes = self.options.reschedule_codes
        again = self.options.on_failure == "reschedule" and (not codes or failure.code in codes)
        if again and failure.code and attempt.node and selected_node(claim):
            hand.remember("attempt", cause, None)
            asked = with_selected_node(claim, "")
            lane = f"{self.name} cannot provision for {attempt.node}: takes selected-node off {named(claim)}"
            decision.update(claim, asked, lane)
        else:
            number = min(attempt.number, 9)  # the wait grows no more after that
            kept = attempt.remembered if attempt.volume is None or failure.code in UNFINISHED else Remembered()
            uid = attempt.claim if kept != Remembered() else ""
            hand.remember("attempt", cause, Attempt(number, attempt.node, claim=uid, remembered=kept))
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
        elif key.kind == "PersistentVolume" and new is not None and self._is_to_free(new):
            yield key.name

    def _is_to_free(self, volume: PersistentVolume) -> bool:
        """Say whether a volume's deletion waits for this driver; a bound one's does not yet."""
        return (
            volume.metadata.deletion_timestamp is not None
            and FINALIZER in volume.metadata.finalizers
            and volume.status.phase != "Bound"
            and self._serves(volume.metadata.annotations.get(PROVISIONED_BY, ""))
        )

    def _is_to_go(self, volume: PersistentVolume) -> bool:
        return (
            volume.status.phase == "Released"
            and volume.spec.persistent_volume_reclaim_policy == "Delete"
            and self._serves(volume.metadata.annotations.get(PROVISIONED_BY, ""))
            and volume.metadata.deletion_timestamp is None
        )

    def delete(self, hand: Hand, cause: str) -> Sequence[Write]:
        """Delete a released volume; once it is being deleted, take the driver's finalizer off."""
        volume: PersistentVolume | None = hand.seen.get("PersistentVolume", cause)
        decision = Decision(hand, self.source)
        if volume is not None and self._is_to_go(volume):
            decision.delete(volume, f"{self.name} deletes {named(volume)}, which was released")
            if self.options.pools:
                self.storage.give_back(hand.sim.log, volume)
                if volume.spec.node_affinity is not None:
                    self._refresh(hand, volume)
        elif volume is not None and self._is_to_free(volume):
            freed = without_finalizers(volume, FINALIZER)
            decision.update(volume, freed, f"{self.name} lets {named(volume)} go: its storage is gone")
        return decision.writes


def _nodes(hand: Hand) -> Iterator[Node]:
    yield from hand.seen.all("Node")


__all__ = [
    "DESIGN",
    "EXHAUSTED",
    "HOSTNAME",
    "UPSTREAM",
    "Failure",
    "Nowhere",
    "Options",
    "Provisioner",
    "Publishing",
    "Storage",
    "allowed",
    "component",
    "place",
    "pools",
]
