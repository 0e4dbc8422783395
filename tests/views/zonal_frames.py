"""The zonal example step by step, as plausible frames: the exact writes come from the engine."""

from __future__ import annotations

from attrs import evolve

from kvolsched.views import frame as f

from . import plain

GI = 1 << 30

PLUGINS = (
    f.PluginHead("NodeUnschedulable", "U", "node"),
    f.PluginHead("TaintToleration", "T", "node"),
    f.PluginHead("NodeAffinity", "A", "node"),
    f.PluginHead("NodePorts", "P", "node"),
    f.PluginHead("NodeResourcesFit", "F", "resources"),
    f.PluginHead("VolumeRestrictions", "R", "storage"),
    f.PluginHead("NodeVolumeLimits", "L", "storage"),
    f.PluginHead("VolumeBinding", "V", "storage"),
    f.PluginHead("VolumeZone", "Z", "storage"),
    f.PluginHead("PodTopologySpread", "S", "spread"),
)

LANES = (
    ("user", "user", "user"),
    ("statefulset", "kube-controller-manager", "StatefulSet controller"),
    ("scheduler", "kube-scheduler", "scheduler · pass"),
    ("binder", "kube-scheduler", "scheduler · bind worker"),
    ("pv", "kube-controller-manager", "PV controller"),
    ("provisioner", "pd.csi", "provisioner pd.csi"),
    ("kubelets", "kubelet", "kubelets"),
)

# step -> (actor, mark kind, verb, ref, seconds, sentence)
ZONAL_STEPS = (
    ("", "", "", "", 0.0, "Three nodes in three zones, one class, nothing to place yet."),
    ("user", "write", "create", "sts/web", 0.0, "The user creates the StatefulSet web."),
    (
        "statefulset",
        "write",
        "create",
        "pvc/data-web-0",
        0.1,
        "The StatefulSet controller creates the claim data-web-0.",
    ),
    ("statefulset", "write", "create", "pod/web-0", 0.1, "The StatefulSet controller creates the pod web-0."),
    (
        "pv",
        "write",
        "event",
        "pvc/data-web-0",
        0.2,
        "PV controller leaves data-web-0 unbound: its class waits for the first consumer.",
    ),
    (
        "scheduler",
        "note",
        "pass",
        "pod/web-0",
        0.2,
        "Pass 1: only 1 of 3 nodes fits web-0. node-a is chosen; the claim is assumed there, the pod is not.",
    ),
    (
        "binder",
        "write",
        "patch",
        "pvc/data-web-0",
        0.3,
        "Bind worker annotates data-web-0 with selected-node=node-a.",
    ),
    (
        "provisioner",
        "note",
        "CreateVolume",
        "pvc/data-web-0",
        0.4,
        "Provisioner asks the driver for 100Gi in zone us-central1-a.",
    ),
    (
        "provisioner",
        "write",
        "create",
        "pv/volume-1",
        1.4,
        "Provisioner creates volume-1, already reserved for data-web-0: half of the binding.",
    ),
    (
        "pv",
        "write",
        "update",
        "pvc/data-web-0",
        1.4,
        "PV controller sets volumeName=volume-1 on data-web-0: the other half.",
    ),
    ("pv", "write", "status", "pv/volume-1", 1.4, "PV controller sets volume-1 to Bound."),
    ("pv", "write", "status", "pvc/data-web-0", 1.5, "PV controller sets data-web-0 to Bound."),
    (
        "scheduler",
        "note",
        "pass",
        "pod/web-0",
        1.6,
        "Pass 2: every claim is bound, so the pod itself is assumed on node-a.",
    ),
    ("binder", "write", "bind", "pod/web-0", 1.7, "Bind worker binds web-0 to node-a."),
    (
        "kubelets",
        "write",
        "status",
        "pod/web-0",
        2.9,
        "Kubelet of node-a mounts volume-1 (its node affinity fits) and starts web-0.",
    ),
)

_NEXT_WORDS = {
    "user": "delete pod/web-0",
    "statefulset": "create pod/web-0",
    "scheduler": "judge web-0 on 3 nodes",
    "binder": "annotate pvc/data-web-0 selected-node=node-a",
    "pv": "set volumeName=volume-1 on pvc/data-web-0",
    "provisioner": "create pv/volume-1",
    "kubelets": "start web-0 on node-a",
}

_SEEN_LAG = {"statefulset": 3, "scheduler": 2, "binder": 1, "pv": 1, "provisioner": 1, "kubelets": 3}


