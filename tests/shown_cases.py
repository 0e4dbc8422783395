"""What is asked, of which clusters: each case is a file in `tests/shown/`. It gives (what was asked, what is shown)."""

from functools import cache
from pathlib import Path

from click.testing import CliRunner
from what_if_cluster import MAX_SKEW, REPLICAS, TAINTS_POLICY, six_pods

import kvolsched
from kvolsched import Cluster, make
from kvolsched.cli import main
from kvolsched.questions.decode.table import MEANINGS, PLACEHOLDER
from kvolsched.questions.predict import ASKS, forget_grades, grade
from kvolsched.views.panel.acts import ACTS
from kvolsched.views.pictures.picture import PICTURES

ROOT = Path(__file__).parent
DUMPS = ROOT / "conformance" / "dumps"
MESSAGES = (
    ("0/5 nodes are available: 1 node(s) had untolerated taint {a: b, 3 c}, 1 node(s) were unschedulable, "
     "3 Insufficient cpu. preemption: 0/5 nodes are available: 2 Preemption is not helpful for scheduling, "
     "3 No preemption victims found for incoming pod."),
    "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label), 2 a plug",
    "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
    "Warning  FailedScheduling  2s (x3 over 5m)  default-scheduler  0/1 nodes are available: 1 Too many pods.",
    "something that nobody writes",
)


@cache
def at_end(name, rules=None):
    """Return a scenario at the end of its run."""
    cluster = kvolsched.scenario(name, *([rules] if rules else []))
    cluster.run()
    return cluster


def asked(cluster, *questions):
    """Give each question, written as a reader writes it, with its answer; an error is an answer."""
    for question in questions:
        try:
            answer = eval(question, {"c": cluster, "make": make})  # noqa: S307 - our own words
        except (LookupError, ValueError, TypeError) as error:
            answer = error
        yield question, answer


def incident(name):
    """Ask of an incident why, what would help, and what happened."""
    found = kvolsched.incident(name)
    cluster = found.play()
    waiting = [pod.metadata.name for pod in cluster.objects("pods") if not pod.spec.node_name][:2]
    yield "incident", found
    yield from asked(cluster, "c.why()", *(f"c.{ask}('{pod}')" for pod in waiting for ask in ("why", "fix", "passes", "story")))


def moments(name, rules, *steps, questions):
    """Ask the same at several steps."""
    cluster = kvolsched.scenario(name, rules)
    for step in steps:
        cluster.run(steps=step - cluster.world.step_number)
        for question, answer in asked(cluster, *questions):
            yield f"step {step}: {question}", answer


def end(name, rules, *questions):
    """Ask at the end of a run."""
    yield from asked(at_end(name, rules), *questions)


MAPS = ("c.map()", "c.timeline()", "c.changes()", "c.events()", "c.domains()")
STORIES = ("c.visits()", "c.requests(events=True)", "c.writes()", "c.series()", "c.series(over='steps')", "c.mounts()",
           "c.create_volume_requests()", "c.pools()", "c.branches()", "c.next")


def handmade(number):
    """Draw a frame that no engine made, with every picture."""
    from views import frames

    frame = frames.hostile() if number == "hostile" else frames.many(number) if number > 20 else frames.zonal(number)
    for picture in PICTURES:
        if number not in (200, 1000) or picture.name in ("map", "domains", "verdicts", "scores"):
            yield picture.name, picture.figure(frame)


def predictions(name, rules, answer):
    """Ask what happens next, answer, and let it happen."""
    for ask in ASKS:
        forget_grades()
        cluster = kvolsched.scenario(name, rules)
        cluster.run(steps=1)
        try:
            found = cluster.predict(ask=ask)
        except (LookupError, ValueError) as error:
            yield ask, error
            continue
        yield f"{ask}, asked", Words(repr(found), found.host.body, *(button.description for button in found.buttons))
        found.answer(min(answer, len(found.buttons)))
        yield f"{ask}, answered", Words(repr(found), found.host.body, found.said.value)
        found.happen.click()
        yield f"{ask}, happened", Words(repr(found), found.host.body, found.said.value)
        yield f"{ask}, counted", grade()


