"""Hand-made frames for every view's tests: the zonal example, many nodes, hostile and long names.

They are plausible, not exact: the writes of a real run come from the engine. Every
function is deterministic, so that readings can be compared with stored text.
"""

from __future__ import annotations

from attrs import evolve

from kvolsched.views import frame as f

from .many_frames import many, twelve
from .zonal_frames import (
    GI,
    LANES,
    PLUGINS,
    ZONAL_STEPS,
    capacity_ledgers,
    refused,
    skew_ledgers,
    with_cell,
    zonal,
    zonal_run,
    zonal_verdicts,
)

__all__ = [
    "GI",
    "HOSTILE",
    "LANES",
    "PLUGINS",
    "ZONAL_STEPS",
    "capacity_ledgers",
    "f",
    "hostile",
    "long_names",
    "many",
    "refused",
    "skew_ledgers",
    "twelve",
    "with_cell",
    "zonal",
    "zonal_run",
    "zonal_verdicts",
]

HOSTILE = '<img src=x onerror="alert(1)">&\'"'


def hostile() -> f.Frame:
    """Return a frame in which every name and word from a manifest is markup."""
    base = zonal(8)
    nodes = tuple(
        evolve(
            n,
            ref=f"node/{HOSTILE}{i}",
            name=f"{HOSTILE}{i}",
            reason=HOSTILE if n.reason else "",
            topology=((HOSTILE, HOSTILE), ("topology.kubernetes.io/zone", f"{HOSTILE}{i}")),
            taints=(HOSTILE,),
        )
        for i, n in enumerate(base.nodes)
    )
    return evolve(
        base,
        head=evolve(
            base.head,
            scenario=HOSTILE,
            branch=HOSTILE,
            actor=HOSTILE,
            sentence=HOSTILE,
            hot=(f"pod/{HOSTILE}",),
            focus=f"pod/{HOSTILE}",
        ),
        next=tuple(evolve(n, label=HOSTILE, words=HOSTILE) for n in base.next),
        nodes=nodes,
        pods=tuple(
            evolve(p, ref=f"pod/{HOSTILE}", name=HOSTILE, claims=(f"pvc/{HOSTILE}",))
            if p.in_focus
            else evolve(p, ref=f"pod/{HOSTILE}{i}", name=f"{HOSTILE}{i}", node=nodes[i % 3].name)
            for i, p in enumerate(base.pods)
        ),
        claims=tuple(
            evolve(
                c,
                ref=f"pvc/{HOSTILE}",
                name=HOSTILE,
                class_name=HOSTILE,
                size=HOSTILE,
                selected_node=HOSTILE,
                pods=(f"pod/{HOSTILE}",),
            )
            for c in base.claims
        ),
        volumes=tuple(
            evolve(
                v,
                ref=f"pv/{HOSTILE}",
                name=HOSTILE,
                reach=f"zone:{HOSTILE}0",
                claim=f"pvc/{HOSTILE}",
                size=HOSTILE,
            )
            for v in base.volumes
        ),
        classes=(f.ClassRow(f"sc/{HOSTILE}", HOSTILE, "WaitForFirstConsumer", HOSTILE, HOSTILE),),
        verdicts=evolve(
            base.verdicts,
            pod=f"pod/{HOSTILE}",
            plugins=(f.PluginHead(HOSTILE, "<", "node"), *base.verdicts.plugins[1:]),
            rows=tuple(evolve(r, node=n.name) for r, n in zip(base.verdicts.rows, nodes, strict=True)),
            cell=f.CellDetail(nodes[1].name, "NodeResourcesFit", f.REJECT, (HOSTILE,), (HOSTILE,)),
        ),
        changes=tuple(
            evolve(
                c,
                ref=f"pv/{HOSTILE}",
                component=HOSTILE,
                field=HOSTILE,
                old=HOSTILE,
                new=HOSTILE,
                message=HOSTILE,
            )
            for c in base.changes
        ),
        events=tuple(evolve(e, reason=HOSTILE, ref=f"pod/{HOSTILE}", message=HOSTILE) for e in base.events),
        lanes=tuple(
            evolve(
                lane,
                label=HOSTILE,
                marks=tuple(evolve(m, ref=f"pv/{HOSTILE}", verb=HOSTILE) for m in lane.marks),
            )
            for lane in base.lanes
        ),
        skew=tuple(
            evolve(
                s,
                key=HOSTILE,
                selector=HOSTILE,
                rows=tuple(evolve(r, domain=HOSTILE, left_out=HOSTILE) for r in s.rows),
            )
            for s in base.skew
        ),
        capacity=tuple(
            evolve(s, class_name=HOSTILE, rows=tuple(evolve(r, pool=HOSTILE, reason=HOSTILE) for r in s.rows))
            for s in base.capacity
        ),
    )


def long_names() -> f.Frame:
    """Return the half bound zonal frame with names of 63 characters."""
    base = zonal(12)

    def stretch(name: str) -> str:
        return (name + "-with-a-very-long-name-that-someone-generated-from-a-template-x")[:59] + "-" + name[-3:]

    nodes = tuple(
        evolve(
            n,
            ref=f"node/{stretch(n.name)}",
            name=stretch(n.name),
            topology=(("topology.kubernetes.io/zone", stretch(n.topology[0][1])),),
        )
        for n in base.nodes
    )
    names = {n.name: stretch(n.name) for n in base.nodes}
    return evolve(
        base,
        nodes=nodes,
        pods=tuple(
            evolve(
                p,
                ref=f"pod/{stretch(p.name)}",
                name=stretch(p.name),
                node=names.get(p.node, ""),
                assumed_node=names.get(p.assumed_node, ""),
                claims=tuple(f"pvc/{stretch(c[4:])}" for c in p.claims),
            )
            for p in base.pods
        ),
        claims=tuple(
            evolve(
                c,
                ref=f"pvc/{stretch(c.name)}",
                name=stretch(c.name),
                class_name=stretch(c.class_name),
                selected_node=names["node-a"],
                volume=stretch(c.volume),
                pods=(f"pod/{stretch('web-0')}",),
            )
            for c in base.claims
        ),
        volumes=tuple(
            evolve(
                v,
                ref=f"pv/{stretch(v.name)}",
                name=stretch(v.name),
                claim=f"pvc/{stretch('data-web-0')}",
                reach=f"zone:{stretch('us-central1-a')}",
            )
            for v in base.volumes
        ),
        classes=tuple(
            evolve(
                c,
                ref=f"sc/{stretch(c.name)}",
                name=stretch(c.name),
                topologies="zones us-central1-a, us-central1-b",
            )
            for c in base.classes
        ),
        verdicts=evolve(base.verdicts, rows=tuple(evolve(r, node=names[r.node]) for r in base.verdicts.rows)),
    )
