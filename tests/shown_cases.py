"""What is asked, of which clusters: each case is a file in `tests/shown/`. It gives (what was asked, what is shown)."""

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import exercise_mutants
import yaml
from click.testing import CliRunner
from views.fake_driver import FakeDriver
from waiting_pods import POSTED, cluster_of, waiting_pod
from what_if_cluster import MAX_SKEW, REPLICAS, TAINTS_POLICY, six_pods

import kvolsched
from kvolsched import Cluster, make, widgets
from kvolsched.cli import main
from kvolsched.cli.ipython_magic import complete_magic, run_magic
from kvolsched.cli.redact.sentences import Sentences
from kvolsched.measure.sweep import SweepRows
from kvolsched.questions.decode.table import MEANINGS, PLACEHOLDER
from kvolsched.questions.predict import ASKS, forget_grades, grade
from kvolsched.questions.why.sentences import explain_sentence, translate_older_words
from kvolsched.views.charts import renderer
from kvolsched.views.frame import Frame, NextActor
from kvolsched.views.panel import export
from kvolsched.views.panel.acts import ACTS
from kvolsched.views.panel.lab import Lab
from kvolsched.views.pictures.picture import NAMED, PICTURES, TABS

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
    "'0/3 nodes are available: 3 Insufficient cpu.'", '"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated ta',
    "FailedScheduling: 0/3 nodes are available: 3 Insufficient cpu. (repeated 7 times)", "[Insufficient cpu, node(s) were unschedulable]",
    "0/4 nodes are available: 1 Insufficient cpu and 2 Insufficient memory, 1 blue moon, 1 Insufficient nvidia.com/gpu.",
    "  default-scheduler  0/3 nodes are\n  available: 3 Too many\n  pods.", "pod didn't trigger scale-up: 1 Insufficient cpu, 2 max node group size reached",
    'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition', "... node(s) didn't match pod anti-aff",
    'Pod "a" is invalid: spec.nodeSelector: Invalid value: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    "0/0 nodes are available: .", "0/3 nodes", 'MountVolume.SetUp failed for volume "a": x', "1 node(s) exceed max volume count",
)
SIEVES = (  # sentences whose nodes are few or many, all counted or not, by one plugin or by ten, at both ends of the sieve
    "0/12 nodes are available: 12 Insufficient cpu.", "0/4 nodes are available: 4 blue moon.",
    "0/13 nodes are available: 6 Insufficient cpu, 7 node(s) didn't satisfy existing pods anti-affinity rules.",
    "0/13 nodes are available: 6 node(s) were unschedulable, 6 node(s) didn't match pod affinity rules.",
    "0/5000 nodes are available: 1 Insufficient cpu, 4999 node(s) were unschedulable.",
    ("0/14 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 1 node(s) had untolerated taint {a: b}, "
     "1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't have free ports for the requested pod ports, "
     "2 node(s) exceed max volume count, 2 node(s) didn't find available persistent volumes to bind, "
     "2 node(s) had no available volume zone, 1 node(s) didn't match pod topology spread constraints, "
     "1 node(s) didn't match pod anti-affinity rules."),
    "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.",
    "0/2 nodes are available: 1 Insufficient cpu, 2 Insufficient memory.",
    "0/9 nodes are available: 2 Insufficient cpu, 3 Insufficient memory, 3 Too many pods, 1 node(s) were unschedulable.",
    "0/3 nodes are available: 3 Insufficient cpu, 3 node(s) were unschedulable.")  # fmt: skip
OLDER_WORDS = (
    "1 node(s) had volume node affinity conflict", "1 node(s) had untolerated taint {a: b}",
    "1 node(s) had taint {a: b}, that the pod didn't tolerate", "1 node(s) had taints that the pod didn't tolerate", "1 node(s) didn't match node selector",
    "1 node(s) didn't match Pod's node affinity", "1 node(s) didn't match Pod's node affinity/selector",
    "1 node(s) didn't match pod affinity/anti-affinity", "pod has unbound PersistentVolumeClaims", "1 Insufficient pods",
    "1 insufficient pods", "1 Insufficient cpu")  # fmt: skip
