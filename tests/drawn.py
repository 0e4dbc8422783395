"""What chance asks of clusters that chance made: what a reader is shown, whatever somebody does.

Each sort of walk gives (what was asked, all that is shown) for a seed: of clusters that people posted, incidents,
scenarios, recorded clusters and those of random acts; in panels, what-if panels and bets; in a terminal.
"""

import gzip
import json
import random
import re
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import fault_runs
import ipywidgets as widgets
import random_acts
from click.testing import CliRunner
from shown_cases import MESSAGES, ODD_SENTENCES, OLDER_WORDS, controls
from waiting_pods import DUMPS, POSTED

import kvolsched
from kvolsched import ApplyRefused, Cluster, explore, make, writes
from kvolsched.cli import main
from kvolsched.cli.ipython_magic import run_magic
from kvolsched.cli.redact.sentences import Sentences
from kvolsched.learn.pager import done_pages
from kvolsched.questions.decode.table import MEANINGS, PLACEHOLDER
from kvolsched.questions.near_names import KEYS_TODAY, near_misses
from kvolsched.questions.predict import ASKS, forget_grades, grade
from kvolsched.views.charts.figure import PlainChart
from kvolsched.views.panel.acts import ACTS
from kvolsched.views.pictures.picture import TABS

ROOT = Path(__file__).parent
RULES = ("upstream", "upstream", "design", "draft")
RECORDED = ("bound", "disrupt", "dynamic", "fit", "interpod", "limits", "mixed", "odd", "preempt", "spread", "static", "wide",
            "wide2", "wild")  # fmt: skip
REFUSED = (ApplyRefused, LookupError, ValueError, TypeError)
WIDTHS = (320, 480, 560, 700, 820, 1000, 1000, 1400)
SELECTED = re.compile(r'data-ref="([^"]+)"')
UNIQUE = re.compile(r"\bk-?[0-9a-f]{6,}\b|0x[0-9a-f]+")  # what no two runs share
SET = re.compile(r"frozenset\(\{([^{}]*)\}\)")
NO_VALUES = {"chart", "cluster", "svg", "theme", "width", "bytes_per_state", "with_fix", "world"}  # pictures, clusters, sizes
KINDS = ("pods", "nodes", "pvc", "pv", "sc", "deploy", "sts", "rs", "ds", "csinodes", "csidrivers", "csistoragecapacities", "events",
         "all", "pod,pvc", "moons", "volumeattachments", "quota")  # fmt: skip
SERIES = ("running", "pending", "failures", "cpu held", "room", "skew", "lives", "runing")


def everything(answer, rng):
    """Return all that an answer shows: its words, and its picture at a random width with a random thing selected."""
    told = [repr(answer), *faces(answer)]
    if hasattr(answer, "html") and isinstance(answer.html, str):
        told.append(answer.html)
    figure = answer.figure() if hasattr(answer, "figure") and not isinstance(answer, type) else answer
    if isinstance(figure, PlainChart) or not hasattr(figure, "draw"):
        figure = None
    chart = getattr(answer, "chart", None)
    if chart is not None and hasattr(chart, "to_dict") and rng.random() < 0.3:
        told.append(re.sub(r"view_\w+|data-[0-9a-f]+", "", json.dumps(chart.to_dict())))
    if figure is not None:
        wide, drawn = rng.choice(WIDTHS), figure.draw(1000, "")
        refs = sorted(set(SELECTED.findall(drawn))) or [""]
        told += [drawn, figure.draw(wide, rng.choice(refs)), figure.draw(wide, rng.choice(refs))]
    if hasattr(answer, "host"):
        told.append(answer.host.body)
        try:
            told += controls(answer)
        except ApplyRefused as error:  # what a control was moved to is refused: whoever reads its value is told
            told.append(str(error))
    return UNIQUE.sub("", "\n".join(told)).replace(str(ROOT), "TESTS")


def faces(answer):
    """Yield what else a reader reads of an answer: each of its public names that is a value."""
    if isinstance(answer, str | list | dict | tuple | bool | None) or hasattr(answer, "comm"):
        return
    for name in dir(answer):
        if name[0] != "_" and name not in NO_VALUES and not callable(value := getattr(answer, name)):
            yield f".{name} {SET.sub(in_order, repr(value))}"


def in_order(found):
    """Return a set's words in their order."""
    return f"{{{', '.join(sorted(found[1].split(', ')))}}}"


def told_of(question, asked, rng):
    """Return a question with what its answer shows; an error is an answer."""
    try:
        return question, everything(asked(), rng)
    except REFUSED as error:
        return question, f"{type(error).__name__}: {error}".replace(str(ROOT), "TESTS")


# -- clusters ------------------------------------------------------------------------------------------------------------


@cache
def recorded(family):
    """Return the recorded clusters of a family."""
    with gzip.open(ROOT / "conformance" / f"{family}.jsonl.gz", "rt") as file:
        return file.read().splitlines()


def of_record(rng):
    """Return a recorded cluster with the pod that waits there; later releases' rules are not asked of it."""
    return Cluster.from_manifests(recorded_case(rng), lenient=True), rng.choice((0, 0, 3, 60))


def recorded_case(rng):
    """Return the objects of a recorded cluster, the pod that waits last."""
    case = json.loads(rng.choice(recorded(rng.choice(RECORDED))))
    return [*case["objects"], case["pod"]]


def of_people(rng):
    """Return what somebody posted."""
    path = rng.choice(sorted(POSTED.glob("*.yaml")))
    return Cluster.from_manifests(path, revision=rng.choice(RULES[:3])), rng.choice((0, 5, 400))


def of_incident(rng):
    """Return an incident, played."""
    return kvolsched.incident(rng.choice(sorted(each.name for each in kvolsched.incidents()))).play(), 0


