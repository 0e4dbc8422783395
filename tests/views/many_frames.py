"""Twelve, two hundred or a thousand nodes in three zones, drawn from a fixed hash."""

from __future__ import annotations

from kvolsched.views import frame as f

from . import plain
from .zonal_frames import GI, LANES, PLUGINS


def many(count: int, step: int = 6) -> f.Frame:
    """Return `count` nodes in three zones with databases placed one a step; db-`step` is next."""
    zones = ("zone-a", "zone-b", "zone-c")
    per = -(-count // 3)
    codes, nodes, pods = [], [], []
    reasons = {
        0: ("node(s) were unschedulable", False),
        1: ("node(s) had untolerated taint(s)", False),
        4: ("Insufficient cpu", True),
        7: ("node(s) didn't find available persistent volumes to bind", False),
        9: ("node(s) didn't match pod topology spread constraints", True),
    }
    fitting: list[int] = []
    for i in range(count):
        zone, h = zones[i // per], (i * 2654435761 >> 7) % 97
        name = f"{zone[-1]}-n{i + 1:03d}"
        first = 0 if h < 4 else 1 if h < 9 else 4 if h < 33 else 7 if h < 42 else 9 if h < 52 else -1
        code = list("ppp-p-pppp")
        if first >= 0:
            code[first] = f.REJECT if reasons[first][1] else f.UNRESOLVABLE
            if h % 7 == 3 and first < 9:
                code[9] = f.REJECT
            if h % 11 == 5 and first < 4:
                code[4] = f.REJECT
        else:
            fitting.append(i)
        codes.append((name, "".join(code), first))
        nodes.append((name, zone, h))
    chosen = {fitting[(k * 7 + 3) % len(fitting)]: k for k in range(step)}
    latest = fitting[((step - 1) * 7 + 3) % len(fitting)] if step else -1
    rows = []
    for i, (name, zone, h) in enumerate(nodes):
        first = codes[i][2]
        reason, resolvable = reasons.get(first, ("", True))
        verdict = "chosen" if i == latest else "rejected" if first >= 0 else "fits"
        cpu = 3900 if first == 4 else 800 + h * 28
        pods += [
            plain.PodRow(f"pod/app-{i}-{j}", f"app-{i}-{j}", node=name, state="running", cpu=200, memory=GI)
            for j in range(h % 5)
        ]
        rows.append(
            plain.NodeRow(
                f"node/{name}",
                name,
                (("topology.kubernetes.io/zone", zone),),
                cpu,
                4000,
                (2 + h % 13) * GI,
                16 * GI,
                h % 5,
                unschedulable=first == 0,
                taints=("dedicated=gpu:NoSchedule",) if first == 1 else (),
                verdict=verdict,
                first=first,
                reason=reason,
                resolvable=resolvable,
                score=50 + h % 40 if verdict != "rejected" else -1,
            )
        )
    claims, volumes = [], []
    for i, k in sorted(chosen.items(), key=lambda item: item[1]):
        name, zone, _ = nodes[i]
        pods.append(
            plain.PodRow(
                f"pod/db-{k}",
                f"db-{k}",
                node=name,
                state="running",
                in_focus=True,
                claims=(f"pvc/data-db-{k}",),
                cpu=400,
                memory=GI,
            )
        )
        claims.append(
            plain.ClaimRow(
                f"pvc/data-db-{k}",
                f"data-db-{k}",
                "standard",
                "WaitForFirstConsumer",
                "20Gi",
                "bound",
                selected_node=name,
                volume=f"pv-{k}",
                pods=(f"pod/db-{k}",),
            )
        )
        volumes.append(
            plain.VolumeRow(f"pv/pv-{k}", f"pv-{k}", "standard", "20Gi", "bound", f"zone:{zone}", f"pvc/data-db-{k}")
        )
    waiting = f"pod/db-{step}"
    pods.append(
        plain.PodRow(
            waiting,
            f"db-{step}",
            in_focus=True,
            claims=(f"pvc/data-db-{step}",),
            cpu=400,
            memory=GI,
            queue="active",
        )
    )
    claims.append(
        plain.ClaimRow(
            f"pvc/data-db-{step}",
            f"data-db-{step}",
            "standard",
            "WaitForFirstConsumer",
            "20Gi",
            "waits for first consumer",
            pods=(waiting,),
        )
    )
    fits = sum(r.verdict != "rejected" for r in rows)
    last = f"pod/db-{step - 1}"
    marks = tuple(f.Mark(n, "write", "bind", f"pod/db-{n - 1}") for n in range(1, 11))
    lanes = tuple(
        f.Lane(
            key,
            component,
            label,
            marks if key == "binder" else (),
            () if key == "user" else (f.Cursor("Pod", max(0, step - lag), min(step, lag)),),
        )
        for (key, component, label), lag in zip(LANES, (0, 0, 0, 0, 2, 1, 3), strict=True)
    )
    bound_node = nodes[latest][0] if step else ""
    return f.Frame(
        head=plain.Head(
            scenario=f"{count}-nodes",
            revision="upstream",
            step=step,
            steps_known=10,
            time=0.7 * step,
            actor="scheduler · bind worker" if step else "",
            actor_id="binder" if step else "",
            sentence=f"Scheduler binds db-{step - 1} to {bound_node}; db-{step} is next: {fits} of {count} nodes fit."
            if step
            else f"{count} nodes; db-0 is next.",
            hot=(f"node/{bound_node}", last) if step else (),
            focus=waiting,
        ),
        next=(
            f.NextActor(
                "scheduler",
                "scheduling pass",
                "kube-scheduler",
                f"judge db-{step} on {count} nodes",
                default=True,
            ),
        ),
        nodes=tuple(sorted(rows, key=lambda r: r.name)),
        pods=tuple(sorted(pods, key=lambda p: p.name)),
        claims=tuple(sorted(claims, key=lambda c: c.ref)),
        volumes=tuple(sorted(volumes, key=lambda v: v.name)),
        classes=(f.ClassRow("sc/standard", "standard", "WaitForFirstConsumer", "any", "pd.csi"),),
        verdicts=f.Verdicts(
            waiting,
            1,
            PLUGINS,
            tuple(f.VerdictRow(name, code, first, chosen=i == latest) for i, (name, code, first) in enumerate(codes)),
        ),
        changes=(f.ChangeRow("api", "kube-scheduler", "~", last, "spec.nodeName", "", bound_node),) if step else (),
        events=tuple(
            plain.EventRow(
                k + 1,
                0.7 * k,
                "Normal",
                "Scheduled",
                f"pod/db-{k}",
                f"Successfully assigned default/db-{k}",
                last=0.7 * k,
            )
            for k in range(step)
        ),
        lanes=lanes,
    )


def twelve(step: int = 6) -> f.Frame:
    """Return twelve nodes in three zones, with databases placed one a step."""
    return many(12, step)
