"""What `fix` answers: fixes as values, each proved on a fork, shown as a diff of manifests, and applied when asked."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kvolsched.api.kinds.pod import Pod
from kvolsched.cluster_core import ClusterCore
from kvolsched.results import ApplyRefused, hanging_indent
from kvolsched.why.answer import node_names_text
from kvolsched.why.asking import judge_now, objects_seen_by_scheduler, pod_key, why
from kvolsched.why.demands import Demand
from kvolsched.world.log import Key

from . import pods
from .edit import Edit, ObjectChange, carry_out, manifest_diff, merge_changes
from .search import FoundFix, search
from .trial_cluster import TrialCluster

LOOP_KINDS = frozenset({"PersistentVolume", "PersistentVolumeClaim", "StorageClass"})  # after these, others act first
MAX_STEPS, MAX_SECONDS = 3_000, 120.0  # steps beside one for each object, which may have something to be seen to


@attrs.frozen(repr=False)
class Fix:
    """One fix: the edits, how much they touch, where the pod then fits, and how that was proved on a fork.

    Args:
        pod: `namespace/name`.
        edits: what is done, in order.
        cost: the sum of the edits' costs; the less, the fewer others feel it.
        nodes: where the pod fits, or goes, afterwards.
        proof: how it was tried.
    """

    pod: str
    edits: tuple[Edit, ...]
    cost: int
    nodes: tuple[str, ...]
    proof: str

    @property
    def words(self) -> str:
        """What is done, in one line."""
        return ", and ".join(edit.words for edit in self.edits)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be thought of."""
        return tuple(dict.fromkeys(edit.note for edit in self.edits if edit.note))

    @property
    def changes(self) -> tuple[ObjectChange, ...]:
        """Every object that changes, before and after."""
        return merge_changes(self.edits)

    @property
    def diff(self) -> str:
        """The changes as a unified diff of manifests."""
        return manifest_diff(self.changes)

    def apply(self, cluster: ClusterCore) -> None:
        """Make the changes in a cluster, as its user.

        Raises:
            ApplyRefused: the API server refused.
            KeyError: an object that is to change is not there.
        """
        carry_out(cluster, self.changes)

    def __repr__(self) -> str:
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        return f"{self.words}{notes}: {self.proof}\n{self.diff}"


@attrs.frozen(repr=False)
class Fixes:
    """The nearest fixes of a pod, those that touch least first; without any, which demands nothing here can meet."""

    pod: str
    revision: str
    headline: str
    fixes: tuple[Fix, ...] = ()
    unmet: tuple[str, ...] = ()

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
            lines += [f"      {hanging_indent([f'mind: {note}'], 12)}" for note in fix.notes]
        lines += [f"  • {hanging_indent([words], 4)}" for words in self.unmet]
        if self.fixes:
            lines += ["", "[0] as a diff (`.apply(cluster)` makes it):", self.fixes[0].diff]
        return "\n".join([*lines, "", f"(rules: {self.revision})"])


def fix(cluster: ClusterCore, pod: str) -> Fixes:
    """Return the nearest fixes of a pending pod, each applied to a fork and proved there; nothing is changed here.

    Args:
        cluster: as it is now.
        pod: `web-0`, `NAMESPACE/web-0`, or a reference such as `pod/web-0`.

    Raises:
        KeyError: there is no such pod.
    """
    key = pod_key(cluster, pod)
    name, rules = f"{key.namespace}/{key.name}", cluster.revision.name
    state = why(cluster, pod)
    if state.state not in ("unschedulable", "gated"):
        return Fixes(name, rules, f"nothing to fix: {state.headline}")
    trial = TrialCluster(objects_seen_by_scheduler(cluster), key, cluster.revision.profile)
    asked: Pod = trial.pod
    first = tuple(pods.remove_gates(trial)) if asked.spec.scheduling_gates else ()
    unmet: tuple[Demand, ...] = ()
    with trial.with_changes([change for edit in first for change in edit.changes]):
        judgement = trial.judge()
        if judgement.any_feasible:
            found: tuple[FoundFix, ...] = (FoundFix((), judgement.feasible),)
        else:
            searched = search(trial)
            found, unmet = searched.found, searched.unmet
    tried = [_prove(cluster, key, attrs.evolve(each, edits=(*first, *each.edits))) for each in found]
    proved = tuple(one for one in tried if isinstance(one, Fix))
    if proved:
        many = "the nearest fix" if len(proved) == 1 else f"the {len(proved)} nearest fixes"
        return Fixes(name, rules, f"{many}, each tried on a fork, what touches least first:", proved)
    refused = tuple(dict.fromkeys(one for one in tried if isinstance(one, str)))
    if refused:
        many = "a fix was" if len(found) == 1 else f"{len(found)} fixes were"
        head = f"{many} found, but none held when it was tried on a fork:"
        return Fixes(name, rules, head, unmet=refused)
    return Fixes(name, rules, _unmet_headline(unmet), unmet=tuple(demand.words for demand in unmet))


def _unmet_headline(unmet: tuple[Demand, ...]) -> str:
    if unmet:
        return "no edit of the catalogue meets:"
    return "each demand could be met, but no three edits of the catalogue meet them all on one node."


def _prove(cluster: ClusterCore, key: Key, found: FoundFix) -> Fix | str:
    """Try a fix on a fork: judge the pod there, or, where volumes are at stake, run the loop; or say why it is none."""
    name = f"{key.namespace}/{key.name}"
    changes = merge_changes(found.edits)
    fork = cluster.fork("with the fix")
    try:
        carry_out(fork, changes)
    except (ApplyRefused, KeyError) as error:
        return f"{', and '.join(edit.words for edit in found.edits)}: refused: {error.args[0] if error.args else error}"
    cost = found.cost[0]
    if not any(change.key.kind in LOOP_KINDS or change.new is None for change in changes):
        after = judge_now(fork, key)
        if not after.any_feasible or after.error:
            return f"{', and '.join(edit.words for edit in found.edits)}: still no node fits"
        fit = after.feasible
        every = len(fit) == len(after.nodes) > 1
        return Fix(name, found.edits, cost, fit, f"then it fits {'every node' if every else node_names_text(fit)}")
    run = fork.run(f"pod/{name} scheduled", steps=MAX_STEPS + len(fork.world.log.objects), seconds=MAX_SECONDS)
    placed: Pod = fork.world.log.objects[key]
    if not placed.spec.node_name:
        return f"{', and '.join(edit.words for edit in found.edits)}: run for {len(run)} steps, it has no node yet"
    node = placed.spec.node_name
    return Fix(name, found.edits, cost, (node,), f"run for {len(run)} steps: it goes to {node}")
