"""The figures of the face, and the panel's driver over a real cluster."""

from types import SimpleNamespace

import pytest

import kvolsched
from kvolsched import Cluster, make
from kvolsched.views import show
from kvolsched.views.charts.figure import PlainChart
from kvolsched.views.fill import TABLES, frame_of
from kvolsched.views.panel.acts import Call
from kvolsched.views.panel.driver import ClusterDriver
from kvolsched.views.panel.lab import Lab, reading
from kvolsched.views.pictures.picture import NAMED
from kvolsched.views.show import zone_key
from kvolsched.world.apiserver import ref

from . import frames


@pytest.fixture
def cluster():
    """Return the zonal example after its first pass and its annotation."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.run(steps=3)
    return cluster


@pytest.mark.parametrize("name", ["map", "changes", "events", "domains"])
def test_every_figure_has_a_picture_and_words(cluster, name):
    """Each method of the face gives a figure whose repr is its reading; asking moves nothing."""
    before = cluster.digest()
    figure = getattr(cluster, name)()

    assert repr(figure) == figure.reading
    assert len(figure.reading.splitlines()) > 1
    assert cluster.digest() == before


def test_a_verdict_of_a_node_that_came_later_says_which_nodes_were_judged():
    """A node that the last pass had not seen has no verdict: the error says so, and names those that have one."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.node("n2", cpu="1"), make.pod("app", cpu="1")])
    c.run()
    c.apply(make.node("late", cpu="1"))

    with pytest.raises(kvolsched.UnknownName, match=r"^no node/late in the last pass of pod/app; there are: n1, n2$"):
        c.verdicts("app", node="late", plugin="NodeResourcesFit")


class Watched:
    """A frame that notes which of its fields are read. Mutable."""

    def __init__(self, frame):
        self.__dict__.update(frame=frame, read=set())

    def __getattr__(self, name):
        self.read.add(name)
        return getattr(self.frame, name)


@pytest.mark.parametrize("name", NAMED)
def test_a_picture_reads_no_part_that_it_does_not_ask_for(name):
    """At every width, for every selection and in words a picture reads the parts of the frame that are filled for it."""
    picture, c = NAMED[name], kvolsched.scenario("zonal-example")
    filled = {*picture.parts, *picture.tables, "head", "changes", "no_ledger"}
    for _place in range(4):
        watched = Watched(frame_of(c, chips=0, tables=TABLES))
        for selection in ("", *(ref(key) for key in sorted(c.world.log.objects))):
            _ = [picture.svg(watched, width, selection) for width in (520, 1240)]
        _ = picture.words(watched)
        assert set() == watched.read - filled
        _ = c.run(steps=6)


def test_verdicts_and_scores_take_a_name_or_a_reference(cluster):
    """`my-pod` and `pod/my-pod` are the same pod."""
    assert repr(cluster.verdicts("my-pod")) == repr(cluster.verdicts("pod/my-pod"))
    assert repr(cluster.scores("my-pod")).splitlines()[1].startswith("node-a  274")


def test_one_verdict_in_words(cluster):
    """A cell is told with both sides; asked about an unknown node, plugin or pass, the error says what there is."""
    told = repr(cluster.verdicts("my-pod", "node-a-small", "NodeResourcesFit"))
    assert told.splitlines() == [
        "⊘ NodeResourcesFit on node-a-small: Insufficient cpu",
        "  requests.cpu 1 > allocatable 500m − requested 0 = 500m",
    ]
    with pytest.raises(LookupError, match="no node/node-z; there are: node/node-a, node/node-a-small, node/node-b, node/n"):
        cluster.verdicts("my-pod", "node-z", "NodeResourcesFit")
    with pytest.raises(LookupError, match=r"no plugin NodeNames in the last pass of pod/my-pod; .*did you mean NodeName\?"):
        cluster.verdicts("my-pod", "node-a", "NodeNames")
    with pytest.raises(LookupError, match="no pass has been made"):
        kvolsched.scenario("zonal-example").verdicts("my-pod", "node-a", "NodeName")


@pytest.mark.parametrize("half", [{"node": "node-a"}, {"plugin": "NodeName"}])
def test_half_of_a_verdict_is_refused(half):
    """A node without a plugin, or a plugin without a node, is no verdict: the sentence asks for both."""
    with pytest.raises(ValueError, match="one verdict is that of a plugin on a node: name both"):
        kvolsched.scenario("zonal-example").verdicts("my-pod", **half)


