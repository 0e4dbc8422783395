"""Frames of rows that chance made, as clusters seldom give them: for pictures alone, which are functions of a frame.

Ties, none of a kind, one more than fits, long names and names that sort otherwise than they came stand in them more often
than in any cluster.
"""

import json
import re
import warnings

import altair as alt
from altair.utils.schemapi import debug_mode

from kvolsched.api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL
from kvolsched.questions.series import Timeline, TimelinePoint
from kvolsched.views import frame as f
from kvolsched.views.charts import placement, renderer, runs, tables
from kvolsched.views.charts.figure import CHARTS
from kvolsched.views.drawing.theme import served
from kvolsched.views.pictures import choices, headline, lanes, log
from kvolsched.views.pictures.picture import NAMED

LONG = "a-very-long-name-that-someone-generated-from-a-template-x-yz-{}"
NAMES = ("zone-{}", "z{}", "rack-{}.example.com", "europe-west-{}-a", LONG)
COUNTS = (0, 1, 1, 2, 2, 3, 3, 5, 6, 7, 9, 12, 24, 25, 31, 60, 170)
UIDS = "6f1c2d3e-4b5a-4c6d-8e7f-{:012d}"
HEADS = (
    ("NodeUnschedulable", "U", "node"), ("TaintToleration", "T", "node"), ("NodeAffinity", "A", "node"),
    ("NodeResourcesFit (PodFitsResources)", "F", "resources"), ("VolumeBinding", "V", "storage"), ("VolumeZone (Z)", "Z", "storage"),
    ("PodTopologySpread", "S", "spread"), ("InterPodAffinity", "I", "elsewhere"), ("NodeVolumeLimitsCSI", "L", "storage"),
    ("ThisPluginOfOurOwnHasANameThatIsLongerThanAnyNarrowPageIsWideSoItIsCutSomewhere", "O", "node"))  # fmt: skip
REASONS = ("node(s) had untolerated taint(s)", "node(s) had taint {example.com/pool: blue}, that the pod didn't tolerate" + ", a reason more" * 9,
           "Insufficient cpu", "node(s) were unschedulable", "",
           "node(s) didn't find available persistent volumes to bind", "Insufficient cpu, Too many pods")  # fmt: skip
WHO = ("web-6", "p", "the next replica of deploy/web", "the next replica, web-7, of sts/web", "a-pod-of-18-letter", "a-pod-of-19-letters")


def named(count, rng):
    """Return so many names of one kind, in no order."""
    form = rng.choice(NAMES)
    return rng.sample([form.format(number) for number in range(count)], count)


def chosen(rng, share, *values):
    """Return one of some values, or what is false, in this share of cases."""
    return rng.choice(values) if rng.random() < share else type(values[0])()


# --- ledgers ----------------------------------------------------------------------------------------------------------


def stop(rng, nodes):
    """Return what keeps a pod off nodes."""
    name, _, family = rng.choice(HEADS[:7])
    return f.Stop(name, rng.randint(1, max(1, nodes)), rng.choice(REASONS).replace("node(s) ", "") or "x", family,
                  resolvable=rng.random() < 0.6, by_constraint=False)  # fmt: skip


def landing(rng, nodes, *, fits):
    """Return whether a pod may land on so many nodes; where the sum forbids it, it may not."""
    if rng.random() < 0.1:
        return None
    if not fits and rng.random() < 0.9:
        first = f.Stop("PodTopologySpread", nodes, "3 too many over zone-c", "spread", resolvable=True, by_constraint=True)
        return f.Landing(0, (first, *(stop(rng, nodes) for _ in range(rng.choice((0, 0, 1, 2))))))
    fitting = rng.choice((0, nodes, nodes, rng.randint(0, nodes)))
    return f.Landing(fitting, tuple(stop(rng, nodes) for _ in range(rng.choice((0, 1, 2)))) if fitting < nodes else ())


def best_node(rng, domain):
    """Return the node of a domain with the most points."""
    raw, score, weight = rng.choice(((0, 100, 2), (3, 40, 2), (0, 0, 1), (1_234_567_890, 1, 1), (rng.randint(0, 900), rng.randint(0, 100), rng.choice((1, 2, 7)))))
    others = [(name, letter, family, rng.choice((1, 30, 57, 100, 300)), name.removeprefix("NodeResources")[:9])
              for name, letter, family in rng.sample(HEADS[:6], rng.randint(0, 3))]
    parts = ([f.Points("PodTopologySpread", "S", "spread", score * weight, "spread")] if score else []) + [f.Points(*each) for each in others]
    return f.BestNode(f"{domain}-n1", raw, score, weight, tuple(parts), sum(each.points for each in parts), chosen=False)


