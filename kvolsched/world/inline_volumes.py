"""Inline volumes take room: a driver's node service makes one when a pod starts, and removes it when the pod has ended.

The kubelet asks for them; what they take of the driver's pools is a note of the world, as for provisioned volumes. A
driver without pools makes every volume. Source: S2, Summary and Size of ephemeral inline volumes.
"""

from collections.abc import Iterator, Mapping

import attrs

from ..api.kinds.csi import CSIDriver
from ..api.kinds.meta import EMPTY
from ..api.kinds.node import Node
from ..api.kinds.pod import Pod
from ..api.kinds.pod_volume import Volume
from ..api.kinds.quantity import value
from ..api.volumes import NodeService, publish_context
from .log import Log
from .storage_pools import DriverStorage, segment_of_node


@attrs.frozen
class InlineVolumes:
    """The inline volumes of pods, as drivers' node services publish them.

    Args:
        services: driver -> its node service, if it differs from the usual one.
        storages: driver -> its pools; a driver that is not listed has unlimited room.
    """

    services: Mapping[str, NodeService] = EMPTY
    storages: Mapping[str, DriverStorage] = EMPTY

    def publish(self, log: Log, pod: Pod, volume: Volume, node: Node, driver: CSIDriver | None) -> str:
        """Make an inline volume on a node unless it exists there; return the driver's error, "" if it is there."""
        source = volume.csi
        if source is None:
            return ""
        service = self.services.get(source.driver, NodeService())
        context = publish_context(pod, source, driver)
        if why := service.refuses(source, context):
            return f"rpc error: code = InvalidArgument desc = {why}"
        storage = self.storages.get(source.driver)
        if storage is None:
            return ""
        size = service.size_of(source, context)
        try:
            number = value(size)
        except ValueError as why:
            return f"rpc error: code = InvalidArgument desc = size {size!r}: {why}"
        if storage.make(log, EMPTY, segment_of_node(node), number, _name_of(pod, volume)):
            return ""
        return f"rpc error: code = ResourceExhausted desc = not enough capacity on {node.metadata.name} for {size}"

    def release(self, log: Log, pod: str, kept: str = "") -> None:
        """Remove the inline volumes of a pod `namespace/name`, but not those of the pod whose uid is `kept`."""
        for storage in self.storages.values():
            for volume in list(storage.volumes(log)):
                namespace, slash, rest = volume.partition("/")
                if slash and f"{namespace}/{rest.partition('/')[0]}" == pod and volume.rpartition("/")[2] != kept:
                    storage.remove(log, volume)

    def pods(self, log: Log) -> Iterator[str]:
        """Yield `namespace/name` of each pod with an inline volume that takes room."""
        found = {"/".join(volume.split("/")[:2]) for each in self.storages.values() for volume in each.volumes(log)
                 if "/" in volume}
        yield from sorted(found)


def _name_of(pod: Pod, volume: Volume) -> str:
    """Return the name under which a pod's inline volume takes room; names of provisioned volumes have no slash."""
    return f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}/{volume.name}/{pod.metadata.uid}"


def has_inline_volumes(pod: Pod) -> bool:
    """Say whether a pod has inline CSI volumes."""
    return any(volume.csi is not None for volume in pod.spec.volumes)
