"""The options of the cluster autoscaler: its node groups, and its flags with their defaults."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api.defaults import with_defaults
from kvolsched.api.dials import RATE, SECONDS, SWITCH, Values, choice, dial, whole
from kvolsched.api.kinds.csi import CSINode
from kvolsched.api.kinds.meta import ObjectMeta, evolve_parts, thaw
from kvolsched.api.kinds.node import HOSTNAME_LABEL, Node
from kvolsched.api.text import manifest
from kvolsched.api.unknown_name import UnknownName, did_you_mean

EXPANDERS = ("least-waste", "most-pods", "priority", "random")
GROUP_FIELDS = ("name", "min", "max", "template", "nodes", "stock")


@attrs.frozen(kw_only=True)
class NodeGroup:
    """Machines of one kind that the cloud makes and removes on request.

    Args:
        name: the name of the group; its machines are called `NAME-1`, `NAME-2` and so on.
        template: the Node that a new machine registers.
        csi_node: its CSINode, if drivers run on it.
        min, max: the bounds of the number of machines; as in the real one, a group below its minimum is not filled up.
        nodes: names of nodes that are in the group from the start.
        stock: how many further machines the cloud has; None for any number. A request beyond it is never met.
    """

    name: str
    template: Node
    csi_node: CSINode | None = None
    min: int = 0
    max: int = 10
    nodes: tuple[str, ...] = ()
    stock: int | None = None

    def node(self, name: str) -> Node:
        """Return the Node that a machine of this name registers."""
        labels = self.template.metadata.labels.merged({HOSTNAME_LABEL: name})
        kept = ObjectMeta(name=name, labels=labels, annotations=self.template.metadata.annotations)
        rest = self.template.spec.rest.merged({"providerID": f"group://{self.name}/{name}"})
        return evolve_parts(attrs.evolve(self.template, metadata=kept), spec={"rest": rest})

    def registered(self, name: str) -> tuple[Any, ...]:
        """Return the objects that a machine of this name registers."""
        if self.csi_node is None:
            return (self.node(name),)
        return self.node(name), attrs.evolve(self.csi_node, metadata=ObjectMeta(name=name))


@attrs.frozen(kw_only=True)
class AutoscalerOptions:
    """The dials of the cluster autoscaler: its node groups and flags."""

    groups: tuple[NodeGroup, ...] = dial(
        (), Values("a list of mappings", lambda given, _before: read_groups(thaw(given))),
        f"the node groups, each with {', '.join(GROUP_FIELDS)}; the expander priority prefers those named first",
        "S3, Story 2: with an autoscaler a further node is created",
    )
    scan_interval: float = dial(
        10.0, SECONDS, "after a change until it looks at the cluster (the real one looks at these intervals)"
    )
    provisioning_delay: float = dial(60.0, SECONDS, "from the request for a machine to its registration")
    max_node_provision_time: float = dial(
        900.0, SECONDS, "after which a requested machine is given up, and its group is left alone"
    )
    expander: str = dial("least-waste", choice(*EXPANDERS), "which group grows if several would help")
    scale_down: bool = dial(True, SWITCH, "whether it removes nodes")
    unneeded_time: float = dial(600.0, SECONDS, "for which a node must be unneeded before it is removed")
    delay_after_add: float = dial(600.0, SECONDS, "after a scale-up in which no node is removed")
    utilization_threshold: float = dial(
        0.5, RATE, "a node whose requests are less than this share of cpu and of memory may be unneeded"
    )
    expendable_priority: int = dial(-10, whole(-(2**31)), "pods of a lower priority trigger no scale-up")
    skip_local_storage: bool = dial(True, SWITCH, "whether nodes with pods that have emptyDir or hostPath volumes stay")
    skip_system_pods: bool = dial(
        True, SWITCH, "whether nodes with pods of kube-system that no disruption budget covers stay"
    )

    def group(self, name: str) -> NodeGroup | None:
        """Return the group of a name, or None."""
        return next((group for group in self.groups if group.name == name), None)


def read_groups(dials: Any) -> tuple[NodeGroup, ...]:
    """Return node groups from `[{"name": "spot", "min": 0, "max": 5, "template": NODE}]`.

    A template is a Node as a mapping or YAML, or a Node and a CSINode as a list or as YAML documents.

    Raises:
        ValueError: a group has an unknown field or a wrong value; the message names the group, the field and the value.
    """
    if not isinstance(dials, Sequence) or isinstance(dials, str):
        raise ValueError(f"groups are a list of mappings with {', '.join(GROUP_FIELDS)}, not {dials!r}")  # noqa: TRY004
    groups = tuple(each if isinstance(each, NodeGroup) else _group(number, each) for number, each in enumerate(dials))
    names = [group.name for group in groups]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"groups: {', '.join(twice)} stands there more than once")
    return groups


def _group(number: int, dials: Any) -> NodeGroup:
    path = f"groups[{number}]"
    if not isinstance(dials, Mapping):
        raise ValueError(f"{path}: {dials!r} is no group; it is a mapping with {', '.join(GROUP_FIELDS)}")  # noqa: TRY004
    if unknown := [word for word in dials if word not in GROUP_FIELDS]:
        hint = did_you_mean(str(unknown[0]), GROUP_FIELDS)
        listed = ", ".join(GROUP_FIELDS)
        raise UnknownName(f"{path}: a group has no {', '.join(map(str, unknown))}; there are: {listed}{hint}")
    name = dials.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{path}.name: {name!r} is no name")
    least, most = dials.get("min", 0), dials.get("max", 10)
    stock = dials.get("stock")
    for word, bound in (("min", least), ("max", most), *((("stock", stock),) if stock is not None else ())):
        if not isinstance(bound, int) or isinstance(bound, bool) or bound < 0:
            raise ValueError(f"{path}.{word}: {bound!r} is no number of machines")
    if least > most:
        raise ValueError(f"{path}: min {least} is more than max {most}")
    node, csi_node = _template(path, dials.get("template"))
    members = tuple(dials.get("nodes", ()))
    return NodeGroup(name=name, min=least, max=most, template=node, csi_node=csi_node, nodes=members, stock=stock)


def _template(path: str, template: Any) -> tuple[Node, CSINode | None]:
    """Return the Node and the CSINode of a template."""
    if not template:
        raise ValueError(f"{path}.template: a group needs the manifest of a Node")
    parts = list(template) if isinstance(template, list | tuple) else [template]
    named = [{**part, "metadata": {"name": "template", **(part.get("metadata") or {})}}
             if isinstance(part, Mapping) else part for part in parts]  # each machine replaces the name
    try:
        found = manifest.read(named).objects
    except manifest.ManifestError as faults:
        raise ValueError(f"{path}.template: {faults}") from None
    nodes = [with_defaults(obj) for obj in found if isinstance(obj, Node)]
    csi_nodes = [obj for obj in found if isinstance(obj, CSINode)]
    if len(nodes) != 1 or len(csi_nodes) > 1 or len(found) != len(nodes) + len(csi_nodes):
        kinds = ", ".join(obj.kind for obj in found) or "nothing"
        raise ValueError(f"{path}.template: one Node, and at most one CSINode, make a template, not {kinds}")
    node = nodes[0]
    if not node.status.allocatable:
        raise ValueError(f"{path}.template: status.allocatable is missing: what would a machine have room for?")
    return node, csi_nodes[0] if csi_nodes else None
