"""Finds fixes, proves each on a fork, and tells those that a colleague would, in the order in which he would.

The nearest edit alone is judged but not tried on a fork: a picture of `why` says it at once. That search begins when
the picture is drawn, on the objects of the moment in which `why` was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import evolve_parts
from ...api.notebook_output import to_type
from ...api.text.not_read import not_read_line
from ...api.text.python_gc import infrequent_gc
from ...api.words import counted, listed
from ...core.acts import ClusterActs
from ...core.results import ApplyRefused
from ...core.seen_by_scheduler import kept_snapshot, objects_seen_by_scheduler, snapshot_of_scheduler
from ...core.upgrades import rules_of
from ...scheduler.columns.hypothetical_snapshot import KeptSnapshot
from ...scheduler.framework.profile import Profile
from ...scheduler.loop.scheduling_cycle import SCHEDULER
from ...scheduler.plugins.taint_toleration import WAIT, mended_by
from ...world.apiserver import moment
from ...world.log import Key
from ..why.answer import Why, node_names_text
from ..why.asking import is_pending, pod_asked_for, why, why_all
from ..why.causes import Whys
from ..why.demands import Demand
from . import pods
from .answer import Fix, Fixes
from .edit import COSTLY, ORDER, Edit, ObjectChange, OutsideAct, joined_words, merge_changes, parts_of, without_unneeded
from .edit_search import FoundFix, distinct, search
from .node_states import ask_the_autoscaler, edits_of_components, sick_taints, state_of_all
from .owners import owner_on_top, siblings
from .replace_claim import restore_snapshot
from .trial_cluster import TrialCluster
from .trials import AskedCluster, Attempt

# After a change of these the loop must run before the pod can be judged.
LOOP_KINDS = frozenset({"PersistentVolume", "PersistentVolumeClaim", "StorageClass"})
SHARED = frozenset({"anti-affinity", "spread", "port", "claim", "volume", "request"})  # one replica takes from another
MOST_CARDS = 5
HARMLESS = "ABCDE"
ENOUGH_SIMPLE = 2  # fixes with fewer edits, after which none with more is told
LAST = ("drop host port",)  # of its class: whoever calls the nodes reaches nobody then
ALWAYS_TOLD = (("relabel",), ("remove gates",), ("allow topology",), ("run elsewhere",))  # though they cost others
MOST_REFUTED = 3  # of what was tried and does not help


def fix(cluster: ClusterActs, pod: str) -> Fixes:
    """Return the nearest fixes of a pending pod, each proved on a fork; the cluster does not change.

    Args:
        cluster: the cluster in its present state.
        pod: `web-0`, `NAMESPACE/web-0`, a reference such as `pod/web-0`, or a workload, as for `why`.

    Raises:
        KeyError: there is no such pod.
    """
    return attrs.evolve(_fix(cluster, pod), not_read=not_read_line(cluster.not_read))


@infrequent_gc()
def _fix(cluster: ClusterActs, pod: str) -> Fixes:
    key, _ = pod_asked_for(cluster, pod)
    name, rules = f"{key.namespace}/{key.name}", cluster.revision.name
    state = why(cluster, pod)
    if state.state not in ("unschedulable", "gated"):
        return _of_components(cluster, key, state)
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
    found = tuple(attrs.evolve(fix, edits=(*before, *fix.edits)) for fix in found)
    head = "no edit of the catalogue lifts any of these:" if unmet else (
        "edits of the catalogue lift each requirement, but no three edits lift all of them on one node.")  # fmt: skip
    nothing = Fixes(name, rules, head, unmet=tuple(demand.words for demand in unmet))
    if asked.is_large:
        judged = _told([fix for each in found if (fix := _judged(asked, each)) is not None])
        head = to_type("judged by the plugins; in a large cluster `.try_it()` takes long, which runs one",
                       "judged by the plugins, and not run, as the cluster is large")  # fmt: skip
        return Fixes(name, rules, head, judged, judged_only=True) if judged else nothing
    needed = distinct(_without_unneeded_edits(asked, fix) for fix in found)
    results = [_prove(asked, fix) for fix in needed]
    held = [result for result in results if isinstance(result, Fix)]
    good = [fix for fix in held if _is_good(fix)]
    refuted = [f"{fix.words} ({_refutation(fix)})" for fix in held if not _is_good(fix)]
    good += [_card(asked, edit) for fix in good if fix.kinds == ("delete claim",)
             for change in fix.edits[0].changes if change.key.kind == "PersistentVolumeClaim"
             for edit in restore_snapshot(change.old, trial)]  # fmt: skip
    failures = tuple(dict.fromkeys(result for result in results if isinstance(result, str)))
    proved = _told([*_waiting(asked, before), *good, *_scaled(asked), *_upgraded(asked, cluster)])
    if proved:
        return Fixes(name, rules, _headline(proved), proved, refuted=(*refuted, *failures)[:MOST_REFUTED])
    if failures or refuted:
        count = "a fix was found, but" if len(found) == 1 else f"{len(found)} fixes were found, but all"
        return Fixes(name, rules, f"{count} failed when tried on a fork:", unmet=(*failures, *refuted))
    return nothing


def _of_components(cluster: ClusterActs, key: Key, state: Why) -> Fixes:
    """Return what somebody must run or permit for a pod that a node would take; or that there is nothing to fix."""
    name, rules = f"{key.namespace}/{key.name}", cluster.revision.name
    asked = AskedCluster(cluster, key, state)
    edits = edits_of_components(cluster, key) if is_pending(cluster.world.log.objects[key]) else ()
    found = (_card(asked, edit) for edit in edits)
    told = _told([fix for fix in found if not fix.attempt or fix.try_it().places])
    if not told:
        return Fixes(name, rules, f"nothing to fix: {state.headline}")
    return Fixes(name, rules, f"no object keeps it from a node, but what runs or may write ({state.headline})", told)


def _card(asked: AskedCluster, edit: Edit) -> Fix:
    """Return an edit as a fix of which no plugin judges anything."""
    return Fix(asked.name, (edit,), (), "", asked=asked)


def _is_good(fix: Fix) -> bool:
    """Say whether the pod keeps the node that it got, and no other pod waits in its place."""
    tried = fix.try_it()
    frees = tried.waits < tried.waited or tried.runs_more or not tried.waited
    if fix.acts and fix.nodes and tried.waits_for_other_reasons:
        return True  # a node would take it: what then fails is another matter, which the card says
    return tried.places and frees and not tried.waits_now and not tried.harm.lost_claims


def _refutation(fix: Fix) -> str:
    """Return why a fix that was tried does not help."""
    tried = fix.try_it()
    if tried.places and tried.waits >= tried.waited > 0 and not tried.runs_more:
        return tried.told_of_owner
    return tried.headline


def _waiting(asked: AskedCluster, gates: tuple[Edit, ...]) -> Iterator[Fix]:
    """Yield the advice to wait: for who removes the gates, or because the pod gets a node by itself."""
    for edit in gates:
        if edit.kind == "remove gates":
            yield _card(asked, pods.wait_for_gates(asked.gates))
    for row in asked.asked.demands:
        if row.sort == "taint" and mended_by(row.about) == WAIT:
            yield _card(asked, ask_the_autoscaler(row.about, asked.objects))
    left, lost = asked.without_fix, asked.losses(())
    if lost is not None and not lost:
        words = f"Wait: left alone it gets {left.node} after {counted(left.steps_until_scheduled, 'step')}"
        waits = _card(asked, Edit(words, 0, (), "wait"))
        yield attrs.evolve(waits, nodes=(left.node,), steps=left.steps_until_scheduled)


def _scaled(asked: AskedCluster) -> Iterator[Fix]:
    """Yield the advice to ask for as many replicas as have a node, where those are in the way of one more."""
    pod, objects = asked.objects[asked.pod], asked.objects
    owner = owner_on_top(pod, objects)
    workload: Any = objects.get(Key(owner.kind, asked.pod.namespace, owner.name)) if owner is not None else None
    running = sum(bool(each.spec.node_name) for each in siblings(pod, objects))
    sorts = {row.sort for row in (*asked.asked.demands, *asked.asked.also)}
    if running and sorts & SHARED and (getattr(getattr(workload, "spec", None), "replicas", None) or 0) > running:
        change = ObjectChange(workload, evolve_parts(workload, spec={"replicas": running}))
        edit = Edit(f"Scale {owner} to {running}, for which there is room", 2, (change,), "scale down")
        fix = _card(asked, edit)
        if fix.try_it().is_not_needed and fix.try_it().helps:
            yield fix


def _upgraded(asked: AskedCluster, cluster: ClusterActs) -> Iterator[Fix]:
    """Yield the advice to upgrade the scheduler, where a feature gate is off in it with which the pod gets a node."""
    if SCHEDULER not in cluster.world.processes:
        return
    gates = rules_of(cluster, SCHEDULER).settings.gates.get(SCHEDULER, {})
    off = [gate for gate, on in gates.items() if not on]
    if off:
        words = f"Upgrade the scheduler, which does not know {listed(off)}, or turn that on there"
        act = OutsideAct(words, lambda fork: fork.upgrade(dict.fromkeys(off, True), SCHEDULER))
        do = f"kube-scheduler --feature-gates={','.join(f'{gate}=true' for gate in off)}   # in its static pod or unit"
        fix = _card(asked, Edit(words, 1, (), "upgrade the scheduler", acts=(act,), do=do))
        if fix.try_it().places:
            yield fix


def _told(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """Return the fixes in the order in which a colleague would tell them, at most one of a class and kinds."""
    kept: dict[tuple[str, ...], Fix] = {}
    others: dict[int, list[str]] = {}
    for fix in sorted(_worth_telling(fixes), key=_rank):
        fewer = [other for other in kept.values() if len(other.edits) < len(fix.edits)]
        if len(fewer) < ENOUGH_SIMPLE and not any(set(other.kinds) < set(fix.kinds) for other in fewer):
            first = kept.setdefault((fix.letter, *sorted(set(fix.kinds))), fix)
            others.setdefault(id(first), []).extend([fix.words] if first is not fix else [])
    return tuple(attrs.evolve(fix, number=number, others=tuple(others[id(fix)]) if fix.letter == "H" else ())
                 for number, fix in enumerate([*kept.values()][:MOST_CARDS]))  # fmt: skip


def _worth_telling(fixes: Sequence[Fix]) -> list[Fix]:
    """Return the fixes without those that cost others something, where what costs them nothing is enough.

    Data are given up only where nothing but what is lost, or more machines, would do, and no node reaches them; who
    slipped with his pen needs no machine for it, nor does anybody where a new one would be in the state of all others.
    """
    letters = {fix.letter for fix in fixes}
    slipped = any(fix.kinds == ("use selector",) or (fix.kinds == ("lower request",) and fix.letter == "B")
                  for fix in fixes)  # fmt: skip
    asked = fixes[0].asked if fixes else None
    there = [obj for key, obj in asked.objects.items() if key.kind == "Node"] if asked is not None else []
    alone, shared = len(there) == 1, state_of_all(there)
    reached = asked is not None and _is_reached(asked)
    found = []
    for fix in fixes:
        harmless = letters & set(HARMLESS) and not alone
        keeps = fix.letter not in COSTLY or fix.kinds in ALWAYS_TOLD
        if fix.letter == "H":
            keeps = not (letters & set("BCE") or reached)
        elif fix.letter in COSTLY and not keeps:
            keeps = not harmless
        costly = harmless and len(fix.edits) > 1 and fix.letter in COSTLY
        if keeps and costly:  # but where a disk is lost for good, the empty one is no other edit's
            keeps = {(edit.kind, edit.letter) for edit in fix.edits} == {("delete claim", "H"), ("add volume", "D")}
        needless = {"add node", "larger machine"} if slipped else {"add node"} if shared else set()
        if keeps and not needless & set(fix.kinds):
            found.append(fix)
    return found


def _is_reached(asked: AskedCluster) -> bool:
    """Say whether a node that works reaches the volumes that the pod has, so that room there would be enough."""
    pod, objects = asked.objects[asked.pod], asked.objects
    claims = (objects.get(Key("PersistentVolumeClaim", asked.pod.namespace, name)) for name in pod.claim_names())
    names = {claim.spec.volume_name for claim in claims if claim is not None and claim.spec.volume_name}
    bound = [volume for name in names if (volume := objects.get(Key("PersistentVolume", "", name))) is not None]
    return bool(bound) and any(
        all(volumes.volume_fits_node(volume, node) for volume in bound) and not sick_taints(node)
        for key, node in objects.items() if key.kind == "Node")  # fmt: skip


def _rank(fix: Fix) -> tuple[Any, ...]:
    """Return what sorts fixes: the class; who is helped, harmed, restarted; how much changes, and whether for good."""
    tried = fix.trial
    helped = tried.helped if tried is not None else 1
    harmed = len(tried.gone) + len(tried.waits_now) if tried is not None else 0
    restarted = sum(map(len, tried.harm.restarted.values())) if tried is not None else 0
    last = any(kind in LAST for kind in fix.kinds)
    return (ORDER.index(fix.letter), last, -helped, harmed, sum(edit.cost for edit in fix.edits), restarted,
            len(fix.changes), fix.undo == "none", fix.words)  # fmt: skip


def _headline(fixes: Sequence[Fix]) -> str:
    if all(fix.letter in COSTLY for fix in fixes):
        return "nothing harmless helps; what is left costs others something"
    if len(fixes) == 1 and fixes[0].can_be_tried and not fixes[0].try_it().helped:
        return "this is needed, and is not enough"
    count = "one fix" if len(fixes) == 1 else f"{len(fixes)} fixes, what restores or corrects first"
    untried = [f"[{fix.number}]" for fix in fixes if not fix.can_be_tried]
    if len(untried) == len(fixes):
        return count
    each = ", each tried on a fork" if len(fixes) > 1 else ", tried on a fork"
    return f"{count}{each}{f' but {listed(untried)}' if untried else ''}"


def _without_unneeded_edits(asked: AskedCluster, found: FoundFix) -> FoundFix:
    """Return a fix without edits but for which the loop places the pod as well, at no more cost for other pods.

    Where the pod gets a node without any fix, too, that says nothing of an edit.
    """
    if len(parts_of(found.edits)) < 2:
        return found
    most = asked.losses(_attempt(asked, found.edits), keep=True)
    if most is None or asked.losses(()) is not None:
        return found

    def suffice(edits: Sequence[Edit]) -> bool:
        lost = asked.losses(_attempt(asked, edits))
        return lost is not None and not lost - most

    return attrs.evolve(found, edits=without_unneeded(found.edits, suffice))


def _attempt(asked: AskedCluster, edits: Sequence[Edit]) -> Attempt:
    """Return what a trial of edits makes: changes of objects, in templates where pods have one, and acts."""
    acts = dict.fromkeys(act for edit in edits for act in edit.acts)
    return (*asked.for_owner(merge_changes(edits)), *acts)


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
    return Fix(asked.name, found.edits, nodes, proof, every=every, asked=asked)


def _prove(asked: AskedCluster, found: FoundFix) -> Fix | str:
    """Try a fix on a fork: judge the pod there or, if volumes change, run the loop; return why if the fix fails."""
    attempt = _attempt(asked, found.edits)
    try:
        forked = asked.fork_with(attempt)
    except (ApplyRefused, KeyError) as error:
        return f"{joined_words(found.edits)}: refused: {error.args[0]}"
    proved = Fix(asked.name, found.edits, (), "", asked=asked)
    fit = forked.fits
    forked.run()
    if fit and not any(isinstance(each, ObjectChange) and (each.key.kind in LOOP_KINDS or each.new is None)
                       for each in attempt):  # fmt: skip
        every = len(fit) == sum(other.kind == "Node" for other in forked.cluster.world.log.objects) > 1
        proof = f"then it fits {'every node' if every else node_names_text(fit)}"
        return attrs.evolve(proved, nodes=fit, proof=proof, every=every)
    if not forked.node and forked.eviction is None:
        return f"{proved.words}: {proved.try_it().lacks}"
    if forked.eviction is not None:
        return f"{proved.words}: then the pod is {forked.eviction.words}"
    if lost := proved.try_it().harm.lost_claims:
        return f"{proved.words}: then claim {', '.join(lost)} loses its volume"
    proof = f"after {forked.steps_until_scheduled} steps the pod is on {forked.node}"
    return attrs.evolve(proved, nodes=(forked.node,), proof=proof, steps=forked.steps_until_scheduled)


def why_with_edit(cluster: ClusterActs, pod: str) -> Why:
    """Say why a pod is pending; the picture names the nearest edit, too."""
    answer = why(cluster, pod)
    return attrs.evolve(answer, nearest_edit=_finder(cluster))


def why_all_with_edits(cluster: ClusterActs, most: int) -> Whys:
    """Say why each pod without a node is pending; the picture names the nearest edit of each cause, too."""
    return attrs.evolve(why_all(cluster, most), nearest_edit=_finder(cluster))


def nearest_edit(objects: Mapping[Key, Any], profile: Profile, kept: KeptSnapshot, at: str, pod: str) -> str:
    """Return the first edits after which a pending pod fits, in words; "" if the catalogue has none.

    Args:
        objects: the objects as the scheduler sees them.
        profile: the scheduler's plugins.
        kept: the snapshot that is kept of a cluster.
        at: the time at which the pod is judged.
        pod: `namespace/name`.
    """
    trial = TrialCluster(objects, Key("Pod", *pod.split("/")), profile, kept.of(objects, at))
    before = pods.let_it_be_tried(trial)
    with trial.with_changes([change for edit in before for change in edit.changes]):
        is_placed = trial.pod.spec.node_name or trial.judge().any_feasible  # then only its volumes are awaited
        found = () if is_placed else search(trial).found[:1]
    edits = [*before, *(edit for fix in found for edit in fix.edits)]
    if gates := trial.pod.spec.scheduling_gates:
        edits[0] = pods.wait_for_gates(gate.name for gate in gates)
    return joined_words(edits)


def _finder(cluster: ClusterActs) -> Any:
    objects, profile, at = objects_seen_by_scheduler(cluster), cluster.revision.profile, moment(cluster.world.log)
    return partial(nearest_edit, objects, profile, kept_snapshot(cluster), at)
