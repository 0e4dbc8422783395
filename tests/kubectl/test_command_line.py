"""Whole kubectl commands: recorded texts of `get`, `describe` and `apply`, words of the other verbs, and every error."""

import json
from pathlib import Path

import attrs
import pytest

from kvolsched import Cluster, scenario, upstream
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import merge_patch
from kvolsched.kubectl import complete
from kvolsched.measure.conform import read
from kvolsched.measure.conform.kubectl import expected
from kvolsched.world.apiserver import Write, key_of
from kvolsched.world.runtime import Runtime

RECORDED = Path(__file__).parent.parent / "conformance"
CASES = sorted(path.name for path in (RECORDED / "kubectl").iterdir() if path.is_dir())
APPLIED = read(RECORDED / "apply.jsonl.gz")
FLAGS = {"-wide": "-o wide", "-show-labels": "--show-labels"}
WEB = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "app"}]}}},
}  # fmt: skip


@pytest.fixture
def cluster():
    """Return a cluster with four nodes, a pod on node-a and a bound claim."""
    found = scenario("zonal-example")
    found.run()
    return found


@pytest.fixture
def workload(cluster):
    """Return that cluster with a Deployment of two pods that run."""
    cluster.apply(WEB)
    cluster.run()
    return cluster


def said(cluster, command, stdin=""):
    """Return what a command printed, errors after output, and its exit code."""
    done = cluster.kubectl(command, stdin)
    return done.stdout + done.stderr, done.code


# -- recordings --------------------------------------------------------------------------------------------------


def words_of(file):
    """Return the command that made a recorded file: `get-pods-wide` is `get pods -o wide`."""
    verb, _, asked = file.partition("-")
    if verb == "describe":
        kind, _, name = asked.partition("-")
        return f"describe {kind} {name} -n demo"
    scope = "-A" if asked.startswith("all-namespaces-") else "-n demo"
    asked = asked.removeprefix("all-namespaces-")
    options = [flag for suffix, flag in FLAGS.items() if asked.endswith(suffix)]
    for suffix in FLAGS:
        asked = asked.removesuffix(suffix)
    return " ".join(["kubectl get", asked, scope, *options])


@pytest.mark.parametrize("name", CASES)
def test_get_and_describe_print_what_was_recorded(name, monkeypatch):
    """Every recorded text of `get` and `describe` comes from its whole command."""
    from kvolsched.kubectl.formatting import parse_time

    for case in (each.case for each in read(RECORDED / "kubectl" / name)):
        cluster = Cluster.from_manifests(case["objects"])
        monkeypatch.setattr(Runtime, "date", parse_time(case["now"]))
        texts = {}
        for file in case["files"]:
            done = cluster.kubectl(words_of(file))
            lines = (done.stdout or done.stderr).split("\n")
            texts[f"{file}.txt"] = {f"line {number:03}": line for number, line in enumerate(lines, 1)}

        assert {**expected(case)["get"], **expected(case)["describe"]} == texts


def test_apply_prints_what_was_recorded():
    """`apply -f -` prints every recorded line, and every recorded refusal."""
    for case in (each.case for each in APPLIED):
        cluster = Cluster(attrs.evolve(upstream(), disabled=()))  # every admission plugin is on
        first = cluster.kubectl("apply -f -", json.dumps(case["first"]))
        if case["other"] is not None:
            key = key_of(cluster.objects(case["first"]["kind"])[-1])
            changed = from_plain(merge_patch(to_plain(cluster.world.log.objects[key]), case["other"]))
            cluster.world.perform("another writer", [Write("update", key, changed)])
        second = cluster.kubectl("apply -f -", json.dumps(case["second"]))
        wanted = case["expect"]

        assert f"{wanted['first']}\n" == first.stdout
        if "refused" in wanted:
            assert (wanted["refused"].partition("\n")[0], 1) == (second.stderr.partition("\n")[0], second.code)
        else:
            assert (f"{wanted['second']}\n", "") == (second.stdout, second.stderr)


