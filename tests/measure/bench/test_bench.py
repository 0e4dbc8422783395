"""The benchmarks run, on small clusters and without a word on time: what they print, write and answer.

The same command with its own sizes is `make bench`.
"""

import gc
import json
import re
from copy import deepcopy

import attrs
import pytest
from click.testing import CliRunner

import kvolsched.measure.bench.figures
from kvolsched import Cluster, UnknownName
from kvolsched.cli import main
from kvolsched.measure.bench import SMALL, WORKLOADS, Bench, Measurement, worker, workload
from kvolsched.measure.bench.figures import measures, run_worker
from kvolsched.measure.bench.loop import LoopCost, LoopTimer
from kvolsched.measure.bench.measuring import exponent, least_cpu_seconds, profile, settling_heap
from kvolsched.measure.bench.passes import PassTimer, _PluginClock
from kvolsched.measure.bench.report import Measurements

NODES, PODS = 12, 6
QUICK = ["--nodes", str(NODES), "--pods", str(PODS), "--fit", "6", "--runs", "1"]


def command(*words):
    """Run `kvolsched bench` with these words."""
    return CliRunner().invoke(main, ["bench", *words])


@pytest.mark.parametrize("name", WORKLOADS)
def test_all_pods_of_a_workload_are_placed_in_the_loop(name):
    """Each workload is one that can be met: every pod that arrives gets a node, and no gated one does."""
    run = LoopTimer(workload(name), NODES, PODS).run(PODS)
    assert (run.placed, run.complete) == (PODS, True)
    assert run.writes >= PODS


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_pass_leaves_the_cluster_as_it_found_it(name):
    """What a run of passes reserves is taken back, so every run is of the same cluster."""
    timer = PassTimer(workload(name), NODES, PODS)
    before = deepcopy(timer.seen.facts())
    assert timer.least(runs=1) > 0
    assert timer.seen.facts() == before
    assert set(timer.by_plugin(runs=1)) == {enabled.name for enabled in timer.profile.plugins}


def test_the_scheduler_has_listed_the_nodes_when_pods_come():
    """What it has listed becomes columns before a run begins, so that a run has the pods' share alone."""
    cluster = LoopTimer(workload("basic"), NODES, PODS).begin(PODS)
    cache = cluster.world.processes["kube-scheduler"].views["cache"]
    assert len(cache._snapshot.nodes.names) >= NODES


def test_a_profile_names_functions_that_can_be_read():
    """What a built-in takes counts for the function that calls it; most are of the package."""
    found = [line.where for line in profile(LoopTimer(workload("basic"), NODES, PODS).running(PODS))]
    assert [where for where in found if ".py" in where] == found
    assert any(re.fullmatch(r"[a-z_/]+\.py:\d+ \w+", where) for where in found)


def test_a_clock_around_plugins_changes_no_pass():
    """What is kept of plugins from pass to pass is kept with clocks around them, so the same pass is measured."""
    timer = PassTimer(workload("local"), NODES, PODS)
    clocked = attrs.evolve(timer.profile, plugins=tuple(
        attrs.evolve(each, plugin=_PluginClock(each.plugin).plugin) for each in timer.profile.plugins))
    plain, timed = (profile.active_plugins(timer.pods[0].spec, timer.seen) for profile in (timer.profile, clocked))
    assert any(entry.kept for entry in plain.filters)
    assert [entry[:2] + entry[3:] for entry in plain.filters] == [entry[:2] + entry[3:] for entry in timed.filters]
    assert [(each.name, each.kept) for each in plain.scores] == [(each.name, each.kept) for each in timed.scores]
    assert plain.kept_prefilters == timed.kept_prefilters


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_written_workload_is_the_one_that_is_measured(name, tmp_path):
    """The manifests hold the same objects, in the order in which they are to be created."""
    place = workload(name).write(tmp_path, NODES, PODS)
    files = [place / f"{file}.yaml" for file in ("nodes", "cluster", "pods")]
    read = Cluster.from_manifests(*(path for path in files if path.exists()))
    loaded = Cluster()
    loaded._load(workload(name).objects(NODES, PODS))
    assert {str(key): obj.spec for key, obj in read.world.log.objects.items() if hasattr(obj, "spec")} == {
        str(key): obj.spec for key, obj in loaded.world.log.objects.items() if hasattr(obj, "spec")}
    assert read.world.log.objects.keys() == loaded.world.log.objects.keys()


