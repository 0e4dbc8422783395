"""The gate workbench, without a browser: the text is tried as it changes, bad YAML is one line, patches are a list."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvolsched import Cluster, UnknownName
from kvolsched.make import node
from kvolsched.views.drawing.text import escape
from kvolsched.views.pages.may import draw
from kvolsched.views.panel.host import ROOT
from kvolsched.views.panel.workbench import _in_the_text

ZONE = "topology.kubernetes.io/zone"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"},
       "spec": {"schedulingGates": [{"name": "example.com/queue"}], "nodeSelector": {ZONE: "a"},
                "containers": [{"name": "app", "image": "app"}]}}  # fmt: skip
NARROWER, OTHER = {"spec": {"nodeSelector": {"vm": "spot"}}}, "spec: {nodeSelector: {topology.kubernetes.io/zone: b}}"


@pytest.fixture
def cluster():
    """Return a cluster with a gated pod and a node in each of two zones."""
    return Cluster.from_manifests([node("n1", zone="a"), node("n2", zone="b"), POD])


def test_the_answer_follows_the_text(cluster):
    """Every change of the editor is tried on a fork; the picture has the answer, the cluster stays as it is."""
    before = cluster.digest()
    bench = cluster.may("app", f"spec:\n  nodeSelector: {{{ZONE}: a}}", edit=True)
    bench.editor.value = OTHER

    assert ("refused (422 Invalid)", "n2") == (bench.answers[0].verdict, bench.answers[0].witness.name)
    assert "refused 422" in bench.host.body
    bench.text = "spec: {nodeSelector: {vm: spot}}"
    assert "allowed" in bench.host.body
    assert before == cluster.digest()


@pytest.mark.parametrize(("text", "words"), [
    ("spec: {nodeSelector: {vm: spot}", "line 1: while parsing a flow mapping, did not find expected ',' or '}'"),
    ("spec:\n  a: 1\n b: 2", "line 3: while parsing a block mapping, did not find expected key"),
    ("", "nothing is written"),
    ("a: 1\n---\nb: 2", "a patch is one YAML document; this text has 2"),
    ("spec: {a: 1}\nspec: {b: 2}", 'the key "spec" appears twice in one mapping'),
])  # fmt: skip
def test_bad_yaml_is_one_clear_line(cluster, text, words):
    """The line names the place; the picture keeps the answer to the last text that could be read."""
    bench = cluster.may("app", NARROWER, edit=True)
    shown = bench.host.body
    bench.text = text

    assert words in bench.error
    assert "\n" not in bench.error
    assert words.split("'")[0].split('"')[0] in bench.said.value
    assert shown == bench.host.body
    assert "!" in bench.list.children[0].description
    assert "patch 1 is no YAML" in repr(bench)


def test_several_patches_are_a_list(cluster):
    """A number chooses the patch that is edited, drawn first; patches are added as copies and removed."""
    bench = cluster.may("app", NARROWER, OTHER, edit=True)
    assert ["1 ✓", "2 ✕"] == [button.description for button in bench.list.children[:2]]
    bench.list.children[1].click()
    assert OTHER == bench.editor.value
    assert [2, 1] == [number for number, _ in bench._shown()]
    bench.add.click()
    bench.text = "spec: {nodeSelector: {vm: x}}"
    assert 3 == len(bench.patches)
    assert ["allowed (200)", "refused (422 Invalid)", "allowed (200)"] == [row.verdict for row in bench.answers]
    bench._message(None, {"cmd": "select", "ref": "patch/1"}, [])
    bench.remove.click()
    assert [OTHER, "spec: {nodeSelector: {vm: x}}"] == list(bench.patches)
    bench.remove.click()
    bench.remove.click()
    assert (1, True) == (len(bench.patches), bench.remove.disabled)


def test_the_kind_of_patch_can_be_changed(cluster):
    """A JSON patch is a list of operations; what is none is refused in the server's words, not raised."""
    bench = cluster.may("app", NARROWER, edit=True)
    bench.kind.value = "json"
    assert "list of operations" in bench.answers[0].message
    bench.text = '[{op: add, path: "/spec/nodeSelector/vm", value: spot}]'
    assert bench.answers.allowed
    assert cluster.may("app", kind="json", edit=True).answers.allowed
    with pytest.raises(UnknownName, match="no kind of patch is called 'yaml'; there are: merge, strategic, json"):
        cluster.may("app", kind="yaml", edit=True)


BENCH = Cluster.from_manifests([node("n1"), POD]).may("app", edit=True)


@settings(deadline=None, max_examples=30)
@given(st.text(max_size=40), st.sampled_from(["merge", "strategic", "json"]))
def test_no_text_breaks_the_workbench(text, kind):
    """Whatever is typed is answered, or is one line; nothing of it is markup."""
    bench = BENCH
    bench.kind.value = kind
    bench.text = f"<script>{text}"
    assert "\n" not in bench.error
    assert "<script" not in bench.host.body + bench.said.value


