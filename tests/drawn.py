"""What chance asks of clusters that chance made: what a reader is shown, whatever somebody does.

Each sort of walk gives (what was asked, all that is shown) for a seed: of clusters that people posted, incidents,
scenarios, recorded clusters and those of random acts (`drawn_clusters`); in panels, what-if panels and bets; in a terminal
(`drawn_terminal`). Of rows alone that no cluster gave, pictures are drawn (`drawn_rows`).
"""

import json
import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import fault_runs
import ipywidgets as widgets
import yaml
from drawn_clusters import (
    ROOT,
    acted,
    of_chance,
    of_disks,
    of_dump,
    of_incident,
    of_many,
    of_people,
    of_record,
    of_scenario,
    of_wishes,
    some_terms,
    some_volume,
    somewhere,
    wishing_pod,
)  # fmt: skip
from drawn_details import of_details
from drawn_rows import ROWS
from drawn_terminal import KINDS, misspelt, terminal, typed
from shown_cases import MESSAGES, ODD_SENTENCES, OLDER_WORDS, controls

import kvolsched
from kvolsched import ApplyRefused, Cluster, explore, make, writes
from kvolsched.cli.redact.sentences import Sentences
from kvolsched.core.seen_by_scheduler import objects_seen_by_scheduler, snapshot_of_scheduler
from kvolsched.questions.decode.table import MEANINGS, PLACEHOLDER
from kvolsched.questions.fix import trials
from kvolsched.questions.fix.edit import all_changes, manifest_diff
from kvolsched.questions.fix.edit import commands as commands_for
from kvolsched.questions.fix.edit import undo as undo_of
from kvolsched.questions.fix.edit_search import _candidates as proposed
from kvolsched.questions.fix.edit_search import failures_of
from kvolsched.questions.fix.pods import let_it_be_tried
from kvolsched.questions.fix.trial_cluster import TrialCluster
from kvolsched.questions.near_names import near_misses
from kvolsched.questions.predict import ASKS, forget_grades, grade
from kvolsched.views.charts.figure import PlainChart
from kvolsched.views.fill import TABLES, frame_of
from kvolsched.views.panel.acts import ACTS
from kvolsched.views.pictures.picture import NAMED, PICTURES, TABS
from kvolsched.world.apiserver import ref

REFUSED = (ApplyRefused, LookupError, ValueError, TypeError)
WIDTHS = (320, 480, 560, 700, 820, 1000, 1000, 1400)
SELECTED = re.compile(r'data-ref="([^"]+)"')
UNIQUE = re.compile(r"\bk-?[0-9a-f]{6,}\b|0x[0-9a-f]+")  # what no two runs share
CODE = re.compile(r"\(\(data\) => .*?(?=\{\"root\")", re.DOTALL)
SET = re.compile(r"frozenset\(\{([^{}]*)\}\)")
NO_VALUES = {"chart", "cluster", "svg", "theme", "width", "bytes_per_state", "with_fix", "world"}  # pictures, clusters, sizes
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


def judged(_seed, rng):
    """Ask what would help in a cluster so large that nothing is run, and see it in a notebook's cell."""
    cluster, small = somewhere(rng.choice((of_details, of_wishes, of_disks, of_record, of_people, of_many)), rng), trials.LARGE
    try:
        trials.LARGE = 1
        for pod in [pod for pod in cluster.objects("pods") if not pod.spec.node_name][:3]:
            name = f"{pod.metadata.namespace}/{pod.metadata.name}"
            yield told_of(f"fix {name}", lambda name=name: cell_of(cluster.fix(name)), rng)
    finally:
        trials.LARGE = small


def kept(_seed, rng):
    """See answers in a notebook's cell, and save them under every ending."""
    cluster = somewhere(rng.choice((of_details, of_wishes, of_disks, of_record, of_people, of_chance, of_scenario)), rng)
    for question, asked in rng.sample(questions(cluster, rng), 4):
        try:
            answer = asked()
        except REFUSED:
            continue
        if hasattr(answer, "_repr_mimebundle_") and not hasattr(answer, "comm"):
            yield question, cell_of(answer)
        if hasattr(answer, "save"):
            yield f"{question}, saved", "\n".join(saved(answer, ending) for ending in ("svg", "txt", "html", "json"))


def cell_of(answer):
    """Return what a notebook's cell has of an answer, in words for each form."""
    shown = answer._repr_mimebundle_()
    forms = shown[0] if isinstance(shown, tuple) else shown
    return told_without_code("\n".join(f"{form}: {forms[form]}" for form in forms if form != "image/png"))


