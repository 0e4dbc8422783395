"""The gate workbench, without a browser: the text is tried as it changes, bad YAML is one line, patches are a list."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvolsched import Cluster, UnknownName
from kvolsched.make import node

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