def test_workloads_do_not_depend_on_chance():
    """Twice the same workload is the same, and the first pods of more pods are the same pods."""
    assert workload("mixed").objects(NODES, PODS) == workload("mixed").objects(NODES, PODS)
    assert workload("mixed").pods(NODES, 30)[: len(workload("mixed").pods(NODES, 5))] == workload("mixed").pods(NODES, 5)
    apps = {pod.metadata.labels["app"] for pod in workload("mixed").pods(1_000, 400) if pod.kind == "Pod"}
    assert len(apps) == 20
    apps = {pod.metadata.labels["app"] for pod in workload("own-templates").pods(1_000, 400)}
    assert len(apps) == 400


def test_the_command_prints_a_row_for_each_workload():
    """A row has the pass and the loop, and below it the microseconds by plugin."""
    found = command("basic", "local", *QUICK)
    assert found.exit_code == 0, found.output
    assert [line.split()[0] for line in found.stdout.splitlines() if line.startswith(("basic", "local"))] == ["basic", "local"]
    assert "µs by plugin: " in found.stdout
    assert "figures" not in found.stdout


def test_the_command_answers_in_json():
    """One document, with every figure of the rows and the machine."""
    found = command("basic", "--json", *QUICK)
    data = json.loads(found.stdout)
    assert not data["interrupted"]
    assert data["machine"]
    (row,) = data["workloads"]
    assert row["workload"] == "basic"
    assert set(row["pass_microseconds"]) == set(row["loop"]) == {"6", "12"}
    assert row["by_plugin"]["NodeResourcesFit"] > 0
    assert row["loop"]["12"]["writes"] == 2
    assert row["pass_exponent"] is not None


def test_an_unknown_workload_is_answered_with_near_names():
    """All names are listed, the nearest are offered, and nothing is measured."""
    found = command("zonall")
    assert found.exit_code == 2
    assert "no workload 'zonall'; there are: basic, zone, host" in found.output
    assert "did you mean zonal" in found.output
    with pytest.raises(UnknownName, match="anti-affinity"):
        workload("antiaffinity")
    assert workload("Anti Affinity") is workload("anti_affinity")


def test_the_command_refuses_sizes_that_are_none():
    """Each says what is to be written."""
    assert "write numbers of nodes" in command("basic", "--fit", "a").output
    assert "--nodes" in command("basic", "--nodes", "0").output


def test_the_command_writes_workloads_for_others(tmp_path):
    """Manifests in folders by name, and a page that says what they are; nothing is measured."""
    found = command("zone", "capacity", "--write", str(tmp_path), "--nodes", "4", "--pods", "2")
    assert found.exit_code == 0, found.output
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert written == ["README.md", "capacity/cluster.yaml", "capacity/nodes.yaml", "capacity/pods.yaml",
                       "zone/nodes.yaml", "zone/pods.yaml"]  # fmt: skip
    assert "hard spread over zones" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_an_interrupted_run_keeps_what_it_has(monkeypatch):
    """Rows that were measured stay, the output says how many are left, and the exit code says so."""
    row, asked = Bench.row, []

    def interrupted(self, chosen):
        asked.append(chosen.name)
        if len(asked) > 1:
            raise KeyboardInterrupt
        return row(self, chosen)

    monkeypatch.setattr(Bench, "row", interrupted)
    found = command("basic", "zone", "soft", *QUICK)
    assert found.exit_code == 130
    assert "interrupted: 1 of 3 measurements were made" in found.stdout
    assert "\nbasic " in found.stdout