def test_zone_key_is_the_one_that_most_nodes_carry():
    """The map groups by zone, else by host, and by zone when there is nothing to go by."""
    assert zone_key(kvolsched.scenario("zonal-example")) == "topology.kubernetes.io/zone"
    assert zone_key(kvolsched.scenario("local-disks")) == "kubernetes.io/hostname"
    assert zone_key(kvolsched.Cluster()) == "topology.kubernetes.io/zone"


def test_driver_steps_back_and_lets_others_act():
    """A chip's key is an actor and its cause; the default one is a plain step; reset and run go to the ends."""
    driver = ClusterDriver(kvolsched.scenario("zonal-example"))
    first, second = driver.frame().next
    driver.step(second.actor)
    assert driver.frame().head.actor == "PV controller · claims"
    driver.back()
    driver.frame()
    driver.step(first.actor)
    assert driver.frame().head.actor == "scheduler · pass"
    driver.run()
    end = driver.frame().head.step
    driver.goto(0)
    assert driver.frame().head.step == 0
    driver.goto(end)
    assert driver.frame().next == ()


def test_the_verdicts_of_a_pass_of_two_turns_are_those_of_the_first():
    """What somebody changes between choosing and assuming, the pass has not seen: its verdicts are without it."""
    c = Cluster.from_manifests([make.node("n1"), make.node("n2"), make.pod("app")], components={"kube-scheduler": {"fine": True}})
    c = c.with_plugin(lambda _pod, node, _seen: "late" not in node.metadata.labels or "it is late", name="late")
    c.step("scheduler", turns=True)
    c.label("n1", "late=yes")
    c.step("scheduler", turns=True)

    assert "pass 1 of pod/app: 2 of 2 nodes fit" == repr(c.verdicts("app")).partition("\n")[0]


def test_fine_gear_shows_turns():
    """In turns, one write is one step."""
    driver = ClusterDriver(kvolsched.scenario("zonal-example"))
    driver.gear("turns")
    for _ in range(3):
        driver.step()

    assert driver.frame().head.sentence.startswith("Scheduler selects node-a")
    assert [row.ref for row in driver.frame().changes if row.kind == "api"] == ["pvc/my-pvc"]


def test_driver_tells_stories_and_cells(cluster):
    """An object's story has a row a change; what is no object has that of the pod in focus."""
    driver = ClusterDriver(cluster)
    frame = driver.frame()
    rows = driver.details(frame, "pvc/my-pvc", ["story"], judge=False).story.rows

    assert (rows[0].step, rows[0].op) == (1, "+")
    assert any(row.new == "node-a" for row in rows)
    assert driver.details(frame, "zone/us-central1-a", ["story"], judge=False).story.ref == "pod/my-pod"
    assert driver.details(frame, "verdict/node-c/VolumeBinding (CheckVolumeBinding)", (), judge=False).verdicts.cell.evidence


def test_lab_opens_and_reads(cluster):
    """The panel opens on the map's key; as text it starts with the sentence."""
    lab = cluster.lab()
    assert isinstance(lab, Lab)
    assert lab.topology == "topology.kubernetes.io/zone"
    assert repr(cluster.lab(text=True)).startswith("step 3 of 3")


def test_pictures_tell_apart_what_is_assumed(cluster):
    """The annotation is drawn as what it is, and the pod's block keeps its name."""
    svg = cluster.map().svg
    assert "annotation selected-node" in svg
    assert ">my-pod<" in svg


@pytest.mark.parametrize(("name", "pod"), [("why", "pod/late"), ("skew", "pod/later"), ("capacity", "pod/latest")])
def test_a_picture_without_a_pod_is_about_one_that_waits(name, pod):
    """A pod that waits comes before the one that was judged last; of the ledgers one that has what they are about."""
    c = Cluster.from_manifests([
        make.node("n1", "a"), make.pod("early", running_on="n1"), make.pod("judged"),
        make.pod("late", gates=("example.com/quota",)),
        make.pod("later", gates=("example.com/quota",), topologySpreadConstraints=[make.spread(make.ZONE, app="web")]),
        make.pod("latest", "data", gates=("example.com/quota",)), make.claim("data", "10Gi")])

    assert "pod/judged" == show._pod_in_question(c, "why")  # the first by name
    c.run()
    assert "n1" == c["pod/judged"].spec.node_name
    assert pod == show._pod_in_question(c, name)