class Words:
    """Words, and a picture as it stands in a page."""

    def __init__(self, words, html="", *more):
        self.words, self.html, self.more = words, html, more

    def __repr__(self):
        return "\n".join([self.words, *(each for each in self.more if each)])


def panel(cluster, *acts):
    """Do one thing after the other in a panel, and read all of it each time."""
    lab = cluster.lab()
    for act, fields in acts:
        lab.do(act, **fields)
        views = [getattr(lab.host, view) for view in ("sentence", "map", "side", "lanes", "body")]
        yield f"{act} {fields}", Words("\n".join([*lab.history, *controls(lab)]), "\n".join(views))


def controls(widget):
    """Give the words of every control that is shown: what it is called, what it says, what there is to choose."""
    if getattr(widget.layout, "display", None) == "none":
        return
    words = [getattr(widget, name, None) for name in ("description", "value", "tooltip", "placeholder", "options", "max")]
    told = " · ".join(str(each) for each in words if each not in (None, "", (), False) and not isinstance(each, bytes))
    if told:
        disabled = " (disabled)" * bool(getattr(widget, "disabled", False))
        yield f"{type(widget).__name__}{disabled} {told}"
    for child in getattr(widget, "children", ()):
        yield from controls(child)


LAST = {MAX_SKEW: 3, REPLICAS: 3, TAINTS_POLICY: "Honor", "node/c1:spec.unschedulable": True}


def tried(picture, **fields):
    """Move the controls of a what-if panel."""
    opened = six_pods().whatif(picture, **fields)
    yield "table", opened.table
    for path, wanted in fields.items():
        opened.controls[path].value = LAST[path]
        yield f"{path.rpartition('.')[2]} {wanted}", Words(repr(opened), opened.host.body, *controls(opened))


def patches(rules):
    """Ask what a gated pod's directives may become."""
    vm, zone = "example.com/vm", make.ZONE
    nodes = [make.node(f"{where}{number}", where, labels={vm: kind})
             for where in "ab" for number, kind in ((1, "spot"), (2, "demand"))]  # fmt: skip
    gated = make.pod("app", gates=("example.com/quota",), nodeSelector={zone: "a"})
    cluster = Cluster.from_manifests([*nodes, gated], revision=rules)
    wanted = [{"spec": {"nodeSelector": {vm: "spot"}}}, "{spec: {nodeSelector: {zone: null}}}",
              {"spec": {"nodeSelector": {zone: "b"}}}, {"spec": {"nodeSelector": None}},
              terms([(vm, "In", "demand")]), terms([(vm, "NotIn", "demand")], [(zone, "Exists")]),
              {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}, {"spec": {"schedulingGates": []}}, {}]
    yield "may", cluster.may("pod/app", *wanted)
    yield "may of one", cluster.may("pod/app", wanted[0])
    bench = cluster.may("pod/app", wanted[0], wanted[2], edit=True)
    yield "workbench", Words(repr(bench), bench.host.body, *controls(bench))


def terms(*wanted):
    """Return the patch that sets the required terms, each a list of (key, operator, values)."""
    told = [{"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}
                                  for key, operator, *values in term]} for term in wanted]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": told}}
    return {"spec": {"affinity": {"nodeAffinity": required}}}


def dump(name, *pods):
    """Ask of a recorded cluster."""
    cluster = Cluster.from_manifests(DUMPS / f"{name}.yaml.gz")
    yield from asked(cluster, "c.why()", *(f"c.{ask}('{pod}')" for pod in pods for ask in ("why", "fix", "skew", "capacity")))
    yield from asked(cluster, "c.map()", "c.domains()")


def searched(name, rules, **options):
    """Search the orders of turns."""
    cluster = kvolsched.scenario(name, rules)
    yield "explore", cluster.explore(progress=False, seconds=600, **options)
    yield "sample", cluster.sample(6)


def compared(name):
    """Set the same under two sets of rules beside each other."""
    one, other = at_end(name, "design"), at_end(name, "upstream")
    questions = ("c.diff(other)", "c.series(other)", "c.series(other, what='cpu held')", "c.writes(other)", "c.diff(c.fork('same'))")
    for question in questions:
        yield question, eval(question, {"c": one, "other": other})  # noqa: S307 - our own words


