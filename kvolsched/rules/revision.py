"""Revisions: a revision is one set of rules for the whole loop, as a value.

`upstream` is Kubernetes v1.36.2; `design` is the workflow of the design documents, and of Kubernetes 1.11 and 1.16
where they are silent. Revisions differ in the profile, the binding flow, and the controllers' options; no rule asks
for a revision's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api import defaults
from ..api.dials import NO_DIALS, WrongDials, with_dials
from ..api.kinds.meta import EMPTY, Frozen
from ..controllers import (
    admission,
    autoscaler,
    daemon_set,
    deployment,
    disruption,
    ephemeral_volume,
    garbage_collector,
    job,
    kubelet,
    node_lifecycle,
    persistent_volume,
    pod_garbage_collector,
    provisioner,
    resource_quota,
    stateful_set,
    taint_eviction,
    user,
    zonal_upgrade,
)
from ..controllers.protection import CLAIM_PROTECTION, VOLUME_PROTECTION
from ..controllers.replica_set import REPLICA_SETS, REPLICATION_CONTROLLERS
from ..scheduler.columns.hypothetical_snapshot import KeptSnapshot
from ..scheduler.columns.snapshot import Snapshot
from ..scheduler.framework.extension_points import VolumeDecider
from ..scheduler.framework.profile import Profile
from ..scheduler.loop import binding_flow
from ..scheduler.loop.assume_cache import KINDS, AssumeCache
from ..scheduler.loop.evictor import Evictor
from ..scheduler.loop.rollback_marker import RollbackMarker
from ..scheduler.loop.scheduling_cycle import SCHEDULER, SchedulingPass
from ..scheduler.loop.scheduling_queue import RECORDER, SchedulingQueue
from ..scheduler.plugins.volume_binding import VolumeBinding
from ..world.apiserver import ApiServer, key_of, uid_of
from ..world.component import Component
from ..world.simulation import Simulation
from ..world.view import Index, InformerCache, View
from .drivers import Drivers
from .settings import (
    API_SERVER,
    DIRECTIVES_GATE,
    GATES_OF,
    SCHEDULING_GATE,
    ZONAL_PHASES,
    RuleSettings,
    SettableRules,
)

# Admission plugins that are off: no component of the loop finds a new node ready and removes its taint.
DISABLED_ADMISSION = ("TaintNodesByCondition",)
# Each begins to watch once there is work for it.
OTHER_CONTROLLERS: tuple[Any, ...] = (  # modules, or values of one class
    deployment,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    daemon_set,
    job,
    ephemeral_volume,
    disruption,
    CLAIM_PROTECTION,
    VOLUME_PROTECTION,
    garbage_collector,
    node_lifecycle,
    taint_eviction,
    pod_garbage_collector,
    resource_quota,
)


Arrangement = Callable[[Iterable[Component]], Sequence[Component]]


def as_they_are(components: Iterable[Component]) -> Sequence[Component]:
    """Return the components unchanged."""
    return tuple(components)


@attrs.frozen(repr=False)
class Revision(SettableRules):
    """One set of rules for the whole loop.

    Args:
        called: the name without settings and plugins of one's own; `name` has them too.
        profile: the scheduler's plugins, ordered and weighted.
        flow: the acts after a node is chosen.
        binder: options of the PV controller.
        provisioning: options of provisioners, before a scenario's dials.
        evictor: how the scheduler evicts the victims of preemption.
        zone_labels: binding copies the node's zone to the pod and clears its nomination.
        pops_backoff: without active pods the scheduler tries one in back-off at once.
        stateful_sets: options of the StatefulSet controller.
        daemon_sets: options of the DaemonSet controller.
        nodes: options of the node lifecycle controller.
        controllers: the controllers of workloads, protection and garbage collection.
        protects_in_use: claims and volumes get the finalizer that protects them while they are in use.
        admission_plugins: plugins of the API server beyond Kubernetes' own.
        unknown_fields: fields of the documents that the API server does not know.
        relaxations: how the API server sees the old object of an update, to allow what validation forbids.
        event_series: sources whose Events are series (events.k8s.io): counted by object version, not by message.
        disabled: admission plugins of the API server that are off.
        gates_of: the feature gates that each process reads.
        webhooks: admission webhooks that the API server asks.
        offered: extended resources that the cluster's DeviceClasses offer.
        settings: level, gates, phase, rollback, index, weights and shape (see `matured`, `with_gates`, `in_phase`,
            `with_rollback`, `with_volume_index`, `with_weights`, `with_volume_binding_args`).
        plain: the rules to which the settings were applied; None: there are no settings.
        added: components beside those that every revision has.
        arrange: changes the components of a simulation: leaves some out, or gives them other actors.
        permissions: what each component may write (S0, Access Control).
        based_on: the rules on which a rejected design is based, in words; "": on `design`.
        own_plugins: the names of plugins of one's own.
    """

    called: str
    profile: Profile
    flow: binding_flow.Strategy
    binder: persistent_volume.PVControllerOptions
    provisioning: provisioner.ProvisionerOptions
    evictor: Evictor = Evictor(binding_flow.cancel_binding)
    zone_labels: bool = True
    pops_backoff: bool = True
    stateful_sets: stateful_set.StatefulSetOptions = stateful_set.StatefulSetOptions()
    daemon_sets: daemon_set.DaemonSetOptions = daemon_set.DaemonSetOptions()
    nodes: node_lifecycle.NodeLifecycleOptions = node_lifecycle.NodeLifecycleOptions()
    controllers: tuple[Any, ...] = OTHER_CONTROLLERS
    protects_in_use: bool = True
    admission_plugins: tuple[admission.AdmissionPlugin, ...] = ()
    unknown_fields: admission.UnknownFields = admission.UnknownFields()
    relaxations: tuple[Callable[[Any, Any], Any], ...] = ()
    event_series: tuple[str, ...] = (RECORDER,)
    disabled: tuple[str, ...] = DISABLED_ADMISSION
    gates_of: Mapping[str, tuple[str, ...]] = GATES_OF
    webhooks: tuple[admission.Webhook, ...] = ()
    offered: frozenset[str] = frozenset()
    settings: RuleSettings = RuleSettings()
    plain: Revision | None = attrs.field(default=None, repr=False)
    added: tuple[Component, ...] = ()
    arrange: Arrangement = as_they_are
    permissions: admission.Permissions = attrs.field(default=admission.PERMISSIONS, hash=False)
    based_on: str = ""
    own_plugins: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name in outputs, with all that was set: `design (alpha) + any`."""
        on = f" on {self.based_on}" if self.based_on else ""
        return f"{self.called}{on}{self.settings.in_name}{''.join(f' + {name}' for name in self.own_plugins)}"

    def __repr__(self) -> str:
        return f"rules {self.name}: {', '.join(each.plugin.name for each in self.profile.plugins)}"

    def with_plugin(self, plugin: Any, weight: int = 1) -> Revision:
        """Return these rules with a plugin added at the profile's end.

        >>> from kvolsched.scheduler.framework.custom_plugin import custom_plugin
        >>> from kvolsched import upstream
        >>> upstream().with_plugin(custom_plugin(lambda pod, node, seen: True, name="any")).name
        'upstream + any'
        """
        plain = self._plain()
        profile = plain.profile.with_plugin(plugin, weight)
        plain = attrs.evolve(plain, own_plugins=(*plain.own_plugins, plugin.name), profile=profile)
        return _apply(plain, self.settings)

    def with_offered(self, resources: frozenset[str]) -> Revision:
        """Return these rules for a cluster whose DeviceClasses offer resources, beside those that are offered already.

        DynamicResources allocates these, which is not modelled: NodeResourcesFit does not count them on nodes that have
        none, if the profile has that plugin.

        >>> from kvolsched import upstream
        >>> upstream().with_offered(frozenset()) == upstream()
        True
        """
        if resources <= self.offered:
            return self
        plain, offered = self._plain(), self.offered | resources
        profile = plain.profile
        if "DynamicResources" in {each.name for each in profile.plugins}:
            fit: Any = profile.plugin("NodeResourcesFit")
            profile = profile.replacing(attrs.evolve(fit, of_device_classes=offered))
        return _apply(attrs.evolve(plain, profile=profile, offered=offered), self.settings)

    def with_webhook(self, webhook: admission.Webhook) -> Revision:
        """Return these rules with an admission webhook; those of several are asked in the order of their names.

        Raises:
            ValueError: a webhook of this name is there already.

        >>> hook = admission.webhook("policy.example.com", ["pods"], ["create"], mutate=None, validate=lambda *_: True)
        >>> from kvolsched import upstream
        >>> [each.name for each in upstream().with_webhook(hook).webhooks]
        ['policy.example.com']
        """
        if any(each.name == webhook.name for each in self.webhooks):
            raise ValueError(f"webhook name: {webhook.name!r}: Duplicate value: give the second one another name")
        webhooks = tuple(sorted((*self.webhooks, webhook), key=lambda each: each.name))
        return _apply(attrs.evolve(self._plain(), webhooks=webhooks), self.settings)

    def _set(self, **changes: Any) -> Revision:
        return _apply(self._plain(), attrs.evolve(self.settings, **changes))

    def _plain(self) -> Revision:
        """Return these rules without settings.

        Raises:
            ValueError: somebody has changed the rules since, so that the settings cannot be separated from them.
        """
        if self.plain is None:
            return self
        if _apply(self.plain, self.settings) != self:
            raise ValueError(f"{self.name}: rules were changed after level, gates, phase or rollback; set those last")
        return self.plain

    def simulation(self, *, seed: int = 0, components: Mapping[str, Mapping[str, Any]] | None = None) -> Simulation:
        """Return a simulation with this revision's components, in the order of the lanes.

        Args:
            seed: decides ties and draws.
            components: dials of components by name; `kvolsched.dials()` lists them.

        Raises:
            UnknownName: a component has no such dial, or one has a wrong value; all of them. It is a ValueError.

        >>> from kvolsched import design
        >>> "kube-scheduler" in design().simulation().processes
        True
        """
        dials = dict(components or {})
        self._check_dials(dials)
        rules = attrs.evolve(self, flow=with_dials(SCHEDULER, self.flow, dials.get(SCHEDULER)))
        drivers = self.drivers(dials)
        drivers.check_instances()
        ordered = [
            user.component(),
            stateful_set.component(self._options(stateful_set.NAME, dials)),
            *self.others(dials),
            rules.scheduler(),
            persistent_volume.component(self._options(persistent_volume.NAME, dials)),
            *drivers.provisioners(drivers.names),
            kubelet.component(self._options(kubelet.NAME, dials), drivers.storages),
            *([zonal_upgrade.component()] if self.settings.phase == ZONAL_PHASES.index("converting") else []),
            *([self.autoscaler(dials[autoscaler.NAME])] if autoscaler.NAME in dials else []),
            *self.added,
        ]
        left_out = {name for name, dial in dials.items() if dial.get("absent")}
        arranged = [each for each in self.arrange(ordered) if each.name not in left_out]
        return Simulation(arranged, self.server(denied_by(dials)), seed)

    def others(self, dials: Mapping[str, Mapping[str, Any]] = EMPTY) -> Iterator[Component]:
        """Yield the controllers of workloads, nodes, protection and garbage collection.

        >>> from kvolsched import design
        >>> next(design().others()).name
        'deployment-controller'
        """
        for each in self.controllers:
            chosen = self._options(each.NAME, dials)
            yield each.component() if chosen == NO_DIALS else each.component(chosen)

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the components that have dials, by name, before their dials; "driver": of every driver.

        >>> from kvolsched import design
        >>> design().options["kubelet"].start_delay
        0.0
        """
        return {
            SCHEDULER: self.flow,
            persistent_volume.NAME: self.binder,
            "driver": self.provisioning,
            kubelet.NAME: self._kubelet(),
            stateful_set.NAME: self.stateful_sets,
            daemon_set.NAME: self.daemon_sets,
            node_lifecycle.NAME: self.nodes,
            taint_eviction.NAME: taint_eviction.TaintEvictionOptions(),
            autoscaler.NAME: autoscaler.AutoscalerOptions(),
        }

    def _options(self, name: str, dials: Mapping[str, Mapping[str, Any]]) -> Any:
        """Return the options of a component with its dials."""
        others = NOT_DRIVERS | {component.name for component in self.added}
        default = NO_DIALS if name in others else self.provisioning
        return with_dials(name, self.options.get(name, default), dials.get(name))

    def _check_dials(self, dials: Mapping[str, Mapping[str, Any]]) -> None:
        """Check the dials of all components, so that every fault is told at once."""
        faults = []
        for name in dials:
            try:
                self._options(name, dials)
            except ValueError as why:
                faults.append(str(why))
        if faults:
            raise WrongDials(faults)

    def server(self, denied: Mapping[str, Iterable[str]] = EMPTY) -> ApiServer:
        """Return an API server with this revision's admission and subresources.

        >>> from kvolsched import design
        >>> sorted(design().server().subresources)
        ['bind']
        """
        subresources = {"bind": admission.binding_subresource(zone_labels=self.zone_labels)}
        added = {plugin.name for plugin in self.admission_plugins}
        off = tuple(name for name in self.disabled if name not in added)
        off = off if self.zone_labels else (*off, "PodTopologyLabels")
        off = off if self.protects_in_use else (*off, "StorageObjectInUseProtection")
        more = (admission.ZONE_AFFINITY,) if self.settings.phase else ()
        gates = self.gates.get(API_SERVER, {})
        if not self.settings.is_on(API_SERVER, DIRECTIVES_GATE):
            more = (*more, admission.NO_GATED_UPDATES)
        more = (*more, *(plugin for plugin in self.admission_plugins if plugin.name not in self.disabled))
        disabled = admission.drop_disabled_fields(gate for gate, on in gates.items() if not on)
        more = (*self.unknown_fields.plugins, *disabled, *more)
        admit = admission.DEFAULT_ADMISSION.without(*off)
        admit = attrs.evolve(admit, plugins=(*admit.plugins, *more))
        relaxations = (*((admission.allow_volume_rollback,) if self.settings.rollback else ()),
                       *((self.unknown_fields.dropped_from,) if self.unknown_fields.drops else ()), *self.relaxations)
        admit = attrs.evolve(admit, relax=admission.chain_relaxations(*relaxations)) if relaxations else admit
        admit = attrs.evolve(admit, webhooks=self.webhooks)
        permit = admission.permissions_without(denied, self.permissions)
        compounds = {"evict": admission.evict}
        return ApiServer(admit, subresources, permit, WITH_GENERATIONS, self.event_series, admit.waiting_time,
                         compounds, admission.charge)  # fmt: skip

    def _kubelet(self) -> kubelet.KubeletOptions:
        reaches = self.settings.is_on(kubelet.NAME, SCHEDULING_GATE)
        nodes = {process.partition("/")[2]: process for process in self.gates if process.startswith(f"{kubelet.NAME}/")}
        own = Frozen({node: self.settings.is_on(process, SCHEDULING_GATE) for node, process in nodes.items()})
        return kubelet.KubeletOptions(reaches=reaches, reaches_on=own, marks_dirty=self.settings.rollback)

    def found(self, obj: Any, stored: admission.StoredObjects) -> Any:
        """Return a loaded object with defaults, without unknown fields; one without a uid gets what admission adds.

        >>> from kvolsched import example
        >>> claim = example("my-pvc").objects[0]
        >>> from kvolsched import design
        >>> claim.spec.volume_mode or "none", design().found(claim, {}).spec.volume_mode
        ('none', 'Filesystem')
        """
        obj = self.unknown_fields.dropped_from(obj)
        obj = admission.with_priority_of_class(obj, stored)
        obj = defaults.with_defaults(obj if obj.metadata.uid else admission.with_class_and_limits(obj, stored))
        if obj.kind == "Job" and obj.spec.selector is None:
            obj = defaults.with_generated_selector(obj, obj.metadata.uid or uid_of(key_of(obj), 0))
        by_hand = self.protects_in_use and not obj.metadata.uid and obj.kind in admission.PROTECTION_FINALIZERS
        return admission.with_protection_finalizer(obj) if by_hand else obj

    def scheduler(self) -> Component:
        """Return kube-scheduler: scheduling pass, bind worker and evictor with their cache and queue.

        >>> from kvolsched import design
        >>> [actor.name for actor in design().scheduler().actors]
        ['scheduling pass', 'bind worker', 'preemption']
        """
        respects_gates = self.settings.is_on(SCHEDULER, DIRECTIVES_GATE)
        evicting = (self.evictor,) if self.profile.preempts else ()
        judging = SchedulingPass(self.profile, self.flow, self.pops_backoff, respects_gates, *evicting)
        rolling = (RollbackMarker(),) if self.settings.rollback else ()
        actors = (judging, binding_flow.BindWorker(self.flow, self.profile), *evicting, *rolling)

        kept = KeptSnapshot()

        def views(_seen: InformerCache) -> Mapping[str, View]:
            return {
                "cache": AssumeCache(Snapshot(), self.flow.volume_rule, kept),
                "queue": SchedulingQueue(),
                "users": Index("Pod", binding_flow.pod_claims),
                "naming": Index("PersistentVolumeClaim", binding_flow.named_volume),
            }

        return Component(SCHEDULER, (*KINDS, *self.profile.watches), actors, views, shared=kept)

    def autoscaler(self, dials: Mapping[str, Any]) -> Component:
        """Return the cluster autoscaler with its node groups and flags; it judges with the scheduler's plugins.

        >>> from kvolsched import upstream
        >>> upstream().autoscaler({"groups": []}).name
        'cluster-autoscaler'
        """
        return autoscaler.component(self._options(autoscaler.NAME, {autoscaler.NAME: dials}), self.profile)

    def drivers(self, dials: Mapping[str, Mapping[str, Any]]) -> Drivers:
        """Return the drivers of a cluster with these dials of components.

        >>> from kvolsched import design
        >>> design().drivers({"pd.csi": {"delay": 2.0}}).names
        ['pd.csi']
        """
        others = NOT_DRIVERS | {component.name for component in self.added}
        return Drivers(dials, self.provisioning, self.settings.driver, others)


def _apply(plain: Revision, settings: RuleSettings) -> Revision:
    """Return plain rules under settings."""
    if settings == RuleSettings():
        return plain
    flow = settings.flow(plain.flow)
    return attrs.evolve(
        plain,
        profile=settings.profile(plain.profile, flow.volume_binding),
        flow=flow,
        binder=settings.binder(plain.binder),
        provisioning=settings.provisioning(plain.provisioning),
        settings=settings,
        plain=plain,
    )


def offered_by(objects: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the extended resources that the DeviceClasses among these objects offer, which are plain data.

    >>> sorted(offered_by([{"kind": "DeviceClass", "metadata": {"name": "gpus"}, "spec": None}]))
    ['deviceclass.resource.kubernetes.io/gpus']
    """
    classes = [each for each in objects if each.get("kind") == "DeviceClass"]
    named = (str((each.get("spec") or EMPTY).get("extendedResourceName", "")) for each in classes)
    implicit = (f"deviceclass.resource.kubernetes.io/{each['metadata']['name']}" for each in classes)
    return frozenset(filter(None, (*named, *implicit)))


def denied_by(dials: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Iterable[str]]:
    """Return the permissions that dials take away, by component."""
    return {name: dial["denied"] for name, dial in dials.items() if "denied" in dial}


NOT_DRIVERS = frozenset({
    "user",
    autoscaler.NAME,
    SCHEDULER,
    persistent_volume.NAME,
    kubelet.NAME,
    stateful_set.NAME,
    *(controller.NAME for controller in OTHER_CONTROLLERS),
})
WITH_GENERATIONS = (
    "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "PodDisruptionBudget"
)  # fmt: skip


def volume_binding_of(profile: Profile) -> VolumeBinding:
    """Return the plugin of a profile that decides volumes."""
    found = profile.extending(VolumeDecider)
    assert isinstance(found, VolumeBinding)
    return found