ODD_SENTENCES = (
    '0/1 nodes are available: persistentvolumeclaim "a" not found. not found', "0/1 nodes are available: a b. not found",
    "0/1 nodes are available: no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    "0/1 nodes are available: 1 No preemption victims found for incoming pod.", "preemption: not eligible due to preemptionPolicy=Never.",
    "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity].", "0/2 nodes are available: 2 Too many pods.",
    "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.", "0/2 nodes are available: 2 Insufficient cpu.")


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


def advised(name, pod):
    """Ask why a pod waits, and what would help."""
    cluster = cluster_of(name)
    pod = waiting_pod(cluster, pod) if pod else next(
        each.metadata.name for each in cluster.objects("pods") if not each.spec.node_name)  # fmt: skip
    yield from asked(cluster, f"c.why('{pod}')", f"c.capacity('{pod}')")
    fixes = cluster.fix(pod)
    yield "fix", fixes
    for number, fix in enumerate(list(fixes)[:4]):
        yield f"fix {number}", Words("\n".join(map(repr, (fix, fix.try_it() if fix.can_be_tried else "", fix.letter, fix.nodes))))


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


def selected():
    """Select one thing after the other in frames that no engine made, and read the pictures that mark it."""
    from views import frames

    refs = ("node/node-b", "pod/web-0", "pvc/data-web-0", "pv/volume-1", "zone/us-central1-a", "verdict/node-b/NodeResourcesFit",
            "lane/pv", "mark/6/binder")  # fmt: skip
    cases = [(frames.with_cell(frames.refused(frames.zonal(9))), refs, ("map", "verdicts", "timeline", "skew", "events", "changes")),
             (frames.many(1000), ("kind/zone-b/NodeUnschedulable", "kind/zone-a/fits", "node/a-n015"), ("map", "verdicts")),
             (frames.twelve(), ("node/a-n1", "pod/db-3"), ("map", "domains")), (frames.long_names(), ("",), ("map", "timeline"))]
    for frame, chosen, names in cases:
        for name in names:
            figure = NAMED[name].figure(frame)
            for ref in chosen:
                yield f"{name}, selected {ref}", Words("", figure.draw(820, ref))


def predictions(name, rules, answer, steps=1):
    """Ask what happens next, answer, and let it happen."""
    for ask in ASKS:
        forget_grades()
        cluster = kvolsched.scenario(name, rules)
        cluster.run(steps=steps)
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
    words = [getattr(widget, name, None) for name in ("description", "value", "tooltip", "placeholder", "options", "min", "max", "step")]
    told = " · ".join(str(each) for each in words if each not in (None, "", (), False) and not isinstance(each, bytes))
    if told:
        disabled = " (disabled)" * bool(getattr(widget, "disabled", False))
        yield f"{type(widget).__name__}{disabled} {told}"
    for child in getattr(widget, "children", ()):
        yield from controls(child)


def all_acts():
    """Do every act of a panel one after the other, with the first and then with the last of what there is to choose."""
    lab = workshop().lab()
    for act, place in ((act, place) for act in ACTS[:-1] for place in (0, -1)):  # the last is a search
        values = {each.name: (lab.driver.choices(each.choices) or [("", "")])[place][1] if each.choices
                  else each.default or each.values[place] for each in act.fields}  # fmt: skip
        lab.do("ask", name=act.name)
        try:
            lab.user(act.name, **values)
        except (LookupError, ValueError) as error:
            yield f"{act.name} {values}", error
        yield f"{act.name} {place}", Words("\n".join([*lab.history, *lab.branches, *controls(lab)]), lab.host.sentence + lab.host.side)
    many = Frame(next=tuple(NextActor(f"a{n}", f"actor {n}", "x", "does something that takes words", default=n == 0) for n in range(19)))
    yield "many who may act", Words("\n".join(controls(Lab(FakeDriver([many])))))


def saved():
    """Read what a saved page has at each step beside the views: place, badge, and who may act."""
    cluster = kvolsched.scenario("zonal-example")
    lab = cluster.lab()
    lab.do("run")
    for step in (0, 4, 9):
        lab.do("goto", step=step)
        parts = {}
        row = export._row(lab.frame, lab._drawn, 700, parts)
        texts = {name: "".join(list(parts)[number] for number in numbers) for name, numbers in row.items()}
        yield f"step {step}", Words(" ".join(texts), "".join(f"<p>{texts[name]}</p>" for name in ("place", "badge", "chips")))


