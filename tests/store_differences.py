"""Search for the clusters of kvolsched/differ/known again: `python tests/store_differences.py [ROW...]`.

Each row of SEARCHES is found by `kvolsched.differ`, with nothing but a description of what is wanted; a row that has no
search is left as it is. `python tests/store_differences.py outcomes` only runs the stored clusters again, and stores
what comes of them.
"""

import sys
from pathlib import Path

import attrs
from hypothesis import strategies as st

from kvolsched import Cluster, make
from kvolsched.api.text.manifest import read_plain
from kvolsched.api.text.yaml_text import to_yaml
from kvolsched.make import DRIVER, SELECTED_NODE
from kvolsched.measure.differ import clusters
from kvolsched.measure.differ.known import FOLDER, known_differences
from kvolsched.measure.differ.outcome import WORKLOADS, Case, differs, run_case
from kvolsched.measure.differ.search import differ

KNOWN = Path(__file__).parents[1] / "kvolsched" / FOLDER
MOST_OBJECTS = 6
BOTH = [{"capacityTracking": True, "storageCapacity": True}]
NEW_FIELDS = {"minDomains", "nodeTaintsPolicy", "nodeAffinityPolicy", "matchLabelKeys"}


def kinds(case):
    """Return the kinds of a case's objects, each as often as it is there."""
    return [each["kind"] for each in case.objects]


def constraints(case):
    """Return the spread constraints of all pods, workloads' templates too."""
    specs = (each.get("spec", {}) for each in case.objects if each["kind"] in ("Pod", *WORKLOADS))
    specs = (each.get("template", {}).get("spec", each) for each in specs)
    return [each for spec in specs for each in spec.get("topologySpreadConstraints", ())]


def row_of(found, about, what=""):
    """Return the first differing row about an object whose name begins so."""
    return next((row for row in found.rows if row.about.startswith(about) and what in row.what), None)


def all_run(found):
    """Under both, every pod runs in the end."""
    ends = [words for outcome in found.outcomes for about, words in outcome.ends.items() if about.startswith("pod")]
    return all(words.endswith("Running") for words in ends)


def swapped_claims(found):
    """Two claims get what the other has under the other rules."""
    claims = [row for row in found.rows if row.about.startswith("pvc/")]
    return len(claims) == 2 and claims[0].a == claims[1].b and claims[0].b == claims[1].a and "Bound" in claims[0].a


def rejected_by_skew(found):
    """Only one side's PodTopologySpread rejects a node, and not for a label that the node lacks."""
    verdicts = [verdict for outcome in found.outcomes for nodes in outcome.verdicts.values() for verdict in nodes.values()]
    return found.plugins == ("PodTopologySpread",) and not any("missing" in verdict.reasons for verdict in verdicts)


def ranked_by_spread(found):
    """The same nodes fit, and without the constraint the same one is chosen."""
    if found.plugins or not constraints(found.case):
        return False
    plain = Case(tuple({**each, "spec": {field: value for field, value in each.get("spec", {}).items() if field != "topologySpreadConstraints"}}
                       for each in found.case.objects))
    return not differs(*(run_case(rules, plain, 0) for rules in found.rules), ("nodes",))


def plain_spread(case):
    """No constraint has a field that the document does not know."""
    return constraints(case) and not any(NEW_FIELDS & set(each) for each in constraints(case))


def old_pools(case):
    """Return the pools that a CSIDriver's status tells of."""
    drivers = (each for each in case.objects if each["kind"] == "CSIDriver")
    return [pool for each in drivers for entry in each.get("status", {}).get("storage", ()) for pool in entry.get("pools", ())]


def opted(case):
    """Return the fields by which CSIDrivers opt in to checks of their room."""
    return [each["spec"] for each in case.objects if each["kind"] == "CSIDriver" and "spec" in each]


def nowhere(case):
    """A pool and a capacity object are there, and neither says where; the driver opts in to both."""
    rooms = [each for each in case.objects if each["kind"] == "CSIStorageCapacity"]
    return (BOTH == opted(case) and len(rooms) == 1 and "nodeTopology" not in rooms[0] and len(old_pools(case)) == 1
            and not {"nodeTopology", "nodeList"} & set(old_pools(case)[0]) and rooms[0].get("capacity") == old_pools(case)[0].get("capacity") == "100Gi")


@attrs.frozen
class Search:
    """What is searched for: matters of the clusters, or a strategy; the aspects, what a case needs, what is wanted."""

    about: tuple = ("volumes",)
    drawn: object = lambda: one_class()  # noqa: PLW0108 - it stands below
    of: tuple = ("answers", "nodes", "ends")
    needs: object = lambda _case: True
    where: object = lambda _found: True
    rules: tuple = ("design", "upstream")
    components: dict = attrs.field(factory=dict)
    examples: int = 1500


