"""The picture of `why`: clauses over the nodes they count, demands as rows, both sides in each cell, at any width."""

import re
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve

from kvolsched import Cluster, make
from kvolsched.api.text.manifest import from_plain
from kvolsched.views.pages import why as picture
from kvolsched.views.pages import why_causes as causes_picture
from kvolsched.views.pages.why_card import MAX_COLUMNS, ColumnRow, CountedClause, card_of
from kvolsched.views.pages.why_causes import heads_of, lines_of

from .pages import cells, faults, parsed, texts, told

DUMPS = Path(__file__).parent.parent / "conformance" / "dumps"


@cache
def dump(name):
    """Load a recorded dump once; `why` changes nothing."""
    return Cluster.from_manifests(DUMPS / f"{name}.yaml.gz")


def drawn(answer, width=940):
    """Return the card of an answer as elements."""
    return parsed(picture.draw(card_of(answer), width))


def words(page):
    """Return all words of a page."""
    return " ".join("".join(page.itertext()).split())


def nodes(number, **spec):
    """Make nodes of one kind."""
    name = spec.pop("name")
    return [
        from_plain({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": f"{name}-{place:04}", "labels": {"kubernetes.io/hostname": f"{name}-{place:04}"}},
            "spec": spec.get("spec", {}),
            "status": {"allocatable": {"cpu": spec.get("cpu", "4"), "memory": "8Gi", "pods": "10"}},
        })
        for place in range(number)
    ]  # fmt: skip


def pod(name="web", cpu="5"):
    """Make a pod that no node can take."""
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return from_plain({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
                       "spec": {"containers": containers}})  # fmt: skip


def cluster_of(*objects):
    """Load objects."""
    cluster = Cluster()
    cluster._load(list(objects))
    return cluster


def test_each_clause_is_tied_to_the_nodes_it_counts():
    """A clause shares a tie with the columns it counts, and a counted cell with its clause, column and demand."""
    page = drawn(dump("storage").why("kafka-2"))
    ties = {node.get("data-ref"): set(node.get("data-tie", "").split()) for node in page.iter() if node.get("data-ref")}

    assert {"c1", "g0"} == ties["clause/1"]
    assert {"g0", "c1"} == ties["nodes/0"]
    assert {"d1", "g0", "c1"} == ties["cell/1/0"]
    assert {"d2", "g2"} == ties["cell/2/2"]  # 20Gi > 15Gi on node-c is not counted: the cordon comes first


def test_a_cell_says_both_sides_and_whether_it_is_counted():
    """Both sides stand in the cell; the label says whether the sentence counts it."""
    page = drawn(dump("storage").why("kafka-2"))
    labels = {node.get("data-ref"): node.get("aria-label") for node in page.iter() if node.get("data-ref")}

    assert "20Gi > 15Gi" in words(page)
    assert "2 + 1 new > limit 2" in words(page)
    assert labels["cell/2/2"].startswith(
        "node-c: VolumeBinding, Claim data-kafka-2 finds no volume of 20Gi: rejects, too, not counted: ")
    assert "minimal set: 3 demands" in words(page)
    assert "Together they exclude every node; no two of them do." in words(page)


@pytest.mark.parametrize(("name", "asked", "said"), [
    ("shop", "nightly", "its scheduling gates [example.com/quota] must be removed first"),
    ("shop", "cache-0", "it is on node-b1, and Running"),
])
def test_a_pod_that_is_not_rejected_has_no_table(name, asked, said):
    """Gated and bound pods have a headline, and no cell."""
    page = drawn(dump(name).why(asked))

    assert said in words(page)
    assert not [node for node in page.iter() if node.get("data-ref")]


def test_a_rejection_before_filtering_is_one_row():
    """One column stands for all nodes, which were not asked."""
    page = drawn(dump("shop").why("import"))

    assert "no node was asked" in words(page)
    assert ["cell/0/0"] == [ref for node in page.iter() if (ref := node.get("data-ref", "")).startswith("cell/")]