def zonal(step: int) -> f.Frame:
    """Return the frame of the zonal example after `step` of 14 steps."""
    pod, claim = "pod/web-0", "pvc/data-web-0"
    actor, _, _, _, time, sentence = ZONAL_STEPS[step]
    labels = {key: label for key, _, label in LANES}
    changes = _zonal_changes(step)
    head = plain.Head(
        scenario="zonal-example",
        revision="design",
        step=step,
        steps_known=14,
        time=time,
        actor=labels.get(actor, ""),
        actor_id=actor,
        sentence=sentence,
        hot=tuple(sorted({c.ref for c in changes} | ({"node/node-a"} if step in (5, 12) else set()))),
        focus=pod if step >= 3 else "",
    )
    return f.Frame(
        head=head,
        next=_zonal_next(step),
        nodes=_zonal_nodes(step),
        pods=_zonal_pods(step, pod, claim),
        claims=_zonal_claims(step, pod, claim),
        volumes=_zonal_volumes(step, claim),
        classes=(f.ClassRow("sc/zonal-class", "zonal-class", "WaitForFirstConsumer", "zones a, b", "pd.csi"),),
        verdicts=zonal_verdicts(step),
        changes=changes,
        events=_zonal_events(step),
        lanes=_zonal_lanes(step),
        skew=skew_ledgers() if step >= 5 else (),
        capacity=capacity_ledgers() if step >= 5 else (),
    )


def zonal_run() -> tuple[f.Frame, ...]:
    """Return all fifteen frames of the zonal example."""
    return tuple(zonal(step) for step in range(len(ZONAL_STEPS)))


def _zonal_next(step: int) -> tuple[f.NextActor, ...]:
    if step == 14:
        return ()
    labels = {key: (component, label) for key, component, label in LANES}
    default = ZONAL_STEPS[step + 1][0]
    others = [key for key in ("pv", "user") if key != default]
    rows = []
    for key in (default, *others):
        component, label = labels[key]
        idle = key == "pv" and key != default
        words = "resync, changes nothing" if idle else _NEXT_WORDS[key]
        rows.append(f.NextActor(key, label, component, words, default=key == default, changes_nothing=idle))
    return tuple(rows)


def _zonal_nodes(step: int) -> tuple[f.NodeRow, ...]:
    last_reason = (
        "had volume node affinity conflict" if step >= 12 else "didn't find available persistent volumes to bind"
    )
    judged = {
        "node-a": ("chosen", -1, "", True),
        "node-b": ("rejected", 4, "Insufficient cpu", True),
        "node-c": ("rejected", 7, f"node(s) {last_reason}", False),
    }
    placed = step >= 13
    rows = []
    for name, cpu, mem in (
        ("node-a", 1200 + 500 * placed, 3 + 2 * placed),
        ("node-b", 3800, 12),
        ("node-c", 600, 2),
    ):
        verdict, first, reason, resolvable = judged[name] if step >= 5 else ("not judged", -1, "", True)
        rows.append(
            plain.NodeRow(
                f"node/{name}",
                name,
                (("topology.kubernetes.io/zone", f"us-central1-{name[-1]}"),),
                cpu,
                4000,
                mem * GI,
                16 * GI,
                1 + (name == "node-b") + (placed and name == "node-a"),
                verdict=verdict,
                first=first,
                reason=reason,
                resolvable=resolvable,
                score=87 if verdict == "chosen" else -1,
            )
        )
    return tuple(rows)


def _zonal_pods(step: int, pod: str, claim: str) -> tuple[f.PodRow, ...]:
    others = [
        plain.PodRow(f"pod/{name}", name, node=node, state="running", cpu=600, memory=2 * GI)
        for name, node in (
            ("api-0", "node-a"),
            ("api-1", "node-c"),
            ("batch-7", "node-b"),
            ("batch-9", "node-b"),
        )
    ]
    if step < 3:
        return tuple(others)
    state = "running" if step >= 14 else "bound" if step >= 13 else "assumed" if step == 12 else "pending"
    queue = ("binding" if step == 12 else "waiting for volumes" if 5 <= step < 11 else "active") if step < 13 else ""
    web = plain.PodRow(
        pod,
        "web-0",
        node="node-a" if step >= 13 else "",
        assumed_node="node-a" if step == 12 else "",
        state=state,
        in_focus=True,
        claims=(claim,),
        cpu=500,
        memory=2 * GI,
        queue=queue,
    )
    return (*others, web)


def _zonal_claims(step: int, pod: str, claim: str) -> tuple[f.ClaimRow, ...]:
    if step < 2:
        return ()
    state = (
        "bound"
        if step >= 9
        else "selected node"
        if step >= 6
        else "assumed"
        if step >= 5
        else "waits for first consumer"
        if step >= 4
        else "pending"
    )
    return (
        plain.ClaimRow(
            claim,
            "data-web-0",
            "zonal-class",
            "WaitForFirstConsumer",
            "100Gi",
            state,
            selected_node="node-a" if step >= 6 else "",
            assumed_node="node-a" if step == 5 else "",
            volume="volume-1" if step >= 9 else "",
            pods=(pod,) if step >= 3 else (),
        ),
    )


