"""Everything that a user does to a cluster: kubectl's commands, faults, components and rules of one's own.
It is over 500 lines because methods show examples; what they do stands in the modules beside it.

Each is an entry of the log, which `back` undoes; `with_*` and `under` return other clusters instead.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import attrs

from ..api.kinds.kind import KINDS, find_kind, kind_of
from ..api.kinds.meta import evolve_parts
from ..api.notebook_output import printable
from ..api.text import manifest
from ..api.text.not_read import find_not_read
from ..api.text.python_gc import infrequent_gc
from ..api.unknown_name import UnknownName, did_you_mean
from ..api.words import counted, hanging_indent
from ..api.workloads import WORKLOADS
from ..controllers import user
from ..controllers.admission import UnknownFields, webhook
from ..controllers.custom_controller import ReconcileFunction, custom_controller, is_custom
from ..rules.revision import Revision, offered_by
from ..scheduler.framework.custom_plugin import custom_plugin
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.apiserver import CommittedWrite, RefusedWrite, Write, key_of, moment, ref
from ..world.history import despite_interrupts
from ..world.log import Key
from ..world.manifest_patch import ManifestPatch
from ..world.outage import API_SERVER, is_out, unreachable
from ..world.references import matching_keys
from . import node_faults, other_rules, upgrades, user_commands
from .component_names import COMPONENT_NAMES
from .core import USER, ClusterCore
from .one_at_a_time import one_at_a_time
from .pools import set_pool
from .refusals import Refusals
from .results import ApplyRefused, CommandResult, NotDeleted, Run, Step
from .upgrades import Rules

Hook = Callable[[Any, Any], Any]  # (new, old) -> what a webhook answers


@one_at_a_time
class ClusterActs(ClusterCore):
    """The core with everything that a user does. What goes to the API server raises `ApplyRefused` if it is refused.

    In order: manifests, any object, nodes, workloads and pods, evictions, what fails, components of your own, writes.
    """

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

    def refusals(self) -> Refusals:
        """Return which loaded objects an API server would refuse, each with all its faults.

        Objects that a server has stored already, as those of a dump, are not among them.

        >>> from kvolsched import Cluster, make
        >>> app = make.pod("app", restartPolicy="Sometimes")
        >>> len(Cluster.from_manifests([app]).refusals())
        1
        """
        return self._refusals

    def apply(self, *sources: Any) -> CommandResult:
        """Create or change objects as the user, as `kubectl apply` does; faults refuse all of them.

        Fields of a manifest are set, fields that it dropped since the last apply are removed, fields of other writers
        stay.

        Raises:
            ManifestError: every fault of the manifests; nothing is applied.
            ApplyRefused: the API server refuses some of the objects, each with all its faults; nothing is applied.

        >>> c = ClusterActs()
        >>> c.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        namespace/shop created
        >>> c.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        namespace/shop unchanged
        """
        read = user_commands.read_for_apply(list(sources) if len(sources) != 1 else sources[0])
        writes, results = self._applied(read)
        if self._wait_for_answers(writes):
            writes, results = self._applied(read)  # others may have written meanwhile
        if results and not writes and is_out(self.world.log.notes, API_SERVER):
            raise ApplyRefused([unreachable(Write("patch", key)) for key in results])
        words = writes[0].words if len(writes) == 1 else f"user applies {len(writes)} objects"
        try:
            with infrequent_gc():
                outcomes = self.world.perform(USER, writes, words, atomic=True)
            if any(obj.kind in ("StorageClass", "Node") for obj in read.objects):  # a node may have one of its own
                self._add_provisioners()
        except BaseException:
            despite_interrupts(self._add_provisioners)  # Ctrl-C may follow the write
            raise
        if refusals := [outcome for outcome in outcomes if isinstance(outcome, RefusedWrite)]:
            raise ApplyRefused(refusals)
        if not (offered := offered_by(read.others)) <= self.first_rules.offered:
            upgrades.change_rules(self, lambda rules: rules.with_offered(offered))
        return self._done(read, (f"{find_kind(key.kind).singular}/{key.name} {word}" for key, word in results.items()))

    def _done(self, read: manifest.Manifests, lines: Iterable[str]) -> CommandResult:
        """Return what a command did with manifests and what it left out; note what is not read of them."""
        self._not_read = find_not_read(read, self._not_read)
        said = tuple(f"Warning: {fault.message}" for fault in self._unknown_fields().warnings(read.warnings))
        return CommandResult((*said, *lines, *user_commands.skipped_objects(read)), said)

    def _unknown_fields(self) -> UnknownFields:
        """Return the fields of the documents that the API server does not know."""
        return upgrades.rules_of(self, API_SERVER).unknown_fields

    def _applied(self, read: manifest.Manifests) -> tuple[list[Write], dict[Key, str]]:
        """Return the writes that apply manifests, and what kubectl says of each object."""
        writes: list[Write] = []
        results: dict[Key, str] = {}
        for obj, written in zip(read.objects, read.written, strict=True):
            key = key_of(obj)
            old = self.world.log.objects.get(key)
            if old is None:
                new = user_commands.with_last_applied(obj, written)
            else:
                new = user_commands.apply_manifest(old, obj, written)
            results[key] = "unchanged" if new is None else "created" if old is None else "configured"
            if new is not None:
                verb, word, method = ("create", "creates", "") if old is None else ("update", "changes", "PATCH")
                writes.append(Write(verb, key, new, words=f"user {word} {ref(key)}", method=method))
        return writes, results

    def delete(self, *references: str) -> CommandResult:
        """Delete the objects that references name, such as `pod/web-0` or `pvc/shop/data-0`, each that can be.

        Raises:
            ValueError: no reference is given.
            UnknownName: references name no object; the others are deleted, as `done` of the error (NotDeleted) says.
            ApplyRefused: the API server refuses; it tells unknown names, too.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").delete("my-pod", "node/node-a")
        pod "my-pod" deleted from default namespace
        node "node-a" deleted
        """
        if not references:
            raise ValueError("delete: name the objects to delete, such as 'pod/web-0'")
        keys, missing = [], []
        for reference in references:
            try:
                keys.append(self.world.find_key(reference))
            except UnknownName as error:
                missing.append(error)
        writes = [Write("delete", key, words=f"user deletes {ref(key)}") for key in keys]
        outcomes = self._send(writes, "user deletes objects")
        gone = [outcome.write.key for outcome in outcomes if isinstance(outcome, CommittedWrite)]
        done = CommandResult(tuple(_deleted(key) for key in gone))
        if refusals := [outcome for outcome in outcomes if isinstance(outcome, RefusedWrite)]:
            raise ApplyRefused(refusals, done, missing)
        if missing:
            raise NotDeleted(missing, done)
        return done

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
        unknown = self._unknown_fields()
        warnings = patch.warnings(unknown.dropped_from(self.world.log.objects[key]), unknown.names)
        changed = self._patched(key, patch, words)
        said = tuple(f"Warning: {warning}" for warning in warnings)
        line = _line(key, "patched" if changed else "patched (no change)")
        return CommandResult((*said, *line.lines), said)

    def replace(self, source: Any, reference: str = "") -> CommandResult:
        """Replace objects by whole manifests, as `kubectl replace` does: the UPDATE (PUT) that S4's indicator counts.

        What a manifest lacks is gone, but for the status and what only the server sets.

        Args:
            source: manifests, as for `apply`.
            reference: the object that the request names; by default that of each manifest. Of another name than its
                manifest the request is refused with the code 400.

        Raises:
            ManifestError: every fault of the manifests; nothing is replaced.
            UnknownName: the reference names no object. It is a KeyError.
            ApplyRefused: the API server refuses some of the objects; the others are replaced.

        >>> c = ClusterActs()
        >>> _ = c.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: a}}}")
        >>> c.replace("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        namespace/shop replaced
        >>> "team" in c["namespace/shop"].metadata.labels
        False
        """
        asked = self.world.find_key(reference) if reference else None
        read = user_commands.read_for_apply(source)
        found = [(asked or key_of(obj), obj) for obj in read.objects]
        writes = [Write("update", key, obj, version=obj.metadata.resource_version, words=f"user replaces {ref(key)}")
                  for key, obj in found]  # fmt: skip
        outcomes = self._send(writes, f"user replaces {len(writes)} objects")
        replaced = [outcome.write.key for outcome in outcomes if isinstance(outcome, CommittedWrite)]
        done = self._done(read, (line for key in replaced for line in _line(key, "replaced").lines))
        if refusals := [outcome for outcome in outcomes if isinstance(outcome, RefusedWrite)]:
            raise ApplyRefused(refusals, done)
        return done

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

    def cordon(self, node: str) -> CommandResult:
        """Mark a node unschedulable, as `kubectl cordon` does.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").cordon("node-a")
        node/node-a cordoned
        """
        return self._mark(node, "cordon", unschedulable=True)

    def uncordon(self, node: str) -> CommandResult:
        """Mark a node schedulable again, as `kubectl uncordon` does.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").uncordon("node-a")
        node/node-a already uncordoned
        """
        return self._mark(node, "uncordon", unschedulable=False)

    def _mark(self, node: str, verb: str, *, unschedulable: bool) -> CommandResult:
        """Cordon or uncordon a node, unless it is so already, as an API server says that answers."""
        key, notes = self.world.find_key(node, "node"), self.world.log.notes
        if self.world.log.objects[key].spec.unschedulable == unschedulable and not is_out(notes, API_SERVER):
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
            ValueError: no node is given, or a pod needs an option that was not given, in kubectl's words; the node
                stays cordoned.
            ApplyRefused: the API server refuses an eviction for another reason than a budget; it tells such pods, too.

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
        if not nodes:
            raise ValueError("drain: name the nodes to drain")
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
            raise ApplyRefused(refused, done, [user_commands.DrainRefused(faults, done)] if faults else ())
        if faults:
            raise user_commands.DrainRefused(faults, done)
        return done

    def stop_nodes(self, *which: str) -> Step:
        """Let the kubelets of nodes answer nobody, as after a power cut; `start_nodes` and `back` undo it.

        Nothing is written to the API. After 50 s the node lifecycle controller marks the nodes as not ready and taints
        them `unreachable`; after 300 s more the taint eviction controller deletes their pods, which stay Terminating.
        Volumes stay bound.

        Args:
            which: names of nodes, or label selectors such as `topology.kubernetes.io/zone=a`.

        Raises:
            UnknownName: a name or selector chooses no node. It is a KeyError.
            ValueError: no node is given, or a selector cannot be read.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.stop_nodes("node-a")
        step 1, t=0 s: Node node-a stops: its kubelet answers nobody.
        >>> _ = c.run()
        >>> [str(taint) for taint in c["node/node-a"].spec.taints]
        ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute']
        """
        place = self.world.place
        node_faults.stop(self.world, which)
        return self._step_after(place)

    def start_nodes(self, *which: str) -> Step:
        """Let the kubelets of stopped nodes answer again; without arguments of all of them.

        Raises:
            UnknownName: a name or selector chooses no node. It is a KeyError.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.stop_nodes("node-a"), c.run()
        >>> _ = c.start_nodes(), c.run()
        >>> c["node/node-a"].spec.taints
        ()
        """
        place = self.world.place
        node_faults.start(self.world, which)
        return self._step_after(place)

    def delay(self, component: str, seconds: float) -> Step:
        """Delay a component: for some seconds it sees nothing and does nothing, as after a pause of its process.

        Args:
            component: its name, or the process "kube-controller-manager", as for `crash`.
            seconds: how long.

        Raises:
            UnknownName: there is no such component. It is a LookupError.
            ValueError: the time is not positive.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.delay("scheduler", 5)
        step 1, t=0 s: kube-scheduler is delayed by 5 s: it sees nothing and does nothing.
        >>> c.run("pod/my-pod scheduled").steps[-1].time > 5
        True
        """
        process, names = upgrades.process_called(self, component)
        if not seconds > 0:
            raise ValueError(f"delay of {process}: seconds: {seconds:g}: must be greater than 0")
        self.world.delay(*names, seconds=seconds, process=process)
        return self._last_step

    def crash(self, component: str) -> Step:
        """Restart a component, which loses its notes and lists every object again; return the step.

        The step is falsy if the component remembered nothing yet. Of several masters one is elected to lead.

        Args:
            component: its name, as people see it ("PV controller") or as Kubernetes identifies it; or the process
                "kube-controller-manager": all its controllers restart together.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.step("scheduler")
        >>> c.crash("scheduler")
        step 2, t=0 s: kube-scheduler crashes and restarts: what it remembered is lost.
        """
        (process, names), place = upgrades.process_called(self, component), self.world.place
        self.world.crash(*names, process=process)
        return self._step_after(place)

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict") -> Step:
        """Refuse the nth write of a component from now on, with this reason; return the step.

        Args:
            component: its name, as people see it ("PV controller") or as Kubernetes identifies it; or the process
                "kube-controller-manager": a write of each of its controllers.
            nth: which of its writes: 1 is the next one.
            reason: the reason that the API server gives, such as "Conflict" or "ServiceUnavailable".

        Raises:
            UnknownName: there is no such component. It is a LookupError.
            ValueError: nth is less than 1.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.refuse("scheduler")
        step 1, t=0 s: Injected fault: write 1 of kube-scheduler will be refused with Conflict.
        """
        process, names = upgrades.process_called(self, component)
        if nth < 1:
            raise ValueError(f"refuse a write of {process}: nth: {nth}: must be at least 1")
        self.world.refuse(process, nth, reason, names)
        return self._last_step

    def outage(self, server: str = API_SERVER, seconds: float = 60.0) -> Step:
        """Let the API server, or an admission webhook, answer nobody for some seconds, and return the step.

        Without API server every write fails, no watch brings anything, and components try again after their back-off.
        Without a webhook, the writes that it is asked about fail, or pass if its failure policy is Ignore. Entry of the
        log (S4: "How does this feature react if the API server and/or etcd is unavailable?").

        Args:
            server: "kube-apiserver" or the name of a webhook.
            seconds: how long.

        Raises:
            UnknownName: there is no such server. It is a ValueError.
            ValueError: the time is not positive.

        >>> from kvolsched import ApplyRefused, Cluster
        >>> c = Cluster()
        >>> c.outage(seconds=30)
        step 1, t=0 s: kube-apiserver is out for 30 s.
        >>> try:
        ...     c.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        ... except ApplyRefused as refused:
        ...     print(refused.lines[0])
        The connection to the server 10.96.0.1:443 was refused - did you specify the right host or port?
        """
        servers = (API_SERVER, *(each.name for each in self.first_rules.webhooks))
        if server not in servers:
            hint = did_you_mean(server, servers)
            raise UnknownName(f"no server is called {server!r}; there are: {', '.join(servers)}{hint}")
        if not seconds > 0:
            raise ValueError(f"outage of {server}: seconds: {seconds:g}: must be greater than 0")
        self.world.outage(server, seconds)
        return self._last_step

    def upgrade(self, rules: Rules, component: str | None = None, *, beside: bool = False, share: float = 0.5) -> Step:
        """Restart components with other rules on the same world, as an upgrade or a roll-back does; return the step.

        A restarted component loses its notes and lists every object again; the objects stay. An entry of the log (S0,
        Upgrade and Downgrade; S3 and S4, Feature Enablement and Rollback).

        Args:
            rules: the name of a revision, a `Revision`, or feature gates of the component's present rules, such as
                `{"EvenPodsSpread": False}`; gates by process (as in `Revision.with_gates`) need no component.
            component: "kube-scheduler", "kube-apiserver", "kube-controller-manager" (all its controllers), one
                controller, a driver, "kubelet", or one kubelet ("kubelet/node-a"); None: all.
            beside: the component keeps its first master and gets a second one with these rules. One of them leads and
                alone acts; which one is drawn now and whenever the component crashes. Of two API servers both answer
                (S4, Version Skew): which one is drawn for each request, and `requests()` tells.
            share: the part of the requests that the second API server answers.

        Raises:
            UnknownName: there is no such revision, component or gate. It is a KeyError and a ValueError.
            ValueError: gates or `beside` without a component, or a share that is not between 0 and 1.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example", "upstream")
        >>> c.upgrade("design", component="kube-scheduler")
        step 1, t=0 s: kube-scheduler restarts with the rules design: what it remembered is lost.
        >>> print(repr(c).partition(":")[0])
        Cluster zonal-example, rules upstream; kube-scheduler
        >>> c.upgrade({"PodSchedulingReadiness": False}, component="kube-apiserver", beside=True)
        step 2, t=0 s: Two API servers answer, upstream and upstream (kube-apiserver: PodSchedulingReadiness=false):
                       the second 50% of the requests.
        """
        return upgrades.upgrade(self, rules, component, beside=beside, share=share)

    def with_plugin(self, rule: Any = None, prefer: Any = None, *, weight: int = 1, name: str = "") -> Self:
        """Return a fork whose scheduler runs a custom plugin too; the past stays, a scheduler that has begun restarts.

        Args:
            rule: a filter `rule(pod, node, seen)` that answers True, False or a reason; or an object with both methods.
            prefer: a score `prefer(pod, node, seen)` from 0 to 100.
            weight: the weight of the score.
            name: the plugin's name; by default the function's.

        >>> from kvolsched import scenario
        >>> def no_small_nodes(pod, node, seen):
        ...     return "small" not in node.metadata.name or "the node is small"
        >>> c = scenario("zonal-example").with_plugin(no_small_nodes)
        >>> _ = c.step("scheduler")
        >>> c.verdicts("my-pod", "node-a-small", "no_small_nodes")
        ✕ no_small_nodes on node-a-small: the node is small
        """
        other = self.fork()
        rules = self.revision.with_plugin(custom_plugin(rule, prefer, name), weight)
        other.name = f"{self.name}, {rules.name}".removeprefix(", ")
        if self.revision is not self.first_rules:
            upgrades.upgrade(other, rules, SCHEDULER, beside=False)
            return other
        other.first_rules = rules
        other.world.replace_components(rules.simulation(components=self.components).components)
        if self.world.step_number:
            other.crash(COMPONENT_NAMES["scheduler"])
        return other

    def with_controller(self, name: str, watches: str | Iterable[str], reconcile: ReconcileFunction) -> Self:
        """Return a fork with a controller of your own: a component like any other, with a queue and a lane of its own.

        A function is the whole controller: it is told what the controller has seen, which may be old, and the reference
        of an object that changed. The writes that it returns are made one by one, a turn each; a refused one drops the
        rest, and the function is called again after a back-off. It keeps no state of its own (see `seen.note`).

        Args:
            name: the component's name; one that a controller of yours has already replaces it, which restarts. In place
                of a built-in driver: the cluster's `components={"pd.csi": {"absent": True}}` leaves that one out.
            watches: the kinds that it watches, such as `["Pod", "Node"]`.
            reconcile: `f(seen, ref)` returns writes of `kvolsched.writes`, a list, one, or None. `seen.get(ref)`,
                `seen.list(kind, namespace, selector)`, `seen.manifest(ref)`, `seen.note(key)` and `seen.now` are all
                that it knows.

        Raises:
            ValueError: the name is taken, or has other characters than names have.
            KeyError: there is no such kind.
            TypeError: the function cannot be called with (seen, ref).

        >>> from kvolsched import Cluster, example
        >>> from kvolsched.writes import patch
        >>> def label(seen, ref):
        ...     pod = seen.get(ref)
        ...     if pod and "seen" not in pod.metadata.labels:
        ...         return patch(ref, {"metadata": {"labels": {"seen": "yes"}}})
        >>> pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
        >>> pod["spec"] = {"containers": [{"name": "web", "image": "web"}]}
        >>> c = Cluster.from_manifests([pod]).with_controller("labeller", watches=["Pod"], reconcile=label)
        >>> c.step("labeller")
        step 1, t=0 s: Labeller patches pod/web (metadata.labels).
        """
        other = self.fork()
        processes = other.world.processes.values()
        known = {actor.name for process in processes for actor in process.component.actors} | set(other.world.processes)
        own = {process.name for process in processes if is_custom(process.component)}
        taken = (known | set(COMPONENT_NAMES) | {"world"}) - own
        component = custom_controller(name, watches, reconcile, taken)
        other.name = ", ".join(part for part in (self.name, f"with {name}") if part)
        if name not in own:
            other.world.add_components([component])
            return other
        other.world.replace_components([component])
        if any(note.component == name for note in other.world.log.notes):
            other.crash(name)
        return other

    def with_webhook(
        self,
        mutate: Hook | None = None,
        validate: Hook | None = None,
        *,
        kinds: Iterable[str] = ("pods",),
        name: str = "policy.example.com",
        on_failure: str = "Fail",
        verbs: Iterable[str] = ("create", "update"),
        timeout: float = 10.0,
        slow: float = 0.0,
    ) -> Self:
        """Return a fork whose API server asks an admission webhook: a function of yours (v1.36.2; S4, story 2).

        Mutating webhooks are asked after the mutating admission plugins, one after another by name; validating ones
        after validation. An exception, and an answer that makes no sense, is a failed call. A slow webhook keeps only
        its caller waiting: a component's worker, or a command of yours, during which the others go on.

        Args:
            mutate: (new, old) -> None, a merge patch, or the whole object; False or a reason refuses.
            validate: (new, old) -> True or None allows; False or a reason refuses.
            kinds: the kinds that it is asked about.
            name: the webhook's name, also for `outage`.
            on_failure: "Fail" refuses a write whose call fails, "Ignore" lets it pass.
            verbs: of "create", "update" and "delete"; `old` is None on create, `new` on delete.
            timeout: seconds after which a call fails.
            slow: seconds that each call takes.

        Raises:
            ValueError: a field is wrong, or there is a webhook of this name.

        >>> from kvolsched import ApplyRefused, Cluster
        >>> def has_team(new, old):
        ...     return "team" in new.metadata.labels or "the label team is missing"
        >>> c = Cluster().with_webhook(validate=has_team)
        >>> try:
        ...     c.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"},
        ...              "spec": {"containers": [{"name": "app", "image": "app"}]}})
        ... except ApplyRefused as refused:
        ...     print(refused)
        admission webhook "policy.example.com" denied the request: the label team is missing
        """
        options = {"mutate": mutate, "validate": validate, "on_failure": on_failure, "timeout": timeout, "slow": slow}
        other = self.fork()
        hook = webhook(name, kinds, verbs, **options)
        upgrades.change_rules(other, lambda rules: rules.with_webhook(hook))
        return other

    def with_autoscaler(self, groups: Any, **flags: Any) -> Self:
        """Return a fork with a cluster autoscaler, which adds nodes for unschedulable pods and removes unneeded ones.

        It is the component `cluster autoscaler`; in a scenario or `Cluster(components=...)` its dials have the name
        `cluster-autoscaler`. A gated pod does not count as unschedulable (S3, Story 2; S4, Story 1).

        Args:
            groups: a list of mappings: `name`, `template` (a Node as mapping or YAML), `min`, `max`, `nodes`.
            flags: `provisioning_delay`, `unneeded_time`, `expander` and others, see `AutoscalerOptions`.

        Raises:
            ValueError: a group or a flag is wrong; the message names it and what there is.

        >>> machine = {"apiVersion": "v1", "kind": "Node", "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
        >>> c = ClusterActs().with_autoscaler([{"name": "spot", "template": machine}])
        >>> _ = c.apply("{apiVersion: v1, kind: Pod, metadata: {name: app}, spec: {containers: [{name: a, image: a}]}}")
        >>> _ = c.run("pod/app Running")
        >>> c["pod/app"].spec.node_name
        'spot-1'
        """
        other = self.fork()
        other.components = {**self.components, "cluster-autoscaler": {"groups": groups, **flags}}
        other.name = f"{self.name}, with an autoscaler" if self.name else "with an autoscaler"
        made = other.revision.autoscaler(other.components["cluster-autoscaler"])
        change = other.world.replace_components if made.name in self.world.processes else other.world.add_components
        change([made])
        return other

    def set_pool(
        self, driver: str, pool: str, *, capacity: str | None = None, largest: str | None = None
    ) -> CommandResult:
        """Change the true size of a driver's pool from outside Kubernetes; what is published follows at a poll.

        Storage is extended or shrunk by its administrator, taken or freed by others, or fragmented: then the free bytes
        are many and the largest volume is small. Volumes that exist stay (S2, Non-Goals).

        Args:
            driver: a driver with the dial `pools`.
            pool: the pool's name: its domain, as the dial has it; `pools()` lists them.
            capacity: its bytes in all, such as `200Gi`; what its volumes take is not free.
            largest: the largest volume that it makes, such as `5Gi`; "" for no limit.

        Raises:
            UnknownName: there is no such driver or pool. It is a KeyError.
            ValueError: a size is no quantity, or negative.

        >>> from kvolsched import Cluster
        >>> c = Cluster(components={"lvm.example.com": {"pools": {"zone-a": "100Gi"}}})
        >>> c.set_pool("lvm.example.com", "zone-a", capacity="200Gi", largest="5Gi")
        pool zone-a of lvm.example.com: 100Gi → 200Gi, volumes of at most 5Gi
        """
        return set_pool(self, driver, pool, capacity, largest)

    def under(
        self, rules: str | Revision, name: str = "", *, replay: bool = False, again: str | Iterable[str] = ()
    ) -> Self:
        """Return a new cluster under other rules, with the objects of this one's start: step 0, before anybody acted.

        What you applied or changed before any component acted belongs to the start. The new cluster has the same seed,
        the same admission webhooks and controllers of your own, and the same dials of components where these rules
        know them. Plugins of your own belong to rules. Printed, it says what is not in it, and which fields of its
        pods these rules do not read. This cluster does not move.

        Args:
            rules: the name of a revision, or a `Revision`.
            name: the new cluster's name in titles.
            replay: what you did later is asked for again, too, each time once nobody has anything left to do; faults
                and upgrades are not.
            again: pods that have a node from the start, as in a dump, and begin without one, to be judged; their
                claims stay bound.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example", "upstream")
        >>> _ = c.run()
        >>> old = c.under("design")
        >>> print(repr(old).partition(":")[0])
        Cluster zonal-example, design, rules design
        >>> old["pod/my-pod"].spec.node_name, c["pod/my-pod"].spec.node_name
        ('', 'node-a')
        """
        asked = rules if isinstance(rules, str) else rules.name
        pods = (again,) if isinstance(again, str) else again
        components = (process.component for process in self.world.processes.values())
        own = [component for component in components if is_custom(component)]
        found = upgrades.rules_for(self, rules, SCHEDULER)
        return other_rules.under(self, found, name, asked, replay=replay, again=pods, added=own)

    def __repr__(self) -> str:
        there = Counter(key.kind for key in self.world.log.objects)
        count = {kind: there[kind.name] for kind in KINDS if kind.name != "Event"}
        counts = ", ".join(counted(n, kind.name) for kind, n in count.items() if n)
        where = f"step {self.world.step_number} of {self.world.known_steps}, t={self.world.now:g} s"
        rules = upgrades.rules_in_words(self)
        head = f"Cluster {self.name or '(unnamed)'}, rules {rules}: {counts or 'no objects'}; {where}"
        remarks = (*self.remarks, *self._remarks_on_loading())
        return printable("\n".join([head, *(f"  - {hanging_indent([remark], 4)}" for remark in remarks)]))

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

    def _wait_for_answers(self, writes: Sequence[Write]) -> bool:
        """Let time pass while slow webhooks answer the user's requests, one after another; say whether any did."""
        seconds = sum(self.world.request_time(write) for write in writes)
        words = f"user waits {seconds:g} s for the answer of the API server"
        for _ in self.world.pass_time(seconds, USER, words) if seconds else ():
            pass
        return seconds > 0

    def _edit(self, reference: str, change: Callable[[Any], Any], words: str = "") -> bool:
        """Change one object as the user, by a function from its present value to the new one; say whether it changed.

        Raises:
            UnknownName: the reference names no object. It is a KeyError.
            ApplyRefused: the API server refuses.
        """
        key = self.world.find_key(reference)
        words = words or f"user edits {ref(key)}"
        write = Write("update", key, change(self[reference]), words=words, method="PATCH")
        if self._wait_for_answers([write]):
            write = attrs.evolve(write, new=change(self[reference]))
        outcome = self.world.perform(USER, [write], write.words)[0]
        if isinstance(outcome, RefusedWrite):
            raise ApplyRefused([outcome])
        return outcome.changed

    def _send(
        self, writes: Sequence[Write], words: str = "", *, atomic: bool = False, actor: str = ""
    ) -> list[CommittedWrite | RefusedWrite]:
        """Send writes as the user, or as an `actor` in the user's place, in one step, and wait for their answers.

        What is refused leaves the others made, unless they are `atomic`.
        """
        if not writes:
            return []
        self._wait_for_answers(writes)
        said = writes[0].words if len(writes) == 1 else words
        outcomes = self.world.perform(USER, writes, said, atomic=atomic, actor=actor)
        if any(write.verb == "create" and write.key.kind in ("StorageClass", "Node") for write in writes):
            self._add_provisioners()
        return outcomes


def _line(key: Key, done: str) -> CommandResult:
    return CommandResult((f"{kind_of(key.kind).singular}/{key.name} {done}",))


def _eviction(pod: Any) -> Write:
    return Write("evict", key_of(pod), uid=pod.metadata.uid, words=f"user evicts {ref(key_of(pod))}")


def _deleted(key: Key) -> str:
    """Return what kubectl prints of a deletion."""
    where = f" from {key.namespace} namespace" if key.namespace else ""
    return f'{kind_of(key.kind).singular} "{key.name}" deleted{where}'