def test_many_nodes_share_at_most_seven_columns():
    """Nodes that are judged alike share a column; amounts are a range, and the smallest groups share the last."""
    tainted = [
        node
        for number in range(9)
        for node in nodes(2, name=f"t{number}",
                          spec={"taints": [{"key": f"team-{number}", "value": "x", "effect": "NoSchedule"}]})
    ]  # fmt: skip
    answer = cluster_of(*nodes(30, name="small", cpu="1"), *nodes(20, name="tiny", cpu="500m"), *tainted, pod()).why("web")
    card = card_of(answer)

    assert MAX_COLUMNS == len(card.columns)
    assert "50 nodes" == card.columns[[column.count for column in card.columns].index(50)].title
    assert "4 more groups" == card.columns[-1].about
    assert {("some", "all"), ("passes", ""), ("some", "2 of 8"), ("some", "2 of 2")} == {
        (row.cells[-1].verdict, row.cells[-1].sides) for row in card.demands}
    assert "5 > 500m … 1" in [cell.sides for row in card.demands for cell in row.cells]
    assert 68 == sum(column.count for column in card.columns)
    assert "68 nodes, to scale" in words(drawn(answer))


def test_small_groups_share_a_column_with_all_their_clauses():
    """It names its nodes and numbers its clauses in order; only a clause that counts no other column is tied to it, preemption is."""
    tainted = [each for number in range(8) for each in nodes(
        2 if number < 6 else 1, name=f"t{number}", cpu="8" if number % 2 else "1",
        spec={"taints": [{"key": f"team-{number}", "value": "x", "effect": "NoSchedule"}]})]  # fmt: skip
    card = card_of(cluster_of(*nodes(1, name="z", cpu="1"), *nodes(1, name="y", cpu="8", spec={"unschedulable": True}), *tainted, pod()).why("web"))
    cpu, team, shut = "Too little cpu: 5 asked", "Taint team-{} is not tolerated", "The node is cordoned"

    assert ColumnRow("4 nodes", "4 more groups", 4, "", "none", resolvable=False, label="4 nodes: t6-0000, t7-0000, y-0000, z-0000", clauses=(1, 2, 3)) == (
        card.columns[-1])
    assert [("2 nodes", f"t{number}-0000, t{number}-0001", f"2 nodes: t{number}-0000, t{number}-0001; rejected first by TaintToleration", (3,))
            for number in range(6)] == [(each.title, each.about, each.label, each.clauses) for each in card.columns[:-1]]  # fmt: skip
    assert [(1, (6,), "resources"), (2, (6,), "node"), (3, (0, 1, 2, 3, 4, 5), "node"), (4, (0, 1, 2, 3, 4, 5, 6), "none")] == [
        (each.number, each.columns, each.family) for each in card.clauses]
    assert [(cpu, "8 of 16 nodes · alone on z-0000", 2), *((team.format(number), "2 of 16 nodes · alone on 2 nodes", 0) for number in (1, 3, 5)),
            (shut, "1 of 16 nodes · alone on y-0000", 1), (team.format(7), "1 of 16 nodes · alone on t7-0000", 1),
            *((team.format(number), "2 of 16 nodes · always with F", 0) for number in (0, 2, 4)),
            (team.format(6), "1 of 16 nodes · always with F", 1)] == [
                (each.title, each.about.partition(" · ")[2], int(each.cells[-1].sides.split(" ")[0] or 0)) for each in card.demands]  # fmt: skip


