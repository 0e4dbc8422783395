"""Every public act in random order: what a seed does to a cluster, and what is inconsistent in it after each act.

`python tests/random_acts.py 17` plays a run and tells its acts up to the first finding; `python tests/random_acts.py
--acts 100000 --from 0` plays runs until so many acts are done. The clusters, and most acts, are those of `fault_runs`;
here are added: journeys in time, branches, forks, other rules, second masters and API servers, webhooks, controllers and
plugins of one's own, an autoscaler, patches, and Ctrl-C anywhere in any of them.
"""

import argparse
import random
import sys
from collections import Counter
from contextlib import suppress
from functools import partial
from unittest.mock import patch

import fault_runs
from fault_runs import INVARIANTS, REFUSALS, cluster, names, nodes_hold_what_they_run

import kvolsched
from kvolsched import writes
from kvolsched.core.upgrades import rules_in_words
from kvolsched.make import node as make_node
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.loop.scheduling_cycle import SCHEDULER
from kvolsched.world import changes, log, runtime
from kvolsched.world.log import Key

PACKAGE = kvolsched.__path__[0]
ACTS = 40  # of a run
GATES = ({"PodSchedulingReadiness": False}, {"MatchLabelKeysInPodTopologySpread": False})


# -- what must hold --------------------------------------------------------------------------------------------------


def inconsistent(c):
    """Say what does not fit together in a cluster: log and map, steps and turns, views and log; "" if all does."""
    known, history, objects, notes = c.world.log, c.world.history, {}, {}
    for place, (key, old, new) in enumerate([*known.changes, (None, None, None)]):
        if place == known.place and (objects, notes) != (known.objects, known.notes):
            return "the map is not what the log makes"
        store = objects if isinstance(key, Key) else notes
        if store.get(key) != old:
            return f"change {place} of {key} is not of the value before"
        store[key] = new
        if new is None:
            del store[key]
    if history.ends != sorted(set(history.ends)) or history.ends[-1] > known.end:
        return f"the ends of steps are {history.ends}, the log ends at {known.end}"
    if [turn.step for turn in history.turns] != sorted(turn.step for turn in history.turns):
        return "the turns are not in the order of their steps"
    lost = [turn for turn in history.turns if not turn.start <= turn.end <= history.ends[min(turn.step, len(history.ends) - 1)]]
    if lost:
        return f"a turn ends at {lost[0].end}, its step {lost[0].step} before"
    fork = c.fork()
    if c.digest() != fork.digest():
        return "the views are not what the log makes"
    return judged_otherwise(c, fork)


def judged_otherwise(c, fork):
    """Say which pod the scheduler judges otherwise on its views with what they keep than on views built anew."""
    if SCHEDULER not in c.world.processes or not c.world.processes[SCHEDULER].watching:
        return ""
    profile = c.revision.profile
    for pod in c.objects("pods"):
        if pod.spec.node_name or pod.terminal:
            continue
        said = []
        for each in (c, c, fork):  # twice: kept verdicts are made for the second pod of a template
            cache = each.world.processes[SCHEDULER].views["cache"]
            judgement = judge(pod, cache.snapshot, profile)
            said.append((judgement.fingerprint, judgement.feasible, judgement.error))
        if len(set(map(repr, said))) > 1:
            return f"pod {pod.metadata.name} is judged otherwise on kept verdicts: {said}"
    return ""


def differs_after_a_journey(c, rng):
    """Say at which step the digest differs after a journey through a cluster's steps and back; "" at none."""
    world = c.world
    if world.step_number != world.history.step_number or world.place != world.history.ends[world.step_number]:
        return ""  # inside a step
    here, digest = world.step_number, c.digest()
    for step in (rng.randint(0, world.known_steps), rng.randint(0, here), world.known_steps):
        c.goto(step)
    c.goto(here)
    return "" if digest == c.digest() else f"after a journey from step {here} its digest is another"


def ports_are_free(c):
    """Say on which node two pods have one port; "" on none."""
    taken = Counter()
    for pod in c.objects("pods"):
        if pod.spec.node_name and not pod.terminal:
            taken.update({(pod.spec.node_name, port.protocol, port.host_port) for container in pod.spec.containers
                          for port in container.ports if port.host_port})  # fmt: skip
    return next((f"{count} pods have port {port} of {node}" for (node, _, port), count in taken.items() if count > 1), "")


