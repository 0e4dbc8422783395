"""Dials: one declaration by which values are read, checked and listed; every wrong one is told, with its path."""

import attrs
import pytest

from kvolsched import Cluster, UnknownName
from kvolsched.api.dials import (
    LABELS,
    LIMIT,
    PERIOD,
    RATE,
    SECONDS,
    SIZE,
    SWITCH,
    TEXT,
    TEXTS,
    choice,
    dial,
    dials_of,
    mapping_of,
    or_null,
    several,
    whole,
    with_dials,
)
from kvolsched.make import DRIVER, node, storage_class


@attrs.frozen
class Part:
    """Options of a part."""

    size: str = dial("1Gi", SIZE, "how large it is")


@attrs.frozen
class Options:
    """Options with a dial of each sort, and a field that is none."""

    kept: str = "inside"
    delay: float = dial(1.0, SECONDS, "how long it takes", "S0, Bind", also="wait")
    part: Part = dial(Part("2Gi"), mapping_of(Part), "its part")
    parts: tuple[Part, ...] = dial((), several(mapping_of(Part)), "more parts")


def faults(**dials):
    """Return what is wrong with dials, a line each."""
    with pytest.raises(UnknownName) as wrong:
        with_dials("c", Options(), dials)
    return str(wrong.value).splitlines()


@pytest.mark.parametrize(("values", "good", "bad"), [
    (SWITCH, (True, False), (1, "true", None)),
    (SECONDS, (0, 2.5), (-1, True, "soon", float("inf"), float("nan"), None)),
    (PERIOD, (0.1, 3), (0, "1")),
    (RATE, (0.0, 7), (-0.1, "x")),
    (whole(1, 5), (1, 5), (0, 6, 2.0, True, "2")),
    (TEXT, ("", "a"), (1, None)),
    (TEXTS, ((), ("a",)), ("a", (1,))),
    (SIZE, ("10Gi", "0"), ("lots", "-1", "")),
    (LIMIT, ("", "5Gi"), ("lots",)),
    (LABELS, ({}, {"a": "b"}), ({"a": 1}, "a")),
    (choice("x", "y"), ("x",), ("z", 1, ["x"])),
    (or_null(whole(1)), (None, 3), (0,)),
    (several(whole(1), named=True), ({"a": 1},), ({"a": 0}, [1])),
])  # fmt: skip
def test_each_sort_of_values_takes_its_own(values, good, bad):
    """What is in the words is read; all else is refused with the value and the words."""
    options = attrs.make_class("O", {"it": dial(None, values, "it")}, frozen=True)
    for value in good:
        assert with_dials("c", options(), {"it": value}).it == (tuple(value) if isinstance(value, list) else value)
    for value in bad:
        with pytest.raises(ValueError, match=r"^c: it"):
            with_dials("c", options(), {"it": value})


def test_every_fault_is_told_with_its_path():
    """Unknown names, wrong values and those of parts stand in one error, a line each."""
    assert [
        "c has no dial dely, kept; there are: absent, denied, delay, part, parts; did you mean delay?",
        "c: absent: 3: must be true or false",
        "c: delay: 'soon': must be a number of seconds from 0",
        "c: part has no dial sise; there are: size; did you mean size?",
        "c: parts[1].size: 'big': must be a size such as 10Gi",
    ] == sorted(faults(dely=1, kept="x", absent=3, delay="soon", part={"sise": 1}, parts=[{}, {"size": "big"}]))
    assert ["c: parts: 'x': must be a list, each a mapping"] == faults(parts="x")
    with pytest.raises(UnknownName, match=r"^c: 3: must be a mapping$"):
        with_dials("c", Options(), 3)


def test_a_part_keeps_what_is_not_said():
    """A mapping changes the dials that it names; a dial may be set by its other name, the first name counts for more."""
    found = with_dials("c", Options(), {"part": {}, "wait": 3, "parts": [{}]})
    assert Options(delay=3, part=Part("2Gi"), parts=(Part("1Gi"),)) == found
    assert 4 == with_dials("c", Options(), {"wait": 3, "delay": 4}).delay
    assert ["delay", "part", "parts"] == [*dials_of(Options)]
    declared = dials_of(Options)["delay"]
    assert ("S0, Bind", "how long it takes", 1.0) == (declared.serves, declared.stands_for, declared.default)


def test_the_faults_of_all_components_are_told_at_once():
    """A cluster with wrong dials of several components is refused with all of them; nothing is made."""
    wrong = {"pd.csi": {"kind": "bogus", "delay": "soon", "on_failure": "bogus"}, "kubelet": {"start_delay": -1},
             "Deployment controller": {"absent": "x"}}
    with pytest.raises(ValueError) as error:
        Cluster(components=wrong)
    assert [
        "pd.csi: kind: 'bogus': must be zonal, local, or a list of labels",
        "pd.csi: delay: 'soon': must be a number of seconds from 0",
        "pd.csi: on_failure: 'bogus': must be reschedule or retry",
        "kubelet: start_delay: -1: must be a number of seconds from 0",
        "deployment-controller: absent: 'x': must be true or false",
    ] == str(error.value).splitlines()


@pytest.mark.checklist("184")
def test_published_capacity_goes_with_its_owner():
    """A Deployment owns a driver's objects by the dial `owner`: without it they are collected, and nobody publishes."""
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "driver"}, "spec": {
        "replicas": 0, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
    dials = {"pools": {"a": "1Gi", "b": "2Gi"}, "publishing": {"owner": {"kind": "Deployment", "name": "driver"}}}
    c = Cluster.from_manifests([node("a1", "a"), node("b1", "b"), storage_class(), owner], components={DRIVER: dials})
    c.run(seconds=90)
    references = [each.metadata.owner_references for each in c.objects("csistoragecapacities")]
    assert [("apps/v1", "Deployment", "driver", c["deploy/driver"].metadata.uid)] * 2 == [
        (one.api_version, one.kind, one.name, one.uid) for (one,) in references]
    c.delete("deploy/driver")
    c.run(seconds=200)
    assert [] == c.objects("csistoragecapacities")
    c.apply(owner)
    c.run(seconds=200)
    assert 2 == len(c.objects("csistoragecapacities"))
    with pytest.raises(ValueError, match=r"publishing.owner: .* must be a mapping with kind, name"):
        Cluster(components={DRIVER: {"publishing": {"owner": {"name": "x"}}}})
