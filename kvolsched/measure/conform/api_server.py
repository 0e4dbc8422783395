"""Families `api`, `pod-create`, `pod-update`, `refusals`, `apply`: objects created or replaced on a real API server.

The engine's API server decodes, admits, validates and stores with every admission plugin on; this module only calls it
and formats the answer as the recordings do. Family `apply` calls `Cluster.apply` on a cluster that is not stepped, with
another writer between two manifests.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api.defaults import with_defaults
from kvolsched.api.text.convert import DECODABLE_RULES, decode, schema
from kvolsched.api.text.fault import Problem, format_path
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import json_patch, merge_patch
from kvolsched.api.validation.field_error import NO_VALUE
from kvolsched.cluster import Cluster
from kvolsched.core.results import ApplyRefused
from kvolsched.core.user_commands import LAST_APPLIED
from kvolsched.rules.revision import Revision
from kvolsched.serve.status import CODES
from kvolsched.world.apiserver import CommittedWrite, RefusedWrite, Write, key_of
from kvolsched.world.log import Key, Log

from .agreement import Case

ASPECTS = ("code", "stored", "errors", "unknown", "field", "got", "wants", "reason", "message")
POD_ASPECTS = ("errors",)
APPLY_ASPECTS = ("first", "second", "refused", "result")
PROBED = ("code", "message", "causes")
DESIGN_ONLY_RULES = ("spelling", "design")  # fields of the design documents that Kubernetes does not have
WHO, OTHER = "user", "another writer"
ADDRESS = "10.0.0.0"  # placeholder for an address that the server chose
_DROPPED = ("uid", "resourceVersion", "creationTimestamp", "generation")
_DIFFERENCE = re.compile(r"\n@@.*", re.DOTALL)  # the line by line difference of two Go values
_LISTED = re.compile(r"(?<=pod updates may not change fields other than ).*", re.DOTALL)


class RecordedServer:
    """An API server over a log of its own, with every admission plugin on. Mutable."""

    def __init__(self, revision: Revision) -> None:
        self.server = attrs.evolve(revision, disabled=()).server()
        self.log = Log()

    def put(self, obj: Any, verb: str = "") -> CommittedWrite | RefusedWrite:
        """Create an object, or replace it if it exists."""
        verb = verb or ("update" if key_of(obj) in self.log.objects else "create")
        return self.server.commit(self.log, Write(verb, key_of(obj), obj), WHO)

    def hold(self, obj: Any) -> None:
        """Store an object with defaults only, without admission."""
        self.log.write(key_of(obj), with_defaults(obj))

    def plain(self, key: Key) -> dict[str, Any]:
        """Return a stored object as plain data."""
        return to_plain(self.log.objects[key])


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return the answer of our API server to the request of a case."""
    found, problems = decode(case["new"])
    unknown = [one for one in problems if one.rule not in DECODABLE_RULES or one.rule in DESIGN_ONLY_RULES]
    if (refused := _undecoded(case["new"], unknown)) is not None:
        return refused
    server = RecordedServer(revision)
    if "old" in case:
        server.put(from_plain(case["old"]))
    outcome = server.put(found)
    if isinstance(outcome, CommittedWrite):
        stored = without_server_values(to_plain(outcome.stored), case["new"])
        return {"code": 200 if "old" in case else 201, "stored": stored}
    if outcome.reason == "Invalid":
        errors = []
        for one in outcome.causes:
            composite = isinstance(one.value, dict | list | tuple) or attrs.has(type(one.value))
            value = "-" if one.value is NO_VALUE else "*" if composite else one.value
            errors.append([one.path, one.type, value, one.detail])
        return {"code": CODES["Invalid"], "errors": _in_order(errors)}
    return {"code": CODES[outcome.reason], "reason": outcome.reason, "message": outcome.message}


def expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded answer with stored objects in our converter's form and errors sorted."""
    recorded = dict(case["expect"])
    if "stored" in recorded:
        recorded["stored"] = without_server_values(to_plain(from_plain(recorded["stored"])), case["new"])
    if "errors" in recorded:
        recorded["errors"] = _in_order(recorded["errors"])
    if "unknown" in recorded:
        recorded["unknown"] = sorted(recorded["unknown"])
    return recorded