def exercises():
    """Show the first difference of rules that are almost right, and of one that does not answer."""
    for name, rules in exercise_mutants.MUTANTS.items():
        exercise = kvolsched.exercise(name)
        for number, rule in enumerate((*rules, len)):
            checked = exercise.check(rule)
            yield f"{name} {number}", checked.first.figure("" if number == 1 else f"{checked.sentence}.")


def workshop():
    """Return a cluster with something for every act: a cordoned node, a gated pod, a Deployment, an outage begun."""
    nodes = [make.node(f"n{number}", zone) for number, zone in enumerate("aab")]
    gated = make.pod("gated", gates=("example.com/quota",))
    cluster = Cluster.from_manifests([*nodes, gated, make.pod("runs", running_on="n0"), make.deployment("web", replicas=2)])
    cluster.cordon("n1")
    cluster.stop_nodes("n2")
    cluster.run(steps=9)
    return cluster


def faults():
    """Ask after crashes, refusals, delays, nodes that stop, and other rules halfway."""
    cluster = kvolsched.scenario("replicated-database", "upstream")
    cluster.run(steps=3)
    cluster.crash("kube-scheduler")
    cluster.refuse("persistent-volume-binder", nth=1, reason="Conflict")
    cluster.run(steps=6)
    cluster.delay("kube-scheduler", 3)
    cluster.stop_nodes("node-a")
    cluster.run(steps=12)
    cluster.upgrade("design")
    cluster.start_nodes("node-a")
    cluster.run()
    yield from asked(cluster, *MAPS, *STORIES, "c.story('pod/db-0')", "c.story('pvc/data-db-0')", "c.passes('db-0')", "c.why()",
                     "c.diff(c.under('upstream'))", "c.series(what='lives')", "c.lab(text=True)")


def asked_of_ledgers():
    """Ask ledgers of a pod, a claim and workloads, at several moments and where there is none."""
    cluster = at_end("replicated-database")
    stateful = next(each for each in cluster.objects("statefulsets")).metadata.name
    pod = next(each for each in cluster.objects("pods")).metadata.name
    claim = next(each for each in cluster.objects("pvc")).metadata.name
    yield from asked(cluster, *(
        f"c.{ask}('{ref}'{at})" for ask in ("skew", "capacity") for ref in (f"sts/{stateful}", f"pod/{pod}", f"pvc/{claim}", "pod/nobody")
        for at in ("", ", at='pass'", ", at=3", ", at=99", ", at='never'")))  # fmt: skip
    yield from asked(cluster, f"c.skew('{pod}', over='steps')", "c.skew('nobody', over='steps')", f"c.skew('{pod}', over='time')",
                     "c.series(what='lives', over='steps')", "c.series(over='weeks')", "c.series(what='nothing')",
                     f"c.verdicts('{pod}', 'node-a', 'VolumeBinding')", f"c.verdicts('{pod}', 'node-z', 'VolumeBinding')",
                     f"c.verdicts('{pod}', 'node-a', 'Nothing')", f"c.verdicts('{pod}', 'node-a')", "c.map('rack')",
                     "c.domains('kubernetes.io/hostname')", "c.whatif('map')", "c.whatif('moon', a=[1])")
    zones = kvolsched.scenario("zones", replicas=3)
    zones.run()
    found = zones.skew("deploy/web")
    yield "counts", Words(f"{found.counts} {found.actual_skew} {found.fits} {found.open} {zones.skew('deploy/web', over='steps')!r}")