def test_demands_that_share_a_row_reject_first_where_one_of_them_does():
    """Of more than eight demands the last share a row: its cell is counted where one of them is what the event counts."""
    taints = [{"key": f"team-{number}", "value": "x", "effect": "NoSchedule"} for number in range(9)]
    shut = {"unschedulable": True}
    answer = cluster_of(*nodes(5, name="many", spec={"taints": taints[:8]}), *nodes(1, name="one", spec={"taints": taints[8:]}),
                        *nodes(6, name="both", spec=shut | {"taints": taints[:8]}), *nodes(7, name="shut", spec=shut),
                        pod()).why("web")  # fmt: skip
    card = card_of(answer)
    shared = card.demands[-1]

    assert "many-0000 … 0004" == next(column.about for column in card.columns if column.count == 5)
    assert ("3 more demands", "T", "node", False, (2,), "; ".join(f"Taint team-{number} is not tolerated" for number in (6, 7, 8))) == (
        shared.title, shared.letter, shared.family, shared.core, shared.clauses, shared.about)
    assert {("5 nodes", "first", "2 of 3"), ("one-0000", "first", "1 of 3"), ("6 nodes", "some", "2 of 3"),
            ("7 nodes", "passes", "")} == {
        (column.title, cell.verdict, cell.sides) for column, cell in zip(card.columns, shared.cells, strict=True)}


def test_a_clause_of_preemption_that_counts_no_column_stands_below():
    """Every clause of the event stands on the page once: one of preemption that is in no column's foot, below the table."""
    card = card_of(dump("storage").why("kafka-2"))
    lone = CountedClause(99, "7 No preemption victims found", "none", (), preemption=True, about="for incoming pod")
    page = parsed(picture.draw(evolve(card, clauses=(*card.clauses, lone)), 940))

    assert 1 == words(page).count("7 No preemption victims found: for incoming pod")
    refs = [node.get("data-ref") for node in page.iter() if (node.get("data-ref") or "").startswith("clause/")]
    assert len(set(refs)) == len(refs)


@pytest.mark.parametrize(("pods", "spec", "said"), [
    ((), {"cpu": "3", "preemptionPolicy": "Never"}, "not eligible due to preemptionPolicy=Never.: the pod's preemptionPolicy forbids it"),
    ((), {"cpu": "3"}, "1 Preemption is not helpful for scheduling: with every other pod gone, it would fail there still"),
    (("high",), {"cpu": "500m"}, "1 No preemption victims found for incoming pod: it might help, but no pod there has a lower priority"),
    (("high", "low"), {"cpu": "500m"}, "1 Insufficient cpu: also with the pods of lower priority gone"),
])  # fmt: skip
def test_what_evicting_pods_would_do_is_said(pods, spec, said):
    """A clause of preemption has what it means, below the node that it counts."""
    placed = [make.pod(name, cpu="800m" if name == "high" else "100m", priority=9 if name == "high" else 1, running_on="n1") for name in pods]
    card = card_of(Cluster.from_manifests([make.node("n1", cpu="1"), *placed, make.pod("web", priority=5, **spec)]).why("web"))

    assert [(False, "resources", (0,), "1 Insufficient cpu: "), (True, "none", (0,), said)] == [
        (each.preemption, each.family, each.columns, f"{each.text}: {each.about}") for each in card.clauses]


@pytest.mark.parametrize(("count", "title", "said"), [
    (1, "one demand alone", "excludes every node."), (2, "minimal set: 2 demands", "neither one does alone"),
    *((count, f"minimal set: {count} demands", f"no {fewer} of them do") for count, fewer in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "10"), 3)),
])  # fmt: skip
def test_the_minimal_set_says_that_fewer_demands_are_not_enough(count, title, said):
    """Each node has a taint of its own, so that all demands are needed; the number of fewer ones is a word up to nine."""
    tainted = [make.node(f"n{number:02}", taints=[f"t{number:02}"]) for number in range(count)]
    card = card_of(Cluster.from_manifests([*tainted, make.pod("web")]).why("web"))
    about = said if count == 1 else f"Together they exclude every node; {said}."

    assert (title, about, min(8, count)) == (card.set_title, card.set_about, len(card.demands))