@pytest.mark.parametrize("name", [name for name, _ in measures(SMALL) if name != "import"])
def test_figures_with_an_aim_are_measured(name, monkeypatch):
    """Each yields figures that are numbers; none is asserted. What wants a process of its own has this one."""
    monkeypatch.setattr(kvolsched.measure.bench.figures, "run_worker", lambda task, *words, **_: worker.TASKS[task](*words))
    figures = list(dict(measures(SMALL))[name]())
    assert figures
    assert all(figure.value > 0 or "memory" in figure.name or "history" in figure.name for figure in figures)


def test_a_pass_stands_beside_its_aim_as_in_the_table():
    """What the table of workloads has measured is the figure; one page has no two figures for one thing."""
    figures = list(dict(measures(SMALL, known={("basic", SMALL.nodes): 0.001}))["the pass"]())
    assert figures[0].value == 1_000
    assert figures[1].unit == "times"


def test_a_figure_says_whether_it_falls_short():
    """More is better or less is better; without an aim nothing falls short."""
    assert Measurement("rate", 5, "pods/s", at_least=6).falls_short
    assert not Measurement("rate", 6, "pods/s", at_least=6).falls_short
    assert Measurement("cost", 1.3, "times", at_most=1.2).falls_short
    assert not Measurement("cost", 9).falls_short
    assert "FALLS SHORT" in repr(Measurement("cost", 1.3, "times", at_most=1.2))


@pytest.mark.parametrize(("short", "gate", "code"), [(True, True, 1), (True, False, 0), (False, True, 0)])
def test_only_gates_fail_and_only_if_asked(short, gate, code, monkeypatch):
    """A ratio that falls short fails `--gate`; otherwise it is printed."""
    figures = (Measurement("ratio", 2.0 if short else 1.0, "times", at_most=1.2, gate=True),
               Measurement("rate", 1.0, "pods/s", at_least=2.0))  # fmt: skip
    monkeypatch.setattr(Bench, "run", lambda *_: Measurements((), figures, "a machine", 0, interrupted=False))
    found = command("--aims", *(["--gate"] if gate else []))
    assert found.exit_code == code
    assert "fall short" in found.stdout


def test_a_run_that_takes_too_long_is_measured_in_part():
    """Its cost is that of its turns, as many of each pod as a complete run had."""
    timer = LoopTimer(workload("basic"), NODES, 40)
    whole = timer.cost(40, 1)
    part = timer.cost(40, 1, limit=whole.microseconds / 1e6)
    assert (whole.share, part.turns) == (1.0, whole.turns)
    assert 0 < part.share < 1
    assert LoopCost(250.0, 3, 2).rate == 4_000


def test_measuring():
    """Exponents fit powers, profiles name functions of the package, and the least of several runs counts."""
    assert exponent({10: 3.0, 100: 3.0}) == pytest.approx(0, abs=1e-9)
    assert exponent({10: 3.0, 100: 300.0}) == pytest.approx(2)
    assert exponent({10: 3.0}) is None
    assert least_cpu_seconds(lambda: None, runs=2) < 1
    timer = PassTimer(workload("basic"), NODES, PODS)
    assert any(".py:" in line.where for line in profile(timer.seconds))


@pytest.mark.parametrize(("before", "undone"), [(0, ["unfreeze"]), (7, [])])
def test_a_settled_heap_is_looked_at_again(before, undone, monkeypatch):
    """The collector leaves out what is there while questions are timed, and afterwards what it left out before."""
    said = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: before)
    for name in ("collect", "freeze", "unfreeze"):
        monkeypatch.setattr(gc, name, lambda name=name: said.append(name))
    with settling_heap() as settle:
        settle()
    assert said == ["collect", "freeze", *undone]


def test_a_worker_has_a_process_of_its_own():
    """It answers in JSON; if it fails, the error has the last line of what it said, and which package it had."""
    assert run_worker("explorer", "20")["seconds"] > 0
    with pytest.raises(RuntimeError, match=r"explorer with the package in .*invalid literal"):
        run_worker("explorer", "many")
