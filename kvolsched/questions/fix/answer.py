"""Answers which edits make a pod schedulable: proves each fix on a fork and shows it as a diff of manifests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from kvolsched.api.notebook_output import DrawnAnswer, PrintedAnswer
from kvolsched.api.text.not_read import not_read_line
from kvolsched.api.text.python_gc import infrequent_gc
from kvolsched.core.acts import ClusterActs
from kvolsched.core.results import ApplyRefused, hanging_indent
from kvolsched.questions.why.answer import node_names_text
from kvolsched.questions.why.asking import why
from kvolsched.questions.why.demands import Demand
from kvolsched.scheduler.framework.verdict import Code

from ...core.seen_by_scheduler import objects_seen_by_scheduler, snapshot_of_scheduler
from . import pods
from .edit import Edit, ObjectChange, carry_out, manifest_diff, merge_changes, without_unneeded
from .edit_search import FoundFix, distinct, search
from .outcome import AskedCluster, TriedFix
from .trial_cluster import TrialCluster

# After a change of these the loop must run before the pod can be judged.
LOOP_KINDS = frozenset({"PersistentVolume", "PersistentVolumeClaim", "StorageClass"})
GATES = "SchedulingGates"


@attrs.frozen
class LiftedVerdict:
    """A rejection that a fix lifts: which plugin rejected which node, and both sides of the comparison.

    Args:
        plugin: kube-scheduler's name of the plugin; `SchedulingGates` for a gated pod.
        node: the node, or "" if the pod was rejected before any node was looked at.
        reasons: kube-scheduler's reasons.
        sides: both sides of each comparison that failed.
        resolvable: whether removing pods could have lifted it, too.
    """

    plugin: str
    node: str
    reasons: tuple[str, ...]
    sides: tuple[str, ...] = ()
    resolvable: bool = True


@attrs.frozen(repr=False)
class Fix(DrawnAnswer):
    """One fix: edits after which the pod fits, and the proof on a fork.

    Args:
        pod: `namespace/name`.
        edits: the edits in order.
        cost: the sum of the edits' costs; a cheaper fix affects fewer other pods.
        nodes: the nodes that fit afterwards, or the node that the pod got.
        proof: how the fix was tried, in words.
        steps: after how many steps the pod has a node; None: it was judged again.
        every: whether every node fits.
        asked: the cluster as it was, on which `try_it` tries the fix.
        number: its place among the fixes of the pod.
    """

    pod: str
    edits: tuple[Edit, ...]
    cost: int
    nodes: tuple[str, ...]
    proof: str
    steps: int | None = None
    every: bool = False
    asked: AskedCluster | None = attrs.field(default=None, eq=False)
    number: int = 0

    @property
    def words(self) -> str:
        """The edits in one line."""
        return ", and ".join(edit.words for edit in self.edits)

    @property
    def notes(self) -> tuple[str, ...]:
        """Consequences and conditions of the edits."""
        return tuple(dict.fromkeys(edit.note for edit in self.edits if edit.note))

    @property
    def costs_others(self) -> tuple[str, ...]:
        """What the fix costs other pods, found by trying it: who waits then, who is gone. None costs nobody.

        In a large cluster nothing is known of it before `try_it` is called.
        """
        tried = self.try_it() if self.asked is not None and not self.asked.is_large else None
        return (tried.headline,) if tried is not None and not tried.helps else ()

    @property
    def changes(self) -> tuple[ObjectChange, ...]:
        """Each changed object, before and after."""
        return merge_changes(self.edits)

    @property
    def diff(self) -> str:
        """The changed manifests as a unified diff."""
        return manifest_diff(self.changes)

    def apply(self, cluster: ClusterActs) -> None:
        """Make the changes in a cluster as its user.

        Raises:
            ApplyRefused: the API server refuses.
            KeyError: an object to be changed does not exist.
        """
        carry_out(cluster, self.changes)

    def try_it(self) -> TriedFix:
        """Try the fix on a fork that runs until idle, and say who waits then; the cluster at hand does not change.

        The fork starts where the fix was asked for. An edit that only moves the lack to another pod says so.

        Raises:
            ValueError: the fix was built by hand, so that there is no cluster to try it on.
        """
        if self.asked is None:
            raise ValueError("this fix was not found by c.fix(...): there is no cluster to try it on")
        return self.asked.try_changes(self.changes, self.words)

    @property
    def lifted(self) -> tuple[LiftedVerdict, ...]:
        """The rejections that the fix lifts on the node, of those that fit then, that was rejected least."""
        if self.asked is None:
            return ()
        judgement = self.asked.judgement
        counts = dict(zip(judgement.nodes, (judgement.codes != 0).sum(axis=0).tolist(), strict=True))
        return self.lifted_on(min((node for node in self.nodes if node in counts), key=counts.__getitem__, default=""))

    def lifted_on(self, node: str) -> tuple[LiftedVerdict, ...]:
        """Return the rejections that the fix lifts on one of the nodes that fit then; none on a new node."""
        if self.asked is None:
            return ()
        found, before = [], self.asked.judgement
        if gates := self.asked.gates:
            found.append(LiftedVerdict(GATES, "", (f"Scheduling gates: {', '.join(gates)}",), resolvable=False))
        rejected = before.rejected_by
        if rejected is not None:
            resolvable = rejected.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            found.append(LiftedVerdict(rejected.plugin, "", (rejected.message,), resolvable=resolvable))
        elif node in before.first_rejecting and node in self.nodes:
            for plugin in before.plugins:
                if before.verdict(node, plugin)[0]:
                    cell = before.cell(node, plugin)
                    resolvable = cell.status is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
                    sides = tuple(str(side) for side in cell.evidence)
                    found.append(LiftedVerdict(plugin, node, cell.reasons, sides, resolvable))
        return tuple(found)

    @property
    def fork(self) -> ClusterActs:
        """The fork of `try_it`: the cluster with the fix, run until idle."""
        return self.try_it().cluster

    def __repr__(self) -> str:
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        return f"{self.words}{notes}: {self.proof}\n{self.diff}"


@attrs.frozen(repr=False)
class Fixes(DrawnAnswer):
    """The nearest fixes of a pod, cheapest first; without any, the requirements that no edit lifts.

    `not_read` is what bears on placement and is not modelled, in one line. Those of a large cluster are `judged_only`:
    a picture, which shows how runs end, would take minutes.
    """

    pod: str
    revision: str
    headline: str
    fixes: tuple[Fix, ...] = ()
    unmet: tuple[str, ...] = ()
    judged_only: bool = False
    not_read: str = ""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        shows = PrintedAnswer if self.judged_only else DrawnAnswer
        return shows._repr_mimebundle_(self, include, exclude)

    def __len__(self) -> int:
        return len(self.fixes)

    def __iter__(self) -> Iterator[Fix]:
        return iter(self.fixes)

    def __getitem__(self, number: int) -> Fix:
        return self.fixes[number]

    def __repr__(self) -> str:
        lines = [hanging_indent([f"{self.pod}: {self.headline}"], 0)]
        for number, fix in enumerate(self.fixes):
            lines.append(f"  [{number}] {hanging_indent([f'{fix.words} – {fix.proof}'], 6)}")
            lines += [f"      {hanging_indent([f'note: {note}'], 12)}" for note in fix.notes]
            lines += [f"      {hanging_indent([f'but {words}'], 10)}" for words in fix.costs_others]
        lines += [f"  • {hanging_indent([words], 4)}" for words in self.unmet]
        if self.fixes:
            lines += ["", "[0] as a diff (`.apply(cluster)` applies it):", self.fixes[0].diff]
        if self.not_read:
            lines += ["", hanging_indent([self.not_read], 0)]
        return "\n".join([*lines, "", f"(rules: {self.revision})"])


def fix(cluster: ClusterActs, pod: str) -> Fixes:
    """Return the nearest fixes of a pending pod, each proved on a fork; the cluster does not change.

    Args:
        cluster: the cluster in its present state.
        pod: `web-0`, `NAMESPACE/web-0`, or a reference such as `pod/web-0`.

    Raises:
        KeyError: there is no such pod.
    """
    return attrs.evolve(_fix(cluster, pod), not_read=not_read_line(cluster.not_read))


@infrequent_gc()
def _fix(cluster: ClusterActs, pod: str) -> Fixes:
    key = cluster.world.find_key(pod, "pod")
    name, rules = f"{key.namespace}/{key.name}", cluster.revision.name
    state = why(cluster, pod)
    if state.state not in ("unschedulable", "gated"):
        return Fixes(name, rules, f"nothing to fix: {state.headline}")
    profile, seen = cluster.revision.profile, snapshot_of_scheduler(cluster)
    trial = TrialCluster(objects_seen_by_scheduler(cluster), key, profile, seen)
    asked = AskedCluster(cluster, key, state)
    before = pods.let_it_be_tried(trial)
    unmet: tuple[Demand, ...] = ()
    with trial.with_changes([change for edit in before for change in edit.changes]):
        judgement = trial.judge()
        if judgement.error and judgement.any_feasible:
            return Fixes(name, rules, f"no change of objects helps, an error ends each pass: {judgement.error}")
        if judgement.any_feasible:
            found: tuple[FoundFix, ...] = (FoundFix((), judgement.feasible),)
        else:
            searched = search(trial)
            found, unmet = searched.found, searched.unmet
    if asked.is_large:
        gated = [attrs.evolve(fix, edits=(*before, *fix.edits)) for fix in found]
        fixes = [fix for fix in (_judged(asked, each) for each in gated) if fix is not None]
        numbered = tuple(attrs.evolve(fix, number=number) for number, fix in enumerate(fixes))
        if not numbered:
            return Fixes(name, rules, _unmet_headline(unmet), unmet=tuple(demand.words for demand in unmet))
        head = "judged by the plugins, cheapest first; in a large cluster `.try_it()` takes long, which runs one:"
        return Fixes(name, rules, head, numbered, judged_only=True)
    needed = distinct(_without_unneeded_edits(asked, attrs.evolve(fix, edits=(*before, *fix.edits))) for fix in found)
    results = [_prove(asked, fix) for fix in needed]
    held = sorted((result for result in results if isinstance(result, Fix)), key=lambda fix: not _places(asked, fix))
    proved = tuple(attrs.evolve(fix, number=number) for number, fix in enumerate(held))
    if proved:
        count = "the nearest fix" if len(proved) == 1 else f"the {len(proved)} nearest fixes"
        return Fixes(name, rules, f"{count}, each tried on a fork, cheapest first{_left_alone(asked)}:", proved)
    failures = tuple(dict.fromkeys(result for result in results if isinstance(result, str)))
    if failures:
        count = "a fix was found, but" if len(found) == 1 else f"{len(found)} fixes were found, but all"
        return Fixes(name, rules, f"{count} failed when tried on a fork:", unmet=failures)
    return Fixes(name, rules, _unmet_headline(unmet), unmet=tuple(demand.words for demand in unmet))


def _unmet_headline(unmet: tuple[Demand, ...]) -> str:
    if unmet:
        return "no edit of the catalogue lifts any of these:"
    return "edits of the catalogue lift each requirement, but no three edits lift all of them on one node."


def _left_alone(asked: AskedCluster) -> str:
    """Return what becomes of the pod without any fix, if it gets a node so, too."""
    left, lost = asked.without_fix, asked.losses(())
    if lost is None:
        return ""
    others = " in the place of other pods" if lost else ""
    return f" (left alone, it gets {left.node}{others} after {left.steps_until_scheduled} steps)"


def _places(asked: AskedCluster, fix: Fix) -> bool:
    """Say whether the pod has a node at the end of a run with a fix, and keeps it."""
    return asked.losses(fix.changes) is not None


def _without_unneeded_edits(asked: AskedCluster, found: FoundFix) -> FoundFix:
    """Return a fix without edits but for which the loop places the pod as well, at no more cost for other pods.

    Where the pod gets a node without any fix, too, that says nothing of an edit.
    """
    losses = asked.losses(merge_changes(found.edits), keep=True)
    if losses is None or asked.losses(()) is not None:
        return found
    most = losses

    def suffice(edits: Sequence[Edit]) -> bool:
        lost = asked.losses(merge_changes(edits))
        return lost is not None and not lost - most

    return attrs.evolve(found, edits=without_unneeded(found.edits, suffice))


def _judged(asked: AskedCluster, found: FoundFix) -> Fix | None:
    """Return a fix with the nodes that then fit, by the plugins' verdicts alone; None if it is refused or none fits."""
    changes = merge_changes(found.edits)
    try:
        fit = asked.fork_with(changes).fits
    except (ApplyRefused, KeyError):
        return None
    waits = any(change.key.kind in LOOP_KINDS for change in changes)  # volumes are bound, or made, by the loop
    nodes = fit or (found.nodes if waits else ())
    if not nodes:
        return None
    every = len(nodes) == sum(key.kind == "Node" for key in asked.objects) > 1
    when = "then" if fit else "once its volumes are there"
    proof = f"{when} it fits {'every node' if every else node_names_text(nodes)}"
    name = f"{asked.pod.namespace}/{asked.pod.name}"
    return Fix(name, found.edits, found.cost[1], nodes, proof, every=every, asked=asked)


