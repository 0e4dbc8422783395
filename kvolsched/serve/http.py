"""HTTP/1.1 on the loopback alone: one thread a connection, bounded in number, size and time.

What is no proper request of a client of ours is refused here, by a `Status`, before anything looks at the cluster.
"""

import json
import re
import select
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import attrs

from .status import StatusError

LOOPBACK = "127.0.0.1"
MAX_BODY = 3 * 1024 * 1024  # bytes, as an API server takes
MAX_CONNECTIONS = 200
SECONDS = 60.0  # that a connection may be silent, inside a request or between two
MAX_CHUNK_HEAD = 128  # characters of the line before a chunk
CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")  # a client's name
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
JSON = "application/json"


@attrs.frozen
class ClientRequest:
    """One request: `path` begins behind the client's name; `is_open` says whether the client still listens."""

    client: str
    method: str
    path: tuple[str, ...]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    is_open: Callable[[], bool]


@attrs.frozen
class ServerResponse:
    """An answer: a body, or `stream`, whose parts are sent as chunks as they come."""

    code: int
    body: bytes = b""
    content_type: str = JSON
    warnings: tuple[str, ...] = ()
    stream: Iterator[bytes] | None = None


Answer = Callable[[ClientRequest], ServerResponse]


def is_set(query: Mapping[str, str], name: str) -> bool:
    """Say whether a query sets a flag: by any value but 0 and false, as API servers read one."""
    return query.get(name, "false").lower() not in ("0", "false")


def query_number(query: Mapping[str, str], name: str) -> int:
    """Return the number that a query gives; 0 without one.

    Raises:
        StatusError: it is no number.
    """
    text = query.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise StatusError("BadRequest", f"{name}: {text!r} is no number")
    return int(text)


def json_response(data: Any, code: int = 200, content_type: str = JSON) -> ServerResponse:
    """Return an answer in JSON."""
    return ServerResponse(code, json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode(), content_type)