def test_a_picture_without_a_pod_is_about_the_one_judged_last():
    """Where no pod waits, it is the one that was judged last; before any pass the first; without pods none."""
    c = Cluster.from_manifests([make.node("n1", "a"), make.pod("a", running_on="n1")])

    assert "pod/a" == show._pod_in_question(c, "why")
    c.apply(make.pod("b"))
    c.run()
    assert "pod/b" == show._pod_in_question(c, "why")
    assert "" == show._pod_in_question(c, "skew")
    assert "" == show._pod_in_question(Cluster(), "why")


@pytest.fixture(scope="module")
def zones():
    """Return six nodes in three zones, with a Deployment of three that has come up."""
    c = kvolsched.scenario("zones", replicas=3)
    c.run()
    return c


@pytest.mark.parametrize(("name", "kind", "rows", "words", "options", "drawn"), [
    ("map", "nodes", 6, (), {}, True), ("domains", "nodes", 6, (), {}, False), ("timeline", "turns", 17, (), {"step": 17}, True),
    ("scores", "scores", 10, ("What each plugin gives to each node for ",), {}, False),
])  # fmt: skip
def test_a_chart_has_its_table_and_its_words(zones, name, kind, rows, words, options, drawn):
    """Each picture that is a table, too, has that, the kind of its chart and what stands above it; some are a chart alone."""
    found = show.chart(zones, name)

    assert (kind, rows, options) == (found.kind, len(found.rows_of()), found.options)
    assert [True] * len(words) == [told.startswith(word) for told, word in zip(found.words, words, strict=True)]
    assert (show.figure(zones, name).reading, drawn) == (found.reading, not isinstance(found, PlainChart))


def test_the_ledger_of_skew_has_its_numbers(zones):
    """Counts, skew, and which domains are allowed and which are open are those of the first constraint; words say question and answer."""
    held = kvolsched.scenario("dead-zone")
    held.run()
    dead, web = held.skew("next"), zones.skew("deploy/web")

    assert ({"zone-1": 3, "zone-2": 3, "zone-lost": 0}, {"zone-1": 3, "zone-2": 3, "zone-lost": 0}, ["zone-lost"], []) == (
        dead.counts, dead.actual_skew, dead.fits, dead.open)
    every = ["zone-1", "zone-2", "zone-3"]
    assert (dict.fromkeys(every, 1), dict.fromkeys(every, 0), every, every) == (web.counts, web.actual_skew, web.fits, web.open)
    assert (1, "skew", {}) == (len(web.ledgers), web.kind, web.options)
    assert ("Who holds next back? Nobody may take it.",
            "zone-lost sets the minimum (0) and is shut by TaintToleration; zone-1 and zone-2 would then be 4 ahead of it, and 1 is allowed.",
            "Spread over topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule; now: step 1, t = 0 s, after pass 1, rules upstream") == dead.words  # fmt: skip
    assert (web.words, web.reading) == (show.ledger(zones, "skew", "deploy/web").words, show.ledger(zones, "skew", "deploy/web").reading)
    none = Cluster.from_manifests([make.pod("a")]).skew("a")
    assert ({}, {}, [], [], ()) == (none.counts, none.actual_skew, none.fits, none.open, none.words)


def test_a_domain_that_is_left_out_has_no_number():
    """Nodes that the pod's own selector leaves out are counted by no one."""
    spread = {"topologySpreadConstraints": [make.spread(make.ZONE, app="web"), make.spread(make.HOST, 2, app="web")]}
    c = Cluster.from_manifests([make.node("n1", "a"), make.node("n2", "b"), make.pod("app", nodeSelector={make.ZONE: "a"}, **spread)])
    found = c.skew("app")

    assert ({"a": 0}, {"a": 0}, ["a"], ["a"], 2) == (found.counts, found.actual_skew, found.fits, found.open, len(found.ledgers))
    assert "maxSkew 1" in found.words[-1]