def some_ledger(rng, soft):
    """Return one ledger of skew."""
    names, most, max_skew = named(rng.choice(COUNTS), rng), rng.choice((0, 1, 3, 3, 6, 7, 11, 12, 13, 40, 130)), rng.choice((1, 1, 2, 5))
    alike, kinds = rng.random() < 0.6, [rng.randint(0, most) for _ in range(3)]
    out = {name: rng.choice(("x1 lacks the topology key", "n1 and n2 lack the topology key", "no node affinity of the pod matches it " * 3))
           for name in names if rng.random() < rng.choice((0, 0.2, 1))}  # fmt: skip
    counted = {name: rng.choice(kinds) if alike else rng.randint(0, most) for name in names}
    inside = [counted[name] for name in names if name not in out]
    min_domains = rng.choice((0, 0, 0, 1, 9))
    forced = not inside or len(inside) < min_domains
    minimum = 0 if forced else min(inside)
    nodes = [rng.choice((1, 2, 2, 3)) for _ in range(2)]
    rows = []
    for name in names:
        skew, size = counted[name] + 1 - minimum, rng.choice(nodes)
        fits = soft or (skew <= max_skew and name not in out)
        shut = landing(rng, size, fits=fits)
        not_counted = tuple((rng.choice((1, 1, 2, 3, 4, 12)), why) for why in rng.sample(
            ("terminating", "another namespace", "another pod-template-hash", "no label app"), rng.randint(1, 3)))
        rows.append(f.SkewRow(
            name, size, counted[name], not_counted if rng.random() < 0.3 else (), out.get(name, ""), skew, fits=fits, landing=shut,
            best=best_node(rng, name) if soft and name not in out and rng.random() < 0.85 else None,
            sum=f"{counted[name]} + 1 − {minimum} = {skew} {'≤' if fits else '>'} {max_skew}"))  # fmt: skip
    lead = max((row.best.total for row in rows if row.best), default=0)
    first = [row for row in rows if row.best and row.best.total == lead and rng.random() < 0.8][:1]
    rows = [_chosen(row) if row in first else row for row in rows]
    lands = any(row.landing and row.landing.fitting for row in rows)
    return f.SkewLedger(
        "pod/web-6", rng.choice((ZONE_LABEL, "rack")), max_skew, min_domains, "ScheduleAnyway" if soft else "DoNotSchedule",
        rng.choice(("app=web", "app in (web, api), tier=front, same pod-template-hash")), 1, minimum,
        "" if forced else min(name for name in names if name not in out and counted[name] == minimum), minimum + max_skew,
        tuple(sorted(rows, key=lambda row: (bool(row.left_out), row.domain))), rng.choice(WHO), chosen(rng, 0.2, "n1"),
        rng.choice(("now: step 1, t = 0 s, rules upstream", "", "pass 12: step 130, t = 1.5 s, after " + "many words " * 12)),
        chosen(rng, 0.9, "Nobody may take it."), chosen(rng, 0.9, "zone-a sets the minimum (0) and is shut. " * 3, "So it is."), open=lands,
        notes=tuple(rng.sample([("points", "a sum of words; points = score × weight. " * 3), ("to win", "no weight lets it."), ("With Honor:", "few")],
                               rng.choice((0, 0, 1, 3)))),
        plugin=rng.choice(("PodTopologySpread", "PodTopologySpread", "OurOwnSpreadingOverRacksAndRooms")), together=chosen(rng, 0.2, "Both constraints together allow b1 and b2."))  # fmt: skip


def _chosen(row):
    best = f.BestNode(row.best.node, row.best.raw, row.best.score, row.best.weight, row.best.parts, row.best.total, chosen=True)
    return f.SkewRow(row.domain, row.nodes, row.counted, row.not_counted, row.left_out, row.skew_if_placed, row.fits, row.landing, best, row.sum)


def some_skew(rng):
    """Return a frame with ledgers of skew, seldom with none."""
    if rng.random() < 0.05:
        return f.Frame(no_ledger=chosen(rng, 0.5, "web has no spread constraint."))
    return f.Frame(skew=tuple(some_ledger(rng, rng.random() < 0.4) for _ in range(rng.choice((1, 1, 1, 1, 2)))))