def volumes_are_not_crowded(c):
    """Say where more volumes are used than a node may attach, or a claim for one pod is used by two; "" nowhere.

    Of a claim without volume the scheduler counts what its class provisions: so made disks are left out here.
    """
    objects, attached, users = c.world.log.objects, {}, Counter()
    for pod in c.objects("pods"):
        for name in set(pod.claim_names()) if pod.spec.node_name and not pod.terminal else ():
            claim = objects.get(Key("PersistentVolumeClaim", pod.metadata.namespace, name))
            if claim is not None and claim.spec.volume_name.startswith("pvc-"):
                attached.setdefault(pod.spec.node_name, set()).add(claim.spec.volume_name)
                users[name] += "ReadWriteOncePod" in claim.spec.access_modes
    for node, volumes in attached.items():
        limits = objects.get(Key("CSINode", "", node))
        for driver in limits.spec.drivers if limits is not None else ():
            there = (objects.get(Key("PersistentVolume", "", name)) for name in volumes)
            counted = (each.driver_and_handle for each in there if each is not None)
            count = sum(each is not None and each[0] == driver.name for each in counted)
            if driver.allocatable is not None and driver.allocatable.count is not None and count > driver.allocatable.count:
                return f"{count} volumes of {driver.name} are on {node}, which attaches {driver.allocatable.count}"
    return next((f"{count} pods use the claim {name} of one pod" for name, count in users.items() if count > 1), "")


# -- acts ------------------------------------------------------------------------------------------------------------


def deny_some(new, old):
    """Deny what has the label that a random patch sets."""
    return (new or old).metadata.labels.get("app") != "denied" or "denied is denied"


def add_label(new, _old):
    """Add a label to every pod."""
    return {"metadata": {"labels": {"hooked": "yes"}}}


def label_pods(seen, ref):
    """Label each pod."""
    pod = seen.get(ref)
    return writes.patch(ref, {"metadata": {"labels": {"seen": "yes"}}}) if pod and "seen" not in pod.metadata.labels else None


def fail(seen, ref):
    """Fail in every call."""
    return {}[ref]


def count_nodes(seen, ref):
    """Remember how many nodes there are, and look again later."""
    seen.note("nodes", len(seen.list("nodes")))
    return writes.again(30.0)


def not_on_odd(_pod, node, _seen):
    """Reject nodes with an odd number."""
    return int(node.metadata.name[-1], 36) % 2 == 0 or "the node is odd"


def of_time(c, rng):
    """Go somewhere in the history, begin a branch there, or let time pass."""
    known = c.world.known_steps
    return rng.choice((
        partial(c.back, rng.randint(1, 9)), partial(c.goto, rng.randint(0, known)), partial(c.goto, -1),
        partial(c.goto, rng.randint(0, known), branch=f"b{rng.randrange(99)}"), partial(c.goto, rng.choice(c.branches)),
        partial(c.wait, rng.choice((0.1, 5.0, 60.0, 400.0))), partial(c.run, steps=rng.randint(1, 20)),
    ))  # fmt: skip


def put(c, reference, source):
    """Replace an object by the manifest of one with another label: its own, or another one's, which is refused."""
    return c.replace(c.manifests(source).replace("app: web", "app: db"), reference)


def of_rules(c, rng):
    """Let components run other rules, of another release or with other gates, alone or beside the first; or crash a process."""
    manager = "kube-controller-manager"
    if rng.random() < 0.2:
        return rng.choice((partial(c.crash, manager), partial(c.delay, manager, 5.0)))
    component = rng.choice(("kube-scheduler", "kube-apiserver", "kube-controller-manager", "kubelet", None))
    rules = rng.choice(("upstream", "design", "draft", *(GATES if component else ())))
    beside = component is not None and rng.random() < 0.3
    share = {"share": rng.choice((0.0, 0.2, 1.0))} if component == "kube-apiserver" and beside else {}
    return partial(c.upgrade, rules, component, beside=beside, **share)


def of_parts(c, rng):
    """Go on with a fork that has a webhook, a controller, a plugin or an autoscaler, or nothing of one's own."""
    machine = make_node("machine", "zone-a", cpu="4", ready="True")
    return rng.choice((
        c.fork, partial(c.under, rng.choice(("upstream", "design")), replay=rng.random() < 0.5),
        partial(c.with_webhook, validate=deny_some, name=f"deny-{rng.randrange(9)}.example.com",
                on_failure=rng.choice(("Fail", "Ignore")), slow=rng.choice((0.0, 0.0, 2.0))),
        partial(c.with_webhook, mutate=add_label, name=f"label-{rng.randrange(9)}.example.com"),
        partial(c.with_controller, "labeller", watches=["Pod"], reconcile=label_pods),
        partial(c.with_controller, "failing", watches=["Node"], reconcile=fail),
        partial(c.with_controller, "counting", watches=["Node"], reconcile=count_nodes),
        partial(c.with_plugin, not_on_odd), partial(c.with_autoscaler, [{"name": "spot", "template": machine, "max": 2}]),
    ))  # fmt: skip