def states():
    """Ask of pods and workloads in every state, and in words that mean nothing."""
    def ended(name, phase, **status):
        return make.pod(name, running_on="n1") | {"status": {"phase": phase, **status}}

    cluster = Cluster.from_manifests([
        make.node("n1", "a", cpu="1"), ended("done", "Succeeded"), ended("failed", "Failed", reason="Evicted", message="disk is full"),
        make.pod("theirs", schedulerName="other"), make.pod("gated", gates=("a/b",)), make.pod("runs", running_on="n1", cpu="100m"),
        make.pod("lost", running_on="gone"), make.pod("large", cpu="3", priority=5), make.deployment("none", replicas=0),
        make.deployment("some", replicas=2, cpu="800m"), make.pod("named", nodeName="n9"), make.pod("disk", "data", "more")])
    cluster.run(steps=60)
    yield from asked(cluster, "c.why()", *(
        f"c.{ask}('{ref}')" for ref in ("done", "failed", "theirs", "gated", "runs", "lost", "large", "named", "disk", "deploy/none",
                                        "deploy/some", "deploy/nothing", "pod/lage", "node/n1", 7)
        for ask in ("why", "passes", "story", "fits")), *(f"c.fix('{ref}')" for ref in ("lost", "large", "named", "disk", "deploy/nothing")))  # fmt: skip
    placed = ("half", "gone", "open", "wish", "none")  # pods that have a node, and claims that are on their way
    claims = [make.claim("half", volumeName="v9"), make.claim("gone", volumeName="v0"), make.claim("open", selected_node="n1"), make.claim("wish")]
    started = Cluster.from_manifests([
        make.node("n1", "a"), make.storage_class("late", make.DRIVER), make.volume("v9"), *claims,
        *(make.pod(f"on-{each}", each, running_on="n1") | {"status": {"phase": "Pending"}} for each in placed)])  # fmt: skip
    yield from asked(started, *(f"c.why('on-{each}')" for each in placed))
    yield from asked(Cluster.from_manifests([make.pod("alone")]), "c.why('alone')", "c.fix('alone')", "c.why()", "c.fits('alone')", "c.map()")
    yield from asked(six_pods(), "c.series(what=lambda c: c.now)", "c.series(what={'step': lambda c: c.world.step_number})",
                     "c.series(what=['runing'])", "c.series(what=7)", "c.why('deploy/web')", "c.why(most=0)", *(
        f"c.whatif('skew', **{{'{path}': {values}}})" for path, values in (
            ("deploy/web:spec.replcas", [1]), ("deploy/web", [1]), ("deploy/wbe:spec.replicas", [1]), ("deploy/web:spec.replicas", []),
            ("deploy/web:spec.replicas", (3, 1)), ("deploy/web:spec.replicas", "'abc'"), ("deploy/web:spec.replicas.x", [1]),
            ("deploy/web:spec.template.spec.containers[x].image", ["a"]), ("deploy/web:spec.replicas", [-1, 2, 90]),
            ("deploy/web:spec.template.spec.nodeSelector.zone", ["a", "b", None]), ("node/c1:spec.taints", [[], None]))))  # fmt: skip


def parts_of_notebooks():
    """Read every part of the panel that stands alone, along a run, with something selected, and of nothing."""
    moves = (("run", {}), ("goto", {"step": 5}), ("step", {}), ("select", {"ref": "pod/my-pod"}), ("select", {"ref": "lane/kubelet"}),
             ("select", {"ref": "mark/3/kubelet"}), ("reset", {}))  # fmt: skip
    for make_part in (widgets.Steps, widgets.Map, widgets.Lanes, widgets.Verdicts, widgets.Skew, widgets.Capacity):
        part = make_part(kvolsched.scenario("zonal-example", "design"))
        for act, fields in moves:
            try:
                part.do(act, **fields)
            except (LookupError, ValueError) as error:
                yield f"{act} {fields}", error
            yield f"{make_part.__name__} {act} {fields}", Words("\n".join([part.reading(), *controls(part)]), part.host.body)


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
    ranged = make.pod("ranged", gates=("example.com/quota",), nodeSelector={zone: "a"}, **terms([(zone, "In", "a", "b")])["spec"])
    other = Cluster.from_manifests([*nodes, ranged], revision=rules)
    both = {"spec": {"nodeSelector": {vm: "spot"}} | terms([(vm, "NotIn", "demand")])["spec"]}
    yield "may of both directives", other.may("pod/ranged", both, terms([(vm, "In", "spot")]), terms([(vm, "Exists")], [(zone, "Exists")]))
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
    back = one.under("upstream")
    back.run()
    back.goto(0)
    questions = ("c.diff(other)", "c.series(other)", "c.series(other, what='cpu held')", "c.writes(other)", "c.diff(c.fork('same'))",
                 "c.diff(c.under('upstream'))", "c.diff(back)", "back.diff(c)")  # fmt: skip
    for question in questions:
        yield question, eval(question, {"c": one, "other": other, "back": back})  # noqa: S307 - our own words


