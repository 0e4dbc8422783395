"""The component: one routine looks at the cluster after changes and decides; another is the cloud that makes machines.

A scale-up is a request to the cloud, not a write; the machine itself creates its Node when it is there. A node that is
removed is tainted, then its pods are deleted one by one, then the Node. What it remembers is since when nodes are
unneeded and which it is removing; after a crash it frees the nodes that it had tainted and begins to count anew.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.selector import Taint
from kvolsched.api.words import counted
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.world.apiserver import CommittedWrite, Write, key_of
from kvolsched.world.component import Component, TurnContext
from kvolsched.world.digest import DIGEST_WAIT, Until
from kvolsched.world.log import Key
from kvolsched.world.plan import PlanBuilder, PlannedWrite, report_done, report_refused
from kvolsched.world.reconciler import Backoff, Reconciler
from kvolsched.world.work_queue import WakeUp

from . import cloud
from .cloud import CLOUD, registering
from .options import AutoscalerOptions, NodeGroup
from .scaling import TO_BE_DELETED, ScaleUp, SimulatedCluster, decide, is_tied_to_node, is_unschedulable, unneeded_nodes

NAME = "cluster-autoscaler"
SCAN = "scan"
REMOVE = "remove "
GIVE_UP = "give up "
FIRST_BACKOFF, LAST_BACKOFF = 300.0, 1800.0  # seconds for which a group is left alone; doubled by each failure
EVICTION_RETRY = 10.0  # seconds after which a refused eviction is tried again
MAX_EVICTION_TIME = 120.0  # seconds after which a node is kept whose pods cannot be evicted
KINDS = tuple(sorted({*Snapshot.follows, "DaemonSet"}))


@attrs.frozen
class GroupBackoff:
    """A note that machines of a group did not come: it is left alone until then, for so many seconds."""

    until: float = attrs.field(metadata=DIGEST_WAIT)
    seconds: float = FIRST_BACKOFF


def component(options: AutoscalerOptions, profile: Profile) -> Component:
    """Return the cluster autoscaler, which judges with the plugins of a profile."""
    autoscaler = Autoscaler(options, profile)
    deciding = Reconciler(NAME, autoscaler.causes_of, autoscaler.sync, report_refused, autoscaler.on_committed,
                          backoff=Backoff.every(EVICTION_RETRY))
    return Component(NAME, KINDS, (deciding, registering(options)))


@attrs.frozen
class Autoscaler:
    """The autoscaler's loop as functions of what it has seen: scale up, else scale down."""

    options: AutoscalerOptions
    profile: Profile

    def causes_of(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Have the cluster looked at after the scan interval; go on at once with a node that is being removed."""
        self._scan_soon(ctx)
        for group in self.options.groups:
            self._expect_machines(ctx, group)
        if key.kind == "Pod" and old is not None and old.spec.node_name:
            node: Node | None = ctx.seen.get("Node", old.spec.node_name)
            if node is not None and _is_tainted(node):
                yield f"{REMOVE}{old.spec.node_name}"
        if key.kind == "Node" and new is None:
            ctx.remember("unneeded", key.name, None)
            ctx.remember("removing", key.name, None)

    def _scan_soon(self, ctx: TurnContext) -> None:
        """Scan after the interval, unless a scan is due by then."""
        if SCAN not in ctx.process.work_queues[NAME].items:
            self._scan_within(ctx, self.options.scan_interval)

    @staticmethod
    def _scan_within(ctx: TurnContext, seconds: float) -> None:
        """Scan after some seconds, unless a scan is due by then."""
        due: WakeUp | None = ctx.note("wake", f"{NAME}|{SCAN}")
        if due is None or due.at > ctx.now + seconds:
            ctx.wake_after(SCAN, seconds)

    def _expect_machines(self, ctx: TurnContext, group: NodeGroup) -> None:
        """Look at a group again when the first of its machines that has not come is to be given up."""
        late = [each.given_up_at for each in cloud.machines_of(ctx.sim.log, group.name) if not each.registered]
        cause = f"{GIVE_UP}{group.name}"
        asleep = ctx.note("wake", f"{NAME}|{cause}") is not None
        if late and not asleep:
            ctx.wake_after(cause, max(0.0, min(late) - ctx.now))
        elif asleep and not late:
            ctx.cancel_wake_up(cause)

    def _give_up(self, ctx: TurnContext, name: str) -> None:
        """Drop the machines of a group that did not come in time, and leave the group alone for a while."""
        group = self.options.group(name)
        there = cloud.machines_of(ctx.sim.log, name)
        late = [each.name for each in there if not each.registered and each.given_up_at <= ctx.now]
        for machine in late:
            cloud.remove(ctx.sim.log, name, machine)
        if late:
            last: GroupBackoff | None = ctx.note("backoff", name)
            seconds = FIRST_BACKOFF if last is None else min(2 * last.seconds, LAST_BACKOFF)
            ctx.remember("backoff", name, GroupBackoff(ctx.now + seconds, seconds))
            ctx.describe(f"cluster autoscaler gives up {' and '.join(late)}, and leaves {name} alone for {seconds:g} s")
            ctx.enqueue(SCAN)
        if group is not None:
            self._expect_machines(ctx, group)

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Scan the cluster, or take the next steps to remove a node."""
        if cause.startswith(REMOVE):
            return self._remove(ctx, cause.removeprefix(REMOVE))
        if cause.startswith(GIVE_UP):
            self._give_up(ctx, cause.removeprefix(GIVE_UP))
            return ()
        return self._scan(ctx)

    def _scan(self, ctx: TurnContext) -> Sequence[Write]:
        if abandoned := self._abandoned(ctx):
            return abandoned
        pods: list[Pod] = ctx.seen.all("Pod")
        waiting = [pod for pod in pods if is_unschedulable(pod, self.options)]
        candidates = self._candidates(ctx) if self.options.scale_down else []
        if not waiting and not candidates:
            return ()
        trial = self._simulated(ctx)
        if waiting:
            sizes = {group.name: self._size(ctx, group) for group in self.options.groups}
            made = sum(cloud.made_so_far(ctx.sim.log, group.name) for group in self.options.groups)
            draw = partial(ctx.draw, "expander", NAME, attempt=made)
            decision = decide(trial, waiting, sizes, self._backing_off(ctx), self.options, draw)
            if decision.chosen is not None or decision.refused:
                self._scale_up(ctx, decision)
                if decision.chosen is not None:
                    return ()
        self._scale_down(ctx, trial, candidates)
        return ()

    def _backing_off(self, ctx: TurnContext) -> list[str]:
        """Return the groups that are left alone, and look again when the first of them is not any more."""
        found: list[tuple[str, GroupBackoff | None]]
        found = [(group.name, ctx.note("backoff", group.name)) for group in self.options.groups]
        left = {name: note.until - ctx.now for name, note in found if note is not None and note.until > ctx.now}
        if left:
            self._scan_within(ctx, min(left.values()))
        return list(left)

    def _simulated(self, ctx: TurnContext) -> SimulatedCluster:
        """Return the cluster as seen, without nodes that are being removed, and with the machines on their way."""
        objects = [obj for kind in Snapshot.follows for obj in ctx.seen.all(kind)]
        trial = SimulatedCluster(objects, ctx.seen.all("DaemonSet"), self.profile, ctx.moment)
        for group in self.options.groups:
            for machine in cloud.machines_of(ctx.sim.log, group.name):
                if trial.seen.node(machine.name) is None:
                    trial.add_machine(group, machine.name)
        trial.keep()
        return trial

    def _size(self, ctx: TurnContext, group: NodeGroup) -> int:
        there = [name for name in group.nodes if ctx.seen.get("Node", name) is not None]
        return len(there) + len(cloud.machines_of(ctx.sim.log, group.name))

    def _scale_up(self, ctx: TurnContext, decision: ScaleUp) -> None:
        """Ask the cloud for machines, and tell the pods."""
        for key, reasons in decision.refused.items():
            ctx.event(ctx.seen.at(key), "Normal", "NotTriggerScaleUp", f"pod didn't trigger scale-up: {reasons}")
        chosen = decision.chosen
        if chosen is None:
            count = len(decision.refused)
            ctx.describe(f"cluster autoscaler finds no group that helps {counted(count, 'pod')}")
            return
        delay, patience = self.options.provisioning_delay, self.options.max_node_provision_time
        times = ctx.now + delay, ctx.now + patience
        for machine in cloud.request(ctx.sim.log, chosen.group.name, chosen.count, *times):
            ctx.wake_after(machine.name, delay, actor=CLOUD)
        self._expect_machines(ctx, chosen.group)
        for pod in chosen.pods:
            ctx.event(pod, "Normal", "TriggeredScaleUp", f"pod triggered scale-up: [{chosen.words}]")
        ctx.remember("cooldown", "", Until(ctx.now + self.options.delay_after_add))
        pods = counted(len(chosen.pods), "pod")
        ctx.describe(f"cluster autoscaler scales up {chosen.words} for {pods}")
        self._scan_soon(ctx)

    def _nodes_of(self, ctx: TurnContext, group: NodeGroup) -> list[Node]:
        names = {*group.nodes, *(machine.name for machine in cloud.machines_of(ctx.sim.log, group.name))}
        return [node for node in ctx.seen.all("Node") if node.metadata.name in names]

    def _candidates(self, ctx: TurnContext) -> list[Node]:
        """Return the nodes that are in a group and are not being removed."""
        return [node for group in self.options.groups for node in self._nodes_of(ctx, group) if not _is_tainted(node)]

    def _scale_down(self, ctx: TurnContext, trial: SimulatedCluster, candidates: Sequence[Node]) -> None:
        """Note since when nodes are unneeded; begin to remove one whose time is over."""
        present = {node.metadata.name for node in candidates}
        unneeded = unneeded_nodes(trial, candidates, self.options)
        for name in sorted(present - {*unneeded}):
            ctx.remember("unneeded", name, None)
        waits = []
        for name in unneeded:
            if ctx.note("unneeded", name) is None:
                ctx.remember("unneeded", name, Until(ctx.now + self.options.unneeded_time))
            left = self._seconds_left(ctx, name)
            if left <= 0 and self._may_shrink(ctx, name):
                ctx.remember("removing", name, Until(ctx.now + MAX_EVICTION_TIME))
                ctx.enqueue(f"{REMOVE}{name}")
                ctx.describe(f"cluster autoscaler removes {name}: unneeded for {self.options.unneeded_time:g} s")
                return
            waits.append(left)
        if any(left > 0 for left in waits):
            self._scan_within(ctx, min(left for left in waits if left > 0))

    def _seconds_left(self, ctx: TurnContext, node: str) -> float:
        """Return how long a node must stay unneeded, and no group may have grown, until it may be removed."""
        notes: tuple[Until | None, ...] = (ctx.note("unneeded", node), ctx.note("cooldown", ""))
        return max([0.0, *(note.time - ctx.now for note in notes if note is not None)])

    def _may_shrink(self, ctx: TurnContext, node: str) -> bool:
        """Say whether the node's group is larger than its minimum, beside the nodes that are being removed."""
        for group in self.options.groups:
            nodes = self._nodes_of(ctx, group)
            if any(each.metadata.name == node for each in nodes):
                leaving = [each for each in nodes if ctx.note("removing", each.metadata.name)]
                return self._size(ctx, group) - len(leaving) > group.min
        return False

    def _abandoned(self, ctx: TurnContext) -> Sequence[Write]:
        """Free a node that an earlier life of this process has tainted."""
        plan = PlanBuilder(ctx, NAME)
        for node in ctx.seen.all("Node"):
            if _is_tainted(node) and not ctx.note("removing", node.metadata.name):
                words = f"cluster autoscaler, restarted, keeps {node.metadata.name} after all"
                plan.update(node, _untainted(node), words)
        return plan.writes

    def _remove(self, ctx: TurnContext, name: str) -> Sequence[Write]:
        """Taint a node, then delete its pods, then the Node itself."""
        node: Node | None = ctx.seen.get("Node", name)
        removing: Until | None = ctx.note("removing", name)
        if node is None or removing is None:
            return ()
        plan = PlanBuilder(ctx, NAME)
        if not _is_tainted(node):
            taint = Taint(key=TO_BE_DELETED, value=str(int(ctx.now)), effect="NoSchedule")
            marked = evolve_parts(node, spec={"taints": (*node.spec.taints, taint)})
            plan.update(node, marked, f"cluster autoscaler marks {name} to be deleted")
            plan.event(node, "Normal", "ScaleDown", "marked the node as toBeDeleted/unschedulable")
        on_node = [pod for pod in ctx.seen.all("Pod") if pod.spec.node_name == name and not is_tied_to_node(pod)]
        staying = [pod for pod in on_node if pod.metadata.deletion_timestamp is None]
        if staying and removing.time <= ctx.now:
            return self._abort(ctx, node)
        for pod in staying:
            evicted = f"cluster autoscaler evicts {pod.metadata.name} from {name}"
            plan.writes.append(PlannedWrite("evict", key_of(pod), uid=pod.metadata.uid, words=evicted))
            plan.event(pod, "Normal", "ScaleDown", "deleting pod for node scale down")
        if not on_node:
            plan.delete(node, f"cluster autoscaler deletes {name}: its machine is gone")
        elif not plan.writes:
            ctx.wake_after(f"{REMOVE}{name}", EVICTION_RETRY)
        return plan.writes

    def _abort(self, ctx: TurnContext, node: Node) -> Sequence[Write]:
        """Keep a node whose pods could not be evicted in time."""
        ctx.remember("removing", node.metadata.name, None)
        ctx.remember("unneeded", node.metadata.name, None)
        plan = PlanBuilder(ctx, NAME)
        words = f"cluster autoscaler keeps {node.metadata.name}: its pods could not be evicted"
        plan.update(node, _untainted(node), words)
        plan.event(node, "Warning", "ScaleDownFailed", "failed to drain the node, aborting ScaleDown")
        return plan.writes

    def on_committed(self, ctx: TurnContext, cause: str, done: CommittedWrite, *, last: bool) -> None:
        """Report a write; once a Node is deleted the cloud drops its machine."""
        if done.write.verb == "delete" and done.write.key.kind == "Node":
            for group in self.options.groups:
                cloud.remove(ctx.sim.log, group.name, done.write.key.name)
        if last and cause.startswith(REMOVE) and done.write.key.kind != "Node":
            ctx.wake_after(cause, EVICTION_RETRY)
        report_done(ctx, cause, done, last=last)


def _untainted(node: Node) -> Node:
    taints = tuple(taint for taint in node.spec.taints if taint.key != TO_BE_DELETED)
    return evolve_parts(node, spec={"taints": taints})


def _is_tainted(node: Node) -> bool:
    return any(taint.key == TO_BE_DELETED for taint in node.spec.taints)
