"""Manifests in the forms that charts and operators use: each is loaded, run and written back, and ends as its head says.

`tests/corpus/CLUSTER/cluster.yaml` has the nodes and classes, every other file beside it what a person would apply there.
A file's first lines say how many pods run in the end, which pend with which words (or how many, where the order decides
which), how many objects are of kinds that are not simulated, and what the person does `then`, when nothing is left to do.

A folder of somebody else's manifests is tried by `KVOLSCHED_CORPUS=DIR make test-long`.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from losses import lost
from tqdm.auto import tqdm

from kvolsched import Cluster
from kvolsched.api.text.manifest import ManifestError, read, read_plain, to_plain, write

CORPUS = Path(__file__).parent.parent / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*") if path.stem != "cluster")
EXPECTED = {"pod-list.json": "# running: 2"}  # JSON has no comments
FOREIGN = Path(os.environ.get("KVOLSCHED_CORPUS") or CORPUS)
STEPS = 3_000  # that a foreign file runs at most


def said(path):
    """What the head of a file says: (word, value) of each of its lines."""
    head = EXPECTED.get(path.name) or re.match(r"(#.*\n)+", path.read_text(encoding="utf-8"))[0]
    return re.findall(r"^# (running|pending|pending-count|others|then): (.+)$", head, re.MULTILINE)


def plain_objects(path):
    """The objects of a file as plain data, lists taken apart."""
    waiting, found = list(reversed(read_plain(path.read_text(encoding="utf-8")))), []
    while waiting:
        data = waiting.pop()
        if data["kind"].endswith("List") and "items" in data:
            kind = data["kind"].removesuffix("List")
            waiting += reversed([{"apiVersion": data["apiVersion"], "kind": kind, **item} for item in data["items"]])
        else:
            found.append(data)
    return found


def plain_texts(found):
    """The objects as texts, without their order."""
    return sorted(json.dumps(to_plain(item), sort_keys=True) for item in found)


def endings(c):
    """How many pods run, and which wait with which words."""
    pods = c.objects("pods")
    waiting = {pod.metadata.name: pod.status.condition("PodScheduled") for pod in pods if pod.status.phase == "Pending"}
    return (sum(pod.status.phase == "Running" for pod in pods),
            {name: condition.message if condition is not None else "" for name, condition in waiting.items()})


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_ends_as_it_says(path):
    """Applied to its cluster, a file ends with as many pods running and pending as its head says, in Kubernetes' words."""
    expected = said(path)
    named = all(item.metadata.name for item in read(path).objects)
    c = Cluster.from_manifests(path.parent / "cluster.yaml", *([] if named else [path]))
    if named:
        c.apply(path)  # as kubectl does; it refuses what has no name
    ended = c.run(steps=20_000, seconds=600).ended
    for command in (value for word, value in expected if word == "then"):
        assert "rror" not in str(c.kubectl(command))
        ended = c.run(steps=20_000, seconds=600).ended
    running, pending = endings(c)
    assert "nothing is left to do" in ended or "simulated time" in ended
    assert [int(count) for word, count in expected if word == "running"] == [running]
    wanted = dict(value.split(": ", 1) for word, value in expected if word == "pending")
    assert {name: words for name, words in wanted.items() if words not in pending.get(name, "")} == {}, pending
    counts = [int(count) for word, count in expected if word == "pending-count"]
    assert (counts or [len(wanted)]) == [len(pending)], pending


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_of_a_file_is_lost(path):
    """What is read of a file and written again has every field of every object, also of kinds that are not simulated."""
    given, found = plain_objects(path), read(path)
    assert len(given) == len(found)
    assert sum(int(count) for word, count in said(path) if word == "others") == len(found.others)
    assert plain_texts(found) == plain_texts(read(write(list(found))))
    kept = {(item["kind"], json.dumps(item.get("metadata", {}).get("name"))): item for item in map(to_plain, found)}
    for item in given:
        if item.get("metadata", {}).get("name"):
            assert [] == lost(item, kept[item["kind"], json.dumps(item["metadata"]["name"])]), item["metadata"]["name"]


def test_the_corpus_has_the_forms_that_people_bring():
    """At least sixty files, among them StatefulSets, lists, generated names, gates and other people's kinds."""
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    assert len(texts) >= 60
    for form in ("kind: StatefulSet", "kind: List", "generateName:", "schedulingGates:", "volumeClaimTemplates:", "topologySpreadConstraints:"):
        assert sum(form in text for text in texts) >= 2, form


@pytest.mark.long
def test_a_folder_of_manifests_is_read_run_and_written():
    """Every YAML or JSON file below KVOLSCHED_CORPUS is refused in words, or loaded, run for some steps and written back whole."""
    outcomes, faults = Counter(), []
    files = sorted(path for path in FOREIGN.rglob("*") if path.suffix in (".yaml", ".yml", ".json") and path.is_file())
    for path in tqdm(files, unit=" files"):
        try:
            c = Cluster.from_manifests(path)
            found = c.loaded_manifests
        except ManifestError as error:
            outcomes[f"refused: {error.faults[0].rule}"] += 1
            continue
        try:
            outcomes["loaded"] += 1
            again = read(write(list(found)), lenient=True)
            if plain_texts(again) != plain_texts(found):
                faults.append(f"{path}: not the same after writing")
            ended = c.run(steps=STEPS, seconds=600).ended
            outcomes[re.sub(r"[\d,.]+", "N", ended).partition(";")[0]] += 1
            repr(c.why())
        except Exception as error:  # noqa: BLE001 - every exception is a finding
            faults.append(f"{path}: {type(error).__name__}: {error}")
    print(f"{len(files)} files: {dict(outcomes.most_common())}")
    assert [] == faults
    assert outcomes["loaded"] > 0
