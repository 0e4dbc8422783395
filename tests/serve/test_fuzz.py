"""Malformed requests in number, slow connections, and watches that come and go: a Status each, and nothing is left behind."""

import base64
import json
import os
import random
import socket
import threading
import time
from pathlib import Path

import pytest
from served_client import MERGE, PODS, Client

RECORDED = [base64.b64decode(json.loads(line)["body"])
            for line in (Path(__file__).parent / "kubectl" / "protobuf.jsonl").read_text().splitlines()]
PROTOBUF = "application/vnd.kubernetes.protobuf"
MEDIA = ("application/json", MERGE, "application/json-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml",
         PROTOBUF, "text/html", "")
PATHS = ("/api/v1", "/apis", "/api/v1/pods", PODS, f"{PODS}/my-pod", f"{PODS}/my-pod/status", f"{PODS}/my-pod/eviction", "/api/v1/nodes/node-a",
         "/apis/apps/v1/namespaces/default/deployments", "/apis/nosuch/v1", "/openapi/v3/nosuch", "/%00/%ff", "/api/v1/namespaces/" + "n" * 400)
QUERIES = ("limit=x", "resourceVersion=zz", "resourceVersion=99999999", "labelSelector=a+in+(", "fieldSelector=nosuch%3D1", "continue=%25%25",
           "watch=1&timeoutSeconds=-1", "watch=1&sendInitialEvents=1", "limit=" + "9" * 40, "&".join(f"a{n}=1" for n in range(120)))
BODIES = (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"kind": "Pod"', b'{"metadata": 5}', b"[" * 3000, b'[{"op": "replace"}]', b'{"spec": {"containers": 1e999}}',
          b"a: &x [*x, *x]", b'{"a":' * 900, b'[{"op":"add","path":"/metadata/labels/x","value":"1"},{"op":"test","path":"/spec/nodeName","value":"nosuch"}]')


def damaged(draw, data):
    """Return bytes with some of them changed, so that lengths in them lie, or cut off."""
    found = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        found[draw.randrange(4, len(found))] = draw.randrange(256)
    return bytes(found[: draw.choice((len(found), draw.randrange(len(found))))])