def _prove(asked: AskedCluster, found: FoundFix) -> Fix | str:
    """Try a fix on a fork: judge the pod there or, if volumes change, run the loop; return why if the fix fails."""
    key = asked.pod
    name = f"{key.namespace}/{key.name}"
    changes = merge_changes(found.edits)
    try:
        forked = asked.fork_with(changes)
    except (ApplyRefused, KeyError) as error:
        return f"{', and '.join(edit.words for edit in found.edits)}: refused: {error.args[0] if error.args else error}"
    cost = found.cost[1]
    proved = Fix(name, found.edits, cost, (), "", asked=asked)
    fit = forked.fits
    if fit and not any(change.key.kind in LOOP_KINDS or change.new is None for change in changes):
        every = len(fit) == sum(other.kind == "Node" for other in forked.cluster.world.log.objects) > 1
        proof = f"then it fits {'every node' if every else node_names_text(fit)}"
        return attrs.evolve(proved, nodes=fit, proof=proof, every=every)
    forked.run()
    if not forked.node and forked.eviction is None:
        return f"{proved.words}: after {forked.steps} steps the pod has no node"
    if forked.eviction is not None:
        return f"{proved.words}: then the pod is {forked.eviction.words}"
    if lost := proved.try_it().lost_claims:
        return f"{proved.words}: then claim {', '.join(lost)} loses its volume"
    proof = f"after {forked.steps_until_scheduled} steps the pod is on {forked.node}"
    return attrs.evolve(proved, nodes=(forked.node,), proof=proof, steps=forked.steps_until_scheduled)
