"""Clients as lanes, and the faults that a reader sets on one: held watches, refusals, cut connections, crashes."""

import sys
import time
from pathlib import Path

import pytest
from served_client import CLAIMS, PODS, Client, pod

from kvolsched import UnknownName

TINY = Path(__file__).parent / "clients" / "tiny_operator.py"
CLASS = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: now}, provisioner: kubernetes.io/gce-pd, volumeBindingMode: Immediate}"
CLAIM = ("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, labels: {backup: 'yes'}}, "
         "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: now}}")


def command(*options):
    """Return how the tiny controller is started."""
    return [sys.executable, "-S", "-E", str(TINY), "{url}", *options]


def add_claim(c):
    """Add a claim that is to be backed up."""
    c.apply(CLASS, CLAIM)


def one_backup(c):
    """Say whether there is one backup pod for the claim."""
    found = [key.name for key in c.world.log.objects if key.kind == "Pod" and key.name.startswith("backup-data")]
    return len(found) == 1 or f"{len(found)} backup pods"


def watched(client, served):
    """Return a watch of pods."""
    return client.watch(f"{PODS}?watch=1&resourceVersion={served.objects.version}&timeoutSeconds=20")


def test_a_held_watch_sends_what_is_released(client, cluster, served):
    """Held, it sends nothing; released for one, one change; released, all others in order."""
    watch = watched(client, served)
    served.hold("tester", "po")
    for name in ("a", "b", "c"):
        cluster.apply(pod(name))
    served.settle(quiet=0.05)
    assert served.client("tester").sent["pods"] == 0
    served.release("tester", 1)
    assert watch()[1]["metadata"]["name"] == "a"
    served.settle(quiet=0.05)
    assert served.client("tester").sent["pods"] == 1
    served.release("tester")
    assert [watch()[1]["metadata"]["name"] for _ in range(2)] == ["b", "c"]


def test_one_resource_is_released_while_all_others_are_held(client, cluster, served):
    """After a hold of all its watch of pods goes on, by one change and then for good; what nobody holds is not released."""
    pods = watched(client, served)
    claims = client.watch(f"{CLAIMS}?watch=1&resourceVersion={served.objects.version}&timeoutSeconds=20")
    served.hold("tester")
    cluster.apply(CLASS, CLAIM, pod("a"), pod("b"))
    served.release("tester", 1, resource="pods")
    assert pods()[1]["metadata"]["name"] == "a"
    served.settle(quiet=0.05)
    assert served.client("tester").sent == {"pods": 1}
    served.release("tester", resource="pods")
    assert pods()[1]["metadata"]["name"] == "b"
    assert repr(served.client("tester")).endswith("every watch but pods held")
    served.release("tester")
    assert claims()[1]["metadata"]["name"] == "data"
    served.hold("tester", "pods")
    with pytest.raises(ValueError, match="release: tester: persistentvolumeclaims are not held; held: pods"):
        served.release("tester", resource="pvc")


def test_a_client_is_a_lane_with_what_it_has_not_seen(client, cluster, served):
    """Its writes are marks of its own lane; a held watch counts the changes that it has not sent."""
    watch = watched(client, served)
    client.ask("POST", PODS, pod("a"))
    assert watch()[1]["metadata"]["name"] == "a"
    served.hold("tester", "pods")
    cluster.apply(pod("b"))
    cluster.apply(pod("c"))
    served.settle(quiet=0.05)
    lane = next(line for line in repr(cluster.timeline()).splitlines() if line.startswith("client tester"))
    assert lane.split()[-2:] == [f"{cluster.world.step_number - 2}:create", "pod/a"], lane
    assert "2 behind" in lane, lane
    assert [(each.by, each.name) for each in cluster.requests()][-3:] == [("client tester", "a"), ("user", "b"), ("user", "c")]


def test_a_write_is_refused_once_with_the_words_of_a_server(client, cluster, served):
    """The write that is named gets the code, the next one is made; both are told by their client."""
    client.get("/version")
    served.refuse("tester", 503)
    before = cluster.digest()
    assert client.refused("POST", PODS, pod("a")) == (503, "ServiceUnavailable", "the server is currently unable to handle the request")
    assert cluster.digest() == before
    assert client.ask("POST", PODS, pod("a"))[0] == 201
    assert [(each.by, each.code) for each in cluster.requests()][-2:] == [("client tester", 503), ("client tester", 201)]
    served.refuse("tester", 409, write=2)
    assert client.ask("POST", PODS, pod("b"))[0] == 201
    assert client.refused("POST", PODS, pod("c"))[2].startswith('Operation cannot be fulfilled on pods "c": the object has been modified')


def test_a_cut_ends_the_connections_of_one_client(client, served, cluster):
    """Its watch ends; another client's goes on."""
    other = Client(served, "other")
    watch, others = watched(client, served), watched(other, served)
    served.settle(quiet=0.05)
    served.cut("tester")
    assert watch_ends(watch)
    cluster.apply(pod("a"))
    assert others()[1]["metadata"]["name"] == "a"


def watch_ends(watch):
    """Say whether a watch ends as its connection does."""
    try:
        return watch() is None
    except OSError:
        return True


