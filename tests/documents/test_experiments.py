"""What the documents rejected, measured and warned of: each an experiment on the same engine under other rules."""


import attrs
import pytest
from documents.clusters import cluster, events, fits, patch, refusal, where
from manifests import HOST, ZONE, apart, claim, node, pod, spread, storage_class, volume

import kvolsched
from kvolsched.api import volumes
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.selector import NodeSelectorTerm
from kvolsched.rules.named import revision_named
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.world.apiserver import key_of

both = pytest.mark.parametrize("revision", ["design", "upstream"])
LOCAL = "kubernetes.io/no-provisioner"
FOO = {"app": "foo"}


# -- what a run tells --------------------------------------------------------------------------------------------------


@pytest.mark.checklist("84")
def test_the_trace_draws_the_loop():
    """Predicates, priorities, assume, bind queue, back to the queue, and the second pass: a step each, in this order."""
    c = kvolsched.scenario("zonal-example", "design")
    c.run("pod/my-pod Running")
    told = " | ".join(row.words for row in c.story("pod/my-pod"))
    places = [told.index(words) for words in (
        "pass 1: 2 of 4 nodes fit", "it chooses", "It assumes pvc/my-pvc", "queues the pod for binding",
        "requeues my-pod: volume binding started", "pass 2: 1 of 4 nodes fit", "It assumes the pod", "binds my-pod")]
    assert places == sorted(places)
    changed = [change for row in c.story("pod/my-pod") for change in row.changed if "notes queue" in change]
    assert ["none → binding", "binding → waiting for volumes", "back-off → binding", "binding → none"] == [
        change.partition("queue: ")[2] for change in changed]
    drawn = repr(c.timeline())
    for lane in ("scheduler", "bind worker", "PV controller"):
        assert lane in drawn


# -- work --------------------------------------------------------------------------------------------------------------


def seen_by_scheduler(*objects, revision="design"):
    """What the scheduler sees of these objects, and the cluster."""
    c = cluster(*objects, revision=revision)
    seen = Snapshot()
    for key, obj in sorted(c.world.log.objects.items()):
        if key.kind in Snapshot.follows:
            seen.apply(key, None, obj)
    return c, seen


def world_of(nodes, disks, *, affinity=True, claims=1):
    """So many nodes and disks (in turn on the nodes), and a pod with claims."""
    made = [node(f"n{n}") for n in range(nodes)]
    made += [volume(f"d{n}", f"{n + 10}Gi", "late", *([{HOST: [f"n{n % nodes}"]}] if affinity else []))
             for n in range(disks)]
    return [*made, storage_class(provisioner=LOCAL), *(claim(f"c{n}") for n in range(claims)),
            pod("app", *(f"c{n}" for n in range(claims)))]


