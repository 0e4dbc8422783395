"""Nodes by one-line terms: the same answer as a node selector, whatever way it is written."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kvolsched
from kvolsched import Cluster, UnknownName, make
from kvolsched.views.answers import answer_figure

OPERATORS = ("{k}={v}", "{k}!={v}", "{k} in ({v}, z)", "{k} notin ({v})", "{k}", "!{k}", "{k}>{v}", "{k}<{v}")


@pytest.fixture(scope="module")
def racks():
    """The cluster of the lesson on node affinity."""
    return kvolsched.scenario("reach-a-disk")


def test_terms_are_ored_and_expressions_anded(racks):
    """A comma asks for both, another term for either; a key's prefix may be left out."""
    zone, rack = "topology.kubernetes.io/zone=east-a", "rack=r1"
    assert ["a1"] == racks.where(f"{zone}, {rack}")
    assert ["a1", "a2", "b1"] == racks.where(zone, rack)
    assert [] == racks.where("") == racks.where() == racks.where("gpu")


def test_every_line_is_shown_with_the_value_it_reads(racks):
    """Printed, each expression stands on every node, then what they amount to, then the keys in full."""
    assert """                 a1    a2    b1    b2    w1
rack NotIn [r1]  ✕ r1  ✓ r2  ✕ r1  ✓ r2  ✓ –
rack Exists      ✓ r1  ✓ r2  ✓ r1  ✓ r2  ✕ –
all of these     ✕     ✓     ✕     ✓     ✕
2 of 5 nodes match: a2, b2 (rack is example.com/rack)""" == repr(racks.where("rack!=r1, rack"))
    drawn = racks.where("rack!=r1, rack").figure()
    assert "rack is example.com/rack" in drawn.draw(960, "").replace("<wbr/>", "")  # where a line may break


@pytest.mark.parametrize(("count", "more"), [
    (2, []), (20, []), (21, ['<p class="k-b">1 node more</p>']), (23, ['<p class="k-b">3 nodes more</p>'])])
def test_twenty_nodes_have_columns(count, more):
    """A Yes is pale, what several lines amount to is strong, a No has no ground; of more than twenty nodes the rest is counted first."""
    nodes = [make.node(f"n{number:02}", labels={"a.com/rack": "r1"} if number % 2 else {}) for number in range(count)]
    page = Cluster.from_manifests(nodes).where("rack=r1, !disk").figure().draw(900, "")
    found = ET.fromstring(page.replace("<wbr/>", ""))  # noqa: S314 - our own string
    lines = [[(cell.find("*").tag, cell.find("*").get("class", ""), "".join(cell.itertext()).strip()) for cell in line] for line in found.iter("tr")
             if line.find("td") is not None]  # fmt: skip
    pale, strong = "k-side k-p-ok k-t-ok", "k-side k-s-ok k-on"
    halves = min(20, count) // 2

    assert [
        [("span", "", "rack In [r1]"), *[("div", "", "✕ –"), ("div", pale, "✓ r1")] * halves],
        [("span", "", "disk DoesNotExist"), *[("div", pale, "✓ –")] * 2 * halves],
        [("b", "", "all of these"), *[("div", "", "✕"), ("div", strong, "✓")] * halves],
    ] == lines  # fmt: skip
    assert ["", *(f"n{number:02}" for number in range(min(20, count)))] == ["".join(head.itertext()) for head in found.iter("th")]
    notes = re.findall("<p.*?</p>", page)
    assert (more, '<p class="k-q">rack is a.com/rack</p>') == (notes[: len(more)], notes[-1])
    assert f"{count // 2} of {count} nodes match{'es' * (count == 2)}: n01" in notes[len(more)]


def test_what_cannot_be_read_is_an_error(racks):
    """A malformed term names the forms; a key of which several labels end so is not guessed."""
    with pytest.raises(ValueError, match="write app=web, "):
        racks.where("zone in east-a")
    two = Cluster.from_manifests([make.node("n1", labels={"a.com/disk": "ssd", "b.com/disk": "hdd"})])
    with pytest.raises(UnknownName, match=r"'disk' may be a\.com/disk or b"):
        two.where("disk=ssd")
    assert ["n1"] == two.where("b.com/disk=hdd")


def test_a_term_that_kubernetes_cannot_read_matches_nothing(racks):
    """Gt with a word is no label requirement: its term matches no node, and its line says so."""
    found = racks.where("slots>many, rack")
    assert [] == found
    assert not any(found.lines[0].matches)


def test_many_nodes_are_counted_not_shown():
    """Beyond a dozen nodes the rest is a number; a dozen is shown whole."""
    dozen = Cluster.from_manifests([make.node(f"n{n:02}", zone="a") for n in range(12)]).where("zone=a")
    assert "12 of 12 nodes match: " + ", ".join(f"n{n:02}" for n in range(12)) == dozen.sentence
    many = Cluster.from_manifests([make.node(f"n{n:02}", zone="ab"[n % 2]) for n in range(30)]).where("zone=a")
    assert 15 == len(many)
    assert "\n18 nodes more\n15 of 30 nodes match: n00, " in repr(many)
    assert "n29" not in answer_figure(many).draw(1400, "")


@given(st.lists(st.lists(st.tuples(st.sampled_from(OPERATORS), st.sampled_from("xy"), st.sampled_from("189")), min_size=1, max_size=3),
                min_size=1, max_size=3))
def test_a_pod_goes_where_the_terms_say(terms):
    """Required node affinity with the same terms lets a pod pass on the same nodes."""
    labels = [{}, {"x": "1"}, {"x": "8", "y": "9"}, {"y": "1"}, {"x": "z"}]
    c = Cluster.from_manifests([make.node(f"n{n}", labels=each) for n, each in enumerate(labels)])
    found = c.where(*(", ".join(form.format(k=k, v=v) for form, k, v in term) for term in terms))
    signs = {"{k}": "Exists", "!{k}": "DoesNotExist", "{k}>{v}": "Gt", "{k}<{v}": "Lt", "{k}={v}": "In", "{k} in ({v}, z)": "In"}
    selector = [{"matchExpressions": [
        {"key": k, "operator": signs.get(form, "NotIn"), **({"values": [v, "z"] if ", z" in form else [v]} if "{v}" in form else {})}
        for form, k, v in term]} for term in terms]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": selector}}}
    c.apply(make.pod("app", affinity=affinity))
    c.step("scheduler")
    assert list(found) == list(c.fits("app"))
