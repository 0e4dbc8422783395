"""The pass alone: every node judged, those that fit ranked, one taken, its volumes and the pod reserved there.

That is what kube-scheduler does in SchedulePod, AssumePod and Reserve, but for all nodes; nothing is written.
Microseconds by plugin are those of its PreFilter, Filter, PostFilter, Score and NormalizeScore; the rest of a pass is
the framework's.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...cluster import Cluster
from ...scheduler.columns.column import RowWise
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.judgement import judge
from ...scheduler.framework.profile import Profile
from ...scheduler.framework.ranking import rank
from ...scheduler.loop.scheduling_cycle import SCHEDULER, post_filter
from ...world.apiserver import key_of
from ...world.log import Key
from .workloads import Workload

COUNT = 300  # pods of one run, at most
FEWEST = 5
RUNS = 5
BUDGET = 0.3  # CPU seconds of one run; where a pass is slow, a run has fewer pods, and there are fewer runs
TIE = 7919  # a prime: pods take different nodes of those that rank highest
MEASURED = ("prefilter", "column", "rule", "postfilter", "score", "normalise")
MEASURED_BY_ROW = ("column_by_row", "score_by_row")
# They count only in the class that has them; without them nothing would be kept, and another pass be measured.
DECLARED = ("template_fields", "prefilter_fields")


class PassTimer:
    """Times passes of a workload's pods, each counted on its chosen node; every run begins with the same cluster.

    Args:
        workload: whose pods and cluster.
        nodes: how many nodes there are.
        pods: how many passes a run has.
        beside: further manifests of the cluster.
    """

    def __init__(self, workload: Workload, nodes: int, pods: int = COUNT, beside: Iterable[Any] = ()) -> None:
        cluster = Cluster("upstream", components=workload.components)
        there = workload.pods(nodes, pods)
        cluster._load([*workload.cluster(nodes, pods), *beside, *there])
        process = cluster.world.processes[SCHEDULER]
        cluster.world.deliver(process)
        self.seen: Snapshot = process.views["cache"].snapshot  # type: ignore[attr-defined]
        self.profile: Profile = cluster.revision.profile
        self.decide = cluster.revision.flow.volume_binding.decide
        names = (obj.metadata.name for obj in there if obj.kind == "Pod")
        self.pods: list[Pod] = [cluster[f"pod/{name}"] for name in names]
        self._undo: list[tuple[Key, Any, Any]] = []
        every, self.pods = self.pods, self.pods[:FEWEST]
        self.pods = every[: max(FEWEST, int(BUDGET / max(1e-9, min(self.seconds()))))]

    def seconds(self, profile: Profile | None = None, after: Callable[[], None] = lambda: None) -> list[float]:
        """Return the seconds of each pass of one run, and take back all that it reserved.

        Args:
            profile: other plugins than those of the revision.
            after: called after each pass.
        """
        profile, taken, clock = profile or self.profile, [], time.thread_time
        gc.disable()
        try:
            for number, pod in enumerate(self.pods):
                start = clock()
                self._pass(number, pod, profile)
                taken.append(clock() - start)
                after()
        finally:
            gc.enable()
            while self._undo:
                key, old, new = self._undo.pop()
                self.seen.apply(key, new, old)
        return taken

    def _pass(self, number: int, pod: Pod, profile: Profile) -> None:
        self.seen.visits.begin_pass()
        judgement = judge(pod, self.seen, profile)
        if not judgement.any_feasible:
            post_filter(pod, judgement)
            return
        ranking = rank(judgement)
        node = ranking.best_node(number * TIE % ranking.tie_count)
        if pod.spec.volumes:
            self._reserve_volumes(pod, node)
        self._apply(key_of(pod), pod, evolve_parts(pod, spec={"node_name": node}))

    def _reserve_volumes(self, pod: Pod, node: str) -> None:
        """Assume the volumes of a pod on a node: prebound ones, and claims with their selected node."""
        decision = self.decide(pod, node, self.seen)
        for claim_key, volume_key in decision.static:
            claim, volume = self.seen.claim(claim_key.namespace, claim_key.name), self.seen.volume(volume_key.name)
            assert claim is not None
            assert volume is not None
            self._apply(volume_key, volume, volumes.bind_volume_to_claim(volume, claim))
        for key in decision.provision:
            claim = self.seen.claim(key.namespace, key.name)
            assert claim is not None
            self._apply(key, claim, volumes.with_selected_node(claim, node, volumes.UPSTREAM))

    def _apply(self, key: Key, old: Any, new: Any) -> None:
        self.seen.apply(key, old, new)
        self._undo.append((key, old, new))

    def least(self, runs: int = RUNS) -> float:
        """Return the seconds of a pass: the mean over the pods of each pod's least over some runs."""
        return alternately((self,), runs)[0]

    def share(self, without: frozenset[str], runs: int = 15) -> float:
        """Return the cost of a pass divided by that of one without these plugins, measured alternately."""
        fewer = self.profile.without(*without)
        pairs = [(self.seconds(), self.seconds(fewer)) for _ in range(runs)]
        return _mean_of_least([whole for whole, _ in pairs]) / _mean_of_least([part for _, part in pairs])

    def by_plugin(self, runs: int = RUNS) -> dict[str, float]:
        """Return the microseconds that each plugin takes of a pass, the slowest first.

        A clock around every call costs some time of its own, which is measured and taken off.
        """
        clock = time.thread_time_ns
        overhead = min(-(clock() - clock()) for _ in range(1_000))  # of reading it twice
        timed = [_PluginClock(enabled.plugin) for enabled in self.profile.plugins]
        both = list(zip(self.profile.plugins, timed, strict=True))
        plugins = tuple(attrs.evolve(each, plugin=clock.plugin) for each, clock in both)
        profile = attrs.evolve(self.profile, plugins=plugins)
        found: list[list[list[float]]] = [[] for _ in timed]  # by plugin, run and pass
        taken = 0.0
        while len(found[0]) < runs and taken < runs * BUDGET:
            for times in found:
                times.append([])

            def after() -> None:
                for each, times in zip(timed, found, strict=True):
                    times[-1].append(each.taken(overhead))

            taken += sum(self.seconds(profile, after))
        means = {enabled.name: _mean_of_least(times) for (enabled, _), times in zip(both, found, strict=True)}
        return dict(sorted(means.items(), key=lambda item: -item[1]))