# -- get ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "text"), [
    ("get pods -o name", "pod/my-pod\n"),
    ("get po/my-pod pvc/my-pvc -o name", "pod/my-pod\npersistentvolumeclaim/my-pvc\n"),
    ("get pods --field-selector spec.nodeName=node-a -o name", "pod/my-pod\n"),
    ("get pods --field-selector=spec.nodeName!=node-a,status.phase=Running -oname", ""),
    ("get nodes -l 'topology.kubernetes.io/zone in (us-central1-b)' -o name", "node/node-b\n"),
    ("get pod my-pod -o jsonpath={.spec.nodeName}", "node-a"),
    ("get nodes -o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'", "node-a\nnode-a-small\nnode-b\nnode-c\n"),
    ("get nodes -o jsonpath='{.items[?(@.status.capacity.cpu==\"2\")].metadata.name}'", "node-b"),
    ("get nodes -o custom-columns=N:.metadata.name,T:.spec.taints", ("N              T\nnode-a         <none>\n"
     "node-a-small   <none>\nnode-b         <none>\nnode-c         <none>\n")),
    ("get nodes --sort-by=.status.capacity.cpu -o name", "node/node-a-small\nnode/node-b\nnode/node-a\nnode/node-c\n"),
    ("get pods -n shop", "No resources found in shop namespace.\n"),
    ("get pods -n shop --ignore-not-found", ""),
    ("-n default get pods --no-headers", "my-pod   1/1   Running   0     2s\n"),
])  # fmt: skip
def test_get_knows_the_flags(cluster, command, text):
    """Outputs, selectors, sorting, templates and namespaces do what kubectl's do."""
    assert (text, 0) == said(cluster, command)


def test_yaml_is_quoted_as_kubectl_quotes(cluster):
    """Texts that look like other values stand in double quotes, keys are sorted, long lines are folded."""
    cluster.annotate("pod/my-pod", f"long={'word ' * 30}end", "on=yes", "day=2026-01-01", "time=1:30", "name=plain")
    lines = cluster.kubectl("get pod my-pod -o yaml").stdout.splitlines()

    assert {'    "on": "yes"', '    day: "2026-01-01"', '    time: "1:30"', "    name: plain",
            '        cpu: "1"'} <= set(lines)  # fmt: skip
    assert max(map(len, lines)) < 90


def test_json_is_written_as_go_writes_it(cluster):
    """`-o json` escapes angle brackets and sorts keys; several objects are a List."""
    cluster.annotate("pod/my-pod", "note=<b>&")
    text = cluster.kubectl("get pods -o json").stdout

    assert r'"note": "\u003cb\u003e\u0026"' in text
    assert ["apiVersion", "items", "kind", "metadata"] == list(json.loads(text))


def test_events_can_be_sorted(cluster):
    """`get events --sort-by` orders events by time."""
    lines = cluster.kubectl("get events --sort-by=.metadata.creationTimestamp --no-headers").stdout.splitlines()

    assert "FailedScheduling" in lines[0]
    assert "Scheduled" in lines[-1]


# -- apply and delete ------------------------------------------------------------------------------------------------


def test_apply_warns_of_the_missing_annotation(cluster):
    """An object that was not applied has no last manifest: kubectl warns once, and applies."""
    node = "{apiVersion: v1, kind: Node, metadata: {name: node-a, labels: {disk: ssd}}}"
    first, second = cluster.kubectl("apply -f -", node), cluster.kubectl("apply -f -", node)

    assert first.stderr.startswith("Warning: resource nodes/node-a is missing the kubectl.kubernetes.io/last-applied-configuration annotation")
    assert ("node/node-a configured\n", 0) == (first.stdout, first.code)
    assert ("node/node-a unchanged\n", "") == (second.stdout, second.stderr)


def test_apply_goes_object_by_object(cluster):
    """A refused object leaves the others applied; `-n` places objects without namespace."""
    text = json.dumps(WEB) + "\n---\n" + json.dumps({**WEB, "metadata": {"name": "A B"}})
    done = cluster.kubectl("apply -n default -f -", text)

    assert 1 == done.code
    assert done.stderr


def test_apply_needs_a_source(cluster):
    """Without file or text, apply says what it needs."""
    assert ("error: must specify one of -f and -k\n", 1) == said(cluster, "apply")
    assert ("error: no objects passed to apply\n", 1) == said(cluster, "apply -f -")
    assert ('error: the path "no.yaml" does not exist\n', 1) == said(cluster, "apply -f no.yaml")
    assert "error: Must specify --filename to replace\n" in said(cluster, "replace")[0]
    assert ("error: no objects passed to replace\n", 1) == said(cluster, "replace -f -")


def test_replace_goes_object_by_object(cluster):
    """Each object is put as it is written, what it lacks is gone; one that is not there is refused by name."""
    node = "{apiVersion: v1, kind: Node, metadata: {name: node-a, labels: {disk: ssd}}}"
    done = cluster.kubectl("replace -f -", f"{node}\n---\n{node.replace('node-a', 'gone')}")
    assert ("node/node-a replaced\n", 1) == (done.stdout, done.code)
    assert 'Error from server (NotFound): error when replacing "STDIN": nodes "gone" not found\n' == done.stderr
    assert {"disk": "ssd"} == dict(cluster["node/node-a"].metadata.labels)
    assert ["PUT 200", "PUT 404"] == sorted(f"{row.verb} {row.code}" for row in cluster.requests(resource="nodes"))


