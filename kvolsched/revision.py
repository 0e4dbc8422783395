"""Revisions: the same loop under other rules. A revision is a value, made as a delta of another.

`upstream` is Kubernetes v1.36.2; `design` is the documents' workflow, and 1.11 and 1.16 where they are silent. What
differs lies in the profile's options, in one flow, and in the controllers' options; nobody asks for a revision's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from . import admission, volumes
from .api.meta import freeze
from .api.storage import NO_PROVISIONER
from .controllers import kubelet, persistent_volume, provisioner, stateful_set, user
from .scheduler import profile as profiles
from .scheduler.assume import KINDS, AssumeCache
from .scheduler.cycle import SCHEDULER, SchedulingPass
from .scheduler.flow import BindWorker, Strategy, TwoPasses, WaitInPreBind
from .scheduler.plugins.volume_binding import VolumeBinding
from .scheduler.profile import Profile
from .scheduler.queue import SchedulingQueue
from .scheduler.snapshot import Snapshot
from .world.apiserver import ApiServer
from .world.component import Component
from .world.simulation import Simulation
from .world.view import Seen, View


@attrs.frozen
class Revision:
    """One set of rules for the whole loop.

    Args:
        name: what outputs call it.
        profile: the scheduler's plugins, ordered and weighted.
        flow: what happens once a node is chosen.
        binder: options of the PV controller.
        provisioning: options of provisioners, before a scenario's dials.
        zone_labels: binding copies the node's zone to the pod and clears its nomination.
        pops_backoff: with no active pod, one in back-off is tried at once.
        fine: a scheduling pass is two turns, so that others may act between its choice and what it assumes.
    """

    name: str
    profile: Profile
    flow: Strategy
    binder: persistent_volume.Options
    provisioning: provisioner.Options
    zone_labels: bool = True
    pops_backoff: bool = True
    fine: bool = False

    def simulation(self, *, seed: int = 0, components: Mapping[str, Mapping[str, Any]] | None = None) -> Simulation:
        """Return a world with this revision's components, in the order of the lanes."""
        dials = dict(components or {})
        made = [
            user.component(),
            stateful_set.component(),
            self.scheduler(),
            persistent_volume.component(self.binder),
            *self.provisioners([name for name in dials if name not in NOT_DRIVERS], dials),
            kubelet.component(),
        ]
        left_out = {name for name, dial in dials.items() if dial.get("absent")}
        return Simulation([each for each in made if each.name not in left_out], self.server(), seed)

    def server(self) -> ApiServer:
        """Return an API server with this revision's admission and subresources."""
        return ApiServer(admission.admit, {"bind": admission.bind(zone_labels=self.zone_labels)}, admission.permit)

    def scheduler(self) -> Component:
        """Return kube-scheduler: the scheduling pass, the bind worker beside it, their cache and queue."""
        judging = SchedulingPass(self.profile, self.flow, self.pops_backoff, self.fine)
        actors = (judging, BindWorker(self.flow, self.profile))

        def views(_seen: Seen) -> Mapping[str, View]:
            return {"cache": AssumeCache(Snapshot(), self.flow.volume_rule), "queue": SchedulingQueue()}

        return Component(SCHEDULER, KINDS, actors, views)

    def provisioners(self, names: Iterable[str], dials: Mapping[str, Mapping[str, Any]]) -> Sequence[Component]:
        """Return a provisioner component for each of these driver names, with the dials set for it."""
        wanted = sorted(set(names) - {NO_PROVISIONER, ""})
        return [provisioner.component(name, self._dialled(dials.get(name, {}))) for name in wanted]

    def _dialled(self, dials: Mapping[str, Any]) -> provisioner.Options:
        """Return a driver's options: the revision's, and the scenario's dials over them."""
        told = {word: freeze(value) for word, value in dials.items() if word not in ("absent", "kind")}
        if "kind" in dials:
            told.setdefault("topology_keys", TOPOLOGY_KEYS[dials["kind"]])
        if "fails" in told:
            told["fails"] = tuple(provisioner.Failure(**failure) for failure in told["fails"])
        return attrs.evolve(self.provisioning, **told)


TOPOLOGY_KEYS = {"zonal": ("topology.kubernetes.io/zone",), "local": ("kubernetes.io/hostname",)}
NOT_DRIVERS = frozenset({"user", SCHEDULER, persistent_volume.NAME, kubelet.NAME, stateful_set.NAME})


def upstream() -> Revision:
    """Return the rules of Kubernetes v1.36.2."""
    profile = profiles.upstream()
    return Revision(
        name="upstream",
        profile=profile,
        flow=WaitInPreBind(_binder(profile), volumes.UPSTREAM),
        binder=persistent_volume.UPSTREAM,
        provisioning=provisioner.UPSTREAM,
    )


def design() -> Revision:
    """Return the rules of the design documents, and of 1.11 and 1.16 where they are silent."""
    profile = profiles.design()
    return Revision(
        name="design",
        profile=profile,
        flow=TwoPasses(_binder(profile), volumes.DESIGN),
        binder=persistent_volume.DESIGN,
        provisioning=provisioner.DESIGN,
        zone_labels=False,
        pops_backoff=False,
    )


def _binder(profile: Profile) -> VolumeBinding:
    found = profile.plugin("VolumeBinding")
    assert isinstance(found, VolumeBinding)  # noqa: S101 - every profile has it
    return found


REVISIONS = {"upstream": upstream, "design": design}


def revision_named(revision: str | Revision) -> Revision:
    """Return a revision by name, or the given one.

    Raises:
        KeyError: there is none of this name; the message lists the names.
    """
    if isinstance(revision, Revision):
        return revision
    if revision not in REVISIONS:
        raise KeyError(f"no revision is called {revision!r}; there are: {', '.join(REVISIONS)}")
    return REVISIONS[revision]()
