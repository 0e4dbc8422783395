"""Family `kubectl`: output of `kubectl get` and `kubectl describe` for recorded clusters, byte for byte.

A case has the objects of a cluster, the time `now`, and printed texts whose names are the commands: `get-pods-wide`,
`describe-pvc-data`. Both sides are `{file: {line: text}}`, so a difference names file and line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from kvolsched.cluster import Cluster
from kvolsched.kubectl import describe, get
from kvolsched.kubectl.formatting import format_age, parse_time
from kvolsched.rules.revision import Revision

from .agreement import Case

ASPECTS = ("get", "describe")
NAMESPACE = "demo"  # the recorder's default
CAPTURED = datetime(2026, 1, 1, tzinfo=UTC)  # the time to which the recorder moved all ages
SCOPE, SUFFIXES = "all-namespaces-", {"-wide": "wide", "-show-labels": "show_labels"}
POD_ON_NODE = re.compile(r"^  (\S+) +(\S+) .*\(\d+%\)( +)(\S+)$")  # namespace, name, what precedes the age, the age

Texts = dict[str, dict[str, str]]


def answer(case: Case, revision: Revision) -> dict[str, Texts]:
    """Print every recorded text for the cluster of a case at the recorded time."""
    cluster = Cluster.from_manifests(case["objects"], revision=revision)
    return _by_aspect((file, _printed(cluster, file, case["now"])) for file in case["files"])


def expected(case: Case) -> dict[str, Texts]:
    """Return the recorded texts; in `describe node` the column of pod ages is aligned as kubectl aligns it.

    The recorder replaced ages by shifted ones flush right: its `40d` begins one column early where the true age had two
    characters. kubectl aligns the column flush left.
    """
    born = {
        (item["metadata"].get("namespace", ""), item["metadata"]["name"]): item["metadata"].get("creationTimestamp")
        for item in case["objects"]["items"] if item["kind"] == "Pod"
    }

    def put_right(line: str) -> str:
        found = POD_ON_NODE.match(line)
        if found is None or (found[1], found[2]) not in born:
            return line
        moved = len(found[4]) - len(format_age(born[found[1], found[2]], CAPTURED))
        return f"{line[:found.start(3)]}{' ' * (len(found[3]) + moved)}{found[4]}"

    def said(file: str, text: str) -> str:
        return "\n".join(map(put_right, text.split("\n"))) if file.startswith("describe-node-") else text

    return _by_aspect((file, said(file, text)) for file, text in case["expect"].items())


def _printed(cluster: Cluster, file: str, now: str) -> str:
    verb, _, asked = file.partition("-")
    then = parse_time(now)
    if verb == "describe":
        kind, _, name = asked.partition("-")
        return f"{describe(cluster, kind, name, NAMESPACE, now=then)!r}\n"
    options: dict[str, Any] = {}
    if asked.startswith(SCOPE):
        asked, options["all_namespaces"] = asked.removeprefix(SCOPE), True
    for suffix, option in SUFFIXES.items():
        if asked.endswith(suffix):
            asked, options[option] = asked.removesuffix(suffix), True
    return f"{get(cluster, asked, NAMESPACE, now=then, **options)!r}\n"


def _by_aspect(texts: Iterable[tuple[str, str]]) -> dict[str, Texts]:
    found: dict[str, Texts] = {aspect: {} for aspect in ASPECTS}
    for file, text in texts:
        lines: Mapping[str, str] = {f"line {number:03}": line for number, line in enumerate(text.split("\n"), 1)}
        found.setdefault(file.partition("-")[0], {})[f"{file}.txt"] = dict(lines)
    return found
