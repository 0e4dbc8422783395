"""A stand-in for kubectl: lists the objects of a recorded dump, refuses and breaks off as it is told, writes down its words.

STAND_IN is a JSON file: `items`, what is `forbidden` ("nodes", "pods in shop"), the kinds that the server `has_not`, and
`failing`: plural -> how often a list fails and how. LOG gets the arguments of every call, one JSON list a line.
It runs a thousand times: pathlib alone would be a quarter of a run.
"""

import json
import os
import sys

SERVER, LOG = os.environ["STAND_IN"], os.environ["STAND_IN_LOG"]


def flag(name):
    """The value of `--name=value`, or None."""
    return next((word.partition("=")[2] for word in sys.argv if word.startswith(f"--{name}=")), None)


def refuse(words):
    """End as kubectl does when the server refuses."""
    sys.stderr.write(words + "\n")
    sys.exit(1)


def main():
    """Answer one `kubectl get`."""
    with open(SERVER, encoding="utf-8") as told:  # noqa: PTH123
        server = json.load(told)
    with open(LOG, "a+", encoding="utf-8") as log:  # noqa: PTH123
        log.seek(0)
        earlier = log.read().splitlines()
        log.write(json.dumps(sys.argv[1:]) + "\n")
    plural, namespace = sys.argv[2], flag("namespace")
    context = flag("context")
    if context not in (None, "kind-shop"):
        refuse(f'error: context "{context}" does not exist')
    if plural in server.get("has_not", ()):
        refuse(f'error: the server doesn\'t have a resource type "{plural}"')
    place = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    if {plural, f"{plural} in {namespace}", "everything"} & set(server.get("forbidden", ())):
        refuse(f'Error from server (Forbidden): {plural} is forbidden: User "jane" cannot list resource "{plural}" in API group "" {place}')
    kind = server["kinds"][plural]
    found = [item for item in server["items"]
             if item["kind"] == kind and namespace in (None, item["metadata"].get("namespace"))]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": found})
    how, times = server.get("failing", {}).get(plural, ("", 0))
    if sum(json.loads(line)[1] == plural for line in earlier) < times:
        if how == "page":
            refuse("Error from server (Expired): The provided continue parameter is too old\x1b[2J to display a consistent list")
        if how == "cut":
            sys.stdout.write(text[: len(text) // 2])
            sys.exit(0)
        sys.stdout.write(text[: len(text) // 2])
        sys.stdout.flush()
        os.abort()
    sys.stdout.write(text)


main()
