"""Completion indexes of an Indexed Job: the index of a pod, and texts such as `0,2-4`.

Mirrors `indexed_job_utils.go` (v1.36.2).
"""

import re
from collections.abc import Iterable
from itertools import groupby

from ...api.kinds.meta import Frozen, evolve, evolve_parts
from ...api.kinds.pod import Container, Pod

INDEX = "batch.kubernetes.io/job-completion-index"  # label and annotation
_INTERVAL = re.compile(r"([0-9]+)(?:-([0-9]+)(?:-|\Z)|\Z)")
_VARIABLE = Frozen({
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": Frozen(fieldRef=Frozen(fieldPath=f"metadata.labels['{INDEX}']")),
})  # fmt: skip


def index_of(pod: Pod) -> int | None:
    """Return the completion index of a pod's annotation, or None."""
    text = str(pod.metadata.annotations.get(INDEX, ""))
    return int(text) if text.isdecimal() else None


def with_index(pod: Pod, index: int, hostname: str) -> Pod:
    """Return a pod with its completion index: as annotation, label, hostname and environment variable."""
    meta, own = pod.metadata, {INDEX: str(index)}
    containers, init_containers = (
        tuple(map(_with_variable, each)) for each in (pod.spec.containers, pod.spec.init_containers)
    )
    return evolve_parts(
        pod, metadata={"labels": meta.labels.merged(own), "annotations": meta.annotations.merged(own)},
        spec={"containers": containers, "init_containers": init_containers,
              "rest": pod.spec.rest.merged({"hostname": hostname})}
    )  # fmt: skip


def _with_variable(container: Container) -> Container:
    variables = container.rest.get("env", ())
    if any(variable.get("name") == _VARIABLE["name"] for variable in variables):
        return container
    return evolve(container, rest=container.rest.merged({"env": (*variables, _VARIABLE)}))


def parse_indexes(text: str, completions: int) -> set[int]:
    """Return the indexes below `completions` that a text lists; an interval that cannot be read is left out."""
    found: set[int] = set()
    for interval in filter(None, map(_INTERVAL.match, text.split(","))):
        first, last = interval.groups()
        found.update(range(int(first), min(int(last or first), completions - 1) + 1))
    return found


def format_indexes(indexes: Iterable[int]) -> str:
    """Return the text that lists indexes; three and more in a row are an interval."""
    parts = []
    for _, numbered in groupby(enumerate(sorted(indexes)), key=lambda pair: pair[1] - pair[0]):
        run = [index for _, index in numbered]
        ends = [run[0]] if len(run) == 1 else [run[0], run[-1]]
        parts.append(("-" if len(run) > 2 else ",").join(map(str, ends)))
    return ",".join(parts)