def test_an_error_that_ends_a_pass_is_said_in_its_words():
    """Where an error ends the pass no node is counted: the words of kube-scheduler stand in place of the table."""
    claim = make.claim("data", volumeName="v9", storage_class="x") | {"status": {"phase": "Bound"}}
    card = card_of(Cluster.from_manifests([make.node("n1", cpu="1"), make.node("n2", "a", cpu="8"), claim, make.pod("web", "data", cpu="3")],
                                          revision="design").why("web"))  # fmt: skip

    assert ((), (), (), "") == (card.columns, card.clauses, card.demands, card.start)
    assert 'kube-scheduler says: could not find v1.PersistentVolume "v9"' in words(parsed(picture.draw(card, 940)))


def test_a_taint_is_told_as_kubectl_writes_it():
    """A cell has the whole taint, with its key, as the row and the event leave out value or effect."""
    taints = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}, {"key": "draining", "effect": "NoExecute"}]
    card = card_of(cluster_of(*nodes(1, name="n", spec={"taints": taints}), pod(cpu="1")).why("web"))

    assert ["dedicated=gpu:NoSchedule", "draining:NoExecute"] == [row.cells[0].sides for row in card.demands]


def test_one_node_is_one_column():
    """The only node is named in the headline."""
    page = drawn(cluster_of(*nodes(1, name="n"), pod()).why("web"))

    assert "shop/web: the pod asks for 5 cpu, and the only node, n-0000, has 4" in words(page)


@pytest.mark.parametrize(("groups", "pieces", "alike"), [
    ((1, 1, 1, 1, 1), [], False), ((2, 2, 1, 1), [], True), ((2, 1, 1, 1, 1), ["33.33%", *["16.67%"] * 4], True)])
def test_from_five_columns_on_all_nodes_are_shown_to_scale(groups, pieces, alike):
    """A piece for each column, tied to its clause; where each column is one node there is nothing to scale, and the head says so."""
    tainted = [make.node(f"n{group}{number}", taints=[f"t{group}"]) for group, count in enumerate(groups) for number in range(count)]
    page = picture.draw(card_of(Cluster.from_manifests([*tainted, make.pod("a")]).why("a")), 940)
    drawn = re.findall(r'<span class="k-s-node k-on" data-tie="(g\d c1)" style="width:([^"]+)">(\d)', page)

    assert [(f"g{place} c1", width, str(count)) for place, (width, count) in enumerate(zip(pieces, groups, strict=False))] == drawn
    assert (f"{sum(groups)} nodes, to scale" in texts(page)) == bool(pieces)
    assert [alike, not alike] == [said in texts(page) for said in (
        "Nodes that are judged alike share a column", "Each node stands under the clause that counts it")]  # fmt: skip


def test_amounts_are_bars_to_the_scale_of_their_row():
    """What is there is a bar and what is asked a tick, both of the largest amount of the row; a cell without amounts has neither."""
    page = picture.draw(card_of(dump("storage").why("kafka-2")), 940)
    found = re.findall(r'<div class="k-side ([^"]+)"[^>]* data-ref="cell/(\d/\d)" data-tie="([^"]+)"[^>]*><span[^>]*>(.)</span> (.*?)</div></td>', page)
    amounts = {at: re.findall(r'style="(?:width:|left:min\()([^,"]+)', rest) for _, at, _, _, rest in found}

    assert {"1/0": ["66.67%", "100%"], "2/0": ["100%", "20%"], "2/1": ["100%", "20%"], "2/2": ["15%", "20%"]} == {
        at: shares for at, shares in amounts.items() if shares}
    assert [("k-soft", "0/0", "g0 d0", "✓"), ("k-s-node k-on", "0/1", "g1 d0 c2", "⊘"), ("k-soft", "0/2", "g2 d0", "✓"),
            ("k-s-storage k-on", "1/0", "g0 d1 c1", "✕"), ("k-soft", "1/1", "g1 d1", "✓"), ("k-soft", "1/2", "g2 d1", "✓"),
            ("k-soft", "2/0", "g0 d2", "✓"), ("k-soft", "2/1", "g1 d2", "✓"), ("k-refused k-t-storage", "2/2", "g2 d2", "✕"),
            ("k-soft", "3/0", "g0 d3", "✓"), ("k-soft", "3/1", "g1 d3", "✓"), ("k-s-node k-on", "3/2", "g2 d3 c3", "⊘")] == [
                each[:4] for each in found]  # fmt: skip
    assert "bar: what is there; tick: what is asked" in told(page)
    assert [] == faults(page)