def some_capacity(rng):
    """Return a frame with ledgers of capacity, seldom with none."""
    if rng.random() < 0.1:
        return f.Frame(no_ledger=chosen(rng, 0.5, "web has no claim to provision."))
    gi, asked = 1 << 30, rng.choice((1, 10, 60))
    sizes = [rng.choice((None, 0, 1, 9, 10, 60, 120, 900)) for _ in range(4)]
    ledgers = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        rows = []
        for name in named(rng.choice(COUNTS), rng):
            published, now = rng.choice(sizes), rng.choice(sizes)
            now = rng.choice((now, published, None if rng.random() < 0.2 else now))
            largest, limit = chosen(rng, 0.2, *(size for size in sizes if size), 5) or None, chosen(rng, 0.2, 5, 70) or None
            expired = rng.random() < 0.1
            fits = published is not None and min(published, largest or published) >= asked and not expired
            of_gi = [None if size is None else size * gi for size in (published, largest, now, limit)]
            rows.append(f.CapacityRow(name, rng.choice(("1 node", "2 nodes")), of_gi[0], of_gi[1], rng.choice((0.0, 0.0, 12.0)), expired, of_gi[2],
                                      fits, chosen(rng, 0.3, "capacity is not given") if published is None else "", of_gi[3]))
        ledgers.append(f.CapacityLedger(
            rng.choice(("pvc/data", "pvc/shop/data and pvc/logs", "pvc/a, pvc/b and pvc/c", "inline volume scratch")), "fast", asked * gi,
            chosen(rng, 0.1, "Driver disks.example.com does not publish capacity: not checked"), tuple(sorted(rows, key=lambda row: row.pool)),
            rng.choice(("now: step 1, t = 0 s, rules upstream", "")), chosen(rng, 0.8, "1 pool looks large enough and is not."),
            chosen(rng, 0.8, "The driver has less room now."), warns=rng.random() < 0.3))
    return f.Frame(capacity=tuple(ledgers))


# --- nodes, with what plugins say of them -----------------------------------------------------------------------------


def some_verdicts(rng, names):
    """Return the verdicts of one pass over nodes."""
    plugins = tuple(f.PluginHead(*each) for each in rng.sample(HEADS, rng.choice((0, 1, 4, 4, 8, 10))))
    kinds = ["".join(rng.choice("pp-xue"[: rng.choice((3, 6))]) for _ in plugins) for _ in range(rng.choice((2, 5, 40)))]
    pre = rng.random() < 0.1
    rows = []
    for name in sorted(names):
        codes = "." * len(plugins) if pre or rng.random() < 0.05 else rng.choice(kinds)
        first = next((place for place, code in enumerate(codes) if code in "xue"), -1)
        rows.append((name, codes, first))
    fitting = [name for name, codes, first in rows if first < 0 and "." not in codes]
    taken = {rng.choice(fitting)} if fitting and rng.random() < 0.8 else set()
    return f.Verdicts(rng.choice(("pod/web-0", "pod/" + LONG.format("p"))), rng.choice((0, 1, 12)), plugins,
                      tuple(f.VerdictRow(name, codes, first, chosen=name in taken) for name, codes, first in rows),
                      prefilter='persistentvolumeclaim "data" not found' if pre else "", prefilter_plugin="VolumeBinding" if pre else "",
                      rules_changed=rng.random() < 0.2)  # fmt: skip


def some_cell(rng, verdicts):
    """Return the words of a cell, of which some were asked for."""
    if not verdicts.rows or not verdicts.plugins or rng.random() < 0.5:
        return None
    row, place = rng.choice(verdicts.rows), rng.randrange(len(verdicts.plugins))
    return f.CellDetail(row.node, verdicts.plugins[place].name.partition(" (")[0], row.codes[place],
                        chosen(rng, 0.6, ("Insufficient cpu",), ("a reason of many words " * 9, "another")),
                        chosen(rng, 0.6, ("requests.cpu 500m > allocatable 4000m − requested 3800m = 200m", "words " * 50)))  # fmt: skip


