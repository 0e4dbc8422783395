"""Five Python clients that know nothing of kvolsched, and an operator, on a served cluster where everybody acts."""

import asyncio
import json
import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

FILES = Path(__file__).parent / "clients"
READY = [{"type": "Ready", "status": "True"}]


def package(name):
    """Return a client's package; skip without (fail in CI)."""
    return __import__(name) if os.environ.get("CI") else pytest.importorskip(name)


def pod(name, **labels):
    """Return the manifest of a small pod."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name, **labels}},
            "spec": {"containers": [{"name": "main", "image": "nginx"}]}}


def deployment(replicas):
    """Return the manifest of the deployment `web`."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}}}


def later(act):
    """Act a little later, beside a watch."""
    threading.Timer(0.2, act).start()


@pytest.fixture
def live(cluster):
    """Serve the cluster, where everybody acts as soon as they can."""
    with cluster.serve(pace="live") as served:
        yield served


class Official:
    """The official client."""

    def __init__(self, served, name="official"):
        package("kubernetes")
        from kubernetes import client
        self.client = client
        self.configuration = client.Configuration()
        self.configuration.host = served.url(name)
        self.api = client.ApiClient(self.configuration)
        self.core, self.apps = client.CoreV1Api(self.api), client.AppsV1Api(self.api)

    def refused(self, act):
        """Return code, reason and message of what is refused."""
        with pytest.raises(self.client.ApiException) as error:
            act()
        status = json.loads(error.value.body)
        return error.value.status, status["reason"], status["message"]


@pytest.fixture
def official(live):
    """Return the official client."""
    return Official(live)


def test_the_official_client_reads(official):
    """Lists by pages and by fields, in the order of names."""
    core = official.core
    assert [each.metadata.name for each in core.list_node().items] == ["node-a", "node-a-small", "node-b", "node-c"]
    first = core.list_node(limit=3)
    assert (len(first.items), first.metadata.remaining_item_count) == (3, 1)
    assert [each.metadata.name for each in core.list_node(limit=3, _continue=first.metadata._continue).items] == ["node-c"]
    core.create_namespaced_pod("default", pod("one"))
    found = core.list_namespaced_pod("default", field_selector="metadata.name=one").items
    assert [(each.metadata.name, each.spec.containers[0].image) for each in found] == [("one", "nginx")]


def test_the_official_client_watches(official):
    """Events of a pod's life come once each and in order, versions grow, and none is of another pod."""
    from kubernetes import watch
    core = official.core
    begin = core.list_namespaced_pod("default").metadata.resource_version
    later(lambda: core.create_namespaced_pod("default", pod("two")))
    seen, versions = [], []
    stream = watch.Watch()
    for event in stream.stream(core.list_namespaced_pod, "default", resource_version=begin, timeout_seconds=5):
        obj = event["object"]
        assert obj.metadata.name == "two"
        seen.append((event["type"], bool(obj.spec.node_name), obj.status.phase))
        versions.append(int(obj.metadata.resource_version))
        if obj.status.phase == "Running":
            stream.stop()
    assert seen[0] == ("ADDED", False, "Pending")
    assert seen[-1] == ("MODIFIED", True, "Running")
    assert [each[0] for each in seen[1:]] == ["MODIFIED"] * (len(seen) - 1)
    assert versions == sorted(set(versions))
    assert versions[0] > int(begin)