@pytest.mark.parametrize(("width", "spans"), [(720, 4), (494, 4), (493, 3), (480, 3)])
def test_the_words_of_a_demand_stand_beside_its_cells_or_above(width, spans):
    """Where three columns have room beside the demands each line has four cells, else words and cells alternate."""
    page = drawn(dump("storage").why("kafka-2"), width)
    demand, = (line for line in page.iter("tr") if line.find(".//*[@data-ref='demand/1']") is not None)
    cells = [cell for line in page.iter("tr") if line.find(".//*[@data-ref='cell/1/0']") is not None for cell in line]

    assert "kube-scheduler says 0/3 nodes are available:1 1 node(s) exceed max volume count" in words(page)
    assert "rules upstream · 5 kinds not loaded" in words(page)
    assert (spans, spans == 4) == (len(cells), demand[-1] is cells[-1])


def test_each_cause_has_its_plugins_its_nodes_and_its_edit():
    """A row has a letter for each plugin, a square for each node by zone, and the nearest edit."""
    answers = dump("shop").why()
    causes = lines_of(answers, heads_of(answers))
    reports = next(line for line in causes if line.pods == "demo/reports")
    imports = next(line for line in causes if line.pods == "demo/import")
    nightly = next(line for line in causes if line.pods == "demo/nightly")

    assert (("A", "node"), ("V", "storage")) == reports.chips
    assert ["A", "A", "A", "A", "V", "V"] == [mark for zone in reports.zones for mark, _, _ in zone.nodes]
    assert "Change nodeSelector topology.kubernetes.io/zone from zone-c to zone-a" == reports.edit
    assert {"·"} == {mark for zone in imports.zones for mark, _, _ in zone.nodes}
    assert {"✓"} == {mark for zone in nightly.zones for mark, _, _ in zone.nodes}


def test_no_pending_pod_is_one_sentence():
    """Nothing waits: a sentence, no table."""
    assert "No pod waits for a node." in causes_picture.draw(Cluster().why())


def test_the_only_pending_pod_has_its_card():
    """With one pending pod the picture of all is the card of that pod; the words are those of all."""
    answers = cluster_of(*nodes(2, name="n"), pod()).why()
    figure = answers.figure()

    assert "one demand alone" in figure.draw(720, "")
    assert repr(answers) == figure.reading


def test_many_nodes_are_a_bar_for_each_zone():
    """From 13 nodes on a zone has a bar with the letters of most nodes in place of squares."""
    answers = cluster_of(*nodes(20, name="n"), pod(), pod("web-1")).why()
    cause, = lines_of(answers, heads_of(answers))
    zone, = cause.zones

    assert ((("F", "resources", 20),), ()) == (zone.marks, zone.nodes)
    assert "e.g. shop/web and 1 more" == cause.pods


def test_the_figure_is_shown_and_reads_as_the_answer():
    """An answer shows its picture, and the words that are compared are those of the answer."""
    answer = dump("storage").why("kafka-2")
    figure = answer.figure()

    assert repr(answer) == repr(figure) == figure._repr_mimebundle_()["text/plain"]
    assert not re.search(r"[❘∉]", figure.draw(720, ""))  # signs that common fonts lack


