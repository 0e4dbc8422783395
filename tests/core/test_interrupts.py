"""Ctrl-C anywhere in a question or an act: the cluster is as it was before or after, and goes on the same."""

import random
import sys
from collections import defaultdict

import pytest

import kvolsched

PACKAGE = kvolsched.__path__[0]
STEPS = 6  # made before a question is asked; the others are a known future
# Python enters the methods of a `with` outside its guard; a probe of the line's coverage stands before them.
UNGUARDED = (None, "__exit__"), (None, "__enter__"), ("slipcover.probe", "signal")
SAMPLE = 2  # sites of each question in `make test`

QUESTIONS = {
    "map": lambda c: repr(c.map()),
    "frame": lambda c: repr(c.lab(text=True)),
    "story": lambda c: repr(c.story("my-pod")),
    "under": lambda c: repr(c.under("design", replay=True)),
    "requests": lambda c: repr(c.requests()),
    "handed to drivers": lambda c: repr((c.create_volume_requests(), c.get_capacity_requests())),
    "passes": lambda c: repr((c.passes("my-pod"), c.visits())),
    "why": lambda c: repr((c.why("my-pod"), c.why(), c.fits("my-pod"))),
    "fix": lambda c: repr(c.fix("my-pod")),
    "may": lambda c: repr(c.may("my-pod", {"metadata": {"labels": {"a": "b"}}})),
    "verdicts": lambda c: repr((c.verdicts("my-pod"), c.scores("my-pod"))),
    "charts": lambda c: repr((c.writes(), c.changes(), c.events(), c.domains(), c.capacity())),
    "next": lambda c: repr(c.next),
    "predict": lambda c: repr(c.predict(pod="my-pod")),
    "get": lambda c: repr((c.get("pods"), c.kubectl("describe pod my-pod"), c.where("a=b"), c.mounts())),
    "fork": lambda c: c.fork().run(),
    "digest": lambda c: c.digest(),
}
CLASS = """
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late}, provisioner: late.csi}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: late}, spec: {storageClassName: late,
  accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
"""
ACTS = {
    "step": lambda c: c.step(),
    "turn": lambda c: c.step(turns=True),
    "step that is heard": lambda c: (c.on_move(c.digest), c.step()),
    "first digest": lambda c: c.digest(),
    "goto the start": lambda c: c.goto(0),
    "goto the end": lambda c: c.goto(-1),
    "back": lambda c: c.back(3),
    "cordon": lambda c: c.cordon("node-a"),
    "delete": lambda c: c.delete("pod/my-pod"),
    "apply": lambda c: c.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"),
    "apply a class": lambda c: c.apply(CLASS),
    "crash": lambda c: c.crash("kube-scheduler"),
    "branch": lambda c: c.goto(2, branch="other"),
    "switch": lambda c: c.goto("closed"),
}  # fmt: skip


def started():
    """Return a cluster in the middle of its known history, with another branch."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.run()
    cluster.goto(3, branch="closed")
    cluster.cordon("node-b")
    cluster.run()
    cluster.goto("main")
    cluster.goto(STEPS)
    return cluster


def sites(do):
    """Return how often each place of the package (function and line) calls something while `do` is done."""
    found = defaultdict(int)

    def profile(frame, event, arg):
        site = called_from(frame, event, arg)
        if site is not None:
            found[site] += 1

    sys.setprofile(profile)
    try:
        do()
    finally:
        sys.setprofile(None)
    return dict(found)


def called_from(frame, event, arg):
    """Return the place in the package of a call that begins, or None."""
    called = frame.f_code.co_name if event == "call" else getattr(arg, "__name__", "")
    if any(called == name and module in (None, getattr(arg, "__module__", "")) for module, name in UNGUARDED):
        return None
    if event == "call":
        frame = frame.f_back
    if event not in ("call", "c_call") or frame is None or not frame.f_code.co_filename.startswith(PACKAGE):
        return None
    return frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno


def interrupt(do, wanted, nth):
    """Raise KeyboardInterrupt at the nth call that a place of the package makes; return whether it came so far."""
    left = [nth]

    def profile(frame, event, arg):
        if called_from(frame, event, arg) == wanted:
            left[0] -= 1
            if not left[0]:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        do()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def future(cluster):
    """Return what a cluster does from here on, and where it ends; it stands here again afterwards."""
    here, run = cluster.world.step_number, repr(cluster.run())
    end = cluster.digest()
    cluster.goto(here)
    return run, end, cluster.digest()


def check(name, do, chance=None):
    """Interrupt a question or act at the first, a middle and the last visit of each place, or of a few by chance."""
    do(started())  # what is loaded once is loaded
    cluster = started()
    before, expected = cluster.digest(), future(cluster)
    counted = sites(lambda: do(cluster))
    after, later = cluster.digest(), future(cluster)
    chosen = sorted(counted) if chance is None else chance.sample(sorted(counted), len(counted))
    reached, cluster = set(), started()
    for site in chosen:
        if chance is not None and len(reached) >= SAMPLE:
            break
        for nth in sorted({1, (counted[site] + 1) // 2, counted[site]}):
            if name in ACTS:
                cluster = started()
            if interrupt(lambda: do(cluster), site, nth):  # noqa: B023 - called at once
                reached.add(site)
            assert not cluster.world.lock._is_owned(), (name, site, nth)
            found = cluster.digest()
            assert found in (before, after), (name, site, nth)
            cluster.world.rebuild()
            assert found == cluster.digest(), (name, site, nth)
            assert future(cluster) in (expected, later), (name, site, nth)
    assert reached


@pytest.mark.parametrize("name", [*QUESTIONS, *ACTS])
def test_an_interrupt_leaves_the_cluster_whole(name):
    """At a few places by chance, and there at the first, a middle and the last call."""
    check(name, (QUESTIONS | ACTS)[name], random.Random(name))


@pytest.mark.long
@pytest.mark.parametrize("name", [*QUESTIONS, *ACTS])
def test_an_interrupt_at_any_place_leaves_the_cluster_whole(name):
    """At every place of the package that the question or act reaches: the first, a middle and the last call."""
    check(name, (QUESTIONS | ACTS)[name])
