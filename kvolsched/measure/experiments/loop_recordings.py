"""Loops recorded from Kubernetes 1.11, played on our actors: which pods have all their volumes in the end, and no node.

1.11 did what S0 says: volumes are assumed, the pod is not, and it goes through the scheduler again. A recording has the
cluster, who acted in which order, and how it ended (family `design-loop`); here both ends are counted in the same way.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from tqdm.auto import tqdm

from kvolsched.api.notebook_output import PrintedAnswer, Rows, table_text

from ...cluster import Cluster
from ...rules.named import revision_named
from ...rules.revision import Revision
from ..conform import Recorded, read
from ..conform.design_loop import FAMILY, end_of, expected_end, play

NO_NODE_FITS = "0/"  # how the scheduler's sentence begins if the pod's claims are bound, and every node is rejected
CPU = "Insufficient cpu"


@attrs.frozen
class StrandedPod:
    """A pod that has all its volumes and no node: its last pass found none that fits.

    Args:
        name: of the pod.
        sentence: what the scheduler said in that pass.
    """

    name: str
    sentence: str


@attrs.frozen
class RecordedLoopRow:
    """One recorded cluster, and how it ended.

    Args:
        id: the name of the recording.
        pods: how many pods it has.
        recorded: the stranded pods in Kubernetes' own run.
        here: those of ours, by the same script of who acts when.
        manifests: the objects that it began with.
    """

    id: str
    pods: int
    recorded: tuple[StrandedPod, ...]
    here: tuple[StrandedPod, ...]
    manifests: tuple[Mapping[str, Any], ...] = attrs.field(repr=False, eq=False)

    def cluster(self, rules: str | Revision = "design") -> Cluster:
        """Return the cluster as it began, before anybody acted, under these rules."""
        objects = [dict(each) for each in self.manifests]
        return Cluster.from_manifests(objects, revision=revision_named(rules), name=self.id)


@attrs.frozen(repr=False)
class RecordedLoops(Rows[RecordedLoopRow], PrintedAnswer):
    """Recorded loops beside ours, a row each; the text counts the stranded pods of both."""

    rows: tuple[RecordedLoopRow, ...]

    @property
    def recorded(self) -> list[StrandedPod]:
        """The stranded pods of all recordings."""
        return [pod for row in self for pod in row.recorded]

    @property
    def here(self) -> list[StrandedPod]:
        """The stranded pods of all our runs."""
        return [pod for row in self for pod in row.here]

    def __repr__(self) -> str:
        head = f"{len(self)} recorded loops with {sum(row.pods for row in self)} pods; stranded: all volumes, no node"
        lines = [(name, str(len(pods)), str(sum(CPU in pod.sentence for pod in pods)))
                 for name, pods in (("Kubernetes 1.11", self.recorded), ("kvolsched, design", self.here))]
        return "\n".join([head, *table_text([("", "STRANDED", "CPU TAKEN"), *lines])])


def recorded_loops(file: str | Path, *, progress: bool = True) -> RecordedLoops:
    """Play the loops of a file that were recorded from Kubernetes 1.11; count stranded pods there and here.

    A pod is stranded if all its claims are bound, it has no node, and the last pass that it had found every node
    rejected. A pod whose last pass was before its claims were bound is not counted.

    Args:
        file: recordings of the family `design-loop`.
        progress: show a progress bar if it takes long.

    Raises:
        ValueError: the file has none, or others.
        OSError: it cannot be read.
    """
    cases = read(Path(file))
    if not cases or any(each.family != FAMILY for each in cases):
        raise ValueError(f"{file}: wants recordings of the family {FAMILY}")
    rules = revision_named("design")
    bar = tqdm(cases, unit=" loops", disable=not progress, leave=False, delay=1.0)
    return RecordedLoops(tuple(_row(each, rules) for each in bar))


def _row(recorded: Recorded, rules: Revision) -> RecordedLoopRow:
    case = recorded.case
    steps, end = expected_end(case)
    script = {name: value for name, value in case.items() if name != "expect"}
    stage, _, done = play(script, rules)
    manifests = (*case["objects"], *case["pods"])
    return RecordedLoopRow(recorded.id, len(case["pods"]), tuple(_stranded(case["pods"], steps, end)),
                           tuple(_stranded(case["pods"], done, end_of(stage))), manifests)


def _stranded(pods: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]],
              end: Mapping[str, Any]) -> Iterator[StrandedPod]:
    """Yield the pods that have their volumes at this end, no node, and a last pass in which no node fits."""
    for pod in pods:
        name = pod["metadata"]["name"]
        claims = [each["persistentVolumeClaim"]["claimName"] for each in pod["spec"].get("volumes", ())
                  if "persistentVolumeClaim" in each]
        passes = [step for step in steps if step["step"].get("schedule") == name and not step.get("skipped")]
        said = [event["message"] for step in passes[-1:] for event in step.get("events", ())]
        bound = claims and all(end.get(f"PersistentVolumeClaim default/{claim}") for claim in claims)
        if bound and not end[f"Pod {name}"] and said and said[-1].startswith(NO_NODE_FITS):
            yield StrandedPod(name, said[-1])