def many_causes(*more, big=13):
    """Return why pods wait of four causes, on twelve nodes in three zones, every fourth of them with a taint."""
    tainted = [make.node(f"n{number:02}", "abc"[number % 3], cpu="1", taints=["t"] if number % 4 == 0 else []) for number in range(12)]
    waiting = [*(make.pod(f"big-{number:02}", cpu="5") for number in range(big)), make.pod("gated", gates=("x/y",)), make.pod("lost", "none"),
               make.pod("picky", nodeSelector={"gpu": "yes"})]
    return Cluster.from_manifests([*tainted, *more, *waiting])


def test_each_cause_is_a_line_with_a_letter_for_each_node():
    """Pods of a cause, what lacks, the letters of twelve nodes by zone in their order, the nearest edit; and what the letters mean."""
    page = causes_picture.draw(many_causes().why())
    lost = "claim none does not exist"

    assert [
        ["pods", "", "what lacks, and both sides", "a", "b", "c", "nearest edit, for one of the pods"],
        ["13", "", "F the pod asks for 5 cpu, and each node has 1", "TFFF", "FTFF", "FFTF",
         "Add a node (5 cpu, 64Gi memory; without taints)e.g. default/big-00 and 12 more"],
        ["1", "", "G Held by a scheduling gate: x/y9 of 12 nodes would fit", "✕✓✓✓", "✓✕✓✓", "✓✓✕✓",
         "Wait for the controller that removes the gate x/y, or ask itdefault/gated"],
        ["1", "", f"R {lost}", "····", "····", "····", "Create the claim none of 1Gi and a volume for itdefault/lost"],
        ["1", "", "A the pod selects gpu=yes, and no node has that label", "TAAA", "ATAA", "AATA", "Label n01 gpu=yesdefault/picky"],
    ] == cells(page)  # fmt: skip
    assert [*["81.25%", *["6.25%"] * 3], *["100%", *["7.692%"] * 3]] == re.findall(r'style="width:([^"]+)"', page)
    assert f"12 nodes · most pods first · rules upstreamF 13 the pod asks for 5 cpu, and each node has 1G 1 Held by a scheduling gate: x/yR 1 {lost}" in told(page)
    assert told(page).endswith("The letter is the first plugin that rejects there.A NodeAffinityF NodeResourcesFitT TaintToleration"
                               "R VolumeRestrictionsG scheduling gates✓ would fit✕ would not· no node was asked")
    assert [] == faults(page)


def test_of_more_nodes_each_letter_has_its_number():
    """Thirteen nodes are counted by zone, the most first, those without a zone apart; causes that are not shown are counted."""
    page = causes_picture.draw(many_causes(make.node("m", cpu="1", taints=["t"]), big=12).why(most=1))

    assert [["pods", "", "what lacks, and both sides", "a", "b", "c", "nodes", "nearest edit, for one of the pods"],
            ["12", "", "F the pod asks for 5 cpu, and each node has 1", "F 3 T 1", "F 3 T 1", "F 3 T 1", "T 1",
             "Add a node (5 cpu, 64Gi memory; without taints)e.g. default/big-00 and 11 more"]] == cells(page)  # fmt: skip
    assert "all 15 pods, to scale" in texts(page)
    assert "3 pods of 3 more causes: see `.causes`" in texts(page)
    assert told(page).endswith("The letter is the first plugin that rejects there.F NodeResourcesFitT TaintToleration")
    five = many_causes(*(make.node(f"m{number}", f"d{number}", cpu="1") for number in range(2)))
    zone, = lines_of(five.why(), heads_of(five.why()))[0].zones
    assert ("", (("F", "resources", 11), ("T", "node", 3)), ()) == (zone.zone, zone.marks, zone.nodes)


