"""`kubectl rollout restart` and `rollout status` in the words of kubectl v1.36. They are not recorded.

`rollout status` prints the line of now and ends, as with `--watch=false`: the cluster moves only when it is stepped.
"""

from typing import Any

from ...api.text.convert import to_plain
from ...core.user_commands.fields import RESTARTABLE
from .changing import act_on_each, each_object
from .command import Command
from .flags import CommandError

UNSEEN = "Waiting for {} spec update to be observed..."
WAITING = 'Waiting for {} "{}" rollout to finish: '


def restart(command: Command) -> None:
    """Replace the pods of workloads by new ones."""
    _needs_arguments(command)
    act_on_each(command, command.words.arguments, command.cluster.rollout_restart)


def status(command: Command) -> None:
    """Print how far the rollout of a workload is, now."""
    _needs_arguments(command)
    for key in each_object(command, command.words.arguments):
        if key.kind not in RESTARTABLE:
            command.fail(CommandError(f"error: no status viewer has been implemented for {key.kind}"))
            continue
        kind, data = key.kind, to_plain(command.objects[key])
        said = {"Deployment": _deployment, "DaemonSet": _daemon_set, "StatefulSet": _stateful_set}[kind](key.name, data)
        if said.startswith("error: "):
            command.fail(CommandError(said))
        else:
            command.out.append(said)


def _needs_arguments(command: Command) -> None:
    if not command.words.arguments:
        raise CommandError("error: required resource not specified")


def _unseen(data: dict[str, Any]) -> bool:
    """Say whether the controller has not seen the present spec."""
    return bool(data["metadata"].get("generation", 0) > data.get("status", {}).get("observedGeneration", 0))


def _deployment(name: str, data: dict[str, Any]) -> str:
    found, wanted = data.get("status", {}), data["spec"].get("replicas", 1)
    if _unseen(data):
        return UNSEEN.format("deployment")
    if any(each.get("reason") == "ProgressDeadlineExceeded" for each in found.get("conditions", ())):
        return f'error: deployment "{name}" exceeded its progress deadline'
    updated, there, ready = (found.get(field, 0) for field in ("updatedReplicas", "replicas", "availableReplicas"))
    waiting = WAITING.format("deployment", name)
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new replicas have been updated..."
    if there > updated:
        return f"{waiting}{there - updated} old replicas are pending termination..."
    if ready < updated:
        return f"{waiting}{ready} of {updated} updated replicas are available..."
    return f'deployment "{name}" successfully rolled out'


def _daemon_set(name: str, data: dict[str, Any]) -> str:
    found = data.get("status", {})
    if _unseen(data):
        return UNSEEN.format("daemon set")
    wanted, updated, ready = (
        found.get(field, 0) for field in ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    )
    waiting = WAITING.format("daemon set", name)
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new pods have been updated..."
    if ready < wanted:
        return f"{waiting}{ready} of {wanted} updated pods are available..."
    return f'daemon set "{name}" successfully rolled out'


def _stateful_set(_name: str, data: dict[str, Any]) -> str:
    found, wanted = data.get("status", {}), data["spec"].get("replicas", 1)
    strategy = data["spec"].get("updateStrategy", {})
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return "error: rollout status is only available for RollingUpdate strategy type"
    if _unseen(data):
        return UNSEEN.format("statefulset")
    ready, updated = found.get("readyReplicas", 0), found.get("updatedReplicas", 0)
    if ready < wanted:
        return f"Waiting for {wanted - ready} pods to be ready..."
    if partition := strategy.get("rollingUpdate", {}).get("partition", 0):
        if updated < wanted - partition:
            head = "Waiting for partitioned roll out to finish"
            return f"{head}: {updated} out of {wanted - partition} new pods have been updated..."
        return f"partitioned roll out complete: {updated} new pods have been updated..."
    new, present = found.get("updateRevision", ""), found.get("currentRevision", "")
    if new != present:
        return f"waiting for statefulset rolling update to complete {updated} pods at revision {new}..."
    return f"statefulset rolling update complete {found.get('currentReplicas', 0)} pods at revision {present}..."