def decoded():
    """Decode every sentence of the table, its placeholders filled in, and some whole messages."""
    for row in MEANINGS:
        for sentence in row.sentences:
            yield sentence, Words(repr(kvolsched.decode(PLACEHOLDER.sub("web", sentence))))
    for message in MESSAGES:
        yield message, kvolsched.decode(message)


def commands(*lines):
    """Type a command."""
    for line in lines:
        done = CliRunner().invoke(main, line.split(" | ")[0].split(), input=line.partition(" | ")[2] or None)
        yield f"kvolsched {line} -> {done.exit_code}".replace(str(DUMPS), "DUMPS"), Words(done.output.replace(str(DUMPS), "DUMPS"))


def spread():
    """Ask of constraints, where a domain is full, closed, or has no node that fits."""
    zones = [make.node(f"{zone}{number}", f"zone-{zone}", taints=["maintenance"] * (zone == "c"), cpu="1" if zone == "b" else "4")
             for zone in "abc" for number in (1, 2)]
    web = {"labels": {"app": "web"}}
    rule = {**make.spread(app="web"), "minDomains": 4}
    cluster = Cluster.from_manifests([
        *zones, make.node("x1"), *(make.pod(f"w{number}", running_on="a1", **web) for number in range(2)),
        make.pod("hard", topologySpreadConstraints=[make.spread(app="web")], **web),
        make.pod("soft", topologySpreadConstraints=[make.spread(app="web", soft=True)], **web),
        make.pod("floor", topologySpreadConstraints=[rule, make.spread(make.HOST, app="web")], **web),
        make.pod("big", cpu="3", topologySpreadConstraints=[make.spread(app="web")], **web)])
    pods = ("hard", "soft", "floor", "big", "w0")
    yield from asked(cluster, *(f"c.skew('{pod}')" for pod in pods))
    cluster.run(steps=4)
    yield from asked(cluster, *(f"c.{ask}('{pod}')" for pod in pods for ask in ("skew", "why", "scores", "verdicts")))
    yield from asked(cluster, "c.verdicts('hard', 'a1', 'PodTopologySpread')", "c.fits('hard')", "c.where('zone in (zone-a)')")


def crowd():
    """Ask of domains that are so many that those alike are one row."""
    nodes = [make.node(f"host-{n:02d}", f"zone-{n % 30:02d}", taints=["closed"] if n % 10 == 0 else []) for n in range(40)]
    web = {"labels": {"app": "web"}}
    placed = [make.pod(f"w{n}-{k}", running_on=f"host-{n:02d}", cpu="10m", **web) for n in range(40) if n % 10 for k in range(1 + n % 3)]
    for soft in (False, True):
        rule = make.spread(make.HOST, app="web", soft=soft)
        cluster = Cluster.from_manifests([*nodes, *placed, make.pod("web", topologySpreadConstraints=[rule], **web)])
        yield from asked(cluster, "c.skew('web')", *([] if soft else ["c.domains('kubernetes.io/hostname')", "c.domains()"]))


def inline():
    """Ask under the documents' rules of inline volumes, and of claims over pools that are too small or say nothing."""
    driver = make.csi_driver(told={"<ephemeral>": [{"capacity": "10Gi"}]})
    cluster = Cluster.from_manifests([
        make.node("n1", "a"), make.node("n2", "b"), driver, make.inline("small", "1Gi"), make.inline("large", "900Gi"),
        make.storage_class("late", make.DRIVER), make.claim("data", "10Gi", "late"), make.pod("app", "data")],
        revision="design")
    yield from asked(cluster, *(f"c.{ask}('{pod}')" for pod in ("small", "large", "app") for ask in ("capacity", "why")))


def differences():
    """Run the clusters on which documents and today disagree."""
    rows = kvolsched.known_differences()
    for number in [row.row for row in rows.values() if row.objects][::6]:
        yield f"difference {number}", rows[number].replay()


