"""Requests that are none of a client's, and the bounds of size, number and time."""

import json
import socket
import time
from threading import active_count

import pytest
from served_client import PODS, Client

from kvolsched.serve import http


def raw(client, data, *, ends=True):
    """Send bytes on a connection of their own and return all that is answered."""
    host, _, port = client.host.partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(data)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        found = b""
        while part := connection.recv(65536):
            found += part
    return found


def code_of(answer):
    """Return the code of a raw answer whose body is a Status of the same code."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status = json.loads(body)
    assert status["kind"] == "Status"
    assert int(head.split()[1]) == status["code"]
    return status["code"]


def test_a_request_without_the_secret_is_refused(client):
    """The path must hold the server's secret and the name of a client."""
    for path in ("/api/v1/pods", "/c/wrong/kubectl/api/v1/pods", "/", "//", client.base.rpartition("/")[0]):
        assert code_of(raw(client, f"GET {path} HTTP/1.1\r\nHost: {client.host}\r\nConnection: close\r\n\r\n".encode())) == 403


def test_a_page_of_a_browser_is_refused(client):
    """A foreign Host and any Origin are refused, so that no page that a browser shows reaches the cluster."""
    assert client.refused("GET", PODS, Origin="http://evil.example")[0] == 403
    for hosts in (["evil.example:80"], [client.host, "evil.example"], []):
        lines = "".join(f"Host: {host}\r\n" for host in hosts)
        answer = raw(client, f"GET {client.base}{PODS} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode())
        assert code_of(answer) == 403
    assert b" 200 " in raw(client, f"GET {client.base}{PODS} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())


@pytest.mark.parametrize("name", ["", "%0A%1b%5b31m", "-x", "x" * 64])
def test_a_client_has_a_name(client, served, name):
    """A path whose client's name is none of `url` is refused, and is no lane."""
    before = list(served.objects.clients)
    base = client.base.rpartition("/")[0]
    assert code_of(raw(client, f"GET {base}/{name}{PODS} HTTP/1.1\r\nHost: {client.host}\r\nConnection: close\r\n\r\n".encode())) == 403
    assert list(served.objects.clients) == before


@pytest.mark.parametrize(("request_line", "code"), [
    ("GET", 400), ("GET / HTTP/9.9", 400), ("BREW /pot HTTP/1.1", 405), ("GET " + "x" * 70_000 + " HTTP/1.1", 400),
    ("\x00\x01\x02", 400), ("TRACE / HTTP/1.1", 405),
])
def test_what_is_no_http_gets_a_status(client, request_line, code):
    """Malformed request lines are answered by a Status, never by a page."""
    assert code_of(raw(client, f"{request_line}\r\nHost: {client.host}\r\n\r\n".encode("latin-1"))) == code


def test_a_large_body_is_refused_unread(client):
    """A body of more than 3 MB is refused by its announced length, and by its chunks."""
    head = f"POST {client.base}{PODS} HTTP/1.1\r\nHost: {client.host}\r\nContent-Type: application/json\r\n"
    assert code_of(raw(client, f"{head}Content-Length: {http.MAX_BODY + 1}\r\n\r\n".encode(), ends=False)) == 413
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
    assert code_of(raw(client, chunked + b"%x\r\n" % (http.MAX_BODY + 1), ends=False)) == 413


@pytest.mark.parametrize("body", [b"zz\r\n", b"-5\r\n", b"5\r\nab", b"\r\n", b"5;x=y\r\nabcde"])
def test_chunks_that_lie_are_refused(client, body):
    """A chunked body whose lengths are wrong is a bad request."""
    head = f"POST {client.base}{PODS} HTTP/1.1\r\nHost: {client.host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    assert code_of(raw(client, head + body)) == 400


def test_a_chunked_body_is_read(client):
    """A body in chunks is the same as one with a length."""
    text = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}}).encode()
    head = (f"POST {client.base}/api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: {client.host}\r\nConnection: close\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
    chunks = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (10, text[:10], len(text) - 10, text[10:])
    assert b" 201 " in raw(client, head + chunks).split(b"\r\n")[0]
    assert client.get("/api/v1/namespaces/default/configmaps/cm")["metadata"]["name"] == "cm"


def test_too_many_connections_are_refused(served, client, monkeypatch):
    """The bound of connections holds: one more is told so, and after others end it is served."""
    free = served._server.free
    taken = 0
    while free.acquire(blocking=False):
        taken += 1
    try:
        assert code_of(raw(client, b"")) == 503
    finally:
        for _ in range(taken):
            free.release()
    assert client.get("/version")["minor"] == "36"


def test_stopping_leaves_no_thread(cluster):
    """After `stop` no thread and no listener of the cluster's moves is left."""
    threads, listeners = active_count(), cluster.world.listeners
    served = cluster.serve(pace="live")
    client = Client(served)
    client.get(PODS)
    watch = client.watch(f"{PODS}?watch=true&resourceVersion={served.objects.version}")
    served.stop()
    assert watch() is None or watch() is None
    until = time.monotonic() + 5
    while active_count() > threads and time.monotonic() < until:
        time.sleep(0.02)
    assert active_count() <= threads
    assert cluster.world.listeners == listeners
    with pytest.raises(OSError, match="refused"):
        Client(served).ask("GET", "/version")
