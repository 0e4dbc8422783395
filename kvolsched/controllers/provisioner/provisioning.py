"""Provisions volumes of a driver for claims, attempt by attempt.

An attempt makes what it was asked for when it began (class, node), whatever has changed since; until the volume is in
the API nothing of it can be seen. Mirrors external-provisioner v6.3.0 `controller.go` and sig-storage-lib.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from ...api.kinds.meta import evolve
from ...api.kinds.node import HOSTNAME_LABEL, Node
from ...api.kinds.storage_class import StorageClass, TopologySelectorTerm
from ...api.kinds.volume import BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER, PersistentVolume, PersistentVolumeClaim
from ...api.volumes import claim_key, class_of_claim, requested, selected_node, with_selected_node
from ...world.apiserver import Write
from ...world.component import TurnContext
from ...world.digest import DIGEST_IGNORES
from ...world.log import Key
from ...world.plan import PlanBuilder, PlannedEvent, reference_of
from . import topology
from .driver import StorageDriver
from .in_tree_topology import check_keys, choose_topology, whole_topology
from .new_volume import chooses_zones, domain_of, is_csi, is_on_node, volume_for, volume_name, with_zone_labels
from .options import EXHAUSTED, UNFINISHED, Failure
from .topology import DriverTopology, FirstAttempt, NoTopology, NoTopologyYet, TopologyRequest

TOPOLOGIES = "topologies"  # the view that counts the nodes' topologies


@attrs.frozen
class HandedOver:
    """What a plugin inside the PV controller, or a provisioner that is no CSI driver, is handed beside class and claim.

    Mirrors `Provision(selectedNode, allowedTopologies)` of 1.11; "" and (): it is told none.
    """

    node: str = ""
    allowed: tuple[TopologySelectorTerm, ...] = ()


@attrs.frozen
class Attempt:
    """A note: a volume as it was asked for when the attempt began; `number` counts from 1, `failures` those in a row.

    `remembered` is what was read for the claim of this uid; it is kept while the driver may still be at work.
    `handed` is what it was told without CSI.
    """

    number: int = attrs.field(metadata=DIGEST_IGNORES)  # a search branches over draws
    node: str
    volume: PersistentVolume | None = None
    error: str = ""
    claim: str = ""
    remembered: FirstAttempt = FirstAttempt()
    failures: int = 0
    handed: HandedOver | None = attrs.field(default=None, metadata=DIGEST_IGNORES)


@attrs.frozen
class VolumeProvisioning:
    """The routine that provisions volumes of one driver."""

    driver: StorageDriver

    def enqueue(self, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a changed claim that waits for this driver and has no attempt yet."""
        if key.kind == "PersistentVolumeClaim" and new is not None and self._is_waiting(ctx, new):
            cause = f"{key.namespace}/{key.name}"
            if ctx.note("attempt", cause) is None:
                yield cause

    def _is_waiting(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim waits for this driver: it is named, and for a delayed class a node is selected."""
        if claim.spec.volume_name:
            return False
        annotations = claim.metadata.annotations
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", class_of_claim(claim))
        if storage_class is None:
            return False
        provisioner = annotations.get(STORAGE_PROVISIONER) or annotations.get(BETA_STORAGE_PROVISIONER, "")
        provisioner = storage_class.provisioner if self.driver.in_tree else provisioner
        ready = self.driver.acts_for(provisioner) and self._is_ready(claim, storage_class)
        return ready and self.driver.serves_claim(ctx, claim)

    def _is_ready(self, claim: PersistentVolumeClaim, storage_class: StorageClass) -> bool:
        """Say whether a claim may have its volume now: its class does not wait, or the wait is over."""
        options = self.driver.options
        if not storage_class.delayed or options.serves_delayed == "at once":
            return True
        unpinned = not options.uses_selected_node and BETA_STORAGE_PROVISIONER in claim.metadata.annotations
        return options.serves_delayed == "selected" and (unpinned or bool(selected_node(claim)))

    def _node_of(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> str:
        """Return the selected node that counts for a claim, or ""."""
        if not self.driver.options.node_needs_delay:
            return selected_node(claim) or self.driver.node
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", class_of_claim(claim))
        return selected_node(claim) if storage_class is not None and storage_class.delayed else ""

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Start an attempt for a claim, or finish the one that is under way."""
        attempt: Attempt | None = ctx.note("attempt", cause)
        if attempt is not None and (attempt.volume is not None or attempt.error):
            return self._finish(ctx, cause, attempt)
        driver = self.driver
        claim: PersistentVolumeClaim | None = ctx.seen.at(Key("PersistentVolumeClaim", *cause.split("/")))
        if claim is None or not self._is_waiting(ctx, claim):
            ctx.remember("attempt", cause, None)
            return ()
        if ctx.seen.get("PersistentVolume", volume_name(claim)) is not None:
            return ()  # an earlier attempt made it: the PV controller is to bind it
        node = self._node_of(ctx, claim)
        if node and selected_node(claim) and self._is_gone(ctx, node):
            plan = PlanBuilder(ctx, driver.source)
            self._remove_selected_node(plan, cause, claim, node)
            why = f'node "{node}" not found'
            why = f"Failed to get target node: {why}" if driver.in_tree else why
            plan.event(claim, "Warning", "ProvisioningFailed", why)
            return plan.writes
        if not driver.in_tree:
            message = f'External provisioner is provisioning volume for claim "{claim_key(claim)}"'
            ctx.event(claim, "Normal", "Provisioning", message, driver.source)
        started = self._start(ctx, claim, node, attempt)
        if attempt is not None:
            started = evolve(started, failures=attempt.failures)
        on_node = f" on node {node}" if node else ""
        ctx.describe(f"{driver.label} starts to provision a volume for {reference_of(claim)}{on_node}")
        ctx.remember("attempt", cause, started)
        if driver.options.delay <= 0:
            return self._finish(ctx, cause, started)
        ctx.wake_after(cause, driver.options.delay)
        return ()

    def _is_gone(self, ctx: TurnContext, node: str) -> bool:
        """Say whether a selected node exists no more, so that the scheduler has to choose another."""
        options, key = self.driver.options, Key("Node", "", node)
        may_ask = options.uses_selected_node and ctx.sim.server.permit(self.driver.component, "get", key.kind)
        return may_ask and options.on_failure == "reschedule" and ctx.get_live(key) is None

    def _start(self, ctx: TurnContext, claim: PersistentVolumeClaim, node: str, last: Attempt | None) -> Attempt:
        uid, number = claim.metadata.uid, last.number + 1 if last is not None else 1
        remembered = last.remembered if last is not None and last.claim == uid else FirstAttempt()
        options, handed = self.driver.options, None
        try:
            storage_class: StorageClass = self._read(ctx, Key("StorageClass", "", class_of_claim(claim)))
            if not options.uses_allowed_topologies:
                storage_class = evolve(storage_class, allowed_topologies=())
            found = self._read(ctx, Key("Node", "", node)) if node and options.uses_selected_node else None
            if self.driver.in_tree or not is_csi(self.driver.name):
                told = found.metadata.name if found is not None else ""
                handed = HandedOver(told, storage_class.allowed_topologies)
            if self.driver.in_tree:
                check_keys(storage_class, found, options.topology_keys)
            terms, remembered = self._topology(ctx, claim, storage_class, found, remembered)
        except NoTopologyYet as why:
            error = f"error generating accessibility requirements: {why}"
            return Attempt(number, node, error=error, claim=uid, remembered=why.remembered)
        except NoTopology as why:
            return Attempt(number, node, error=str(why), handed=handed)
        in_tree = self.driver.in_tree
        guarded = options.adds_finalizer and not in_tree and is_csi(self.driver.name)
        volume = volume_for(claim, storage_class, self.driver.name, terms, in_tree=in_tree, guarded=guarded)
        return Attempt(number, node, volume, claim=uid, remembered=remembered, handed=handed)

    def _topology(
        self, ctx: TurnContext, claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node | None,
        remembered: FirstAttempt
    ) -> tuple[Sequence[Mapping[str, tuple[str, ...]]], FirstAttempt]:
        """Return where a volume for a claim is made: terms (ORed) of label key -> values; and what to remember."""
        driver, options, name = self.driver, self.driver.options, claim.metadata.name
        if not driver.in_tree and not is_csi(driver.name):
            of_node = node is not None and is_on_node(storage_class, driver.name)
            host = node.metadata.labels.get(HOSTNAME_LABEL, "") if node is not None and of_node else ""
            return ({HOSTNAME_LABEL: (host,)},) if host else (), remembered  # where a directory of a node is
        if options.whole_topologies and storage_class.allowed_topologies:
            return whole_topology(name, storage_class, node), remembered
        keys, zones = options.topology_keys, options.immediate_zone
        zone = zones if isinstance(zones, str) else zones.get(name, "")
        if zone and node is None:
            return ({keys[0]: (zone,)},), remembered
        if driver.in_tree or chooses_zones(storage_class):
            try:
                return choose_topology(name, storage_class, node, _nodes(ctx), keys), remembered
            except NoTopology as why:
                if driver.in_tree:
                    raise
                raise NoTopologyYet(str(why), remembered) from why
        allowed = storage_class.allowed_topologies
        nodes = [node] if node is not None else _nodes(ctx)
        assumed = topology.keys_in_use(allowed, nodes, keys)
        if node is not None and not options.list_for_node:
            allowed = ()
        # A driver that takes the first topology takes the node's if there is no list: no other need be looked for.
        first_alone = node is not None and not allowed and not options.tries_preferred
        request = TopologyRequest(
            claim=name, allowed=allowed, node=node.metadata.name if node is not None else "",
            strict=options.strict_topology or first_alone, immediate=options.immediate_topology,
        )
        registered = DriverTopology(driver.name, ctx.seen, assumed, node, ctx.views[TOPOLOGIES])
        if registered.without_topology:
            return (), remembered
        requirement, remembered = topology.accessibility(request, registered, remembered)
        if requirement is None:
            return (), remembered
        if first_alone and options.list_for_node and not options.strict_topology:
            remembered = evolve(remembered, abridged=True)
        first = requirement.preferred[0]
        if node is None or options.tries_preferred:  # it tries them in the order of preference
            room, size = partial(driver.storage.has_room, ctx.sim.log, storage_class.parameters), requested(claim)
            first = next((segment for segment in requirement.preferred if room(segment, size)), first)
        return ({key: (value,) for key, value in first},), remembered

    def _read(self, ctx: TurnContext, key: Key) -> Any:
        """Read an object that the driver needs `get` for (S0, New Permissions)."""
        plural = {"StorageClass": "storageclasses.storage.k8s.io", "Node": "nodes"}[key.kind]
        failed = f'failed to get {key.kind} "{key.name}": {plural} "{key.name}"'
        if not ctx.sim.server.permit(self.driver.component, "get", key.kind):
            resource, _, group = plural.partition(".")
            user = f'User "system:{self.driver.component}" cannot get resource "{resource}" in API group "{group}"'
            raise NoTopology(f"{failed} is forbidden: {user} at the cluster scope")
        found = ctx.get_live(key)
        if found is None:
            in_tree = f'Failed to get target node: node "{key.name}" not found'
            raise NoTopology(in_tree if self.driver.in_tree else f"{failed} not found")
        return found

    def _finish(self, ctx: TurnContext, cause: str, attempt: Attempt) -> Sequence[Write]:
        driver, volume = self.driver, attempt.volume
        claim: PersistentVolumeClaim | None = ctx.seen.at(Key("PersistentVolumeClaim", *cause.split("/")))
        if (failure := self._failure(ctx, cause, attempt)) is not None:
            return self._fail(ctx, cause, attempt, claim, failure)
        assert volume is not None
        ctx.remember("attempt", cause, None)
        if driver.options.pools:
            driver.storage.allocate(ctx.sim.log, driver.parameters(ctx, volume), volume)
            driver.refresh_capacity(ctx, volume)
        plan = PlanBuilder(ctx, driver.source)
        name = volume.metadata.name
        options = driver.options
        has_affinity = options.zonal_affinity and (options.in_tree_affinity or not driver.in_tree)
        volume = volume if has_affinity else with_zone_labels(volume, _nodes(ctx))
        failed = f"Error creating provisioned PV object for claim {cause}: {{error}}. Deleting the volume."
        refused = PlannedEvent(Key("PersistentVolumeClaim", *cause.split("/")), "Warning", "ProvisioningFailed", failed,
                               driver.source)
        plan.create(volume, f"{driver.label} creates volume {name}, reserved for {cause.removeprefix('default/')}",
                    on_failure=(refused,))
        if claim is not None:
            using = f" using {driver.name}" if driver.in_tree else ""
            plan.event(claim, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {name}{using}")
        return plan.writes

    def _failure(self, ctx: TurnContext, cause: str, attempt: Attempt) -> Failure | None:
        """Return the failure that strikes this attempt, and count it."""
        driver, options = self.driver, self.driver.options
        if attempt.volume is None:
            return Failure(code="", desc=attempt.error)
        domain = domain_of(attempt.volume)
        exhausted = f"not enough capacity in {domain}"
        for number, failure in enumerate(options.fails):
            struck = ctx.note("struck", str(number)) or 0
            if (failure.times is None or struck < failure.times) and failure.topology in ("", domain):
                if failure.times is not None:
                    ctx.remember("struck", str(number), struck + 1)
                said = exhausted if failure.code == EXHAUSTED else f"cannot create a volume in {domain}"
                return evolve(failure, desc=failure.desc or said)
        chance, parameters = options.fail_chance, driver.parameters(ctx, attempt.volume)
        if chance and ctx.draw("provisioning fails", cause, 100, attempt.number) < chance:
            return Failure(desc=exhausted)
        fits = not options.pools or driver.storage.fits(ctx.sim.log, parameters, attempt.volume)
        return None if fits else Failure(desc=exhausted)

    def _fail(
        self, ctx: TurnContext, cause: str, attempt: Attempt, claim: PersistentVolumeClaim | None, failure: Failure
    ) -> Sequence[Write]:
        """Report a failed attempt; hand the claim back to the scheduler, or try again later on the selected node."""
        driver, options = self.driver, self.driver.options
        plan = PlanBuilder(ctx, driver.source)
        if claim is None:
            ctx.remember("attempt", cause, None)
            return ()
        if options.pools and attempt.volume is not None:
            driver.refresh_capacity(ctx, attempt.volume, failed=True)
        codes = options.reschedule_codes
        reschedules = options.on_failure == "reschedule" and (not codes or failure.code in codes)
        if reschedules and failure.code and attempt.node and selected_node(claim):
            self._remove_selected_node(plan, cause, claim, attempt.node)
        else:
            failures = min(attempt.failures + 1, options.backoff.counted)
            kept = attempt.remembered if attempt.volume is None or failure.code in UNFINISHED else FirstAttempt()
            uid = attempt.claim if kept != FirstAttempt() else ""
            ctx.remember("attempt", cause, evolve(attempt, volume=None, error="", claim=uid, remembered=kept,
                                                  failures=failures))
            ctx.wake_after(cause, options.backoff.seconds(failures))
            plan.describe(f"{driver.label} cannot provision a volume for {reference_of(claim)}: {failure.desc}")
        plan.event(claim, "Warning", "ProvisioningFailed", self._failure_message(claim, failure))
        return plan.writes

    def _remove_selected_node(self, plan: PlanBuilder, cause: str, claim: PersistentVolumeClaim, node: str) -> None:
        """Hand a claim back to the scheduler, which is to choose a node again."""
        plan.ctx.remember("attempt", cause, None)
        words = f"{self.driver.label} cannot provision on node {node} and removes the selected node of "
        plan.update(claim, with_selected_node(claim, ""), f"{words}{reference_of(claim)}")

    def _failure_message(self, claim: PersistentVolumeClaim, failure: Failure) -> str:
        message = failure.desc
        if failure.code and not self.driver.in_tree:
            message = f"rpc error: code = {failure.code} desc = {failure.desc}"
        if message.startswith("Failed to get target node"):
            return message
        failed = "Failed" if self.driver.in_tree else "failed"
        return f'{failed} to provision volume with StorageClass "{class_of_claim(claim)}": {message}'


def _nodes(ctx: TurnContext) -> Iterator[Node]:
    """Yield all nodes, which are looked up only if somebody asks for the first."""
    yield from ctx.seen.all("Node")
