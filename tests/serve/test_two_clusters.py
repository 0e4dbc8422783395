"""Two served clusters at once, and requests while a cluster is forked, explored and interrupted."""

import signal
import threading
from contextlib import suppress

import pytest
from served_client import PODS, Client, pod

import kvolsched


def test_two_clusters_do_not_meet(cluster, example):
    """Each has its own address, secret, clients and leases; a write to one is none of the other's, and one ends alone."""
    other = example.fork("other")
    with cluster.serve() as first, other.serve() as second:
        one, two = Client(first), Client(second)
        assert one.ask("POST", PODS, pod("a"))[0] == 201
        assert [each["metadata"]["name"] for each in two.get(PODS)["items"]] == ["my-pod"]
        two.base = one.base
        assert two.refused("GET", PODS)[0] == 403
        first.stop()
        assert Client(second).ask("POST", PODS, pod("b"))[0] == 201
    assert ("pod/a" in cluster, "pod/b" in cluster, "pod/b" in other) == (True, False, True)


def asking(served, faults, ended):
    """Read and write in a thread until it is told to end."""
    client = Client(served, "busy")
    turn = 0
    while not ended.is_set():
        turn += 1
        for code, data in (client.ask("GET", PODS), client.ask("POST", PODS, pod(f"x{turn}"))):
            if code not in (200, 201, 409):
                faults.append(data)


def pressing(heard):
    """Press Ctrl-C, and again if it was lost in a finalizer, where Python ignores it."""
    wait = 0.2
    while not heard.wait(wait):
        signal.raise_signal(signal.SIGINT)
        wait = 5


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_requests_while_a_reader_explores_and_is_interrupted():
    """Requests wait for an exploration and a fork, or go between; Ctrl-C ends what the reader does, and no request is lost."""
    c = kvolsched.scenario("zonal-example", "upstream")
    faults, ended = [], threading.Event()
    with c.serve() as served:
        client = threading.Thread(target=asking, args=(served, faults, ended))
        client.start()
        proof = c.fork("explored").explore(max_states=200, progress=False)
        assert proof.states >= 200 or proof.exhausted
        heard = threading.Event()
        threading.Thread(target=pressing, args=(heard,), daemon=True).start()
        with suppress(KeyboardInterrupt):
            while True:
                c.fork().run()
        heard.set()
        ended.set()
        client.join()
        assert faults == []
        c.run()
        created = [each for each in c.requests() if each.by == "client busy" and each.code == 201]
        assert len(created) == sum(key.name.startswith("x") for key in c.world.log.objects if key.kind == "Pod")
    assert c.fork().digest() == c.digest()
