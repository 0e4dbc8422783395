"""The words of scripts that are acts of a user or faults: each does what its act does."""

import pytest

from kvolsched.learn.scenario import ScenarioError, read

BEGIN = """
question: What do acts in a script do?
revision: upstream
objects:
- {kind: Node, apiVersion: v1, metadata: {name: a, labels: {zone: a}}, status: {allocatable: {cpu: "4", pods: "9"}}}
- {kind: Node, apiVersion: v1, metadata: {name: b, labels: {zone: b}}, status: {allocatable: {cpu: "4", pods: "9"}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: app, image: app}]}
- {apiVersion: v1, kind: Pod, metadata: {name: job}, spec: {schedulingGates: [{name: x/y}], containers: [{name: c, image: c}]}}
script:
"""


def play(*lines):
    """Return the cluster after a script of these lines."""
    return read(BEGIN + "\n".join(f"- {line}" for line in lines), "acts").play()


def labels(c, node):
    """Return a node's labels."""
    return dict(c[f"node/{node}"].metadata.labels)


def test_objects_are_patched_labelled_and_annotated():
    """Merge, strategic and JSON patches, labels with overwrite, annotations."""
    c = play(
        "patch: {node/a: {metadata: {labels: {disk: ssd}}}}",
        "patch: {subresource: status, node/a: {status: {allocatable: {cpu: '9'}}}}",
        "patch: {kind: json, node/a: [{op: add, path: /metadata/labels/rack, value: r1}]}",
        "patch: {kind: strategic, deployment/web: {spec: {template: {spec: {containers: [{name: app, image: b}]}}}}}",
        "label: {node/a: {zone: c}, overwrite: true}",
        "annotate: {node/b: note=1}",
    )
    assert {"zone": "c", "disk": "ssd", "rack": "r1"} == labels(c, "a")
    assert "9" == c["node/a"].status.allocatable["cpu"]
    assert "b" == c["deployment/web"].spec.template.spec.containers[0].image
    assert "1" == c["node/b"].metadata.annotations["note"]


def test_nodes_are_tainted_cordoned_and_drained():
    """Both forms of taints, a cordon, and a drain that moves the pod."""
    c = play(
        "taint: {a: [k:NoSchedule, l=m:NoSchedule]}", "untaint: {node: a, taint: k}", "run: 0", "cordon: a",
        "uncordon: a", "drain: b", "drain: {node: a, ignore_daemonsets: true}",
    )  # fmt: skip
    assert ["l=m:NoSchedule"] == [str(taint) for taint in c["node/a"].spec.taints]
    assert c["node/a"].spec.unschedulable
    assert c["node/b"].spec.unschedulable


def test_workloads_and_pods():
    """Scale, restart, ungate and evict."""
    c = play("run: 1", "scale: {deployment/web: 2}", "restart: deployment/web", "ungate: {pod/job: x/y}", "run: 1",
             "expect: {pod/job: {status.phase: Running}}", "evict: [job]", "run: 1")  # fmt: skip
    assert 2 == c["deployment/web"].spec.replicas
    assert "pod/job" not in c
    assert play("ungate: job")["pod/job"].spec.scheduling_gates == ()


def test_faults():
    """Crashes, refusals, delays, outages, and nodes that stop and start."""
    c = play("run: 1", "crash: scheduler", "refuse: {component: scheduler}", "delay: {PV controller: 5}", "outage: 2",
             "stop nodes: zone=a", "run: 1", "start nodes: a", "stop nodes: [b]", "start nodes:")  # fmt: skip
    words = [turn.words for turn in c.world.turns if turn.fault]
    assert 8 == len(words)
    assert "node b starts: its kubelet answers again" == words[-1]


def test_an_act_that_is_refused_is_expected_in_its_words():
    """`refused` takes any act, with the message of the API server or of kubectl."""
    play(
        "run: 1", "ungate: job", "run: 1",
        "refused: {patch: {deployment/web: {spec: {selector: {matchLabels: {app: x}}}}}, message: '" + REFUSED + "'}",
    )  # fmt: skip


REFUSED = (
    'Deployment.apps "web" is invalid: [spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not '
    'match template `labels`, spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable]'
)


def test_an_unknown_word_lists_those_that_there_are():
    """A word that is no act is refused with the known ones."""
    with pytest.raises(ScenarioError, match=r"unknown word 'stop_node'; known: .*stop nodes"):
        play("stop_node: a")


def test_a_script_upgrades_components_and_skews_api_servers():
    """Upgrades take rules or gates, of one component or all; API servers one set of rules or two."""
    text = """
revision: upstream
script:
  - upgrade: {rules: design, component: kube-scheduler}
  - api servers: {old: upstream, new: {PodSchedulingReadiness: false}, share: 0.5}
"""
    assert "rules upstream; kube-apiserver: upstream and upstream (" in repr(read(text, "roll").play())
    assert "rules design:" in repr(read(text + "  - upgrade: design\n  - api servers: design\n", "roll").play())
