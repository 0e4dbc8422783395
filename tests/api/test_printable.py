"""No character of somebody else's file that a terminal would obey, or hide, is ever printed as it stands."""

import json
import re
import sys
import unicodedata
from functools import cache

import pytest
from click.testing import CliRunner

from kvolsched import ApplyRefused, Cluster, ManifestError, UnknownName
from kvolsched.api import notebook_output
from kvolsched.api.notebook_output import printable
from kvolsched.api.text.manifest import read, write
from kvolsched.cli import main
from kvolsched.kubectl import describe

UNPRINTABLE = re.compile(f"[{notebook_output.UNPRINTABLE}]")


@cache
def hiding():
    """Return all characters that control or hide; of more than a million, so only who asks for them looks."""
    return [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def test_the_characters_are_those_of_unicode():
    """Control and format characters, halves of pairs and line separators are codes; others, line feed and tab stay."""
    stay = {"\n", "\t"}

    assert [] == [char for char in hiding() if (printable(char) == char) != (char in stay)]
    assert "".join(stay) + "é\u00a0…\U0001f600{}" == printable("".join(stay) + "é\u00a0…\U0001f600{}")


def test_python_reads_the_codes_back():
    """What is printed of a character names it."""
    assert hiding() == [char if char in "\n\t" else printable(char).encode().decode("unicode_escape") for char in hiding()]


def test_in_a_notebook_tables_scroll_and_sentences_wrap():
    """A paragraph with columns keeps its lines, those beside it wrap between words, and no character is lost."""
    sentence, table = "Who looks at both?\n   And when?", "name  1  2\nhere  ✓  ✕"
    alone, both = notebook_output.as_html(table), notebook_output.as_html(f"{table}\n\n{sentence}")

    assert ("pre-wrap" in alone, alone.count("\n")) == (False, 1)
    assert both.count("pre-wrap") == 3  # the empty line and two lines of the sentence
    assert re.findall(r">([^<]+)<", both) == [table, " ", *sentence.split("\n")]


def test_a_sentence_is_wrapped_by_the_page_alone():
    """Ends of lines that printing made are taken out, those of items and headings stay; a row's message wraps, too."""
    long = "Scheduler judges db, pass 1: 2 of 2 nodes fit, it chooses node-1. It assumes the pod there, and pv/ssd-1"
    told = f"  1. {long}\n     and pv/hdd-1.\n  2. {long}:\n     - one\n     - two"
    shown = re.findall(r">([^<]+)<", notebook_output.as_html(told))
    row = "  Warning  FailedScheduling  0s  default-scheduler  0/2 nodes are available: 2 Insufficient cpu, and no more."
    table = notebook_output.as_html(f"  Type     Reason            Age\n{row}")

    assert shown == [f"  1. {long} and pv/hdd-1.", f"  2. {long}:", "     - one", "     - two"]
    assert table.count("pre-wrap") == 1
    assert row in table


# -- a dump with them everywhere ------------------------------------------------------------------------------------------

BAD = "\x1b[31mred\x07\x9b1m\u202egpj\u200b\ufeff\U000e0041\x7f\u2066"  # in texts that a server stores as they are
NAME = "\u202egpj\u200bx"  # in names: those with control characters are refused when a dump is loaded
META = {"labels": {"app": "web", BAD: BAD}, "annotations": {BAD: BAD, "kubernetes.io/change-cause": BAD}}
CONTAINER = {"name": NAME, "image": BAD, "command": [BAD], "env": [{"name": BAD, "value": BAD}], "resources": {"requests": {"cpu": "1"}}}
STATUS = {"phase": "Pending", "reason": BAD, "message": BAD, "conditions": [
    {"type": "PodScheduled", "status": "False", "reason": BAD, "message": BAD}, {"type": BAD, "status": BAD}]}


def obj(kind, name, api_version="v1", **fields):
    """Return an object with the characters in its labels and annotations."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **META, **fields.pop("metadata", {})}, **fields}


def hostile():
    """Return the objects of a dump that somebody made to deceive its reader."""
    node = obj("Node", f"n{NAME}", spec={"taints": [{"key": BAD, "value": BAD, "effect": "NoSchedule"}]}, status={
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", BAD: "1"}, "nodeInfo": {"osImage": BAD, "kernelVersion": BAD},
        "addresses": [{"type": "InternalIP", "address": BAD}], "conditions": [{"type": "Ready", "status": "True", "reason": BAD, "message": BAD}]})
    free = obj("Node", "free", status={"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}})
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": f"c{NAME}"}}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": BAD, "operator": "In", "values": [BAD + "x"]}]}]}}}
    spread = [{"maxSkew": 1, "topologyKey": BAD, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {BAD: BAD}}}]
    pods = [
        obj("Pod", f"a{NAME}", spec={"containers": [CONTAINER], "affinity": affinity}, status=STATUS),
        obj("Pod", f"b{NAME}", spec={"containers": [CONTAINER], "volumes": [claim], "nodeSelector": {BAD: BAD}}, status=STATUS),
        obj("Pod", f"d{NAME}", spec={"containers": [CONTAINER], "topologySpreadConstraints": spread, "priorityClassName": BAD}),
        obj("Pod", f"e{NAME}", spec={"containers": [CONTAINER], "nodeName": f"n{NAME}", "schedulingGates": []}, status={**STATUS, "phase": "Running"}),
        obj("Pod", f"g{NAME}", spec={"containers": [CONTAINER], "schedulingGates": [{"name": BAD}], "schedulerName": BAD}),
        obj("Pod", "plain", spec={"containers": [CONTAINER]}),
    ]
    event = obj("Event", f"e{NAME}", type=BAD, reason=BAD, message=BAD, source={"component": BAD}, count=3,
                involvedObject={"kind": "Pod", "name": f"a{NAME}", "namespace": "default"}, lastTimestamp="2026-01-01T00:00:00Z")
    storage = [
        obj("StorageClass", f"s{NAME}", "storage.k8s.io/v1", provisioner=BAD, parameters={BAD: BAD}, volumeBindingMode="WaitForFirstConsumer"),
        obj("PersistentVolumeClaim", f"c{NAME}", spec={"storageClassName": f"s{NAME}", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}),
        obj("PersistentVolume", f"v{NAME}", spec={"storageClassName": f"s{NAME}", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                                                 "csi": {"driver": BAD, "volumeHandle": BAD}}, status={"phase": "Available", "reason": BAD, "message": BAD}),
    ]
    template = {"metadata": META, "spec": {"containers": [CONTAINER]}}
    workloads = [obj(kind, f"w{NAME}", "apps/v1", spec={"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template})
                 for kind in ("Deployment", "StatefulSet", "ReplicaSet", "DaemonSet")]
    others = [obj("Service", f"s{NAME}", spec={"selector": {BAD: BAD}, "ports": [{"port": 80, "name": BAD}]}),
              obj("Namespace", f"n{NAME}"), obj("Kafka", NAME, BAD, spec={BAD: BAD})]
    return [node, free, *storage, *pods, event, *workloads, *others]


@cache
def clusters():
    """Return a cluster of that dump after a few steps, and a fork that has gone on."""
    c = Cluster.from_manifests(hostile())
    c.run(steps=40)
    other = c.fork()
    other.stop_nodes(f"n{NAME}")
    other.run(steps=20)
    return c, other


A, GATED = f"a{NAME}", f"g{NAME}"
KINDS = "pods,nodes,pvc,pv,sc,deploy,sts,rs,ds,svc,events,ns"
ANSWERS = {
    "cluster": lambda c, _: c, "why": lambda c, _: c.why(), "why of one": lambda c, _: c.why(A), "why of a claim's": lambda c, _: c.why(f"b{NAME}"),
    "fix": lambda c, _: c.fix(A), "story": lambda c, _: c.story(f"pod/{A}"), "passes": lambda c, _: c.passes(A), "fits": lambda c, _: c.fits(A),
    "events": lambda c, _: c.events(), "map": lambda c, _: c.map(), "map of a label": lambda c, _: c.map(BAD), "timeline": lambda c, _: c.timeline(),
    "writes": lambda c, _: c.writes(), "changes": lambda c, _: c.changes(), "series": lambda c, _: c.series(), "requests": lambda c, _: c.requests(),
    "where": lambda c, _: c.where("kubernetes.io/hostname"), "pools": lambda c, _: c.pools(), "mounts": lambda c, _: c.mounts(), "visits": lambda c, _: c.visits(), "next": lambda c, _: c.next,
    "step": lambda c, _: c._last_step, "domains": lambda c, _: c.domains(BAD), "skew": lambda c, _: c.skew(f"pod/d{NAME}"),
    "capacity": lambda c, _: c.capacity(), "verdicts": lambda c, _: c.verdicts(A), "verdict": lambda c, _: c.verdicts(A, f"n{NAME}", "NodeAffinity"),
    "get": lambda c, _: c.get(KINDS), "wide": lambda c, _: c.get(KINDS, wide=True, show_labels=True), "names": lambda c, _: c.get("pods", output="name"),
    "yaml": lambda c, _: c.get(KINDS, output="yaml"), "json": lambda c, _: c.get(KINDS, output="json"), "manifests": lambda c, _: c.manifests(),
    "manifests as json": lambda c, _: c.manifests(form="json"), "written": lambda c, _: c.written(), "may": lambda c, _: c.may(GATED),
    "diff": lambda c, other: c.diff(other), "lab": lambda c, _: c.lab(text=True), "predict": lambda c, _: c.predict(pod=A),
    "workbench": lambda c, _: c.may(GATED, edit=True), "run": lambda _, other: other.fork().run(steps=20),
    **{f"describe {kind}": lambda c, _, kind=kind: describe(c, kind) for kind in KINDS.split(",") if kind != "pods"},
    **{words: lambda c, _, words=words: c.kubectl(words) for words in (
        "describe pods", f"get pod {A} -o jsonpath={{.metadata.annotations}}", "get pods -o custom-columns=X:.metadata.labels", f"get pod '{BAD}'",
        "get pods --sort-by=.status.reason -o json", f"label pod {A} x=y", f"drain n{NAME}", f"taint node n{NAME} '{BAD}'")},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_no_answer_prints_them(name):
    """Whatever is asked of such a dump, no text of the answer has one: printed, in a notebook, or in a picture."""
    answer = ANSWERS[name](*clusters())
    forms = {"repr": repr(answer), "str": str(answer), "svg": getattr(answer, "svg", "")}
    if hasattr(answer, "_repr_mimebundle_"):
        bundle = answer._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle  # the other is metadata
        forms |= {form: text for form, text in data.items() if isinstance(text, str)}
    if isinstance(answer, str):
        forms["repr"] = ""  # Python escapes it

    assert {} == {form: ascii(found[0]) for form, text in forms.items() if (found := UNPRINTABLE.search(text))}


def test_a_saved_page_has_none_of_them(tmp_path):
    """The page of a run, that anybody may open."""
    c = Cluster.from_manifests(hostile())
    c.run(steps=4)
    page = c.lab().save(tmp_path / "run.html").read_text("utf-8")

    assert UNPRINTABLE.search(page) is None


@pytest.mark.parametrize("ask", [
    lambda c: c["pod/none"], lambda c: c.why("none"), lambda c: c.step("none"), lambda c: c.step(cause="none"), lambda c: c.map("none"),
    lambda c: c.cordon(f"n{NAME}"), lambda c: c.label(f"pod/{A}", "x=y"), lambda c: c.get("pods", name="none"), lambda c: describe(c, "pod", "none"),
    lambda c: c.apply(obj("Pod", BAD, spec={BAD: BAD})), lambda _: Cluster.from_manifests(obj("Node", BAD)), lambda c: c[f"pod/{BAD}"],
])
def test_no_error_prints_them(ask):
    """What an error lists, or repeats, has none of them either."""
    with pytest.raises((UnknownName, ApplyRefused, ManifestError)) as caught:
        ask(clusters()[0].fork())

    assert UNPRINTABLE.search("\n".join([str(caught.value), *caught.value._render_traceback_()])) is None


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_is_written_is_read_back(form):
    """Manifests have codes for them that mean the same; so has the output of kubectl."""
    objects = read(hostile(), lenient=True).objects

    assert objects == read(write(objects, form), lenient=True).objects
    printed = repr(clusters()[0].get("pods", output=form))
    assert [pod.metadata.labels for pod in clusters()[0].objects("pods")] == [pod.metadata.labels for pod in read(printed, lenient=True).objects]


COMMANDS = [
    ["why", "DUMP"], ["why", "DUMP", "--fix"], ["why", "DUMP", "--pod", A], ["why", "DUMP", "--pod", BAD], ["get", "DUMP", "pods", "--show-labels"],
    ["get", "DUMP", KINDS, "-o", "yaml"], ["get", "DUMP", KINDS, "-o", "json"], ["get", "DUMP", "pods", BAD], ["describe", "DUMP", "pods"],
    ["describe", "DUMP", "nodes"], ["check", "POD", "--cluster", "CALM"], ["check", "POD", "--cluster", "CALM", "--json"], ["check", "CALM", "--cluster", "CALM"],
    ["check", "POD", "--cluster", "CALM", "--without", BAD], ["decode", f"0/2 nodes are available: 2 {BAD}."], ["redact", "DUMP"], ["why", "FAULTY"],
    ["why", "DUMP", "TWICE"], ["run", BAD], ["why", BAD], ["conform", "FAULTY"], ["bench", BAD], ["explore", BAD],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: ascii(" ".join(words))[:40])
def test_no_command_prints_them(tmp_path, words):
    """Neither output nor errors of the command line."""
    (tmp_path / "dump.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": hostile()}))
    calm = [each for each in hostile() if each["kind"] in ("Pod", "StorageClass", "Event") or each["metadata"]["name"] == "free"]
    calm = [each for each in calm if "nodeName" not in each.get("spec", {})]  # of others controllers would try to write for a day
    (tmp_path / "calm.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": calm}))
    (tmp_path / f"faulty{NAME}.yaml").write_text(json.dumps(obj("Pod", BAD, **{BAD: BAD})))
    (tmp_path / "pod.yaml").write_text(json.dumps(obj("Pod", "new", metadata={"labels": {"a": "b"}, "annotations": {"a": BAD}}, spec={"containers": [{"name": "c", "image": "x"}], "nodeSelector": {"a": "b"}})))
    files = {"DUMP": "dump.yaml", "FAULTY": f"faulty{NAME}.yaml", "TWICE": "dump.yaml", "CALM": "calm.yaml", "POD": "pod.yaml"}
    done = CliRunner().invoke(main, [str(tmp_path / files[word]) if word in files else word for word in words])

    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.output
    assert UNPRINTABLE.search(done.output) is None