def _zonal_volumes(step: int, claim: str) -> tuple[f.VolumeRow, ...]:
    if step < 8:
        return ()
    return (
        plain.VolumeRow(
            "pv/volume-1",
            "volume-1",
            "zonal-class",
            "100Gi",
            "bound" if step >= 10 else "reserved",
            "zone:us-central1-a",
            claim,
        ),
    )


def zonal_verdicts(step: int) -> f.Verdicts:
    """Return the verdicts of the zonal example: pass 1 from step 5, pass 2 from step 12."""
    if step < 5:
        return f.Verdicts(plugins=PLUGINS)
    second = step >= 12
    rows = (
        plain.VerdictRow("node-a", "ppp-p-pp--", chosen=True),
        plain.VerdictRow("node-b", "ppp-x-px--" if second else "ppp-x-pp--", 4),
        plain.VerdictRow("node-c", "ppp-p-pu--", 7),
    )
    scores = (
        f.ScoreRow("node-a", "NodeResourcesFit", 57, 57, 1, 57),
        f.ScoreRow("node-a", "NodeResourcesBalancedAllocation", 30, 30, 1, 30),
    )
    return f.Verdicts("pod/web-0", 2 if second else 1, PLUGINS, rows, scores)


def with_cell(frame: f.Frame) -> f.Frame:
    """Return the frame with the rule's words for node-b and NodeResourcesFit."""
    cell = f.CellDetail(
        "node-b",
        "NodeResourcesFit",
        f.REJECT,
        ("Insufficient cpu",),
        ("requests.cpu 500m > allocatable 4000m − requested 3800m = 200m",),
    )
    return evolve(frame, verdicts=evolve(frame.verdicts, cell=cell))


def _zonal_changes(step: int) -> tuple[f.ChangeRow, ...]:
    pod, claim, pv = "pod/web-0", "pvc/data-web-0", "pv/volume-1"
    manager, scheduler, driver = "kube-controller-manager", "kube-scheduler", "pd.csi"
    table: dict[int, tuple[f.ChangeRow, ...]] = {
        1: (f.ChangeRow("api", "user", "+", "sts/web", "", "", "web"),),
        2: (f.ChangeRow("api", manager, "+", claim, "", "", "100Gi zonal-class"),),
        3: (
            f.ChangeRow("api", manager, "+", pod, "", "", "web-0"),
            f.ChangeRow("note", scheduler, "+", pod, "queue", "", "active"),
        ),
        4: (
            f.ChangeRow("api", manager, "+", claim, "event", "", "WaitForFirstConsumer"),
            f.ChangeRow("note", manager, "~", claim, "outcome", "", "delayed: WaitForFirstConsumer"),
        ),
        5: (
            f.ChangeRow("note", scheduler, "+", claim, "assumed selected-node", "", "node-a"),
            f.ChangeRow("note", scheduler, "~", pod, "queue", "active", "waiting for volumes"),
            f.ChangeRow("note", scheduler, "~", pod, "cycle", "", "1 of 3 feasible, choice node-a"),
        ),
        6: (f.ChangeRow("api", scheduler, "~", claim, "metadata.annotations[selected-node]", "", "node-a"),),
        7: (f.ChangeRow("note", driver, "+", claim, "CreateVolume", "", "in progress"),),
        8: (
            f.ChangeRow("api", driver, "+", pv, "spec.claimRef", "", "data-web-0"),
            f.ChangeRow("api", driver, "+", pv, "spec.nodeAffinity", "", "zone In [us-central1-a]"),
        ),
        9: (f.ChangeRow("api", manager, "~", claim, "spec.volumeName", "", "volume-1"),),
        10: (f.ChangeRow("api", manager, "~", pv, "status.phase", "Available", "Bound"),),
        11: (f.ChangeRow("api", manager, "~", claim, "status.phase", "Pending", "Bound"),),
        12: (
            f.ChangeRow("note", scheduler, "+", pod, "assumed node", "", "node-a"),
            f.ChangeRow("note", scheduler, "~", pod, "queue", "active", "binding"),
        ),
        13: (f.ChangeRow("api", scheduler, "~", pod, "spec.nodeName", "", "node-a"),),
        14: (f.ChangeRow("api", "kubelet", "~", pod, "status.phase", "Pending", "Running"),),
    }
    return table.get(step, ())


