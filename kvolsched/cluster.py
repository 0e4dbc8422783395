"""The public Cluster: the core with every question as a method; over 500 lines because each shows an example.

A method imports its room when it is called, so `import kvolsched` loads no drawing library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, overload

from .api.notebook_output import draw_with
from .core.acts import ClusterActs
from .core.core import ClusterCore
from .core.one_at_a_time import one_at_a_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .core.pools import PoolTable
    from .kubectl import CommandOutput, Description, Listing, Listings
    from .questions.differences import Diff
    from .questions.driver_requests import CreateVolumeRequests, GetCapacityRequests, MountTable
    from .questions.explain import Fits, Passes, Story
    from .questions.explore import Exploration, Sample
    from .questions.fix import Fixes
    from .questions.may import PatchAnswers
    from .questions.node_terms import MatchedNodes
    from .questions.requests import ApiRequests, Visits
    from .questions.series import Wanted
    from .questions.why import Why, Whys
    from .rules.revision import Revision
    from .serve import ServedCluster
    from .views.charts.figure import ChartFigure, PlainChart
    from .views.drawing.figure import Figure
    from .views.pages.writes import RecordedWrites, Writes
    from .views.panel.lab import Lab
    from .views.panel.predict import Predict
    from .views.panel.what_if import WhatIf
    from .views.panel.workbench import GateWorkbench
    from .views.show import SeriesFigure, SkewFigure, StepsFigure, Text


def _draw_answer(answer: Any) -> Figure:
    from .views.answers import answer_figure

    return answer_figure(answer)


draw_with(_draw_answer)


@one_at_a_time
class Cluster(ClusterActs):
    """A simulated cluster that can be stepped, questioned and drawn. Mutable: acts and time move it.

    begin    from_manifests from_kubectl fork under name
    time     step run wait next now back goto branches on_move
    acts     apply replace delete patch label annotate cordon uncordon taint drain evict scale rollout_restart ungate
    faults   stop_nodes start_nodes crash delay refuse outage upgrade set_pool
    own      with_plugin with_controller with_webhook with_autoscaler
    why      why fix may where passes fits verdicts scores
    past     story changes events writes requests create_volume_requests get_capacity_requests mounts visits diff
    pictures lab map timeline domains skew capacity series
    ahead    predict whatif explore sample
    objects  kubectl get objects manifests written refusals pools digest serve

    A name that nothing has raises UnknownName, a KeyError: one sentence with what there is and the nearest names.

    Args:
        revision: `upstream` (Kubernetes v1.36.2), `design` (the design documents), `draft` (S1) or a `Revision`.
        seed: decides ties and draws; equal seeds and acts give equal runs.
        components: dials of components by name, for example `{"pd.csi": {"kind": "zonal", "delay": 2.0}}`.
        name: the cluster's name in titles.
    """

    @classmethod
    def from_kubectl(
        cls, context: str | None = None, namespaces: str | Iterable[str] | None = None, *,
        revision: str | Revision = "upstream", seed: int = 0, components: Mapping[str, Mapping[str, Any]] | None = None,
        name: str = "", kubectl: str = "kubectl",
    ) -> Self:  # fmt: skip
        """Load a real cluster, read only, by `kubectl get ... -o json`; steps and acts change only the simulation.

        What you may not list stands in `remarks` with what that hides, and in the answers of `why`. Kinds are listed
        one after the other, so that objects which change meanwhile may contradict each other: warnings of the loading.

        Args:
            context: of the kubeconfig; kubectl's current one without.
            namespaces: read only these; without them all.
            revision: the rules that the simulation goes on with.
            seed: decides ties and draws.
            components: dials of components by name.
            name: the cluster's name in titles; by default that of the context.
            kubectl: the program, a name or a path.

        Raises:
            KubectlError: kubectl is missing, reaches no server, or a list failed twice. Nothing is loaded.
            ManifestError: what kubectl printed cannot be read.
            ValueError: a namespace or context that cannot be one.

        >>> from kvolsched import Cluster
        >>> Cluster.from_kubectl(namespaces=["Shop"])
        Traceback (most recent call last):
        ValueError: namespaces: 'Shop' cannot be a namespace: lower-case letters, digits and '-', at most 63
        """
        from .kubectl.live import load_live_cluster

        return load_live_cluster(
            cls, context, namespaces, kubectl, revision=revision, seed=seed, components=components, name=name)

    def story(self, reference: str) -> Story:
        """Tell what happened to one object, change by change.

        Args:
            reference: the object, which may be deleted: `web-0`, `pod/web-0`, `demo/web-0` or `pod/demo/web-0`.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> _ = c.cordon("node-a")
        >>> c.story("node-a")
        story of node/node-a: 1 turn
           1  t=0 s     User cordons node-a.
                          spec.unschedulable: True
        """
        from .questions.explain import story

        return story(self, reference)

    def passes(self, pod: str) -> Passes:
        """List the scheduling passes of a pod: when, how many nodes fit, which was chosen.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> _ = c.run()
        >>> c.passes("my-pod")
        pod/my-pod, rules design: 2 passes
        pass 1  step 1  t=0 s  2 of 4 nodes fit  chooses node-a
        pass 2  step 7  t=2 s  1 of 4 nodes fit  chooses node-a
        """
        from .questions.explain import passes

        return passes(self, pod)

    def fits(self, pod: str) -> Fits:
        """Return the nodes that fit a pod by its last pass, why others do not, and the scores of those that fit.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> _ = c.step("scheduler")
        >>> c.fits("my-pod")
        2 of 4 nodes fit pod/my-pod: node-a, node-b; node-a is chosen
          node-a-small  NodeResourcesFit                    Insufficient cpu
          node-c        VolumeBinding (CheckVolumeBinding)  node(s) didn't find available persistent volumes to bind
        """
        from .questions.explain import fits

        return fits(self, pod)

    def visits(self) -> Visits:
        """Say how many volumes scheduler and PV controller looked at to find one for a claim, turn by turn (S0).

        >>> import kvolsched
        >>> plain = kvolsched.design().with_volume_index("none")
        >>> c = kvolsched.scenario("local-disks", plain)
        >>> _ = c.run()
        >>> c.visits().total > kvolsched.scenario("local-disks").visits().total
        True
        """
        from .questions.requests import visits

        return visits(self)

    def requests(self, *, events: bool = False, **columns: Any) -> ApiRequests:
        """List every write request to the API server, refused ones too, with its code and reason (S4, Monitoring).

        Args:
            events: with the requests that record Events.
            columns: values that columns must have: time, by, verb, resource, subresource, name, code, reason, ...

        Raises:
            ValueError: there is no such column.

        >>> c = Cluster()
        >>> _ = c.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        >>> c.requests()
        TIME   BY     VERB   RESOURCE     SUBRESOURCE   NAME   CODE   REASON
        0      user   POST   namespaces                 shop   201
        >>> c.requests(verb="POST").count(by="code")
        {201: 1}
        """
        from .questions.requests import requests

        return requests(self, events=events, **columns)

    def diff(self, other: ClusterCore) -> Diff:
        """Show how the objects of two clusters differ, and how often and how their pods were judged.

        What a person asks first stands first: where a pod runs, its phase, its volume; bookkeeping is counted.

        Args:
            other: another cluster, such as a fork, or `c.under("design")` after its run.

        Raises:
            TypeError: the other one is no cluster.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> other = c.fork("cordoned")
        >>> _ = other.cordon("node-a")
        >>> c.diff(other)
        object       field               zonal-example  cordoned
        node/node-a  spec.unschedulable  –              True
        """
        from .questions.differences import diff

        return diff(self, other)

    @overload
    def why(self, pod: str) -> Why: ...

    @overload
    def why(self, *, most: int = 20) -> Whys: ...

    def why(self, pod: str = "", *, most: int = 20) -> Why | Whys:
        """Say why a pod, or every pending pod, has no node: which demands together exclude every node.

        In a notebook the answer about a pod is a card: kube-scheduler's sentence over the nodes that each clause
        counts, a row for each demand with both sides of the comparison, and the minimal set framed. Without a pod,
        pods that lack alike share a row.

        Args:
            pod: `web-0`, `pod/web-0`, `demo/web-0` or `pod/demo/web-0`, or a workload, as `deploy/web`: then its
                first pod without a node; by default every pod without a node.
            most: how many causes are shown, that of most pods first.

        Raises:
            UnknownName: there is no such pod; the message lists those without a node. It is a KeyError.
            ValueError: `most` is below 1.

        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([node("a", cpu="2"), pod("big", cpu="4")])
        >>> c.why()
        1 pod waits for a node, for one cause
          1  NodeResourcesFit: the pod asks for 4 cpu, and the only node, a, has 2 – default/big
        >>> c.why("big").title
        'default/big: the pod asks for 4 cpu, and the only node, a, has 2'
        """
        from .questions.fix.asking import why_all_with_edits, why_with_edit

        return why_with_edit(self, pod) if pod else why_all_with_edits(self, most)

    def fix(self, pod: str) -> Fixes:
        """Say what to do about a pending pod: what restores or corrects first, each tried on a fork.

        A notebook shows a card for each fix: who decides, what to do, what restarts, whom else it touches, who waits
        then. `fixes[0].try_it()` runs a fork with the fix until it is idle, and `fixes[0].fork` is that cluster; this
        cluster does not change until `fixes[0].apply(c)`.

        Args:
            pod: `web-0`, `NAMESPACE/web-0`, or a reference such as `pod/web-0`.

        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([node("a", unschedulable=True), pod("web")])
        >>> c.fix("web")[0].title
        'Uncordon a (A, restores)'
        >>> c.fix("web")[0].do
        'kubectl uncordon a'
        >>> c.fix("web")[0].try_it()
        Uncordon a: default/web gets a node, and no other pod waits for it
          after 3 steps default/web runs on a
          every other pod is where it would be without the fix
        >>> c.fix("web")[0].apply(c)
        >>> c.run("web Running").ended
        'web Running holds'
        """
        from .questions.fix import fix

        return fix(self, pod)

    @overload
    def may(self, pod: str, *patches: Any, kind: str = "merge", edit: Literal[False] = False) -> PatchAnswers: ...

    @overload
    def may(self, pod: str, *patches: Any, kind: str = "merge", edit: Literal[True]) -> GateWorkbench: ...

    def may(self, pod: str, *patches: Any, kind: str = "merge", edit: bool = False) -> PatchAnswers | GateWorkbench:
        """Say of each patch of a pod whether the API server takes it, and which nodes match before and after (S4).

        A refusal that would widen the set of nodes has a witness: a node, real or constructed, that would newly match.
        Each patch is tried by itself on a fork; this cluster does not change.

        Args:
            pod: `web-0`, `NAMESPACE/web-0`, or a reference such as `pod/web-0`.
            patches: mappings or YAML; a list of operations is a JSON patch. By default some that answer what may be
                changed on the pod, made of its own spec and the nodes there are; each is tried, none is assumed.
            kind: the kind of patch, as in `kubectl patch --type`.
            edit: show the patches as YAML to edit, with the answer to each as you write.

        >>> c = Cluster()
        >>> _ = c.apply('''
        ... apiVersion: v1
        ... kind: Pod
        ... metadata: {name: app}
        ... spec:
        ...   schedulingGates: [{name: example.com/queue}]
        ...   nodeSelector: {zone: a}
        ...   containers: [{name: app, image: app}]
        ... ''')
        >>> narrower, wider = c.may("pod/app", "spec: {nodeSelector: {vm: spot}}", "spec: {nodeSelector: {zone: b}}")
        >>> narrower.verdict, wider.verdict, str(wider.witness)
        ('allowed (200)', 'refused (422 Invalid)', 'a node named new-node with zone=b')
        >>> bench = c.may("app", "spec: {nodeSelector: {zone: b}}", edit=True)
        >>> bench.text = "spec: {nodeSelector: {vm: spot}}"
        >>> bench.answers[0].verdict
        'allowed (200)'
        """
        from .questions.may import may
        from .views.show import workbench

        return workbench(self, pod, *patches, kind=kind) if edit else may(self, pod, *patches, kind=kind)

    def get(self, kind: str, namespace: str = "default", **options: Any) -> Listing | Listings | Description:
        """List objects as `kubectl get` prints them.

        Args:
            kind: `pods`, `pvc`, `sts.apps`, several separated by commas, `all`; or an object: `pod/web-0`.
            namespace: as `-n`.
            options: `name` (one or several), `wide`, `all_namespaces`, `show_labels`, `output` ("yaml", ...), `now`.

        Raises:
            ResourceNotFound: no modelled kind has this name, or no object; in kubectl's words. It is a KeyError.
            ValueError: there is no such output format, or names are given for all namespaces.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> c.get("pods")
        NAME     READY   STATUS    RESTARTS   AGE
        my-pod   0/1     Pending   0          0s
        >>> c.get("my-pod", output="name")
        pod/my-pod
        """
        from .kubectl import get

        return get(self, kind, namespace, **options)

    def kubectl(self, command: str, stdin: str = "") -> CommandOutput:
        """Run a kubectl command, such as `get pods -o wide` or `apply -f -`; acts are the user's, errors are printed.

        `%kubectl` in a cell does the same, after `%load_ext kvolsched`. The texts of `get`, `describe` and `apply` are
        judged by recordings; those of other commands are kubectl v1.36's words, not recorded.

        Args:
            command: the words, as in a shell.
            stdin: what `-f -` reads.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> _ = c.run()
        >>> c.kubectl("get pods")
        NAME     READY   STATUS    RESTARTS   AGE
        my-pod   1/1     Running   0          2s
        >>> c.kubectl("get pod web-0")
        Error from server (NotFound): pods "web-0" not found
        """
        from .kubectl import kubectl

        return kubectl(self, command, stdin)

    def serve(self, port: int = 0, *, pace: str = "steps") -> ServedCluster:
        """Serve this cluster to the real kubectl and other clients of Kubernetes, on this machine's loopback alone.

        A client's write is a step between two others. After `back`, every watch ends and every version is a new one.

        Args:
            port: 0 for any free one.
            pace: "steps": you step the cluster; "live": everybody acts as soon as they can.

        Raises:
            ValueError: there is no such pace.
            OSError: the port cannot be had.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> with c.serve() as served:
        ...     url = served.url("my-operator")
        >>> served
        zonal-example: no longer served
        """
        from .serve import ServedCluster

        return ServedCluster(self, port, pace)

    def where(self, *terms: str) -> MatchedNodes:
        """List the nodes that match one of these terms, each a line as kubectl's selectors; drawn, why and why not.

        Expressions of a term are ANDed, terms ORed, as in required node affinity and in the node affinity of a volume.

        Args:
            terms: `zone in (a, b), rack=r1`, `!gpu`, `gpu`, `rack!=r1`, `rack notin (r1)`, `slots>9`, `slots<9`. Of a
                key that only one label of nodes ends in, the prefix may be left out.

        Raises:
            ValueError: a term cannot be read; the message has the forms.
            UnknownName: a short key stands for several labels. It is a KeyError.

        >>> from kvolsched.make import node
        >>> c = Cluster.from_manifests([node("n1", zone="a"), node("n2", zone="b"), node("n3")])
        >>> c.where("zone!=a")
                        n1   n2   n3
        zone NotIn [a]  ✕ a  ✓ b  ✓ –
        2 of 3 nodes match: n2, n3 (zone is topology.kubernetes.io/zone)
        """
        from .questions.node_terms import where

        return where(self, *terms)

    def pools(self, driver: str = "") -> PoolTable:
        """List the pools of drivers as they truly are: size, free bytes, largest volume, and the volumes there.

        >>> Cluster(components={"lvm.example.com": {"pools": {"zone-a": "100Gi"}}}).pools()
        DRIVER            POOL     CAPACITY   FREE    LARGEST   VOLUMES
        lvm.example.com   zone-a   100Gi      100Gi   100Gi     <none>
        """
        from .core.pools import pools

        return pools(self, driver)

    def create_volume_requests(self, claim: str = "") -> CreateVolumeRequests:
        """List what drivers were asked to make: the selected node, requisite and preferred topologies, and the answer.

        An attempt goes by what its provisioner was told: by the documents the selected node, in S1 none, today node and
        allowedTopologies. In-tree plugins and provisioners that are no CSI drivers choose by themselves: for them the
        table has what they were handed, the node and the topologies that the class allows.

        Args:
            claim: a claim, which may be deleted; by default all.

        >>> from kvolsched.make import claim, node, pod, storage_class
        >>> c = Cluster.from_manifests([node("n1", "a"), node("n2", "b"), storage_class(), claim(), pod("app", "data")])
        >>> _ = c.run()
        >>> c.create_volume_requests("data")
        STEP   TIME   CLAIM   NODE   REQUISITE   PREFERRED   ANSWER
        5      0 s    data    n2     a, b        b, a        a volume in b
        """
        from .questions.driver_requests import create_volume_requests

        return create_volume_requests(self, claim)

    def get_capacity_requests(self, driver: str = "") -> GetCapacityRequests:
        """List what drivers were asked about their capacity: class, its parameters, the segment, and the answer (S2).

        What a driver answered need not have been published: nothing is written if it is no news. In an idle cluster
        polls that would find no news are not made.

        Args:
            driver: a driver with pools, of which alone something is asked; by default all.

        Raises:
            UnknownName: there is no such driver. It is a KeyError.

        >>> from kvolsched.make import DRIVER, node, storage_class
        >>> pools = {DRIVER: {"pools": {"a": "10Gi"}}}
        >>> c = Cluster.from_manifests([node("n1", "a"), storage_class()], components=pools)
        >>> _ = c.run()
        >>> [row.answer for row in c.get_capacity_requests()]
        ['10Gi']
        """
        from .questions.driver_requests import get_capacity_requests

        return get_capacity_requests(self, driver)

    def mounts(self, pod: str = "") -> MountTable:
        """List what kubelets tell CSI drivers when they mount inline volumes: the entries of publish_context (S2).

        Args:
            pod: a pod on a node; by default all.

        Raises:
            KeyError: there is no such pod.

        >>> from kvolsched.make import csi_driver, inline, node
        >>> driver = csi_driver(tracks=False, podInfoOnMount=True)
        >>> c = Cluster.from_manifests([node("a1"), driver, inline("app", "8Gi")], revision="design")
        >>> _ = c.run(seconds=60)
        >>> c.mounts("app")[0].context["csi.storage.k8s.io/size"]
        '8Gi'
        """
        from .questions.driver_requests import mounts

        return mounts(self, pod)

    def explore(self, **options: Any) -> Exploration:
        """Search every order of turns, and chosen faults, for a failure.

        Args:
            options: `goal`, `never`, `until`, `invariants`, `faults`, `lag`, `components`, `max_states`, `seconds` and
                others: see `help(kvolsched.explore.explore)`.

        Raises:
            UnknownName: an option has no such value, or there is no such component. It is a ValueError.

        >>> import kvolsched
        >>> found = kvolsched.scenario("zonal-example").explore(goal="my-pod Running", progress=False)
        >>> found.exhausted, found.counterexample is None
        (True, True)
        """
        from .questions.explore import explore

        return explore(self, **options)

    def sample(self, seeds: int = 20, **options: Any) -> Sample:
        """Run forks in the natural order to their ends, one per seed, and count the ends.

        Args:
            seeds: how many.
            options: `goal`, `summary`, `steps` and others: see `help(kvolsched.questions.explore.sample)`.

        >>> import kvolsched
        >>> kvolsched.scenario("zonal-example").sample(3)
        3 seeds; in the end every pod runs in all:
           3  my-pod runs on node-a
        """
        from .questions.explore import sample

        return sample(self, seeds, **options)

    @overload
    def verdicts(self, pod: str) -> Figure: ...

    @overload
    def verdicts(self, pod: str, node: str, plugin: str) -> Text: ...

    def verdicts(self, pod: str, node: str = "", plugin: str = "") -> Figure | Text:
        """Show every plugin's verdict on every node: the pod's last pass, judged again; or one, with both its sides.

        Args:
            pod: the pod, or a workload: its first pod without a node, else its first one.
            node: the node of one verdict; by default all.
            plugin: its plugin, by Kubernetes' name or by that of the documents (`CheckVolumeBinding`).

        Raises:
            UnknownName: there is no such pod, node or plugin, or the pod has had no pass; the message lists what there
                is. It is a KeyError.
            ValueError: a node is given without a plugin, or a plugin without a node.

        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([node("n1", cpu="1"), node("n2"), pod("web", cpu="2")])
        >>> _ = c.step("scheduler")
        >>> c.verdicts("web")
        pass 1 of pod/web: 1 of 2 nodes fit
        node  U N T A P F R L V Z S I
        n1    ✓ ✓ ✓ – – ⊘ – – – – ✓ –  NodeResourcesFit: Insufficient cpu
        n2    ✓ ✓ ✓ – – ✓ – – – – ✓ –  fits, chosen
        U NodeUnschedulable, N NodeName, T TaintToleration, A NodeAffinity, P NodePorts, F NodeResourcesFit,
        R VolumeRestrictions, L NodeVolumeLimits, V VolumeBinding, Z VolumeZone, S PodTopologySpread,
        I InterPodAffinity
        ✓ passes, – nothing to ask, ⊘ rejects first; removing pods cannot help
        >>> c.verdicts("web", "n1", "NodeResourcesFit")
        ⊘ NodeResourcesFit on n1: Insufficient cpu
          requests.cpu 2 > allocatable 1 − requested 0 = 1
        """
        from .views.show import figure, verdict

        return verdict(self, pod, node, plugin) if node or plugin else figure(self, "verdicts", pod)

    def scores(self, pod: str) -> ChartFigure:
        """Show how the pod's last pass ranked the nodes that fit: plugin by plugin, with weights and sums.

        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([node("a"), node("b", cpu="2"), pod("web", cpu="1")])
        >>> _ = c.step("scheduler")
        >>> print(repr(c.scores("web")).partition(" ")[0])
        scores
        """
        from .views.show import chart

        return chart(self, "scores", pod)

    def map(self, topology_key: str = "") -> ChartFigure:
        """Draw nodes by domain, with pods, claims and volumes; assumed ones are dashed.

        Args:
            topology_key: the label whose values are the domains; by default that of zones.

        Raises:
            UnknownName: no node has such a label; the message lists those that there are. It is a KeyError.

        >>> from kvolsched.make import node, pod
        >>> Cluster.from_manifests([node("n1", zone="a", cpu="2"), pod("web", running_on="n1")]).map()
        waiting  nothing
        zone a
          node n1  cpu 100m/2000m  mem 0/64Gi  not judged yet
            pod web Running
        """
        from .views.show import chart

        return chart(self, "map", topology_key=topology_key)

    def writes(self, other: ClusterCore | RecordedWrites | None = None) -> Writes:
        """Show who wrote what, in order, and who saw it when; or beside another cluster's or a recorded trace's.

        Two runs have a write in common if its author, verb and object are equal and it writes a common field, whatever
        the value: a pod bound to another node is the same write. `diff` compares what became of the objects.

        Args:
            other: another cluster, or a trace of real components; by default none.

        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([node("n1"), pod("web")])
        >>> _ = c.run()
        >>> print(repr(c.writes()).splitlines()[1])
        2     0 s   scheduler  bind pod/web: nodeName n1, PodScheduled True  PV controller 3, kubelet 3
        """
        from .views.pages.writes import writes

        return writes(self, other)

    def timeline(self) -> ChartFigure:
        """Draw a lane for each actor: what it wrote, and what it has not seen yet.

        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([node("n1"), pod("web")])
        >>> _ = c.run()
        >>> print(repr(c.timeline()).splitlines()[-1])
        kubelet                  seen 3           3:patch pod/web
        """
        from .views.show import chart

        return chart(self, "timeline")

    def changes(self) -> Figure:
        """Show what the last step changed: API objects and components' notes.

        >>> from kvolsched.make import node
        >>> c = Cluster.from_manifests([node("n1")])
        >>> _ = c.cordon("n1")
        >>> c.changes()
        + api node/n1 spec.unschedulable: none → True
        """
        from .views.show import figure

        return figure(self, "changes")

    def events(self) -> Figure:
        """Show the events, newest first.

        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([node("n1"), pod("web")])
        >>> _ = c.run()
        >>> c.events()
        step  type    reason     object   message
        2     Normal  Scheduled  pod/web  Successfully assigned default/web to n1
        """
        from .views.show import figure

        return figure(self, "events")

    def domains(self, topology_key: str = "") -> ChartFigure:
        """Chart the nodes of each domain of a topology key; in words also its pods, volumes and verdicts.

        Args:
            topology_key: a label of nodes; by default that of zones.

        Raises:
            UnknownName: no node has such a label; the message lists those that there are. It is a KeyError.

        >>> from kvolsched.make import node
        >>> Cluster.from_manifests([node("n1", zone="a"), node("n2", zone="b")]).domains()
        domains of topology.kubernetes.io/zone
        domain  nodes  pods  volumes  verdicts
        a       1: n1  0     0        not judged yet
        b       1: n2  0     0        not judged yet
        """
        from .views.show import chart

        return chart(self, "domains", topology_key=topology_key)

    @overload
    def skew(self, reference: str, at: Literal["now", "pass"] | int = "now") -> SkewFigure: ...

    @overload
    def skew(self, reference: str, *, over: Literal["steps"]) -> StepsFigure: ...

    def skew(self, reference: str, at: Literal["now", "pass"] | int = "now", *, over: Literal["", "steps"] = ""
             ) -> SkewFigure | StepsFigure:  # fmt: skip
        """Show how each spread constraint of a pod counts every domain, and where all filters let it land.

        Nothing of it moves the cluster. A pod on a node is judged without its own place; of a Deployment, a ReplicaSet
        or a StatefulSet it is the next replica, as the present template would make it. The numbers of the first
        constraint are values: `.counts`, `.actual_skew`, `.fits` (what it allows), `.open` (where the pod may land).

        Args:
            reference: a pod, `web-0` or `pod/web-0`, or a workload, `deploy/web` or `sts/db`.
            at: "now", "pass" (the pod's last pass), or a step of this branch.
            over: "steps" charts how the first constraint counted at every known step, with the acts of users.

        Raises:
            UnknownName: there is no such object or step, the pod has had no pass, `at` is no moment, `over` is no
                axis. It is a KeyError.
            ApplyRefused: the API server would refuse the next replica.

        >>> import kvolsched
        >>> c = kvolsched.scenario("dead-zone")
        >>> c.skew("next").fits, c.skew("next").open
        (['zone-lost'], [])
        >>> title, answer, limit, zone_1, *others = c.skew("next").reading.splitlines()
        >>> print(answer.partition(";")[0])
        ✕ Nobody may take it. zone-lost sets the minimum (0) and is shut by TaintToleration
        >>> print(limit)
        minimum 0, set by zone-lost, limit 1 = minimum 0 + maxSkew 1
        >>> print(zone_1.partition("counted")[2])
         3  ActualSkew 3  3 + 1 − 0 = 4 > 1 ✕  cannot land: PodTopologySpread, 3 too many over zone-lost
        """
        from .views.show import skew

        return skew(self, reference, at, over)

    def capacity(self, reference: str = "", at: Literal["now", "pass"] | int = "now") -> ChartFigure:
        """Show what drivers publish for the claims and inline volumes of a pod, and what they would answer.

        Args:
            reference: a pod or a workload, as for `skew`, or a claim of a pod; by default the pod judged last.
            at: "now", "pass" (the pod's last pass), or a step of this branch.

        Raises:
            UnknownName: there is no such object or step, the pod has had no pass, no pod uses the claim, or `at` is no
                moment. It is a KeyError.
            ApplyRefused: the API server would refuse the next replica.

        >>> import kvolsched
        >>> c = kvolsched.scenario("two-volumes-one-pool")
        >>> c.capacity("db").reading.splitlines()[2].partition("rule")[2]
        ' ✕ no entry = not sufficient  driver ✓ has 60Gi: never asked'
        """
        from .views.show import ledger

        return ledger(self, "capacity", reference, at)

    @overload
    def series(  # type: ignore[overload-overlap]  # of all names this one is special
        self, *, what: Literal["lives"], over: str = "time"
    ) -> PlainChart: ...

    @overload
    def series(self, *others: ClusterCore, what: Wanted | Iterable[Wanted] = ..., over: str = "time"
               ) -> SeriesFigure: ...  # fmt: skip

    def series(self, *others: ClusterCore, what: Wanted | Iterable[Wanted] = ("running", "pending", "failures"),
               over: str = "time") -> SeriesFigure | PlainChart:  # fmt: skip
        """Chart counts over simulated time, of this cluster and of others: a pane for each count, with common axes.

        A picture of the whole branch: steps that are known after the present place are drawn, too.

        Args:
            others: clusters that are compared.
            what: `running`, `pending`, `failures` (Warning Events), `skew` (the largest ActualSkew of S3), `room` (free
                GiB of pools: published, and as drivers have it), `cpu held`; the reason of an Event; a function of a
                cluster, or a mapping from name to function, asked after each step; or several of these. `lives`
                alone shows how long each pod of this cluster waits, starts and runs.
            over: the axis, `time` or `steps`; a run in which time stands still is drawn over steps.

        >>> import kvolsched
        >>> a, b = (kvolsched.scenario("zonal-example", rules) for rules in ("design", "upstream"))
        >>> _ = a.run(), b.run()
        >>> a.series(b, what=["running", "cpu held", {"volumes": lambda c: len(c.objects("pv"))}])
        running: design 1, upstream 1 at the end
        2 runs, seed 0, t = 0 to 2 s
        running          design 0 → 1 at 2 s             upstream 0 → 1 at 1 s
        cpu held, cores  design 0 → 1 at 2 s, 0 cores·s  upstream 1, 2 cores·s
        volumes          design 0 → 1 at 0.3 s           upstream 0 → 1 at 0.3 s
        """
        from .views.show import series

        return series(self, *others, what=what, over=over)

    def predict(self, question: str = "", *, pod: str = "", ask: str = "node", node: str = "",
                claim: str = "") -> Predict:
        """Ask what happens next before it happens; once answered, `reveal` steps the cluster.

        Shown in a notebook it has a button for each candidate. A wrong answer shows what speaks against it.

        Args:
            question: a title in your words, shown above the candidates; it is not read. `ask` says what is asked.
            pod: the pod; by default the only one without a node.
            ask: "node" it gets, "plugin" that rejects `node` first, "volume" of `claim`, "end" of the pod, or "order":
                who acts next.
            node: for "plugin" the node; by default the first that is rejected.
            claim: for "volume" the claim; by default the pod's first without a volume.

        Raises:
            ValueError: there is nothing to predict, or no such kind of question.
            UnknownName: there is no such object. It is a KeyError.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> asked = c.predict("Which node?", pod="my-pod")
        >>> asked.answer("node-c").is_right
        False
        >>> asked.answer("node-a").is_right
        True
        >>> asked.reveal().outcome.sentence
        'node-a has the highest sum of scores, 274.'
        """
        from .questions.predict import predict
        from .views.panel.predict import Predict

        return Predict(predict(self, question, pod=pod, ask=ask, node=node, claim=claim))

    def whatif(self, picture: str = "map", /, *, pod: str = "", **fields: Any) -> WhatIf:
        """Open sliders over fields of manifests: each value is tried on a fork that runs to its end.

        Above the sliders stands the picture of the values that are chosen; below each a strip shows how many pods run
        with each of its values while the others stay; of the pods of one workload, if all fields are of it. What the
        API server refuses is an outcome too, in its words; before the first step, what it would refuse to create.

        Args:
            picture: `skew`, `capacity`, `map`, `domains`, `series`, `why` or `verdicts`.
            pod: the pod that the picture is about; by default one that waits.
            fields: path of a field -> its values: `(1, 12)` for a range with both ends, `bool`, or a list. A path is
                an object and the field of its manifest: `deploy/web:spec.replicas`,
                `node/a:metadata.labels[topology.kubernetes.io/zone]`.

        Raises:
            KeyError: there is no such picture, object or pod.
            TypeError: the fields are not given by their paths.
            ValueError: there is no such field, the message lists what is there; or the values are in no known form.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> w = c.whatif("map", **{"node/node-a:spec.unschedulable": bool, "node/node-b:spec.unschedulable": bool})
        >>> w.table
        node-a unschedulable  [false: 1 of 1 ✓]  true: 1 ✓  all run with every value
        node-b unschedulable  [false: 1 of 1 ✓]  true: 1 ✓  all run with every value
        >>> w.set(**{"node/node-a:spec.unschedulable": True})
        >>> w.value["pod/my-pod"].spec.node_name
        'node-b'
        """
        from .views.show import what_if

        return what_if(self, picture, pod, fields)

    @overload
    def lab(self, *, text: Literal[True], predict: bool = False, tell: bool = False) -> Text: ...

    @overload
    def lab(
        self, *, text: Literal[False] = False, predict: bool = False, tell: bool = False,
        beside: ClusterCore | Revision | str | None = None,
    ) -> Lab: ...

    def lab(
        self, *, text: bool = False, predict: bool = False, tell: bool = False,
        beside: ClusterCore | Revision | str | None = None,
    ) -> Lab | Text:  # fmt: skip
        """Open the panel: step, let any actor act next, see what changed and why; see `help(type(c.lab()))`.

        Args:
            text: return what the panel shows as text, without controls.
            predict: ask before each step what it does; Step lets it happen, and asks the next question.
            tell: say of those who may act next what each would do; else only who, and about what.
            beside: another cluster, shown beside this one and moved with it; what differs is marked in both. Rules by
                name, or a `Revision`, mean `c.under(rules)`.

        >>> import kvolsched
        >>> print(kvolsched.scenario("zonal-example").lab(text=True).splitlines()[0])
        step 0 of 0, t=0 s, branch main, rules design: The objects are stored; no component has acted on them yet.
        >>> lab = kvolsched.scenario("zonal-example").lab(predict=True)
        >>> lab.slot.children[0].asked.answer("node-c").is_right
        False
        >>> lab.do("step")
        >>> lab.frame.head.sentence.partition(". ")[0]
        'Scheduler judges my-pod, pass 1: 2 of 4 nodes fit, it chooses node-a'
        >>> c = kvolsched.scenario("zonal-example")
        >>> other = c.fork("node-a closed")
        >>> _ = other.cordon("node-a")
        >>> print(c.lab(beside=other).reading().splitlines()[-1])
        ≠ node/node-a  spec.unschedulable  zonal-example –  node-a closed True  user, step 1
        """
        from .views.show import lab

        return lab(self, text=text, predict=predict, tell=tell, beside=beside)
