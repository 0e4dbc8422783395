"""`decode`: what a pasted sentence of Kubernetes says, without a cluster."""

import ast
import gzip
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
import store_sentences
from click.testing import CliRunner

import kvolsched
from kvolsched import Decoded, decode
from kvolsched.cli import main
from kvolsched.questions.decode.decoding import counted_clauses
from kvolsched.questions.decode.table import MEANINGS
from kvolsched.rules.named import REVISIONS
from kvolsched.scheduler.framework.verdict import Reason

ROOT = Path(__file__).parent.parent
RECORDED = ROOT / "conformance"
PLUGINS = Path(kvolsched.__file__).parent / "scheduler" / "plugins"
TYPES = {"NotSupported": "Unsupported value", "Invalid": "Invalid value", "Required": "Required value",
         "Duplicate": "Duplicate value", "Forbidden": "Forbidden", "NotFound": "Not found", "TooLong": "Too long",
         "TooMany": "Too many", "TypeInvalid": "Invalid value"}  # fmt: skip

# Messages about the whole pod, as they begin in the plugins' sources.
MESSAGE = re.compile(r"(persistentvolume\S*|PersistentVolume\S*|PVC|storageclass\S*|waiting for|pod has|not eligible) .* .*")
SUMMARY = ("0/5 nodes are available: 1 node(s) had untolerated taint {a: b, 3 c}, 1 node(s) were unschedulable, "
           "3 Insufficient cpu. no new claims to deallocate, preemption: 0/5 nodes are available: "
           "2 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod.")  # fmt: skip
# Sentences of many releases and components, one a line: also those that no recording has.
DOCUMENTED = (ROOT / "documented_sentences.txt").read_text(encoding="utf-8").splitlines()