def decoded():
    """Decode every sentence of the table, its placeholders filled in, and some whole messages."""
    for row in MEANINGS:
        for sentence in row.sentences:
            yield sentence, Words(repr(kvolsched.decode(PLACEHOLDER.sub("web", sentence))))
    for message in (*MESSAGES, *SIEVES):
        yield message, kvolsched.decode(message)
    for wrong in (7, "", " ", "x" * 99_999, None):
        yield from asked(kvolsched, f"c.decode({wrong!r:.9})" if wrong != "x" * 99_999 else "c.decode('x' * 99_999)")
    yield "older words", Words("\n".join(f"{words}: {translate_older_words(words)}" for words in OLDER_WORDS))
    for sentence in ODD_SENTENCES:
        for hidden, before in ((0, False), (2, False), (0, True)):
            notes = explain_sentence(sentence, hidden, before)
            yield f"{sentence} {hidden} {before}", Words("\n".join(f"{each.kind}, {each.head}: {each}" for each in notes))


def commands(*lines):
    """Type a command."""
    for line in lines:
        done = CliRunner().invoke(main, line.split(" | ")[0].split(), input=line.partition(" | ")[2] or None)
        yield f"kvolsched {line} -> {done.exit_code}".replace(str(ROOT), "TESTS"), Words(done.output.replace(str(ROOT), "TESTS"))


def redacted():
    """Replace the names in every sentence of the table, with its placeholders filled in, in messages, and in repeated ones."""
    replaced = Sentences(lambda name: f"<{name}>").replaced
    told = [PLACEHOLDER.sub("web", sentence) for row in MEANINGS for sentence in row.sentences]
    told += [f"{message}{more}" for message in (*MESSAGES, *OLDER_WORDS)
             for more in ("", " (repeated 3 times)", " (repeated 2 times) (repeated 3 times)")]  # fmt: skip
    yield "sentences", Words("\n".join(f"{each}\n    {replaced(each)}" for each in told))


def magics():
    """Type `%kubectl` in notebooks with no cluster, one, two, and one that is chosen."""
    one, other, none = at_end("zonal-example"), kvolsched.scenario("zones"), {}
    for names, lines in ((none, ("get pods", "use c")), ({"mine": one}, ("get nodes", "get podz", "get pods $pod", "use moon")),
                         ({"a": one, "b": other}, ("get pods", "get pods --cluster a", "get pods --cluster moon", "use b", "get nodes")),
                         ({"c": other, "d": one}, ("get nodes", "use d", "get nodes", "use"))):  # fmt: skip
        names["pod"] = "my-pod"
        for line in lines:
            with redirect_stdout(StringIO()) as said, redirect_stderr(said):
                run_magic(names, line, "")
            yield f"%kubectl {line}", Words(said.getvalue())
        yield "completed", Words(f"{complete_magic(names, '%kubectl get po', 'po')} {complete_magic(names, '%kubectl use ', '')}")


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
    for soft in (False, True):  # pods in domains that do not count
        honor = make.spread(app="web", soft=soft) | {"nodeTaintsPolicy": "Honor"}
        closed = Cluster.from_manifests([
            *zones, make.node("x1"), *(make.pod(f"v{n}", running_on=("a1", "c1", "x1")[n % 3], cpu="10m", **web) for n in range(39)),
            make.pod("next", topologySpreadConstraints=[honor], **web)])  # fmt: skip
        yield from asked(closed, "c.skew('next')")


def crowd():
    """Ask of domains that are so many that those alike are one row."""
    nodes = [make.node(f"host-{n:02d}", f"zone-{n % 30:02d}", taints=["closed"] if n % 10 == 0 else []) for n in range(40)]
    web = {"labels": {"app": "web"}}
    placed = [make.pod(f"w{n}-{k}", running_on=f"host-{n:02d}", cpu="10m", **web) for n in range(40) if n % 10 for k in range(1 + n % 3)]
    for soft in (False, True):
        rule = make.spread(make.HOST, app="web", soft=soft)
        cluster = Cluster.from_manifests([*nodes, *placed, make.pod("web", topologySpreadConstraints=[rule], **web)])
        yield from asked(cluster, "c.skew('web')", *([] if soft else ["c.domains('kubernetes.io/hostname')", "c.domains()"]))