def test_the_official_client_writes_and_is_refused(official):
    """A stale replace is 409 Conflict, an invalid pod 422 Invalid with its field, a taken name AlreadyExists; a dry run stores nothing."""
    core = official.core
    old = core.create_namespaced_pod("default", pod("three"))
    assert old.metadata.uid
    core.patch_namespaced_pod("three", "default", {"metadata": {"labels": {"z": "1"}}})
    old.metadata.labels = {"q": "2"}
    assert official.refused(lambda: core.replace_namespaced_pod("three", "default", old))[:2] == (409, "Conflict")
    bad = {**pod("four"), "spec": {"containers": []}}
    assert official.refused(lambda: core.create_namespaced_pod("default", bad)) == (
        422, "Invalid", 'Pod "four" is invalid: spec.containers: Required value')
    assert official.refused(lambda: core.create_namespaced_pod("default", pod("three")))[:2] == (409, "AlreadyExists")
    labels = core.patch_namespaced_pod("three", "default", [{"op": "add", "path": "/metadata/labels/j", "value": "1"}]).metadata.labels
    assert labels.items() >= {"app": "three", "j": "1", "z": "1"}.items()
    assert core.create_namespaced_pod("default", pod("five"), dry_run="All").metadata.uid
    assert official.refused(lambda: core.read_namespaced_pod("five", "default")) == (404, "NotFound", 'pods "five" not found')
    core.create_namespaced_pod_eviction("three", "default", {"metadata": {"name": "three"}})
    # The kubelet may have started it meanwhile: then it ends in its own time.
    assert _comes(lambda: not core.list_namespaced_pod("default", field_selector="metadata.name=three").items)
    assert official.refused(lambda: core.read_namespaced_pod("three", "default"))[0] == 404


def test_the_official_client_applies_and_scales(official):
    """Owners are those of an apply; the generation moves with the spec, not with labels or status."""
    from kubernetes import dynamic
    apps = official.apps
    made = apps.patch_namespaced_deployment("web", "default", deployment(1), field_manager="me", force=True,
                                            _content_type="application/apply-patch+yaml")
    assert [(each.manager, each.operation) for each in made.metadata.managed_fields] == [("me", "Apply")]
    assert (made.metadata.generation, made.spec.replicas) == (1, 1)
    assert apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 2}}).spec.replicas == 2
    assert apps.patch_namespaced_deployment("web", "default", {"metadata": {"labels": {"a": "b"}}}).metadata.generation == 2
    deployments = dynamic.DynamicClient(official.api).resources.get(api_version="apps/v1", kind="Deployment")
    assert _comes(lambda: deployments.get(name="web", namespace="default").status.readyReplicas == 2)
    found = deployments.get(name="web", namespace="default")
    assert (found.metadata.generation, found.status.observedGeneration, found.status.replicas) == (2, 2, 2)


