"""The page on the documents: its tables and examples are those of the code."""

import re
from pathlib import Path

import public_face
import pytest
from documents.clusters import cluster, reach, where
from manifests import HOST, ZONE, claim, node, pod, storage_class, volume

from kvolsched import ApplyRefused, Cluster, ManifestError
from kvolsched.make import csi_driver, spread
from kvolsched.rules.named import design, draft, upstream
from kvolsched.rules.revision import GATES_OF
from kvolsched.scheduler.framework.extension_points import Filter, PreFilter, Score
from kvolsched.scheduler.loop.binding_flow import BindWorker
from kvolsched.scheduler.loop.volume_binder import assume_pod_volumes

PAGE = (Path(__file__).parents[2] / "docs" / "documents.md").read_text(encoding="utf-8")


def section(title):
    """The text under a heading."""
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(title):
    """The rows of a section's table, each a list of words."""
    found = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in section(title).splitlines() if line.startswith("|")]
    return found[2:]


def example(title):
    """What a section's example defines."""
    (code,) = re.findall(r"```python\n(.*?)```", section(title), re.DOTALL)
    names = {}
    exec(compile(code, title, "exec"), names)  # noqa: S102 - the page's own example
    return names


@pytest.mark.checklist("1")
def test_the_five_words_in_one_cluster():
    """A disk's topology is a domain of some key; zones lie in regions; a failover domain is where the pod runs after a loss."""
    made = [node(name, zone, labels={"region": region}) for name, zone, region in (
        ("a1", "a", "r1"), ("a2", "a", "r1"), ("b1", "b", "r1"), ("c1", "c", "r2"))]

    def domain(key, *values):
        c = cluster(*made, volume("disk", "10Gi", "late", {key: list(values)}, bound="data"), claim("data", bound="disk"),
                    pod("app", "data"))
        return set(c.fits("app"))

    zones = {zone: domain(ZONE, zone) for zone in "abc"}
    regions = {region: domain("region", region) for region in ("r1", "r2")}
    assert ({"a": {"a1", "a2"}, "b": {"b1"}, "c": {"c1"}}, {"r1": {"a1", "a2", "b1"}, "r2": {"c1"}}) == (zones, regions)
    assert {"a": ["r1"], "b": ["r1"], "c": ["r2"]} == {
        zone: [region for region, around in regions.items() if within <= around] for zone, within in zones.items()}
    c = cluster(*made, volume("disk", "10Gi", "late", {ZONE: ["a", "b"]}, bound="data"), claim("data", bound="disk"),
                pod("app", "data", nodeSelector={ZONE: "a"}))
    c.run("pod/app Running")
    c.stop_nodes(f"{ZONE}=a")
    c.run(seconds=400)
    c.apply(pod("later", "data"))
    c.run("pod/later Running", seconds=60)
    assert ["b1"] == where(c, "later")


@pytest.mark.checklist("266")
def test_functions_and_extension_points_are_those_of_the_code():
    """The map from the document's functions to today's extension points is what the profile's plugins implement."""
    made = []
    for each in design().profile.plugins:
        names = [getattr(each.plugin, word, "") for word in ("document_name", "document_score_name")]
        if any(names):
            points = [point.__name__ for point in (PreFilter, Filter, Score) if isinstance(each.plugin, point)]
            made.append([", ".join(filter(None, names)), each.name, ", ".join(points)])
    assert made == [row for row in rows("Functions and extension points") if not row[1].startswith("`")]
    flow = {row[0]: row[1:] for row in rows("Functions and extension points") if row[1].startswith("`")}
    assert {"AssumePodVolumes": ["`flow.reserve`", "Reserve"], "BindPodVolumes": ["`BindWorker`", "PreBind"]} == flow
    assert callable(design().flow.reserve)
    assert callable(BindWorker.act)
    assert assume_pod_volumes.__name__ == "assume_pod_volumes"


