"""Loops recorded from Kubernetes 1.11 beside ours: the same pods are stranded, with the same sentence."""

import gzip
from pathlib import Path

import pytest

from kvolsched import experiments

RECORDED = Path(__file__).parent.parent.parent / "conformance" / "design-loop.jsonl.gz"
LESSONS = Path(__file__).parent.parent.parent.parent / "notebooks"


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    """Play the first forty loops."""
    few = tmp_path_factory.mktemp("loops") / "design-loop.jsonl"
    few.write_bytes(b"\n".join(gzip.decompress(RECORDED.read_bytes()).split(b"\n")[:40]))
    return experiments.recorded_loops(few, progress=False)


def test_ours_strand_the_pods_that_kubernetes_stranded(loops):
    """The stranded pods of a recording are those of our run, with the scheduler's sentence word by word."""
    assert loops.recorded == loops.here
    assert (len(loops), len(loops.recorded)) == (40, 9)
    assert all(pod.sentence.startswith("0/") for pod in loops.recorded)


def test_the_table_counts_both(loops):
    """The text has a line for the recordings and one for our runs, with how many pods miss cpu."""
    head, _, recorded, here = repr(loops).splitlines()

    assert head == "40 recorded loops with 119 pods; stranded: all volumes, no node"
    assert recorded.split()[-2:] == here.split()[-2:] == ["9", "4"]


def test_a_loop_can_be_run_again_under_other_rules(loops):
    """The cluster of a row is as it was before anybody acted; today no pod loses the node that was chosen for it."""
    again = next(row for row in loops if row.recorded).cluster("upstream")
    before = [pod.spec.node_name for pod in again.objects("pods")]
    again.run(seconds=300)

    assert not any(before)
    assert all(pod.spec.node_name for pod in again.objects("pods") if any(row.node for row in again.passes(pod.metadata.name)))


def test_other_recordings_are_refused():
    """A file of another family has no loops of 1.11."""
    with pytest.raises(ValueError, match="wants recordings of the family design-loop"):
        experiments.recorded_loops(RECORDED.parent / "bound.jsonl.gz")


def test_the_file_beside_the_lesson_is_the_recorded_one():
    """Lesson 09 reads the recordings that conformance is measured with."""
    assert RECORDED.read_bytes() == (LESSONS / RECORDED.name).read_bytes()
