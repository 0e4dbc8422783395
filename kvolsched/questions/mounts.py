"""What kubelets tell CSI drivers when they mount inline volumes: the publish_context of NodePublishVolume.

A driver is told about the pod, and the size of the volume, if and only if its CSIDriver has podInfoOnMount.
Source: S2, Size of ephemeral inline volumes.
"""

from collections.abc import Iterator, Mapping

import attrs

from kvolsched.api.notebook_output import NumberedRows, PrintedAnswer, table_text

from ..api.kinds.meta import EMPTY, Frozen
from ..api.kinds.pod import Pod
from ..api.volumes import publish_context
from ..core.core import ClusterCore
from ..world.log import Key

HEAD = ("POD", "VOLUME", "DRIVER", "NODE", "ENTRY", "VALUE")


@attrs.frozen
class Mount:
    """An inline volume of a pod on a node, and what its driver is handed in NodePublishVolumeRequest.

    Args:
        pod, volume, driver, node: which volume it is.
        context: the entries of publish_context.
        capability: what volume_capability says: the file system, if one is given; it has no field for a size.
    """

    pod: str
    volume: str
    driver: str
    node: str
    context: Mapping[str, str]
    capability: Mapping[str, str] = EMPTY


@attrs.frozen(repr=False)
class MountTable(NumberedRows[Mount], PrintedAnswer):
    """The inline volumes of pods as rows; printed as a table with a line for each entry of their contexts."""

    rows: tuple[Mount, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "no pod with an inline volume is on a node"
        lines = [HEAD]
        for row in self.rows:
            first = (row.pod, row.volume, row.driver, row.node)
            for entry, value in sorted(row.context.items()) or [("<none>", "")]:
                lines.append((*first, entry, f'"{value}"' if row.context else ""))
                first = ("", "", "", "")
        return "\n".join(table_text(lines, 3))


def mounts(cluster: ClusterCore, pod: str = "") -> MountTable:
    """Return what drivers are told about the inline volumes of a pod on a node, by default of all, as of now."""
    pods = [cluster.world.log.objects[cluster.world.find_key(pod, "pod")]] if pod else cluster.objects("pods")
    return MountTable(tuple(row for each in pods for row in _rows(cluster, each)))


def _rows(cluster: ClusterCore, pod: Pod) -> Iterator[Mount]:
    if not pod.spec.node_name:
        return
    for volume in pod.spec.volumes:
        if volume.csi is not None:
            driver = cluster.world.log.objects.get(Key("CSIDriver", "", volume.csi.driver))
            context = publish_context(pod, volume.csi, driver)
            file_system = volume.csi.rest.get("fsType")
            capability = Frozen(fsType=file_system) if file_system else EMPTY
            yield Mount(pod.metadata.name, volume.name, volume.csi.driver, pod.spec.node_name, context, capability)