def some_nodes(rng, count):
    """Return a frame of nodes in domains, with pods, claims and volumes on them."""
    form = rng.choice((*NAMES, "n-" + UIDS))
    names = [form.format(number) for number in range(count)]
    verdicts = some_verdicts(rng, names)
    zones = named(rng.choice((1, 3, 5)), rng)
    share = rng.choice((0, 0.9, 1, 1, 1))  # of those that were there when the pass was made
    judged, rows = {row.node: row for row in verdicts.rows if rng.random() < share}, []
    for name in names:
        row, reason = judged.get(name), rng.choice(REASONS)
        verdict = "not judged" if row is None else "not asked" if f.NOT_ASKED in row.codes else "rejected" if row.first >= 0 else (
            "chosen" if row.chosen else "fits")  # fmt: skip
        topology = ((HOSTNAME_LABEL, name), ("rack", "r1"), (ZONE_LABEL, rng.choice(zones)))
        rows.append(f.NodeRow(
            f"node/{name}", name, tuple(each for each in topology if rng.random() < 0.9), rng.choice((0, 500, 5000)), rng.choice((0, 4000)),
            rng.choice((0, 1 << 20, 3 << 30)), rng.choice((0, 16 << 30)), rng.choice((0, 7, 120)), rng.choice((0, 1, 110)), rng.random() < 0.9,
            rng.random() < 0.1, chosen(rng, 0.2, ("node.kubernetes.io/unschedulable:NoSchedule", "gpu=yes:NoSchedule"), ("a=b:NoExecute",)),
            verdict, row.first if verdict == "rejected" else -1, reason if verdict in ("rejected", "not asked") else "",
            rng.random() < 0.7, rng.choice((-1, 0, 50, 87)) if verdict in ("fits", "chosen") else -1))  # fmt: skip
    pods, claims, volumes = some_pods(rng, names, zones)
    refs = [row.ref for row in rows] + [pod.ref for pod in pods]
    head = f.Head("made", "upstream", "main", 3, 9, "steps", 1.5, "scheduler", "scheduler", "It acts.", tuple(sorted(rng.sample(refs, rng.choice((0, min(2, len(refs))))))),
                  rng.choice([verdicts.pod, *[pod.ref for pod in pods if not pod.node][:3]]), "")
    kept = verdicts if judged else f.Verdicts()
    rows = rows[: rng.choice((-1, None, None, None))]  # one of which a pass was told may be gone
    return f.Frame(head=head, nodes=tuple(sorted(rows, key=lambda row: row.name)), pods=pods, claims=claims, volumes=volumes,
                   classes=(f.ClassRow("sc/fast", "fast", "WaitForFirstConsumer", "any", "disks.example.com"),) * (rng.random() < 0.7),
                   verdicts=f.Verdicts(kept.pod, kept.number, kept.plugins, kept.rows, (), kept.prefilter, kept.prefilter_plugin, kept.rules_changed,
                                       some_cell(rng, kept)))  # fmt: skip


def some_pods(rng, names, zones):
    """Return pods of every state on nodes and without one, their claims, and volumes."""
    pods, claims, volumes = [], [], []
    crowded = rng.sample(names, min(3, len(names)))
    for number in range(rng.choice((0, 3, 12, 40))):
        name, namespace = rng.choice(("p-{}", LONG)).format(number), rng.choice(("default", "default", "shop"))
        state, home = rng.choice(f.POD_STATES), rng.choice((rng.choice(names), *crowded)) if names else ""
        node = "" if state in ("pending", "gated", "assumed") else home
        used = tuple(f"pvc/c{each}" for each in rng.sample(range(9), rng.choice((0, 0, 1, 2))))
        prefix = "" if namespace == "default" else f"{namespace}/"
        pods.append(f.PodRow(f"pod/{prefix}{name}", name, namespace, node, home if state == "assumed" else "",
                             chosen(rng, 0.3, home) if not node else "", state, ("a/b",) if state == "gated" else (), rng.random() < 0.4,
                             used, 100, 1 << 30, rng.choice(f.QUEUE_STATES) if not node else "", rng.choice((0.0, 2.5))))  # fmt: skip
    for number in range(rng.choice((0, 3, 9, 40))):
        state, home = rng.choice(f.CLAIM_STATES), rng.choice(names) if names else ""
        claims.append(f.ClaimRow(f"pvc/c{number}", f"c{number}", chosen(rng, 0.9, "fast"), "WaitForFirstConsumer", "10Gi", state,
                                 home if state == "selected node" else "", home if state == "assumed" else "",
                                 f"v{number}" if state == "bound" else "", chosen(rng, 0.3, f"v{number}") if state == "assumed" else "",
                                 tuple(pod.ref for pod in pods if f"pvc/c{number}" in pod.claims)))  # fmt: skip
        reach = rng.choice((f"node:{home}", f"zone:{rng.choice(zones)}", f"zones:{zones[0]},{zones[-1]}", "all", "nowhere"))
        volumes.append(f.VolumeRow(f"pv/v{number}", f"v{number}", chosen(rng, 0.9, "fast"), "10Gi", rng.choice(f.VOLUME_STATES), reach,
                                   chosen(rng, 0.5, f"pvc/c{number}"), ""))
    return tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name))), tuple(claims), tuple(volumes)


def some_matrix(rng):
    """Return a frame whose verdicts are drawn: of few nodes, of as many as have a row each, of more."""
    return some_nodes(rng, rng.choice((1, 3, 12, 24, 25, 80)))