def saved(answer, ending):
    """Return what is saved of an answer, or why it is not."""
    with TemporaryDirectory() as folder:
        try:
            return told_without_code(answer.save(Path(folder) / f"it.{ending}").read_text(encoding="utf-8"))
        except REFUSED as error:
            return f"{ending}: {error}".replace(folder, "")


def told_without_code(text):
    """Return what a cell or a page shows without the code that unfolds it, which browsers' tests see."""
    return UNIQUE.sub("", CODE.sub("", text))


def whys(_seed, rng):
    """Ask why each pod waits, and what was judged of it."""
    cluster = somewhere(rng.choice((of_details, of_details, of_details, of_wishes, of_disks, of_record, of_record, of_record, of_people, of_chance)), rng)
    for pod in [pod for pod in cluster.objects("pods") if not pod.spec.node_name][:5]:
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        yield told_of(f"why {name}", lambda name=name: cluster.why(name), rng)
        yield told_of(f"passes {name}", lambda name=name: cluster.passes(name), rng)
    yield told_of("all", lambda: cluster.why(most=rng.randint(1, 4)), rng)


def twins(_seed, rng):
    """Ask why pods wait of which each has twins that differ in a label, a claim or a little more."""
    cluster = somewhere(rng.choice((of_details, of_wishes, of_record, of_record)), rng)
    nodes = [node.metadata.name for node in cluster.objects("nodes")]
    for number, node in enumerate(nodes[:rng.choice((0, 0, 1, 9))]):
        cluster.apply(make.pod(f"guard-{number}", running_on=node, cpu="1m", affinity=make.apart(**{rng.choice(("app", "own")): "web"})))
    for pod in [pod for pod in cluster.objects("pods") if not pod.spec.node_name][:3]:
        whole = yaml.safe_load(cluster.manifests(f"pod/{pod.metadata.namespace}/{pod.metadata.name}"))
        for number in range(rng.randint(1, 3)):
            labels = {**pod.metadata.labels, rng.choice(("app", "own", "version")): rng.choice(("web", "db", "1"))}
            meta = {"name": f"{pod.metadata.name}-twin-{number}", "namespace": pod.metadata.namespace, "labels": labels}
            spec = {**whole["spec"], **rng.choice(({}, {}, {"hostname": "web"}, {"nodeSelector": {"disk": "ssd"}}))}
            try:
                cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
            except REFUSED as error:
                yield f"apply {number}", str(error)
    cluster.run(steps=rng.choice((0, 0, 2, 30)))
    yield told_of("all", lambda: cluster.why(most=rng.randint(1, 9)), rng)
    yield told_of("each", lambda: "\n".join(map(repr, cluster.why())), rng)


def pictures(_seed, rng):
    """Draw every picture of some frames, with something in focus and something selected, at any width."""
    cluster = somewhere(rng.choice((of_details, of_details, of_details, of_wishes, of_disks, of_record, of_people, of_chance, of_many, of_scenario, of_incident)), rng)
    for number in range(2):
        refs = [ref(key) for key in cluster.world.log.objects] or ["pod/none"]
        pods = [each for each in refs if each.startswith("pod/")] or [""]
        frame = frame_of(cluster, focus=rng.choice(pods), selected=rng.choice(refs), tables=TABLES, judge=rng.random() < 0.5, tell=True)
        yield f"frame {number}", UNIQUE.sub("", repr(frame))
        chosen = sorted(set(SELECTED.findall(NAMED["map"].svg(frame, 1000)))) + refs[:9]
        for picture in rng.sample(PICTURES, 8):
            wide, key, selection = rng.randint(300, 1500), rng.choice((make.ZONE, make.HOST, "disk")), rng.choice(chosen)
            yield f"{picture.name} {wide} {selection}", picture.svg(frame, wide, selection, key) + picture.words(frame, key)
        cluster = acted(cluster, rng)
        cluster.run(steps=rng.choice((1, 4)))


def edits(_seed, rng):
    """Propose every edit for pods that fit nowhere, and what is proposed beside one of them."""
    cluster = somewhere(rng.choice((of_details, of_details, of_details, of_wishes, of_disks, of_record, of_record, of_people, of_many, of_chance, of_incident)), rng)
    objects, seen = objects_seen_by_scheduler(cluster), snapshot_of_scheduler(cluster)
    for key in [key for key, pod in objects.items() if key.kind == "Pod" and not pod.spec.node_name][:4]:
        trial, chosen = TrialCluster(objects, key, cluster.revision.profile, seen), []
        before = all_changes(let_it_be_tried(trial))
        for number in range(2):
            with trial.with_changes([*before, *chosen]):
                state = failures_of(trial, trial.judge())
                found = list(proposed(trial, state))
            yield f"{key} {number}", "\n".join([repr(state.demands), *(f"{demand.words}: {of_edit(edit)}" for demand, edit in found)])
            if not found:
                break
            chosen = all_changes([rng.choice(found)[1]])