def _sentences(found, plain):
    """Yield every message, error and reason of one recorded case, and the refusals as kubectl would print them."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            below = value if key != "rejections" else [each for reasons in value.values() for each in reasons]
            if key == "rejections" or key in ("message", "error", "reasons"):
                found |= {each for each in (below if isinstance(below, list) else [below])
                          if isinstance(each, str) and " " in each}  # fmt: skip
            if key == "errors" and isinstance(value, list):
                found |= {_refusal(each) for each in value if len(each) == 4 or isinstance(each, str)}
            _sentences(found, value)
    elif isinstance(plain, list):
        for each in plain:
            _sentences(found, each)
    return found


def _refusal(error):
    """Return a recorded error [path, type, value, detail] in the words of the API server."""
    if isinstance(error, str):
        return error
    path, kind, value, detail = error
    shown = "" if kind in ("Required", "Forbidden") else f"{json.dumps(value)}"
    return ": ".join(part for part in (path, TYPES.get(kind, kind), shown, detail) if part)


def _recorded():
    """Return every recorded sentence: of cases, traces, refused writes and what kubectl printed."""
    found = set()
    for path in sorted(RECORDED.glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            _sentences(found, json.loads(line))
    for path in [*sorted(RECORDED.glob("traces/*.json")), RECORDED / "refusals.json"]:
        _sentences(found, json.loads(path.read_text(encoding="utf-8")))
    return found


def _events_of_kubectl():
    """Return every line of an event that kubectl printed: (line, message)."""
    found = []
    for path in sorted(RECORDED.glob("kubectl/*/*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            words = re.split(r"\s{2,}", line.strip())
            if {"Normal", "Warning"} & set(words[:3]) and len(words) >= 4:
                found.append((line, words[-1]))
    return found


def test_every_recorded_sentence_is_decoded_whole():
    """No clause of a recorded message, reason, error or refusal is left over, and every row says a rule and a cause."""
    sentences = _recorded()
    decoded = [decode(sentence) for sentence in sorted(sentences)]

    assert len(sentences) > 1000
    assert {} == {found.sentence: found.unknown for found in decoded if found.unknown}
    assert all(row.plugin and row.rule and row.cause for found in decoded for row in found)


def test_lines_of_kubectl_are_read():
    """The columns that kubectl prints before a message are taken off, in `describe` and in `get events`."""
    lines = _events_of_kubectl()

    assert len(lines) > 100
    assert [] == [line for line, message in lines if decode(line).sentence != message or decode(line).unknown]


@pytest.mark.parametrize("sentence", DOCUMENTED)
def test_documented_sentences_are_decoded_whole(sentence):
    """Sentences of older releases and of components outside the recordings have rows as well."""
    assert () == decode(sentence).unknown


def _declared_by_plugins():
    """Return the reasons that the shipped plugins hold, in every revision, also for single releases and gates."""
    found = set()

    def walk(value, seen):
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, Reason):
            found.add(value.text)
        elif attrs.has(type(value)):
            for field in attrs.fields(type(value)):
                walk(getattr(value, field.name, None), seen)
        elif isinstance(value, tuple | list | dict | frozenset):
            for each in value.values() if isinstance(value, dict) else value:
                walk(each, seen)

    for revision in REVISIONS.values():
        walk((revision() if callable(revision) else revision).profile, set())
    return found


def _written_in_plugins():
    """Return the reasons and messages that the sources of the plugins write, placeholders as a name."""
    found = set()
    for path in PLUGINS.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if node in parts:
                continue
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Reason":
                found.add(_text(node.args[1]))
            elif isinstance(node, ast.JoinedStr | ast.Constant):
                text = _text(node)
                if MESSAGE.match(text) and "|" not in text and "\n" not in text:  # no annotation, no docstring
                    found.add(text)
    return {text for text in found if text}


def _text(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_every_reason_of_the_plugins_has_a_row():
    """A plugin cannot be shipped with a reason that `decode` does not know."""
    reasons = _declared_by_plugins() | _written_in_plugins()

    assert len(reasons) > 25
    assert [] == sorted(each for each in reasons if each and decode(f"0/1 nodes are available: 1 {each}.").unknown)


def test_the_stored_table_is_what_the_files_say():
    """What is read at run time was made of the rows that people edit: `python tests/store_sentences.py` makes it again."""
    assert store_sentences.text() == store_sentences.TARGET.read_text(encoding="utf-8")


def test_rows_are_whole():
    """Every row of the table names its writer, a rule of one line, a cause, and a kubectl line or none."""
    rows = [*MEANINGS, *(case for row in MEANINGS for _, case in row.cases)]
    assert [] == [row.sentences for row in MEANINGS if not row.sentences]
    assert [] == [row for row in rows if not (row.plugin and row.rule and row.cause)]
    assert [] == [row.rule for row in rows if "\n" in row.rule + row.cause + row.next_line or len(row.rule) > 130]
    assert [] == [row.next_line for row in rows if row.next_line and not row.next_line.startswith("kubectl ")]


@pytest.mark.parametrize(("taint", "rule", "asked"), [
    ("node.kubernetes.io/unreachable: ", "silent", "describe node .*/unreachable/"),
    ("node.kubernetes.io/not-ready: ", "not Ready", "describe node .*/not-ready/"),
    ("node.kubernetes.io/disk-pressure: ", "short of disk", "describe node .*/disk-pressure/"),
    ("node.cloudprovider.kubernetes.io/uninitialized: true", "not set up yet", "describe node .*/uninitialized/"),
    ("ToBeDeletedByClusterAutoscaler: 1700000000", "about to remove", "describe node .*/ToBeDeletedByClusterAutoscaler/"),
    ("karpenter.sh/disrupted: ", "about to remove", "describe node .*/disrupted/"),
    ("node.kubernetes.io/unschedulable: ", "spec.unschedulable", "get nodes"),
    ("node-role.kubernetes.io/control-plane: ", "control plane", "get nodes"),
    ("dedicated: db", "tolerate", "tolerations"),
    ("nvidia.com/gpu: present", "tolerate", "tolerations"),
])  # fmt: skip
@pytest.mark.parametrize("words", ["node(s) had untolerated taint {%s}", "node(s) had taint {%s}, that the pod didn't tolerate"])
def test_a_taint_that_a_sentence_names_is_read(words, taint, rule, asked):
    """A sick node, one that goes away, a closed one and one that is kept for others differ in rule and next command."""
    row = decode(f"0/2 nodes are available: 2 {words % taint}.")[0]

    assert ("TaintToleration", 2) == (row.plugin, row.count)
    assert rule in row.rule
    assert re.search(asked, row.next_line)


def test_a_sick_node_and_a_kept_one_lead_to_other_incidents():
    """The incidents of a named taint are those whose nodes have one of its kind."""
    sick, kept = (decode(f"node(s) had untolerated taint {{{key}: }}")[0].incidents
                  for key in ("node.kubernetes.io/unreachable", "node-role.kubernetes.io/control-plane"))  # fmt: skip

    assert "dead-zone" in sick
    assert "control-plane-counts-as-host" in kept
    assert not set(sick) & set(kept)


@pytest.mark.parametrize(("sentence", "answers"), [
    ("pod has unbound immediate PersistentVolumeClaims", "kubectl describe pvc"),
    ("node(s) exceed max volume count", "kubectl get volumeattachments"),
    ("node(s) didn't satisfy existing pods anti-affinity rules", ".spec.affinity.podAntiAffinity"),
    ("Insufficient nvidia.com/gpu", "nvidia.com/gpu"),
])  # fmt: skip
def test_the_next_command_shows_what_the_sentence_does_not(sentence, answers):
    """What is typed next has the events, attachments, labels or amounts that decide."""
    assert answers in decode(sentence)[0].next_line


@pytest.mark.parametrize(("paste", "plugins"), [
    ("NotTriggerScaleUp: pod didn't trigger scale-up: 1 Insufficient cpu", ["cluster autoscaler", "NodeResourcesFit"]),
    ("Pod didn't trigger scale-up: 1 Insufficient cpu", ["cluster autoscaler", "NodeResourcesFit"]),
    ('ProvisioningFailed: storageclass.storage.k8s.io "fast" not found', ["PV controller"]),
    ("Warning Moon: the moon is full", [""]),
])  # fmt: skip
def test_a_reason_or_a_capital_in_front_hides_no_sentence(paste, plugins):
    """An event's reason before a sentence is taken off if the sentence is known, and a first letter may be a capital."""
    assert plugins == [row.plugin for row in decode(paste)]


