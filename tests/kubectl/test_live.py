"""A real cluster is read through kubectl and never written to. No real cluster is asked here: a stand-in for kubectl answers
from recorded dumps, in kubectl's words.
"""

import gzip
import json
import os
import sys
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from kvolsched import Cluster
from kvolsched.api.kinds.kind import KINDS
from kvolsched.api.text.dump_checks import DUMP_COMMAND
from kvolsched.api.text.manifest import read_plain
from kvolsched.cli import main
from kvolsched.kubectl.live import KubectlError

HERE = Path(__file__).parent.parent
DUMPS = sorted((HERE / "conformance" / "dumps").glob("*.yaml.gz"))


@cache
def recorded(dump):
    """The objects of a recorded dump as plain data."""
    [found] = read_plain(gzip.decompress(dump.read_bytes()).decode())
    return found["items"]


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Return a function that serves a recorded dump through a program called kubectl, and reads what it was called with."""
    log = tmp_path / "calls"

    def serve(dump=DUMPS[0], **behaviour):
        state = {"items": recorded(dump), "kinds": {kind.plural: kind.name for kind in KINDS}, **behaviour}
        (tmp_path / "state.json").write_text(json.dumps(state), encoding="utf-8")
        program = tmp_path / "kubectl"
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S '{HERE / 'kubectl_stand_in.py'}' \"$@\"\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("STAND_IN", str(tmp_path / "state.json"))
        monkeypatch.setenv("STAND_IN_LOG", str(log))
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        return lambda: [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    return serve


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.name)
def test_a_live_cluster_is_the_dump_that_it_would_give(server, dump):
    """What kubectl lists kind by kind is the same cluster as the saved dump, with the same answers."""
    server(dump)
    live, saved = Cluster.from_kubectl(), Cluster.from_manifests(dump)
    assert set(saved.written().split("\n---\n")) == set(live.written().split("\n---\n"))
    assert [evolve(answer, missing=()) for answer in saved.why()] == list(live.why())


def test_only_lists_are_asked_for_in_pages_without_a_shell(server):
    """Every call is a `get` of one kind of the documented command as JSON, in pages and with a limit of time."""
    calls = server()
    Cluster.from_kubectl("kind-shop")
    documented = DUMP_COMMAND.split()[2].split(",")
    assert documented == [call[1] for call in calls()]
    assert {"get"} == {call[0] for call in calls()}
    flags = {"--context=kind-shop", "--output=json", "--chunk-size=500", "--request-timeout=60s"}
    assert all(flags == set(call[2:]) - {"--all-namespaces"} for call in calls())


def test_a_word_of_the_shell_stays_a_word(server, tmp_path):
    """A context that a shell would run reaches kubectl as a name."""
    calls = server()
    with pytest.raises(KubectlError, match="does not exist"):
        Cluster.from_kubectl(f"$(touch {tmp_path}/touched); --kubeconfig=/x")
    assert not (tmp_path / "touched").exists()
    assert f"--context=$(touch {tmp_path}/touched); --kubeconfig=/x" in calls()[0]


@pytest.mark.parametrize("namespace", ["-A", "Shop", "", "a/b", "x" * 64, "--kubeconfig=x", "shop\n"])
def test_what_is_no_namespace_is_never_asked_for(server, namespace, tmp_path):
    """A text that cannot be a namespace is refused by its name before kubectl runs."""
    server()
    with pytest.raises(ValueError, match="cannot be a namespace") as found:
        Cluster.from_kubectl(namespaces=["shop", namespace])
    assert repr(namespace) in str(found.value)
    assert not (tmp_path / "calls").exists()


def test_what_may_not_be_listed_is_told_with_what_that_hides(server):
    """A kind that the user may not list is named with its effect, in the cluster's remarks and in the answers."""
    server(forbidden=["csinodes", "events"])
    c = Cluster.from_kubectl()
    hidden = "how many volumes a node can attach, and which topology its drivers know: limits are not checked"
    words = f"unread csinodes: you may not list them, so the answer does not tell {hidden}"
    assert words == c.remarks[0]
    assert words in c.why()[0].missing
    assert "Not read: csinodes, events; `.missing` says what that hides." in repr(c.why()[0])
    assert "unread events: you may not list them, so the answer does not tell what would only help to understand" == c.remarks[1]


def test_a_kind_that_was_listed_and_is_empty_is_not_missing(server):
    """Of a live cluster without Services it is known that it has none; a saved dump may lack them."""
    server()
    assert any(one.kind.name == "Service" for one in Cluster.from_manifests(DUMPS[0]).loaded_manifests.missing_kinds())
    assert () == Cluster.from_kubectl().loaded_manifests.missing_kinds()