def test_the_official_client_defines_a_kind(official):
    """A custom object's status is its own: writing it leaves generation and spec."""
    definition = yaml.safe_load((FILES / "backups.yaml").read_text())
    official.client.ApiextensionsV1Api(official.api).create_custom_resource_definition(definition)
    custom, place = official.client.CustomObjectsApi(official.api), ("example.com", "v1", "default", "backups")
    made = custom.create_namespaced_custom_object(*place, {"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "b"}, "spec": {"claim": "my-pvc"}})
    assert (made["metadata"]["generation"], made["spec"]["copies"]) == (1, 2)
    done = custom.patch_namespaced_custom_object_status(*place, "b", {"status": {"phase": "Done"}})
    assert (done["metadata"]["generation"], done["status"]) == (1, {"phase": "Done"})
    more = custom.patch_namespaced_custom_object(*place, "b", {"spec": {"copies": 3}})
    assert (more["metadata"]["generation"], more["status"]) == (2, {"phase": "Done"})


@pytest.mark.long
def test_the_official_client_elects_a_leader(official, live):
    """The first of two candidates leads, by a Lease that names it."""
    package("kubernetes")
    from kubernetes import client
    from kubernetes.leaderelection import electionconfig, leaderelection
    from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
    client.Configuration.set_default(official.configuration)
    leading = []
    config = electionconfig.Config(LeaseLock("lock", "default", "first"), lease_duration=3, renew_deadline=2,
                                   retry_period=1, onstarted_leading=lambda: leading.append("first"), onstopped_leading=lambda: None)
    thread = threading.Thread(target=leaderelection.LeaderElection(config).run, daemon=True)
    thread.start()
    assert _comes(lambda: leading == ["first"])
    assert client.CoordinationV1Api(official.api).read_namespaced_lease("lock", "default").spec.holder_identity == "first"
    client.CoordinationV1Api(official.api).patch_namespaced_lease("lock", "default", {"spec": {"holderIdentity": "second"}})
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.long
def test_lightkube(live, tmp_path):
    """It lists, creates, applies, waits for a condition, and watches until a pod is gone."""
    lightkube = package("lightkube")
    from lightkube.resources.apps_v1 import Deployment
    from lightkube.resources.core_v1 import Node, Pod
    config = live.kubeconfig("lightkube", tmp_path / "kubeconfig")
    client = lightkube.Client(lightkube.KubeConfig.from_file(config), namespace="default", field_manager="lightkube")
    assert len(list(client.list(Node))) == 4
    created = client.create(Pod.from_dict(pod("light")))
    applied = client.apply(Pod.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "light", "labels": {"x": "y"}}}), force=True)
    assert applied.metadata.labels.items() >= {"app": "light", "x": "y"}.items()
    assert int(applied.metadata.resourceVersion) > int(created.metadata.resourceVersion)
    assert client.wait(Pod, "light", for_conditions=["Ready"]).status.phase == "Running"
    later(lambda: client.delete(Pod, "light", grace_period=0))
    seen = []
    for kind, _ in client.watch(Pod, fields={"metadata.name": "light"}, server_timeout=5):
        seen.append(kind)
        if kind == "DELETED":
            break
    assert (seen[0], seen[-1], set(seen[1:-1]) - {"MODIFIED"}) == ("ADDED", "DELETED", set())
    client.create(Deployment.from_dict(deployment(1)))
    assert client.patch(Deployment.Scale, "web", {"spec": {"replicas": 3}}).spec.replicas == 3


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Kubernetes version")
def test_kr8s(live, cluster, tmp_path):
    """It gets, creates, waits, scales, labels and deletes."""
    kr8s = package("kr8s")
    from kr8s.objects import Deployment, Pod
    api = kr8s.api(kubeconfig=str(live.kubeconfig("kr8s", tmp_path / "kubeconfig")))
    assert len(list(api.get("nodes"))) == 4
    Pod(pod("kr"), api=api).create()
    found = Pod.get("kr", api=api)
    found.wait("condition=Ready", timeout=10)
    found.label(a="b")
    assert cluster["pod/kr"].metadata.labels["a"] == "b"
    Deployment(deployment(1), api=api).create()
    Deployment.get("web", api=api).scale(2)
    assert cluster["deployment/web"].spec.replicas == 2
    found.delete()
    assert _comes(lambda: "pod/kr" not in cluster)


@pytest.mark.long
def test_pykube(live, cluster, tmp_path):
    """It lists, creates, updates by a merge patch, and deletes."""
    pykube = package("pykube")
    api = pykube.HTTPClient(pykube.KubeConfig.from_file(str(live.kubeconfig("pykube", tmp_path / "kubeconfig"))))
    assert len(list(pykube.Node.objects(api))) == 4
    pykube.Pod(api, {**pod("py"), "metadata": {**pod("py")["metadata"], "namespace": "default"}}).create()
    assert _comes(lambda: cluster["pod/py"].status.phase == "Running")  # from then on nobody else writes it
    found = pykube.Pod.objects(api).get_by_name("py")
    found.obj["metadata"]["labels"]["m"] = "n"
    found.update()
    assert cluster["pod/py"].metadata.labels["m"] == "n"
    found.delete()
    assert cluster["pod/py"].metadata.deletion_timestamp if "pod/py" in cluster else True


@pytest.mark.long
def test_kubernetes_asyncio(live):
    """It lists, and watches with the flag that Python spells with a capital letter."""
    package("kubernetes_asyncio")
    from kubernetes_asyncio import client, watch

    async def ask():
        configuration = client.Configuration()
        configuration.host = live.url("asyncio")
        async with client.ApiClient(configuration) as api:
            core = client.CoreV1Api(api)
            async with watch.Watch() as stream:
                seen = [event["type"] async for event in stream.stream(core.list_namespaced_pod, "default", timeout_seconds=1)]
            return seen, len((await core.list_node()).items)

    assert asyncio.run(ask()) == (["ADDED"], 4)