@pytest.mark.parametrize("front", ["", " (it wouldn't fit if a new node is added)"])
def test_what_an_autoscaler_counts_is_explained_reason_by_reason(front):
    """Each reason behind the colon has a row, which counts node groups."""
    found = decode(f"pod didn't trigger scale-up{front}: 1 Insufficient memory, 2 node(s) had volume node affinity conflict, "
                   "3 node(s) had untolerated taint {workload: web}, 1 max node group size reached")  # fmt: skip

    assert [("cluster autoscaler", ""), ("NodeResourcesFit", "1 node group"), ("VolumeBinding", "2 node groups"),
            ("TaintToleration", "3 node groups"), ("cluster autoscaler", "1 node group")] == [
                (row.plugin, row.where) for row in found]  # fmt: skip
    assert () == found.unknown


def test_a_reason_of_an_autoscaler_that_is_not_known_is_quoted():
    """What another autoscaler counts is said to be unknown; the reasons beside it are decoded."""
    found = decode("pod didn't trigger scale-up: 1 the moon is full, 1 Insufficient cpu")

    assert ("the moon is full",) == found.unknown
    assert "NodeResourcesFit" == found[2].plugin


def test_a_terminal_is_told_commands():
    """What to play is a command of the terminal there, and Python elsewhere."""
    sentence = "0/2 nodes are available: 2 node(s) exceed max volume count."
    typed = CliRunner().invoke(main, ["decode", sentence]).output

    assert "kvolsched incidents --play attach-limit" in typed
    assert "kvolsched why" in typed
    assert "kvolsched.incident(" not in typed
    assert 'kvolsched.incident("attach-limit")' in repr(decode(sentence))
    assert "kvolsched why" not in repr(decode(sentence))


def test_clauses_are_counted_and_named():
    """Each clause has its count, its plugin and its part; a comma in braces parts nothing."""
    found = decode(SUMMARY)

    assert isinstance(found, Decoded)
    assert [
        (1, "TaintToleration", "nodes"), (1, "NodeUnschedulable", "nodes"), (3, "NodeResourcesFit", "nodes"),
        (None, "DynamicResources", ""), (2, "DefaultPreemption", "preemption"), (3, "DefaultPreemption", "preemption"),
    ] == [(row.count, row.plugin, row.part) for row in found]  # fmt: skip
    assert "node(s) had untolerated taint {a: b, 3 c}" == found[0].clause
    assert {5} == {row.size for row in found}


def test_an_unknown_clause_is_quoted():
    """A clause that no row knows is quoted and said to be unknown; the clauses around it are decoded."""
    found = decode("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) failed the moon phase, said luna.")

    assert ("node(s) failed the moon phase, said luna",) == found.unknown
    assert [True, False] == [row.known for row in found]
    assert "“node(s) failed the moon phase, said luna”" in repr(found)
    assert "Unknown" in repr(found)