def request(draw, client):
    """Return the bytes of a malformed request, and whether it may be a proper one by chance: then it is a dry run."""
    line = f"{draw.choice(('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'BREW', 'TRACE', 'get', ''))} "
    path, head = client.base + draw.choice(PATHS), f"Host: {client.host}\r\n"
    kind = draw.randrange(7)
    if kind == 0:  # no HTTP at all
        return draw.choice((draw.randbytes(draw.randrange(1, 300)), b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01" + draw.randbytes(60))), False
    if kind == 1:  # headers
        bad = draw.choice(("Host: evil.example\r\n", f"{head}Origin: http://evil.example\r\n", "", f"{head}Content-Length: {draw.choice(('-1', 'x', '9' * 30, '１'))}\r\n",
                           head + "X: y\r\n" * 200, f"{head}X: {'z' * 70_000}\r\n"))
        return f"GET {path} HTTP/1.1\r\n{bad}\r\n".encode(), True
    if kind == 2:  # chunks
        chunk = draw.choice((b"zz\r\n", b"-5\r\nabc", b"5\r\nab", b"\r\n", b"f" * 200, b"%x\r\n" % draw.randrange(1, 1 << 40), b"3\r\nabcdef\r\n0\r\n\r\n"))
        return f"POST {client.base}{PODS}?dryRun=All HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk, False
    if kind == 3:  # selectors, versions and limits
        return f"GET {client.base}{PODS}?{draw.choice(QUERIES)} HTTP/1.1\r\n{head}\r\n".encode(), False
    if kind == 4:  # paths and secrets
        secret = draw.choice((f"/c/{draw.randbytes(9).hex()}/x{PODS}", client.base[:-9] + PODS, "//", path + "/%2e%2e/" + draw.randbytes(9).hex()))
        return f"{line}{secret} HTTP/1.1\r\n{head}\r\n".encode(), False
    if kind == 5:  # protobuf with lengths that lie
        body, media, verb = damaged(draw, draw.choice(RECORDED)), PROTOBUF, draw.choice(("POST", "PUT", "DELETE"))
    else:
        body, media, verb = draw.choice(BODIES), draw.choice(MEDIA), draw.choice(("POST", "PUT", "PATCH", "PATCH", "DELETE"))
    length = draw.choice((len(body), len(body), len(body) + 7))
    return f"{verb} {path}?dryRun=All HTTP/1.1\r\n{head}Content-Type: {media}\r\nContent-Length: {length}\r\n\r\n".encode() + body, True


def answers(client, data):
    """Return the answers that a connection of its own gets for some bytes: code and body of each."""
    host, _, port = client.host.partition(":")
    found = b""
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                found += part
        except ConnectionError:
            pass  # it was refused before all was sent
    told = []
    while found:
        head, _, rest = found.partition(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), len(rest))
        told.append((int(head.split()[1]), rest[:length]))
        found = rest[length:]
    return told


def resident():
    """Return the bytes of memory that this process uses."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def rests(served, threads, seconds=10):
    """Say whether no connection and no thread more than these is left before so many seconds are over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and (served._server.connections or threading.active_count() > threads):
        time.sleep(0.02)
    return not served._server.connections and threading.active_count() <= threads


@pytest.mark.parametrize("number", [2_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_malformed_requests_change_nothing(cluster, served, number):
    """Each is refused by a Status, unless it happens to be proper: then it is a dry run. No thread, no memory stays, no object changes."""
    draw, client = random.Random(11), Client(served)
    threads, digest, codes, before = threading.active_count(), cluster.digest(), set(), 0
    for turn in range(number):
        data, may_be_proper = request(draw, client)
        for code, body in answers(client, data):
            codes.add(code)
            if code >= 400:
                status = json.loads(body)
                assert (status["kind"], status["code"]) == ("Status", code), (data[:300], body[:300])
            else:
                assert may_be_proper or code == 200, (data[:300], code)
        if turn == number // 5:
            before = resident()
    assert {400, 403, 404, 405, 415, 504} <= codes
    assert cluster.digest() == digest
    assert rests(served, threads)
    assert resident() - before < 20 << 20


@pytest.mark.parametrize("number", [150, pytest.param(10_000, marks=pytest.mark.long)])
def test_slow_connections_are_served_in_the_end(cluster, served, number):
    """Many that send a part of their request and wait are answered when they send the rest; others are served meanwhile."""
    client, at_once, threads = Client(served), 150, threading.active_count()
    host, _, port = client.host.partition(":")
    text = f"GET {client.base}{PODS} HTTP/1.1\r\nHost: {client.host}\r\nConnection: close\r\n\r\n".encode()
    for _ in range(0, number, at_once):
        slow = [socket.create_connection((host, int(port)), timeout=10) for _ in range(at_once)]
        for place, connection in enumerate(slow):
            connection.sendall(text[: place % len(text)])
        assert client.get("/version")["minor"] == "36"
        for place, connection in enumerate(slow):
            connection.sendall(text[place % len(text) :])
        for connection in slow:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
            connection.close()
    client.connection.close()
    assert rests(served, threads)


@pytest.mark.parametrize("seconds", [2, pytest.param(600, marks=pytest.mark.long)])
def test_watches_that_come_and_go(cluster, served, seconds):
    """A hundred clients that watch for a while and go, again and again, leave no thread and no memory; each is told of a change that comes."""
    threads, end, faults = threading.active_count(), time.monotonic() + seconds, []

    def come_and_go(number):
        draw = random.Random(number)
        while time.monotonic() < end:
            watch = Client(served, f"client-{number}").watch(f"{PODS}?watch=true&timeoutSeconds=30")
            if watch() is None:
                faults.append(number)
            time.sleep(draw.uniform(0.5, 2) if seconds > 10 else draw.uniform(0, 1))
            watch.close()

    clients = [threading.Thread(target=come_and_go, args=(number,)) for number in range(100)]
    for each in clients:
        each.start()
    sizes = []
    while any(each.is_alive() for each in clients):
        cluster.label("pod/my-pod", f"t={len(sizes)}", overwrite=True)
        cluster.back()  # so that the history does not grow: every watch ends with 410
        sizes.append(resident())
        time.sleep(min(1.0, seconds / 10))
    for each in clients:
        each.join()
    assert faults == []
    assert rests(served, threads)
    assert sizes[-1] - sizes[len(sizes) // 5] < 20 << 20


@pytest.mark.long
def test_an_idle_client_does_not_make_memory_grow(cluster, served):
    """A client that watches, lists and renews its Lease for ten minutes: after the first minute memory is flat, and no step was made."""
    client = Client(served)
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    lease = client.ask("POST", leases, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {}})[1]
    watch = client.watch(f"{PODS}?watch=true&allowWatchBookmarks=true&resourceVersion={served.objects.version}")
    began, steps, turn, sizes = time.monotonic(), cluster.world.step_number, 0, []
    while time.monotonic() - began < 600:
        turn += 1
        lease["spec"] = {"holderIdentity": "me", "leaseTransitions": turn}
        code, lease = client.ask("PUT", f"{leases}/l", lease)
        assert code == 200
        client.get(PODS)
        sizes.append((time.monotonic() - began, resident()))
        time.sleep(0.1)
    first = next(size for at, size in sizes if at > 60)
    print(f"{turn} renewals: {first >> 10} KiB after a minute, {sizes[-1][1] >> 10} KiB after ten")
    assert sizes[-1][1] - first < 4 << 20
    assert cluster.world.step_number == steps
    watch.close()