def visits(monkeypatch, act):
    """How many volumes are asked whether they suit a claim, in an act."""
    count = 0
    real = volumes.is_free_match

    def counted(*args, **kwargs):
        nonlocal count
        count += 1
        return real(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(volumes, "is_free_match", counted)
        act()
    return count


def test_volumes_without_affinity_are_judged_once_for_all_nodes(monkeypatch):
    """The index by class answers for every node alike: ten times the nodes, the same visits; the walk's grow tenfold."""
    counts = {}
    for nodes in (4, 40):
        c, seen = seen_by_scheduler(*world_of(nodes, 8, affinity=False))
        plugin = c.revision.profile.plugin("CheckVolumeBinding")
        indexed = visits(monkeypatch, lambda c=c, seen=seen: judge(c["pod/app"], seen, c.revision.profile).mask)
        walked = visits(monkeypatch, lambda c=c, seen=seen, plugin=plugin: [
            plugin.rule(c["pod/app"], each, seen) for each in seen.all_nodes()])
        counts[nodes] = indexed, walked
    assert counts[4][0] == counts[40][0]
    assert counts[40][1] == 10 * counts[4][1]


def test_affinity_is_evaluated_when_a_volume_comes(monkeypatch):
    """A volume's nodes are found out once, by class; later passes ask nothing again, and labels and volumes may change."""
    asked = 0
    real = NodeSelectorTerm.matches

    def counted(self, *args, **kwargs):
        nonlocal asked
        asked += 1
        return real(self, *args, **kwargs)

    monkeypatch.setattr(NodeSelectorTerm, "matches", counted)
    c = cluster(*world_of(20, 40))
    process = c.world.processes["kube-scheduler"]
    c.world.deliver(process)
    seen = process.views["cache"].snapshot
    plugin = c.revision.profile.plugin("CheckVolumeBinding")
    def one_pass():
        before = asked
        fit = judge(c["pod/app"], seen, c.revision.profile).feasible
        return asked - before, fit

    first, fit = one_pass()
    again, same = one_pass()
    assert 0 == again <= first
    assert fit == same == tuple(sorted(f"n{n}" for n in range(20)))
    walked = tuple(each.metadata.name for each in seen.all_nodes() if plugin.rule(c["pod/app"], each, seen))
    assert walked == fit
    old = c["node/n3"]
    seen.apply(key_of(old), old, evolve_parts(
        old,
        metadata={"labels": old.metadata.labels.merged({HOST: "elsewhere"})},
    ))
    for number in (4, 24):
        gone = c[f"pv/d{number}"]
        seen.apply(key_of(gone), gone, None)
    _, later = one_pass()
    assert tuple(name for name in fit if name not in ("n3", "n4")) == later


@pytest.mark.checklist("220", "227")
def test_what_spreading_costs(monkeypatch):
    """Pods without constraints cost nothing more; with one a pass over 500 nodes counts each domain once, not each node."""
    from kvolsched.scheduler.plugins.pod_topology_spread import column

    made = [node(f"n{n:03}", f"z{n % 5}") for n in range(500)]
    made += [pod(f"p{n}", labels=FOO, running_on=f"n{n:03}") for n in range(50)]
    calls = []
    real = column.domain_rows
    monkeypatch.setattr(column, "domain_rows", lambda *args: calls.append(1) or real(*args))
    cost = {}
    for word, more in (("none", {}), ("one", {"topologySpreadConstraints": [spread(**FOO)]})):
        c = cluster(*made, revision="upstream")
        c.apply(pod("app", labels=FOO, **more))
        calls.clear()
        c.run("pod/app scheduled", seconds=30)
        cost[word] = len(calls)
    assert 0 == cost["none"] < cost["one"] <= 4


# -- rejected by S0 ----------------------------------------------------------------------------------------------------


@pytest.mark.checklist("68")
def test_a_selector_in_the_class_cannot_be_read_without_all_nodes():
    """Listed values name their domains; NotIn, Exists and Gt mean whatever nodes there happen to be."""
    from kvolsched.api.text import manifest

    listed = manifest.from_plain(storage_class(allowed=[{ZONE: ["a", "b"]}]))
    told = volumes.flattened(listed.allowed_topologies)
    assert [((ZONE, "a"),), ((ZONE, "b"),)] == told
    wanted = [{"key": ZONE, "operator": "NotIn", "values": ["c"]}, {"key": ZONE, "operator": "Exists"},
              {"key": "example.com/slots", "operator": "Gt", "values": ["3"]}]
    pv = volume("x")
    few = [node("a1", "a", labels={"example.com/slots": "4"})]
    for expression in wanted:
        pv["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
        required = manifest.from_plain(pv).spec.node_affinity.required

        def domains(nodes, required=required):
            labels = [manifest.from_plain(each).metadata.labels for each in nodes]
            return {found[ZONE] for found in labels if required.matches(found)}

        more = [*few, node("d1", "d", labels={"example.com/slots": "9"})]
        assert {"a"} == domains(few) != domains(more) == {"a", "d"}
        assert told == volumes.flattened(listed.allowed_topologies)


@pytest.mark.parametrize("provisioner", ["kubernetes.io/gce-pd", "kubernetes.io/aws-ebs"])
@pytest.mark.checklist("63")
def test_classes_that_say_zones_twice(provisioner):
    """The plugin's own check refuses the class; without it the driver says the same and provisions nothing."""
    twice = storage_class("twice", provisioner, waits=False, parameters={"zones": "a,b"},
                          allowed=[{ZONE: ["a"]}])
    words = "zone[s] cannot be specified in StorageClass if allowedTopologies specified"
    checked = cluster(node("a1", "a"))
    assert f'storageclasses.storage.k8s.io "twice" is forbidden: {words}' in refusal(checked.apply, twice)
    assert "" == refusal(checked.apply, {**twice, "metadata": {"name": "other"}, "provisioner": "disks.example.com"})
    rules = revision_named("design")
    unchecked = cluster(node("a1", "a"), revision=attrs.evolve(
        rules, disabled=(*rules.disabled, "StorageClassZones")))
    unchecked.apply(twice, claim("data", storage_class="twice"))
    unchecked.run(seconds=30)
    assert ("Pending", []) == (unchecked["pvc/data"].status.phase, unchecked.objects("pv"))
    assert words in events(unchecked, "data", "ProvisioningFailed")[0]
    today = cluster(node("a1", "a"), revision="upstream")  # Kubernetes has no such check: the driver is on its own
    today.apply(twice, claim("data", storage_class="twice"))
    today.run(seconds=30)
    assert ("Pending", []) == (today["pvc/data"].status.phase, today.objects("pv"))
    assert words in events(today, "data", "ProvisioningFailed")[0]


# -- S2 and S3: gates --------------------------------------------------------------------------------------------------


@pytest.mark.checklist("194")
def test_the_gate_of_spreading():
    """Off in the scheduler constraints are not looked at; off in the API server new pods lose them; on, they are judged."""
    def run(**gates):
        rules = revision_named("design").with_gates(gates)
        c = cluster(node("a1", "a"), node("b1", "b"), pod("old", labels=FOO, running_on="a1"), revision=rules)
        c.apply(pod("app", labels=FOO, topologySpreadConstraints=[spread(**FOO)]))
        c.run(seconds=30)
        return fits(c, "app"), len(c["pod/app"].spec.topology_spread_constraints)

    assert (["b1"], 1) == run()
    assert (["a1", "b1"], 1) == run(**{"kube-scheduler": {"EvenPodsSpread": False}})
    assert (["a1", "b1"], 0) == run(**{"kube-apiserver": {"EvenPodsSpread": False}})


@pytest.mark.checklist("194")
def test_spreading_enabled_disabled_and_enabled_again():
    """In a running cluster the gate takes effect at once; constraints of stored pods stay, and count again."""
    old = [pod(f"old-{n}", labels=FOO, running_on="a1") for n in range(2)]
    c = cluster(node("a1", "a"), node("b1", "b"), *old, revision="upstream")
    placed = []
    for number, on in enumerate((True, False, False, True)):
        c.upgrade({"kube-scheduler": {"EvenPodsSpread": on}, "kube-apiserver": {"EvenPodsSpread": on}})
        c.apply(pod(f"app-{number}", labels=FOO, topologySpreadConstraints=[spread(**FOO)]))
        c.run(seconds=30)
        placed.append((len(fits(c, f"app-{number}")), len(c[f"pod/app-{number}"].spec.topology_spread_constraints)))
    assert [(1, 1), (2, 0), (2, 0), (1, 1)] == placed  # five pods on two nodes are uneven before the last one
    assert 1 == len(c["pod/app-0"].spec.topology_spread_constraints)


@pytest.mark.checklist("146")
def test_the_gate_of_capacity_in_the_api_server():
    """Off, capacityTracking, the driver's status and fsSize are dropped from what is created."""
    tracked = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d.example.com"},
               "spec": {"capacityTracking": True}, "status": {"storage": [{"storageClassName": "late"}]}}
    inline = pod("app", volumes=[{"name": "v", "csi": {"driver": "d.example.com", "fsSize": "1Gi"}}])
    for on in (True, False):
        c = cluster(revision=revision_named("design").with_gates({"kube-apiserver": {"CSIStorageCapacity": on}}))
        c.apply(tracked, inline)
        found = c["csidriver/d.example.com"]
        assert [on, on, on] == [bool(found.spec.capacity_tracking), bool(found.status.storage),
                                c["pod/app"].spec.volumes[0].csi.fs_size == "1Gi"]


# -- S4 ----------------------------------------------------------------------------------------------------------------


def directives(**gates):
    """The design's rules with these gates."""
    return revision_named("design").with_gates(gates)


@pytest.mark.checklist("229")
def test_the_gate_of_readiness_in_both_processes():
    """On by default; off in the scheduler gates keep no pod out of the queue, off in the API server new pods have none."""
    def run(**gates):
        c = cluster(node("a1", "a"), revision=directives(**gates))
        c.apply(pod("app", gates=("g",)))
        c.run(seconds=30)
        return where(c, "app"), len(c["pod/app"].spec.scheduling_gates), bool(c.passes("app"))

    off = {"PodSchedulingReadiness": False}
    assert ([""], 1, False) == run()
    assert ([""], 1, True) == run(**{"kube-scheduler": off})  # judged, and the API server refuses to bind it
    assert (["a1"], 0, True) == run(**{"kube-apiserver": off})


OFF = {"PodSchedulingReadiness": False}
ON = {"PodSchedulingReadiness": True}


@pytest.mark.checklist("252")
def test_enabled_disabled_and_enabled_again():
    """In a running cluster: off, such updates are refused, on they are accepted; without API server they are refused."""
    c = cluster(node("a1", "a"), node("b1", "b"), pod("app", gates=("g",)), revision=directives())
    answers = []
    for number, gate in enumerate((ON, OFF, ON, OFF)):
        c.upgrade(gate, component="kube-apiserver")
        answers.append(refusal(patch, c, "pod/app", spec={"nodeSelector": {f"example.com/n{number}": "x"}}))
    assert ["", True, "", True] == [said and "pod updates may not change fields other than" in said for said in answers]
    c.upgrade(ON, component="kube-apiserver")
    c.outage("kube-apiserver", 30)
    assert "connection refused" in refusal(patch, c, "pod/app", spec={"nodeSelector": {"example.com/last": "x"}})
    assert {"example.com/n0", "example.com/n2"} == set(c["pod/app"].spec.node_selector)
    assert {0: 1, 200: 2, 422: 2} == c.requests(verb="PATCH", resource="pods").count()


@pytest.mark.checklist("252")
def test_skewed_api_servers_accept_some_and_refuse_some():
    """Of two API servers one has the feature: of the same updates some are accepted and some are refused."""
    c = cluster(node("a1", "a"), pod("app", gates=("g",)), revision=directives())
    c.upgrade(OFF, "kube-apiserver", beside=True)
    answers = [refusal(patch, c, "pod/app", spec={"nodeSelector": {f"example.com/n{n}": "x"}}) for n in range(12)]
    accepted, refused = answers.count(""), len([said for said in answers if said])
    assert min(accepted, refused) >= 3
    assert {("design", 200): accepted, ("design (kube-apiserver: PodSchedulingReadiness=false)", 422): refused} == (
        c.requests().count(by=("server", "code")))
    c.upgrade(ON, "kube-apiserver")
    assert {""} == {refusal(patch, c, "pod/app", spec={"nodeSelector": {f"example.com/m{n}": "x"}}) for n in range(4)}


@pytest.mark.checklist("252")
def test_application_controllers_leave_narrowed_pods_alone():
    """A ReplicaSet's pod that was narrowed keeps what its template does not say; nobody changes it back."""
    rs = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"},
          "spec": {"replicas": 2, "selector": {"matchLabels": FOO},
                   "template": {"metadata": {"labels": FOO}, "spec": {
                       "schedulingGates": [{"name": "g"}],
                       "containers": [{"name": "app", "image": "registry.k8s.io/pause:3.10"}]}}}}
    c = cluster(node("a1", "a"), node("b1", "b"), revision="upstream")
    c.apply(rs)
    c.run(seconds=30)
    names = [each.metadata.name for each in c.objects("pods")]
    assert 2 == len(names)
    for name in names:
        patch(c, f"pod/{name}", spec={"nodeSelector": {ZONE: "b"}})
    c.run(seconds=600)
    assert names == [each.metadata.name for each in c.objects("pods")]
    for name in names:
        patch(c, f"pod/{name}", spec={"schedulingGates": None})
    c.run(seconds=60)
    assert ["b1", "b1"] == where(c, *names)