SEARCHES = {
    1: Search(about=(), of=("ends",), needs=lambda case: kinds(case).count("PersistentVolumeClaim") == 2 and kinds(case).count("Pod") == 1,
              where=lambda found: swapped_claims(found) and all_run(found)),
    2: Search(about=(), of=("passes",), where=lambda found: (found.rows[0].a, found.rows[0].b) == ("2", "1") and all_run(found)),
    4: Search(about=(), drawn=lambda: selected(), of=("nodes",), where=lambda found: SELECTED_NODE in found.manifests and found.plugins == ("VolumeBinding",)),  # noqa: PLW0108
    5: Search(about=(), of=("nodes",), needs=lambda case: kinds(case).count("Node") == 2 and "PersistentVolume" in kinds(case) and kinds(case).count("Pod") == 1,
              where=lambda found: not found.plugins and {"PersistentVolumeClaim", "PersistentVolume"} <= set(kinds(found.case))),
    6: Search(of=("words",), where=lambda found: "didn't match PersistentVolume's node affinity" in found.rows[0].b),
    7: Search(about=("volumes", "limits"), rules=("design (beta)", "upstream"), where=lambda found: found.plugins == ("NodeVolumeLimits",)),
    8: Search(rules=("design (phase 2)", "upstream"), of=("fields",), where=lambda found: row_of(found, "pv/", "nodeAffinity")),
    9: Search(of=("fields",), components={DRIVER: {"topology_keys": [make.HOST]}},
              where=lambda found: all(row.about.startswith("pvc/") for row in found.rows) and row_of(found, "pvc/", "selectedNode") and row_of(found, "pvc/", SELECTED_NODE) and all_run(found)),
    10: Search(about=(), rules=("draft", "upstream"), of=("writes",), where=lambda found: row_of(found, "persistentvolumeclaims/c1 by persistent-volume-binder, update", "writes") and all_run(found)),
    12: Search(rules=("design (kube-scheduler: VolumeScheduling=false)", "upstream"), where=lambda found: row_of(found, "pod/", "pass 1")),
    13: Search(about=(), of=("writes",), components={DRIVER: {"fails": [{"times": 1, "code": "Internal"}]}},
               where=lambda found: all_run(found) and row_of(found, f"persistentvolumeclaims/c1 by {DRIVER}")),
    16: Search(about=(), rules=("design + rollback", "upstream"), of=("ends",), needs=lambda case: "PersistentVolume" in kinds(case) and kinds(case).count("Pod") == 2,
               where=lambda found: row_of(found, "pv/") and (row_of(found, "pv/").a, row_of(found, "pv/").b) == ("Available", "Bound to c1")),
    18: Search(about=("volumes", "workloads"), of=("ends",), needs=lambda case: "DaemonSet" in kinds(case), where=lambda found: row_of(found, "pods of DaemonSet").b.endswith("Running") and row_of(found, "pvc/")),
    19: Search(about=(), needs=lambda case: old_pools(case) and "CSIStorageCapacity" not in kinds(case),
               where=lambda found: BOTH == opted(found.case) and found.plugins == ("VolumeBinding",) and found.rows[0].a.startswith("fits")),
    20: Search(about=(), needs=lambda case: "CSIDriver" in kinds(case) and not old_pools(case), where=lambda found: found.plugins == ("VolumeBinding",) and found.rows[0].a.startswith("fits")),
    21: Search(about=(), needs=nowhere, where=lambda found: nowhere(found.case) and found.plugins == ("VolumeBinding",) and found.rows[0].a.startswith("fits")),
    23: Search(about=("capacity",), where=lambda found: found.plugins == ("VolumeBinding",)),
    24: Search(about=(), components={DRIVER: {"pools": {"a": "100Gi"}, "publishing": {"prefix": "topology.kubernetes.io"}}},
               of=("fields",), needs=lambda case: {"CSINode", "CSIDriver"} <= set(kinds(case)) and not old_pools(case),
               where=lambda found: row_of(found, "csidriver/", "status.storage") and not row_of(found, "csistoragecapacity/")),
    27: Search(about=("spread",), rules=("design (spreading: pseudo code)", "upstream"), needs=plain_spread, where=rejected_by_skew),
    29: Search(about=(), drawn=lambda: soft(), of=("nodes",), where=ranked_by_spread),  # noqa: PLW0108
    30: Search(about=("spread",), needs=lambda case: any(NEW_FIELDS & set(each) for each in constraints(case)),
               where=lambda found: rejected_by_skew(found) and NEW_FIELDS & set(constraints(found.case)[0])),
    31: Search(about=("gates",), of=("answers",), where=lambda found: "matchExpressions" in found.case.commands[0]),
    33: Search(about=("gates",), rules=("design (kube-apiserver: PodSchedulingReadiness=false)", "upstream"), of=("answers",),
               where=lambda found: found.rows[0].about.startswith("kubectl") and "Forbidden" in found.rows[0].a),
}


