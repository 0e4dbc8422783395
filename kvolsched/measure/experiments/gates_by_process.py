"""Feature gates process by process: what every combination does with a disk that exists and with one to be made.

S0 has two gates: VolumeScheduling in scheduler, controller manager and kubelets, DynamicProvisioningScheduling in
scheduler and controller manager. Every row is run, and compared with what S0 says of its gates (Feature Gates, PV
Controller Changes, HA Master Upgrades).
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import attrs

from kvolsched.api.notebook_output import NumberedRows, PrintedAnswer, table_text

from ...api import make
from ...api.unknown_name import unknown_name
from ...api.volumes import volume_fits_node
from ...cluster import Cluster
from ...controllers.provisioner.new_volume import domain_of
from ...rules.named import revision_named
from ...rules.revision import Revision

SCHEDULER, MANAGER, KUBELET = "kube-scheduler", "kube-controller-manager", "kubelet"
SCHEDULING, PROVISIONING = "VolumeScheduling", "DynamicProvisioningScheduling"
PROVISIONERS = {"in-tree": "kubernetes.io/gce-pd", "external": "disks.example.com"}
IN_ZONE_A: dict[str, Any] = {"nodeSelector": {make.ZONE: "a"}}
# A driver that is told nothing puts the volume of a claim of this name into zone b.
CLAIM, CLASS = "data-0", "waiting"


@attrs.frozen
class GateOutcomes:
    """What became of claims and pods.

    A disk that exists, or one to be made: when its claim is bound (before the pod is there, for the pod, never), and
    what the pod does: it runs, gets no node, is not mounted, or runs on a node that does not reach its disk.

    Args:
        existing: a disk that exists; the pod may run anywhere.
        existing_zone_a: the same, and the pod must run in zone a, while the smallest disk lies in zone b.
        made: a disk to be made; the pod may run anywhere.
        made_zone_a: the same, and the pod must run in zone a.
        allowed: the zone of a disk to be made if the class allows zone a only; "" if none is made.
    """

    existing: str
    existing_zone_a: str
    made: str
    made_zone_a: str
    allowed: str


@attrs.frozen(kw_only=True)
class GateRow:
    """One combination of gates with a kind of provisioner: what happened, and what S0 says would.

    Args:
        scheduler, manager: (VolumeScheduling, DynamicProvisioningScheduling) of the process.
        kubelets: VolumeScheduling of the kubelets.
        provisioner: "in-tree" or "external".
        found: what happened in the runs.
        documented: what follows from S0's sentences.
        words: S0's sentence about these gates.
    """

    scheduler: tuple[bool, bool]
    manager: tuple[bool, bool]
    kubelets: bool
    provisioner: str
    found: GateOutcomes
    documented: GateOutcomes
    words: str

    @property
    def agrees(self) -> bool:
        """Whether the runs did what S0 says."""
        return self.found == self.documented


@attrs.frozen(repr=False)
class GateTable(NumberedRows[GateRow], PrintedAnswer):
    """The rows of every combination; its text is a table."""

    revision: str
    rows: tuple[GateRow, ...]

    @property
    def agrees(self) -> bool:
        """Whether every row did what S0 says."""
        return all(row.agrees for row in self.rows)

    def __repr__(self) -> str:
        head = ("scheduler", "manager", "kubelets", "provisioner", "disk exists", "pod in zone a", "disk is made",
                "pod in zone a", "allowed: a", "as S0 says")
        table, switch = [head], {True: "on", False: "off"}
        for row in self.rows:
            gated = (" ".join(switch[on] for on in each) for each in (row.scheduler, row.manager, (row.kubelets,)))
            found = attrs.astuple(attrs.evolve(row.found, allowed=row.found.allowed or "-"))
            table.append((*gated, row.provisioner, *found, "yes" if row.agrees else "NO"))
        agreeing = sum(row.agrees for row in self.rows)
        title = f"Gates by process, rules {self.revision}: {agreeing} of {len(self.rows)} combinations as S0 says"
        gates = f"scheduler, manager: {SCHEDULING}, {PROVISIONING}; kubelets: {SCHEDULING}"
        return "\n".join([title, gates, *table_text(table)])


def gates(revision: str | Revision = "design", provisioners: Sequence[str] = ("in-tree", "external")) -> GateTable:
    """Run every combination of S0's gates in scheduler, manager and kubelets, with both kinds of provisioner.

    >>> table = gates(provisioners=["external"])
    >>> len(table), table.agrees
    (32, True)

    Args:
        revision: the rules, `design` or `upstream`; S1's `draft` has only one of the gates.
        provisioners: "in-tree" (inside the controller manager), "external", or both.

    Raises:
        ValueError: there is no such kind of provisioner, or the rules do not have these gates.
    """
    unknown = [name for name in provisioners if name not in PROVISIONERS]
    if unknown:
        raise unknown_name(f"kind of provisioner {', '.join(unknown)}", unknown[0], PROVISIONERS)
    rules, rows = revision_named(revision), []
    # A controller that knows no pod prefers the smaller disk, in zone b.
    disks = [make.volume(f"disk-{zone}", size, CLASS, zone=zone) for zone, size in (("a", "20Gi"), ("b", "10Gi"))]
    pairs = [(on, told) for on in (True, False) for told in (True, False)]
    for scheduler, manager, kubelets in product(pairs, pairs, (True, False)):
        by_process = {process: {SCHEDULING: on, PROVISIONING: told}
                      for process, (on, told) in ((SCHEDULER, scheduler), (MANAGER, manager))}
        gated = rules.with_gates({**by_process, KUBELET: {SCHEDULING: kubelets}})
        local = make.storage_class(CLASS, make.LOCAL)
        existing = {zone: _run(gated, local, disks, zone_a=zone) for zone in (False, True)}
        for provisioner in provisioners:
            name = PROVISIONERS[provisioner]
            plain, in_a = (make.storage_class(CLASS, name, allowed=each) for each in (None, [{make.ZONE: ["a"]}]))
            made = partial(_run, gated, disks=[])
            found = GateOutcomes(
                existing=_outcome(existing[False]), existing_zone_a=_outcome(existing[True]),
                made=_outcome(made(plain, zone_a=False)),
                made_zone_a=_outcome(made(plain, zone_a=True)),
                allowed=next((str(volume.metadata.labels.get(make.ZONE) or domain_of(volume))
                              for volume in made(in_a, zone_a=False)[0].objects("pv")), ""),
            )
            inside = provisioner == "in-tree" and rules.provisioning.plays_in_tree
            rows.append(GateRow(
                scheduler=scheduler, manager=manager, kubelets=kubelets, provisioner=provisioner, found=found,
                documented=_documented(scheduler, manager, kubelets=kubelets, inside=inside),
                words=_words(scheduler, manager),
            ))
    return GateTable(rules.name, tuple(rows))


def _documented(
    scheduler: tuple[bool, bool], manager: tuple[bool, bool], *, kubelets: bool, inside: bool
) -> GateOutcomes:
    """Return what S0 says of a combination; `inside`: the provisioner reads the manager's gates."""
    never, late = "never, no node", "for the pod, runs"
    if manager[0]:  # the controller delays, and waits for a scheduler that prebinds and selects a node
        existing = late if scheduler[0] else never
        made = late if scheduler[0] and scheduler[1] and manager[1] else never
        return GateOutcomes(existing, existing, made, made, "a" if made == late else "")
    found = "before, runs", "before, no node"  # bound early; the scheduler goes where the disk is, if the pod may
    unseen = "before, not mounted" if kubelets else "before, runs out of reach"  # nobody looks at affinity but kubelets
    blind = unseen, unseen
    told = manager[1] or not inside
    # The zone of a new in-tree disk is in its labels, as ever, and VolumeZone reads them.
    of_existing, of_made = (found if scheduler[0] else blind), (found if scheduler[0] or inside else blind)
    return GateOutcomes(*of_existing, *of_made, "a" if told else "b")