def test_wrapped_errors_are_decoded_one_by_one():
    """An error within an error has a row each, from the outer to the inner."""
    found = decode('running PreBind plugin "VolumeBinding": binding volumes: failed to get node "n1": node "n1" not found')

    assert 3 == len(found)
    assert "kubectl get node n1" == found[2].next_line


def test_a_cut_message_says_so():
    """The last clause of a message that was cut at the limit of events is quoted and said to be cut."""
    found = decode("0/9 nodes are available: 4 Insufficient cpu, 5 node(s) had untolerated ta ...")

    assert () == found.unknown
    assert "was cut here" in found[1].rule


@pytest.mark.parametrize(("paste", "read"), [
    ("0/5 nodes are available: ...", [("0/5 nodes are available: ...", "", True)]),
    ("0/5 nodes are available: …", [("0/5 nodes are available: …", "", True)]),
    ("0/5 nodes are available", [("0/5 nodes are available", "", True)]),
    ("0/5 nodes are available: 2 Insufficient cpu ...", [("Insufficient cpu", "NodeResourcesFit", False), ("...", "", True)]),
    ("0/5 nodes are available: 2 Insufficient cpu, …", [("Insufficient cpu", "NodeResourcesFit", False), ("…", "", True)]),
    ("0/5 nodes are available: 2 Insufficient cpu...", [("Insufficient cpu", "NodeResourcesFit", False), ("...", "", True)]),
    ("0/5 nodes are available: 5 node(s) had…", [("node(s) had…", "", True)]),
    ("0/5 nodes are available: 5 node(s) had volume node aff…", [("node(s) had volume node aff…", "VolumeBinding", True)]),
    ("0/5 nodes are available: 5 node(s) had untolerated taint {a:...", [
        ("node(s) had untolerated taint {a:...", "TaintToleration", True)]),
    ("0/5 nodes are available: 3 node(s) ..., 2 Insufficient cpu.", [
        ("node(s) ...", "", True), ("Insufficient cpu", "NodeResourcesFit", False)]),
    ("0/5 nodes are available: 2 Insufficient cpu. preemption: ...", [
        ("Insufficient cpu", "NodeResourcesFit", False), ("...", "", True)]),
    ("…2 Insufficient cpu.", [("…", "", True), ("Insufficient cpu", "NodeResourcesFit", False)]),
    ("0/5 nodes are available: [...] 2 Insufficient cpu [...]", [
        ("[...]", "", True), ("Insufficient cpu", "NodeResourcesFit", False), ("[...]", "", True)]),
    ('running PreBind plugin "VolumeBinding": binding volumes: ...', [
        ('running PreBind plugin "VolumeBinding": binding volumes:', "kube-scheduler", False),
        ("binding volumes:", "VolumeBinding", True)]),
    ("pod has unbound immediate PersistentVolumeClaims…", [
        ("pod has unbound immediate PersistentVolumeClaims", "VolumeBinding", False), ("…", "", True)]),
    ("Waiting for 1 pods to be ready...", [("Waiting for 1 pods to be ready", "kubectl", False)]),
    ("pod didn't trigger scale-up: 2 Insufficient cpu, 1 Insuf...", [
        ("pod didn't trigger scale-up: 2 Insufficient cpu, 1 Insuf", "cluster autoscaler", False),
        ("Insufficient cpu", "NodeResourcesFit", False), ("Insuf", "", True)]),
    ("pod didn't trigger scale-up: 2 Insufficient cpu...", [
        ("pod didn't trigger scale-up: 2 Insufficient cpu", "cluster autoscaler", False),
        ("Insufficient cpu", "NodeResourcesFit", False), ("...", "", True)]),
])  # fmt: skip
def test_a_paste_with_dots_is_read_as_far_as_it_goes(paste, read):
    """What a cut paste holds is decoded, each place of a cut is said to be one, and dots that kubectl writes are none."""
    found = decode(paste)

    assert read == [(row.clause, row.plugin, row.cut) for row in found]
    assert () == found.unknown
    assert all("was cut here" in row.rule for row in found if row.cut)