@st.composite
def one_class(draw):
    """Draw a cluster with one class that waits, a pod with all claims, and what drivers say of their room."""
    nodes = [make.node(f"n{n + 1}", "ab"[n], cpu=draw(st.sampled_from("124"))) for n in range(draw(st.integers(1, 2)))]
    said = draw(st.lists(st.sampled_from(["driver", "tells", "room", "node"]), max_size=2, unique=True))
    pool, sizes = make.pool("one", draw(st.sampled_from(["100Gi", "1Gi"]))), st.sampled_from(["10Gi", "5Gi", "20Gi"])
    rooms = {"driver": make.csi_driver(tracks=draw(st.sampled_from([True, None])), storageCapacity=True),
             "tells": make.csi_driver(told={"late": [pool]}, storageCapacity=True), "node": make.csi_node(draw(st.sampled_from(["n1", "n2"])), 9, topology_keys=[make.ZONE]),
             "room": {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "one", "namespace": "default"}, "storageClassName": "late", "capacity": "100Gi"}}
    claims = [make.claim(f"c{n + 1}", draw(sizes)) for n in range(draw(st.integers(1, 2)))]
    reach = st.sampled_from([(), ({make.HOST: ["n1"]},), ({make.HOST: ["n2"]},)])
    volumes = [make.volume(f"v{n + 1}", draw(sizes), "late", *draw(reach)) for n in range(draw(st.integers(0, 2)))]
    pod = make.pod("p1", *(each["metadata"]["name"] for each in claims), cpu=draw(st.sampled_from(["100m", "1"])))
    others = [make.pod("p2", cpu="1")] if draw(st.booleans()) else []
    return Case((*nodes, *(rooms[each] for each in {**dict.fromkeys(said)}), make.storage_class(), *volumes, *claims, pod, *others))


@st.composite
def selected(draw):
    """Draw such a cluster in which the claims have a selected node already."""
    objects = draw(one_class()).objects
    return Case(tuple(make.claim(each["metadata"]["name"], selected_node="n1") if each["kind"] == "PersistentVolumeClaim" else each
                      for each in objects))


@st.composite
def soft(draw):
    """Draw nodes, pods that run there, and a pod with one constraint that only ranks."""
    nodes = [make.node(f"n{n}", "ab"[n % 2], cpu=draw(st.sampled_from("1248"))) for n in range(1, draw(st.integers(2, 3)) + 1)]
    on = st.sampled_from([each["metadata"]["name"] for each in nodes])
    labels, cpu = st.sampled_from([{"app": "x"}, {}]), st.sampled_from(["100m", "500m", "1", "2"])
    running = [make.pod(f"r{n}", running_on=draw(on), labels=draw(labels), cpu=draw(cpu)) for n in range(draw(st.integers(1, 3)))]
    constraint = make.spread(draw(st.sampled_from([make.ZONE, make.HOST])), draw(st.sampled_from([1, 3, 10])), soft=True, app="x")
    return Case((*nodes, *running, make.pod("p1", labels=draw(labels), cpu=draw(cpu), topologySpreadConstraints=[constraint])))


def store(row, progress):
    """Search for a row's cluster, and write it to the row's file; return the file's words."""
    search, known = SEARCHES[row], known_differences()[row]
    rules = [Cluster(name, components=search.components) for name in search.rules]
    strategy = (clusters.clusters(search.about) if search.about else search.drawn()).filter(search.needs)
    for seed in range(10):
        found = differ(*rules, seed=seed, examples=search.examples, progress=progress, of=search.of, where=search.where, clusters=strategy)
        if found and len(found.case.objects) <= MOST_OBJECTS:
            break
    else:
        return f"row {row}: not found"
    words = {field: getattr(known, field) for field in ("row", "topic", "design", "today")}
    words |= {"rules": list(search.rules), "of": list(search.of), "objects": list(found.case.objects)}
    words |= {"components": search.components} if search.components else {}
    words |= {"commands": list(found.case.commands)} if found.case.commands else {}
    words |= {"outcomes": [list(each) for each in found.rows]}
    (KNOWN / f"{row:02}.yaml").write_text(to_yaml(words), "utf-8")
    return f"row {row}: {found.sentence}"


def store_outcomes():
    """Run every stored cluster again, and write what comes of it; yield the rows with other outcomes."""
    for row, known in known_differences().items():
        again = [list(each) for each in known.replay().rows] if known.objects else []
        if again != [list(each) for each in known.outcomes]:
            path = KNOWN / f"{row:02}.yaml"
            words = {**read_plain(path.read_text("utf-8"))[0], "outcomes": again}
            path.write_text(to_yaml(words), "utf-8")
            yield f"row {row}: {known.sentence}"


if __name__ == "__main__":
    if sys.argv[1:] == ["outcomes"]:
        print(*store_outcomes(), sep="\n")
        sys.exit()
    for number in map(int, sys.argv[1:] or SEARCHES):
        print(store(number, sys.stderr.isatty()), flush=True)