def of_fields(c, rng):
    """Patch, label and annotate objects; restart workloads."""
    there = names(c, "pod", "node", "deployment", "statefulset", "pvc", "pv", "storageclass") or ["node/none"]
    kept = [each for each in there if not each.startswith("pv") or fault_runs.protected(c[each])] or ["pod/none"]
    pods, sets = names(c, "pod") or ["pod/none"], names(c, "deployment", "statefulset") or ["deployment/none"]
    hooks = [each.name for each in c.first_rules.webhooks]
    meta = {"metadata": {"labels": {"app": rng.choice(("web", "db", "denied", None))}}}
    template = {"spec": {"template": {"spec": {"priority": rng.choice((None, 7)), "terminationGracePeriodSeconds": rng.randint(0, 60)}}}}
    return rng.choice((
        partial(c.patch, rng.choice(there), meta), partial(c.patch, rng.choice(pods), meta, "strategic"),
        partial(c.patch, rng.choice(there), [{"op": "remove", "path": "/metadata/labels/app"}], "json"),
        partial(c.patch, rng.choice(sets), template), partial(c.patch, rng.choice(pods), {"status": {"phase": "Failed"}}, subresource="status"),
        partial(c.annotate, rng.choice(there), f"note=n{rng.randrange(9)}", overwrite=True),
        partial(c.label, rng.choice(there), f"tier=t{rng.randrange(3)}", overwrite=rng.random() < 0.5),
        partial(put, c, own := rng.choice(kept), rng.choice((own, own, *kept))), partial(c.crash, "kube-controller-manager"),
        partial(c.rollout_restart, rng.choice(sets)), partial(c.delete, *rng.choices(kept, k=2)),
        partial(c.outage, rng.choice(hooks), 20.0) if hooks else c.start_nodes,
    ))  # fmt: skip


def of_questions(c, rng):
    """Ask something, which changes nothing."""
    pod = rng.choice(names(c, "pod") or ["pod/none"])
    asked = rng.choice((
        lambda: repr(c.map()), lambda: repr(c.why()), lambda: repr(c.why(pod)), lambda: repr(c.story(pod)), lambda: repr(c.next),
        lambda: repr(c.requests()), lambda: repr((c.passes(pod), c.fits(pod))), lambda: repr(c.verdicts(pod)),
        lambda: repr(c.get("all")), lambda: repr(c.timeline()), lambda: repr(c.may(pod)), lambda: repr((c.create_volume_requests(), c.get_capacity_requests())),
    ))  # fmt: skip
    before = c.digest(), c.world.place, c.world.log.end

    def ask():
        with suppress(*REFUSALS):
            asked()
        if before != (c.digest(), c.world.place, c.world.log.end):
            raise AssertionError("a question has moved the cluster")

    return ask


SORTS = (*fault_runs.SORTS, fault_runs.run_on, fault_runs.run_on, of_time, of_time, of_time, of_fields, of_fields, of_rules, of_parts, of_questions)
# Python enters the methods of a `with` outside its guard; the others are called where an error is on its way already.
NEVER_INTERRUPTED = ("__enter__", "__exit__", "_roll_back", "_recover", "despite_interrupts")


class Interrupt:
    """Raises KeyboardInterrupt at the nth call that the package makes. Mutable: it counts."""

    def __init__(self, nth):
        self.left = nth

    def __call__(self, frame, event, arg):
        name = frame.f_code.co_name if event == "call" else getattr(arg, "__name__", "")
        caller = frame.f_back if event == "call" else frame
        if event not in ("call", "c_call") or name in NEVER_INTERRUPTED or caller is None:
            return
        if caller.f_code.co_filename.startswith(PACKAGE):
            self.left -= 1
            if not self.left:
                sys.setprofile(None)
                raise KeyboardInterrupt


def interrupted(act, interrupt):
    """Do an act with an interrupt, which does not outlast it."""
    sys.setprofile(interrupt)
    try:
        return act()
    finally:
        sys.setprofile(None)


# -- runs ------------------------------------------------------------------------------------------------------------


