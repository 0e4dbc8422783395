"""A client of a served cluster: one connection of HTTP, JSON in and out, and the real kubectl."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p1", "labels": {"app": "p"}},
       "spec": {"containers": [{"name": "a", "image": "x"}]}}
PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
MERGE, JSON_PATCH, STRATEGIC = (f"application/{name}+json" for name in ("merge-patch", "json-patch", "strategic-merge-patch"))


def pod(name, **metadata):
    """Return the manifest of a small pod."""
    return {**POD, "metadata": {**POD["metadata"], "name": name, **metadata}}


class Client:
    """One client of a served cluster."""

    def __init__(self, served, name="tester"):
        url = urlsplit(served.url(name))
        self.base, self.host = url.path, url.netloc
        self.connection = HTTPConnection(url.netloc, timeout=10)
        self.headers = {}

    def ask(self, method, path, body=None, media="application/json", **headers):
        """Return code and data of an answer; what is no JSON as text."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {**({"Content-Type": media} if data is not None else {}), **{name.replace("_", "-"): text for name, text in headers.items()}}
        self.connection.request(method, self.base + path, data, sent)
        answer = self.connection.getresponse()
        text = answer.read()
        self.headers = answer.headers
        return answer.status, json.loads(text) if answer.headers["Content-Type"].startswith("application/json") else text.decode()

    def get(self, path, **headers):
        """Return the data of a GET that is answered."""
        code, data = self.ask("GET", path, **headers)
        assert code == 200, data
        return data

    def refused(self, method, path, body=None, media="application/json", **headers):
        """Return code, reason and message of a request that is refused by a Status."""
        code, data = self.ask(method, path, body, media, **headers)
        assert (data["kind"], data["apiVersion"], data["status"], data["code"]) == ("Status", "v1", "Failure", code)
        return code, data["reason"], data["message"]

    def watch(self, path, **headers):
        """Return a function that reads the next event of a watch: (type, object); None at its end."""
        connection = HTTPConnection(self.host, timeout=10)
        connection.request("GET", self.base + path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()

        def read():
            line = answer.readline()
            event = json.loads(line) if line else None
            return event and (event["type"], event["object"])

        read.close = connection.close
        return read


def program(name):
    """Return the path of kubectl or helm as `.ci/environment` installs them; skip without (fail in CI)."""
    found = Path(sys.executable).parent / name
    path = str(found) if found.exists() else shutil.which(name)
    if path:
        return path
    wanted = f"no {name}: `.ci/environment kubectl .venv` installs it"
    return pytest.fail(f"{wanted}, and CI is set") if os.environ.get("CI") else pytest.skip(wanted)


class Kubectl:
    """The real kubectl on a served cluster, in a folder of its own."""

    def __init__(self, served, folder):
        self.folder, self.path = folder, program("kubectl")
        self.config = served.kubeconfig("kubectl", folder / "kubeconfig")

    def __call__(self, command, stdin=""):
        """Run a command; return its exit code, output and errors."""
        done = subprocess.run([self.path, f"--kubeconfig={self.config}", f"--cache-dir={self.folder}/cache", *shlex.split(command)],
                              check=False, input=stdin, capture_output=True, text=True, timeout=60, cwd=self.folder)
        return done.returncode, done.stdout, done.stderr