def _words(scheduler: tuple[bool, bool], manager: tuple[bool, bool]) -> str:
    """Return what S0 says of these gates, in short."""
    if not manager[0] and scheduler[0]:
        return "the scheduler is newer: binding is not delayed, claims are bound before they come to the scheduler"
    if not manager[0]:
        return "off: claims are bound at once, and nobody looks at a volume's node affinity"
    if not scheduler[0]:
        return "the controller is newer: binding is delayed, and the scheduler has no logic to choose and prebind"
    if scheduler[1] and manager[1]:
        return "on: binding and provisioning wait for a pod, and follow the selected node"
    return "binding waits for a pod; nothing is made for a selected node"


def _run(rules: Revision, storage_class: Any, disks: list[Any], *, zone_a: bool) -> tuple[Cluster, bool]:
    """Run a claim, then its pod; return the cluster and whether the claim was bound before the pod was there."""
    there = [make.node("a1", "a"), make.node("b1", "b"), make.pod("busy", cpu="2", node_name="b1"),
             make.claim(CLAIM, storage_class=CLASS)]  # fmt: skip
    c = Cluster.from_manifests([*there, storage_class, *disks], revision=rules)
    c.run(seconds=60)
    early = c[f"pvc/{CLAIM}"].status.phase == "Bound"
    c.apply(make.pod("app", CLAIM, **(IN_ZONE_A if zone_a else {})))
    c.run("pod/app Running", seconds=60)
    return c, early


def _outcome(run: tuple[Cluster, bool]) -> str:
    """Say when the claim was bound, and what became of the pod."""
    c, early = run
    claim, pod = c[f"pvc/{CLAIM}"], c["pod/app"]
    bound = "before" if early else "for the pod" if claim.status.phase == "Bound" else "never"
    if not pod.spec.node_name:
        return f"{bound}, no node"
    if pod.status.phase != "Running":
        return f"{bound}, not mounted"
    reached = volume_fits_node(c[f"pv/{claim.spec.volume_name}"], c[f"node/{pod.spec.node_name}"])
    return f"{bound}, {'runs' if reached else 'runs out of reach'}"