def alike():
    """Ask of so many domains that are alike that each is a stroke, thinner where there are more, or a bar."""
    web = {"labels": {"app": "web"}, "cpu": "10m"}
    for count in (60, 120, 200):
        nodes = [make.node(f"host-{n:03d}") for n in range(count)]
        placed = [make.pod(f"w{n}", running_on=f"host-{n:03d}", **web) for n in range(0, count, 5)]
        rule = make.spread(make.HOST, app="web")
        cluster = Cluster.from_manifests([*nodes, *placed, make.pod("web", topologySpreadConstraints=[rule], **web)])
        yield from asked(cluster, "c.skew('web')")


def wide():
    """Ask of a pod that fails for many reasons on many kinds of nodes, and of many pods that do."""
    web = {"labels": {"app": "web"}}
    marks = [{}, {"disk": "ssd"}, {"disk": "ssd", "gpu": "yes"}]
    nodes = [make.node(f"pool-{n:02d}", "abcd"[n % 4], labels=marks[n % 3], taints=["old"] * (n % 5 == 0), cpu="1248"[n % 4],
                       unschedulable=n % 7 == 0) for n in range(48)]  # fmt: skip
    rule, host = make.spread(app="web"), make.spread(make.HOST, app="web") | {"maxSkew": 2}
    pods = [make.pod(f"w{n}", running_on=f"pool-{n:02d}", cpu="100m", **web) for n in range(9)]
    hard = [make.pod(f"next-{cpu}", "data", nodeSelector=marks[2], topologySpreadConstraints=[rule, host], affinity=make.apart(app="web"), cpu=cpu,
                     **web) for cpu in ("3", "5", "9")]  # fmt: skip
    cluster = Cluster.from_manifests([*nodes, *pods, *hard, make.storage_class("late", make.DRIVER), make.claim("data", "10Gi", "late"),
                                      make.pod("tiny", nodeSelector={"disk": "tape"}), make.pod("easy", cpu="2", gates=("a/b",), nodeSelector={"disk": "ssd"})])
    yield from asked(cluster, "c.why()", "c.why(most=1)", "c.why('next-9')", "c.why('tiny')", "c.map()", "c.domains()",
                     "c.may('easy', {'spec': {'nodeSelector': {'gpu': 'yes'}}}, {'spec': {'nodeSelector': None}})")
    cluster.run(steps=4)
    yield from asked(cluster, "c.verdicts('next-9')", "c.skew('next-5')")
    soft = at_end("soft-spread")
    yield from asked(soft, *(f"c.skew('{pod.metadata.name}', at='pass')" for pod in soft.objects("pods")[:3]))


def bets():
    """Ask a question of a reader's own, what cannot be asked, and grade."""
    forget_grades()
    for asked_of in ("'How many?'", "ask='moon'", "ask='node', pod='nobody'", "ask='plugin', node='node-z'", "ask='end', pod='my-pod'"):
        found = next(iter(asked(kvolsched.scenario("zonal-example"), f"c.predict({asked_of})")))[1]
        yield asked_of, found if isinstance(found, Exception) else Words(repr(found), found.host.body)
        if isinstance(found, Exception):
            continue
        for act in (lambda found=found: found.answer("moon"), lambda found=found: found.answer(3), lambda found=found: found.was(4),
                    lambda found=found: found.give_up(), grade):  # fmt: skip
            try:
                told = act()
            except (LookupError, ValueError, TypeError) as error:
                told = error
            yield f"{asked_of}, then", Words(f"{told!r}\n{found!r}", found.host.body + found.said.value)
    done = kvolsched.scenario("zonal-example")
    done.run()
    yield from asked(done, "c.predict()", "c.predict(ask='volume', pod='my-pod')", "c.predict(ask='order')", "c.lab(text=True, predict=True)")


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
    for act, fields in (("back", {}), ("step", {}), ("gear", {"unit": "turns"}), ("back", {}), ("gear", {"unit": "steps"}), ("run", {}),
                        ("beside", {"name": "main", "align": "time"}), ("goto", {"step": 3}), ("step", {}), ("back", {}),
                        ("user", {"act": "taint", "node": "node-b", "taint": "a=b:NoSchedule"})):  # fmt: skip
        lab.do(act, **fields)
        yield f"{act} {fields}", Words("\n".join([lab.reading(), *lab.branches]), lab.host.sentence + lab.host.side)