def test_a_server_without_a_kind_has_none(server):
    """A kind that the server does not know is no failure."""
    server(has_not=["csistoragecapacities"])
    assert () == Cluster.from_kubectl().remarks


def test_one_namespace_hides_the_pods_of_others(server):
    """Of the asked namespaces all objects are read, nodes too, and it is said that nodes look emptier than they are."""
    calls = server()
    some = Cluster.from_manifests(DUMPS[0]).objects("pods")[0].metadata.namespace
    c = Cluster.from_kubectl(namespaces=some)
    assert {some} == {pod.metadata.namespace for pod in c.objects("pods")}
    assert c.objects("nodes")
    assert c.remarks[0].startswith("unread objects of other namespaces: nodes look emptier than they are")
    assert not any("--all-namespaces" in call for call in calls())
    assert ["get", "nodes", "--output=json", "--chunk-size=500", "--request-timeout=60s"] in calls()


def test_a_kind_forbidden_in_one_of_two_namespaces(server):
    """A kind that may be listed in one namespace and not in the other is told with the namespace."""
    some = Cluster.from_manifests(DUMPS[0]).objects("pods")[0].metadata.namespace
    server(forbidden=["pods in elsewhere"])
    c = Cluster.from_kubectl(namespaces=[some, "elsewhere"])
    assert c.objects("pods")
    assert "unread pods in elsewhere: you may not list them" in c.remarks[1]


@pytest.mark.parametrize("how", ["page", "cut", "killed"])
def test_a_list_that_fails_once_is_asked_for_again(server, how):
    """A page that fails, output that ends too early and a kubectl that is killed are asked for a second time."""
    calls = server(failing={"pods": (how, 1)})
    c = Cluster.from_kubectl()
    assert len(Cluster.from_manifests(DUMPS[0]).objects("pods")) == len(c.objects("pods"))
    assert 2 == sum(call[1] == "pods" for call in calls())


@pytest.mark.parametrize(("how", "words"), [
    ("page", "(Expired): The provided continue parameter is too old\N{REPLACEMENT CHARACTER}[2J to display"),
    ("cut", "its output ends too early, after "), ("killed", "it ended with code -6 and no word")])
def test_a_list_that_fails_twice_ends_it(server, how, words):
    """The error names the command and repeats kubectl's words without what a terminal acts on; half a list is not used."""
    server(failing={"pods": (how, 2)})
    with pytest.raises(KubectlError) as found:
        Cluster.from_kubectl()
    assert str(found.value).startswith("kubectl get pods --all-namespaces failed twice, so nothing was read: ")
    assert words in str(found.value)


def test_who_may_list_nothing_reads_nothing(server):
    """A user who may list no kind at all gets one error, not an empty cluster."""
    server(forbidden=["everything"])
    with pytest.raises(KubectlError, match="you may list none of nodes, pods"):
        Cluster.from_kubectl()


def test_who_may_list_one_kind_reads_it(server):
    """A user who may list nothing but the pods of a namespace gets these, and is told what that hides."""
    some = Cluster.from_manifests(DUMPS[0]).objects("pods")[0].metadata.namespace
    server(forbidden=[kind.plural for kind in KINDS if kind.name != "Pod"])
    c = Cluster.from_kubectl(namespaces=some)
    assert c.objects("pods")
    assert any(remark.startswith("unread nodes: you may not list them") for remark in c.remarks)


def test_without_kubectl_there_is_one_clear_line(monkeypatch, tmp_path):
    """Without the program the terminal says so in one line, with the command that saves a dump elsewhere."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = CliRunner().invoke(main, ["why", "--live"])
    assert 2 == found.exit_code
    assert f"Error: no program 'kubectl' is found: install it, or save a dump where it is: {DUMP_COMMAND}\n" == found.output


def test_the_terminal_answers_for_a_live_cluster(server):
    """`kvolsched why --live` prints what `kvolsched why DUMP` prints, and on standard error what was not read."""
    server(forbidden=["namespaces"])
    live = CliRunner().invoke(main, ["why", "--live", "--context", "kind-shop"])
    assert 0 == live.exit_code
    assert "unread namespaces: you may not list them" in live.stderr
    assert CliRunner().invoke(main, ["why", str(DUMPS[0])]).stdout == live.stdout


@pytest.mark.parametrize("words", [[], ["--context", "x"], ["--live", str(DUMPS[0])], [str(DUMPS[0]), "-n", "shop"]])
def test_a_dump_or_a_live_cluster(words):
    """Neither a dump nor `--live`, both, or a context without `--live`: a usage error that shows both forms."""
    found = CliRunner().invoke(main, ["why", *words])
    assert 2 == found.exit_code
    assert "name a DUMP, or ask a real cluster: --live [--context NAME] [-n NAMESPACE]" in found.stderr