def test_it_begins_with_what_may_be_changed(cluster):
    """Without patches there is one of each sort, judged; the row that is edited is open where it stands."""
    bench = cluster.may("app", edit=True)
    assert [row.title for row in cluster.may("app")] == [row.title for row in bench.answers]
    assert "What may I change on app? " in bench.host.body
    assert bench.patches == tuple(draft.text for draft in bench.drafts)
    bench.choose(2)
    body = bench.host.body
    assert body.index('data-ref="patch/1"') < body.index('data-ref="patch/2"') < body.index('data-ref="patch/3"')
    bench.text = "spec: {nodeSelector: {vm: spot}}"
    assert "What may I change" not in bench.host.body
    assert "" == bench.answers[1].title


def test_the_workbench_is_put_together_whole(cluster):
    """Title, numbers with what there is to press, editor, what is wrong, and the picture; each patch has its sign."""
    bench = cluster.may("app", NARROWER, OTHER, edit=True)
    head, listed, editor, said, host = bench.children

    assert (ROOT, "k-predict") == bench._dom_classes
    assert (bench.head, bench.list, bench.editor, bench.said, bench.host) == (head, listed, editor, said, host)
    assert ('<div class="k-quiz"><b>Patch app</b></div>', "") == (head.value, said.value)
    assert [("1 ✓", ("k-btn", "k-plain", "k-do")), ("2 ✕", ("k-btn", "k-plain")), ("Add a patch", ("k-btn", "k-plain")),
            ("Remove", ("k-btn", "k-plain"))] == [(each.description, each._dom_classes) for each in listed.children[:-1]]  # fmt: skip
    assert ("spec:\n  nodeSelector:\n    vm: spot", 4, ("k-patch",), ("k-patches",)) == (
        editor.value, editor.rows, editor._dom_classes, listed._dom_classes)
    assert (("merge", "strategic", "json"), "merge", "as in kubectl patch --type", ("k-choice",)) == (
        bench.kind.options, bench.kind.value, bench.kind.tooltip, bench.kind._dom_classes)
    assert (bench.kind, False, 1) == (listed.children[-1], bench.remove.disabled, host.tick)
    assert draw(bench.answers, 1000, "patch/1", [(1, bench.answers[0]), (2, bench.answers[1])]) == host.body


def test_numbers_choose_and_are_marked(cluster):
    """A click, a message or Python chooses; the mark, the text and the order of the pictures follow; any other number is refused."""
    bench = cluster.may("app", NARROWER, OTHER, "spec: {}", edit=True)
    seen = []
    for choose in (bench.list.children[2].click, lambda: bench.choose(2), lambda: bench._message(None, {"cmd": "select", "ref": "patch/3"}, []),
                   lambda: bench._message(None, {"cmd": "select", "ref": "patch/4"}, []), lambda: bench._message(None, {"cmd": "select", "ref": "patch/x"}, []),
                   lambda: bench._message(None, {"cmd": "select", "ref": "node/1"}, []), lambda: bench._message(None, {"cmd": "other", "ref": "patch/1"}, []),
                   lambda: bench._message(None, {"cmd": "select"}, []), lambda: bench._message(None, {"cmd": "select", "ref": "patch/1"}, [])):  # fmt: skip
        choose()
        marked = ["k-do" in button._dom_classes for button in bench.list.children[:3]]
        seen.append((bench.place, marked.index(True), sum(marked), [number for number, _ in bench._shown()]))

    assert [(2, 2, 1, [3, 1, 2]), (1, 1, 1, [2, 1, 3]), *[(2, 2, 1, [3, 1, 2])] * 6, (0, 0, 1, [1, 2, 3])] == seen
    for number in (0, 4):
        with pytest.raises(ValueError, match=f"^there are 3 patches; {number} is none of their numbers$"):
            bench.choose(number)
    bench._message(None, {"cmd": "width", "px": 700}, [])
    assert (700, draw(bench.answers, 700, "patch/1", bench._shown())) == (bench._width, bench.host.body)


def test_what_is_removed_gives_its_place_to_the_next(cluster):
    """The one after it is edited, at the end the one before; added ones are copies or what is given, judged and edited."""
    bench = cluster.may("app", *(f"spec: {{nodeSelector: {{vm: n{number}}}}}" for number in range(4)), edit=True)
    bench.choose(2)
    bench.drop()
    seen = [(bench.place, bench.text)]
    bench.choose(3)
    bench.drop()
    seen.append((bench.place, bench.text))
    bench.begin()
    seen.append((bench.place, bench.text))
    bench.begin({"spec": {"nodeSelector": {"vm": "z"}}})
    seen.append((bench.place, bench.text))

    def named(vm):
        return f"spec: {{nodeSelector: {{vm: {vm}}}}}"

    assert [(1, named("n2")), (1, named("n2")), (2, named("n2")), (3, "spec:\n  nodeSelector:\n    vm: z")] == seen
    assert ["1 ✓", "2 ✓", "3 ✓", "4 ✓"] == [button.description for button in bench.list.children[:4]]
    assert 4 == len(bench.answers)


