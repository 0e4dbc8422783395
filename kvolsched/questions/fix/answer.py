"""What `fix` answers: fixes as cards, each with the trial on a fork that proves it and a diff of manifests."""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from ...api.notebook_output import DrawnAnswer, PrintedAnswer, to_type
from ...api.words import hanging_indent, listed
from ...core.acts import ClusterActs
from ...scheduler.framework.verdict import Code
from .edit import (
    CLASSES,
    Edit,
    ObjectChange,
    OutsideAct,
    carry_out,
    commands,
    joined_words,
    manifest_diff,
    merge_changes,
    parts_of,
    undo,
    worst,
)
from .outcome import TriedFix
from .owners import owner_on_top
from .trials import AskedCluster, Attempt

GATES = "SchedulingGates"
REGISTERED = ("Node", "CSINode")  # kubelets create these
WITHOUT_FILE = (*REGISTERED, "Pod", "PersistentVolume")  # of what is patched, nobody keeps a manifest of these
ROWS = ("who", "do", "restarts", "data", "promises", "lasts", "undo", "tried")
PLAIN = ("nothing", "kept", "yes", "none")  # what is told in few words


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
    sides: tuple[str, ...]
    resolvable: bool


@attrs.frozen(repr=False)
class Fix(DrawnAnswer):
    """One fix: edits after which the pod fits, and the proof on a fork.

    Args:
        pod: `namespace/name`.
        edits: the edits in order.
        nodes: the nodes that fit afterwards, or the node that the pod got.
        proof: how the fix was tried, in words.
        steps: after how many steps the pod has a node; None: it was judged again.
        every: whether every node fits.
        asked: the cluster as it was, on which `try_it` tries the fix.
        number: its place among the fixes of the pod.
        others: fixes of the same kinds that were found as well, in words, where somebody must choose.
    """

    pod: str
    edits: tuple[Edit, ...]
    nodes: tuple[str, ...]
    proof: str
    steps: int | None = None
    every: bool = False
    asked: AskedCluster | None = attrs.field(eq=False, kw_only=True)
    number: int = 0
    others: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The edits in one line."""
        return joined_words(self.edits)

    @property
    def parts(self) -> tuple[Edit, ...]:
        """The edits, and in place of a combined one its parts."""
        return parts_of(self.edits)

    @property
    def letter(self) -> str:
        """The class of advice: that of the worst edit, W, A to H."""
        return worst(edit.letter for edit in self.edits)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its edits."""
        return tuple(edit.kind for edit in self.edits)

    @property
    def notes(self) -> tuple[str, ...]:
        """Consequences and conditions of the edits; a Job that is made anew begins anew."""
        again = (f"Job {change.key.name} begins anew; of an export, first remove uid, status, spec.selector and the "
                 "controller-uid labels" for change in self.changes if change.recreate and change.key.kind == "Job")
        choice = [f"or instead: {words}; give up the files that matter less" for words in self.others]
        return tuple(dict.fromkeys([*(edit.note for edit in self.parts if edit.note), *again, *choice]))

    @property
    def costs_others(self) -> tuple[str, ...]:
        """What the fix costs other pods, found by trying it: who waits then, who is gone. None costs nobody.

        In a large cluster nothing is known of it before `try_it` is called.
        """
        tried = self.trial
        return (tried.headline,) if tried is not None and tried.node and not tried.helps else ()

    @property
    def can_be_tried(self) -> bool:
        """Whether there is a cluster to try it on, and something to try."""
        return self.asked is not None and bool(self.attempt or self.kinds == ("wait",))

    @property
    def trial(self) -> TriedFix | None:
        """What `try_it` shows, unless nothing can be tried or the cluster is large, where it takes long."""
        return self.try_it() if self.asked is not None and self.can_be_tried and not self.asked.is_large else None

    @property
    def changes(self) -> tuple[ObjectChange, ...]:
        """Each changed object, before and after; a pod of a workload is changed in the workload's template."""
        merged = merge_changes(self.edits)
        return merged if self.asked is None else self.asked.for_owner(merged)

    @property
    def acts(self) -> tuple[OutsideAct, ...]:
        """What is done outside the API: a machine comes back, disks are added."""
        return tuple(dict.fromkeys(act for edit in self.edits for act in edit.acts))

    @property
    def attempt(self) -> Attempt:
        """What a trial makes: the changes, and the acts from outside."""
        return (*self.changes, *self.acts)

    @property
    def diff(self) -> str:
        """The changed manifests as a unified diff."""
        return manifest_diff(self.written)

    @property
    def written(self) -> tuple[ObjectChange, ...]:
        """The changes that a user writes; of what kubelets register and drivers report, nobody does."""
        return self._written(self.parts)

    def _written(self, edits: Iterable[Edit]) -> tuple[ObjectChange, ...]:
        mine = merge_changes(edit for edit in edits if not edit.acts)
        mine = tuple(change for change in mine if change.old is not None or change.key.kind not in REGISTERED)
        return mine if self.asked is None else self.asked.for_owner(mine)

    def apply(self, cluster: ClusterActs) -> None:
        """Make the changes in a cluster as its user.

        Raises:
            ApplyRefused: the API server refuses.
            KeyError: an object to be changed does not exist.
            ValueError: no client of the API can do it: a machine must come back, a driver get disks.
        """
        if self.acts:
            raise ValueError(f"no write does this, somebody must: {self.words}; .fork has the cluster after it")
        carry_out(cluster, self.changes)

    def try_it(self) -> TriedFix:
        """Try the fix on a fork that runs until idle, and say who waits then; the cluster at hand does not change.

        The fork starts where the fix was asked for. An edit that only moves the lack to another pod says so.

        Raises:
            ValueError: the fix was built by hand, so that there is no cluster to try it on.
        """
        if self.asked is None:
            raise ValueError("this fix was not found by c.fix(...): there is no cluster to try it on")
        return self.asked.try_changes(self.attempt, self.words)

    @property
    def card(self) -> dict[str, str]:
        """What it costs whom: who decides, what to do, what restarts, data, how long it lasts, how to take it back."""
        return {row: getattr(self, row) for row in ROWS}

    @property
    def who(self) -> str:
        """Who decides it."""
        told = "; ".join(edit.who or CLASSES[edit.letter].who for edit in self.parts)
        return "; ".join(dict.fromkeys(told.split("; ")))

    @property
    def do(self) -> str:
        """The commands, a line each, and what somebody does outside the API."""
        told = [edit.do for edit in self.parts if edit.do]
        written = self._written(edit for edit in self.parts if not edit.do)
        return "\n".join([*commands(written), *told]) or "nothing"

    @property
    def restarts(self) -> str:
        """Which pods are made anew, known after the trial."""
        tried, told = self.trial, [edit.restarts for edit in self.parts if edit.restarts]
        if tried is None:
            return "; ".join(told) or "–"
        return "; ".join([*told, *tried.restarts]) or "nothing"

    @property
    def data(self) -> str:
        """What becomes of data; in capitals if any is lost."""
        tried, told = self.trial, dict.fromkeys(edit.data for edit in self.parts if edit.data)
        return "; ".join(told or (tried.harm.data if tried is not None else ())) or "kept"

    @property
    def promises(self) -> str:
        """What workloads or budgets promised and no longer do, known after the trial; a slip promised nothing."""
        tried = self.trial
        return "; ".join(tried.harm.promises if tried is not None and self.letter != "B" else ()) or "kept"

    @property
    def lasts(self) -> str:
        """Whether the next pod of the same workload needs it again."""
        pods = [change for change in self.written if change.key.kind == "Pod" and change.new is not None]
        owner = owner_on_top(pods[0].old, self.asked.objects) if pods and self.asked is not None else None
        if owner is not None:
            return f"only this pod: change it in the template of {owner}, which is not here; the next pod waits again"
        managed = [each for change in self.written if (each := managed_by(change))]
        if managed:
            return f"change it in {managed[0]}, or it is written back"
        changed = [change for change in self.written if None not in (change.old, change.new)]
        filed = [change for change in changed if change.key.kind not in WITHOUT_FILE]
        if any(change.recreate for change in filed):
            return "yes; the old manifest, applied again, is refused: change it, too"
        if filed:
            return "until its manifest is applied again: change it there, too"
        of_pool = any(change.key.kind == "Node" and (change.old.metadata.labels, change.old.spec.taints) != (
            change.new.metadata.labels, change.new.spec.taints) for change in changed)  # fmt: skip
        return "until the node is made anew: change it in its node pool, too" if of_pool else "yes"

    @property
    def undo(self) -> str:
        """The commands that take it back, a line each, or "none"."""
        told = [edit.undo for edit in self.parts if edit.undo]
        mine = "–" if self.acts else undo(self.written)
        if mine == "none":  # what is deleted comes back only where its edit says how
            return "\n".join(told) if told and self.kinds == ("delete claim",) else mine
        return "\n".join([*told, *([mine] if mine != "–" else [])]) if told else mine

    @property
    def tried(self) -> str:
        """What the trial showed."""
        tried = self.trial
        if tried is None:
            return f"no, the cluster is large: {self.proof}" if self.can_be_tried else "no: no object shows it"
        if tried.is_not_needed:
            return tried.headline
        if not tried.node:
            return f"not enough: {tried.lacks}"
        runs = "runs" if tried.phase == "Running" else "is"
        state = f"{tried.pod_then} {runs} on {tried.node}"
        mine = f"; {tried.told_of_owner}" if tried.waited > 1 else ""
        mine = mine or f"; then {listed(tried.next)} wait{'s' * (len(tried.next) == 1)}" if tried.next else mine
        left = f"; works only because {listed(tried.leaving)}" if tried.leaving else ""
        return f"{state}{mine}{left}"

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
            found.append(LiftedVerdict(GATES, "", (f"Scheduling gates: {', '.join(gates)}",), (), resolvable=False))
        rejected = before.rejected_by
        if rejected is not None:
            resolvable = rejected.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            found.append(LiftedVerdict(rejected.plugin, "", (rejected.message,), (), resolvable=resolvable))
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

    @property
    def title(self) -> str:
        """The edits, and the class of advice in words."""
        return f"{self.words} ({self.letter}, {CLASSES[self.letter].words})"

    def lines(self) -> list[str]:
        """Return the card as text: a row for each question that somebody asks before he does it."""
        card = {name: value for name, value in self.card.items() if value != "–"}
        plain = [f"{name} {value}" for name, value in card.items() if value in PLAIN and name != "promises"]
        rows = [(name, value) for name, value in card.items() if value not in PLAIN]
        rows += [("note", note) for note in self.notes] + [("but", words) for words in self.costs_others]
        told = (f"{name:<9}{hanging_indent(value.splitlines(), 15)}" for name, value in rows)
        return [*told, "         ".join(plain)]

    def __repr__(self) -> str:
        return "\n".join([self.title, *(f"      {line}" for line in self.lines()), *([self.diff] if self.diff else [])])