def paired():
    """Set two branches beside each other, and show only what differs."""
    cluster = kvolsched.scenario("zonal-example")
    lab = cluster.lab()
    lab.do("run")
    lab.do("goto", step=5)
    lab.user("cordon", node="node-a")
    lab.do("run")
    lab.beside("main")
    for step, only in ((4, False), (7, False), (8, True)):
        lab.do("goto", step=step)
        lab.do("only", differences=only)
        views = [getattr(lab.host, view) for view in ("sentence", "map", "side", "lanes", "body")]
        yield f"step {step}, only differences: {only}", Words("\n".join(controls(lab)), "\n".join(views))


INCIDENTS = ("attach-limit", "node-without-the-zone-label", "retained-volume-is-not-free", "two-gates-one-remover",
             "update-cannot-begin", "volume-before-node", "waiting-claim-is-no-fault", "zone-and-host")

CASES = {
    **{f"incident-{name}": (lambda name=name: incident(name)) for name in INCIDENTS},
    "zonal-design": lambda: moments("zonal-example", "design", 1, 5, 9, questions=MAPS),
    "zonal-stories": lambda: end("zonal-example", "upstream", *STORIES, "c.story('pvc/my-pvc')", "c.story('pod/my-pod')",
                                 "c.passes('my-pod')", "c.verdicts('my-pod')", "c.scores('my-pod')", "c.fits('my-pod')",
                                 "c.capacity('my-pod')", "c.skew('my-pod')", "c.story('node/gone')"),
    "pools": lambda: end("redis-pmem", None, *STORIES, "c.capacity('redis-0')", "c.map()",
                         "c.series(what=['room', 'cpu held', 'skew'])"),
    "one-pool": lambda: end("two-volumes-one-pool", None, *STORIES, "c.why()", "c.map()"),
    "six-in-three-zones": lambda: end("six-in-three-zones", None, "c.skew('deploy/web')", "c.map()", "c.domains()",
                                      "c.series(what=['skew', 'running'])", "c.writes()"),
    "evicted": lambda: end("evicted-in-vain", None, "c.events()", "c.changes()", "c.why()", "c.timeline()"),
    "compared": lambda: compared("zonal-example"),
    "spread": spread,
    "crowd": crowd,
    "inline": inline,
    "differences": differences,
    "frame-12": lambda: handmade(12), "frame-200": lambda: handmade(200), "frame-1000": lambda: handmade(1000),
    "frame-hostile": lambda: handmade("hostile"),
    "predict-zonal": lambda: predictions("zonal-example", "upstream", 1),
    "predict-disks": lambda: predictions("local-disks", None, 2),
    "predict-replicas": lambda: predictions("two-replicas", "design", 3),
    "what-if": lambda: tried("skew", **{MAX_SKEW: [1, 2, 3], REPLICAS: (3, 6), TAINTS_POLICY: ["Ignore", "Honor"]}),
    "what-if-map": lambda: tried("map", **{"node/c1:spec.unschedulable": bool, REPLICAS: (1, 3)}),
    "panel": lambda: panel(kvolsched.scenario("zonal-example"), ("step", {}), ("run", {}), ("goto", {"step": 5}),
                           ("select", {"ref": "node/node-b"}), ("ask", {"name": "cordon"}), ("clear", {}), ("back", {}),
                           *(("ask", {"name": act.name}) for act in ACTS), ("clear", {}), ("width", {"px": 700})),
    "panel-pair": paired,
    "may": lambda: patches("upstream"),
    "dump": lambda: dump("storage", "kafka-2", "huge", "named"),
    "search-stranded": lambda: searched("two-replicas", "design", lag="none"),
    "search-zonal": lambda: searched("zonal-example", None),
    "decode": decoded,
    "commands": lambda: commands(
        "--help", *(f"{name} --help" for name in sorted(main.commands)), "run zonal-example", "explore zonal-example --lag none",
        "run two-replicas --set zones", "run zonal-example --set a=b", "decode | 0/3 nodes are available: 3 Insufficient cpu.",
        "decode | nobody writes this", "incidents dead-zone", "incidents zone", "incidents nothing-like-it", "why nothing.yaml",
        f"why {DUMPS / 'shop.yaml.gz'} --pod demo/reports", f"why {DUMPS / 'shop.yaml.gz'}", f"get {DUMPS / 'shop.yaml.gz'} nodes",
        "explore zonal-exampl", "scenarios zonal", "alternatives", "differ --help", "nonsense"),
}