def some_map(rng):
    """Return a frame with more nodes than have a card each, seldom so many that none has a cell."""
    return some_nodes(rng, rng.choice((9, 25, 40, 70, 70, 299, 310)))


# --- tables of words --------------------------------------------------------------------------------------------------

FIELDS = ("metadata.annotations[a/b]", "metadata.labels[app]", "status.conditions[Ready].status", "spec.nodeAffinity.required.x", "spec.claimRef",
          "metadata.ownerReferences[0]", "", "event Scheduled")  # fmt: skip


def some_log(rng):
    """Return a frame with changes, Events and a story."""
    refs, ops = ("pod/web-0", "pod/web-0", "pvc/data", "node/n1"), f.CHANGE_OPS
    step = rng.choice((0, 2, 7))
    changes = tuple(f.ChangeRow(rng.choice(("api", "note")), rng.choice(("kube-scheduler", "a-driver", "kubelet")), rng.choice(ops), rng.choice(refs),
                                rng.choice(FIELDS[:-1]), chosen(rng, 0.5, "old"), chosen(rng, 0.7, "new"),
                                *rng.choice((("done", ""), ("done", ""), ("Conflict", "it was modified"), ("NotFound", ""))))
                    for _ in range(rng.choice((0, 1, 4, 9))))
    events = tuple(f.EventRow(rng.choice((0, 2, 7)), 0.5, rng.choice(("Normal", "Warning")), rng.choice(("Scheduled", "FailedScheduling")),
                              rng.choice(refs), rng.choice(("a message\nof two lines", "another")), rng.choice((1, 1, 3)), rng.choice((0.5, 1.0)))
                   for _ in range(rng.choice((0, 1, 4, 60, 61, 70))))
    story = f.ObjectStory(chosen(rng, 0.9, "pod/web-0"), tuple(
        f.ObjectStoryRow(rng.choice((1, 2, 7)), rng.choice((0.0, 1.25)), "kubelet", rng.choice(ops), rng.choice(FIELDS), chosen(rng, 0.5, "old"),
                         chosen(rng, 0.8, "new")) for _ in range(rng.choice((0, 3, 6)))))  # fmt: skip
    head = f.Head("made", "upstream", "main", step, 9, "steps", 1.5, "kubelet", "kubelet", "", (), "", "")
    return f.Frame(head=head, changes=changes, events=events, story=story)


def some_cards(rng):
    """Return a frame of so few nodes that each has a card."""
    return some_nodes(rng, rng.choice((0, 1, 2, 3, 6, 12, 24)))


def some_marks(rng, last):
    """Return what an actor did in some steps, in some of them several things."""
    steps = rng.sample(range(last + 1), min(last + 1, rng.choice((0, 0, 2, 6))))
    return tuple(f.Mark(at, rng.choice(f.MARK_KINDS), rng.choice((*lanes.LETTERS, "queue", "")), chosen(rng, 0.8, "pod/p", "pod/q"),
                        rng.choice(("done", "Conflict"))) for at in sorted(steps) for _ in range(rng.choice((1, 1, 2, 4))))  # fmt: skip


def some_lanes(rng):
    """Return a frame with what actors did, and what they have not seen yet."""
    step, last = rng.choice((0, 3, 12)), rng.choice((0, 3, 12, 60, 200))
    labels = ("scheduler · pass", "kubelet", LONG.format(1), "kubernetes.io/gce-pd", "ebs.example.com/driver-of-disks attacher", "disks.example.com resizer of many claims")
    rows = [f.Lane(f"a{number}", rng.choice(("kubelet", "kube-scheduler")), rng.choice(labels), some_marks(rng, max(step, last)),
                   tuple(f.Cursor(kind, rng.randint(0, step), rng.choice((0, 0, 2))) for kind in ("Node", "PersistentVolumeClaim")[: rng.choice((0, 1, 2))]))
            for number in range(rng.choice((0, 1, 3, 9)))]  # fmt: skip
    head = f.Head("made", "upstream", "main", step, max(step, last), "steps", 1.5, "kubelet", rng.choice(("", "a0", "a1")), "", (), "", "")
    return f.Frame(head=head, lanes=tuple(rows))


# --- counts, and the headline -----------------------------------------------------------------------------------------

