"""Scores in parts, and at which weight another node wins: exact, and said in words."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

import kvolsched
from kvolsched.questions.explain import judge_last_pass
from kvolsched.rules.named import upstream
from kvolsched.views import frame as f
from kvolsched.views.fill import frame_of
from kvolsched.views.pictures import scores
from kvolsched.world.apiserver import key_for

from . import frames

MOST = 40  # weights that are tried one by one


def verdicts(table, weights, chosen=""):
    """Make the verdicts of a pass from normalised scores: {node: [a number a plugin]}."""
    rows = [
        f.ScoreRow(node, f"P{place}", score, score, weights[place], score * weights[place])
        for node, parts in table.items()
        for place, score in enumerate(parts)
    ]
    found = evolve(frames.zonal(5).verdicts, scores=tuple(rows))
    names = sorted(table)
    marked = [evolve(found.rows[0], node=name, chosen=name == chosen) for name in names]
    return evolve(found, rows=tuple(marked))


def best(table, weights):
    """Return the nodes with the highest sum, sorted."""
    sums = {node: sum(w * s for w, s in zip(weights, parts, strict=True)) for node, parts in table.items()}
    return tuple(sorted(node for node in sums if sums[node] == max(sums.values())))


tables = st.integers(1, 3).flatmap(lambda plugins: st.tuples(
    st.dictionaries(
        st.sampled_from("abcd"), st.lists(st.integers(0, 20), min_size=plugins, max_size=plugins), min_size=2),
    st.lists(st.integers(1, 12), min_size=plugins, max_size=plugins),
))


@given(tables)
def test_the_weights_are_those_that_trying_every_one_finds(table_and_weights):
    """From the weight that is told on the chosen node loses, at none before it, and the winners are right."""
    table, weights = table_and_weights
    chosen = best(table, weights)[0]
    for place, one in enumerate(scores.weight_effects(verdicts(table, weights, chosen))):
        loses = {}
        for weight in range(1, MOST + 1):
            winners = best(table, [*weights[:place], weight, *weights[place + 1:]])
            if chosen not in winners:
                loses[weight] = winners
        above = min((weight for weight in loses if weight > weights[place]), default=None)
        below = max((weight for weight in loses if weight < weights[place]), default=None)
        told = one.above if one.above and one.above.weight <= MOST else None
        assert (above, loses.get(above, ())) == ((told.weight, told.winners) if told else (None, ()))
        assert (below, loses.get(below, ())) == ((one.below.weight, one.below.winners) if one.below else (None, ()))


def test_the_reading_says_who_wins_at_which_weight():
    """Below the sums a line a plugin: the weights at which the chosen node loses, and to whom; or that none does."""
    found = verdicts({"a": [50, 10, 7], "b": [20, 25, 7]}, [2, 1, 3], "a")
    said = scores.reading(evolve(frames.zonal(5), verdicts=found)).splitlines()

    assert [
        "who would win in place of a if one weight were another (positive integers)",
        "P0 × 2  at any weight a wins",
        "P1 × 1  from weight 5 on: b",
        "P2 × 3  at any weight a wins",
    ] == said[-4:]
    assert "P0 50 → 50 × 2 = 100" in said[1]


def test_a_tie_is_decided_by_the_next_weight():
    """Where two nodes are level and a draw decided, one step of a weight is enough."""
    one, = scores.weight_effects(verdicts({"a": [5], "b": [5]}, [1], "a"))
    two = scores.weight_effects(verdicts({"a": [5, 6], "b": [6, 5]}, [2, 2], "a"))

    assert (None, None) == (one.above, one.below)
    assert [(scores.WeightFlip(3, ("b",)), None), (None, scores.WeightFlip(1, ("b",)))] == [(d.above, d.below) for d in two]


def test_the_chart_has_raw_normalised_weighted_and_the_weights():
    """Each part of a sum says its three numbers, the title from which weight on another node wins."""
    cluster = kvolsched.Cluster.from_manifests(APART)
    cluster.run("pod/web scheduled")
    figure = cluster.scores("web")
    part = next(row for row in figure.table if (row["node"], row["plugin"]) == ("n0", "NodeAffinity"))
    assert (1, 100, 2, 200) == tuple(part[name] for name in ("raw", "normalised", "weight", "points"))
    spec = figure.chart.to_dict()
    assert {"raw", "normalised", "weight"} < {tip["field"] for tip in spec["layer"][0]["encoding"]["tooltip"]}
    assert "NodeResourcesFit × 1: from weight 5 on: n1" in " ".join(spec["title"]["subtitle"])


APART = """
apiVersion: v1
kind: Node
metadata: {name: n0, labels: {disk: ssd}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "32", memory: 64Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: c, image: web, resources: {requests: {cpu: "2", memory: 4Gi}}}]
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}
"""


def test_the_scheduler_with_that_weight_chooses_the_other():
    """What is told of a weight is what the scheduler does: with it the other node is chosen, with one less not."""
    rules = upstream()

    def placed(**weights):
        enabled = tuple(
            evolve(one, weight=weights.get(one.name, one.weight)) for one in rules.profile.plugins)
        revision = evolve(rules, profile=evolve(rules.profile, plugins=enabled))
        cluster = kvolsched.Cluster.from_manifests(APART, revision=revision)
        cluster.run("pod/web scheduled")
        return cluster

    cluster = placed()
    told = scores.weight_effects(frame_of(cluster, focus="pod/web", chips=False).verdicts)
    (flip,) = [one.above for one in told if one.plugin == "NodeResourcesFit"]

    assert ("n0", ("n1",)) == (cluster["pod/web"].spec.node_name, flip.winners)
    assert "n1" == placed(NodeResourcesFit=flip.weight)["pod/web"].spec.node_name
    assert "n0" == placed(NodeResourcesFit=flip.weight - 2)["pod/web"].spec.node_name


LOCAL = """
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  storageClassName: local
  local: {path: /mnt}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: here, operator: In, values: ["yes"]}]}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 1Gi}}}
