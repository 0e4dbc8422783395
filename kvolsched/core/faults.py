"""What happens to nodes and components: faults that a user injects, each an entry of the log, which `back` undoes."""

from __future__ import annotations

from . import node_faults
from .acts import ClusterActs
from .results import Step


class ClusterFaults(ClusterActs):
    """The core with faults of nodes and delays of components."""

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
            component: its name, as people see it ("PV controller") or as Kubernetes identifies it.
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
        name = self._component(component)
        if not seconds > 0:
            raise ValueError(f"delay of {name}: seconds: {seconds:g}: must be greater than 0")
        self.world.delay(name, seconds)
        return self._last_step