def of_scenario(rng):
    """Return a scenario under some rules."""
    name, steps = rng.choice(sorted(kvolsched.scenarios())), rng.choice((1, 4, 9, 30, 400))
    try:
        return kvolsched.scenario(name, *rng.choice(((rng.choice(RULES),), ()))), steps
    except ValueError:  # its dials are those of other rules
        return kvolsched.scenario(name), steps


def of_chance(rng):
    """Return a random cluster after some random acts."""
    cluster = fault_runs.cluster(rng)
    for number in range(rng.randint(1, 12)):
        cluster = acted(cluster, random.Random(f"{rng.random()} {number}"))
    return cluster, rng.choice((0, 2, 30))


def acted(cluster, rng):
    """Return a cluster after a random act, which may be refused."""
    act = rng.choice((*fault_runs.SORTS, random_acts.of_fields, random_acts.of_rules, random_acts.of_parts))(cluster, rng)
    try:
        found = act()
    except fault_runs.REFUSALS:
        return cluster
    return found if isinstance(found, Cluster) else cluster


def of_many(rng):
    """Return a cluster of many nodes in zones, some of which are full, closed or without labels."""
    zones, marks = rng.randint(1, 30), [{}, {"disk": "ssd"}, {"disk": "ssd", "gpu": "yes"}]
    count = rng.choice((7, 20, 50, 130))
    nodes = [make.node(f"n-{n:03d}", f"zone-{n % zones:02d}" if rng.random() < 0.95 else "", labels=rng.choice(marks), cpu=rng.choice("1248"),
                       taints=rng.choice(([], [], [], ["old"], ["old", "gpu"])), unschedulable=rng.random() < 0.1,
                       ready=rng.choice(("True", "True", "True", "False"))) for n in range(count)]  # fmt: skip
    web, rule = {"labels": {"app": "web"}}, make.spread(rng.choice((make.HOST, make.ZONE)), app="web", soft=rng.random() < 0.3)
    pods = [make.pod(f"w-{n}", running_on=f"n-{rng.randrange(count):03d}", cpu=rng.choice(("100m", "700m")), **web)
            for n in range(rng.randint(0, 2 * count))]  # fmt: skip
    rules = [{}, {"topologySpreadConstraints": [rule]}, {"affinity": make.apart(app="web")}, {"nodeSelector": marks[2]},
             {"topologySpreadConstraints": [rule | {"maxSkew": 2, "minDomains": 3}, make.spread(app="web")]}]  # fmt: skip
    new = [make.pod(f"next-{n}", *rng.choice(((), ("data",), ("data", "more"))), cpu=rng.choice(("1", "3", "9")), **rng.choice(rules), **web)
           for n in range(rng.randint(1, 4))]
    storage = [make.storage_class("late", make.DRIVER), make.claim("data", "10Gi", "late")]
    return Cluster.from_manifests([*nodes, *pods, *new, *storage]), rng.choice((0, 3, 12, 60))


WISHED = ("disk", "rack", make.HOST, make.ZONE, "size")


def some_terms(most, rng):
    """Return node selector terms with every operator."""
    return [{"matchExpressions": [some_part(rng) for _ in range(rng.randint(1, 2))]} for _ in range(rng.randint(1, most))]


def some_part(rng):
    """Return one expression of a term."""
    operator = rng.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    values = {"Exists": [], "DoesNotExist": [], "Gt": ["3"], "Lt": ["3"]}.get(operator, rng.sample(["a", "b", "n0", "n9", "ssd"], 2))
    return {"key": rng.choice(WISHED), "operator": operator, **({"values": values} if values else {})}


def some_volume(name, claim, rng):
    """Return a volume that some nodes reach, perhaps reserved."""
    found = make.volume(name)
    found["spec"] |= {"nodeAffinity": {"required": {"nodeSelectorTerms": some_terms(2, rng)}}} if rng.random() < 0.8 else {}
    found["spec"] |= {"claimRef": {"namespace": "default", "name": claim}} if rng.random() < 0.5 else {}
    return found


def wishing_pod(number, rng):
    """Return a pod with many wishes, or of an owner that is gone."""
    made = make.pod(f"p{number}", *rng.sample(["c0", "c1", "c2", "none"], rng.choice((0, 0, 1, 2))), cpu=rng.choice(("100m", "3", "9")),
                    labels={"app": rng.choice(("web", "db"))}, gates=("a/b", "c/d")[:rng.choice((0, 0, 0, 1, 2))])
    spec = made["spec"]
    if rng.random() < 0.6:
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": some_terms(3, rng)}}}
    if rng.random() < 0.3:
        spec["affinity"] = {**spec.get("affinity", {}), **make.apart(app=rng.choice(("web", "db")))}
    if rng.random() < 0.5:
        spec["nodeSelector"] = {key: rng.choice(("ssd", "r1", "a")) for key in rng.sample(WISHED, rng.randint(1, 4))}
        spec["nodeSelector"] |= {f"k{n}": "v" for n in range(rng.choice((0,) * 15 + (12,)))}
        spec["nodeSelector"] |= rng.choice(({}, {}, {}, {"node-role.kubernetes.io/worker": ""}, {rng.choice(sorted(KEYS_TODAY)): "small"}))
    if rng.random() < 0.3:
        spec["topologySpreadConstraints"] = [make.spread(key, app="web") for key in rng.sample(WISHED, rng.randint(1, 3))]
    if rng.random() < 0.3:
        made["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": rng.choice(("ReplicaSet", "StatefulSet", "Job")), "name": "gone",
                                                "uid": "u1", "controller": True}]  # fmt: skip
    return made


