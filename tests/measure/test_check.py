"""Checks of manifests before they are applied: exit codes, reasons, the loss of a zone, and the fixture for pytest."""

import json

import pytest
from click.testing import CliRunner

from kvolsched import check, make
from kvolsched.cli import main
from kvolsched.measure.check import UnreadableCheck

pytest_plugins = ["pytester"]

NODES = [make.node("n1", "a", cpu="2"), make.node("n2", "b", cpu="1")]
APP = make.pod("app", cpu="1")


@pytest.fixture
def files(tmp_path):
    """Write objects into files, and give the path of each."""
    def write(name, objects):
        path = tmp_path / name
        path.write_text("\n---\n".join(json.dumps(each) for each in objects))
        return str(path)
    return write


def run(*words):
    """Run the command, and give its exit code and what it prints."""
    done = CliRunner().invoke(main, ["check", *words])
    return done.exit_code, done.output


def test_exit_codes(files):
    """The command exits with 0 if every pod gets a node, 1 if one pends, 2 if something cannot be read."""
    cluster, app = files("cluster.yaml", NODES), files("app.yaml", [APP])
    large = files("large.yaml", [make.pod("large", cpu="3")])
    broken, empty = files("broken.yaml", [{**APP, "spec": {"containers": 7}}]), files("empty.yaml", NODES[:1])

    assert (0, "now: fits: 1 of 1 pod has a node\n") == run(app, "--cluster", cluster)
    code, printed = run(large, app, "--cluster", cluster)
    assert 1 == code
    assert "now: does not fit: 1 of 2 pods have a node" in printed
    assert "default/large: the pod asks for 3 cpu" in printed
    assert 2 == run(broken, "--cluster", cluster)[0]
    assert (2, "Error: nothing in the manifests makes a pod: give pods or workloads such as a Deployment\n") == run(
        empty, "--cluster", cluster)
    assert 2 == run(app, "--cluster", cluster, "--without", "zone=q")[0]
    assert 2 == run(app, "--cluster", "nothing.yaml")[0]
    assert 2 == run(app)[0]