def some_counts(rng):
    """Return counts of runs over time."""
    clusters, panes = tuple(f"run {number}" for number in range(rng.choice((1, 2, 2, 4, 5, 7)))), []
    for measure, unit, has_sum in rng.sample((("running", "pods", False), ("pending", "pods", False), ("cpu held", "cores", True), ("skew", "", False),
                                              ("room", "GiB", False), ("FailedScheduling", "", False)), rng.randint(1, 4)):  # fmt: skip
        lines = []
        for cluster in clusters if rng.random() < 0.9 else ():
            points = [TimelinePoint(at, float(rng.choice((0, 1, 2, 2.5, 3000))), number) for number, at in enumerate((0.0, 1.5, 9.0)[: rng.choice((1, 2, 3))])]
            parts = ("published", "driver now") if measure == "room" else ("",)
            lines += [Timeline(measure, cluster, part, unit, tuple(points), 12.0, (("FailedScheduling", 2),) * (unit == ""), rng.choice((9, 12))) for part in parts]
        panes.append(f.SeriesPane(measure, tuple(lines), unit, chosen(rng, 0.3, ("FailedScheduling",)), has_sum=has_sum))
    return f.Frame(series=f.SeriesRows(clusters, tuple(rng.choice((0, 7)) for _ in clusters), tuple(panes), rng.choice((0.0, 12.0)), rng.choice((0.0, 1.5)),
                                       rng.choice((0, 3)), is_at_end=rng.random() < 0.5, by_step=rng.random() < 0.3))  # fmt: skip


def some_head(rng):
    """Return a frame with a headline, and those who may act next."""
    actor = rng.choice(("", "scheduler · pass", "bind worker", LONG.format(1)))
    labels = ("scheduler · pass", "PV controller", "kubelet", "provisioner disks.example.com", "a controller of ours")
    rows = [f.NextActor(f"a{number}", label, "kube-scheduler", rng.choice(("", "", f"{label} writes. And more.", "Scheduler binds web-0.", "judge web-0 on 3 nodes",
                                                                                         "PV binds it.", "A pod is made.", "Provisioner asks the driver. Twice.", LONG)),
                        default=number == 0, changes_nothing=rng.random() < 0.3, about=rng.choice(("my-pod", "my-pod in 5 s", LONG.format(2) * 2)), wait=chosen(rng, 0.2, "in 5 s: "))
            for number, label in enumerate(rng.choice(labels) for _ in range(rng.choice((0, 1, 3, 8, 19))))]  # fmt: skip
    head = f.Head("made", rng.choice(("upstream", "design", "draft", "ours")), rng.choice(("main", "a<b")), rng.choice((0, 4, 1234)), 2000, "steps",
                  rng.choice((0.0, 1.23456, 98765.4)), actor, "a0", rng.choice(("", "It acts.", "A word, " * rng.randint(1, 30))), (), "", "",
                  of_pair=rng.choice(((), (), ("left", "right", LONG.format(3)))))
    return f.Frame(head=head, next=tuple(rows))


# --- charts -----------------------------------------------------------------------------------------------------------

def some_scores(rng):
    """Return the table of scores of a pass, in which several nodes may be as good."""
    names, plugins = named(rng.choice((1, 3, 12, 45)), rng), rng.sample(HEADS, rng.choice((1, 3)))
    rows = [f.ScoreRow(name, plugin, rng.randint(0, 900), points, weight, points * weight)
            for name in names for plugin, _, _ in plugins for points, weight in [(rng.choice((0, 1, 50, 100)), 2)]]
    return tables.scores(f.Verdicts("pod/p", 1, (), tuple(f.VerdictRow(name, "", -1, chosen=rng.random() < 0.2) for name in names), tuple(rows)))


def some_series(rng):
    """Return the table of counts over time, and how they are drawn."""
    rows = []
    for measure in ("running", "cpu held")[: rng.choice((1, 2))]:
        for line in ("main", "fork")[: rng.choice((1, 2))]:
            step, whole = 0, rng.random() < 0.7
            for _ in range(rng.choice((1, 4, 9, 300, 301, 400))):
                rows.append({"measure": measure, "cluster": line, "line": line, "time": step * 0.5, "step": step, "value": rng.randint(0, 3) if whole else 1.5})
                step += rng.choice((0, 1, 1, 2))
    return rows, {"over": rng.choice(("time", "step")), "step": rng.choice((None, 0, 4, 10**6))}


def some_sweep(rng):
    """Return the table of a sweep, and how it is drawn."""
    x, y, by = rng.choice((("zones", "share", "mode"), ("a.b", "c[0]", "d'e")))
    values = rng.choice(((2, 3, 4), (1, 10, 1000), (7, 20), tuple(range(20, 32)), tuple(range(20, 33)), ("early", "late")))
    more = {"low": rng.choice((0.0, 0.001, 0.1)), "high": 0.9} if rng.random() < 0.5 else {}
    more |= {"expected": 0.3} if rng.random() < 0.5 else {}
    rows = [{x: value, y: rng.choice((0.0, 0.02, 0.2, 0.5, 40.0)), by: mode} | more for value in values for mode in ("p", "q")]
    log = rng.choice(("", "", "y")) if isinstance(values[0], str) or rng.random() < 0.5 else rng.choice(("x", "xy"))
    return rows, {"x": x, "y": y, "by": rng.choice(("", by)), "log": log if any(row[y] > 0 for row in rows) else ""}


