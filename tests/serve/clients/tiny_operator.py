"""A controller on the standard library: one backup pod for each claim with the label backup=yes.

It looks for its pod in its cache of pods, which may be behind; `--careful` gives the pod a name that only one can have.
"""

import json
import sys
import threading
import time
from queue import Queue
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL, CAREFUL = sys.argv[1], "--careful" in sys.argv
WORK, PODS = Queue(), {}


def ask(path, body=None):
    """Return the answer to a GET, or to a POST of a body."""
    data = None if body is None else json.dumps(body).encode()
    return urlopen(Request(URL + path, data, {"Content-Type": "application/json"}), timeout=60)


def informer(resource, seen):
    """List a resource, then watch it; again when that ends."""
    path = f"/api/v1/namespaces/default/{resource}"
    while True:
        try:
            listed = json.load(ask(path))
            for obj in listed["items"]:
                seen("ADDED", obj)
            with ask(f"{path}?watch=1&resourceVersion={listed['metadata']['resourceVersion']}") as watch:
                for line in watch:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        break
                    seen(event["type"], event["object"])
        except (OSError, ValueError):
            pass


def pod_seen(kind, pod):
    """Follow the pods."""
    PODS[pod["metadata"]["name"]] = kind != "DELETED" and pod["metadata"].get("labels", {}).get("for")


def claim_seen(kind, claim):
    """Queue a claim that is to be backed up."""
    if kind != "DELETED" and claim["metadata"].get("labels", {}).get("backup") == "yes":
        WORK.put(claim["metadata"]["name"])


for watched in (("pods", pod_seen), ("persistentvolumeclaims", claim_seen)):
    threading.Thread(target=informer, args=watched, daemon=True).start()
while True:
    name = WORK.get()
    time.sleep(0.3)  # its caches are usually up to date by then
    if name in PODS.values():
        continue
    called = {"name": f"backup-{name}"} if CAREFUL else {"generateName": f"backup-{name}-"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**called, "labels": {"for": name}},
           "spec": {"containers": [{"name": "backup", "image": "backup"}]}}
    try:
        ask("/api/v1/namespaces/default/pods", pod).close()
    except HTTPError as error:
        if CAREFUL and error.code != 409:
            WORK.put(name)
    except OSError:
        if CAREFUL:
            WORK.put(name)