def test_json_has_the_reason_and_the_certificate(files):
    """Printed as JSON, a pod without a node has the scheduler's sentence and a minimal set of demands."""
    code, printed = run(files("large.yaml", [make.pod("large", cpu="3")]), "--cluster", files("c.yaml", NODES), "--json")
    pod = json.loads(printed)["placements"][0]["pods"][0]

    assert 1 == code
    assert pod["sentence"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert [("NodeResourcesFit", 2)] == [(each["plugin"], each["nodes"]) for each in pod["certificate"]]
    assert "error" in json.loads(run(files("e.yaml", NODES[:1]), "--cluster", files("c.yaml", NODES), "--json")[1])


def test_the_loss_of_a_zone():
    """Pods of a stopped zone are made again where there is room; without room the check says why not."""
    small, large = make.deployment(replicas=2, cpu="500m"), make.deployment(replicas=2, cpu="1")

    assert [True, True, True] == [each.fits for each in check([small], NODES, without=["zone=a", "zone=b"]).placements]
    found = check([large], NODES, without=["zone=a", f"{make.ZONE}=b"])
    assert [True, False, True] == [each.fits for each in found.placements]
    pending, = [pod for pod in found.placements[1].pods if not pod.node]
    assert "n1 does not report (Ready Unknown); n2 lacks 1 cpu (0 of 1 left)" in pending.why.line
    assert 1 == found.exit_code


def test_a_zone_that_there_is_not(files):
    """A zone or label that no node has is refused with those that there are, before anything runs."""
    files_ = files("app.yaml", [APP]), "--cluster", files("cluster.yaml", NODES)

    there = "topology.kubernetes.io/zone=a, topology.kubernetes.io/zone=b"
    unknown = (2, f"Error: no node has topology.kubernetes.io/zone=c; there are: {there}\n")
    assert unknown == run(*files_, "--without", "zone=c")
    assert "did you mean topology.kubernetes.io/zone?" in run(*files_, "--without", "zoone=a")[1]
    assert "no node has the label topology.kubernetes.io/region; there are: " in run(*files_, "--without", "region")[1]


def test_each_zone_in_turn(files):
    """A short key alone is a run for each of its values, so that one word says which zones may be lost."""
    found = check([make.deployment(replicas=1, cpu="1")], NODES, without=["zone"])

    assert ["", f"{make.ZONE}=a", f"{make.ZONE}=b"] == [each.without for each in found.placements]


def test_what_nobody_makes_again_does_not_survive():
    """A lone pod, and one of a StatefulSet, stay Terminating on a stopped node; their placement does not fit."""
    lone = check([APP], NODES, without=["zone=a"])
    ordered = check([make.stateful_set("db", 1, cpu="2")], NODES, without=["host=n1"])

    assert ("default/app stays Terminating on node n1, which stopped: nothing makes it again",) == lone.placements[1].lacking
    assert "db-0 stays Terminating on node n1, which stopped: its StatefulSet makes" in ordered.placements[1].lacking[0]
    assert not lone.fits
    assert not ordered.fits


def test_pods_of_others_that_make_room_are_named():
    """A pod that is evicted for the manifests' pods is named, and the check still fits."""
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    cluster = [*NODES, make.pod("low", running_on="n1", cpu="2")]

    placement, = check([high, make.pod("app", cpu="2", priorityClassName="high")], cluster).placements

    assert placement.fits
    assert ("default/low",) == placement.displaced


def test_refusals_are_unreadable():
    """What the API server refuses is not judged."""
    with pytest.raises(UnreadableCheck, match="pod updates may not change fields"):
        check([make.pod("app", cpu="2")], [*NODES, make.pod("app", running_on="n1", cpu="1")])
    with pytest.raises(UnreadableCheck):
        check("{kind: Pod", NODES)


def test_a_workload_that_exists_is_changed():
    """Manifests of objects that the dump has change them; the pods that are there count."""
    web = make.deployment(replicas=1, cpu="500m")
    found = check([{**web, "spec": {**web["spec"], "replicas": 3}}], [*NODES, web])

    assert found.fits
    assert 3 == len(found.placements[0].pods)


def test_the_fixture_fails_a_test_whose_pods_would_pend(pytester):
    """The fixture takes paths from the test's file, returns the check, and fails with its words if a pod would pend."""
    pytester.makeconftest('pytest_plugins = ["kvolsched.measure.pytest_plugin"]')
    pytester.path.joinpath("cluster.yaml").write_text("\n---\n".join(map(json.dumps, NODES)))
    pytester.path.joinpath("app.yaml").write_text(json.dumps(APP))
    pytester.makepyfile("""
        def test_fits(kvolsched_check):
            assert kvolsched_check("app.yaml", "cluster.yaml").fits

        def test_without_a_zone(kvolsched_check):
            kvolsched_check("app.yaml", "cluster.yaml", without=["zone=a"])
    """)

    done = pytester.runpytest("-p", "no:cacheprovider")

    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["without topology.kubernetes.io/zone=a: does not fit: no pod is left"])


def test_names_are_data_not_markup():
    """A name with markup is printed as it is, and escaped in a notebook."""
    found = check([make.deployment("x", cpu="9")], [make.node("n1", labels={"a": "<script>"})])

    assert "<script>" not in found._repr_mimebundle_()["text/html"]


def test_why_pods_of_a_workload_cannot_be_created():
    """A quota that is used up, or a kubelet that rejects a pod, is told beside the count of pods."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one"}, "spec": {"hard": {"pods": "1"}}}
    [refused] = check([make.deployment("web", replicas=2)], [make.node("n1"), quota]).placements
    windows = make.pod("win", os={"name": "windows"})
    [rejected] = check([windows], [make.node("n1")]).placements

    assert refused.lacking[0] == "deploy/web has 1 of 2 pods"
    assert "exceeded quota: one, requested: pods=1, used: pods=1, limited: pods=1" in refused.lacking[1]
    said = "Failed to admit pod as the OS field doesn't match node OS"
    assert rejected.lacking == (f"pod/win has ended (Failed: PodOSNotSupported, {said})",)
