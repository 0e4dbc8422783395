"""One recorded run of a real control plane, for comparison with a simulated one: who wrote what, and when."""

from __future__ import annotations

from pathlib import Path

import attrs

from kvolsched.cluster import Cluster
from kvolsched.revision import Revision, revision_named

from .recording import Case, read
from .trace_player import TracePlayer


@attrs.frozen(repr=False)
class Trace:
    """A recorded run: its question, and its writes as lines in the order in which they were observed."""

    name: str
    question: str
    version: str
    timeline: tuple[str, ...]
    case: Case = attrs.field(repr=False)

    def __repr__(self) -> str:
        return f"{self.name}, recorded from Kubernetes {self.version}: {len(self.timeline)} writes\n{self.question}"

    def __len__(self) -> int:
        return len(self.timeline)

    def cluster(self, revision: str | Revision = "upstream") -> Cluster:
        """Return a simulated cluster in which the recorded user actions were replayed until nothing was left to do."""
        cluster = TracePlayer(self.case["steps"], revision_named(revision)).cluster
        cluster.name = f"{self.name}, here"
        return cluster


def trace(path: Path | str) -> Trace:
    """Read one recorded run from its file.

    Raises:
        ValueError: the file contains no recorded run, or several.
        OSError: it cannot be read.
    """
    cases = [recorded.case for recorded in read(Path(path)) if recorded.family == "traces"]
    if len(cases) != 1:
        raise ValueError(f"{path}: holds {len(cases)} recorded runs of a control plane; expected one")
    (case,) = cases
    return Trace(case["name"], case["question"], case["version"], tuple(case["timeline_of_run_1"]), case)