def of_edit(edit):
    """Return all that is told of an edit."""
    whole = attrs.evolve(edit, changes=(), expected=(), acts=(), parts=())
    typed_lines = [*commands_for(edit.changes), undo_of(edit.changes)]
    return "\n".join([repr(whole), *typed_lines, manifest_diff(edit.changes), manifest_diff(edit.expected),
                      *(act.words for act in edit.acts), *(part.words for part in edit.parts)])  # fmt: skip


def panel(_seed, rng):
    """Do random things in a panel, and read all of it each time."""
    lab = somewhere(rng.choice((of_scenario, of_scenario, of_chance, of_record)), rng).lab()
    lab.do("width", px=rng.choice((500, 700, 1000, 1300)))
    yield from driven(lab, rng, 12)


def pairs(_seed, rng):
    """Do random things in a panel of two clusters: what somebody did to a fork, or the same under other rules."""
    cluster = somewhere(rng.choice((of_scenario, of_scenario, of_chance, of_record)), rng)
    other = after(cluster, rng)
    other.run(steps=rng.choice((0, 0, 1, 9)))
    try:
        lab = cluster.lab(beside=rng.choice((other, other, cluster.under(rng.choice(("design", "upstream"))))))
    except REFUSED as error:
        yield "beside", str(error)
        return
    lab.do("width", px=rng.choice((500, 700, 1000, 1300)))
    yield "opened", UNIQUE.sub("", "\n".join([lab.reading(), *controls(lab), *shown_of(lab)]))
    yield from driven(lab, rng, 8)


def quizzes(_seed, rng):
    """Do random things in a panel that asks before each step."""
    forget_grades()
    cluster, _ = rng.choice((of_scenario, of_scenario, of_scenario, of_wishes, of_details))(rng)
    cluster.run(steps=rng.randint(0, 7))
    lab = cluster.lab(predict=True)
    yield "opened", UNIQUE.sub("", "\n".join([lab.reading(), *controls(lab), *shown_of(lab)]))
    for number in range(12):
        act = rng.choice(("step", "step", "step", "number", "number", "number", "any"))
        if act == "any":
            yield from driven(lab, rng, 1)
            continue
        try:
            lab.do("step") if act == "step" else lab.do("act", number=rng.randint(1, 4))
        except REFUSED as error:
            act = str(error)
        quiz = lab.slot.children[-1].asked
        drawn = quiz.host.body + quiz.said.value if quiz is not None else ""
        yield f"{number} {act}", UNIQUE.sub("", "\n".join([lab.next_words(), drawn, *controls(lab), *shown_of(lab), repr(grade())]))


def asks(_seed, rng):
    """Bet on a value in a lesson's own words, and be told what was right."""
    forget_grades()
    for number in range(12):
        choices, value = rng.choice((
            (("none", "1 to 9", "10 to 12"), rng.choice((0, 4, 9, 12, 13))), (("yes, at once", "no"), rng.choice((True, False))),
            (("more than 7", "fewer than 3", "3 to 7"), rng.choice((2, 3, 7, 7.5))), (("node-a", "node-b", "none of them"), rng.choice(("node-a", "node-c", "none of them"))),
            (("-2", "0.5 s", "less than -3"), rng.choice((-2, -4, 0.5))), ((), rng.choice((7, 7.5, -1)))))
        asked = kvolsched.ask(f"What comes of {number}?", *choices, number=not choices, within=rng.choice((0, 1)) if not choices else 0)
        answer = rng.choice(choices or (7, 8, 9.5, "x"))
        yield f"{number} {choices} {value} {answer}", "\n".join(told_of_bet(asked, answer, value, rng))


def told_of_bet(asked, answer, value, rng):
    """Yield what is shown of a bet before an answer, after it, after the value is told, and once it is given up."""
    yield everything(asked, rng)
    for act in (lambda: asked.answer(answer), lambda: asked.was(value), asked.give_up):
        try:
            act()
        except REFUSED as error:
            yield f"{type(error).__name__}: {error}"
        yield from (everything(asked, rng), asked.said.value, asked.host.body, repr(grade()))


