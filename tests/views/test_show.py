"""The figures of the face, and the panel's driver over a real cluster."""

import pytest

import kvolsched
from kvolsched import Cluster, make
from kvolsched.views import show
from kvolsched.views.fill import TABLES, frame_of
from kvolsched.views.panel.driver import ClusterDriver
from kvolsched.views.panel.lab import Lab
from kvolsched.views.pictures.picture import NAMED
from kvolsched.views.show import zone_key
from kvolsched.world.apiserver import ref


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