def _in_order(errors: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return errors once each, sorted, without differences of Go values."""
    cut = [[field, kind, value, _DIFFERENCE.sub("", detail)] for field, kind, value, detail in errors]
    return sorted({str(error): error for error in cut}.values(), key=str)


def without_server_values(stored: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored object without what the server chose: uid, versions, times, service address."""
    stored["metadata"] = {key: value for key, value in stored["metadata"].items() if key not in _DROPPED}
    for condition in stored.get("status", {}).get("conditions", ()):
        condition.pop("lastTransitionTime", None)
    spec = stored.get("spec", {})
    if stored["kind"] == "Service" and "clusterIP" in spec and "clusterIP" not in new.get("spec", {}):
        spec["clusterIP"], spec["clusterIPs"] = ADDRESS, [ADDRESS]
    return stored


def _undecoded(data: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any] | None:
    """Return the server's answer to data it cannot decode: the first wrong type, else all unknown fields."""
    if any(problem.rule == "quantity" for problem in problems):  # ends decoding; other wrong types do not
        words = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        return {"code": 400, "message": words}
    for problem in problems:
        if problem.rule == "type":
            return {"code": 400, "field": _named(data, problem.path), "got": problem.got, "wants": problem.wants}
    unknown = sorted({problem.field for problem in problems})
    return {"code": 400, "unknown": unknown} if unknown else None


def _named(data: Mapping[str, Any], path: Sequence[str | int]) -> str:
    """Return a path as Go's decoder writes it: field names only, without list indexes and map keys."""
    held = schema()["kinds"].get(f"{data.get('apiVersion')}/{data.get('kind')}", "object")
    names: list[str] = []
    for step in path:
        if isinstance(step, int) or held.startswith("map[string]"):
            held = held.removeprefix("[]" if isinstance(step, int) else "map[string]")
        else:
            names.append(step)
            declared = schema()["types"].get(held, {}).get(step, "object")
            held = declared if isinstance(declared, str) else declared["type"]
    return format_path(names)


def pod_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return every fault of a created or replaced pod."""
    server = RecordedServer(revision)
    if "old" in case:
        server.hold(from_plain(case["old"]))
    outcome = server.put(from_plain(case["new"]))
    if isinstance(outcome, RefusedWrite) and outcome.reason != "Invalid":
        return {"errors": [outcome.message]}
    causes = outcome.causes if isinstance(outcome, RefusedWrite) else ()
    return {"errors": _alone([f"{one.path}: FieldValue{one.type}: {one.detail}" for one in causes])}


def pod_expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded faults without differences of Go values."""
    return {"errors": _alone(case["expect"]["errors"])}


def _alone(errors: Sequence[str]) -> list[str]:
    return sorted({_LISTED.sub("", _DIFFERENCE.sub("", error)) for error in errors})


def probe_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return the answer of our API server to a probe, after replaying all earlier probes on that server."""
    server = RecordedServer(revision)
    for probe in case["probes"][: case["place"]]:
        _probe(server, probe)
    outcome = _probe(server, case["probes"][case["place"]])
    if isinstance(outcome, CommittedWrite):
        return {"code": 201 if outcome.write.verb == "create" else 200, "message": None}
    said = [{"field": one.path, "message": str(one).removeprefix(f"{one.path}: "), "reason": f"FieldValue{one.type}"}
            for one in outcome.causes]  # fmt: skip
    causes = {"causes": said} if said else {}
    return {"code": CODES[outcome.reason], "message": _DIFFERENCE.sub("", outcome.message), **causes}


def probe_expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded answer to a probe without differences of Go values."""
    recorded = {name: case["expect"][name] for name in PROBED if name in case["expect"]}
    if recorded.get("message"):
        recorded["message"] = _DIFFERENCE.sub("", recorded["message"])
    if "causes" in recorded:
        recorded["causes"] = [{**one, "message": _DIFFERENCE.sub("", one["message"])} for one in recorded["causes"]]
    return recorded


def _probe(server: RecordedServer, probe: Mapping[str, Any]) -> CommittedWrite | RefusedWrite:
    """Create an object, replacing one of its name, or patch one; unknown fields are dropped."""
    if "create" in probe:
        found, _ = decode(probe["create"])
        server.log.write(key_of(found), None)
        return server.put(found, "create")
    kind, _, name = probe["patch"].partition("/")
    key = next(key for key in server.log.objects if (key.kind, key.name) == (kind, name))
    patch = json_patch if isinstance(probe["with"], list) else merge_patch
    return server.put(from_plain(patch(server.plain(key), probe["with"])))


def apply_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return kubectl's output for both manifests, and the final object."""
    cluster = Cluster(attrs.evolve(revision, disabled=()))
    said: dict[str, Any] = {"first": repr(cluster.apply(case["first"]))}
    (key,) = (key for key in cluster.world.log.objects if key == key_of(from_plain(case["first"])))
    if case["other"] is not None:
        changed = from_plain(merge_patch(to_plain(cluster.world.log.objects[key]), case["other"]))
        cluster.world.perform(OTHER, [Write("update", key, changed)])
    try:
        said["second"] = repr(cluster.apply(case["second"]))
    except ApplyRefused as refused:
        said["refused"] = refused.lines[0].partition("\n")[0]
    said["result"] = _result(to_plain(cluster.world.log.objects[key]), case)
    return said


def apply_expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded output (the first line of a refusal), and the final object in our converter's form."""
    recorded = dict(case["expect"])
    if "refused" in recorded:
        recorded["refused"] = recorded["refused"].partition("\n")[0]
    recorded["result"] = _result(to_plain(from_plain(recorded["result"])), case)
    return recorded


def _result(found: dict[str, Any], case: Case) -> dict[str, Any]:
    stored: dict[str, Any] = _without_uids(without_server_values(found, case["first"]))
    annotations = stored["metadata"].pop("annotations", {})
    kept = {key: text for key, text in annotations.items() if key != LAST_APPLIED}
    stored["metadata"] |= {"annotations": kept} if kept else {}
    return stored


def _without_uids(value: Any) -> Any:
    """Return data without uids: recorded references have none."""
    if isinstance(value, dict):
        return {key: _without_uids(item) for key, item in value.items() if key != "uid"}
    return [_without_uids(item) for item in value] if isinstance(value, list) else value