def charts():
    """Give the spec of each kind of chart, and the first rows of its table."""
    soft, pools, database = (kvolsched.scenario(name) for name in ("soft-spread", "two-volumes-one-pool", "replicated-database"))
    sample = database.sample(5)
    for cluster in (soft, pools):
        cluster.run()
    web, zonal = kvolsched.scenario("zones", replicas=3), at_end("zonal-example")
    web.run()
    web.cordon("node-1-1")
    web.scale("deploy/web", 9)
    web.run()
    swept = SweepRows({"zones": zones, "mode": mode, "running": zones if mode == "late" else 1}
                      for zones in (2, 3, 4) for mode in ("early", "late"))  # fmt: skip
    shares = SweepRows({"zones": zones, "mode": mode, "share": 0.2, "low": 0.1, "high": 0.4}
                       for zones in (2, 300) for mode in ("early", "late"))  # fmt: skip

    def expected(*_):
        return 0.3

    found = {"skew": web.skew("deploy/web"), "skew over steps": web.skew("deploy/web", over="steps"), "nodes": web.domains(),
             "capacity": pools.capacity(), "scores": soft.scores(soft.objects("pod")[-1].metadata.name),
             "series": zonal.series(zonal.under("design")), "sample": sample, "turns": zonal.timeline(),
             "lives": web.series(what="lives"), "sweep": swept.chart("zones", "running", by="mode"),
             "bars": swept.chart("mode", "running", by="zones"), "share": shares.chart("zones", "share", by="mode", expected=expected),
             "shares": shares.chart("mode", "share", by="zones", expected=expected),
             "log": shares.chart("zones", "share", by="mode", log="xy")}  # fmt: skip
    for name, figure in found.items():
        spec, tables = renderer.with_named_tables(renderer.on_page(figure.chart.to_dict()))
        rows = [", ".join(f"{key}: {value:.4g}" if isinstance(value, float) else f"{key}: {value}" for key, value in row.items())
                for values in tables.values() for row in values[:12]]
        yield name, Words("\n".join([*_spec_lines(spec), *rows]))


def _spec_lines(spec):
    """Give a chart's spec as YAML, without the names that altair makes up."""
    spec = {name: value for name, value in spec.items() if name != "$schema"}
    text = re.sub(r"view_\w+", "view", json.dumps(spec))
    return yaml.safe_dump(json.loads(text), default_flow_style=None, width=118, allow_unicode=True).splitlines()


INCIDENTS = ("attach-limit", "node-without-the-zone-label", "retained-volume-is-not-free", "two-gates-one-remover",
             "update-cannot-begin", "volume-before-node", "waiting-claim-is-no-fault", "zone-and-host")

ADVISED = (
    "inc/idle-node-takes-no-pod/", "inc/new-cluster-stays-not-ready/", "inc/no-default-class/",
    "inc/old-zone-key/", "inc/one-pod-holds-all-disks/", "inc/provisioner-not-installed/", "inc/room-in-two-zones-pod-waits/",
    "inc/volume-affinity-is-immutable/", "own/11-zone-without-nodes/db-0", "own/13-class-typo/web-0", "own/30-scaled-down-node/web",
    "own/31-cloud-not-initialised/coredns", "own/33-claim-name-typo/grafana", "own/41-old-zone-key-in-spread/web",
    "own/44-claim-wants-many/web", "own/45-claim-larger-than-volume/web", "own/47-too-many-pods/web",
    "own/51-no-device-plugin/train", "own/57-ephemeral-storage/build", "own/59-affinity-to-itself/cache",
    "own/66-affinity-to-another-namespace/web", "own/67-selector-typo-in-a-job/migrate", "own/extra-daemonset/agent",
    "own/extra-pdb/api")  # fmt: skip
"""Clusters of which most others' causes and cures are some: cluster, and the pod if it is not the first that waits."""