@pytest.mark.parametrize(("big", "rest"), [(1, ""), (12, ""), (13, " and 1 more"), (14, " and 2 more")])
def test_the_label_of_a_cause_has_twelve_pods(big, rest):
    """A screen reader is told the cause with its first twelve pods, and how many more there are."""
    answers = many_causes(big=big).why()
    named = ", ".join(f"default/big-{number:02}" for number in range(min(big, 12)))
    labels = [line.label for line in lines_of(answers, heads_of(answers))]

    assert f"{big} pod{'s' * (big > 1)}: the pod asks for 5 cpu, and each node has 1: {named}{rest}" in labels
    assert "1 pod: Held by a scheduling gate: x/y (9 of 12 nodes would fit): default/gated" in labels


def test_a_cause_of_each_pod_has_no_bar():
    """Where no cause has more than one pod their numbers are no bars; equal letters stand by the number of their nodes, then by name."""
    nodes = [make.node("n1", cpu="1"), make.node("n2", cpu="1", unschedulable=True), *(make.node(f"m{number}", cpu="1", taints=["t"]) for number in range(12))]
    page = causes_picture.draw(Cluster.from_manifests([*nodes, make.pod("a", cpu="5"), make.pod("b", nodeSelector={"x": "y"})]).why())

    assert ["T 12 F 1 U 1", "T 12 A 1 U 1"] == [line[3] for line in cells(page)[1:]]
    assert ["", ""] == [line[1] for line in cells(page)[1:]]
    assert ["50%", "50%"] == re.findall(r'style="width:([^"]+)"', page)


@pytest.mark.parametrize(("count", "edit", "heads"), [(200, "Label n000 x=y", ["Nearest edit:"]), (201, "", [])])
def test_in_a_large_cluster_no_edit_is_looked_for(count, edit, heads):
    """With more than 200 nodes neither the lines of all causes nor the card of a pod has the nearest edit."""
    c = Cluster.from_manifests([*(make.node(f"n{number:03}") for number in range(count)), *(make.pod(name, nodeSelector={"x": "y"}) for name in "ab")])
    answers = c.why()

    assert [edit] == [line.edit for line in lines_of(answers, heads_of(answers))]
    assert heads == [note.bold for note in card_of(c.why("a")).notes]


def test_plugins_of_ones_own_have_letters_that_are_free():
    """In the order of their names each takes the first letter that no other plugin has; the legend names them last."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.node("n2", cpu="1"), make.pod("a", cpu="5"), make.pod("b")])
    c = c.with_plugin(lambda _pod, _node, _seen: "too far", name="Moon").with_plugin(lambda _pod, node, _seen: node.metadata.name == "n1" or "red", name="Mars")

    assert {"NodeResourcesFit": "F", "Mars": "C", "Moon": "E"} == {row.about.split(" ")[0]: row.letter for row in card_of(c.why("a")).demands}
    assert told(causes_picture.draw(c.why())).endswith("The letter is the first plugin that rejects there.F NodeResourcesFitC Moon")


def test_an_edit_is_looked_for_only_for_the_first_causes():
    """Of many causes the first eight have their nearest edit; of the rest none is searched."""
    waiting = [make.pod(f"p{number}", nodeSelector={f"k{number}": "x"}) for number in range(10)]
    answers = Cluster.from_manifests([make.node("n1"), *waiting]).why()
    edits = [line.edit for line in lines_of(answers, heads_of(answers))]

    assert [f"Label n1 k{number}=x" for number in range(8)] + ["", ""] == edits


def test_of_a_pod_whose_node_is_chosen_no_edit_is_told():
    """It waits for its volumes alone, also where it fills its node; the one behind it is told of an edit."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.pod("a", cpu="1"), make.pod("b", cpu="1")])
    c.step()
    answers = c.why()
    assert [("default/a", ""), ("default/b", "Add a node (1 cpu, 64Gi memory)")] == [
        (line.of.pods[0], line.edit) for line in lines_of(answers, heads_of(answers))]
