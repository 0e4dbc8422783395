"""What happens, and what speaks for or against each candidate: found on a fork, by the steps of the cluster.

Nothing is decided here. A node's verdict is that of the scheduling pass, judged again; a volume's is the comparison
that the binder makes; the order is that of the steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...api.words import counted
from ...core.core import ClusterCore
from ...scheduler.framework.verdict import Code
from ...scheduler.loop.scheduling_cycle import PASS
from ...world.apiserver import ref
from ...world.history import Turn
from ...world.log import Key
from ..explain import Pass, judge_last_pass
from .candidates import GONE, NEW, NONE, PENDING, turn_name

MOST_STEPS = 1_000
PLUGIN_PASSES = "it passes this node"


@attrs.frozen
class Verdict:
    """What speaks for or against one candidate.

    Args:
        right: whether the candidate counts as right.
        words: the reason.
        plugin: the plugin that gives it; "" if none does.
        evidence: both sides of the comparison.
        resolvable: whether removing pods could help.
        also: further plugins that reject the node.
        total: the sum of its scores, if it was scored.
    """

    right: bool
    words: str
    plugin: str = ""
    evidence: str = ""
    resolvable: bool = True
    also: tuple[str, ...] = ()
    total: int | None = None


@attrs.frozen
class Outcome:
    """What happens.

    Args:
        happened: the name of what happened: a node, plugin, volume, end or actor.
        verdicts: name -> what speaks for or against it.
        sentence: what decided, in one or two sentences.
        note: a few words on when: "pass 1, 2 of 4 nodes fit".
        steps: how many steps it took.
        scores: node -> plugin -> weighted score, of the nodes that fit, if there are several.
    """

    happened: str
    verdicts: Mapping[str, Verdict]
    sentence: str
    note: str
    steps: int
    scores: Mapping[str, Mapping[str, int]] = attrs.Factory(dict)

    @property
    def right(self) -> frozenset[str]:
        """The names that count as right: what happened, and nodes with an equal sum of scores."""
        return frozenset(name for name, verdict in self.verdicts.items() if verdict.right) | {self.happened}

    def groups(self) -> list[tuple[str, ...]]:
        """Return the nodes that are judged alike: equal verdicts and sums; each group sorted."""
        alike: dict[tuple[Any, ...], list[str]] = {}
        for name, each in sorted(self.verdicts.items()):
            if name not in (NONE, PENDING, GONE):
                reason = each.words if each.plugin else ""  # the chosen node is judged like others with its sum
                alike.setdefault((each.plugin, reason, each.total, each.also), []).append(name)
        return list(map(tuple, alike.values()))


def _steps_until(cluster: ClusterCore, done: Any) -> tuple[int, bool]:
    """Step until a condition holds; return the number of steps, and whether it holds."""
    for number in range(MOST_STEPS):
        if done():
            return number, True
        if not cluster.step():
            return number, False
    return MOST_STEPS, bool(done())


def _passes(cluster: ClusterCore, key: Key) -> list[Turn]:
    name = f"{key.namespace}/{key.name}"
    return [turn for turn in cluster.world.turns if turn.actor == PASS and turn.cause == name and not turn.quiet]


def _judged_next_pass(fork: ClusterCore, key: Key) -> tuple[int, Pass | None]:
    """Step a fork until the next pass over a pod; return the number of steps, and the pass if there is one."""
    before = len(_passes(fork, key))
    steps, found = _steps_until(fork, lambda: len(_passes(fork, key)) > before)
    return steps, judge_last_pass(fork, key) if found else None


def next_pass(cluster: ClusterCore, key: Key) -> Outcome:
    """Step a fork until the next pass over a pod, and judge every node by it."""
    fork = cluster.fork()
    steps, passed = _judged_next_pass(fork, key)
    if passed is None:
        gates = getattr(fork.world.log.objects.get(key), "spec", None)
        held = ", ".join(gate.name for gate in gates.scheduling_gates) if gates is not None else ""
        why = f"It is held by {held}" if held else "No pass takes it up until the cluster is idle"
        unjudged = Verdict(right=False, words="no pass judges it")
        verdicts = {node.metadata.name: unjudged for node in cluster.objects("nodes")}
        verdicts[NONE] = Verdict(right=True, words=why)
        return Outcome(NONE, verdicts, f"{why}: no node is judged.", "no pass", steps)
    verdicts = node_verdicts(passed)
    happened = passed.chosen or NONE
    fit, size = len(passed.judgement.feasible), len(passed.judgement.nodes)
    note = f"pass {passed.number}, {fit} of {size} node{'s fit' if size != 1 else ' fits'}"
    return Outcome(happened, verdicts, _why_chosen(passed), note, steps, _scores(passed))


def node_verdicts(passed: Pass) -> dict[str, Verdict]:
    """Return what a pass says of every node, and of none of them."""
    judgement, ranking = passed.judgement, passed.ranking
    totals = ranking.total() if ranking is not None else {}
    best = totals.get(passed.chosen)
    found: dict[str, Verdict] = {}
    for node in judgement.nodes:
        if judgement.rejected_by is not None:
            rejected = judgement.rejected_by
            found[node] = Verdict(right=False, words=rejected.message, plugin=rejected.plugin, resolvable=False)
        elif node in judgement.feasible:
            found[node] = _fitting(node, passed, totals, best)
        else:
            found[node] = _rejected(node, passed)
    fit = len(judgement.feasible)
    none = f"{counted(fit, 'node')} pass{'es' * (fit == 1)} all filters" if fit else "no node passes every filter"
    found[NONE] = Verdict(right=not passed.chosen, words=judgement.error or none)
    return found


def _fitting(node: str, passed: Pass, totals: Mapping[str, int], best: int | None) -> Verdict:
    total = totals.get(node)
    if node == passed.chosen:
        alone = len(passed.judgement.feasible) == 1
        words = "the only node that passes all filters" if alone else f"chosen, with {total} points"
        if passed.judgement.fitting_nominated_node and not alone:
            words = "the nominated node, which is taken without scores"
        return Verdict(right=True, words=words, total=total)
    if total is not None and total == best:
        return Verdict(right=True, words=f"an equal sum, {total}: counts as right", total=total)
    if total is not None and best is not None and passed.ranking is not None:
        return Verdict(right=False, words=f"fits, but {total} points against {best}",
                       evidence=_lost_points(passed, node), total=total)
    return Verdict(right=False, words="fits, but was not chosen", total=total)


def _lost_points(passed: Pass, node: str) -> str:
    """Return by which plugins a node has fewer points than the chosen one, most first."""
    assert passed.ranking is not None
    ours, theirs = passed.ranking.scores_of(node), passed.ranking.scores_of(passed.chosen)
    lost = sorted(((theirs[name][2] - ours[name][2], name) for name in ours), reverse=True)
    return ", ".join(f"{name} {ours[name][2]} to {theirs[name][2]}" for points, name in lost if points > 0)


def _rejected(node: str, passed: Pass) -> Verdict:
    judgement = passed.judgement
    first = judgement.first_rejecting[node]
    if first is None:
        names = ", ".join(judgement.leaving_out(node))
        return Verdict(right=False, words="outside the nodes that PreFilter allows", plugin=names, resolvable=False)
    cell = judgement.cell(node, first)
    others = (name for name in judgement.plugins if name != first)
    also = tuple(name for name in others if judgement.verdict(node, name)[1] is not Code.SUCCESS)
    return Verdict(right=False, words=cell.reason, plugin=first, evidence="; ".join(map(str, cell.evidence)),
                   resolvable=cell.status is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE, also=also)  # fmt: skip


def _scores(passed: Pass) -> dict[str, dict[str, int]]:
    if passed.ranking is None:
        return {}
    nodes = passed.ranking.decisive_nodes(passed.chosen, 12)
    return {node: {name: parts[2] for name, parts in passed.ranking.scores_of(node).items()} for node in nodes}


def _why_chosen(passed: Pass) -> str:
    judgement, ranking, chosen = passed.judgement, passed.ranking, passed.chosen
    if judgement.rejected_by is not None:
        rejected = judgement.rejected_by
        return f"{rejected.plugin} rejects the pod before any node is asked: {rejected.message}."
    if not chosen:
        return "No node passes all filters, so the pod stays in the queue."
    if ranking is None or chosen not in ranking.nodes:
        if judgement.fitting_nominated_node and len(judgement.rows) > 1:
            return f"{chosen} is the pod's nominated node and passes all filters, so no node is scored."
        return f"Only {chosen} passes all filters, so no node is scored."
    best, top = ranking.best, ranking.total()[chosen]
    if len(best) > 1:
        return f"{len(best)} nodes have {top} points each; among equals kube-scheduler draws, here {chosen}."
    return f"{chosen} has the highest sum of scores, {top}."


def first_rejection(cluster: ClusterCore, key: Key, node: str) -> tuple[Outcome, str, tuple[str, ...]]:
    """Step a fork until the next pass over a pod, and judge every plugin on one node.

    Args:
        cluster: the cluster; it does not move.
        key: the pod.
        node: the node; "" is the first by name that the pass rejects, or the first of all.

    Raises:
        ValueError: the cluster has no node, or no pass takes the pod up.
    """
    steps, passed = _judged_next_pass(cluster.fork(), key)
    if passed is None or not passed.judgement.nodes:
        raise ValueError(f"no scheduling pass takes up {ref(key)} until the cluster is idle")
    judgement = passed.judgement
    node = node or min([name for name, plugin in judgement.first_rejecting.items() if plugin] or judgement.nodes)
    first = judgement.first_rejecting[node] or NONE
    asked = tuple(name for name in judgement.plugins if name not in judgement.skipped)
    verdicts = {}
    for name in asked:
        cell = judgement.cell(node, name)
        evidence = "; ".join(map(str, cell.evidence))
        rejects = cell.status is not Code.SUCCESS
        words = PLUGIN_PASSES if not rejects else cell.reason
        if rejects and name != first:
            words = f"it would reject too ({cell.reason}), but {first} is asked before"
        verdicts[name] = Verdict(right=name == first, words=words, plugin=name, evidence=evidence)
    words = "every plugin passes it" if first == NONE else f"{first} rejects it"
    verdicts[NONE] = Verdict(right=first == NONE, words=words)
    sentence = f"{first} is the first in the order of plugins that rejects {node}: {verdicts[first].words}."
    if first == NONE:
        sentence = f"Every plugin passes {node}."
    note = f"pass {passed.number}, {len(asked)} of {len(judgement.plugins)} plugins have something to ask"
    return Outcome(first, verdicts, sentence, note, steps), node, asked


def end_of_pod(cluster: ClusterCore, key: Key) -> Outcome:
    """Step a fork until nobody has anything to do, and see where a pod is."""
    fork = cluster.fork()
    steps, _ = _steps_until(fork, lambda: False)
    pod = fork.world.log.objects.get(key)
    happened = GONE if pod is None else pod.spec.node_name or PENDING
    passed = judge_last_pass(fork, key) if pod is not None and _passes(fork, key) else None
    verdicts = node_verdicts(passed) if passed is not None else {}
    as_chosen = passed is not None and passed.chosen == happened  # then equal sums count as right
    verdicts = {name: attrs.evolve(each, right=each.right if as_chosen else name == happened)
                for name, each in verdicts.items()}  # fmt: skip
    for node in fork.objects("nodes"):
        name = node.metadata.name
        verdicts.setdefault(name, Verdict(right=name == happened, words="no pass judged it"))
    where = {GONE: "it is deleted", PENDING: "no node takes it"}.get(happened, f"it is on {happened}")
    for name in (PENDING, GONE):
        verdicts[name] = Verdict(right=name == happened, words=where)
    if pod is None:
        sentence = f"{ref(key)} is deleted."
    elif happened == PENDING:
        sentence = f"{ref(key)} stays Pending: {_why_chosen(passed) if passed is not None else 'no pass judged it.'}"
    else:
        sentence = f"{ref(key)} is {pod.status.phase} on {happened}."
    return Outcome(happened, verdicts, sentence, f"after {counted(steps, 'step')}, t={fork.now:g} s", steps)


def volume_of(cluster: ClusterCore, key: Key, names: Iterable[str]) -> Outcome:
    """Step a fork until a claim has its volume or nobody has anything to do, and compare every volume with it.

    Args:
        cluster: the cluster; it does not move.
        key: the claim.
        names: the volumes that are candidates.
    """
    fork = cluster.fork()
    known = {volume.metadata.name for volume in cluster.objects("pv")}
    steps, _ = _steps_until(fork, lambda: key not in fork.world.log.objects or _volume_name(fork, key))
    got = _volume_name(fork, key) if key in fork.world.log.objects else ""
    happened = NONE if not got else got if got in known else NEW
    claim: PersistentVolumeClaim = cluster.world.log.objects[key]
    node = volumes.selected_node(fork.world.log.objects.get(key, claim)) or _node_of_user(fork, key)
    verdicts = {}
    for name in names:
        volume: PersistentVolume = cluster.world.log.objects[Key("PersistentVolume", "", name)]
        words, evidence = _against(claim, volume, fork, node, happened)
        verdicts[name] = Verdict(right=False, words=words, evidence=evidence)
        if name == happened:
            verdicts[name] = Verdict(right=True, words="it is bound to the claim")
    made = f"{got} is made for it" if happened == NEW else "none is made: a volume that exists fits"
    made = "none is made until the cluster is idle" if happened == NONE else made
    verdicts[NEW] = Verdict(right=happened == NEW, words=made)
    stays = f"it gets {got}" if got else "the claim stays without volume"
    verdicts[NONE] = Verdict(right=happened == NONE, words=stays)
    near = f" and can be reached from {node}" if node else ""
    how = "a volume made for it" if happened == NEW else f"the smallest free volume that fits{near}"
    sentence = f"{ref(key)} gets {got}, {how}." if got else f"{ref(key)} stays unbound."
    return Outcome(happened, verdicts, sentence, f"after {counted(steps, 'step')}, t={fork.now:g} s", steps)


def _volume_name(cluster: ClusterCore, key: Key) -> str:
    return str(cluster.world.log.objects[key].spec.volume_name)


def _node_of_user(cluster: ClusterCore, key: Key) -> str:
    """Return the node of a pod that uses a claim, or that the scheduler chose for it; "" for none."""
    for pod in cluster.objects("pods"):
        if pod.metadata.namespace == key.namespace and key.name in pod.claim_names():
            if pod.spec.node_name:
                return str(pod.spec.node_name)
            passed = judge_last_pass(cluster, Key("Pod", key.namespace, pod.metadata.name))
            return passed.chosen if passed is not None else ""
    return ""


def _against(claim: PersistentVolumeClaim, volume: PersistentVolume, cluster: ClusterCore, node: str,
             happened: str) -> tuple[str, str]:
    """Return why a claim does not get a volume, and both sides of the comparison."""
    size = volume.spec.capacity.get("storage", "0")
    if volumes.capacity(volume) < volumes.requested(claim):
        return "too small", f"{size} < {claim.spec.resources.requests['storage']}"
    if not volumes.has_access_modes(volume, claim):
        return "other access modes", f"{', '.join(volume.spec.access_modes)} ≠ {', '.join(claim.spec.access_modes)}"
    if not volumes.have_same_mode(claim, volume):
        return "another volume mode", f"{volumes.mode(volume)} ≠ {volumes.mode(claim)}"
    if volume.status.phase not in ("Available", ""):
        return f"it is {volume.status.phase}", ""
    if claim.spec.selector is not None and not claim.spec.selector.matches(volume.metadata.labels):
        return "the claim's selector does not match its labels", ""
    there: Any = cluster.world.log.objects.get(Key("Node", "", node)) if node else None
    if there is not None and not volumes.volume_fits_node(volume, there):
        return f"it cannot be reached from {node}", ""
    winner: Any = cluster.world.log.objects.get(Key("PersistentVolume", "", happened))
    if winner is not None:
        other = winner.spec.capacity.get("storage", "0")
        if volumes.capacity(volume) > volumes.capacity(winner):
            return f"it fits, but {happened} is smaller", f"{other} < {size}"
        return f"it fits as well, but {happened} comes first of equals", ""
    return f"{volume.metadata.name} is not taken", ""


def next_turn(cluster: ClusterCore, turns: Sequence[Turn]) -> Outcome:
    """Step a fork once, and say why the others who might act wait."""
    names = [turn.actor or turn.component for turn in turns]
    since = {(each.actor, each.cause): each.since for each in cluster.world.next_actors()}
    first = turns[0]
    happened = turn_name(first, names)
    began = since.get((first.actor, first.cause))
    verdicts = {}
    for turn in turns:
        name, waits = turn_name(turn, names), since.get((turn.actor, turn.cause))
        longer = waits is not None and began is not None and waits > began
        words = "its work has waited less" if longer else "another component has the oldest unseen change"
        right = name == happened
        verdicts[name] = Verdict(right=right, words="it goes next" if right else words,
                                 evidence=f"since change {waits}, {happened} since change {began}" if longer else "")
    step = cluster.fork().step()
    sentence = step.words or f"{happened} acts."
    return Outcome(happened, verdicts, sentence, f"t={step.time:g} s", 1)
