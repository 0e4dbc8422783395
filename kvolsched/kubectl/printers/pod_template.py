"""`Pod Template` in `kubectl describe`, and the sections that it shares with pods: spread constraints, tolerations."""

from collections.abc import Iterator, Sequence

from ...api.kinds.pod import PodTemplateSpec, TopologySpreadConstraint
from ...api.kinds.selector import Toleration
from ..formatting import NONE, annotation_lines, field_lines, format_selector, label_lines
from .containers import container_lines
from .volume_sources import volume_lines


def template_lines(template: PodTemplateSpec) -> Iterator[str]:
    """Yield the section `Pod Template`."""
    spec, space = template.spec, "  "
    yield "Pod Template:"
    yield from label_lines("  Labels", template.metadata.labels)
    if template.metadata.annotations:
        yield from annotation_lines("  Annotations", template.metadata.annotations)
    if spec.rest.get("serviceAccountName"):
        yield f"  Service Account:\t{spec.rest['serviceAccountName']}"
    if spec.init_containers:
        yield from container_lines("Init Containers", spec.init_containers, (), None, space)
    yield from container_lines("Containers", spec.containers, (), None, space)
    yield from volume_lines(spec.volumes, space)
    yield from spread_constraint_lines(spec.topology_spread_constraints, space)
    if spec.priority_class_name:
        yield f"  Priority Class Name:\t{spec.priority_class_name}"
    yield from label_lines("  Node-Selectors", spec.node_selector)
    yield from field_lines("  Tolerations", format_tolerations(spec.tolerations))


def spread_constraint_lines(constraints: Sequence[TopologySpreadConstraint], space: str = "") -> list[str]:
    """Return the topology spread constraints, one a line; nothing without any."""
    items = []
    for constraint in sorted(constraints, key=lambda constraint: constraint.topology_key):
        selector = constraint.label_selector
        selected = f" for selector {format_selector(selector) or NONE}" if selector is not None else ""
        mode, skew = constraint.when_unsatisfiable, constraint.max_skew
        items.append(f"{constraint.topology_key}:{mode} when max skew {skew} is exceeded{selected}")
    return field_lines(f"{space}Topology Spread Constraints", items, f"{space}\t") if items else []


def format_tolerations(tolerations: Sequence[Toleration]) -> list[str]:
    """Return tolerations sorted by key: `dedicated=db:NoSchedule`, `key:NoExecute op=Exists for 300s`."""
    return [_format_toleration(toleration) for toleration in sorted(tolerations, key=lambda toleration: toleration.key)]


def _format_toleration(toleration: Toleration) -> str:
    text = toleration.key + (f"={toleration.value}" if toleration.value else "")
    text += f":{toleration.effect}" if toleration.effect else ""
    if toleration.operator == "Exists" and not toleration.value:
        text = f"{text} op=Exists" if text else "op=Exists"
    return text if toleration.toleration_seconds is None else f"{text} for {toleration.toleration_seconds}s"