def test_delete_names_the_namespace(cluster):
    """What is found is deleted, what is missing is said; the act can be undone."""
    done = cluster.kubectl("delete pod my-pod nope")

    assert ('pod "my-pod" deleted from default namespace\n', 'Error from server (NotFound): pods "nope" not found\n', 1,
            "there are: my-pod") == (done.stdout, done.stderr, done.code, done.hint)  # fmt: skip
    cluster.back()
    assert cluster["pod/my-pod"].metadata.deletion_timestamp is None


# -- words of other verbs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "text", "code"), [
    ("cordon node-a node/node-b", "node/node-a cordoned\nnode/node-b cordoned\n", 0),
    ("uncordon node-a", "node/node-a already uncordoned\n", 0),
    ("taint nodes node-c k=v:NoSchedule", "node/node-c tainted\n", 0),
    ("taint node node-c k-", 'error: taint "k" not found\n', 1),
    ("label node node-c disk=ssd", "node/node-c labeled\n", 0),
    ("label nodes -l topology.kubernetes.io/zone=us-central1-a x=y", "node/node-a labeled\nnode/node-a-small labeled\n", 0),
    ("label node node-c nope-", 'label "nope" not found.\nnode/node-c not labeled\n', 0),
    ("annotate deploy/web a=b", "deployment.apps/web annotated\n", 0),
    ("scale deploy web --replicas=3", "deployment.apps/web scaled\n", 0),
    ("scale deploy web --replicas=3 --current-replicas 5", "error: Expected replicas to be 5, was 2\n", 1),
    ("scale deploy web --replicas=many", ('error: invalid argument "many" for "--replicas" flag: strconv.ParseInt: parsing "many": '
     "invalid syntax\nSee 'kubectl scale --help' for usage.\n"), 1),
    ("patch node node-c --type json -p '[{\"op\": \"add\", \"path\": \"/metadata/labels/q\", \"value\": \"1\"}]'", "node/node-c patched\n", 0),
    ("patch node node-c", "error: must specify --patch or --patch-file containing the contents of the patch\n", 1),
    ("rollout restart deploy/web", "deployment.apps/web restarted\n", 0),
    ("rollout status deploy/web", 'deployment "web" successfully rolled out\n', 0),
    ("rollout status pod/my-pod", "error: no status viewer has been implemented for Pod\n", 1),
])  # fmt: skip
def test_other_verbs_speak_as_kubectl(workload, command, text, code):
    """The lines of acts are kubectl's, and the act is in the cluster's log."""
    assert (text, code) == said(workload, command)


def test_rollout_status_follows_the_rollout(workload):
    """After a restart the status says what the controllers have done so far."""
    workload.kubectl("rollout restart deploy/web")
    before = workload.kubectl("rollout status deploy/web").stdout
    workload.run()

    assert "Waiting for deployment spec update to be observed...\n" == before
    assert 'deployment "web" successfully rolled out\n' == workload.kubectl("rollout status deploy/web").stdout


def test_drain_cordons_and_says_what_it_needs(cluster):
    """A pod without controller stops a drain, the node stays cordoned; --force evicts it with a warning."""
    refused, done = cluster.kubectl("drain node-a"), cluster.kubectl("drain node-a --force")
    why = "cannot delete Pods that declare no controller (use --force to override): default/my-pod"

    assert "node/node-a cordoned\n" == refused.stdout
    assert (f'error: unable to drain node "node-a" due to error: {why}, continuing command...\n'
            f"There are pending nodes to be drained:\n node-a\n{why}\n") == refused.stderr  # fmt: skip
    assert "node/node-a already cordoned\nevicting pod default/my-pod\npod/my-pod evicted\nnode/node-a drained\n" == done.stdout
    assert "Warning: deleting Pods that declare no controller: default/my-pod\n" == done.stderr