def some_lives(rng):
    """Return the table of the lives of pods, and how it is drawn."""
    rows = []
    for number in range(rng.choice((1, 5, 59, 60, 61, 70))):
        at = rng.randint(0, 4)
        for state in ("waits", "starts", "running")[: rng.choice((1, 3))]:
            end = at + rng.randint(0, 5)
            rows.append({"pod": f"p{number:02d}", "state": state, "step": at, "until": end, "since": at * 0.5, "to": end * rng.choice((0.5, 0.7))})
            at = end
    return rows, {"over": rng.choice(("time", "step"))}


def some_turns(rng):
    """Return the table of who acted when, and where the run is."""
    lanes = tuple(f.Lane(f"a{number}", "kubelet", f"lane {number}", tuple(
        f.Mark(step, rng.choice(f.MARK_KINDS), rng.choice(("patch", "")), "pod/p") for step in rng.sample(range(rng.choice((9, 400, 401, 600))), 6)))
        for number in range(rng.choice((1, 3))))  # fmt: skip
    return tables.turns(lanes), {"step": rng.randint(0, 9)}


def some_steps(rng):
    """Return the table of counts over steps, and what users did."""
    rows = [{"domain": name, "step": step, "counted": rng.randint(0, 9), "minimum": 1, "limit": rng.randint(1, 12), "left_out": ""}
            for step in range(5) for name in ("b", "a", "c")]
    acts = [{"step": step, "until": step, "act": f"User scales deploy/web to {step}."} for step in range(rng.choice((0, 1, 6, 7)))]
    return rows, {"acts": acts, "step": rng.randint(0, 9)}


def some_ends(rng):
    """Return the table of how sampled runs end."""
    ends = rng.sample(("web-0 Running, web-1 Running", "nobody acts", "web-0 waits, web-1 waits, web-2 waits"), rng.randint(1, 3))
    return [{"end": end, "runs": 3, "share": 0.3, "low": 0.1, "high": 0.6, "goal": rng.choice((tables.HOLDS, tables.STUCK))} for end in ends], {}


CHARTED = {
    "skew": lambda rng: (tables.skew(some_skew(rng).skew), {}), "capacity": lambda rng: (tables.capacity(some_capacity(rng).capacity), {}),
    "nodes": lambda rng: (tables.nodes(some_nodes(rng, rng.choice((1, 12, 40, 41, 90))), rng.choice((ZONE_LABEL, HOSTNAME_LABEL, "rack"))), {}),
    "scores": lambda rng: (some_scores(rng), {}), "series": some_series, "sweep": some_sweep, "lives": some_lives, "turns": some_turns,
    "skew_over_steps": some_steps, "sample": some_ends}  # fmt: skip


def some_chart(rng):
    """Return a chart of chance rows."""
    kind = rng.choice([*CHARTED])
    rows, options = CHARTED[kind](rng)
    make = getattr(placement if CHARTS[kind] == "placement" else runs, kind)
    words = (chosen(rng, 0.7, "A question?"), *rng.choice(((), ("It is so", "and so, too. " * 9))))
    if kind == "skew_over_steps":
        return make(rows, options["acts"], options["step"], *words[1:])
    return make(rows, words[0], *([] if kind == "sweep" else words[1:]), **options)


# --- walks ------------------------------------------------------------------------------------------------------------

EDGES = (300, 420, 520, 700, 819, 820, 1000, 1080)


def pictures_of(name, some, count):
    """Return a walk that draws one picture of so many frames, at any width, with something selected that is drawn in it."""
    def walk(_seed, rng):
        picture = NAMED[name]
        for number in range(count):
            frame, wide, key = some(rng), rng.choice((*EDGES, rng.randint(300, 1500))), rng.choice((ZONE_LABEL, ZONE_LABEL, "rack", HOSTNAME_LABEL))
            drawn = picture.svg(frame, wide, "", key)
            refs = [*sorted(set(re.findall(r'data-ref="([^"]+)"', drawn))), *elsewhere(frame)] or [""]
            selected = [picture.svg(frame, wide, rng.choice(refs), key)] if rng.random() < 0.6 else []
            yield f"{number} {wide} {key}", "\n".join([drawn, *selected, picture.words(frame, key)])
    return walk