@pytest.mark.parametrize(("step", "over", "options"), [
    (None, "time", {"over": "time", "step": None}), (3, "time", {"over": "time", "step": 3}), (None, "steps", {"over": "step", "step": None}),
    (3, "steps", {"over": "step", "step": 3}),
])  # fmt: skip
def test_a_series_marks_the_present_step_unless_it_is_the_last(step, over, options):
    """Over time or steps; a run that has no time yet is drawn over its steps."""
    c = kvolsched.scenario("zonal-example")
    early = c.series().options
    c.run()
    if step is not None:
        c.goto(step)
    found = c.series(over=over)

    assert ({"over": "step", "step": None}, options) == (early, found.options)
    assert ("series", 2) == (found.kind, len(found.words))
    assert [{"over": "step" if over == "steps" else "time"}, {"over": "step"}] == [
        c.series(what="lives", over=over).options, kvolsched.scenario("zonal-example").series(what="lives").options]


def test_a_verdict_is_known_of_what_is_gone():
    """A node and a pod that were deleted since keep their verdicts; where no pass was made the sentence names what was asked."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.node("n2"), make.pod("app", cpu="2")])
    c.run()
    before = repr(c.verdicts("app", "n1", "NodeResourcesFit"))
    c.delete("node/n1")
    gone = repr(c.verdicts("app", "n1", "NodeResourcesFit"))
    c.delete("pod/app")
    c.run()
    with pytest.raises(kvolsched.UnknownName) as unknown:
        kvolsched.scenario("zonal-example").verdicts("my-pod", "node-a", "NodeName")

    assert ("⊘ NodeResourcesFit on n1: Insufficient cpu", before) == (before.partition("\n")[0], gone)
    assert before == repr(c.verdicts("app", "n1", "NodeResourcesFit"))
    assert ("nothing is known of NodeName on node-a: no pass has been made for pod/my-pod",) == unknown.value.args


def test_counts_over_steps_mark_the_present_one_and_what_users_did(zones):
    """The chart has the counts of each domain at each step, the acts of users, and where the run stands."""
    c = zones.fork("marked")
    c.cordon("node-1-1")
    c.goto(c.world.known_steps - 1)
    found = c.skew("deploy/web", over="steps")

    assert (c.world.step_number, found.acts) == (found.options["step"], found.options["acts"])
    assert 1 == len(found.acts)
    assert ("skew_over_steps", {"step", "acts"}) == (found.kind, set(found.options))


def test_above_scores_stand_the_first_weights_that_would_change_the_choice(monkeypatch):
    """At most three, and none of a plugin that no weight lets choose another node."""
    class Effect(SimpleNamespace):
        """What a weight would do."""

        def __str__(self):
            return self.name

    effects = [Effect(name=name, above=above, below=below) for name, above, below in (
        ("a", 2, None), ("b", None, 1), ("c", None, None), ("d", 3, 1), ("e", 4, None))]  # fmt: skip
    monkeypatch.setattr(show, "weight_effects", lambda _: effects)

    assert ("What each plugin gives to each node for pod/web-0", "a", "b", "d") == show._score_words(frames.zonal(8))


def test_the_lives_of_several_clusters_are_no_chart_of_lives(zones):
    """Of two clusters only counts are compared."""
    with pytest.raises(kvolsched.UnknownName, match="lives"):
        zones.series(zones.fork("other"), what="lives")


ZONE_LABELS_THERE = "there are: kubernetes.io/hostname, topology.kubernetes.io/zone"


@pytest.mark.parametrize(("key", "words"), [
    ("zone", f"no node has the label zone; {ZONE_LABELS_THERE}; did you mean topology.kubernetes.io/zone?"),
    ("hostname", f"no node has the label hostname; {ZONE_LABELS_THERE}; did you mean kubernetes.io/hostname?"),
    ("topology.kubernetes.io/zon", f"no node has the label topology.kubernetes.io/zon; {ZONE_LABELS_THERE}; did you mean topology.kubernetes.io/zone?"),
    ("example.com/zone", f"no node has the label example.com/zone; {ZONE_LABELS_THERE}"), ("x", f"no node has the label x; {ZONE_LABELS_THERE}"),
])  # fmt: skip
def test_a_key_that_no_node_has_is_refused(zones, key, words):
    """The labels are listed; a name without its domain is compared with the last part of each."""
    with pytest.raises(kvolsched.UnknownName) as refused:
        show.known_topology_key(zones, key)

    assert (words,) == refused.value.args
    assert [key, make.ZONE, make.HOST] == [show.known_topology_key(each, wanted) for each, wanted in (
        (Cluster(), key), (zones, ""), (zones, make.HOST))]  # fmt: skip


@pytest.mark.parametrize(("labels", "key"), [
    ([make.ZONE, make.HOST], make.ZONE), ([make.HOST], make.HOST), (["failure-domain.beta.kubernetes.io/zone", make.HOST], "failure-domain.beta.kubernetes.io/zone"),
    (["other"], make.ZONE),
])  # fmt: skip
def test_the_zones_key_is_todays_before_the_beta_one(labels, key):
    """Of keys that as many nodes have the first counts; a key that more nodes have comes before it."""
    nodes = [make.node(name) | {"metadata": {"name": name, "labels": dict.fromkeys(labels, "a")}} for name in ("n1", "n2")]
    third = make.node("n3") | {"metadata": {"name": "n3", "labels": {make.HOST: "n3"}}}

    assert key == zone_key(Cluster.from_manifests(nodes))
    assert make.HOST == zone_key(Cluster.from_manifests([*nodes, third]))


def test_every_picture_of_a_trial_is_the_clusters_own(zones):
    """A named pod where there is one, else the one in question; where there is no pod a sentence stands in its place."""
    pod = f"pod/{zones.objects('pods')[0].metadata.name}"
    drawn = {name: show._trial_figure(zones, name, pod).reading for name in show.WHAT_IF_PICTURES}
    asked = show._pod_in_question(zones, "why")

    assert drawn == {"series": repr(zones.series()), "map": repr(zones.map()), "domains": repr(zones.domains()), "why": repr(zones.why(pod)),
                     "skew": repr(zones.skew(pod)), "capacity": repr(zones.capacity(pod)), "verdicts": repr(zones.verdicts(pod))}  # fmt: skip
    assert repr(zones.verdicts(asked)) == show._trial_figure(zones, "verdicts", "").reading == show._trial_figure(zones, "verdicts", "pod/gone").reading
    nothing = [show._trial_figure(Cluster(), name, "") for name in ("verdicts", "skew", "why")]
    assert ["There is no pod to ask about."] * 3 == [figure.reading for figure in nothing]
    assert "There is no pod to ask about." in nothing[0].draw(700, "")


@pytest.mark.parametrize(("ask", "kind", "words"), [
    (lambda c: c.whatif("skw", **{"deploy/web:spec.replicas": [1]}), kvolsched.UnknownName,
     "no picture 'skw'; there are: skew, capacity, map, domains, series, why, verdicts; did you mean skew?"),
    (lambda c: c.whatif({"deploy/web:spec.replicas": [1]}), TypeError,
     'whatif: give fields by their paths: c.whatif("map", **{"deploy/web:spec.replicas": (1, 9)})'),
    (lambda c: c.verdicts("nope", "node-1-1", "NodeName"), kvolsched.UnknownName, "no pod/nope; there are: PODS"),
    (lambda c: c.skew("deploy/web", over="time"), kvolsched.UnknownName, "no axis 'time'; there are: steps"),
    (lambda c: c.verdicts("web", node="node-1-1"), ValueError, "one verdict is that of a plugin on a node: name both, or none for all verdicts"),
])  # fmt: skip
def test_what_cannot_be_shown_is_said_whole(zones, ask, kind, words):
    """What was asked for, and what there is."""
    pods = ", ".join(f"pod/{pod.metadata.name}" for pod in zones.objects("pods"))
    with pytest.raises(kind) as refused:
        ask(zones)

    assert words.replace("PODS", pods) == refused.value.args[0]


@pytest.mark.parametrize(("rules", "steps", "expected"), [("upstream", 3, 3), ("upstream", None, None), ("design", 0, 0)])
def test_rules_beside_are_run_as_far(rules, steps, expected):
    """The same cluster under other rules is at the same step, or at its own end beside one that has ended."""
    c = kvolsched.scenario("zonal-example", rules)
    c.run(**{} if steps is None else {"steps": steps})
    other = show._as_far(c, c.under("upstream"))

    assert (not len(other.next) if expected is None else other.world.step_number == expected) is True
    assert (c.lab(tell=True).driver.tell, c.lab().driver.tell) == (True, False)
    assert (str(c.lab(text=True)) == reading(frame_of(c, chips=None)), str(c.lab(text=True, tell=True))) == (
        True, reading(frame_of(c, chips=None, tell=True)))


def test_every_order_of_a_driver_is_a_line_that_repeats_it(cluster):
    """Steps by the default actor or another one, known or new, in either gear; moves that move nothing are no line."""
    driver, seen = ClusterDriver(kvolsched.scenario("zonal-example")), []

    def did(order, *arguments):
        getattr(driver, order)(*arguments)
        seen.append((order, driver.place(), list(driver.script)[-1:], len(driver.script)))
        driver.frame()

    driver.frame()
    did("back")
    did("step", driver.frame().next[0].actor)
    did("step", "bind worker|default/my-pod")
    did("goto", 2)
    did("back")
    did("step")
    did("gear", "turns")
    did("step")
    did("gear", "steps")
    did("goto", 0)
    did("run")
    did("run")

    assert [("back", (0, 0), [], 0), ("step", (1, 1), ["c.step()"], 1),
            ("step", (2, 2), ['c.step("bind worker", "default/my-pod")'], 2), ("goto", (2, 2), ['c.step("bind worker", "default/my-pod")'], 2),
            ("back", (1, 2), ["c.goto(1)"], 3), ("step", (2, 2), ["c.goto(2)"], 3), ("gear", (2, 2), ["c.goto(2)"], 3)] == seen[:7]  # fmt: skip
    assert [("step", (3, 3), ["c.step(turns=True)"], 4), ("gear", (3, 3), ["c.step(turns=True)"], 4), ("goto", (0, 3), ["c.goto(0)"], 5),
            *[("run", (8, 8), ["c.run(steps=1_000)"], 6)] * 2] == seen[7:]  # fmt: skip
    again = kvolsched.scenario("zonal-example")
    exec(str(driver.script), {"c": again})  # noqa: S102 - our own lines
    assert again.digest() == driver.cluster.digest()


def test_acts_of_the_past_begin_a_branch(cluster):
    """An act at the end stays on it; one in the past, and one that must, begins a branch, whose name is taken only once."""
    driver = ClusterDriver(cluster)
    lines = []
    for move, call, branch, forks in (
        (None, Call("cordon", ("node-a",)), "a closed", False), (2, Call("cordon", ("node-b",)), "b closed", False), (1, Call("cordon", ("node-c",)), "", False),
        (1, Call("uncordon", ("node-a",)), "b closed", False), (None, Call("upgrade", ("upstream",)), "newer", True),
    ):  # fmt: skip
        if move is not None:
            driver.goto(move)
        told = driver.perform(call, branch, forks=forks)
        lines.append((driver.branches()[0], list(driver.script)[-2:], told))

    assert [("main", ['c.cordon("node-a")'], ""), ("b closed", ['c.goto(2, branch="b closed")', 'c.cordon("node-b")'], ""),
            ("cordon", ['c.goto(1, branch="cordon")', 'c.cordon("node-c")'], ""), ("b closed 2", ['c.goto(1, branch="b closed 2")', 'c.uncordon("node-a")'], ""),
            ("newer", ['c.goto(1, branch="newer")', 'c.upgrade("upstream")'], "")] == lines  # fmt: skip
    driver.goto(1)
    driver.perform(Call("goto", (1,), {"branch": "b closed"}))
    assert ("b closed 3", 'c.goto(1, branch="b closed 3")') == (driver.branches()[0], list(driver.script)[-1])
    driver.switch("main")
    assert ("main", ['c.goto("main")'], (4, 4)) == (driver.branches()[0], list(driver.script)[-1:], driver.place())
    before = driver.branches(), driver.place()
    driver.goto(1)
    with pytest.raises(LookupError):
        driver.perform(Call("cordon", ("nowhere",)), "closed")
    assert (before[0], 1) == (driver.branches(), driver.place()[0])


def test_the_one_beside_is_a_fork_at_the_end_of_its_branch(cluster):
    """The cluster stays in its branch at its step, also where there is no such branch."""
    driver = ClusterDriver(cluster)
    cluster.goto(1, branch="closed")
    cluster.cordon("node-a")
    cluster.goto(1)
    other = driver.beside("main")

    assert (("closed", 1), 3, "main") == ((driver.branches()[0], driver.place()[0]), other.place()[0], other.cluster.name)
    with pytest.raises(LookupError):
        driver.beside("nowhere")
    assert ("closed", 1) == (driver.branches()[0], driver.place()[0])
    holds = [driver.holds(until) for until in ("pod/my-pod gone", lambda c: c.world.step_number == 1, "pod/my-pod exists")]
    assert [False, True, True] == [each() for each in holds]