BACKUPS = ("example.com", "v1", "default", "backups")
A_BACKUP = {"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "b"}, "spec": {"claim": "my-pvc"}}


@contextmanager
def kopf_operator(served, folder):
    """Run the operator on a served cluster with Backups; yield a client of theirs and the file of what it logs."""
    package("kopf")
    official = Official(served)
    crds = official.client.ApiextensionsV1Api(official.api)
    crds.create_custom_resource_definition(yaml.safe_load((FILES / "backups.yaml").read_text()))
    command = [sys.executable, "-m", "kopf", "run", "--namespace=def*", "--standalone", str(FILES / "kopf_operator.py")]
    served.run(["sh", "-c", 'log=$1; shift; exec "$@" >"$log" 2>&1', "sh", str(folder / "log"), *command], "operator")  # whose sleep is seen
    yield official.client.CustomObjectsApi(official.api), folder / "log"


@pytest.mark.long
def test_five_runs_of_an_operator_by_steps_are_the_same(example, tmp_path):
    """Where each step waits until the operator rests, actors, verbs and objects are the same in every run."""
    runs = []
    for number in range(5):
        cluster, folder = example.fork(f"run-{number}"), tmp_path / str(number)
        folder.mkdir()
        with cluster.serve() as served, kopf_operator(served, folder) as (custom, _):
            assert _comes(lambda: _watches(served, "operator", "Backup"))
            served.settle(60, quiet=2)
            for act in (lambda: custom.create_namespaced_custom_object(*BACKUPS, A_BACKUP),
                        lambda: custom.delete_namespaced_custom_object(*BACKUPS, "b")):
                act()
                served.settle(60, quiet=2)  # it gathers for a moment what it hears
                while cluster.step():
                    served.settle(60, quiet=2)
            runs.append([(write.who, write.verb, write.ref) for write in cluster.writes()])
    assert "backup/b" not in cluster
    assert all(run == runs[0] for run in runs)


@pytest.mark.long
def test_an_operator_lists_anew_after_going_back(cluster, tmp_path):
    """Its watches end with 410; it lists, finds the Backup without a pod again, and does its work a second time."""
    with cluster.serve() as served, kopf_operator(served, tmp_path) as (custom, log):
        assert _comes(lambda: _watches(served, "operator", "Backup"))
        served.settle(60)
        before = cluster.world.step_number
        custom.create_namespaced_custom_object(*BACKUPS, A_BACKUP)
        assert _comes(lambda: "pod/backup-b" in cluster), log.read_text()
        served.settle(60)
        newest = served.objects.version
        cluster.goto(before + 1)
        assert "backup/b" in cluster
        assert "pod/backup-b" not in cluster
        assert _comes(lambda: "pod/backup-b" in cluster), log.read_text()
        seen = custom.get_namespaced_custom_object(*BACKUPS, "b")
        assert int(seen["metadata"]["resourceVersion"]) > int(newest)


@pytest.mark.long
def test_a_kopf_operator(live, cluster, tmp_path):
    """An operator makes a pod for each Backup, follows its phase, and cleans up before the Backup goes."""
    with kopf_operator(live, tmp_path) as (custom, log):
        custom.create_namespaced_custom_object(*BACKUPS, A_BACKUP)
        assert _comes(lambda: custom.get_namespaced_custom_object(*BACKUPS, "b").get("status", {}).get("phase") == "Running"), log.read_text()
        found = cluster["backup/b"]
        assert found.metadata.finalizers == ("example.com/backup",)
        assert [(each.kind, each.name) for each in cluster["pod/backup-b"].metadata.owner_references] == [("Backup", "b")]
        custom.delete_namespaced_custom_object(*BACKUPS, "b")
        assert _comes(lambda: "backup/b" not in cluster), log.read_text()
        assert "cleaned up after b" in log.read_text()


def _watches(served, name, kind):
    """Say whether a client watches objects of a kind."""
    return name in served.objects.clients and any(watched == kind for watched, _ in served.client(name).places)


def _comes(holds, seconds=120):
    """Say whether something holds before so many seconds are over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False
