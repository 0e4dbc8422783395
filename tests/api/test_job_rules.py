"""What an API server fills in and refuses of a Job, and what may change of one: the server's own words."""

import pytest

from kvolsched import Cluster
from kvolsched.core.results import ApplyRefused

ZONE = "topology.kubernetes.io/zone"


def job(spec=(), **pod):
    """Return a Job whose pods have these fields; `spec` is more of its own spec."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1"}], **pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}, "spec": {"template": template, **dict(spec)}}


def refused(act, *arguments):
    """Return the message with which an act is refused, or ""."""
    try:
        act(*arguments)
    except ApplyRefused as refusal:
        return str(refusal).removeprefix('Job.batch "pi" is invalid: ')
    return ""


def applied(spec=(), **pod):
    """Return a cluster with a Job, before its controller has seen it."""
    made = Cluster()
    made.apply(job(spec, **pod))
    return made


def test_a_new_job_is_filled_in():
    """Numbers, modes and policies have defaults; the uid is in labels and selector, and a Job without labels has its pods'."""
    found = applied()["job/pi"]
    spec, uid = found.spec, found.metadata.uid
    assert (1, 1, 6, "NonIndexed", False, False, "TerminatingOrFailed") == (
        spec.parallelism, spec.completions, spec.backoff_limit, spec.completion_mode, spec.suspend, spec.manual_selector,
        spec.pod_replacement_policy)
    labels = {"job-name": "pi", "batch.kubernetes.io/job-name": "pi", "controller-uid": uid, "batch.kubernetes.io/controller-uid": uid}
    assert labels == dict(spec.template.metadata.labels) == dict(found.metadata.labels)
    assert {"batch.kubernetes.io/controller-uid": uid} == dict(spec.selector.match_labels)
    assert applied({"parallelism": 2})["job/pi"].spec.completions is None
    limits = {"completionMode": "Indexed", "backoffLimitPerIndex": 1}
    assert 2**31 - 1 == applied({**limits, "completions": 2})["job/pi"].spec.backoff_limit


def test_a_loaded_job_is_filled_in_likewise():
    """A manifest in a file has no selector; that of a dump stays as it is."""
    (found,) = Cluster.from_manifests(job()).objects("jobs")
    assert found.metadata.uid == found.spec.selector.match_labels["batch.kubernetes.io/controller-uid"]
    assert Cluster.from_manifests([found]).objects("jobs") == [found]


@pytest.mark.parametrize(("spec", "pod", "words"), [
    ({}, {"restartPolicy": "Always"}, 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'),
    ({"parallelism": -1}, {}, "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"),
    ({"backoffLimit": -1}, {}, "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"),
    ({"ttlSecondsAfterFinished": -1}, {}, "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0"),
    ({"completionMode": "Indexed", "parallelism": 2}, {}, "spec.completions: Required value: when completion mode is Indexed"),
    ({"backoffLimitPerIndex": 1}, {}, "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"),
    ({"manualSelector": True}, {}, "spec.selector: Required value"),
])  # fmt: skip
def test_what_is_refused_at_creation(spec, pod, words):
    """Each in the server's words."""
    assert words in refused(Cluster().apply, job(spec, **pod))


def test_labels_of_another_job_are_refused():
    """Labels that the server would generate must be those that it generates."""
    manifest = job()
    manifest["spec"]["template"]["metadata"] = {"labels": {"job-name": "other"}}
    assert "spec.template.metadata.labels[job-name]: Invalid value" in refused(Cluster().apply, manifest)


SELECTOR = {"spec": {"template": {"spec": {"nodeSelector": {ZONE: "a"}}}}}
MUTABLE = {
    "nodeSelector": {ZONE: "a"},
    "tolerations": [{"key": "spot", "operator": "Exists"}],
    "schedulingGates": [{"name": "example.com/gate"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}]}}},
    "containers": [{"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "2"}}}],
}  # fmt: skip
IMMUTABLE = {
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}],
    "priorityClassName": "high",
    "containers": [{"name": "app", "image": "app:2"}],
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"a": "b"}}}]}},
}  # fmt: skip


@pytest.mark.parametrize("field", MUTABLE)
def test_the_scheduling_directives_of_a_suspended_job_may_change(field):
    """And with them requests, in the same call that resumes it; of a Job that runs none may."""
    change = {"spec": {"template": {"spec": {field: MUTABLE[field]}}}}
    for waits in (False, True):
        made = applied({"suspend": True})
        if waits:
            made.run()
        made.patch("job/pi", {"spec": {**change["spec"], "suspend": False}})
    assert refused(applied().patch, "job/pi", change).endswith("field is immutable")


@pytest.mark.parametrize("field", IMMUTABLE)
def test_nothing_else_of_a_template_may_change(field):
    """Not even of a suspended Job."""
    change = {"spec": {"template": {"spec": {field: IMMUTABLE[field]}}}}
    words = refused(applied({"suspend": True}).patch, "job/pi", change)
    assert words.startswith("spec.template: Invalid value: ")
    assert words.endswith("field is immutable")


def test_a_job_that_is_suspended_again_may_change_once_its_pods_are_deleted():
    """While pods of the old template are active it may not."""
    made = applied()
    made.run()
    made.patch("job/pi", {"spec": {"suspend": True}})
    assert refused(made.patch, "job/pi", SELECTOR)
    made.run()
    made.patch("job/pi", SELECTOR)


@pytest.mark.parametrize(("spec", "words"), [
    ({"completions": 2}, "spec.completions: Invalid value: 2: field is immutable"),
    ({"completionMode": "Indexed"}, 'spec.completionMode: Invalid value: "Indexed": field is immutable'),
    ({"managedBy": "example.com/queue"}, 'spec.managedBy: Invalid value: "example.com/queue": field is immutable'),
    ({"selector": {"matchLabels": {"a": "b"}}}, "field is immutable"),
])  # fmt: skip
def test_what_a_job_began_with_stays(spec, words):
    """Parallelism, backoffLimit and the deadline may change."""
    assert words in refused(applied().patch, "job/pi", {"spec": spec})
    assert not refused(applied().patch, "job/pi", {"spec": {"parallelism": 3, "backoffLimit": 1, "activeDeadlineSeconds": 9}})


def test_completions_of_an_indexed_job_change_with_parallelism():
    """In tandem, or not at all (ElasticIndexedJob)."""
    made = applied({"completionMode": "Indexed", "completions": 2, "parallelism": 2})
    words = "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"
    assert words == refused(made.patch, "job/pi", {"spec": {"completions": 3}})
    made.patch("job/pi", {"spec": {"completions": 3, "parallelism": 3}})
