"""Who binds, if the scheduler does not: four designs that S0 rejects. In all of them a pod is placed first.

The flows of their schedulers write nothing for volumes.
"""

import attrs

from ...api.kinds.node import HOSTNAME_LABEL, Node
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolume
from ...api.volumes import volume_fits_node
from ...controllers import kubelet, persistent_volume
from ...scheduler.loop.assume_cache import AssumeCache
from ...scheduler.loop.binding_flow import TwoPasses, assume_and_bind, assume_cache
from ...scheduler.loop.scheduling_cycle import handle_failure
from ...scheduler.loop.volume_binder import CannotAssume, FoundVolumes, assume_pod_volumes
from ...world.component import Component, TurnContext
from ..named import revision_named
from ..revision import Revision
from . import pod_binder
from .building import Rearranged, based_on
from .pod_binder import PodBinder

LATE_BINDER, KUBELET_VOLUMES = "late-binder", "kubelet volumes"


def place_first(base: str | Revision = "design") -> Revision:
    """Return rules in which the scheduler does not ask about volumes, and a binder binds for the placed pod.

    Schedulers stay as they were, custom ones too. S0 (Keep all PVC binding in the PV controller) keeps a predicate all
    the same: without one the node is chosen for its cpu, and a pod lands where no volume of its can be reached. It
    stays there for ever, since nobody places a pod twice.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("disk-on-the-small-node", "place_first")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pod/app"].spec.node_name, c["pod/app"].status.phase
    ('big', 'Pending')
    """
    rules = revision_named(base)
    return based_on(
        rules, "place_first", profile=rules.profile.without("VolumeBinding", "VolumeZone"),
        flow=placing(rules, PlaceBlindly), added=(_late_binder(rules),)
    )


def late_binder(base: str | Revision = "design") -> Revision:
    """Return rules in which the scheduler remembers the volumes it found, and a process of its own binds them later.

    Pods that bypass the scheduler get their volumes too. S0 (Keep all PVC binding in the PV controller) rejects it: two
    processes decide about the same volumes, each by its own cache. The binder may take another volume than the
    scheduler remembers; then the scheduler's choice is held for nobody, and further decisions build on it. A restart of
    the scheduler forgets every choice.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> run = scenario("a-disk-on-each-node", "late_binder").run()
    >>> [step.words for step in run if step.actor == "late-binder"][0]
    'late-binder reserves pv/disk-1 for pvc/one: claimRef.'
    """
    rules = revision_named(base)
    return based_on(rules, "late_binder", flow=placing(rules, PlaceFirst), added=(_late_binder(rules),))


def bind_in_pv_controller(base: str | Revision = "design") -> Revision:
    """Return rules in which the PV controller binds, once a pod has its node.

    Nothing is added to the control plane. S0 (Keep all PVC binding in the PV controller) rejects it: the controller
    must watch pods and sync by pod, for several claims at once; scheduler and controller may choose different volumes;
    and predicates that need bound claims, such as the one for volumes whose zone is in their labels, are never asked
    again after the claims are bound.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("zone-in-a-label", "bind_in_pv_controller")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pod/app"].spec.node_name, c["pv/disk"].metadata.labels
    ('node-b', {'topology.kubernetes.io/zone': 'a'})
    """
    rules = revision_named(base)
    binder = PodBinder("persistentvolume pods", "PV controller", rules.flow.options)
    more = Rearranged(persistent_volume.NAME, pod_binder.WATCHES, (binder.routine(),), pod_binder.views)
    return based_on(rules, "bind_in_pv_controller", flow=placing(rules, PlaceFirst), arrange=more)


def bind_in_kubelet(base: str | Revision = "design") -> Revision:
    """Return rules in which the kubelet of a pod's node binds: S0's thought of a scheduler within each node.

    It takes a volume next to the pod's other resources: one of its node before one of its zone. S0 (Move PVC binding to
    kubelet) rejects it: a kubelet must read unbound volumes, those of its node if they are local, and every one of the
    zone if they are zonal (see `alternatives.readable_volumes`). It also chooses by its own preference, so it may take
    another volume than the one for which the scheduler sent the pod.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("own-disk-first", "bind_in_kubelet")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pvc/data-db-0"].spec.volume_name, c["pod/db-1"].spec.node_name
    ('local-disk-2', '')
    """
    rules = revision_named(base)
    binder = PodBinder(KUBELET_VOLUMES, "Kubelet", rules.flow.options, kubelet_reads, own_node_first)
    more = Rearranged(kubelet.NAME, pod_binder.WATCHES, (binder.routine(),), pod_binder.views)
    return based_on(rules, "bind_in_kubelet", flow=placing(rules, PlaceFirst), arrange=more)


def kubelet_reads(volume: PersistentVolume, node: Node) -> bool:
    """Say whether the kubelet of a node must read a volume to bind it: it is reachable from there."""
    return volume_fits_node(volume, node)


def own_node_first(volume: PersistentVolume, node: Node) -> int:
    """Prefer the volumes that only this node reaches."""
    elsewhere = attrs.evolve(node, metadata=attrs.evolve(
        node.metadata, labels=node.metadata.labels.with_(**{HOSTNAME_LABEL: ""})))
    return int(volume_fits_node(volume, elsewhere))


def _late_binder(rules: Revision) -> Component:
    binder = PodBinder(LATE_BINDER, LATE_BINDER, rules.flow.options)
    return Component(LATE_BINDER, pod_binder.WATCHES, (binder.routine(),), pod_binder.views)


@attrs.frozen
class PlaceBlindly(TwoPasses):
    """Places a pod as if it had no volumes: a scheduler from before the feature."""

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Look for nothing."""
        return FoundVolumes()

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the pod alone, and bind it to its node."""
        return f"{assume_and_bind(ctx, name, pod, node)} It looks at no volume."


@attrs.frozen
class PlaceFirst(TwoPasses):
    """Places a pod where volumes were found for it, and remembers them; somebody else binds them later."""

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the volumes, in memory only, then assume the pod and bind it to its node."""
        try:
            chosen = assume_pod_volumes(ctx, assume_cache(ctx), found, node, self.options, writes_all=True)
        except CannotAssume as why:
            handle_failure(ctx, name, pod, f"AssumePodVolumes failed: {why}", reason="SchedulerError")
            return f"It cannot assume the volumes: {why}."
        words = assume_and_bind(ctx, name, pod, node)
        remembered = ", ".join(write.subject for write in chosen)
        return f"{words} It remembers {remembered}, and writes nothing for them." if remembered else words


def placing(rules: Revision, flow: type[TwoPasses]) -> TwoPasses:
    """Return a flow with the volume rules of a revision."""
    old = rules.flow
    same = {"volume_rule": old.volume_rule, "errors_are_verdicts": old.errors_are_verdicts}
    return flow(old.volume_binding, old.options, **same)  # type: ignore[arg-type]