def elsewhere(frame):
    """Return what is selected in another picture, or was until it went: of some nodes and pods."""
    labels = {each for node in frame.nodes[:3] for each in node.topology}
    return [*sorted(f"domain/{key}/{value}" for key, value in labels), *sorted(f"zone/{value}" for _, value in labels),
            *(f"verdict/{node.name}/Nothing" for node in frame.nodes[:2]), *(pod.ref for pod in frame.pods[:9])]


def charts(_seed, rng):
    """Write the specs of charts, and of some that are joined or laid over each other, as they stand in a page."""
    with debug_mode(False), warnings.catch_warnings(action="ignore"):  # charts of one kind share their selection
        for number in range(6):
            chart = some_chart(rng)
            if rng.random() < 0.3:
                chart = rng.choice((alt.hconcat, alt.vconcat))(chart, some_chart(rng))
            spec = chart.to_dict(validate=False)
            shown, named_tables = renderer.with_named_tables(renderer.on_page(spec))
            told = json.dumps([spec, shown, named_tables, renderer.words(shown, named_tables)], sort_keys=True)
            yield str(number), re.sub(r"view_\w+|data-[0-9a-f]+", "", told)


def timelines(_seed, rng):
    """Draw lanes, of which some are open and those with nothing to see may be one row."""
    for number in range(12):
        frame, wide = some_lanes(rng), rng.choice((*EDGES, 1500, 2400))
        ref = rng.choice(("", "pod/p", "lane/a0", *(f"mark/{mark.step}/{lane.actor}" for lane in frame.lanes for mark in lane.marks)))
        unfolded = {name for name in ("a0", "a1", "idle") if rng.random() < 0.3}
        yield str(number), lanes.draw(frame, wide, ref, unfolded=unfolded, fold=rng.random() < 0.6) + lanes.reading(frame)


def headlines(_seed, rng):
    """Write headlines, and those who may act next."""
    for number in range(16):
        frame, wide = some_head(rng), rng.randint(300, 1500)
        label = headline.next_label(frame)
        yield str(number), "\n".join([
            headline.draw(frame, wide), repr(headline.draw_svg(frame, wide)), headline.reading(frame), headline.next_reading(frame), label,
            *map(headline.chip_words, frame.next), str(headline.chips_that_fit(frame.next, wide, label)), headline.place_html(frame),
            headline.badge_html(frame), headline.stacked([headline.draw_svg(frame, wide), ("<g/>", 7.0)], wide, "two")])


def games(_seed, rng):
    """Write clusters that are played by buttons, as a figure and as a page."""
    some = []
    for name in ("first", "second")[: rng.choice((1, 2))]:
        states = {taken: choices.State(some_cards(rng), chosen(rng, 0.5, "why?"), chosen(rng, 0.5, "so"), rng.choice((0, 2)), chosen(rng, 0.5, "it lacks"))
                  for taken in ((), (0,), (0, 1))}
        some.append(choices.Game(name, "What would you do? " * rng.choice((1, 9)), ("cordon n1", "wait"), states, once=rng.random() < 0.5))
    for words in (choices.bundle(some, rng.choice(("you", "ours")), "a reading"), choices.page(some, "a < b")):
        told = words if isinstance(words, str) else json.dumps({name: each for name, each in words.items() if name != "image/png"})
        yield str(len(told)), told.replace(served("kvolsched.views.pictures", "choices.js"), "")


def logs(_seed, rng):
    """Write every table of changes, Events and stories."""
    for number in range(12):
        frame, chosen_ref = some_log(rng), rng.choice(("", "pod/web-0", "step/2"))
        written = [log.draw_written(frame, 700, chosen_ref, open_=rng.random() < 0.5), log.draw_recent(frame, 700, chosen_ref)]
        tables = [NAMED[name].svg(frame, 700, chosen_ref) + NAMED[name].words(frame) for name in ("changes", "events", "story")]
        yield str(number), "\n".join([*written, *tables])


ROWS = {"skew-rows": pictures_of("skew", some_skew, 12), "capacity-rows": pictures_of("capacity", some_capacity, 12),
        "verdict-rows": pictures_of("verdicts", some_matrix, 8), "map-rows": pictures_of("map", some_map, 5), "log-rows": logs, "chart-rows": charts,
        "card-rows": pictures_of("map", some_cards, 6), "lane-rows": timelines,
        "domain-rows": pictures_of("domains", some_map, 4), "count-rows": pictures_of("series", some_counts, 12),
        "head-rows": headlines, "game-rows": games}
"""Sorts of walks."""