@pytest.mark.parametrize(("act", "said"), [
    (lambda served: served.hold("testr"), "no client 'testr'; there are: tester; did you mean tester?"),
    (lambda served: served.hold("tester", "podz"), "no resource 'podz'"),
    (lambda served: served.hold("tester", "pods", -1), "hold: changes: -1: must be at least 0"),
    (lambda served: served.release("tester", "1"), "release: changes: '1': must be at least 0"),
    (lambda served: served.run("sleep 9"), "run: command: 'sleep 9': must be a list, the program and each of its arguments"),
    (lambda served: served.run([]), "run: command: []: must be a list"),
    (lambda served: served.refuse("tester", 418), "refuse: code: 418: must be one of 403, 409, 429, 500, 503, 504"),
    (lambda served: served.refuse("tester", 409, write=0), "refuse: write: 0: must be at least 1, the next write"),
    (lambda served: served.sweep(command(), one_backup, faults=["hld"]), "sweep: faults: 'hld': must be one of hold, refuse, cut, crash"),
])
def test_a_wrong_name_is_one_clear_error(client, served, act, said):
    """It says what there is."""
    client.get("/version")
    with pytest.raises((ValueError, UnknownName)) as error:
        act(served)
    assert str(error.value).startswith(said)


def test_a_process_is_started_crashed_and_started_again(cluster, served):
    """Settled, it has seen all and sleeps; killed, its watches end; started again, it lists anew."""
    process = served.run(command("--careful"), "operator")
    served.settle(quiet=0.5)
    cluster.apply(CLASS, CLAIM)
    served.settle(quiet=0.5)
    assert "pod/backup-data" in cluster
    process.crash()
    assert process.code == -9
    process.start()
    served.settle(quiet=0.5)
    assert process.code is None
    assert str(served.client("operator")) == "operator: watches PersistentVolumeClaim, Pod, 1 write"
    assert [each.code for each in cluster.requests() if each.by == "client operator"] == [201]


def test_a_process_that_ends_early_shows_its_last_lines(served):
    """Who waits for it, or looks at it, is told how it ended, and what it said last; after the end of all none is started."""
    process = served.run([sys.executable, "-c", "print('begin'); raise SystemExit('no such option')"], "operator")
    with pytest.raises(RuntimeError, match=r"ended with 1; its last lines:\nbegin\nno such option"):
        served.settle(5)
    assert repr(process).endswith("ended with 1; its last lines:\nbegin\nno such option")
    served.stop()
    with pytest.raises(RuntimeError, match="zonal-example: no longer served"):
        served.run(["sleep", "9"])


def test_who_does_not_rest_is_named(served):
    """After the time is over the error says who is still awake."""
    served.run([sys.executable, "-c", "while True: pass"], "operator")
    with pytest.raises(TimeoutError, match=r"settle: after 0.3 s operator is awake"):
        served.settle(0.3)


def test_a_sweep_finds_where_a_client_acts_on_an_old_view(cluster):
    """A controller that trusts its cache makes two pods where its watch is held; one that takes a sure name does not."""
    with cluster.serve() as served:
        before = cluster.digest()
        naive = served.sweep(command(), one_backup, add_claim, faults=["hold"], quiet=0.5)
        assert naive.runs[0].failure == ""
        assert str(naive.failed[0].fault) == "pods held after 0 changes"
        assert naive.failed[0].failure.endswith(" backup pods")
        assert repr(naive).splitlines()[0].endswith("the check holds.")
        assert (cluster.digest(), list(served.objects.clients)) == (before, [])


@pytest.mark.long
def test_a_repaired_client_passes_every_point(cluster):
    """Held, refused, cut or killed anywhere, it makes one pod in the end."""
    with cluster.serve() as served:
        careful = served.sweep(command("--careful"), one_backup, add_claim)
    assert len(careful.runs) > 10
    assert careful.failed == (), repr(careful)


@pytest.mark.long
def test_the_naive_operator_on_the_official_client(cluster):
    """An informer that others wrote is found out in the same way."""
    with cluster.serve() as served:
        naive = [sys.executable, str(TINY.with_name("naive_operator.py")), "{url}"]
        found = served.sweep(naive, one_backup, add_claim, faults=["hold"])
    assert "pods held after 0 changes" in [str(run.fault) for run in found.failed], repr(found)


def test_a_crash_comes_once(cluster, tmp_path):
    """A client that is killed after its write is started again once, whatever it is sent then."""
    starts = tmp_path / "starts"
    script = f'echo started >> "{starts}"; exec "{sys.executable}" -S -E "{TINY}" "$0" --careful'
    with cluster.serve() as served:
        found = served.sweep(["sh", "-c", script, "{url}"], one_backup, add_claim, faults=["crash"], quiet=0.5)
    assert (len(found.runs), found.failed) == (2, ())
    assert len(starts.read_text().splitlines()) == 3


def test_settling_takes_little_more_than_the_quiet(served):
    """Where nobody does anything it is over after the quiet."""
    began = time.monotonic()
    served.settle(quiet=0.1)
    assert time.monotonic() - began >= 0.1