class Run:
    """One run, with what it did and what was wrong in it. Mutable.

    Args:
        seed: what the cluster and its acts follow from.
        acts: how many.
        without: the numbers of the acts that are left out.
    """

    def __init__(self, seed, acts=ACTS, without=frozenset()):
        self.seed, self.count, self.without = seed, acts, without
        self.acts = {}
        self.cluster = cluster(random.Random(seed))
        self.is_crowded, self.checked = False, 0  # how often it was looked whether nodes are crowded

    def play(self):
        """Do every act; return what was wrong first, "" if nothing was.

        In every other run what is done of large clusters and long ways is done of small and short ones, too.
        """
        far = self.seed % 2
        with patch.object(log, "FAR", 30 if far else log.FAR), patch.object(runtime, "FAR", 3 if far else runtime.FAR), \
             patch.object(log, "KEEP_EVERY", 64 if far else log.KEEP_EVERY), patch.object(changes, "FEW", 8 if far else changes.FEW):
            return self._play()

    def _play(self):
        for number in range(self.count):
            if number not in self.without and (wrong := self._do(number)):
                return wrong
        return ""

    def _do(self, number):
        rng = random.Random(f"{self.seed} random act {number}")
        sort = rng.choice(SORTS)
        act = sort(self.cluster, rng)
        arguments = [*map(str, getattr(act, "args", ())), *(f"{k}={v}" for k, v in getattr(act, "keywords", {}).items())]
        words = f"t={self.cluster.now:g} step {self.cluster.world.step_number} {getattr(act, 'func', act).__name__}"
        self.acts[number] = f"{words}({', '.join(arguments)[:200]})"
        self.is_crowded |= "CSINode" in self.acts[number] or "set_pool" in self.acts[number]
        world, place = self.cluster.world, self.cluster.world.place
        begun = self.cluster
        self._look_for_old_rules()
        before = dict(world.log.objects)
        interrupt = Interrupt(int(10 ** rng.uniform(0, 4.5))) if rng.random() < 0.25 else None
        try:
            found = interrupted(act, interrupt)
            if isinstance(found, kvolsched.Cluster):
                self.cluster = found
        except KeyboardInterrupt:
            self.acts[number] += ": Ctrl-C"
        except REFUSALS as refused:
            self.acts[number] += f": {str(refused).splitlines()[0][:120]}"
        self._look_for_old_rules()
        return self._wrong(rng, before if self.cluster is begun and world.place >= place and sort is not of_time else None)

    def _look_for_old_rules(self):
        """Old rules ask no scheduler for the room of DaemonSets; who shrinks a limit leaves too much there."""
        running = rules_in_words(self.cluster)
        self.is_crowded |= "design" in running or "draft" in running

    def _wrong(self, rng, before):
        c, objects = self.cluster, self.cluster.world.log.objects
        if c.world.lock._is_owned():
            return "the lock is held"
        found = inconsistent(c) or differs_after_a_journey(c, rng) or inconsistent(c)
        if not self.is_crowded:
            self.checked += 1
            found = found or nodes_hold_what_they_run({}, objects) or ports_are_free(c) or volumes_are_not_crowded(c)
        for invariant in INVARIANTS[1:]:
            found = found or invariant(before if before is not None else objects, objects)
        return found


def wrong(seed, acts=ACTS, without=frozenset()):
    """Return what is wrong in a run, "" for nothing; an exception is wrong, too."""
    try:
        return Run(seed, acts, without).play()
    except Exception as error:  # noqa: BLE001 - told as a finding
        return f"{type(error).__name__}: {error}"


def report(seed, acts=ACTS):
    """Return what was wrong in a run with the fewest acts that lead there, as lines; "" if nothing was."""
    found = wrong(seed, acts)
    if not found:
        return ""
    without = frozenset()
    for number in range(acts - 1, -1, -1):
        if wrong(seed, acts, without | {number}) == found:
            without |= {number}
    run = Run(seed, acts, without)
    with suppress(Exception):
        run.play()
    return "\n".join([f"seed {seed}: {found}", *(f"  {number}. {words}" for number, words in run.acts.items())])


def main():
    """Play runs by their seeds, and print each finding with its seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--acts", type=int, default=0, help="play as many acts, from the seed --from on")
    parser.add_argument("--from", dest="first", type=int, default=0)
    asked = parser.parse_args()
    for seed in asked.seeds or range(asked.first, asked.first + asked.acts // ACTS):
        if not asked.seeds and not seed % 50:
            print(f"from seed {seed} on", file=sys.stderr, flush=True)
        if found := report(seed) if asked.seeds else wrong(seed):
            print(f"{seed}: {found}" if not asked.seeds else found, flush=True)


if __name__ == "__main__":
    main()