# -- across documents --------------------------------------------------------------------------------------------------


@pytest.mark.checklist("261")
def test_the_story_across_all_documents():
    """Three replicas with SSD and HDD, apart, behind a gate: all rules place all three; the passes tell them apart."""
    def run(revision):
        made = [storage_class("ssd", LOCAL), storage_class("hdd", LOCAL)]
        for n in range(4):
            made.append(node(f"n{n}", "ab"[n % 2]))
            made += [volume(f"{of}{n}", "10Gi", of, {HOST: [f"n{n}"]}) for of in ("ssd", "hdd") if n or of == "ssd"]
        spec = {"containers": [{"name": "db", "image": "registry.k8s.io/pause:3.10"}], "affinity": apart(HOST, app="db"),
                "schedulingGates": [{"name": "rollout"}]}
        made.append({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
            "replicas": 3, "serviceName": "db", "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": spec},
            "volumeClaimTemplates": [{"metadata": {"name": of}, "spec": {
                "storageClassName": of, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "10Gi"}}}} for of in ("ssd", "hdd")]}})
        c = cluster(*made, revision=revision)
        c.run(seconds=60)
        names = [f"db-{n}" for n in range(3)]
        assert ["", "", ""] == where(c, *names)
        assert {"Pending"} == {each.status.phase for each in c.objects("pvc")}
        for name in names:
            patch(c, f"pod/{name}", spec={"schedulingGates": None})
            c.run(f"pod/{name} Running", seconds=300)
        return c, names

    passes = {}
    for revision in ("design", "draft", "upstream"):
        c, names = run(revision)
        assert {"n1", "n2", "n3"} == set(where(c, *names))
        for name, on in zip(names, where(c, *names), strict=True):
            assert [f"ssd{on[1]}", f"hdd{on[1]}"] == [c[f"pvc/{of}-{name}"].spec.volume_name for of in ("ssd", "hdd")]
        passes[revision] = [len(c.passes(name)) for name in names]
    assert [1, 1, 1] == passes["upstream"]
    assert min(passes["design"] + passes["draft"]) >= 2