def test_pastes_of_several_lines():
    """Lines of `kubectl describe` are one message each; a line that a terminal wrapped goes on with the last."""
    paste = """Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
  Warning  FailedScheduling  3m (x12 over 15m)  default-scheduler  0/2 nodes are available:
2 Insufficient memory.
  Normal   Scheduled         1m                 default-scheduler  Successfully assigned demo/web-0 to n1
"""
    found = decode(paste)

    assert ["NodeResourcesFit", "kube-scheduler"] == [row.plugin for row in found]
    assert "kubectl get pod web-0 -n demo -o wide" == found[1].next_line


CPU, DATA, HELP, VICTIMS = ("Insufficient cpu", 'persistentvolumeclaim "data" not found', "Preemption is not helpful for scheduling",
                            "No preemption victims found for incoming pod")  # fmt: skip
MISSING = "VolumeRestrictions, VolumeBinding"
FIELDS = "spec.x: Forbidden: a", "spec.containers[0].name: Required value"


@pytest.mark.parametrize(("paste", "sentence", "rows"), [
    ("1 node(s) were unschedulable", None, [("1 node", "node(s) were unschedulable", "NodeUnschedulable")]),
    ("2 node(s) were unschedulable", None, [("2 nodes", "node(s) were unschedulable", "NodeUnschedulable")]),
    (f"0/1 nodes are available: 1 {CPU}.", None, [("1 of 1 node", CPU, "NodeResourcesFit")]),
    (f"0/3 nodes are available: 1 {CPU}, 2 x. preemption: 0/3 nodes are available: 1 {HELP}, 2 {VICTIMS}.", None, [
        ("1 of 3 nodes", CPU, "NodeResourcesFit"), ("2 of 3 nodes", "x", ""), ("preemption: 1 of 3 nodes", HELP, "DefaultPreemption"),
        ("preemption: 2 of 3 nodes", VICTIMS, "DefaultPreemption")]),
    ("message: 'it''s \"odd\"'", 'it\'s "odd"', [("", 'it\'s "odd"', "")]),
    ('- "note": "persistentvolumeclaim \\"data\\" not found",', DATA, [("", DATA, MISSING)]),
    ("'", None, [("", "'", "")]), ('"a', None, [("", '"a', "")]), ("MESSAGE: x", "x", [("", "x", "")]),
    (f"Warning  FailedScheduling  pod/web-0  0/1 nodes are available: 1 {CPU}.", f"0/1 nodes are available: 1 {CPU}.", [
        ("1 of 1 node", CPU, "NodeResourcesFit")]),
    (f"LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n5m (x3 over 9m)   Warning   FailedScheduling   pod/web-0   {DATA}", DATA, [("", DATA, MISSING)]),
    ('[persistentvolumeclaim "a" not found, persistentvolumeclaim "b" not found]', None, [
        ("", 'persistentvolumeclaim "a" not found', MISSING), ("", 'persistentvolumeclaim "b" not found', MISSING)]),
    (f"0/2 nodes are available: 2 {CPU}. (repeated 3 times)", None, [("2 of 2 nodes", CPU, "NodeResourcesFit")]),
    ("node(s) were unschedulable\n  (repeated 3 times)", "node(s) were unschedulable (repeated 3 times)", [
        ("3 nodes", "node(s) were unschedulable", "NodeUnschedulable")]),
    (f"FailedScheduling  0/2 nodes are available: 2 {CPU}.", f"FailedScheduling 0/2 nodes are available: 2 {CPU}.", [
        ("2 of 2 nodes", CPU, "NodeResourcesFit")]),
    (f"blah 0/2 nodes are available: 2 {CPU}.", None, [("", "blah", ""), ("2 of 2 nodes", CPU, "NodeResourcesFit")]),
    (f"no new claims to deallocate, preemption: 0/2 nodes are available: 2 {HELP}.", None, [
        ("", "no new claims to deallocate", "DynamicResources"), ("preemption: 2 of 2 nodes", HELP, "DefaultPreemption")]),
    (f'Pod "a" is invalid: [{", ".join(FIELDS)}]', None, [
        ("", f'Pod "a" is invalid: [{", ".join(FIELDS)}]', "API server"), *(("", field, "API server") for field in FIELDS)]),
    (f"pod didn't trigger scale-up: 1 {CPU}, 2 max node group size reached", None, [
        ("", f"pod didn't trigger scale-up: 1 {CPU}, 2 max node group size reached", "cluster autoscaler"),
        ("1 node group", CPU, "NodeResourcesFit"), ("2 node groups", "max node group size reached", "cluster autoscaler")]),
    ("0/2 nodes are available: no new claims to deallocate.", None, [("", "no new claims to deallocate", "DynamicResources")]),
    (f"0/2 nodes are available: , 2 {CPU}", None, [("2 of 2 nodes", CPU, "NodeResourcesFit")]),
])  # fmt: skip
def test_a_paste_is_read_clause_by_clause(paste, sentence, rows):
    """Quotes, keys and columns are taken off; each clause has where it counts, its words, and who writes it, "" where nobody is known to."""
    found = decode(paste)

    assert (paste if sentence is None else sentence, rows) == (found.sentence, [(row.where, row.clause, row.plugin) for row in found])
    assert [row.clause for row in found if not row.plugin] == list(found.unknown)


