"""The API server's families: an object created or replaced on a real server, its answer in the recording's form.

Nothing is decided here: objects are decoded, admitted, validated and stored by the engine's own API server with every
admission plugin on; this module only asks and writes down. Families `api`, `pod-create`, `pod-update`, `refusals`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api.defaults import defaulted
from kvolsched.api.text.convert import ACCEPTED, decode, schema
from kvolsched.api.text.fault import Problem, spelled
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import json_patch, merge_patch
from kvolsched.api.validation.invalid import ABSENT, Invalid
from kvolsched.revision import Revision
from kvolsched.world.apiserver import CommittedWrite, RefusedWrite, Write, key_of
from kvolsched.world.log import Key, Log

from .recording import Case

ASPECTS = ("code", "stored", "errors", "unknown", "field", "got", "wants", "reason", "message")
POD_ASPECTS = ("errors",)
PROBED = ("code", "message", "causes")
CODES = {"Invalid": 422, "Forbidden": 403, "NotFound": 404, "Conflict": 409, "AlreadyExists": 409}
DOCUMENTS = ("spelling", "design")  # what only the design documents know is unknown to Kubernetes
WHO = "user"
ADDRESS = "10.0.0.0"  # stands for an address that the server chose
_DROPPED = ("uid", "resourceVersion", "creationTimestamp", "generation")
_DIFFERENCE = re.compile(r"\n@@.*", re.DOTALL)  # how both objects look as Go's values, line by line
_LISTED = re.compile(r"(?<=pod updates may not change fields other than ).*", re.DOTALL)


class Server:
    """Mutable: an API server over a log of its own, with every admission plugin on."""

    def __init__(self, revision: Revision) -> None:
        self.server = attrs.evolve(revision, disabled=()).server()
        self.log = Log()

    def put(self, obj: Any, verb: str = "") -> CommittedWrite | RefusedWrite:
        """Create an object, or replace the one that is there."""
        key = key_of(obj)
        verb = verb or ("update" if key in self.log.objects else "create")
        return self.server.commit(self.log, Write(verb, key, obj), WHO)

    def hold(self, obj: Any) -> None:
        """Set an object as it is, defaulted alone."""
        self.log.write(key_of(obj), defaulted(obj))

    def plain(self, key: Key) -> dict[str, Any]:
        """Return a stored object as plain data."""
        return to_plain(self.log.objects[key])


# --- api -------------------------------------------------------------------------------------------------------------


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what our API server says to a case's create or replacement."""
    found, problems = decode(case["new"])
    strange = [one for one in problems if one.rule not in ACCEPTED or one.rule in DOCUMENTS]
    refused = _undecoded(case["new"], strange)
    if refused is not None:
        return refused
    server = Server(revision)
    if "old" in case:
        server.put(from_plain(case["old"]))
    outcome = server.put(found)
    if isinstance(outcome, CommittedWrite):
        stored = without_luck(to_plain(outcome.stored), case["new"])
        return {"code": 200 if "old" in case else 201, "stored": stored}
    said: dict[str, Any] = {"code": CODES[outcome.reason]}
    if outcome.reason == "Invalid":
        said["errors"] = _in_order([_error(one) for one in outcome.causes])
    else:
        said |= {"reason": outcome.reason, "message": outcome.message}
    return said


def expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded answer: what is stored as our converter writes it, errors in our order."""
    recorded = dict(case["expect"])
    if "stored" in recorded:
        recorded["stored"] = without_luck(to_plain(from_plain(recorded["stored"])), case["new"])
    if "errors" in recorded:
        recorded["errors"] = _in_order(recorded["errors"])
    if "unknown" in recorded:
        recorded["unknown"] = sorted(recorded["unknown"])
    return recorded


def _in_order(errors: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Errors are a set: each once, sorted, without the difference between two Go values."""
    cut = [[field, kind, value, _DIFFERENCE.sub("", detail)] for field, kind, value, detail in errors]
    return sorted({str(error): error for error in cut}.values(), key=str)


def _error(one: Invalid) -> list[Any]:
    composite = isinstance(one.value, dict | list | tuple) or attrs.has(type(one.value))
    return [one.path, one.type, "-" if one.value is ABSENT else "*" if composite else one.value, one.detail]