@pytest.mark.parametrize(("lines", "rows"), [(1, 4), (2, 4), (3, 4), (4, 5), (14, 15), (15, 16), (40, 16)])
def test_the_editor_is_as_high_as_its_text(cluster, lines, rows):
    """A line more than are written, from 4 to 16."""
    bench = cluster.may("app", "\n".join(["# a"] * (lines - 1) + ["spec: {}"]), edit=True)
    assert rows == bench.editor.rows


@pytest.mark.parametrize(("text", "error"), [
    ("a: [", "line 1: while parsing a flow node, did not find expected node content"),
    ("a: 1\nb: <x", ""), ("", "nothing is written"), (" \n", "nothing is written"),
    ("a: 1\n---\nb: 2", "a patch is one YAML document; this text has 2"),
])
def test_what_is_wrong_is_said_whole(cluster, text, error):
    """A line below the editor names it, and that the picture is of an older text, if there was one that could be read."""
    bench, never = cluster.may("app", NARROWER, edit=True), cluster.may("app", text, edit=True)
    bench.text = text
    said = f'<p class="k-quiz" role="alert"><span class="k-tag">! no YAML</span> {escape(error)}<span class="k-who">{{}}</span></p>'.format
    kept = said(" The picture shows the last text that could be read.")

    assert (error, kept if error else "") == (bench.error, bench.said.value)
    assert (error, said("") if error else "") == (never.error, never.said.value)
    if error:
        assert repr(never) == f"{never.answers!r}\npatch 1 is no YAML: {error}"
        assert ("1 !", "1 !") == (bench.list.children[0].description, never.list.children[0].description)


def test_an_error_names_a_line_of_the_text():
    """What is missing at the end is told of the last line; an error without a line stays as it is."""
    assert ["line 2: x line 9", "line 1: x", "line 1: x", "too long"] == [_in_the_text(error, text) for error, text in (
        ("line 3: x line 9", "a\nb"), ("line 1: x", "a\nb"), ("line 1: x", ""), ("too long", "a"))]  # fmt: skip


@pytest.mark.parametrize(("labels", "kind", "text"), [
    ({ZONE: "a"}, "strategic", f"spec:\n  nodeSelector:\n    {ZONE}: a"),
    ({"failure-domain.beta.kubernetes.io/zone": "b"}, "strategic", "spec:\n  nodeSelector:\n    failure-domain.beta.kubernetes.io/zone: b"),
    ({}, "strategic", "spec:\n  nodeSelector:\n    kubernetes.io/hostname: n1"),
    ({ZONE: "a"}, "json", f'- op: add\n  path: "/spec/nodeSelector"\n  value:\n    {ZONE}: a'),
    (None, "strategic", f"spec:\n  nodeSelector:\n    {ZONE}: zone-a"),
])
def test_the_first_text_narrows_to_where_the_pod_fits(labels, kind, text):
    """To the zone of the first node that matches, else to its host; where none does an example stands."""
    pod = POD | {"spec": {key: value for key, value in POD["spec"].items() if key != "nodeSelector"}}
    plain = [] if labels is None else [node("n1") | {"metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"} | labels}}]
    bench = Cluster.from_manifests([*plain, pod]).may("app", kind=kind, edit=True)

    assert (text, (text,)) == (bench.text, bench.patches)


def test_edited_suggestions_are_no_longer_suggested(cluster):
    """The rule and the titles stand as long as every patch is the suggested one; another kind tries all again."""
    bench = cluster.may("app", edit=True)
    before = bench.answers
    bench.choose(2)
    bench.text = "spec: {nodeSelector: {vm: spot}}"
    after = bench.answers
    given = cluster.may("app", NARROWER, edit=True)

    assert (cluster.may("app").rule, True) == (before.rule, before.suggested)
    assert ("", False) == (after.rule, after.suggested) == (given.answers.rule, given.answers.suggested)
    assert [row.title for row in before][2:] == [row.title for row in after][2:]
    bench.kind.value = "strategic"
    assert len(bench.drafts) == len(bench.answers)
    assert repr(bench.figure().reading) == repr(repr(bench))
    assert draw(bench.answers, 640, "patch/2", bench._shown()) == bench.figure().draw(640, "patch/2")


def test_the_first_text_is_of_a_node_that_matches():
    """A node that the pod cannot be on lends no zone to it."""
    pod = POD | {"spec": POD["spec"] | {"nodeSelector": {ZONE: "b"}}}
    c = Cluster.from_manifests([node("n1", zone="a"), node("n2", zone="b"), pod])
    assert f"spec:\n  nodeSelector:\n    {ZONE}: b" == c.may("app", kind="strategic", edit=True).text
