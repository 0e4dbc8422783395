"""Recorded cases changed a little, without their meaning: our answers stay, or change in the same way.

Nobody recorded these; what must hold follows from the case as it is. A rule that looked at a name, at the order in which
objects come, or at objects that have nothing to do with it would show here.
"""

import json
import random
import re
from pathlib import Path

import pytest

from kvolsched.measure.conform import FAMILIES, read
from kvolsched.rules.named import revision_named

RECORDED = Path(__file__).parent.parent / "conformance"
VERDICTS = (
    "fit", "spread", "static", "dynamic", "bound", "limits", "interpod", "preempt", "disrupt", "wide", "wide2", "mixed",
    "design-spread",
)  # fmt: skip
STEPS = ("bind", "design-bind", "design-loop", "topology", "capacity")
SYNCS = ("pv-controller", "design-controller")
CASES = 12  # of each family
UNRELATED = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "zz-other"}},
    {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "zz-claim", "namespace": "zz-other"},
        "spec": {"storageClassName": "zz", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "77Gi"}}},
    },
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "zz"}, "provisioner": "zz.example.com"},
    {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "zz-volume"},
        "spec": {
            "storageClassName": "zz-else", "capacity": {"storage": "76Gi"}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/zz"},
        },
    },
]  # fmt: skip


def cases(family):
    """Return some cases of a family, always the same, as questions without answers."""
    found = list(read(RECORDED / f"{family}.jsonl.gz"))
    random.Random(7).shuffle(found)
    return [{word: what for word, what in one.case.items() if word != "expect"} for one in found[:CASES]]


def answered(family, case):
    """Return our answer as plain data."""
    said = FAMILIES[family].answer(case, revision_named(FAMILIES[family].revision))
    return json.loads(json.dumps(said, default=repr))


def renamed(data, names):
    """Return plain data with these names replaced wherever they stand as whole words."""
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    found = re.sub(rf"(?<![\w.-])(?:{words})(?![\w-]|\.\w)", lambda word: names[word[0]], json.dumps(data))
    return json.loads(found)


@pytest.mark.parametrize("family", [*VERDICTS, *STEPS, *SYNCS])
def test_the_order_of_objects_means_nothing(family):
    """A cluster whose objects are listed in another order gets the same answer in every aspect."""
    for case in cases(family):
        shuffled = {**case, "objects": random.Random(case["id"]).sample(case["objects"], len(case["objects"]))}

        assert answered(family, case) == answered(family, shuffled), case["id"]


@pytest.mark.parametrize("family", [*VERDICTS, *STEPS])
def test_names_mean_nothing(family):
    """Nodes and volumes under other names, in the same alphabetical order, get the same answer under these names."""
    for case in cases(family):
        named = [one["metadata"]["name"] for one in case["objects"] if one["kind"] in ("Node", "PersistentVolume")]
        names = {name: f"qq-{name}" for name in named}

        assert renamed(answered(family, case), names) == answered(family, renamed(case, names)), case["id"]


@pytest.mark.parametrize("family", [*VERDICTS, "bind", "design-bind"])
def test_what_has_nothing_to_do_with_a_pod_changes_nothing(family):
    """A class that nobody names, a claim in another namespace and a volume of neither class leave the answer as it is."""
    for case in cases(family):
        more = {**case, "objects": [*case["objects"], *UNRELATED]}

        assert answered(family, case) == answered(family, more), case["id"]
