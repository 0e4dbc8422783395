"""Jobs: pods until enough have succeeded or too many have failed, none while one is suspended."""

import pytest
from controllers.workloads import cluster, events, pods

from kvolsched import Cluster, make
from kvolsched.controllers.job import sync as job_sync
from kvolsched.controllers.job.sync import format_indexes, parse_indexes
from kvolsched.explore import Crash, explore
from kvolsched.kubectl.printers.pods import pod_status

TRACKING = "batch.kubernetes.io/job-tracking"


def job(policy="Never", name="pi", cpu="500m", **spec):
    """Return a Job; the keywords are fields of its spec."""
    container = {"name": "app", "image": "app:1.0", "resources": {"requests": {"cpu": cpu}}}
    template = {"spec": {"restartPolicy": policy, "containers": [container], "terminationGracePeriodSeconds": 1}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template, **spec}}


def ran(manifest, **dials):
    """Return a cluster in which a Job was applied and nothing is left to do; the keywords are dials of the kubelets."""
    return cluster(manifest, kubelet=dials)


def conditions(made, name="pi"):
    """Return the types of a Job's true conditions, and their reasons."""
    return [(found.type, found.reason) for found in made[f"job/{name}"].status.conditions if found.status == "True"]


def created(made):
    """Return the times at which pods were created."""
    return [turn.time for turn in made.world.turns for outcome in turn.outcomes
            if outcome.write.verb == "create" and outcome.write.key.kind == "Pod"]


def test_as_many_pods_run_at_once_as_asked_until_enough_have_succeeded():
    """Pods are named after the Job and have its labels and the finalizer; each that ends well has a successor until all have."""
    made = ran(job(parallelism=2, completions=3))
    owner = made["job/pi"]
    assert {(2, 2, 0, 0)} == {(owner.status.active, owner.status.ready, owner.status.succeeded, owner.status.failed)}
    for pod in pods(made):
        assert pod.metadata.name.startswith("pi-")
        assert len(pod.metadata.name) == len("pi-") + 5
        assert [TRACKING] == list(pod.metadata.finalizers)
        assert {"job-name": "pi", "batch.kubernetes.io/job-name": "pi", "controller-uid": owner.metadata.uid,
                "batch.kubernetes.io/controller-uid": owner.metadata.uid} == dict(pod.metadata.labels)
        assert owner.metadata.uid == pod.metadata.controller.uid
    done = ran(job(parallelism=2, completions=3), ends_after=5)
    status = done["job/pi"].status
    assert (0, 0, 3, 0) == (status.active, status.ready, status.succeeded, status.failed)
    assert [("SuccessCriteriaMet", "CompletionsReached"), ("Complete", "CompletionsReached")] == conditions(done)
    assert status.start_time < status.completion_time
    assert ["Completed"] + ["SuccessfulCreate"] * 3 == sorted(reason for reason, _ in events(done, "Job"))
    assert all(not pod.metadata.finalizers and pod_status(pod) == "Completed" for pod in pods(done))


def test_without_completions_one_success_is_enough():
    """No pod is made any more once one has succeeded; the others are waited for."""
    made = ran(job(parallelism=3), ends_after=5)
    assert 3 == made["job/pi"].status.succeeded
    assert made["job/pi"].is_finished


def test_nothing_ends_by_itself_unless_the_dial_says_so():
    """By default containers run for ever, and with restartPolicy Always whatever the dial says."""
    made = ran(job())
    made.run(seconds=86_400)
    assert ["Running"] == [pod.status.phase for pod in pods(made)]
    always = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
              "spec": {"containers": [{"name": "app", "image": "app:1.0"}]}}
    assert ["Running"] == [pod.status.phase for pod in pods(cluster(always, kubelet={"ends_after": 1.0}))]