# -- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "text"), [
    ("gte pods", 'error: unknown command "gte" for "kubectl"\n\nDid you mean this?\n\tget\n'),
    ("get unicorns", 'error: the server doesn\'t have a resource type "unicorns"\n'),
    ("get pods --wid", "error: unknown flag: --wid\nSee 'kubectl get --help' for usage.\n"),
    ("get pods -z", "error: unknown shorthand flag: 'z' in -z\nSee 'kubectl get --help' for usage.\n"),
    ("get pods -n", "error: flag needs an argument: 'n' in -n\nSee 'kubectl get --help' for usage.\n"),
    ("get pod my-pod -A", "error: a resource cannot be retrieved by name across all namespaces\n"),
    ("get pod my-pod -l a=b", "error: name cannot be provided when a selector is specified\n"),
    ("delete pods", "error: resource(s) were provided, but no name was specified\n"),
    ("label pod my-pod", "error: at least one label update is required\n"),
    ("cordon", "error: USAGE: cordon NODE [flags]\nSee 'kubectl cordon -h' for help and examples\n"),
    ("cordon nope", 'Error from server (NotFound): nodes "nope" not found\n'),
    ("get ,", "error: Required resource not specified.\n"),
    ("get all/x", "error: arguments in resource/name form must have a single resource and name\n"),
    ("get 'pods", "error: No closing quotation\n"),
    ("get nodes --field-selector x=y", ('Error from server (BadRequest): Unable to find "/v1, Resource=nodes" that match label selector "", '
     'field selector "x=y": field label not supported: x\n')),
    ("get pods --sort-by=.nope", 'error: couldn\'t find any field with path "{.nope}" in the list of objects\n'),
])  # fmt: skip
def test_errors_are_kubectls(cluster, command, text):
    """Unknown commands, kinds, flags, names and fields are answered in kubectl's words, with exit code 1."""
    assert ("", text, 1) == (cluster.kubectl(command).stdout, cluster.kubectl(command).stderr, cluster.kubectl(command).code)


def test_help_lists_the_commands(cluster):
    """`kubectl help` and `kubectl` alone list what is simulated, and are no errors."""
    asked, alone = cluster.kubectl("help"), cluster.kubectl("")

    assert (0, 0, str(asked)) == (asked.code, alone.code, str(alone))
    assert {"get", "describe", "apply", "drain"} <= set(str(asked).split())


def test_no_words_raise(cluster):
    """Whatever stands in a command, kubectl answers: it has an exit code, and errors if that is not 0."""
    verbs = ["get", "describe", "delete", "label", "taint", "patch", "drain", "rollout status", "scale --replicas=2"]
    words = [",", "all/x", "a//b", "/", "k=v", "-", "--", "k-", "-l (((", "--sort-by=.x[", "-o jsonpath={", "-p 5", "-o custom-columns=a:{"]
    for verb in verbs:
        for word in words:
            done = cluster.kubectl(f"{verb} pods {word}"), cluster.kubectl(f"{verb} {word}")

            assert [] == [each for each in done if each.code not in (0, 1) or (each.code and not each.stderr)]


def test_what_is_not_simulated_is_said(cluster):
    """A verb or flag of kubectl without effect here is named, with those that have one."""
    assert cluster.kubectl("logs my-pod").stderr.startswith("error: kubectl logs is not simulated; these commands are: get, describe, apply")
    assert cluster.kubectl("get pods -w").stderr.startswith("error: the flag --watch is not simulated; kubectl get has: --selector")


def test_control_characters_are_escaped(cluster):
    """No text of an object or a command reaches the terminal as a control sequence."""
    cluster.annotate("pod/my-pod", "evil=\x1b[31mred\r")

    assert "\x1b" not in cluster.kubectl("describe pod my-pod").stdout
    assert "^[[31mred\\r" in cluster.kubectl("get pod my-pod -o jsonpath={.metadata.annotations.evil}").stdout
    assert '"^[[2J"' in cluster.kubectl("'\x1b[2J'").stderr


def test_reading_changes_nothing(cluster):
    """`get`, `describe` and `rollout status` leave the cluster as it was."""
    before = cluster.digest(), cluster.world.place
    for command in ("get all -A", "describe pods", "get nodes -o yaml", "rollout status deploy/web"):
        cluster.kubectl(command)

    assert before == (cluster.digest(), cluster.world.place)


# -- completion --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "some"), [
    ("ro", ["rollout"]),
    ("rollout ", ["restart", "status"]),
    ("get stat", ["statefulsets"]),
    ("get pod ", ["my-pod"]),
    ("describe pod/", ["pod/my-pod"]),
    ("cordon node-a", ["node-a", "node-a-small"]),
    ("get pods --sel", ["--selector"]),
    ("get pods -o y", ["yaml"]),
    ("get pods -n ", ["default"]),
    ("patch pod my-pod --type ", ["json", "merge", "strategic"]),
])  # fmt: skip
def test_completion_knows_verbs_kinds_names_and_flags(cluster, before, some):
    """At the cursor, what may stand there is offered."""
    assert some == complete(cluster, before)