def of_wishes(rng):
    """Return a cluster of pods with many wishes, of owners that are gone, and of claims of odd volumes."""
    zones = "abc"[:rng.randint(1, 3)]
    nodes = [make.node(f"n{n}", rng.choice(zones), labels={key: rng.choice(("ssd", "r1", "4")) for key in rng.sample(WISHED[:2], rng.randint(0, 2))},
                       cpu=rng.choice("124"), taints=rng.sample(["old", "gpu", "lent"], rng.choice((0, 0, 1, 2)))) for n in range(rng.randint(1, 6))]
    for each in rng.sample(nodes, len(nodes) // 2):
        each["metadata"]["labels"] |= {f"node-role.kubernetes.io/{role}": "" for role in rng.sample(["worker", "infra", "edge"], rng.randint(1, 2))}

    claims = [make.claim(name, rng.choice(("1Gi", "50Gi")), rng.choice(("late", "slow", "local")), **rng.choice(({}, {"volumeName": f"v{n}"})))
              for n, name in enumerate(("c0", "c1", "c2")) if rng.random() < 0.8]
    for each in claims:
        if rng.random() < 0.15:
            del each["spec"]["storageClassName"]
    volumes = [some_volume(f"v{n}", f"c{n}", rng) for n in range(3) if rng.random() < 0.7]
    storage = [make.storage_class("late", make.DRIVER, **rng.choice(({}, {"allowed": [{make.ZONE: [rng.choice("abz")]}]}))),
               make.storage_class("local", "kubernetes.io/no-provisioner")]
    for each in rng.sample(nodes, len(nodes) // 2):
        each["metadata"]["labels"] |= dict.fromkeys(rng.sample(sorted(KEYS_TODAY.values()), 2), "small")
    running = [make.pod(f"r{n}", running_on=rng.choice(nodes)["metadata"]["name"], cpu=rng.choice(("100m", "900m")), labels={"app": rng.choice(("web", "db"))})
               for n in range(rng.randint(0, 5))]
    for each in running:
        each["metadata"] |= rng.choice(({}, {}, {"namespace": "kube-system"}, {"annotations": {"kubernetes.io/config.mirror": "x"}}))
    return Cluster.from_manifests([*nodes, *storage, *claims, *volumes, *running, *(wishing_pod(n, rng) for n in range(rng.randint(1, 5)))],
                                  revision=rng.choice(RULES[:3])), rng.choice((0, 3, 40))


def of_disks(rng):
    """Return a cluster with many volumes for a claim, or with a class that makes some."""
    nodes = [make.node(f"n{n}", rng.choice("ab")) for n in range(3)]
    disks = [make.disk(f"disk-{n}", f"n{n % 3}", f"{rng.randint(1, 20)}Gi") for n in range(rng.choice((2, 6, 14)))]
    kind = rng.choice(("local", "late", None, "none"))
    claim = make.claim("data", rng.choice(("1Gi", "9Gi")), kind or "local")
    if kind is None:
        del claim["spec"]["storageClassName"]
    return Cluster.from_manifests([*nodes, *disks, claim, make.storage_class("late", make.DRIVER), make.storage_class("local", "kubernetes.io/no-provisioner"),
                                   make.pod("app", "data", **rng.choice(({}, {"nodeSelector": {make.ZONE: "a"}})))]), rng.choice((0, 0, 2))


def of_dump(rng):
    """Return a recorded dump."""
    return Cluster.from_manifests(DUMPS / rng.choice(("shop.yaml.gz", "storage.yaml.gz"))), rng.choice((0, 0, 5))


def somewhere(source, rng):
    """Return a cluster of one source at a random moment."""
    cluster, steps = source(rng)
    cluster.run(steps=steps, seconds=600.0)
    if rng.random() < 0.25 and cluster.world.step_number:
        cluster.back(rng.randint(1, cluster.world.step_number))
    return cluster


# -- what is asked -------------------------------------------------------------------------------------------------------


def questions(cluster, rng):
    """Return so many questions of a cluster, each as (its words, what asks it)."""
    pods = [pod.metadata.namespace + "/" + pod.metadata.name for pod in cluster.objects("pods")] or ["default/none"]
    waiting = [f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in cluster.objects("pods") if not pod.spec.node_name] or pods
    nodes = [node.metadata.name for node in cluster.objects("nodes")] or ["none"]
    claims = [f"{each.metadata.namespace}/{each.metadata.name}" for each in cluster.objects("pvc")] or ["none"]
    sets = fault_runs.names(cluster, "deployment", "statefulset", "job", "replicaset") or ["deploy/none"]
    refs = fault_runs.names(cluster, "pod", "node", "pvc", "pv", "storageclass", "deployment", "statefulset") or ["pod/none"]
    pod, other, node, claim = rng.choice(waiting), rng.choice(pods), rng.choice(nodes), rng.choice(claims)
    key = rng.choice(("", make.ZONE, make.HOST, "disk", "rack"))
    found = rng.choice((f"pod/{other}", f"pvc/{claim}", rng.choice(sets), rng.choice(refs)))
    moment = rng.choice(("now", "pass", "now", rng.randint(0, max(1, cluster.world.step_number))))
    plugin = rng.choice(("NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "NodeAffinity", "TaintToleration", "Moon"))
    what = rng.sample(SERIES, rng.randint(1, 3))
    patch = rng.choice((
        {"spec": {"nodeSelector": {"disk": rng.choice(("ssd", None))}}}, {"spec": {"nodeSelector": None}}, {"spec": {"schedulingGates": []}},
        {"spec": {"tolerations": [{"key": "old", "operator": "Exists"}]}}, {"metadata": {"labels": {"a": "b"}}},
        {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": make.ZONE, "operator": rng.choice(("In", "NotIn")), "values": ["zone-a"]}]}]}}}}}))
    kind, form = rng.choice(KINDS), rng.choice(("", "", "wide", "name", "yaml", "json"))
    c = cluster
    always = [
        (f"why {pod}", lambda: c.why(pod)), ("why", lambda: c.why(most=rng.choice((1, 3, 20)))), (f"fix {pod}", lambda: c.fix(pod)),
        (f"fits {other}", lambda: c.fits(other)), (f"passes {other}", lambda: c.passes(other)), (f"story {found}", lambda: c.story(found)),
        (f"skew {found} {moment}", lambda: c.skew(found, moment)), (f"capacity {found} {moment}", lambda: c.capacity(found, moment)),
        (f"map {key}", lambda: c.map(key)), (f"domains {key}", lambda: c.domains(key)), (f"scores {other}", lambda: c.scores(other)),
        (f"verdicts {pod}", lambda: c.verdicts(pod)), ("timeline", c.timeline), ("changes", c.changes), ("events", c.events),
        (f"may {other} {patch}", lambda: c.may(other, patch)), (f"series {what}", lambda: c.series(what=what, over=rng.choice(("time", "steps")))),
        (f"why {found}", lambda: c.why(found)), ("next", lambda: c.next), ("lab", lambda: c.lab(text=True)), ("writes", c.writes),
    ]  # fmt: skip
    seldom = [
        ("visits", c.visits), ("counted", lambda: c.requests(events=True).count(("verb", "code"))), ("who", lambda: c.requests().count("client")), ("requests", lambda: c.requests(events=rng.random() < 0.5)), ("mounts", c.mounts), ("pools", c.pools),
        ("create volume", c.create_volume_requests), ("get capacity", c.get_capacity_requests), ("refusals", c.refusals),
        (f"verdicts {other} {node} {plugin}", lambda: c.verdicts(other, node, plugin)), (f"skew steps {found}", lambda: c.skew(found, over="steps")),
        ("branches", lambda: c.branches), ("controllers", lambda: c.controllers), ("not read", lambda: c.not_read),
        ("where", lambda: c.where(rng.choice(("disk=ssd", "zone in (a, b)", "disk", "!disk", f"{make.ZONE}=zone-a", "disk=")))),
        (f"get {kind} {form}", lambda: c.get(kind, rng.choice(("default", "")), **({"output": form} if form else {}))),
        ("diff", lambda: c.diff(c.under(rng.choice(("design", "upstream")), replay=True))),
        ("writes of both", lambda: c.writes(c.under("design", replay=True))), ("all patches", lambda: c.may(other, patch, {"spec": {"nodeSelector": None}})),
        ("sample", lambda: c.sample(3)), ("changes of a fork", lambda: c.diff(after(c, rng))),
        (f"kubectl get {kind}", lambda: c.kubectl(f"get {kind} -A {'-o ' + form if form else ''}")),
        (f"describe {found}", lambda: c.kubectl(f"describe {rng.choice(refs)}")), (f"explain {found}", lambda: c.manifests(rng.choice(refs))),
    ]  # fmt: skip
    return [*always, *rng.sample(seldom, 6)]


def after(cluster, rng):
    """Return a fork in which somebody did something."""
    fork = cluster.fork("other")
    for _ in range(3):
        fork = acted(fork, rng)
    return fork


def walk(source, seed, rng):
    """Ask everything of a cluster, let something happen, and ask some of it again."""
    cluster = somewhere(source, rng)
    for number in range(2):
        found = questions(cluster, rng)
        for question, asked in found if not number else rng.sample(found, 9):
            yield told_of(question, asked, random.Random(f"{seed} {question}"))
        cluster = acted(cluster, rng)
        cluster.run(steps=rng.choice((0, 1, 5)))


def fixes(seed, rng):
    """Ask what would help, and carry it out."""
    cluster = somewhere(rng.choice((of_record, of_people, of_incident, of_many, of_wishes, of_wishes)), rng)
    for pod in [pod for pod in cluster.objects("pods") if not pod.spec.node_name][:2]:
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        yield told_of(f"why {name}", lambda name=name: cluster.why(name), rng)
        try:
            found = cluster.fix(name)
        except REFUSED as error:
            yield f"fix {name}", str(error)
            continue
        yield f"fix {name}", everything(found, rng)
        for number, fix in enumerate(list(found)[:5]):
            tried = told_of("try", lambda fix=fix: fix.try_it(), rng)[1] if fix.can_be_tried else ""
            yield f"fix {name} {number}", "\n".join([repr(fix), str(fix), tried, str(fix.letter), str(fix.nodes)])


def panel(_seed, rng):
    """Do random things in a panel, and read all of it each time."""
    cluster = somewhere(rng.choice((of_scenario, of_scenario, of_chance, of_record)), rng)
    lab = cluster.lab()
    lab.do("width", px=rng.choice((500, 700, 1000, 1300)))
    for number in range(12):
        drawn = "".join(shown_of(lab))
        refs = sorted(set(SELECTED.findall(drawn))) or ["pod/none"]
        act, fields = rng.choice(commands(lab, refs, rng))
        try:
            act, fields = (act, lab.do(act, **fields) or fields) if rng.random() < 0.7 else (pressed(lab, rng), "")
            said = ""
        except REFUSED as error:
            said = f"{type(error).__name__}: {error}"
        words = [said, *lab.history, *controls(lab), *shown_of(lab)]
        if number % 4 == 0:
            words.append(lab.reading())
        yield f"{act} {fields}", UNIQUE.sub("", "\n".join(words))


def pressed(widget, rng):
    """Click or move a control that is shown; return which one."""
    control = rng.choice([each for each in shown_controls(widget) if not getattr(each, "disabled", False)])
    if isinstance(control, widgets.Button):
        control.click()
    elif isinstance(control, widgets.Textarea | widgets.Text | widgets.Combobox):
        control.value = rng.choice([*getattr(control, "options", ()), "", "node-a", "a=b", "7", "not there", "{spec: {replicas: 2}}"])
    else:
        control.value = rng.choice(values_of(control))
    return f"{type(control).__name__} {getattr(control, 'description', '')} {getattr(control, 'value', '')}"


def shown_controls(widget):
    """Yield every control that is shown."""
    if getattr(widget.layout, "display", None) != "none":
        if isinstance(widget, widgets.Button | widgets.Text | widgets.Dropdown | widgets.Textarea | widgets.Combobox | widgets.Checkbox
                      | widgets.IntSlider | widgets.SelectionSlider | widgets.ToggleButtons | widgets.ToggleButton):  # fmt: skip
            yield widget
        for child in getattr(widget, "children", ()):
            yield from shown_controls(child)


def shown_of(lab):
    """Return the pictures of a panel."""
    return [getattr(lab.host, view) for view in ("sentence", "map", "side", "lanes", "body")]


def commands(lab, refs, rng):
    """Return what may be done in a panel."""
    known = lab.run.steps_known
    act = rng.choice(ACTS[:-1])
    values = {}
    for each in act.fields:
        choices = (lab.driver.choices(each.choices) or [("", "")]) if each.choices else [(each.default, each.default), *((v, v) for v in each.values)]
        values[each.name] = rng.choice(choices)[1]
    return [
        ("step", {}), ("step", {}), ("back", {}), ("run", {}), ("goto", {"step": rng.randint(0, known)}), ("reset", {}),
        *(("select", {"ref": rng.choice(refs)}) for _ in range(4)), ("judge", {}), ("tab", {"name": rng.choice(TABS).name}),
        ("tab", {"name": rng.choice(TABS).name}), ("act", {"number": rng.randint(1, 4)}), ("ask", {"name": act.name}), ("clear", {}),
        *(("user", {"act": act.name, **values}) for _ in range(3)), ("moment", {"at": rng.choice(("now", "pass", rng.randint(0, known)))}),
        ("gear", {"unit": rng.choice(("turns", "steps"))}), ("beside", {"name": rng.choice(lab.branches)}),
        ("only", {"differences": rng.random() < 0.6}), ("branch", {"name": rng.choice(lab.branches)}), ("width", {"px": rng.choice(WIDTHS)}),
    ]  # fmt: skip


def bets(_seed, rng):
    """Bet on what happens, see it happen, and go on."""
    forget_grades()
    cluster = somewhere(rng.choice((of_scenario, of_scenario, of_chance, of_record, of_wishes, of_disks)), rng)
    for number in range(3):
        ask = rng.choice(sorted(ASKS))
        try:
            found = cluster.predict(ask=ask)
        except REFUSED as error:
            yield f"{ask} {number}", str(error)
            continue
        yield f"{ask} {number}, asked", everything(found, rng)
        found.answer(rng.randint(1, len(found.buttons)))
        yield f"{ask} {number}, answered", everything(found, rng) + found.said.value
        found.happen.click()
        yield f"{ask} {number}, happened", everything(found, rng) + found.said.value + repr(grade())


def what_ifs(_seed, rng):
    """Move the controls of a what-if panel."""
    cluster = somewhere(rng.choice((of_scenario, of_people, of_many, of_record)), rng)
    nodes, pods = fault_runs.names(cluster, "node"), fault_runs.names(cluster, "pod")
    sets = fault_runs.names(cluster, "deployment", "statefulset")
    fields = {f"{rng.choice(nodes or ['node/none'])}:spec.unschedulable": rng.choice((bool, [True, None]))}
    if pods:
        fields[f"{rng.choice(pods)}:spec.containers[0].resources.requests.cpu"] = ["100m", "1", "3", None]
        fields[f"{rng.choice(pods)}:spec.nodeSelector"] = [None, {"disk": "ssd"}, {make.ZONE: "zone-a"}]
    if sets:
        fields[f"{rng.choice(sets)}:spec.replicas"] = rng.choice(((0, 4), [1, 2, 5], [3], ["2", 2], [None, 1], [1.5, 2], list(range(30))))
    chosen = dict(rng.sample(sorted(fields.items(), key=str), rng.randint(1, len(fields))))
    picture = rng.choice(("map", "skew", "verdicts", "capacity", "domains", "scores"))
    try:
        opened = cluster.whatif(picture, **chosen)
    except REFUSED as error:
        yield f"{picture} {chosen}", str(error)
        return
    yield f"{picture} {chosen}", everything(opened, rng) + repr(opened.table)
    for number in range(4):
        path = rng.choice(sorted(chosen))
        control = opened.controls[path]
        try:
            control.value = rng.choice(values_of(control))
        except REFUSED as error:
            yield f"{number} {path}", str(error)
            continue
        yield f"{number} {path} {control.value}", everything(opened, rng)


def values_of(control):
    """Return what there is to choose."""
    if hasattr(control, "options"):
        return [each[1] if isinstance(each, tuple) else each for each in control.options]
    return [True, False] if isinstance(control.value, bool) else list(range(int(control.min), int(control.max) + 1))


def searches(_seed, rng):
    """Search the orders of turns of a small cluster."""
    name = rng.choice(("zonal-example", "two-replicas", "local-disks", "two-volumes-one-pool", "replicated-database", "soft-spread"))
    cluster = kvolsched.scenario(name, rng.choice(("design", "upstream")))
    cluster.run(steps=rng.randint(0, 4))
    if rng.random() < 0.2:
        cluster.delay(rng.choice(("kube-scheduler", "persistent-volume-binder")), 30.0)
    options = {"lag": rng.choice(("none", "ordered", "per kind")), "max_states": rng.choice((60, 400)), "progress": False}
    component = rng.choice(("kube-scheduler", "persistent-volume-binder", "kubelet", "nobody"))
    pod, claim = (rng.choice(fault_runs.names(cluster, kind) or [f"{kind}/none"]) for kind in ("pod", "pvc"))
    options |= rng.choice((
        {}, {"at_rest": lambda c: not c.objects("pods")[-1].spec.node_name or "it runs"}, {"never": f"{pod} Running"}, {"never": f"{claim} Bound"},
        {"never": f"{pod} gone"}, {"goal": f"{pod} Running"}, {"until": f"{claim} Bound"}, {"at_rest": explore.pods_forgotten}, {"clock": "any"},
        {"invariants": INVARIANTS}, {"never": [explore.nodes_hold_what_they_run, explore.pods_within_max_skew]}))
    options |= rng.choice(({}, {"faults": [explore.Crash(component)]}, {"faults": [explore.Refuse(component, "Conflict", times=2)]},
                           {"faults": [explore.UserAct("somebody deletes it", (writes.delete(rng.choice((pod, claim))),))]}))
    yield told_of(f"explore {name} {options}", lambda: cluster.explore(**options), rng)
    yield told_of(f"sample {name}", lambda: cluster.sample(4, **rng.choice(({}, {"goal": f"{pod} Running"}))), rng)


INVARIANTS = (explore.versions_grow, explore.claims_and_volumes_match, explore.pods_stay, explore.pods_reach_their_volumes,
              explore.nodes_hold_what_they_run, explore.pods_within_max_skew)


def invariants(_seed, rng):
    """Say what is broken in clusters that nobody would let come so far, and between two moments."""
    for number in range(6):
        nodes = [make.node(f"n{n}", rng.choice("ab"), cpu=rng.choice("12"), pods=rng.choice(("1", "9"))) for n in range(3)]
        pods = [make.pod(f"p{n}", *rng.choice(((), ("c0",), ("c1",))), cpu=rng.choice(("600m", "1")), labels={"app": "web"},
                         topologySpreadConstraints=[make.spread(app="web")] if rng.random() < 0.4 else [],
                         **rng.choice(({}, {"running_on": f"n{rng.randrange(4)}"}, {"running_on": "n0"}))) for n in range(rng.randint(1, 5))]
        claims = [make.claim(f"c{n}", volumeName=rng.choice(("v0", "v1", "v2"))) | {"status": {"phase": rng.choice(("Bound", "Pending"))}} for n in range(2)]
        volumes = [some_volume(f"v{n}", f"c{n}", rng) for n in range(2)]
        here = Cluster.from_manifests([*nodes, *claims, *volumes, *pods])
        there = acted(acted(here.fork(), rng), rng)
        there.run(steps=rng.choice((0, 3)))
        yield str(number), "\n".join(f"{each.__name__}: {each(one.world.log.objects, other.world.log.objects)}"
                                     for one, other in ((here, here), (here, there), (there, here)) for each in INVARIANTS)


def patches(_seed, rng):
    """Patch gated pods in every way."""
    cluster = somewhere(rng.choice((of_wishes, of_wishes, of_many)), rng)
    gated = wishing_pod(99, rng)
    gated["spec"]["schedulingGates"] = [{"name": "a/b"}]
    cluster.apply(gated)

    def patch():
        wanted = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": some_terms(2, rng)}}
        return rng.choice((
            {"spec": {"nodeSelector": rng.choice((None, {}, {"disk": "ssd"}, {"disk": None, make.ZONE: "b"}, {"k0": "w"}))}},
            {"spec": {"affinity": {"nodeAffinity": wanted}}}, {"spec": {"affinity": None}}, {"spec": {"schedulingGates": rng.choice(([], [{"name": "c/d"}]))}},
            {"spec": {"nodeSelector": {"disk": "r1"}, "affinity": {"nodeAffinity": wanted}}}, {"spec": {"tolerations": [{"operator": "Exists"}]}},
            {"metadata": {"labels": {"app": "db"}}}, {"spec": {"priority": 7}}, {"spec": {"nodeName": "n0"}}))

    yield told_of("may", lambda: cluster.may("pod/p99"), rng)
    for number in range(4):
        wanted = [patch() for _ in range(rng.randint(1, 3))]
        yield told_of(f"{number} {wanted}", lambda wanted=wanted: cluster.may("pod/p99", *wanted, kind=rng.choice(("merge", "merge", "strategic"))), rng)
    yield told_of("json", lambda: cluster.may("pod/p99", [{"op": "remove", "path": "/spec/nodeSelector"}], kind="json"), rng)


def odd_objects(rng):
    """Return a manifest with annotations and data of every sort, of which names are replaced."""
    texts = ('{"a": {"name": "web"}}', '["web", 7, null]', "{broken", "[1", "7", "true", "", "web-0.shop.svc", "a=b,c=d", '{"kind":"Pod","metadata":{"name":"web"}}')
    noted = {f"example.com/{rng.choice('abc')}{n}": rng.choice(texts) for n in range(4)}
    noted |= {rng.choice(("kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision", "volume.kubernetes.io/selected-node")): rng.choice(texts)}
    pod = wishing_pod(1, rng)
    pod["metadata"]["annotations"] = noted
    pod["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": rng.choice((*MESSAGES, *texts))}]}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "web.1", "namespace": "default"}, "reason": "FailedScheduling", "type": "Warning",
             "message": rng.choice((*MESSAGES, *texts)), "involvedObject": {"kind": "Pod", "name": "p1", "namespace": "default"}}  # fmt: skip
    extra = rng.choice(({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": rng.choice(({"a": "b"}, None, "text", {"k": {"n": [1, None]}}))},
                        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "Yg=="}}, {"apiVersion": "x.io/v1", "kind": "Own", "metadata": {"name": "o"},
                         "spec": {"nodeName": "n1", "list": [{"name": "web"}], "status": 7}}, "no mapping"))  # fmt: skip
    return [pod, event, make.node("n1", "a", labels={"team": "blue"}), extra]


# -- words ---------------------------------------------------------------------------------------------------------------


def words(_seed, rng):
    """Decode and redact what was cut, joined or misspelt."""
    sentences = [PLACEHOLDER.sub(rng.choice(("web", "data-0", "10")), sentence) for row in MEANINGS for sentence in row.sentences]
    replaced = Sentences(lambda name: f"<{name}>").replaced
    for number in range(25):
        some = rng.sample(sentences, rng.randint(1, 4))
        whole = rng.choice((*MESSAGES, *ODD_SENTENCES, *OLDER_WORDS))
        text = rng.choice((
            some[0], whole, f"0/9 nodes are available: {', '.join(f'{n + 1} {each}' for n, each in enumerate(some))}.",
            f"Warning  FailedScheduling  5m  default-scheduler  0/9 nodes are available: 9 {some[0]}. preemption: {some[-1]}",
            whole + " " + some[0], whole[rng.randrange(len(whole)):], some[0][:rng.randint(1, len(some[0]))],
            "\n".join(some), misspelt(some[0], rng), misspelt(whole, rng), f"[{', '.join(some)}]", f'"{whole}"', f"Error: {some[0]}"))  # fmt: skip
        yield told_of(f"decode {number}", lambda text=text: kvolsched.decode(text), rng)
        yield f"redact {number}", replaced(text)


def misspelt(text, rng):
    """Return a text without one of its letters, or with another one."""
    place = rng.randrange(max(1, len(text)))
    return text[:place] + rng.choice(("", "x", " ", "(", ".")) + text[place + 1:]


@contextmanager
def folder():
    """Stand in a folder of one's own, with what people posted and recorded beside it: its paths are as long everywhere."""
    with TemporaryDirectory() as made, chdir(made):
        Path("posted").symlink_to(POSTED)
        Path("recorded").symlink_to(ROOT / "conformance")
        yield sorted(Path("posted").glob("*.yaml"))


def terminal(_seed, rng):
    """Type commands on files, and magics."""
    with folder() as posted:
        yield from commands_of(posted, rng)


def commands_of(posted, rng):
    """Type commands on files, and magics."""
    for number in range(5):
        path, other = rng.choice(posted), rng.choice([*posted, Path("recorded/dumps/shop.yaml.gz")])
        kind = rng.choice(KINDS)
        line = rng.choice((
            f"why {path}", f"why {path} --most {rng.randint(1, 3)}", f"check {path}", f"check {path} --cluster {other}", f"redact {path} --salt s",
            f"get {other} {kind}", f"get {other} {kind} -A -o {rng.choice(('wide', 'name', 'yaml', 'json', 'moon'))}", f"describe {path} {kind}",
            f"run {rng.choice(sorted(kvolsched.scenarios()))}", f"incidents {rng.choice(('zone', 'volume', 'pod', 'spread', 'class'))}",
            f"scenarios {rng.choice(('zone', 'local', 'spread', 'moon'))}", f"said {rng.choice(('skew', 'assume', 'capacity', 'gate', 'xyzzy'))}",
            f"kinds {rng.choice(('Pod', 'Node', 'pvc', 'sc', 'Moon'))}", f"redact {path} --salt t --explain", f"get {path} nodes,pods --now 2026-01-31T12:00:00"))
        done = CliRunner().invoke(main, line.split())
        yield f"kvolsched {number} {line} -> {done.exit_code}", done.output
        magic = rng.choice((f"get {kind}", f"describe {kind}", f"get {kind} -o wide", "use d", "get nodes --cluster d", "explain pod.spec", "top"))
        names = {"c": kvolsched.scenario("zonal-example"), **({"d": kvolsched.scenario("zones")} if rng.random() < 0.5 else {})}
        with redirect_stdout(StringIO()) as said, redirect_stderr(said):
            run_magic(names, magic)
        yield f"%kubectl {magic}", said.getvalue()


def typed(_seed, rng):
    """Type whole commands, wrong ones and with standard input, in a folder of their own; no page of the pager was done."""
    done_pages.clear()
    names = sorted(kvolsched.scenarios())
    for _ in range(6):
        with folder() as posted:
            yield line_typed(posted, names, rng)


def line_typed(posted, names, rng):
    """Type a line; return it with what is printed and written."""
    path, other, name = rng.choice(posted), rng.choice(posted), rng.choice(names)
    rules = rng.choice(("upstream", "design", "draft", "no storage capacity", "moon"))
    line = rng.choice((
        "why -", "check - --cluster " + str(other), f"why {path} --fix --most 2", f"why {path} {other}", f"why {path} --revision {rules}",
        f"why {path} --pod default/none", f"check {path} --cluster {other} --without {rng.choice(('zone=a', 'zone', 'moon'))}",
        f"check {path} --cluster {path} --json", f"redact {path} -o out.yaml --map names --salt s", f"redact {path} -o out.txt", "redact none",
        f"get {path} {rng.choice(KINDS)} -A --show-labels", f"get {path} {other} all", f"get {path} pods web", f"get {path} pods -n {rng.choice(('default', 'shop'))}",
        f"describe {path} pods", f"describe {path} node {rng.choice(('a', 'n1', 'none'))}", f"run {name} --revision {rules}", f"run {name} --seed 3",
        f"run {name} --set {rng.choice(('zones=2', 'replicas=2', 'count', 'x=1'))}", f"explore {rng.choice(names)} --max-states 40 --lag none",
        f"explore zonal-example --max-states {rng.choice(('20', '900', 'x'))}", "incidents", f"incidents --play {rng.choice(('dead-zone', 'zone', 'xyzzy'))}",
        f"scenarios {name}", "kinds", f"kinds {rng.choice(('pod', 'Pods', 'deploy', 'csinode', 'pvcs'))}", "alternatives", f"{rng.choice(('wyh', 'ge', 'serv'))} x",
        "decode", "said", "page ada --level 1 --number 2", "lessons --help", "serve none --port 99999", f"bench {rng.choice(('moon', '--nodes 1'))}", f"differ upstream {rules} --examples 3",
        f"conform {path}", "conform recorded/apply.jsonl.gz --json", "grade none.json"))
    case = rng.choice((recorded_case, odd_objects))(rng)
    line = rng.choice((line, line, f"why case.json --most {rng.randint(1, 3)}", "why case.json --fix", "redact case.json --salt s", "get case.json all -A",
                       "describe case.json pods", "check case.json --cluster case.json", "redact case.json -o out.yaml --map names --salt t"))
    said = rng.choice((path.read_text(encoding="utf-8"), "0/3 nodes are available: 3 Insufficient cpu.", "", "{}", "kind: [", "kubectl get pods\nhint\ndone\n",
                       f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {{containers: [{{name: a, cpu: {rng.randrange(9)}}}]}}\n"))
    Path("case.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": case}), encoding="utf-8")
    done = CliRunner().invoke(main, line.split(), input=said)
    kept = "".join(each.read_text(encoding="utf-8") for each in sorted(Path().glob("*")) if each.is_file() and each.name != "case.json")
    return f"kvolsched {line} -> {done.exit_code}", done.output + kept


def benches(_seed, rng):
    """Try patches of a gated pod by hand."""
    cluster = somewhere(of_many, rng)
    gated = make.pod("gated", gates=("a/b",), **rng.choice(({}, {"nodeSelector": {make.ZONE: "zone-01"}}, {"nodeSelector": {"disk": "ssd", "gpu": "yes"}})))
    cluster.apply(gated)
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": some_terms(2, rng)}}
    wanted = rng.choice(({"nodeSelector": {"gpu": "yes"}}, {"affinity": {"nodeAffinity": terms}}, {"nodeSelector": {"a": "b", "c": "d"}, "affinity": {"nodeAffinity": terms}}))
    bench = cluster.may("pod/gated", {"spec": wanted}, edit=True)
    for number in range(6):
        try:
            act = pressed(bench, rng)
        except REFUSED as error:
            act = str(error)
        yield f"{number} {act}", everything(bench, rng)


def names(_seed, rng):
    """Write names that somebody nearly wrote."""
    cluster = somewhere(rng.choice((of_scenario, of_people)), rng)
    there = [ref.partition("/")[2] for ref in fault_runs.names(cluster, "pod", "node", "pvc", "deployment", "storageclass")] or ["none"]
    lab = cluster.lab()
    known = [*kvolsched.scenarios(), *(each.name for each in kvolsched.incidents())]
    for number in range(8):
        name, of_ours = rng.choice(there), rng.choice(known)
        for _ in range(rng.randint(1, 4)):
            name, of_ours = misspelt(name, rng), misspelt(of_ours, rng)
        kind = misspelt(rng.choice(KINDS), rng)
        yield f"{name} {number}", f"{near_misses(name, there)} {near_misses(of_ours, known)} {near_misses(kind, KINDS, longer=True)}"
        for question, asked in rng.sample([
            ("why", lambda name=name: cluster.why(name)), ("fix", lambda name=name: cluster.fix(name)), ("story", lambda name=name: cluster.story(f"pvc/{name}")),
            ("skew", lambda name=name: cluster.skew(f"deploy/{name}")), ("cordon", lambda name=name: cluster.fork().cordon(name)),
            ("get", lambda kind=kind: cluster.get(kind)), ("there", lambda name=name: cluster[f"pod/{name}"]), ("scenario", lambda of_ours=of_ours: kvolsched.scenario(of_ours)),
            ("incident", lambda of_ours=of_ours: kvolsched.incident(of_ours)), ("do", lambda kind=kind: lab.do(kind)), ("user", lambda kind=kind: lab.user(kind)),
            ("act", lambda name=name: lab.user("cordon", node=name)), ("what if", lambda name=name: cluster.whatif(**{f"node/{name}:spec.unschedulable": bool})),
            ("field", lambda kind=kind: cluster.whatif(**{f"pod/{there[0]}:spec.{kind}": [1, 2]})), ("picture", lambda kind=kind: cluster.whatif(kind)),
            ("predict", lambda kind=kind: cluster.predict(ask=kind)), ("map", lambda kind=kind: cluster.map(kind)), ("series", lambda kind=kind: cluster.series(what=kind)),
            ("may", lambda name=name: cluster.may(name, {"spec": {name: 1}})), ("verdicts", lambda name=name: cluster.verdicts(name, name, name)),
        ], 5):  # fmt: skip
            yield told_of(f"{question} {number}", asked, rng)


SOURCES = {"record": of_record, "people": of_people, "incident": of_incident, "scenario": of_scenario, "chance": of_chance, "many": of_many,
           "wishes": of_wishes, "dump": of_dump}
SORTS = {**{name: lambda seed, rng, source=source: walk(source, seed, rng) for name, source in SOURCES.items()},
         "fixes": fixes, "panel": panel, "bets": bets, "what-ifs": what_ifs, "searches": searches, "words": words, "terminal": terminal, "typed": typed, "benches": benches, "names": names, "patches": patches,
         "invariants": invariants}


def drawn(name):
    """Return [(what was asked, all that was shown)] of a walk such as `panel-7`."""
    sort, _, _ = name.rpartition("-")
    return [(UNIQUE.sub("", " ".join(question.split())[:200].replace(str(ROOT), "TESTS")), shown) for question, shown in SORTS[sort](name, random.Random(name))]
