"""Who runs the loop, and under which rules: plugins and components of your own, and what may happen to a component.

`with_*` return forks. What happens to a component is an entry of the log, which `back` undoes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Self

from kvolsched.api.notebook_output import printable

from ..api.kinds.kind import KINDS
from ..api.unknown_name import UnknownName, did_you_mean
from ..controllers.admission import webhook
from ..controllers.custom_controller import ReconcileFunction, custom_controller, is_custom
from ..rules.revision import Revision, denied_by
from ..scheduler.framework.custom_plugin import custom_plugin
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.outage import API_SERVER
from . import other_rules, upgrades
from .component_names import COMPONENT_NAMES
from .faults import ClusterFaults
from .pools import set_pool
from .results import CommandResult, Step, hanging_indent
from .upgrades import Rules

Hook = Callable[[Any, Any], Any]  # (new, old) -> what a webhook answers


class ClusterRules(ClusterFaults):
    """The core with plugins of your own and faults of components."""

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
        other.name = f"{self.name}, {rules.name}"
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
            name: the component's name; one that a controller of yours has already replaces it, which restarts.
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
        other.first_rules = self.first_rules.with_webhook(hook)
        other.world.server = other.first_rules.server(denied_by(self.components))
        other.rule_sets, other.world.rule_sets = {}, {}
        for label, rules in self.rule_sets.items():
            upgrades.keep_rules(other, label, rules.with_webhook(hook))
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
        >>> c = ClusterRules().with_autoscaler([{"name": "spot", "template": machine}])
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

        Raises:
            UnknownName: there is no such revision or pod. It is a KeyError.

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
        found = upgrades.rules_called(self, rules)
        return other_rules.under(self, found, name, asked, replay=replay, again=pods, added=own)

    def crash(self, component: str) -> Step:
        """Restart a component, which loses its notes and lists every object again; return the step.

        The step is falsy if the component remembered nothing yet.

        Args:
            component: its name, as people see it ("PV controller") or as Kubernetes identifies it.

        Raises:
            UnknownName: there is no such component. It is a LookupError.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.step("scheduler")
        >>> c.crash("scheduler")
        step 2, t=0 s: kube-scheduler crashes and restarts: what it remembered is lost.
        """
        name, place = self._component(component), self.world.place
        self.world.crash(name)
        return self._step_after(place)

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict") -> Step:
        """Refuse the nth write of a component from now on, with this reason; return the step.

        Args:
            component: its name, as people see it ("PV controller") or as Kubernetes identifies it.
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
        name = self._component(component)
        if nth < 1:
            raise ValueError(f"refuse a write of {name}: nth: {nth}: must be at least 1")
        self.world.refuse(name, nth, reason)
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

    def upgrade(
        self, rules: Rules, component: str | None = None, *, beside: bool = False, share: float = 0.5
    ) -> Step:
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

    def __repr__(self) -> str:
        counted = Counter(key.kind for key in self.world.log.objects)
        count = {kind: counted[kind.name] for kind in KINDS if kind.name != "Event"}
        plural = {kind: "es" if kind.name.endswith("s") else "s" for kind in count}
        counts = ", ".join(f"{n} {kind.name}{plural[kind] if n != 1 else ''}" for kind, n in count.items() if n)
        where = f"step {self.world.step_number} of {self.world.known_steps}, t={self.world.now:g} s"
        rules = upgrades.rules_in_words(self)
        head = f"Cluster {self.name or '(unnamed)'}, rules {rules}: {counts or 'no objects'}; {where}"
        return printable("\n".join([head, *(f"  - {hanging_indent([remark], 4)}" for remark in self.remarks)]))