CASES = {
    **{f"advice-{name.split('/')[1]}": (lambda name=name: advised(*name.rsplit("/", 1))) for name in ADVISED},
    **{f"incident-{name}": (lambda name=name: incident(name)) for name in INCIDENTS},
    "zonal-design": lambda: moments("zonal-example", "design", 1, 5, 9, questions=MAPS),
    "why-by-step": lambda: (each for rules in ("design", "upstream") for each in moments(
        "zonal-example", rules, *range(10), questions=("c.why('my-pod')", "c.why()", "c.fix('my-pod')", "c.next"))),
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
    "alike": alike,
    "wide": wide,
    "bets": bets,
    "inline": inline,
    "differences": differences,
    "frame-12": lambda: handmade(12), "frame-200": lambda: handmade(200), "frame-1000": lambda: handmade(1000),
    "frame-hostile": lambda: handmade("hostile"),
    "predict-zonal": lambda: predictions("zonal-example", "upstream", 1),
    "predict-scores": lambda: predictions("zonal-example", None, 2, steps=0),
    "predict-disks": lambda: predictions("local-disks", None, 2),
    "predict-replicas": lambda: predictions("two-replicas", "design", 3),
    "what-if": lambda: tried("skew", **{MAX_SKEW: [1, 2, 3], REPLICAS: (3, 6), TAINTS_POLICY: ["Ignore", "Honor"]}),
    "what-if-map": lambda: tried("map", **{"node/c1:spec.unschedulable": bool, REPLICAS: (1, 3)}),
    "panel": lambda: panel(kvolsched.scenario("zonal-example"), ("step", {}), ("run", {}), ("goto", {"step": 5}),
                           ("select", {"ref": "node/node-b"}), ("ask", {"name": "cordon"}), ("clear", {}), ("back", {}),
                           *(("ask", {"name": act.name}) for act in ACTS), ("clear", {}), ("width", {"px": 700})),
    "panel-pair": paired,
    "panel-acts": all_acts,
    "panel-selected": lambda: panel(
        kvolsched.scenario("zonal-example"), ("run", {}), ("back", {}), ("gear", {"unit": "turns"}), ("gear", {"unit": "steps"}),
        *(("select", {"ref": ref}) for ref in ("pod/my-pod", "pvc/my-pvc", "node/node-b", "verdict/node-b/VolumeBinding",
                                               "lane/kubelet", "step/4", "mark/6/kubelet", "zone/us-central1-a")),
        ("judge", {}), *(("tab", {"name": each.name}) for each in TABS if each.name not in ("scores", "series", "domains")), ("moment", {"at": "pass"}), ("moment", {"at": 3}),
        ("reset", {}), ("act", {"number": 1}), ("speed", {"seconds": 2}), ("ping", {})),
    "parts": parts_of_notebooks,
    "saved": saved,
    "exercises": exercises,
    "states": states,
    "selected": selected,
    "faults": faults,
    "ledgers": asked_of_ledgers,
    "charts": charts,
    "may": lambda: patches("upstream"),
    "dump": lambda: dump("storage", "kafka-2", "huge", "named"),
    "search-stranded": lambda: searched("two-replicas", "design", lag="none"),
    "search-zonal": lambda: searched("zonal-example", None),
    "decode": decoded,
    "magics": magics,
    "redacted": redacted,
    "commands": lambda: commands(
        "--help", *(f"{name} --help" for name in sorted(main.commands)), "run zonal-example", "explore zonal-example --lag none",
        "run two-replicas --set zones", "run zonal-example --set a=b", "decode | 0/3 nodes are available: 3 Insufficient cpu.",
        "decode | nobody writes this", "incidents dead-zone", "incidents zone", "incidents nothing-like-it", "why nothing.yaml",
        "redact --explain", f"redact {POSTED / '13-class-typo.yaml'} --salt s", "kinds", "kinds Pod", "kinds pvc", "kinds x",
        "lessons nope", "lab nope", "said skew",
        f"why {DUMPS / 'shop.yaml.gz'} --most 1", "why - - | {}",
        f"why {DUMPS / 'shop.yaml.gz'} --live", "why", f"get {DUMPS / 'shop.yaml.gz'}", f"get {DUMPS / 'shop.yaml.gz'} pods -n none",
        f"get {DUMPS / 'shop.yaml.gz'} pods -A -o name", f"get {DUMPS / 'shop.yaml.gz'} pods --now never", "get x pods",
        f"describe {DUMPS / 'shop.yaml.gz'} pod reports -n demo --now 2026-01-31T12:00:00", "bench --fit 1", "differ moon sun",
        f"check {POSTED / '13-class-typo.yaml'} --cluster {DUMPS / 'shop.yaml.gz'}", "run zonal-example --set count=x",
        f"why {DUMPS / 'shop.yaml.gz'} --pod demo/reports", f"why {DUMPS / 'shop.yaml.gz'}", f"get {DUMPS / 'shop.yaml.gz'} nodes",
        "explore zonal-exampl", "scenarios zonal", "alternatives", "differ --help", "nonsense"),
}
