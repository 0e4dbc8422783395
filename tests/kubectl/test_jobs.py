"""kubectl's print of Jobs: columns, states, and the description (printJob, describeJob)."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from controllers.test_job import job, ran

from kvolsched import Cluster
from kvolsched.cli import main

NOON = "2026-01-01T12:00:00Z"


def cells(status=(), metadata=(), **spec):
    """Return the cells of a Job's row, an hour after it was created."""
    manifest = job(**spec) | {"status": dict(status)}
    manifest["metadata"] |= {"creationTimestamp": NOON, **dict(metadata)}
    made = Cluster.from_manifests(manifest)
    return str(made.get("jobs", now=datetime(2026, 1, 1, 13, tzinfo=UTC))).splitlines()[1].split()


@pytest.mark.parametrize(("conditions", "metadata", "state"), [
    ([], {}, "Running"),
    (["FailureTarget"], {}, "FailureTarget"),
    (["Suspended", "FailureTarget"], {}, "Suspended"),
    (["Suspended"], {"deletionTimestamp": NOON, "finalizers": ["foregroundDeletion"]}, "Terminating"),
    (["FailureTarget", "Failed"], {"deletionTimestamp": NOON, "finalizers": ["foregroundDeletion"]}, "Failed"),
    (["SuccessCriteriaMet", "Complete"], {}, "Complete"),
])  # fmt: skip
def test_the_state_is_the_first_that_holds(conditions, metadata, state):
    """That it is over comes before its deletion, that before suspension; a condition that is False does not count."""
    told = [{"type": each, "status": "True"} for each in conditions]
    assert ["pi", state, "0/1", "60m"] == cells({"conditions": told or [{"type": "Suspended", "status": "False"}]}, metadata)


@pytest.mark.parametrize(("spec", "status", "completions", "duration"), [
    ({"completions": 5}, {"succeeded": 2, "startTime": NOON}, "2/5", ["60m"]),
    ({"parallelism": 1}, {"succeeded": 1}, "1/1", []),
    ({"completions": 1}, {"succeeded": 1, "startTime": NOON, "completionTime": "2026-01-01T12:01:30Z"}, "1/1", ["90s"]),
])  # fmt: skip
def test_completions_and_duration(spec, status, completions, duration):
    """The duration ends with the Job; one that has not begun has none."""
    assert ["pi", "Running", completions, *duration, "60m"] == cells(status, **spec)


def test_one_success_of_several_at_once():
    """Without completions one of as many as run at once is enough."""
    assert ["0/1", "of", "3"] == cells(parallelism=3)[2:5]


def test_a_job_is_described():
    """Numbers, times and the pods of each sort, then the template and what happened."""
    made = ran(job(completionMode="Indexed", completions=3, parallelism=3, activeDeadlineSeconds=60), ends_after=2)
    told = str(made.kubectl("describe job pi"))
    for line in ("Parallelism:              3", "Completions:              3", "Completion Mode:          Indexed",
                 "Suspend:                  false", "Backoff Limit:            6", "Active Deadline Seconds:  60s",
                 "Pods Statuses:            0 Active (0 Ready) / 3 Succeeded / 0 Failed",
                 "Completed Indexes:        0-2", "job-controller  Job completed"):  # fmt: skip
        assert line in told


def test_a_job_is_in_all_and_cannot_be_scaled():
    """`get all` lists it by its group; scale and restart are refused in kubectl's words."""
    made = ran(job())
    assert "job.batch/pi" in str(made.kubectl("get all"))
    assert "the server could not find the requested resource" in str(made.kubectl("scale job/pi --replicas=3"))
    assert 'error: jobs.batch "pi" restarting is not supported' == str(made.kubectl("rollout restart job/pi"))


def test_what_a_controller_wrote_of_a_job_is_told():
    """Writes name what changed: the phase of a pod that ended, its finalizer, the condition of the Job."""
    told = str(ran(job(), ends_after=2).writes())
    for words in ("phase Succeeded, Ready False, PodCompleted", "finalizers removed", "Complete True, CompletionsReached"):
        assert words in told


def test_the_kinds_are_listed():
    """With what to know of a kind that no recording has."""
    told = CliRunner().invoke(main, ["kinds"]).stdout.splitlines()
    assert any(line.startswith("Job ") and line.endswith("none recorded: by the source of v1.36.2") for line in told)