@pytest.mark.checklist("258")
def test_the_order_of_predicates_is_the_documented_one():
    """Both orders on the page are those of the profiles, and the same cluster says the same sentence every time."""
    told = dict(re.findall(r"- `(\w+)`: ([\w, \n]+)", section("The order of predicates")))
    for rules in (design(), draft(), upstream()):
        assert [each.name for each in rules.profile.filters] == re.findall(r"\w+", told[rules.name])
        sentences = set()
        for seed in range(3):
            c = cluster(node("n2", cpu="1", taints=("closed",)), node("n1", cpu="50m"), node("n3", unschedulable=True),
                        pod("app", cpu="500m"), revision=rules, seed=seed)
            c.run(seconds=10)
            sentences.add(c["pod/app"].status.condition("PodScheduled").message.partition(" preemption")[0])
        (sentence,) = sentences
        reasons = sentence.removeprefix("0/3 nodes are available: ").partition(".")[0].split(", ")
        assert reasons == sorted(reasons)
        assert 3 == len(reasons)


@pytest.mark.checklist("73")
def test_gates_are_those_of_the_code():
    """Every gate stands on the page with the processes that read it."""
    told = {row[0]: set(row[1].split(", ")) for row in rows("Gates")}
    assert told == {gate: {process for process, gates in GATES_OF.items() if gate in gates} for gate in told}
    assert set(told) == {gate for gates in GATES_OF.values() for gate in gates}


def test_the_gate_of_today_is_off():
    """The page's example turns on the one gate of v1.36 that is off, and gives it a shape that prefers the fullest."""
    found = example("Gates")
    name = "upstream (kube-scheduler: StorageCapacityScoring=true"
    assert (f"{name})", f"{name}; shape: 0=0, 100=10)") == (found["emptiest"].name, found["fullest"].name)
    found["c"].run(lambda c: len(c.passes("db")) == 2)
    assert {100} == {given["VolumeBinding"].raw for given in found["c"].fits("db").scores.values()}


@pytest.mark.checklist("73", "140")
def test_gates_by_process_are_those_of_the_runs():
    """The page's short table of combinations is what its example runs, and every row does what S0 says."""
    table = example("Gates, process by process")["table"]
    assert table.agrees
    told = {tuple(word == "on" for word in row[0].split(", ")): tuple(row[1:]) for row in rows("Gates, process by process")}
    assert 4 == len(told)
    for row in table:
        if row.kubelets:
            both = row.scheduler[0], row.manager[0]
            assert told[both] == (row.found.existing, row.found.existing_zone_a)


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("139")
def test_the_custom_scheduler_of_the_page(revision):
    """The page's scheduler places pods with a free disk and with one to be made; kube-scheduler leaves them alone."""
    mine = example("A custom scheduler")
    made = [node("a1", "a"), node("b1", "b"), storage_class(), storage_class("local", "kubernetes.io/no-provisioner"),
            volume("disk", "10Gi", "local", {HOST: ["a1"]}), claim("old", storage_class="local"), claim("new"),
            pod("one", "old", schedulerName="mine"), pod("two", "new", schedulerName="mine")]
    alone = cluster(*made, revision=revision)
    alone.run(seconds=60)
    assert ["", ""] == where(alone, "one", "two")
    c = cluster(*made, revision=revision).with_controller("mine", mine["WATCHES"], mine["last_by_name"])
    c.run("pod/two Running", seconds=60)
    assert (["a1", "b1"], "disk") == (where(c, "one", "two"), c["pvc/old"].spec.volume_name)
    assert [{ZONE: ["b"]}] == reach(c, "new")
    assert "Running" == c["pod/one"].status.phase


def test_the_cells_of_the_page_keep_to_the_public_face():
    """What the page prints a reader can run: no cell reaches into the engine."""
    assert [] == [reached for cell in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
                  for reached in public_face.reached_by_cell(cell)]


@pytest.mark.parametrize(("wanted", "refused"), [
    (volume(nodeAffinity={"preferred": []}), "preferred"),
    (claim(volumeAntiAffinity={}), "volumeAntiAffinity: unknown field"),
    ({**csi_driver(), "status": {"health": "good"}}, "status.health: unknown field"),
    (pod(topologySpreadConstraints=[{**spread(app="x"), "requiredDuringSchedulingIgnoredDuringExecution": []}]),
     "requiredDuringSchedulingIgnoredDuringExecution: unknown field"),
    (pod(affinity={"podAffinity": {"evenSpreading": {"maxSkew": 1}}}), "evenSpreading: unknown field"),
    (pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
     "must have at least one node selector term"),
])
def test_what_no_revision_has_is_refused(wanted, refused):
    """A field that the documents only sketch or reject is refused by name."""
    with pytest.raises((ApplyRefused, ManifestError), match=refused):
        Cluster("design").apply(wanted)