@pytest.mark.parametrize(("paste", "command"), [
    (f"shop   5m   Warning   FailedScheduling   pod/web-0   {DATA}", "kubectl get pvc data -n shop"),
    (f"5m   Warning   FailedScheduling   pod/web-0   {DATA}", "kubectl get pvc data -n <namespace>"),
    ("shop 2m Warning ClaimLost persistentvolumeclaim/d Bound claim has lost its PersistentVolume. Data on the volume is lost!",
     "kubectl describe pvc d -n shop"),
    ("2m Warning VolumeFailedRecycle persistentvolume/v No recycler plugin found for the volume!", "kubectl describe pv v"),
    ("shop 5m Warning FailedScheduling pod/web-0 0/1 nodes are available: 1 node(s) had untolerated taint {a: b}.",
     "kubectl get pod web-0 -n shop -o jsonpath='{.spec.tolerations}'"),
])  # fmt: skip
def test_names_in_front_of_a_message_stand_in_the_command(paste, command):
    """The columns of `kubectl get events` name the object and its namespace, which the message need not."""
    assert command == decode(paste)[0].next_line


def test_words_in_front_of_a_summary():
    """An event's reason is taken off; what a log writes in front of a sentence is quoted as unknown."""
    sentence = "0/3 nodes are available: 3 Insufficient cpu."
    logged = decode(f'E0101 schedule_one.go:1] "Unable to schedule pod" err="{sentence}"')

    assert [(3, "NodeResourcesFit")] == [(row.count, row.plugin) for row in decode(f"FailedScheduling: {sentence}")]
    assert ['E0101 schedule_one.go:1] "Unable to schedule pod" err="', "Insufficient cpu"] == [row.clause for row in logged]
    assert 1 == len(logged.unknown)


def test_a_sentence_is_drawn_where_no_cluster_was_asked_for():
    """The first thing that a notebook asks may be a sentence: it is shown with its picture."""
    asked = "import kvolsched; print(sorted(kvolsched.decode('0/1 nodes are available: 1 Insufficient cpu.')._repr_mimebundle_()))"
    shown = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True).stdout

    assert "application/javascript" in shown


def test_the_line_to_copy_is_never_wrapped():
    """A kubectl line stands on one line of the text, however long."""
    found = decode("node(s) didn't match PersistentVolume's node affinity")

    assert f"  next    {found[0].next_line}" in repr(found).splitlines()


def test_a_message_of_yaml_or_json():
    """The key `message:` and its quotes are taken off."""
    sentence = 'persistentvolumeclaim "data" not found'

    assert sentence == decode(f"    message: '{sentence}'").sentence
    assert sentence == decode(f'  "message": {json.dumps(sentence)},').sentence


def test_names_that_are_no_names_stay_out_of_the_command():
    """What a paste calls a claim is put into the kubectl line only if Kubernetes allows such a name."""
    bad = 'persistentvolumeclaim "x;rm$IFS-rf" not found'

    assert "kubectl get pvc <claim> -n <namespace>" == decode(bad)[0].next_line
    assert "kubectl get pvc <claim> -n <namespace>" == decode('persistentvolumeclaim "--all" not found')[0].next_line


def test_hostile_text_is_shown_harmless():
    """Control characters and marks that turn text around stand escaped, and HTML is escaped."""
    found = decode("0/1 nodes are available: 1 <script>alert(1)</script>\x1b[31m\u202eevil.")

    assert "\x1b" not in repr(found) + found.figure().draw(828, "")
    assert "\u202e" not in repr(found)
    assert r"\x1b[31m\u202eevil" in found.unknown[0]
    assert "<script>" not in found.figure().draw(828, "")
    assert "&lt;script&gt;" in found.figure().draw(828, "")


