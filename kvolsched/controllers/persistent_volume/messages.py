"""Messages of the PV controller that releases spell differently: one value a release, a template a message.

A release that is silent where another speaks has the empty template. `{error}` is filled in where the error is known.
"""

from collections.abc import Callable, Sequence

import attrs

from ...api.kinds.pod import Pod

Waiting = Callable[[Sequence[Pod]], tuple[str, str]]


def waiting_for_consumer(_pods: Sequence[Pod]) -> tuple[str, str]:
    """Return (reason, message) for a claim that waits for a pod; 1.11 names none."""
    return "WaitForFirstConsumer", "waiting for first consumer to be created before binding"


def waiting_for_pods(pods: Sequence[Pod]) -> tuple[str, str]:
    """Return (reason, message) for a claim that waits for these pods to be scheduled, or for a first one (v1.36.2)."""
    if not pods:
        return waiting_for_consumer(pods)
    names = ",".join(pod.metadata.name for pod in pods)
    return "WaitForPodScheduled", f"waiting for pod{'s' if len(pods) > 1 else ''} {names} to be scheduled"


@attrs.frozen(kw_only=True)
class PVControllerMessages:
    """Templates of the messages of one release, with the names of their fields.

    Args:
        waiting: reason and message for a claim that waits for a pod, by the unscheduled pods that use it.
        external_provisioner: Event on a claim that waits for an external provisioner (`{provisioner}`).
        unknown_plugin: no in-tree plugin has this name (`{plugin}`).
        no_deleter: nobody deletes a volume that no provisioner made (`{volume}`, `{why}`).
        deleter_not_created: a plugin cannot delete now (`{volume}`, `{error}`).
        misbound: error of a claim that was bound to a volume of another claim (`{claim}`, `{volume}`, `{rival}`).
        volume_taken: Event on a claim whose volume is bound to another claim (`{volume}`).
        claim_not_saved: Event on a claim whose provisioner could not be written (`{error}`).
        data_source: error of a claim with a data source that an in-tree plugin should provision (`{plugin}`).
    """

    waiting: Waiting
    external_provisioner: str
    unknown_plugin: str
    no_deleter: str
    deleter_not_created: str
    misbound: str
    volume_taken: str = ""
    claim_not_saved: str = ""
    data_source: str = ""


V1_36 = PVControllerMessages(
    waiting=waiting_for_pods,
    external_provisioner=(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually "
        "by the system administrator. If volume creation is delayed, please verify that the provisioner is "
        "running and correctly registered."
    ),
    unknown_plugin="no volume plugin matched name: {plugin}",
    no_deleter='error getting deleter volume plugin for volume "{volume}": {why}',
    deleter_not_created='failed to create deleter for volume "{volume}": {error}',
    misbound='invalid binding of claim "{claim}" to volume "{volume}": volume already claimed by "{rival}"',
    volume_taken='volume "{volume}" already bound to a different claim.',
    claim_not_saved="Error saving claim: {error}",
    data_source='plugin "{plugin}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource',
)
V1_11 = PVControllerMessages(
    waiting=waiting_for_consumer,
    external_provisioner=(
        'waiting for a volume to be created, either by external provisioner "{provisioner}" or manually '
        "created by system administrator"
    ),
    unknown_plugin="no volume plugin matched",
    no_deleter='Error getting deleter volume plugin for volume "{volume}": {why}',
    deleter_not_created='Failed to create deleter for volume "{volume}": {error}',
    misbound='Invalid binding of claim "{claim}" to volume "{volume}": volume already claimed by "{rival}"',
)
