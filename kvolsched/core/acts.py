"""The acts of a user that change one thing: kubectl's commands beside apply and delete, each a step of the log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..api.kinds.kind import find_kind
from ..api.text import manifest
from ..controllers import user
from ..world.apiserver import CommittedWrite, RefusedWrite, Write, key_of, moment, ref
from ..world.log import Key
from ..world.manifest_patch import ManifestPatch
from ..world.references import matching_keys
from . import user_commands
from .core import USER, ClusterCore
from .results import ApplyRefused, CommandResult, Run

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController")


class ClusterActs(ClusterCore):
    """The core with kubectl's commands. Each goes through admission, and raises `ApplyRefused` if it is refused."""

    def wait(self, seconds: float) -> Run:
        """Let everybody act for exactly so many simulated seconds, while the user does nothing.

        What is due later has not happened when it returns: a volume that takes 60 s is still being made after 10.

        Args:
            seconds: how long.

        Raises:
            ValueError: the time is not positive, or infinite.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example", **{"kubernetes.io/gce-pd": {"delay": 60.0}})
        >>> c.wait(10).ended, c.now, len(c.objects("pv"))
        ('10 s of simulated time are over', 10.0, 0)
        """
        if not 0 < seconds < math.inf:
            raise ValueError(f"wait: seconds: {seconds:g}: must be greater than 0, and finite")
        words = f"User waits {seconds:g} s."
        steps = tuple(self._taken(turns) for turns in self.world.pass_time(seconds, USER, words))
        return Run(steps, f"{seconds:g} s of simulated time are over")

    # -- any object --------------------------------------------------------------------------------------------

    def patch(self, reference: str, change: Any, kind: str = "merge", subresource: str = "") -> CommandResult:
        """Patch one object, as `kubectl patch --type=KIND` does; an unknown field is dropped with a warning.

        Args:
            reference: the object, such as `pod/web-0` or `deployment/shop/web`.
            change: a mapping or its YAML; for a JSON patch a list of operations.
            kind: "merge" (RFC 7386), "strategic" (lists merge by their keys, with directives; kubectl's default) or
                "json" (RFC 6902).
            subresource: "status" to patch the status, and nothing else; by default the status stays.

        Raises:
            UnknownName: the reference names no object. It is a KeyError.
            ValueError: there is no such kind of patch, or no such subresource.
            ApplyRefused: the API server refuses.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.patch("node/node-a", {"metadata": {"labels": {"disk": "ssd"}}})
        node/node-a patched
        >>> c.patch("node/node-a", [{"op": "remove", "path": "/metadata/labels/disk"}], kind="json")
        node/node-a patched
        >>> c.patch("node/node-a", {"status": {"allocatable": {"cpu": "2"}}}, subresource="status")
        node/node-a patched
        """
        data = manifest.read_plain(change, "patch")[0] if isinstance(change, str) else change
        key = self.find_key(reference)
        words = f"user patches {f'the {subresource} of ' if subresource else ''}{ref(key)}"
        patch = ManifestPatch(data, kind, subresource, drops_unknown=True)
        warnings = patch.warnings(self.world.log.objects[key])
        changed = self._send(Write("patch", key, patch, words=words))
        line = _line(key, "patched" if changed else "patched (no change)")
        return CommandResult((*(f"Warning: {warning}" for warning in warnings), *line.lines))

    def label(
        self, reference: str, *changes: str | Mapping[str, str | None], overwrite: bool = False, **labels: str | None
    ) -> CommandResult:
        """Set and remove labels of one object, as `kubectl label` does.

        Args:
            reference: the object.
            changes: `key=value`, `key-` to remove, or a mapping (None removes).
            overwrite: whether a label may replace another value.
            labels: further labels by name.

        Raises:
            UnknownName: the reference names no object. It is a KeyError.
            ValueError: a label has another value already.
            ApplyRefused: the API server refuses.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.label("node/node-a", "disk=ssd", rack="r1")
        node/node-a labeled
        >>> c.label("node/node-a", "disk-")
        node/node-a unlabeled
        """
        key, wanted = self.find_key(reference), user_commands.label_changes(changes, labels)
        data = user_commands.label_patch(self.world.log.objects[key], wanted, overwrite=overwrite)
        changed = self._patched(key, data, f"user labels {ref(key)} {_changes(wanted)}")
        done = "unlabeled" if all(value is None for value in wanted.values()) else "labeled"
        return _line(key, done if changed else "not labeled")

    def annotate(
        self, reference: str, *changes: str | Mapping[str, str | None], overwrite: bool = False, **texts: str | None
    ) -> CommandResult:
        """Set and remove annotations of one object, as `kubectl annotate` does; see `label` for the arguments.

        Raises:
            UnknownName: the reference names no object. It is a KeyError.
            ValueError: an annotation has another value already.
            ApplyRefused: the API server refuses.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.annotate("pvc/my-pvc", "volume.kubernetes.io/selected-node=node-a")
        persistentvolumeclaim/my-pvc annotated
        """
        key, wanted = self.find_key(reference), user_commands.label_changes(changes, texts)
        data = user_commands.annotation_patch(self.world.log.objects[key], wanted, overwrite=overwrite)
        self._patched(key, data, f"user annotates {ref(key)} {_changes(wanted)}")
        return _line(key, "annotated")

    # -- nodes -------------------------------------------------------------------------------------------------

    def cordon(self, node: str) -> CommandResult:
        """Mark a node unschedulable, as `kubectl cordon` does.

        Raises:
            UnknownName: there is no such node. It is a KeyError.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").cordon("node-a")
        node/node-a cordoned
        """
        key = self.find_key(node, "node")
        return self.edit(ref(key), user_commands.cordon, f"user cordons {key.name}", "cordoned")

    def uncordon(self, node: str) -> CommandResult:
        """Mark a node schedulable again, as `kubectl uncordon` does.

        Raises:
            UnknownName: there is no such node. It is a KeyError.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").uncordon("node-a")
        node/node-a unchanged
        """
        key = self.find_key(node, "node")
        return self.edit(ref(key), user_commands.uncordon, f"user uncordons {key.name}", "uncordoned")

    def taint(self, node: str, *taints: str, overwrite: bool = False) -> CommandResult:
        """Add and remove taints of a node, as `kubectl taint` does.

        Args:
            node: the node.
            taints: `key=value:Effect`, `key:Effect`; with a final `-` the taint is removed: `key:Effect-`, `key-`.
            overwrite: whether a taint may replace one of the same key and effect.

        Raises:
            UnknownName: there is no such node. It is a KeyError.
            ValueError: a text is no taint, a taint is there already, or one to remove is not.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.taint("node-a", "dedicated=db:NoSchedule")
        node/node-a tainted
        >>> c.taint("node-a", "dedicated-")
        node/node-a untainted
        """
        key = self.find_key(node, "node")
        new, word = user_commands.change_taints(self.world.log.objects[key], taints, overwrite=overwrite)
        verb = "untaints" if word == "untainted" else "taints"
        return self.edit(ref(key), lambda _old: new, f"user {verb} {key.name} {' '.join(taints)}", word)

    def untaint(self, node: str, *taints: str) -> CommandResult:
        """Remove taints from a node: `key` (every effect) or `key:Effect`.

        Raises:
            UnknownName: there is no such node. It is a KeyError.
            ValueError: the node has no such taint.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.taint("node-a", "dedicated=db:NoSchedule")
        >>> c.untaint("node-a", "dedicated:NoSchedule")
        node/node-a untainted
        """
        return self.taint(node, *(f"{taint.removesuffix('-')}-" for taint in taints))

    # -- workloads and pods ------------------------------------------------------------------------------------

    def scale(self, reference: str, replicas: int) -> CommandResult:
        """Set the number of replicas of a workload, as `kubectl scale` does.

        Raises:
            UnknownName: the reference names no object. It is a KeyError.
            ValueError: its kind has no replicas, or the number is negative.

        >>> from kvolsched import Cluster
        >>> c = Cluster()
        >>> _ = c.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        ...     "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
        ...     "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "app"}]}}}})
        >>> c.scale("deployment/web", 3)
        deployment.apps/web scaled
        """
        key = self._workload(reference)
        data = user_commands.scale_patch(self.world.log.objects[key], replicas)
        self._patched(key, data, f"user scales {ref(key)} to {replicas}")
        return _line(key, "scaled")

    def rollout_restart(self, reference: str) -> CommandResult:
        """Replace the pods of a workload by new ones, as `kubectl rollout restart` does.

        Raises:
            UnknownName: the reference names no object. It is a KeyError.
            ValueError: its kind cannot be restarted, or it was restarted in this second.

        >>> from kvolsched import Cluster
        >>> c = Cluster()
        >>> _ = c.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        ...     "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
        ...     "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "app"}]}}}})
        >>> c.rollout_restart("deployment/web")
        deployment.apps/web restarted
        """
        key = self._workload(reference)
        data = user_commands.restart_patch(self.world.log.objects[key], moment(self.world.log))
        self._patched(key, data, f"user restarts {ref(key)}")
        return _line(key, "restarted")

    def ungate(self, pod: str, *gates: str) -> CommandResult:
        """Remove scheduling gates from a pod: those named, or all.

        Raises:
            UnknownName: there is no such pod. It is a KeyError.
            ValueError: the pod has no such gate.

        >>> from kvolsched import Cluster
        >>> c = Cluster()
        >>> _ = c.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job"}, "spec": {
        ...     "schedulingGates": [{"name": "example.com/quota"}], "containers": [{"name": "app", "image": "app"}]}})
        >>> c.ungate("job")
        pod/job ungated
        """
        key = self.find_key(pod, "pod")
        data = user_commands.without_gates(self.world.log.objects[key], gates)
        what = f"the gate{'s' if len(gates) > 1 else ''} {', '.join(gates)}" if gates else "every gate"
        changed = self._patched(key, data, f"user removes {what} of {ref(key)}")
        return _line(key, "ungated" if changed else "unchanged")

    # -- evictions ---------------------------------------------------------------------------------------------

    def evict(self, pod: str) -> CommandResult:
        """Evict a pod through the API: it is deleted if the PodDisruptionBudget that protects it allows that.

        Raises:
            UnknownName: there is no such pod. It is a KeyError.
            ApplyRefused: the budget forbids it (429 TooManyRequests), or two budgets protect the pod.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.run()
        >>> c.evict("my-pod")
        pod/my-pod evicted
        """
        obj = self.world.log.objects[self.find_key(pod, "pod")]
        self._send(_eviction(obj))
        return CommandResult((f"pod/{obj.metadata.name} evicted",))

    def drain(
        self, node: str, *, ignore_daemonsets: bool = False, delete_emptydir_data: bool = False, force: bool = False
    ) -> CommandResult:
        """Cordon a node and evict its pods, as `kubectl drain` does; nothing happens if a pod needs another option.

        Evictions that a budget forbids are tried again every 5 seconds while the cluster runs.

        Args:
            node: the node.
            ignore_daemonsets: leave the pods of DaemonSets.
            delete_emptydir_data: evict pods with emptyDir volumes too, whose contents are lost.
            force: evict pods without controller too, which nobody creates again.

        Raises:
            UnknownName: there is no such node. It is a KeyError.
            ValueError: a pod needs an option that was not given; in kubectl's words.
            ApplyRefused: the API server refuses an eviction for another reason than a budget.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.run()
        >>> c.drain(c["pod/my-pod"].spec.node_name, force=True)
        node/node-a cordoned
        Warning: deleting Pods that declare no controller: default/my-pod
        evicting pod default/my-pod
        pod/my-pod evicted
        node/node-a drained
        """
        key = self.find_key(node, "node")
        old, name = self.world.log.objects[key], key.name
        pods = [pod for pod in self.objects("pods") if pod.spec.node_name == name]
        chosen = user_commands.choose_pods(
            name, pods, ignore_daemonsets=ignore_daemonsets, delete_emptydir_data=delete_emptydir_data, force=force
        )
        cordoned = Write("update", key, user_commands.cordon(old), words=f"user cordons {name}", method="PATCH")
        outcomes = self.world.perform(USER, [cordoned, *map(_eviction, chosen.evicted)], f"user drains {name}")
        blocked = [each for each in outcomes if isinstance(each, RefusedWrite) and each.reason == "TooManyRequests"]
        refused = [each for each in outcomes if isinstance(each, RefusedWrite) and each not in blocked]
        for each in blocked:
            notes = user.retried_eviction(each.write, self.now, self.world.place)
            self.world.inject(USER, f"user will try again to evict {each.write.subject}", "", notes)
        if refused:
            raise ApplyRefused(refused)
        return CommandResult(tuple(_drain_lines(name, chosen, outcomes, cordoned=old.spec.unschedulable)))

    # -- the write ---------------------------------------------------------------------------------------------

    def _workload(self, reference: str) -> Key:
        """Return the key of a workload; a name without kind is that of a workload if there is one."""
        found = matching_keys(self.world.log.objects, reference, WORKLOADS)
        return found[0] if len(found) == 1 else self.find_key(reference, WORKLOADS if found else ())

    def _patched(self, key: Key, data: Any, words: str) -> bool:
        """Send a merge patch as the user, and say whether it changed anything."""
        return self._send(Write("patch", key, ManifestPatch(data), words=words))

    def _send(self, write: Write) -> bool:
        """Send one write as the user, and say whether it changed anything."""
        self._wait_for_answers([write])
        outcome = self.world.perform(USER, [write], write.words)[0]
        if isinstance(outcome, RefusedWrite):
            raise ApplyRefused([outcome])
        return outcome.changed


def _line(key: Key, done: str) -> CommandResult:
    return CommandResult((f"{find_kind(key.kind).singular}/{key.name} {done}",))


def _changes(changes: Mapping[str, str | None]) -> str:
    return " ".join(f"{key}-" if value is None else f"{key}={value}" for key, value in changes.items())


def _eviction(pod: Any) -> Write:
    return Write("evict", key_of(pod), uid=pod.metadata.uid, words=f"user evicts {ref(key_of(pod))}")


def _drain_lines(
    node: str, chosen: user_commands.DrainedPods, outcomes: Sequence[CommittedWrite | RefusedWrite], *, cordoned: bool
) -> Iterator[str]:
    """Yield what kubectl prints of a drain."""
    yield f"node/{node} {'already ' if cordoned else ''}cordoned"
    if chosen.warning:
        yield f"Warning: {chosen.warning}"
    for outcome in outcomes[1:]:
        key = outcome.write.key
        yield f"evicting pod {key.namespace}/{key.name}"
        yield user.blocked_words(outcome) if isinstance(outcome, RefusedWrite) else f"pod/{key.name} evicted"
    if not any(isinstance(outcome, RefusedWrite) for outcome in outcomes):
        yield f"node/{node} drained"
