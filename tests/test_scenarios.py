"""Small clusters with a question, each answered by playing its script: Kubernetes' words are the expected values.

A file of `tests/scenarios` names the items of the documents that it proves; they become the marks of its test.
"""

from pathlib import Path

import pytest

from kvolsched import scenario as shipped
from kvolsched.cluster import Cluster
from kvolsched.scenario import ExpectationFailed, Scenario, ScenarioError, read, scenario_names

FILES = sorted((Path(__file__).parent / "scenarios").glob("*.yaml"))


def params():
    """List every file with the marks that it names."""
    found = []
    for file in FILES:
        items = read(file, file.stem).checklist
        found.append(pytest.param(file, id=file.stem, marks=[pytest.mark.checklist(*items)] if items else []))
    return found


@pytest.mark.parametrize("file", params())
def test_scenario(file):
    """The script of a file runs, and each of its expectations holds."""
    scenario = read(file, file.stem)
    assert any("expect" in line for line in scenario.script)
    cluster = scenario.play()
    steps = cluster.last_step.number
    cluster.back(steps)
    cluster.goto(steps)
    again = scenario.play()
    assert again.manifests() == cluster.manifests(), "the same scenario, played again, ends otherwise"


@pytest.mark.parametrize("name", scenario_names())
@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("262")
def test_shipped_scenarios_run_under_every_revision(name, revision):
    """A shipped scenario loads, asks a question, and comes to rest under either set of rules."""
    cluster = shipped(name, revision)
    run = cluster.run(steps=2_000)
    assert cluster.revision.name == revision
    assert run.steps


@pytest.mark.checklist("260")
def test_same_seed_same_run():
    """Equal scenarios and seeds give equal runs, sentence by sentence; another seed may decide ties otherwise."""
    runs = [[repr(step) for step in shipped("zonal-example", seed=seed).run().steps] for seed in (1, 1)]
    assert runs[0] == runs[1]
    chosen = set()
    for seed in range(12):
        cluster = shipped("zonal-example", seed=seed)
        cluster.run()
        chosen.add(cluster["pod/my-pod"].spec.node_name)
    assert chosen <= {"node-a", "node-b"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "wants one mapping"),
        ("question: a\nmood: good", "unknown mood"),
        ("question: a\nscript: [{dance: now}]", "unknown word 'dance'"),
    ],
)
def test_faults_of_a_scenario_are_named(text, words):
    """The error about an unknown field lists the known ones."""
    with pytest.raises(ScenarioError, match=words):
        read(text, "mine").play()


def test_failed_expectations_show_both_sides():
    """A failed expectation names the script line, the expected and the actual value."""
    script = "question: a\nobjects:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\nscript:\n- expect: "
    for line, said in (
        ("{ns/shop: {metadata.name: mall}}", "expected ns/shop metadata.name 'mall', it is 'shop'"),
        ("{is: pod/app exists}", "expected 'pod/app exists' to be True, it is False"),
        ("{event: {about: ns/shop}}", "expected an event .*, there are \\[\\]"),
    ):
        with pytest.raises(ExpectationFailed, match=f"mine: script\\[1\\]: {said}"):
            read(script + line, "mine").play()


def test_gates_and_dials_must_exist():
    """The error about an unknown gate or dial lists the known ones."""
    with pytest.raises(ValueError, match=r"no gate VolumeBinding of kube-scheduler: .* VolumeScheduling"):
        Scenario("mine", gates={"kube-scheduler": {"VolumeBinding": False}}).cluster()
    with pytest.raises(ValueError, match=r"kubelet has no dial speed; there are: absent, denied, start_delay"):
        Cluster(components={"kubelet": {"speed": 3}})
    with pytest.raises(ValueError, match=r"cannot deny 'everything'; write for example"):
        Cluster(components={"kubelet": {"denied": ["everything"]}})