@pytest.mark.parametrize("gone", ["stopped", "not ready"])
def test_what_ends_on_a_node_without_kubelet_is_told_later(gone):
    """Containers end as they would have; it is reported once the node's kubelet is there again."""
    made = cluster(kubelet={"ends_after": 20.0}, nodes=1)
    made.apply(job())
    made.run("job/pi Complete", seconds=5)
    if gone == "stopped":
        made.stop_nodes("node-1")
    else:
        made.patch("node/node-1", {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, subresource="status")
    made.wait(25)
    assert ["Running"] == [pod.status.phase for pod in pods(made)]
    if gone == "stopped":
        made.start_nodes()
    else:
        made.patch("node/node-1", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status")
    made.run(seconds=100)
    assert ["Succeeded"] == [pod.status.phase for pod in pods(made)]
    assert made["job/pi"].is_finished


@pytest.mark.parametrize("dials", [{"ends_after": -1.0}, {"ends_as": "Evicted"}])
def test_a_dial_that_is_nothing_is_refused(dials):
    """A negative time and an end that is none are errors."""
    with pytest.raises(ValueError, match=next(iter(dials))):
        ran(job(), **dials)


def test_a_failed_pod_is_replaced_after_ten_seconds_and_then_twice_as_long():
    """A Job whose pods fail waits 10, 20, 40 s before the next, and fails with the first that is more than backoffLimit."""
    made = ran(job(backoffLimit=3), ends_after=1, ends_as="Failed", start_delay=0)
    assert [0, 11, 32, 73] == created(made)
    assert 4 == made["job/pi"].status.failed
    assert [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")] == conditions(made)
    assert ("BackoffLimitExceeded", "Job has reached the specified backoff limit") in events(made, "Job")
    assert {"Error"} == {pod_status(pod) for pod in pods(made)}


def test_a_container_that_failed_starts_again_on_failure():
    """With restartPolicy OnFailure the pod stays; restarts count against backoffLimit, and then the pod is deleted."""
    made = ran(job("OnFailure", backoffLimit=2), ends_after=1, ends_as="Failed")
    assert [0] == created(made)
    assert [] == pods(made)
    assert [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")] == conditions(made)
    assert ["SuccessfulCreate", "SuccessfulDelete", "BackoffLimitExceeded"] == [reason for reason, _ in events(made, "Job")]


def test_a_deleted_pod_counts_as_failed():
    """It is replaced after the back-off; with podReplacementPolicy Failed only when it has ended."""
    for policy, when in (("TerminatingOrFailed", 1), ("Failed", 1)):
        made = ran(job(podReplacementPolicy=policy))
        before = made.now
        made.delete(f"pod/{pods(made)[0].metadata.name}")
        made.run(seconds=100)
        assert (1, 1) == (made["job/pi"].status.failed, made["job/pi"].status.ready)
        assert before + 10 <= created(made)[-1] <= before + 10 + when


def test_a_suspended_job_has_no_pods():
    """Suspending deletes what is active and counts nothing; the start time is taken back, and resuming sets it anew."""
    made = ran(job(suspend=True, parallelism=2, completions=2))
    assert [] == pods(made)
    assert [("Suspended", "JobSuspended")] == conditions(made)
    assert made["job/pi"].status.start_time is None
    made.patch("job/pi", {"spec": {"suspend": False}})
    made.run(seconds=100)
    assert 2 == len(pods(made))
    assert [] == conditions(made)
    assert made["job/pi"].status.start_time
    made.patch("job/pi", {"spec": {"suspend": True}})
    made.run("job/pi Suspended")
    made.run(seconds=100)
    status = made["job/pi"].status
    assert (0, 0, 0, 0, None) == (status.active, status.ready, status.failed, status.terminating, status.start_time)
    assert [] == made.objects("pods")
    assert [("Suspended", "Job suspended"), ("Resumed", "Job resumed")] == [
        event for event in events(made, "Job") if "Successful" not in event[0]]
    assert 2 == next(found.count for found in made.objects("events") if found.reason == "Suspended")


def test_a_job_that_runs_too_long_fails():
    """After activeDeadlineSeconds its pods are deleted and counted as failed; it has failed when they are gone."""
    made = ran(job(activeDeadlineSeconds=30), stop_delay=2)
    assert [("FailureTarget", "DeadlineExceeded"), ("Failed", "DeadlineExceeded")] == conditions(made)
    assert ("DeadlineExceeded", "Job was active longer than specified deadline") in events(made, "Job")
    failed = [found.last_transition_time for found in made["job/pi"].status.conditions]
    assert ["2026-01-01T00:00:30Z", "2026-01-01T00:00:33Z"] == failed


def test_fewer_at_once_deletes_what_is_least_far():
    """Lower parallelism deletes pods that wait for a node before those that run; they are not counted as failed."""
    made = ran(job(parallelism=9, completions=20, cpu="1"))
    waiting = {pod.metadata.name for pod in pods(made) if not pod.spec.node_name}
    made.patch("job/pi", {"spec": {"parallelism": 8}})
    made.run(seconds=100)
    assert waiting == {message.removeprefix("Deleted pod: ") for reason, message in events(made, "Job") if reason == "SuccessfulDelete"}
    assert (8, 0) == (made["job/pi"].status.active, made["job/pi"].status.failed)


def test_an_indexed_job_gives_each_pod_its_index():
    """Name, hostname, label, annotation and variable tell it; the status lists the indexes that have succeeded."""
    made = ran(job(completionMode="Indexed", parallelism=2, completions=4))
    for index, pod in enumerate(pods(made)):
        assert pod.metadata.name.startswith(f"pi-{index}-")
        key = "batch.kubernetes.io/job-completion-index"
        assert (str(index), str(index)) == (pod.metadata.labels[key], pod.metadata.annotations[key])
        assert f"pi-{index}" == pod.spec.rest["hostname"]
        assert ["JOB_COMPLETION_INDEX"] == [each["name"] for each in pod.spec.containers[0].rest["env"]]
    done = ran(job(completionMode="Indexed", parallelism=2, completions=4), ends_after=1)
    assert ("0-3", 4) == (done["job/pi"].status.completed_indexes, done["job/pi"].status.succeeded)
    assert 4 == len(created(done))


@pytest.mark.parametrize(("indexes", "text"), [(set(), ""), ({3}, "3"), ({0, 1}, "0,1"), ({0, 2, 3, 4, 7, 8}, "0,2-4,7,8")])
def test_indexes_are_written_as_intervals(indexes, text):
    """Three and more in a row are an interval; what is not below the completions is left out when it is read."""
    assert text == format_indexes(indexes)
    assert indexes == parse_indexes(text, 10)
    assert {index for index in indexes if index < 3} == parse_indexes(text, 3)


def test_an_interval_that_cannot_be_read_is_left_out():
    """Somebody may write anything into completedIndexes; the controller counts what it can read."""
    assert {2, 4} == parse_indexes("a-b,2,-1,3-,4-4,1_0", 5)
    made = ran(job(completionMode="Indexed", completions=2), ends_after=60)
    made.patch("job/pi", {"status": {"completedIndexes": "a-b"}}, subresource="status")
    made.run(seconds=200)
    assert "0,1" == made["job/pi"].status.completed_indexes


@pytest.mark.parametrize(("spec", "dials", "counts"), [
    ({}, {"ends_after": 5}, (8, 0)),
    ({"completionMode": "Indexed"}, {"ends_after": 5}, (8, 0)),
    ({"activeDeadlineSeconds": 5}, {}, (0, 8)),
    ({"backoffLimit": 0}, {"ends_after": 5, "ends_as": "Failed"}, (0, 8)),
])
def test_more_ended_pods_than_a_status_lists_are_counted_by_later_syncs(monkeypatch, spec, dials, counts):
    """A sync counts so many, the next one a second later the others; the Job is over when all are counted."""
    monkeypatch.setattr(job_sync, "MOST_UNCOUNTED", 3)
    made = ran(job(parallelism=8, completions=8, **spec), **dials)
    listed = [change.new.status.uncounted_terminated_pods for change in made.world.log.changes
              if change.key[0] == "Job" and change.new.status.uncounted_terminated_pods]
    assert counts == (made["job/pi"].status.succeeded, made["job/pi"].status.failed)
    assert made["job/pi"].is_finished
    assert all(not pod.metadata.finalizers for pod in made.objects("pods"))
    assert 3 >= max(len(each.succeeded) + len(each.failed) for each in listed)


@pytest.mark.parametrize("owned", [True, False])
def test_pods_of_a_job_that_was_never_there_go(owned):
    """A pod with the finalizer and no Job loses it: at once without owner, else when it is deleted."""
    pod = make.pod("a")
    pod["metadata"]["finalizers"] = [TRACKING]
    if owned:
        pod["metadata"]["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "gone", "uid": "x", "controller": True}]
    made = Cluster.from_manifests([make.node("n1"), pod])
    made.run()
    assert owned is bool(made["pod/a"].metadata.finalizers)
    made.delete("pod/a")
    made.run()
    assert "pod/a" not in made


@pytest.mark.parametrize("steps", [1, 3, 20])
def test_nothing_is_remembered_of_a_job_that_is_gone(steps):
    """Whenever it is deleted, with pods or refused ones, its controller forgets it; one of its name begins anew."""
    refused = job()
    refused["spec"]["template"]["spec"]["priorityClassName"] = "absent"
    for manifest in (job(), refused):
        made = cluster()
        made.apply(manifest)
        for _ in range(steps):
            made.step(turns=True)
        made.delete("job/pi")
        made.run(seconds=100)
        notes = [note for note in made.world.log.notes if note.component == "job-controller" and note.sort != "cursor"]
        assert [] == notes
    made.apply(job())
    assert "lacks pods" not in repr(made.why())
    made.run(seconds=100)
    assert ["Running"] == [pod.status.phase for pod in pods(made)]


@pytest.mark.parametrize(("finalizer", "left"), [("", 0), ("foregroundDeletion", 0), ("orphan", 2)])
def test_pods_go_with_their_job_whether_they_were_counted_or_not(finalizer, left):
    """However the Job is deleted, no pod keeps the finalizer; orphans stay."""
    made = ran(job(parallelism=2, completions=2))
    made.patch("job/pi", {"metadata": {"finalizers": [finalizer] if finalizer else []}})
    made.delete("job/pi")
    made.run(seconds=100)
    assert [] == made.objects("jobs")
    assert left == len(made.objects("pods"))
    assert all(not pod.metadata.finalizers for pod in made.objects("pods"))


def test_a_job_of_another_controller_is_left_alone():
    """What managedBy names another one is not its business."""
    made = ran(job(managedBy="example.com/queue"))
    assert [] == pods(made)
    assert made["job/pi"].status.start_time is None


def test_what_a_server_refuses_is_tried_again_and_told():
    """A pod that is refused is a Warning event; the controller tries again after 1 s, then twice as long."""
    manifest = job()
    manifest["spec"]["template"]["spec"]["priorityClassName"] = "absent"
    made = cluster(manifest)
    assert {("FailedCreate", 'Error creating: pods "pi-' + pod + '" is forbidden: no PriorityClass with name absent was found')
            for pod in [events(made, "Job")[0][1].split("pi-")[1][:5]]} == set(events(made, "Job"))
    tries = [turn.time for turn in made.world.turns for outcome in turn.outcomes
             if outcome.write.verb == "create" and outcome.write.key.kind == "Pod"]
    assert [0, 1, 3, 7, 15, 31, 63] == tries
    assert (0, "2026-01-01T00:00:00Z") == (made["job/pi"].status.active, made["job/pi"].status.start_time)
    made.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "absent"}, "value": 1})
    made.run(seconds=100)
    assert ["Running"] == [pod.status.phase for pod in pods(made)]


def test_what_has_ended_is_counted_though_successors_are_refused():
    """A server that lets only two pods live at a time does not keep the Job from counting them, or from completing."""
    made = cluster(kubelet={"ends_after": 5.0})
    at_most_two = lambda _new, _old: sum(not pod.terminal for pod in made.objects("pods")) < 2  # noqa: E731
    made = made.with_webhook(validate=at_most_two, verbs=["create"])
    made.apply(job(parallelism=4, completions=4))
    made.run("job/pi Complete", seconds=4)
    assert (2, 2, 0) == (made["job/pi"].status.active, made["job/pi"].status.ready, made["job/pi"].status.succeeded)
    made.run(seconds=200)
    assert made["job/pi"].has_condition("Complete")
    assert all(not pod.metadata.finalizers for pod in made.objects("pods"))


def test_no_turn_of_the_controller_does_nothing():
    """It takes up a Job only when there is something to write, from the first pod to the last condition."""
    made = ran(job(parallelism=2, completions=4), ends_after=3)
    turns = [turn for turn in made.world.turns if turn.component == "job-controller" and turn.actor]
    assert turns
    assert [] == [turn for turn in turns if turn.quiet]


def test_a_crash_at_any_moment_loses_and_doubles_nothing():
    """Wherever the controller crashes once, the Job completes with as many successes as asked for, and no pod too many."""
    manifest = job(completions=2)
    made = cluster(kubelet={"ends_after": 1.0}, nodes=1)
    made.apply(manifest)
    never = explore(
        made, until=lambda c: len(c.objects("pods")) > 2 or c["job/pi"].status.succeeded > 2,
        faults=[Crash("job-controller")], lag="none", progress=False)
    assert not never
    assert never.exhausted