def traces(_seed, rng):
    """Read what a search found, and ask at its end why it came so far."""
    name = rng.choice(("zonal-example", "two-replicas", "local-disks", "two-volumes-one-pool", "replicated-database"))
    cluster = kvolsched.scenario(name, rng.choice(("design", "upstream")))
    cluster.run(steps=rng.randint(0, 3))
    pod = rng.choice(fault_runs.names(cluster, "pod") or ["pod/none"])
    wanted = rng.choice(({}, {"until": f"{pod} Running"}, {"at_rest": lambda _: "it rests"}, {"goal": f"{pod} Failed"}, {"faults": [explore.Crash("kube-scheduler")], "never": f"{pod} Running"}))
    told = UNIQUE.sub("", str(sorted(wanted)))
    try:
        found = cluster.explore(lag=rng.choice(("none", "ordered")), max_states=300, progress=False, **wanted)
        yield f"explore {name} {told}", everything(found, rng)
    except REFUSED as error:
        yield f"explore {name} {told}", str(error)
        return
    yield told_of("sample", lambda: found.sample(3, progress=False), rng)
    if found.counterexample is not None:
        yield "counterexample", "\n".join([*found.counterexample.story, *map(str, found.counterexample.told), found.counterexample.title])
    there = found.replay(cluster)
    for question, asked in rng.sample(questions(there, rng), 5):
        yield told_of(question, asked, rng)
    yield told_of("what differs", lambda: cluster.diff(there), rng)


def driven(lab, rng, count):
    """Do so many random things in a panel, and read all of it each time."""
    for number in range(count):
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
    cluster = somewhere(rng.choice((of_scenario, of_scenario, of_chance, of_record, of_wishes, of_disks, of_details)), rng)
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
    for number in range(5):
        path = rng.choice(sorted(chosen))
        control, place = opened.controls[path], sorted(opened.controls).index(path)
        refs = SELECTED.findall(opened.host.map + opened.host.side) or ["pod/none"]
        act = rng.choice(("move", "move", "set", "set", "go", "select", "width"))
        try:
            if act == "move":
                control.value = rng.choice(values_of(control))
            elif act == "set":
                opened.set(**{rng.choice((path, path, misspelt(path, rng))): rng.choice((True, False, None, 1, 2, 3, "2", "100m", {"disk": "ssd"}))})
            else:
                wanted = {"go": {"ref": f"value/{place}/{rng.randint(0, 1)}"}, "select": {"ref": rng.choice(refs)}, "width": {"px": rng.choice(WIDTHS)}}
                opened.do("width" if act == "width" else "select", **wanted[act])
        except REFUSED as error:
            yield f"{number} {act} {path}", str(error)
            continue
        yield f"{number} {act} {path} {control.value}", "\n".join([everything(opened, rng), opened.host.map, opened.host.side, opened.host.sentence])


def values_of(control):
    """Return what there is to choose."""
    if hasattr(control, "options"):
        return [each[1] if isinstance(each, tuple) else each for each in control.options]
    return [True, False] if isinstance(control.value, bool) else list(range(int(control.min), int(control.max) + 1))


def diffs(_seed, rng):
    """Compare a cluster with what became of it under other rules, dials or acts."""
    cluster = somewhere(rng.choice((of_scenario, of_scenario, of_wishes, of_details, of_chance)), rng)
    for number in range(3):
        try:
            other = after(cluster, rng) if rng.random() < 0.5 else cluster.under(rng.choice(("design", "draft", "upstream")), replay=rng.random() < 0.7)
            other.run(steps=rng.choice((0, 2, 30, 400)))
        except REFUSED as error:
            yield f"other {number}", str(error)
            continue
        yield told_of(f"diff {number}", lambda other=other: cluster.diff(other), rng)
        yield told_of(f"the other way {number}", lambda other=other: other.diff(cluster), rng)
        yield told_of(f"writes {number}", lambda other=other: cluster.writes(other), rng)
        cluster.run(steps=rng.choice((1, 5, 400)))


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
           "wishes": of_wishes, "dump": of_dump, "details": of_details}
SORTS = {**{name: lambda seed, rng, source=source: walk(source, seed, rng) for name, source in SOURCES.items()},
         "fixes": fixes, "edits": edits, "whys": whys, "twins": twins, "pictures": pictures, "panel": panel, "pairs": pairs, "quizzes": quizzes, "asks": asks, "traces": traces, "judged": judged, "kept": kept, "bets": bets, "what-ifs": what_ifs, "searches": searches, "diffs": diffs, "words": words, "terminal": terminal, "typed": typed, "benches": benches, "names": names, "patches": patches,
         "invariants": invariants, **ROWS}


def drawn(name):
    """Return [(what was asked, all that was shown)] of a walk such as `panel-7`."""
    sort, _, _ = name.rpartition("-")
    return [(UNIQUE.sub("", " ".join(question.split())[:200].replace(str(ROOT), "TESTS")), shown) for question, shown in SORTS[sort](name, random.Random(name))]