def without_luck(stored: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what only this server knows: uid, versions, times, and the address it chose for a service."""
    stored["metadata"] = {key: value for key, value in stored["metadata"].items() if key not in _DROPPED}
    for condition in stored.get("status", {}).get("conditions", ()):
        condition.pop("lastTransitionTime", None)
    spec = stored.get("spec", {})
    if stored["kind"] == "Service" and "clusterIP" in spec and "clusterIP" not in new.get("spec", {}):
        spec["clusterIP"], spec["clusterIPs"] = ADDRESS, [ADDRESS]
    return stored


def _undecoded(data: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any] | None:
    """Return the server's answer to what it cannot decode: the first wrong type, else all unknown fields."""
    if any(problem.rule == "quantity" for problem in problems):  # ends the decoding; other wrong types do not
        words = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        return {"code": 400, "message": words}
    for problem in problems:
        if problem.rule == "type":
            return {"code": 400, "field": _named(data, problem.path), "got": problem.got, "wants": problem.wants}
    unknown = sorted({problem.field for problem in problems})
    return {"code": 400, "unknown": unknown} if unknown else None


def _named(data: Mapping[str, Any], path: Sequence[str | int]) -> str:
    """Return a path as Go's decoder names it: of fields alone, without places in lists and keys of mappings."""
    held = schema()["kinds"].get(f"{data.get('apiVersion')}/{data.get('kind')}", "object")
    names: list[str] = []
    for step in path:
        if isinstance(step, int):
            held = held.removeprefix("[]")
        elif held.startswith("map[string]"):
            held = held.removeprefix("map[string]")
        else:
            names.append(step)
            declared = schema()["types"].get(held, {}).get(step, "object")
            held = declared if isinstance(declared, str) else declared["type"]
    return spelled(names)


# --- pods alone ------------------------------------------------------------------------------------------------------


def pod_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return every fault of a pod, created or put in place of another that is there as it is."""
    server = Server(revision)
    if "old" in case:
        server.hold(from_plain(case["old"]))
    outcome = server.put(from_plain(case["new"]))
    if isinstance(outcome, RefusedWrite) and outcome.reason != "Invalid":
        return {"errors": [outcome.message]}
    causes = outcome.causes if isinstance(outcome, RefusedWrite) else ()
    return {"errors": _alone([f"{one.path}: FieldValue{one.type}: {one.detail}" for one in causes])}


def pod_expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded faults, each by its first line."""
    return {"errors": _alone(case["expect"]["errors"])}


def _alone(errors: Sequence[str]) -> list[str]:
    return sorted({_LISTED.sub("", _DIFFERENCE.sub("", error)) for error in errors})


# --- single probes ---------------------------------------------------------------------------------------------------


def probed(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what our API server says to a probe, after all that came before it on the same server."""
    server = Server(revision)
    for probe in case["probes"][: case["place"]]:
        _probe(server, probe)
    outcome = _probe(server, case["probes"][case["place"]])
    if isinstance(outcome, CommittedWrite):
        return {"code": 201 if outcome.write.verb == "create" else 200, "message": None}
    said: dict[str, Any] = {"code": CODES[outcome.reason], "message": _DIFFERENCE.sub("", outcome.message)}
    if outcome.causes:
        said["causes"] = [_cause(one) for one in outcome.causes]
    return said


def probe_expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded answer to a probe, each text up to where Go values are compared line by line."""
    recorded = {name: case["expect"][name] for name in PROBED if name in case["expect"]}
    if recorded.get("message"):
        recorded["message"] = _DIFFERENCE.sub("", recorded["message"])
    if "causes" in recorded:
        recorded["causes"] = [
            {**one, "message": _DIFFERENCE.sub("", one["message"])} for one in recorded["causes"]
        ]
    return recorded


def _probe(server: Server, probe: Mapping[str, Any]) -> CommittedWrite | RefusedWrite:
    """Create an object in place of whatever had its name, or patch one; unknown fields are dropped."""
    if "create" in probe:
        found, _ = decode(probe["create"])
        server.log.write(key_of(found), None)
        return server.put(found, "create")
    kind, _, name = probe["patch"].partition("/")
    key = next(key for key in server.log.objects if (key.kind, key.name) == (kind, name))
    change = probe["with"]
    patch = json_patch if isinstance(change, list) else merge_patch
    return server.put(from_plain(patch(server.plain(key), change)))


def _cause(one: Invalid) -> dict[str, str]:
    message = str(one).removeprefix(f"{one.path}: ")
    return {"field": one.path, "message": message, "reason": f"FieldValue{one.type}"}