def managed_by(change: ObjectChange) -> str:
    """Return what writes an object back: Helm, or a controller that owns it; "" for nothing."""
    if change.old is None or change.key.kind == "Pod":
        return ""
    manager = str(change.old.metadata.labels.get("app.kubernetes.io/managed-by", ""))
    owner = change.old.metadata.controller
    return f"{owner.kind} {owner.name}" if owner is not None else manager if manager == "Helm" else ""


@attrs.frozen(repr=False)
class Fixes(DrawnAnswer):
    """The fixes of a pod, what restores first; without any, the requirements that no edit lifts.

    `not_read` is what bears on placement and is not modelled, in one line. Those of a large cluster are `judged_only`:
    a picture, which shows how runs end, would take minutes.

    Args:
        refuted: what was tried and does not help, in words.
    """

    pod: str
    revision: str
    headline: str
    fixes: tuple[Fix, ...] = ()
    unmet: tuple[str, ...] = ()
    judged_only: bool = False
    not_read: str = ""
    refuted: tuple[str, ...] = ()

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
        lines = [hanging_indent([f"{self.pod}: {self.headline}{':' if self.fixes else ''}"], 0)]
        for number, fix in enumerate(self.fixes):
            lines.append(f"  [{number}] {hanging_indent([fix.title], 6)}")
            lines += [f"      {line}" for line in fix.lines()]
        lines += [f"  • {hanging_indent([words], 4)}" for words in self.unmet]
        if self.refuted:
            bullet = "  • " if len(self.refuted) > 1 else ""
            head = ["tried, does not help:"] if bullet else []
            told = [f"{bullet or 'tried, does not help: '}{each}" for each in self.refuted]
            lines += ["", *head, *(hanging_indent([each], 4) for each in told)]
        applies = to_type(" (`.apply(cluster)` applies it)", "")
        for number, fix in enumerate(self.fixes):  # whoever is told of a file is shown it, too
            diff = manifest_diff(change for change in fix.written if change.new is not None)
            if diff and (not number or " -f " in fix.do):
                lines += ["", f"[{number}] as a diff{applies}:", diff]
        if self.not_read:
            lines += ["", hanging_indent([self.not_read], 0)]
        return "\n".join([*lines, "", f"(rules: {self.revision})"])
