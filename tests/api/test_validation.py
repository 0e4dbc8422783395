"""The API server's refusals, judged by what a real one answered."""

import gzip
import json
from pathlib import Path

import attrs
import pytest

from kvolsched.api.convert import ACCEPTED, decode, from_plain
from kvolsched.api.defaults import defaulted
from kvolsched.api.invalid import ABSENT
from kvolsched.api.kind import KINDS
from kvolsched.api.meta import EMPTY
from kvolsched.api.validation import immutable, validate

RECORDED = Path(__file__).parent.parent / "conformance"
MODELLED = {kind.name for kind in KINDS}
PROTECTED = ("PersistentVolume", "PersistentVolumeClaim")  # their finalizers come with a later admission
MANY = "pod updates may not change fields other than"


def cases(family):
    """The recorded cases of a family."""
    with gzip.open(RECORDED / f"{family}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def refused(case):
    """Everything that is refused in a case, after defaulting."""
    new = defaulted(from_plain(case["new"]))
    found = validate(new)
    if "old" in case:
        old = defaulted(from_plain(case["old"]))
        if hasattr(new, "status"):
            new = attrs.evolve(new, status=old.status)
        found = [*validate(new), *immutable(old, new)]
    return found


def refusals(case):
    """(field, type, detail) of everything that is refused in a case."""
    found = refused(case)
    return {(one.path, one.type, MANY if one.detail.startswith(MANY) else one.detail) for one in found}


def modelled(value):
    """The value without what is kept unmodelled."""
    if isinstance(value, tuple):
        return tuple(map(modelled, value))
    if attrs.has(type(value)):
        names = [field.name for field in attrs.fields(type(value)) if field.name != "rest"]
        return type(value)(**{name: modelled(getattr(value, name)) for name in names})
    return value


API = [case for case in cases("api") if case["new"]["kind"] in MODELLED]


def test_every_recorded_refusal_of_these_kinds():
    """Creates and replacements of 17 kinds, answered with 422 or taken by a real API server: all agree.

    Field, type and detail are compared, and the value that is named where it is no composite one.
    """
    differing, count = [], 0
    for case in API:
        if case["expect"]["code"] in (200, 201, 422):
            count += 1
            expected = {(field, kind, detail) for field, kind, _, detail in case["expect"].get("errors", ())}
            if expected != (got := refusals(case)):
                differing.append((case["id"], expected - got, got - expected))
            named = {tuple(error) for error in case["expect"].get("errors", ()) if error[2] != "*" and not isinstance(error[2], list)}
            values = [(one.path, one.type, "-" if one.value is ABSENT else one.value, one.detail) for one in refused(case)]
            differing += [(case["id"], missing) for missing in named if missing not in values]
    assert ([], 884) == (differing, count)


def test_every_recorded_refusal_to_decode():
    """What the real one could not decode is not decoded: the same unknown fields, the same wrong types."""
    for case in API:
        _, problems = decode(case["new"])
        hard = [problem for problem in problems if problem.rule not in ACCEPTED - {"spelling"}]
        expect = case["expect"]
        assert (expect["code"] == 400) == bool(hard), case["id"]
        if "unknown" in expect:
            unknown = [problem.field for problem in hard if problem.rule in ("unknown", "spelling")]
            assert sorted(expect["unknown"]) == sorted(unknown)
        if "wants" in expect:
            typed = [(one.field, one.got, one.wants) for one in hard if one.rule == "type"]
            assert any(field.startswith(expect["field"]) and (got, wants) == (expect["got"], expect["wants"]) for field, got, wants in typed)


def test_what_is_stored():
    """Accepted objects are stored with the recorded defaults, in every modelled field."""
    differing = []
    for case in API:
        if "stored" not in case["expect"]:
            continue
        mine, theirs = (modelled(defaulted(from_plain(case["new"]))), modelled(from_plain(case["expect"]["stored"])))
        if case["new"]["kind"] in PROTECTED:
            mine, theirs = (attrs.evolve(one, metadata=attrs.evolve(one.metadata, finalizers=())) for one in (mine, theirs))
        if mine != theirs:
            differing.append((case["id"], case["new"]["kind"]))
    # Not ours: admission taints a new node as not ready; the time of a gated pod's condition is the writer's clock; no
    # address is allocated to a Service.
    assert [("Node", 5), ("Pod", 1), ("Service", 1)] == sorted((kind, sum(other == kind for _, other in differing)) for kind in {kind for _, kind in differing})


@pytest.mark.parametrize("family", ["pod-create", "pod-update"])
def test_every_recorded_pod(family):
    """Pods with gates, constraints and affinity, created and changed: field, type and detail agree in all 300."""
    differing = []
    for case in cases(family):
        lines = [error.split("\n")[0].split(": ", 2) for error in case["expect"]["errors"]]
        expected = {(field, kind.removeprefix("FieldValue"), MANY if detail.startswith(MANY) else detail) for field, kind, detail in lines}
        if expected != (got := refusals(case)):
            differing.append((case["id"], expected - got, got - expected))
    assert [] == differing


CAUSED = [
    probe
    for probe in json.loads((RECORDED / "refusals.json").read_text())["probes"]
    if probe.get("create", {}).get("kind") in MODELLED and probe["code"] in (201, 422)
]


@pytest.mark.parametrize("probe", CAUSED, ids=lambda probe: probe["name"])
def test_single_refusals_in_full_words(probe):
    """The whole message of each refusal, value included, is the real one's; what was taken is taken."""
    found, _ = decode({**probe["create"], "metadata": {"namespace": "", **probe["create"]["metadata"]}})
    found = defaulted(found)
    message = "".join(sorted(str(one) for one in validate(found)))
    expected = [f"{cause['field']}: {cause['message']}" for cause in probe.get("causes") or ()]
    assert "".join(sorted(expected)) == message


@pytest.mark.parametrize(
    ("name", "fits"),
    [("a" * 253, True), ("a" * 254, False), ("a.b-c", True), ("A", False), ("-a", False), ("a_b", False), ("a..b", False)],
)
def test_names(name, fits):
    """Names of most kinds are subdomains of at most 253 characters."""
    found = defaulted(from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
    assert fits == (validate(found) == [])


@pytest.mark.parametrize(("length", "fits"), [(63, True), (64, False)])
def test_labels_have_at_most_63_characters(length, fits):
    """A label's value, and its key after the prefix, have at most 63 characters; a Namespace's name too."""
    for labels in ({"k": "v" * length}, {"example.com/" + "k" * length: ""}):
        found = from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}})
        assert fits == (validate(found) == [])
    named = from_plain({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n" * length}})
    assert fits == (validate(named) == [])


def test_namespaces_belong_to_some_kinds():
    """A volume has no namespace, a claim must have one."""
    volume, claim = (from_plain({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "namespace": space}})
                     for kind, space in (("PersistentVolume", "a"), ("PersistentVolumeClaim", "")))  # fmt: skip
    assert "metadata.namespace: Forbidden: not allowed on this type" in map(str, validate(volume))
    assert "metadata.namespace: Required value" in map(str, validate(claim))


def test_kinds_without_rules_pass():
    """What is not modelled is stored as it is."""
    thing = from_plain({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})
    assert ([], []) == (validate(thing), immutable(EMPTY, thing))
