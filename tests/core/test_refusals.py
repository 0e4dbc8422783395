"""Loading says what an API server would refuse, and what bears on placement and is not read."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kvolsched import Cluster, check, incidents, make, scenario
from kvolsched.cli import main
from kvolsched.core.results import ApplyRefused
from kvolsched.learn.scenario import scenario_names

TESTS = Path(__file__).parents[1]
FILES = sorted(path for path in (TESTS / "corpus").glob("*/*") if path.is_file())
DUMPS = sorted([*(TESTS / "conformance/dumps").iterdir(), *(TESTS / "conformance/kubectl").glob("*/objects.json")])
CLAIM = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "gpu"}, "spec": {}}


def wrong():
    """Return a pod and a Deployment that a server refuses."""
    pod, web = make.pod("bad"), make.deployment("web")
    constraint = {"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    pod["spec"]["topologySpreadConstraints"] = [constraint]
    del web["spec"]["selector"]
    return pod, web


def test_loading_says_what_a_server_would_refuse():
    """What is loaded although a server would refuse it is said in one line, with each fault on request."""
    c = Cluster.from_manifests([make.node("n1"), *wrong()])

    assert "2 objects would be refused by an API server: pod/bad, deploy/web (`.refusals()`)" in repr(c)
    assert [refused.write.subject for refused in c.refusals()] == ["pod/bad", "deploy/web"]
    assert "maxSkew: Invalid value: 0: must be greater than zero" in repr(c.refusals())
    assert "2 objects would be refused" in repr(c.run()).splitlines()[-1]


def test_other_rules_say_too_what_a_server_would_refuse():
    """The objects of a cluster under other rules are asked of the API server of these."""
    c = Cluster.from_manifests([make.node("n1"), *wrong()])

    assert "2 objects would be refused by an API server" in repr(c.under("design"))


def test_what_is_gone_is_not_told_of():
    """Objects that are deleted, or not there yet, are named by no line on what is refused or not read."""
    c = Cluster.from_manifests([make.node("n1"), *wrong()])
    device = make.pod("app", namespace="shop")
    device["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    c.apply(device)
    assert repr(c).splitlines()[-1] == "  - not read: resourceClaims of pod/shop/app"
    c.delete("pod/bad", "deploy/web")
    assert "refused" not in repr(c)
    c.goto(0)

    assert "2 objects would be refused" in repr(c)
    assert "not read" not in repr(c) + repr(c.run(steps=1))
    device["metadata"] = {"generateName": "app-"}
    assert "not read: resourceClaims of pod/app-" in repr(Cluster.from_manifests([device]))


def test_strict_loading_refuses():
    """With `strict` nothing is loaded that a server would refuse; the error has each object."""
    with pytest.raises(ApplyRefused) as refused:
        Cluster.from_manifests(list(wrong()), strict=True)
    assert len(refused.value.refusals) == 2
    assert "n1" in Cluster.from_manifests([make.node("n1")], strict=True)


def test_objects_are_judged_by_classes_and_quotas_whatever_their_order():
    """A class that follows its pod is there, and a quota counts the pods of the file in their order."""
    pods = [make.pod(name, priority_class="high") for name in ("a", "b")]
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    one = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one"}, "spec": {"hard": {"pods": "1"}}}

    assert not Cluster.from_manifests([*pods, high]).refusals()
    assert [each.write.subject for each in Cluster.from_manifests([*pods, high, one]).refusals()] == ["pod/b"]


def test_what_a_server_has_stored_is_not_refused():
    """An object of a dump was accepted once, whatever today's rules say."""
    pod = wrong()[0]
    pod["metadata"]["uid"] = "1"

    assert not Cluster.from_manifests([pod]).refusals()


@pytest.mark.parametrize("path", [*FILES, *DUMPS], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_file_is_refused(path):
    """Of the corpus' files and the recorded dumps no object would be refused."""
    assert not repr(Cluster.from_manifests(path).refusals()).startswith(("The ", "Error"))


def test_no_scenario_or_incident_is_refused():
    """Every shipped scenario and incident consists of objects that a server accepts."""
    started = {name: scenario(name) for name in scenario_names()}
    started |= {each.name: each.start() for each in incidents()}

    assert {name: c.refusals().line() for name, c in started.items() if c.refusals()} == {}


def test_what_is_not_read_is_said_with_every_answer():
    """A claim of a device is not read: cluster, run, why, fix, check and panel say so in one line."""
    pod = make.pod("app", cpu="9")
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    c = Cluster.from_manifests([make.node("n1", cpu="1"), pod, CLAIM])
    line = "not read: 1 ResourceClaim, resourceClaims of pod/app"

    assert line in repr(c)
    assert line in repr(c.run())
    assert "Not read: 1 ResourceClaim, resourceClaims of pod/app" in repr(c.why("app"))
    assert line in repr(c.fix("app"))
    assert line in repr(check([pod, CLAIM], [make.node("n1", cpu="10")]))
    assert c.lab().acts.note.value == line


def test_what_is_applied_and_not_read_is_said_too():
    """Objects that are applied later are noted as those that were loaded; a fork knows of both."""
    c = Cluster.from_manifests([make.node("n1"), CLAIM])
    c.apply({**CLAIM, "metadata": {"name": "other"}}, make.pod("app"))

    assert repr(c.fork().run()).splitlines()[-1] == "not read: 2 ResourceClaims"


def test_policies_of_jobs_are_not_read():
    """A Job whose end depends on a policy that is not modelled says so, each field with its Job."""
    fields = {"ttlSecondsAfterFinished": 5, "successPolicy": {"rules": [{"succeededIndexes": "0"}]}}
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1.0"}]}}
    spec = {"completionMode": "Indexed", "completions": 2, "template": template, **fields}
    c = Cluster.from_manifests([make.node("n1")])
    c.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}, "spec": spec})

    assert repr(c.run()).splitlines()[-1] == "not read: successPolicy of job/pi, ttlSecondsAfterFinished of job/pi"


def test_other_kinds_do_not_bear_on_placement():
    """A ConfigMap or a Role is no reason for a line."""
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}

    assert "not read" not in repr(Cluster.from_manifests([make.node("n1"), other]).run())


def test_the_terminal_lists_what_would_be_refused(tmp_path):
    """`kvolsched why` of a file says on standard error what an API server would refuse of it, with each fault."""
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [make.node("n1"), wrong()[0]]}), "utf-8")
    answer = CliRunner().invoke(main, ["why", str(path)])

    assert "Warning: 1 object would be refused by an API server: pod/bad" in answer.stderr
    assert "maxSkew: Invalid value: 0" in answer.stderr
