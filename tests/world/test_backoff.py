"""Retries wait as client-go's, goroutinemap's and the drivers' do, and a controller that fails for ever stays finite."""

from itertools import pairwise

import pytest
from controllers.workloads import cluster, pods, workload
from hypothesis import given
from hypothesis import strategies as st
from world.toy_components import world

from kvolsched.api.dials import with_dials
from kvolsched.controllers import deployment, kubelet, taint_eviction
from kvolsched.controllers.deployment.controller import BACKOFF as DEPLOYMENT
from kvolsched.controllers.provisioner.options import ProvisionerOptions
from kvolsched.explore import Crash, Refuse, explore
from kvolsched.world.component import Component
from kvolsched.world.reconciler import OPERATION_BACKOFF, Backoff, ReconcileError, Reconciler

LIMITED = workload("DaemonSet") + "\n      priorityClassName: absent"


@given(st.floats(1e-3, 60), st.floats(1e-3, 4000))
def test_a_wait_doubles_up_to_the_last_and_the_count_stops_there(first, last):
    """Each failure doubles the wait; from `counted` failures on it is the longest, and not before."""
    backoff = Backoff.per_cause(first, max(first, last))
    waits = [backoff.seconds(failures) for failures in range(1, backoff.counted + 3)]
    assert waits[0] == first
    assert all(later == min(2 * wait, backoff.last) for wait, later in pairwise(waits))
    assert [backoff.last] * 3 == waits[backoff.counted - 1 :]
    assert backoff.counted == 1 or waits[backoff.counted - 2] < backoff.last


@pytest.mark.parametrize(("backoff", "waits"), [
    (Backoff(), [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84,
                 327.68, 655.36, 1000, 1000]),
    (ProvisionerOptions().backoff, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]),
    (OPERATION_BACKOFF, [0.5, 1, 2, 4, 8, 16, 32, 64, 122, 122]),
    (kubelet.SYNC_PERIOD, [10, 10, 10]),
    (taint_eviction.BACKOFF, [0.01] * 4),
], ids=["client-go", "external-provisioner", "goroutinemap", "kubelet", "taint eviction"])  # fmt: skip
def test_components_wait_as_theirs_do(backoff, waits):
    """DefaultControllerRateLimiter, --retry-interval-start and -max, goroutinemap, the kubelet's period."""
    assert waits == pytest.approx([backoff.seconds(failures) for failures in range(1, len(waits) + 1)])


def failing(backoff, turns, pods=1):
    """Return when a controller that always fails acted, in seconds."""
    def fail(_ctx, _cause):
        raise ReconcileError("no")

    routine = Reconciler("failing", lambda _ctx, key, _old, _new: [key.name], fail, backoff=backoff)
    sim = world(Component("failing", ("Pod",), (routine,)), pods=pods)
    times = []
    while len(times) < turns and (step := sim.step()):
        times += [turn.time for turn in step if turn.actor == "failing"]
    return times


def test_a_cause_is_dropped_after_its_last_retry():
    """A Deployment is tried 16 times, 15 of them again, until something changes."""
    assert DEPLOYMENT.retries == 15
    times = failing(DEPLOYMENT, 50)
    assert [0.0, *[0.005 * (2 ** failures - 1) for failures in range(1, 16)]] == pytest.approx(times)
    assert deployment.component().actors[0].backoff == DEPLOYMENT


def test_many_causes_that_fail_share_ten_retries_a_second():
    """After 100 retries at once there are 10 a second, however short the waits of the causes are."""
    times = failing(Backoff(), 260, pods=130)
    assert [0.0] * 130 == times[:130]
    assert [0.005] * 100 == pytest.approx(times[130:230])
    assert [number / 10 for number in range(1, 31)] == pytest.approx(times[230:260])


def test_a_controller_that_fails_for_ever_fails_seldom():
    """A DaemonSet whose PriorityClass is missing: 19 tries in the first 1300 s, then one in 1000 s."""
    made = cluster(LIMITED, nodes=1)
    made.run(seconds=10_000)
    tries = [turn.time for turn in made.world.turns for outcome in turn.outcomes
             if (outcome.write.verb, outcome.write.key.kind) == ("create", "Pod")]
    assert [] == pods(made)
    assert 20 <= len(tries) <= 30
    assert [1000.0] * 5 == pytest.approx([later - time for time, later in pairwise(tries[-6:])])


@pytest.mark.parametrize("faults", [(), (Crash("daemonset-controller"), Refuse("daemonset-controller", times=2))])
def test_a_controller_that_fails_for_ever_is_searched_to_the_end(faults):
    """Waits and counts repeat, and no name is used up by a refusal: its states can be exhausted."""
    made = cluster(LIMITED, nodes=1)
    found = explore(made, until=None, faults=faults, progress=False, max_states=3_000)
    assert found.exhausted


def test_a_restarted_controller_takes_no_name_that_is_taken():
    """A ReplicaSet that grows after its controller has crashed: no create is refused."""
    made = cluster(workload("ReplicaSet", replicas=3), nodes=1)
    made.crash("replicaset-controller")
    made.scale("rs/web", 5)
    made.run(seconds=100)
    refused = [outcome for turn in made.world.turns for outcome in turn.outcomes if hasattr(outcome, "reason")]
    assert (5, []) == (len(pods(made)), refused)


def test_a_driver_that_fails_is_asked_as_its_dials_say():
    """The first and the longest wait between attempts."""
    options = ProvisionerOptions(retry_interval_start=3.0, retry_interval_max=10.0)
    assert [3.0, 6.0, 10.0, 10.0] == [options.backoff.seconds(failures) for failures in range(1, 5)]
    with pytest.raises(ValueError, match=r"d: retry_interval_start: 0.0: must be a number of seconds above 0"):
        with_dials("d", options, {"retry_interval_start": 0.0})