def refused(frame: f.Frame) -> f.Frame:
    """Return the frame with a refused write in front of its changes and a refused mark."""
    row = f.ChangeRow(
        "api",
        "kube-controller-manager",
        "~",
        "pvc/data-web-0",
        "spec.volumeName",
        "",
        "volume-1",
        "Conflict",
        "the object has been modified; please apply your changes to the latest version",
    )
    lanes = tuple(
        evolve(
            lane,
            marks=(*lane.marks, f.Mark(frame.head.step, "refused", "update", "pvc/data-web-0", "Conflict")),
        )
        if lane.actor == "pv"
        else lane
        for lane in frame.lanes
    )
    return evolve(frame, changes=(row, *frame.changes), lanes=lanes)


def _zonal_events(step: int) -> tuple[f.EventRow, ...]:
    rows = (
        plain.EventRow(
            4,
            0.2,
            "Normal",
            "WaitForFirstConsumer",
            "pvc/data-web-0",
            "waiting for first consumer to be created before binding",
            last=0.2,
        ),
        plain.EventRow(
            13,
            1.7,
            "Normal",
            "Scheduled",
            "pod/web-0",
            "Successfully assigned default/web-0 to node-a",
            last=1.7,
        ),
        plain.EventRow(14, 2.9, "Normal", "Started", "pod/web-0", "Started container nginx", last=2.9),
        plain.EventRow(
            14,
            2.8,
            "Normal",
            "SuccessfulAttachVolume",
            "pod/web-0",
            'AttachVolume.Attach succeeded for volume "volume-1"',
            last=2.8,
        ),
    )
    return tuple(row for row in rows if row.step <= step)


def _zonal_lanes(step: int) -> tuple[f.Lane, ...]:
    lanes = []
    for key, component, label in LANES:
        marks = tuple(
            f.Mark(n, kind, verb, ref) for n, (actor, kind, verb, ref, _, _) in enumerate(ZONAL_STEPS) if actor == key
        )
        own = max((m.step for m in marks if m.step <= step), default=0)
        seen = max(own, step - _SEEN_LAG.get(key, 0))
        cursors: tuple[f.Cursor, ...] = ()
        if key != "user":
            cursors = (
                f.Cursor("PersistentVolumeClaim", seen, step - seen),
                f.Cursor("Pod", step, 0),
            )
        lanes.append(f.Lane(key, component, label, marks, cursors))
    return tuple(lanes)


def skew_ledgers() -> tuple[f.SkewLedger, ...]:
    """Return one ledger with a full domain, an open one, one shut by a taint, and two left out."""
    full = plain.Stop("PodTopologySpread", 2, "2 too many over 2 zones", "spread", by_constraint=True)
    taint = plain.Stop("TaintToleration", 1, "taint maintenance=true:NoSchedule", "node", resolvable=False)
    rows = (
        plain.SkewRow("us-central1-a", 2, 3, ((1, "Terminating"),), "", 3, fits=False, landing=f.Landing(0, (full,)),
                  sum="3 + 1 − 1 = 3 > 1"),
        plain.SkewRow("us-central1-b", 2, 1, (), "", 1, landing=plain.Landing(2), sum="1 + 1 − 1 = 1 ≤ 1"),
        plain.SkewRow("us-central1-c", 1, 1, ((2, "another pod-template-hash"),), "", 1, landing=f.Landing(0, (taint,)),
                  sum="1 + 1 − 1 = 1 ≤ 1"),
        plain.SkewRow("us-central1-d", 1, 0, (), "all nodes tainted, nodeTaintsPolicy: Honor", 0, fits=False),
        plain.SkewRow("(no label)", 1, 2, (), "node-x lacks the topology key", 0, fits=False),
    )
    return (
        plain.SkewLedger(
            "pod/web-0", "topology.kubernetes.io/zone", 1, 0, "DoNotSchedule", "app=web", 1, 1, "us-central1-b", 2, rows,
            subject="web-0", moment="now: step 8, t = 1.4 s, rules design", answer="web-0 may land in us-central1-b.",
            sentence="us-central1-b and us-central1-c share the minimum (1).",
        ),
    )  # fmt: skip


def capacity_ledgers() -> tuple[f.CapacityLedger, ...]:
    """Return one ledger with a stale pool, a small one, one with a largest volume and one unpublished."""
    rows = (
        plain.CapacityRow("node-a", "1 node", 100 * GI, None, 12, False, 40 * GI, True, ""),
        plain.CapacityRow("node-b", "1 node", 55 * GI, None, 2, False, 55 * GI, False, "60 > 55"),
        plain.CapacityRow("node-c", "1 node", 180 * GI, 50 * GI, 3, False, 180 * GI, False, "60 > largest volume 50"),
        plain.CapacityRow("node-d", "1 node", None, None, 0, False, 200 * GI, False, "no entry = not sufficient"),
        plain.CapacityRow("rack-7", "4 nodes", 140 * GI, None, 5, False, 140 * GI, True, ""),
    )
    return (plain.CapacityLedger("pvc/data-web-0", "fast-lvm", 60 * GI, "", rows),)
