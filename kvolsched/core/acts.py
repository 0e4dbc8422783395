"""The acts of a user that change one thing: kubectl's commands beside apply and delete, each a step of the log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..api.kinds.kind import find_kind
from ..api.kinds.meta import evolve_parts
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
        key = self.world.find_key(reference)
        words = f"user patches {f'the {subresource} of ' if subresource else ''}{ref(key)}"
        patch = ManifestPatch(data, kind, subresource, drops_unknown=True)
        warnings = patch.warnings(self.world.log.objects[key])
        changed = self._patched(key, patch, words)
        said = tuple(f"Warning: {warning}" for warning in warnings)
        line = _line(key, "patched" if changed else "patched (no change)")
        return CommandResult((*said, *line.lines), said)

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
        return self._change_texts("label", reference, user_commands.text_changes("label", changes, labels), overwrite)

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
        wanted = user_commands.text_changes("annotation", changes, texts)
        return self._change_texts("annotation", reference, wanted, overwrite)

    def _change_texts(
        self, what: str, reference: str, wanted: user_commands.TextChanges, overwrite: bool  # noqa: FBT001
    ) -> CommandResult:
        """Set and remove labels or annotations of one object."""
        key = self.world.find_key(reference)
        meta = self.world.log.objects[key].metadata
        present = meta.labels if what == "label" else meta.annotations
        patch = ManifestPatch(user_commands.texts_patch(what, present, wanted, overwrite=overwrite))
        told = " ".join(f"{name}-" if value is None else f"{name}={value}" for name, value in wanted.items())
        verb = "label" if what == "label" else "annotate"
        changed = self._patched(key, patch, f"user {verb}s {ref(key)} {told}")
        if what == "annotation":
            return _line(key, "annotated")
        removed = [name for name, value in wanted.items() if value is None]
        missing = tuple(f'label "{name}" not found.' for name in removed if name not in present)
        done = "unlabeled" if len(removed) == len(wanted) else "labeled"
        return CommandResult((*missing, *_line(key, done if changed else "not labeled").lines))

    # -- nodes -------------------------------------------------------------------------------------------------

    def cordon(self, node: str) -> CommandResult:
        """Mark a node unschedulable, as `kubectl cordon` does.

        Raises:
            UnknownName: there is no such node. It is a KeyError.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").cordon("node-a")
        node/node-a cordoned
        """
        return self._mark(node, "cordon", unschedulable=True)

    def uncordon(self, node: str) -> CommandResult:
        """Mark a node schedulable again, as `kubectl uncordon` does.

        Raises:
            UnknownName: there is no such node. It is a KeyError.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").uncordon("node-a")
        node/node-a already uncordoned
        """
        return self._mark(node, "uncordon", unschedulable=False)

    def _mark(self, node: str, verb: str, *, unschedulable: bool) -> CommandResult:
        """Cordon or uncordon a node, unless it is so already."""
        key = self.world.find_key(node, "node")
        if self.world.log.objects[key].spec.unschedulable == unschedulable:
            return _line(key, f"already {verb}ed")
        change = {"unschedulable": unschedulable}
        self._edit(ref(key), lambda old: evolve_parts(old, spec=change), f"user {verb}s {key.name}")
        return _line(key, f"{verb}ed")

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
        key = self.world.find_key(node, "node")
        new, word = user_commands.change_taints(self.world.log.objects[key], taints, overwrite=overwrite)
        verb = "untaints" if word == "untainted" else "taints"
        self._edit(ref(key), lambda _old: new, f"user {verb} {key.name} {' '.join(taints)}")
        return _line(key, word)

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
        self._patched(key, ManifestPatch(data), f"user scales {ref(key)} to {replicas}")
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
        self._patched(key, ManifestPatch(data), f"user restarts {ref(key)}")
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
        key = self.world.find_key(pod, "pod")
        data = user_commands.without_gates(self.world.log.objects[key], gates)
        what = f"the gate{'s' if len(gates) > 1 else ''} {', '.join(gates)}" if gates else "every gate"
        changed = self._patched(key, ManifestPatch(data), f"user removes {what} of {ref(key)}")
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
        key = self.world.find_key(pod, "pod")
        self._sent(_eviction(self.world.log.objects[key]))
        return _line(key, "evicted")

    def drain(
        self, *nodes: str, ignore_daemonsets: bool = False, delete_emptydir_data: bool = False, force: bool = False
    ) -> CommandResult:
        """Cordon nodes and evict their pods, as `kubectl drain` does; of a node none if one needs another option.

        Evictions that a budget forbids are tried again every 5 seconds while the cluster runs.

        Args:
            nodes: the nodes.
            ignore_daemonsets: leave the pods of DaemonSets.
            delete_emptydir_data: evict pods with emptyDir volumes too, whose contents are lost.
            force: evict pods without controller too, which nobody creates again.

        Raises:
            UnknownName: there is no such node. It is a KeyError.
            ValueError: a pod needs an option that was not given, in kubectl's words; the node stays cordoned.
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
        names = [self.world.find_key(node, "node").name for node in nodes]
        lines: list[str] = []
        warnings: list[str] = []
        refused: list[RefusedWrite] = []
        faults: dict[str, tuple[str, ...]] = {}
        for name in names:
            try:
                lines += self.cordon(name).lines
            except ApplyRefused as error:
                refused += error.refusals
        for name in names:
            chosen = user_commands.choose_pods(
                (pod for pod in self.objects("pods") if pod.spec.node_name == name),
                ignore_daemonsets=ignore_daemonsets, delete_emptydir_data=delete_emptydir_data, force=force,
            )  # fmt: skip
            warnings += chosen.warnings
            lines += chosen.warnings
            if chosen.faults:
                faults[name] = chosen.faults
                warnings.append(f"error: {user_commands.not_drained(name, chosen.faults)}, continuing command...")
                lines.append(warnings[-1])
                continue
            outcomes = self._send([_eviction(pod) for pod in chosen.evicted], f"user drains {name}")
            for outcome in outcomes:
                key = outcome.write.key
                lines.append(f"evicting pod {key.namespace}/{key.name}")
                if isinstance(outcome, CommittedWrite):
                    lines.append(f"pod/{key.name} evicted")
                elif outcome.reason == "TooManyRequests":
                    warnings.append(user.blocked_words(outcome))
                    lines.append(warnings[-1])
                    notes = user.retried_eviction(outcome.write, self.now, self.world.place)
                    self.world.inject(USER, f"user will try again to evict {outcome.write.subject}", "", notes)
                else:
                    refused.append(outcome)
            if all(isinstance(outcome, CommittedWrite) for outcome in outcomes):
                lines.append(f"node/{name} drained")
        done = CommandResult(tuple(lines), tuple(warnings))
        if refused:
            raise ApplyRefused(refused, done)
        if faults:
            raise user_commands.DrainRefused(faults, done)
        return done

    # -- the write ---------------------------------------------------------------------------------------------

    def _workload(self, reference: str) -> Key:
        """Return the key of a workload; a name without kind is that of a workload if there is one."""
        found = matching_keys(self.world.log.objects, reference, WORKLOADS)
        return found[0] if len(found) == 1 else self.world.find_key(reference, WORKLOADS if found else ())

    def _patched(self, key: Key, patch: ManifestPatch, words: str) -> bool:
        """Send a patch as the user, and say whether it changed anything."""
        return self._sent(Write("patch", key, patch, words=words))

    def _sent(self, write: Write) -> bool:
        """Send one write as the user, and say whether it changed anything."""
        outcome = self._send([write])[0]
        if isinstance(outcome, RefusedWrite):
            raise ApplyRefused([outcome])
        return outcome.changed


def _line(key: Key, done: str) -> CommandResult:
    return CommandResult((f"{find_kind(key.kind).singular}/{key.name} {done}",))


def _eviction(pod: Any) -> Write:
    return Write("evict", key_of(pod), uid=pod.metadata.uid, words=f"user evicts {ref(key_of(pod))}")