"""


@pytest.mark.checklist("259")
def test_every_decision_can_be_explained_after_the_run():
    """After the run: per node pass or fail, the reason, the volume that would be taken, and the parts of the score."""
    reached = APART.replace("{name: n0, labels: {", '{name: n0, labels: {here: "yes", ').replace(
        "{name: n1}", '{name: n1, labels: {here: "yes"}}')
    cluster = kvolsched.Cluster.from_manifests(
        reached.rstrip() + "\n  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n" + LOCAL)
    cluster.run()
    found = frame_of(cluster, focus="pod/web", chips=False).verdicts

    assert {"n0": (True, True), "n1": (True, False), "n2": (False, False)} == {
        row.node: (row.first < 0, row.chosen) for row in found.rows}
    assert "node(s) had untolerated taint(s)" in repr(cluster.verdicts("web", "n2", "TaintToleration"))
    assert "claim data would take volume disk" in repr(cluster.verdicts("web", "n0", "VolumeBinding"))
    assert {"n0", "n1"} == {row.node for row in found.scores}
    assert all(row.total == row.normalised * row.weight for row in found.scores)


def test_of_many_nodes_those_are_shown_that_tell():
    """Among 300 nodes the weights are those that all 300 give; the reading stays short."""
    node, _, pod = APART.split("---")
    many = "---".join(
        node.replace("n0", f"m{number:03}").replace('"4"', f'"{4 + number % 7}"').replace("ssd", f"d{number % 5}")
        for number in range(300)
    )
    cluster = kvolsched.Cluster.from_manifests(many + "---" + pod.replace("[ssd]", "[d2, d3]"))
    cluster.run("pod/web scheduled")
    found = frame_of(cluster, focus="pod/web", chips=False).verdicts
    passed = judge_last_pass(cluster, key_for("pod/web"))
    every = passed.ranking
    rows = [
        f.ScoreRow(name, plugin, round(raw), normalised, weight, weighted)
        for name in every.nodes for plugin, (raw, normalised, weighted) in every.scores_of(name).items()
        for weight in [next(one.weight for one in passed.judgement.profile.scores if one.name == plugin)]
    ]
    told, all_told = scores.weight_effects(found), scores.weight_effects(evolve(found, scores=tuple(rows)))

    def weights(found):
        return [(one.plugin, one.chosen, *(flip and flip.weight for flip in (one.above, one.below))) for one in found]

    assert weights(all_told) == weights(told)
    assert any(one.above or one.below for one in told)
    assert 300 > len({row.node for row in found.scores})
