"""What a reader asks of a large dump, each question beside its aim in CPU seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...cluster import Cluster
from ...kubectl import describe
from .measuring import cpu_seconds, least_cpu_seconds, settling_heap

PODS = 10_000
READING = 10  # seconds for so many pods; the aims of questions are those of every dump
PENDING = 300  # pods of the dump that fit nowhere, for ten causes
Question = Callable[[Cluster, str], Any]
QUESTIONS: tuple[tuple[str, Question, float], ...] = (  # in this order: the first one builds what the others share
    (f"why each of {PENDING} pods is pending", lambda c, _: repr(c.why()), 10),
    ("why one is", lambda c, pod: repr(c.why(pod)), 1),
    ("its fixes", lambda c, pod: repr(c.fix(pod)), 5),
    ("a fork", lambda c, _: c.fork(), 0.1),
    ("the panel", lambda c, _: c.lab(), 3),
    ("the cluster in a line", lambda c, _: repr(c), 1),
    ("its pods", lambda c, _: repr(c.get("pods", "team-0")), 1),
    ("a node described", lambda c, _: repr(describe(c, "node/node-00001")), 1),
    ("the verdicts on a pod", lambda c, pod: repr(c.verdicts(pod)), 1),
    ("its skew", lambda c, pod: repr(c.skew(pod)), 1),
    ("its capacity", lambda c, pod: repr(c.capacity(pod)), 1),
    ("its story", lambda c, pod: repr(c.story(pod)), 1),
    ("the map", lambda c, _: repr(c.map()), 1),
    ("the events", lambda c, _: repr(c.events()), 1),
    ("the timeline", lambda c, _: repr(c.writes(lanes=True)), 1),
    ("who may act next", lambda c, _: repr(c.next), 1),
    ("a step", lambda c, _: c.step(), 1),
    ("a step back", lambda c, _: c.back(), 1),
)


def dump_figures(path: Path, pods: int = PODS) -> Iterator[tuple[str, float, float]]:
    """Yield the name, the CPU seconds and the aim of reading a dump of so many pods and of each question about it."""
    loaded: list[Cluster] = []
    yield f"a dump of 5,000 nodes and {pods:,} pods read", least_cpu_seconds(
        lambda: loaded.append(Cluster.from_manifests(path)), runs=1), READING * pods / PODS  # fmt: skip
    cluster = loaded[0]
    pod = next(f"pod/{each.metadata.namespace}/{each.metadata.name}" for each in cluster.objects("pods")
               if not each.spec.node_name and any(each.claim_names()))  # fmt: skip
    with settling_heap() as settle:
        for name, ask, aim in QUESTIONS:
            settle()
            seconds = cpu_seconds(lambda: ask(cluster, pod))  # noqa: B023 - called at once
            yield f"  {name}", seconds, aim