def alternately(timers: Sequence[PassTimer], runs: int = RUNS) -> list[float]:
    """Return for each of some timers the seconds of a pass, as `least`, the runs measured in turn."""
    gc.collect()
    found: list[list[list[float]]] = [[] for _ in timers]
    taken = 0.0
    while len(found[0]) < runs and taken < runs * BUDGET * len(timers):
        for timer, times in zip(timers, found, strict=True):
            times.append(timer.seconds())
            taken += sum(times[-1])
    return [_mean_of_least(times) for times in found]


def _mean_of_least(runs: Sequence[Sequence[float]]) -> float:
    """Return the mean over the pods of each pod's least time over the runs."""
    least: list[float] = [min(times) for times in zip(*runs, strict=True)]
    return sum(least) / len(least)


class _PluginClock:
    """A clock around each method of a plugin that a pass calls; `plugin` is the plugin with it. Mutable."""

    def __init__(self, plugin: Any) -> None:
        self._nanoseconds = self._calls = 0
        own = type(plugin)
        methods = {name: staticmethod(self._timed(getattr(plugin, name))) for name in MEASURED if hasattr(plugin, name)}
        methods |= {name: staticmethod(self._timed_by_row(getattr(plugin, name))) for name in MEASURED_BY_ROW
                    if hasattr(plugin, name)}  # fmt: skip
        declared = {name: vars(own)[name] for name in DECLARED if name in vars(own)}
        self.plugin: Any = object.__new__(type(own.__name__, (own,), {**methods, **declared}))
        names = [field.name for field in attrs.fields(own)] if attrs.has(own) else list(vars(plugin))
        for name in names:
            object.__setattr__(self.plugin, name, getattr(plugin, name))

    def taken(self, overhead: int) -> float:
        """Return the microseconds since this was asked last, without the clock's own."""
        found = max(0, self._nanoseconds - overhead * self._calls) / 1e3
        self._nanoseconds = self._calls = 0
        return found

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        clock = time.thread_time_ns

        def timed(*args: Any) -> Any:
            start = clock()
            try:
                return method(*args)
            finally:
                self._nanoseconds += clock() - start
                self._calls += 1

        return timed

    def _timed_by_row(self, method: Callable[..., RowWise | None]) -> Callable[..., RowWise | None]:
        """Return the method with a clock around it, and around what it returns."""
        timed = self._timed(method)

        def by_row(pod: Pod, nodes: Any) -> RowWise | None:
            found: RowWise | None = timed(pod, nodes)
            if found is None:
                return None
            return RowWise(None if found.one is None else self._timed(found.one), self._timed(found.some))

        return by_row