class LoopbackServer(ThreadingHTTPServer):
    """Serves `http://127.0.0.1:PORT/c/SECRET/CLIENT/...`; mutable: it counts its connections.

    The secret in every path stands for a token, which clients do not send over plain HTTP.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = MAX_CONNECTIONS
    allow_reuse_address = True

    def __init__(self, port: int, secret: str, answer: Answer) -> None:
        self.secret, self.answer = secret, answer
        self.free = BoundedSemaphore(MAX_CONNECTIONS)
        self.connections: dict[socket.socket, str] = {}  # with the client, once it has said its name
        super().__init__((LOOPBACK, port), _Connection)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread for a connection, or close it where there are too many."""
        if not self.free.acquire(blocking=False):
            with suppress(OSError):
                request.settimeout(0.1)
                request.sendall(_raw_refusal(StatusError("ServiceUnavailable", "too many connections")))
            self.shutdown_request(request)
            return
        self.connections[request] = ""
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.pop(request, None)
            self.free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave a connection that broke: its client knows."""

    def close_connections(self, client: str = "") -> None:
        """Close what is open, of all or of one client, so that every thread of a connection ends."""
        for connection, owner in list(self.connections.items()):
            if client in ("", owner):
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def _raw_refusal(error: StatusError) -> bytes:
    body = json.dumps(error.status()).encode()
    head = f"HTTP/1.1 {error.code} {error.reason}\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


class _Connection(BaseHTTPRequestHandler):
    """One connection: reads requests one after another and writes each answer at once."""

    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "kvolsched", ""
    timeout = SECONDS
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a request that is no HTTP, in place of an HTML page."""
        self.close_connection = True
        reason = {405: "MethodNotAllowed", 501: "MethodNotAllowed"}.get(code, "BadRequest")
        refusal = StatusError(reason, message or "the server could not read the request")
        self._send(json_response(refusal.status(), refusal.code))

    def answer(self) -> None:
        """Read a request and answer it."""
        try:
            response = self.server.answer(self._request())
        except StatusError as error:
            response = json_response(error.status(), error.code)
        except Exception as error:  # noqa: BLE001 - the client is told, and the next request is served
            words = f"Internal error occurred: {type(error).__name__}: {error}"
            response = json_response(StatusError("InternalError", words).status(), 500)
        self._send(response)

    def _request(self) -> ClientRequest:
        """Read a request whole.

        Raises:
            StatusError: it comes from a browser, has no secret or name of a client, or its body is wrong.
        """
        self.close_connection = True  # until its body is read
        hosts = {host.partition(":")[0] for host in self.headers.get_all("Host", [""])}
        if not hosts <= {LOOPBACK, "localhost"} or "Origin" in self.headers:
            raise StatusError("Forbidden", "only programs of this machine are served")
        if self.command not in METHODS:
            raise StatusError("MethodNotAllowed", "the server does not allow this method on the requested resource")
        url = urlsplit(self.path)
        begin, *parts = (unquote(part) for part in url.path.split("/"))
        known = len(parts) > 2 and compare_digest(parts[1].encode(), self.server.secret.encode())
        if begin or not known or parts[0] != "c" or not CLIENT.fullmatch(parts[2]):
            raise StatusError("Forbidden", "the path does not begin with the secret of this server and a client's name")
        self.server.connections[self.connection] = parts[2]
        body = self._body()
        self.close_connection = self.headers.get("Connection", "").lower() == "close"
        path = tuple(part for part in parts[3:] if part)
        query = dict(parse_qsl(url.query, keep_blank_values=True, max_num_fields=100))
        return ClientRequest(parts[2], self.command, path, query, dict(self.headers.items()), body, self._is_open)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        length = self.headers.get("Content-Length", "0").strip()
        if not (length.isascii() and length.isdigit()):
            raise StatusError("BadRequest", f"Content-Length: {length!r} is no number")
        return self._read(int(length[:20]))

    def _read(self, length: int, before: int = 0) -> bytes:
        if before + length > MAX_BODY:
            raise StatusError("RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")
        try:
            body = self.rfile.read(length)
        except OSError:
            body = b""
        if len(body) < length:
            raise StatusError("BadRequest", "the body ends too early")
        return body

    def _chunks(self) -> bytes:
        found = b""
        while True:
            size = self.rfile.readline(MAX_CHUNK_HEAD).partition(b";")[0].strip()
            try:
                length = int(size, 16) if size.isalnum() else -1
            except ValueError:
                length = -1
            if length < 0:
                raise StatusError("BadRequest", "a chunk of the body has no length")
            if length == 0:
                while self.rfile.readline(MAX_CHUNK_HEAD).strip():
                    pass
                return found
            found += self._read(length, len(found))
            self._read(2)

    def _is_open(self) -> bool:
        """Say whether the client has not closed its side."""
        with suppress(OSError, ValueError):
            ready, _, _ = select.select([self.connection], [], [], 0)
            return not ready or bool(self.connection.recv(1, socket.MSG_PEEK))
        return False

    def _send(self, response: ServerResponse) -> None:
        """Write an answer: one write, or a chunk for each part of a stream until the client goes."""
        head = [("Content-Type", response.content_type), ("Cache-Control", "no-cache, private")]
        head += [("Warning", f'299 - "{_quoted(words)}"') for words in response.warnings]
        if response.stream is not None:
            head.append(("Transfer-Encoding", "chunked"))
        else:
            head.append(("Content-Length", str(len(response.body))))
        if self.close_connection:
            head.append(("Connection", "close"))
        with suppress(OSError):
            lines = [f"{self.protocol_version} {response.code} {self.responses[response.code][0]}"]
            lines += [f"{name}: {value}" for name, value in head]
            body = response.body if self.command != "HEAD" else b""
            self.wfile.write("\r\n".join((*lines, "\r\n")).encode("latin-1") + body)
            if response.stream is not None:
                for part in response.stream:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True


for _method in (*METHODS, "HEAD", "OPTIONS"):
    setattr(_Connection, f"do_{_method}", _Connection.answer)


def _quoted(words: str) -> str:
    plain = "".join(char if char.isprintable() and char.isascii() else "?" for char in words)
    return plain.replace("\\", "\\\\").replace('"', '\\"')