@pytest.mark.parametrize("paste", [
    "0/1 nodes are available: " + "{" * 5000, "0/1 nodes are available: " + "1 a, " * 1500, "[" * 9000, '"' * 9999,
    'running a plugin "b": ' * 400, "preemption: " * 800, "0/1 nodes are available: " * 390, "a/" * 4999, "a: " * 3300,
    "Warning " * 1200, " " * 9000 + "x", "Normal" + " " * 9000 + "x", "Normal A 1s b" + " " * 9000 + "x", "0/999999999999 nodes are available: 99999999999 a",
])  # fmt: skip
def test_any_text_has_an_answer(paste):
    """Deep, long and broken texts are answered: what is not known is quoted."""
    assert len(decode(paste)) > 0


def test_random_texts_have_an_answer():
    """Sentences that are cut and mixed at random never fail, and no clause is invented."""
    draw = random.Random(7)
    for _ in range(300):
        text = "".join(draw.choice(DOCUMENTED)[draw.randrange(20):draw.randrange(20, 200)] for _ in range(3))
        assert all(row.clause for row in decode(text or "x"))


@pytest.mark.parametrize(("bad", "error", "words"), [
    (5, TypeError, "int is no text"), ("", ValueError, "has no words"), (" \n ", ValueError, "has no words"),
    ("x" * 10_001, ValueError, "must be at most 10000"),
])  # fmt: skip
def test_bad_input_is_one_error(bad, error, words):
    """What is no text, empty or too long is refused with one clear error."""
    with pytest.raises(error, match=words):
        decode(bad)


def test_the_text_is_wrapped():
    """The text of an answer keeps to the width of the other answers, but for a kubectl line or a long word."""
    lines = repr(decode(SUMMARY)).splitlines()

    assert [] == [line for line in lines if len(line) > 112 and not line.startswith("  next ")]


def test_the_command_line_decodes():
    """`kvolsched decode "..."` says what `decode` says, reads standard input, and ends with 1 if a clause is unknown."""
    known = CliRunner().invoke(main, ["decode", SUMMARY])
    piped = CliRunner().invoke(main, ["decode"], input=SUMMARY)
    unknown = CliRunner().invoke(main, ["decode", "0/1 nodes are available: 1 moon."])
    empty = CliRunner().invoke(main, ["decode", " "])

    said = [line for line in repr(decode(SUMMARY)).splitlines() if "kvolsched" not in line]
    assert (0, []) == (known.exit_code, [line for line in said if line not in known.output.splitlines()])
    assert known.output == piped.output
    assert (1, True) == (unknown.exit_code, "“moon”" in unknown.output)
    assert (2, True) == (empty.exit_code, "has no words" in empty.output)


@pytest.mark.parametrize(("body", "clauses"), [
    ("2 Insufficient cpu, 1 Insufficient memory", [(2, "Insufficient cpu"), (1, "Insufficient memory")]),
    ("1 untolerated taint {a: b, 3 c}, 2 Insufficient cpu", [(1, "untolerated taint {a: b, 3 c}"), (2, "Insufficient cpu")]),
    ("1 lost a bracket), 2 Insufficient cpu, 3 x", [(1, "lost a bracket)"), (2, "Insufficient cpu"), (3, "x")]),
    ("1 a ]})), 2 b (c, 3 d), 4 e", [(1, "a ]}))"), (2, "b (c, 3 d)"), (4, "e")]),
    ('1 said "a, 2 b", 3 c', [(1, 'said "a, 2 b"'), (3, "c")]),
    ("1 a, b, 2 c", [(1, "a, b"), (2, "c")]),
    ("no count, 2 c", [(None, "no count"), (2, "c")]),
    ("1 open (bracket, 2 c", [(1, "open (bracket, 2 c")]),
])
def test_clauses_part_at_counts_outside_of_brackets(body, clauses):
    """A comma before a count parts clauses, but not within brackets or quotes; a bracket too many closes nothing."""
    assert clauses == list(counted_clauses(body))


def test_a_bracket_too_many_hides_no_clause():
    """What follows a closing bracket that nothing opened is decoded like the rest."""
    found = decode("0/4 nodes are available: 1 node(s) were unschedulable), 3 Insufficient cpu.")

    assert 3 in [row.count for row in found]
    assert "NodeResourcesFit" in [row.plugin for row in found]
