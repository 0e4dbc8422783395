"""The gate workbench: what the API server answers to a patch, which nodes match, and the witness of a widening."""

import gzip
import itertools
import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from manifests import HOST, RACK, ZONE, apart, node, pod, required

from kvolsched import ApplyRefused, Cluster, make
from kvolsched.api.kinds.directives import selects_node
from kvolsched.api.kinds.meta import Frozen, ObjectMeta
from kvolsched.api.kinds.node import Node
from kvolsched.api.text import manifest
from kvolsched.questions.may import find_witness
from kvolsched.questions.may.changes import block, changes_of
from kvolsched.questions.may.suggested import suggestions
from kvolsched.questions.may.workbench import FREE_RULE, SPEC_RULE
from kvolsched.rules.named import revision_named
from kvolsched.views.pages.may import draw

VM = "example.com/vm"
NODES = [node("a1", "a", labels={VM: "spot"}), node("a2", "a", labels={VM: "demand"}),
         node("b1", "b", labels={VM: "spot"}), node("b2", "b", labels={VM: "demand"})]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
FIXED = "pod updates may not change fields other than"
both = pytest.mark.parametrize("revision", ["design", "upstream"])


def gated(revision="upstream", gates=("example.com/quota",), **spec):
    """A cluster of four nodes with a pod behind gates."""
    return Cluster.from_manifests([*NODES, pod("app", gates=gates, **spec)], revision=revision)


def requirement(key, operator, *values):
    """A requirement of a node selector."""
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def terms(*wanted):
    """The patch that sets the required terms, each a list of requirements."""
    told = [{"matchExpressions": list(each)} for each in wanted]
    return {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": told}}}}}


@both
@pytest.mark.checklist("230", "232", "233", "237", "241")
def test_each_patch_has_its_answer(revision):
    """Each patch is tried by itself: allowed or refused with code and words, with the nodes before and after."""
    c = gated(revision, nodeSelector={ZONE: "a"})
    before = c.digest()
    answers = c.may("pod/app", {"spec": {"nodeSelector": {VM: "spot"}}}, "{spec: {nodeSelector: {zone: null}}}",
                    {"spec": {"nodeSelector": {ZONE: "b"}}}, {"spec": {"nodeSelector": None}},
                    terms([requirement(VM, "In", "demand")]))  # fmt: skip
    assert [True, True, False, False, True] == [row.allowed for row in answers]
    assert [200, 200, 422, 422, 200] == [row.code for row in answers]
    assert ["narrower", "same", "different", "wider", "narrower"] == [row.relation for row in answers]
    assert [("a1",), ("a1", "a2"), ("b1", "b2"), ("a1", "a2", "b1", "b2"), ("a2",)] == [row.after for row in answers]
    assert {("a1", "a2")} == {row.before for row in answers}
    assert "only additions to spec.nodeSelector are allowed" in answers[2].message
    assert not answers.allowed
    assert before == c.digest()
    bare = gated(revision, gates=(), nodeSelector={ZONE: "a"}).may("pod/app", {"spec": {"nodeSelector": {VM: "spot"}}})
    assert (False, "narrower") == (bare[0].allowed, bare[0].relation)
    assert "the pod has no scheduling gate" in bare[0].explanation


@both
@pytest.mark.checklist("236", "242", "245")
def test_a_refused_widening_has_a_witness(revision):
    """The witness is a node of the cluster, or a constructed one whose manifest, once applied, the pod would match."""
    c = gated(revision, nodeSelector={ZONE: "a"})
    real, = c.may("pod/app", {"spec": {"nodeSelector": {ZONE: "b"}}})
    assert (True, "b1") == (real.witness.real, real.witness.name)
    built, = c.may("pod/app", {"spec": {"nodeSelector": {ZONE: "c"}}})
    assert (False, {ZONE: "c"}) == (built.witness.real, dict(built.witness.node.metadata.labels))
    c.apply(built.witness.yaml)
    again, = c.may("pod/app", {"spec": {"nodeSelector": {ZONE: "c"}}})
    assert ("new-node", True, ("new-node",)) == (again.witness.name, again.witness.real, again.after)
    added, = gated(revision, affinity=required({ZONE: ["a"]})).may(
        "pod/app", terms([requirement(ZONE, "In", "a")], [requirement(VM, "Exists")]))
    assert ("b1", "wider") == (added.witness.name, added.relation)
    assert "it would widen the set of nodes: b1 would newly match" in repr(added)


@both
@pytest.mark.checklist("237")
def test_a_refused_narrowing_is_explained(revision):
    """The rule is about requirements as written: one that leaves fewer nodes may be refused, and the answer says so."""
    c = gated(revision, affinity=required({ZONE: ["a", "b"]}))
    for change in (terms([requirement(ZONE, "In", "a")]),
                   terms([requirement(ZONE, "In", "a", "b"), requirement(VM, "In", "x")],
                         [requirement(ZONE, "In", "a"), requirement(VM, "In", "spot")])):
        row, = c.may("pod/app", change)
        assert (False, "narrower", None) == (row.allowed, row.relation, row.witness)
        assert row.explanation.startswith("no node that can exist would newly match")
        assert "compares requirements as written, not nodes" in row.explanation


def test_the_way_to_narrow_what_is_refused_is_told():
    """The line of a refused shortening says that it narrows, why it is refused, and which requirement to append."""
    row = next(row for row in gated(affinity=required({ZONE: ["a", "b"]})).may("app") if row.title.startswith("shorten"))
    assert (False, "narrower") == (row.allowed, row.relation)
    assert f"append the requirement {ZONE} In [a] to nodeSelectorTerms[0]" in row.remedy
    said = row.why_under("")
    for words in ("it selects fewer nodes", "requirements as written", "others may be added", row.remedy):
        assert words in said
    c = gated(affinity=required({ZONE: ["a", "b"], VM: ["spot", "demand"]}))
    other, = c.may("app", terms([requirement(ZONE, "In", "a", "b"), requirement(VM, "NotIn", "demand"), requirement(VM, "In", "spot", "demand")]))
    assert f"append the requirement {VM} NotIn [demand] to" in other.remedy
    both, = c.may("app", terms([requirement(ZONE, "In", "a"), requirement(VM, "In", "spot")]))
    assert both.remedy == (f"append the requirements {ZONE} In [a] and {VM} In [spot] to nodeSelectorTerms[0] "
                           f"or add {ZONE}: a, {VM}: spot to nodeSelector")
    assert "" == c.may("app", {"spec": {"nodeSelector": {ZONE: "a"}}})[0].remedy


TOLERATED = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}
WISH = {"weight": 1, "preference": {"matchExpressions": [requirement(ZONE, "In", "b")]}}
AS_IS = {"nodeSelector": {VM: "spot"}, "tolerations": [TOLERATED], "affinity": required({ZONE: ["a", "b"]})}
MORE = {"key": "more", "operator": "Exists"}
CLAIMS = [  # words of the rule, what is set before, an allowed patch, a refused one (None: nothing to refuse)
    ("nodeSelector and required node affinity (only additions)", {}, {"nodeSelector": {ZONE: "a"}},
     {"nodeSelector": {VM: "demand"}}),
    ("required node affinity (only additions)", {},
     terms([requirement(ZONE, "In", "a", "b"), requirement(VM, "Exists")])["spec"],
     terms([requirement(ZONE, "In", "a")])["spec"]),
    ("preferred node affinity", {},
     {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [WISH]}}}, None),
    ("gates (only removed)", {}, {"schedulingGates": None},
     {"schedulingGates": [{"name": "example.com/quota"}, {"name": "example.com/more"}]}),
    ("tolerations (only added", {}, {"tolerations": [TOLERATED, MORE]}, {"tolerations": [MORE]}),
    ("tolerationSeconds of one may change", {}, {"tolerations": [{**TOLERATED, "tolerationSeconds": 8}]}, None),
    ("images", {}, {"containers": [{"name": "app", "image": "app:next"}]}, {"containers": [{"name": "b", "image": "app"}]}),
    ("activeDeadlineSeconds (set", {}, {"activeDeadlineSeconds": 9}, {"hostNetwork": True}),
    ("then only shortened", {"activeDeadlineSeconds": 9}, {"activeDeadlineSeconds": 8}, {"activeDeadlineSeconds": 10}),
    ("activeDeadlineSeconds", {"activeDeadlineSeconds": 9}, {}, {"activeDeadlineSeconds": None}),
    ("a negative terminationGracePeriodSeconds (to 1)", {"terminationGracePeriodSeconds": -5},
     {"terminationGracePeriodSeconds": 1}, {"terminationGracePeriodSeconds": 2}),
    ("terminationGracePeriodSeconds", {"terminationGracePeriodSeconds": 5}, {}, {"terminationGracePeriodSeconds": 1}),
    ("pod affinity, pod anti-affinity", {}, {}, {"affinity": apart(ZONE, app="x")}),
    ("spread constraints are immutable", {}, {}, {"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}]}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "stored", "allowed", "refused"), CLAIMS, ids=[claim[0] for claim in CLAIMS])
def test_the_rule_says_what_the_api_server_does(words, stored, allowed, refused):
    """Each claim of the sentence is tried: what it allows is allowed, what it leaves out is refused."""
    c = gated(**{**AS_IS, **stored})
    assert words in SPEC_RULE
    free = gated(gates=(), **{**AS_IS, **stored})
    for each in (c, free) if words in FREE_RULE else (c,):
        assert each.may("app", {"spec": allowed}, kind="strategic" if "containers" in allowed else "merge").allowed
        assert refused is None or not each.may("app", {"spec": refused}).allowed


def test_the_text_counts_the_patches_as_the_picture_does():
    """Both number them from 1."""
    answers = gated().may("app", {"spec": {"nodeSelector": {VM: "spot"}}}, {"spec": {"nodeSelector": {VM: "demand"}}})
    numbers = [line.split(".")[0].strip() for line in repr(answers).splitlines() if re.match(r" +\d+\. ", line)]
    assert re.findall(r'data-ref="patch/(\d+)"', draw(answers, 828)) == numbers == ["1", "2"]


def test_a_row_points_to_the_rule_at_the_top():
    """Below other rows "above" would be another row's rule, so what the first sentence refuses says that it is meant."""
    answers = gated().may("app")
    added = next(row for row in answers if row.title == "add a spread constraint")
    assert "it breaks the rule at the top" == added.why_under(answers.rule)
    assert "rule above" not in repr(answers)


def test_fewer_nodes_may_be_the_same_ones_here():
    """A requirement that every node of this cluster meets excludes only others, and the row says that of those."""
    row, = gated(affinity=required({ZONE: ["a", "b"]})).may("app", terms([requirement(ZONE, "In", "a", "b"), requirement(ZONE, "Exists")]))
    narrower, = gated().may("app", terms([requirement(ZONE, "Exists")]))
    assert "same" == row.relation
    assert ("narrower", narrower.before) == (narrower.relation, narrower.after)
    assert f"it selects fewer nodes of all that can exist; of those here the same {len(narrower.after)} (" in narrower.effect


def test_other_rules_are_named():
    """Pod affinity, a gate more, a toleration less: the rule that is broken, not a widening."""
    c = gated(tolerations=[{"key": "k", "operator": "Exists"}])
    rows = c.may("pod/app", {"spec": {"affinity": apart(ZONE, app="x")}}, {"spec": {"tolerations": None}},
                 {"spec": {"schedulingGates": [{"name": "example.com/quota"}, {"name": "more"}]}},
                 {"spec": {"nodeSelector": 7}}, {"spec": {"nodeSelector": {"<i>": "x"}}})  # fmt: skip
    assert ["same", "same", "same", "unknown", "narrower"] == [row.relation for row in rows]
    for row, words in zip(rows, ("pod anti-affinity and spread constraints are immutable", "tolerations may be added",
                                 "scheduling gates may be removed", "leaves nothing that the API server can read",
                                 ""), strict=True):  # fmt: skip
        assert words in row.explanation
    assert [422, 422, 422, 400, 422] == [row.code for row in rows]
    assert "<i>" not in rows.figure().draw(828, "")
    assert "&lt;i&gt;" in rows.figure().draw(828, "")


@pytest.mark.checklist("229", "252")
def test_the_feature_gate_is_named():
    """With PodSchedulingReadiness off in the API server the narrowing of a gated pod is refused for that reason."""
    off = revision_named("upstream").with_gates({"kube-apiserver": {"PodSchedulingReadiness": False}})
    row, = gated(off).may("pod/app", {"spec": {"nodeSelector": {ZONE: "a"}}})
    assert (False, 422) == (row.allowed, row.code)
    assert "feature gate PodSchedulingReadiness is off" in row.explanation
    c = gated()
    assert c.may("pod/app", {"spec": {"nodeSelector": {ZONE: "a"}}}).allowed
    c.upgrade({"PodSchedulingReadiness": False}, "kube-apiserver")
    row, = c.may("pod/app", {"spec": {"nodeSelector": {ZONE: "a"}}})
    assert (False, True) == (row.allowed, "PodSchedulingReadiness is off" in row.explanation)
    c.upgrade({"PodSchedulingReadiness": True}, "kube-apiserver")
    assert c.may("pod/app", {"spec": {"nodeSelector": {ZONE: "a"}}}).allowed


@pytest.mark.checklist("252")
def test_whoever_refuses_is_heard():
    """A webhook's refusal and a server that is out are answers as well; nothing of them stays in the cluster."""
    c = gated().with_webhook(validate=lambda new, _old: VM in new.spec.node_selector or "no machine", name="policy.example.com")
    one, other = c.may("pod/app", {"spec": {"nodeSelector": {VM: "spot"}}}, {"spec": {"nodeSelector": {ZONE: "a"}}})
    assert (True, 403) == (one.allowed, other.code)
    assert 'admission webhook "policy.example.com" denied the request: no machine' == other.message
    before = c.digest(), len(c.requests())
    c.outage(seconds=60)
    out, = c.may("pod/app", {"spec": {"nodeSelector": {VM: "spot"}}})
    assert (False, "narrower") == (out.allowed, out.relation)
    assert "refused" in out.message
    c.back()
    assert before == (c.digest(), len(c.requests()))


def test_json_patches_and_bad_input():
    """JSON patches are lists of operations; unknown pods, kinds and texts of two documents are one clear error."""
    c = gated(nodeSelector={ZONE: "a"})
    row, = c.may("app", [{"op": "remove", "path": "/spec/nodeSelector"}], kind="json")
    assert (False, "wider") == (row.allowed, row.relation)
    row, = c.may("app", [{"op": "remove", "path": "/spec/none"}], kind="json")
    assert (False, "unknown") == (row.allowed, row.relation)
    with pytest.raises(KeyError, match="no pod/other; there are: pod/app"):
        c.may("pod/other", {})
    with pytest.raises(ValueError, match="no kind of patch is called 'mine'"):
        c.may("pod/app", {}, kind="mine")
    with pytest.raises(ValueError, match="one YAML document; this text has 2"):
        c.may("pod/app", "{}\n---\n{}")
    assert repr(c.may("pod/app")).startswith("default/app is held by example.com/quota; 2 of 4 nodes match now (a1, a2)")


def test_a_refusal_says_how_else_the_patch_may_be_written():
    """A field of the spec at the top is told its place, and a merge patch whose list drops fields the kind that merges."""
    c = gated(nodeSelector={ZONE: "a"})
    image = {"spec": {"containers": [{"name": c["pod/app"].spec.containers[0].name, "image": "new"}]}}

    top, listed = c.may("app", {"nodeSelector": {"disk": "ssd"}}, {"spec": {"containers": [{"name": "new", "image": "new"}]}})

    assert "write spec.nodeSelector: a patch begins where a manifest does" == top.hint
    assert (True, ('unknown field "nodeSelector"',)) == (top.allowed, top.warnings)
    assert listed.hint.startswith("a merge patch replaces a whole list: this one drops spec.containers[app]; kind=")
    assert c.may("app", image, kind="strategic").allowed
    assert "" == c.may("app", {"spec": {"nodeSelector": {ZONE: "b"}}})[0].hint
    whole = Cluster.from_manifests([make.pod("app", gates=["example.com/queue"])])
    assert "drops spec.containers[app].resources; " in whole.may("app", image)[0].hint


# -- the witness as a decision procedure -------------------------------------------------------------------------------

KEYS = (ZONE, RACK, "gen")
texts = st.sampled_from(["a", "b", "1", "2", "07", "x y"])
operators = st.one_of(
    st.tuples(st.sampled_from(["In", "NotIn"]), st.lists(texts, min_size=1, max_size=2)),
    st.tuples(st.sampled_from(["Exists", "DoesNotExist"]), st.just([])),
    st.tuples(st.sampled_from(["Gt", "Lt"]), st.sampled_from([["0"], ["1"], ["2"], ["5"], ["-3"], ["a"]])),
)
expressions = st.tuples(st.sampled_from(KEYS), operators).map(lambda pair: requirement(pair[0], pair[1][0], *pair[1][1]))
fields = st.tuples(st.sampled_from(["In", "NotIn"]), st.sampled_from(["n1", "n2", "UPPER"])).map(
    lambda pair: requirement("metadata.name", pair[0], pair[1]))
selecting = st.fixed_dictionaries({
    "nodeSelector": st.dictionaries(st.sampled_from(KEYS), texts, max_size=2),
    "terms": st.one_of(st.none(), st.lists(st.tuples(st.lists(expressions, max_size=3), st.lists(fields, max_size=1)),
                                           min_size=1, max_size=3)),
})  # fmt: skip


def selecting_pod(wanted):
    """A pod with these directives, unchecked."""
    made = pod("app", nodeSelector=wanted["nodeSelector"])
    if wanted["terms"] is not None:
        told = [{"matchExpressions": by_label, "matchFields": by_field} for by_label, by_field in wanted["terms"]]
        made["spec"]["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": told}}}
    return manifest.from_plain(made)


# Every class of values that the requirements above can tell apart, by hand, and some values more.
VALUES = (None, "", "a", "b", "c", "0", "1", "2", "3", "4", "5", "6", "07", "7", "01", "9223372036854775808")
EVERY = [Node(metadata=ObjectMeta(name=name, labels=Frozen({k: v for k, v in zip(KEYS, values, strict=True) if v is not None})))
         for name in ("n1", "n2", "n3") for values in itertools.product(VALUES, repeat=len(KEYS))]


@given(selecting, selecting)
def test_a_witness_newly_matches_and_none_means_no_node(one, other):
    """A witness matches after and not before; if there is none, no node of an exhaustive list newly matches either."""
    before, after = selecting_pod(one), selecting_pod(other)
    found = find_witness(before, after)
    if found is None:
        keys = {*one["nodeSelector"], *other["nodeSelector"],
                *(part["key"] for told in (one, other) for by_label, _ in told["terms"] or () for part in by_label)}
        few = (each for each in EVERY if set(each.metadata.labels) <= keys)
        assert [] == [each for each in few
                      if selects_node(after.spec, each) and not selects_node(before.spec, each)]
    else:
        assert selects_node(after.spec, found.node)
        assert not selects_node(before.spec, found.node)


@given(selecting, selecting)
def test_a_real_witness_is_preferred(one, other):
    """If a node of the cluster newly matches, the first such is the witness; one exists only if one can be made."""
    before, after = selecting_pod(one), selecting_pod(other)
    few = EVERY[::97]
    newly = [each for each in few if selects_node(after.spec, each) and not selects_node(before.spec, each)]
    found = find_witness(before, after, few)
    assert (newly[:1] == [found.node]) if newly else (found is None or not found.real)


@given(selecting)
def test_what_adds_requirements_has_no_witness(one):
    """Directives with one requirement more in every term select no new node."""
    before = selecting_pod(one)
    assume(one["terms"])
    more = [([*by_label, requirement(HOST, "Exists")], by_field) for by_label, by_field in one["terms"] if by_label or by_field]
    assume(more)
    assert find_witness(before, selecting_pod({**one, "terms": more})) is None


@pytest.mark.parametrize(("field", "values"), [(True, ("n5", "n3", "n4")), (False, ("z", "x", "y"))])
def test_a_witness_has_the_first_of_the_values_that_would_do(field, values):
    """Of the names, or of the values of a label, that newly match it has the first one as they are sorted."""
    def asking(*some):
        told = [requirement("metadata.name" if field else ZONE, "In", *some)]
        return selecting_pod({"nodeSelector": {}, "terms": [([], told) if field else (told, [])]})

    found = find_witness(asking("n1"), asking(*values)).node
    assert min(values) == (found.metadata.name if field else found.metadata.labels[ZONE])


RECORDED = Path(__file__).parent.parent / "conformance" / "pod-update.jsonl.gz"
NARROWING = ("nodeSelectorTerms", "spec.nodeSelector")


def recorded_updates():
    """The recorded updates of gated pods, with the errors of a real API server."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case["old"]["spec"].get("schedulingGates"):
                yield case


def test_recorded_answers_agree_with_the_witness():
    """No accepted update of a gated pod has a witness; every recorded refusal is refused, each with an explanation."""
    counted = {"allowed": 0, "widening": 0, "as written": 0}
    for case in recorded_updates():
        errors = case["expect"]["errors"]
        c = Cluster.from_manifests([case["old"]])
        old, new = c.objects("pods")[0], case["new"]
        row, = c.may(f"pod/{old.metadata.name}", [{"op": "add", "path": "/spec", "value": new["spec"]},
                                                  {"op": "add", "path": "/metadata/labels",
                                                   "value": new["metadata"].get("labels", {})}], kind="json")  # fmt: skip
        assert (not errors) == row.allowed, case["id"]
        if row.allowed:
            assert row.witness is None, case["id"]
            counted["allowed"] += 1
        elif any(place in error for error in errors for place in NARROWING):
            assert row.explanation, case["id"]
            counted["widening" if row.witness is not None else "as written"] += 1
    assert min(counted.values()) > 5, counted


# -- what may I change ------------------------------------------------------------------------------------------------

PODS = {
    "plain": {},
    "selected": {"nodeSelector": {ZONE: "a"}},
    "elsewhere": {"nodeSelector": {"example.com/rack": "r1"}},
    "affine": {"affinity": required({ZONE: ["a", "b"]})},
    "tolerant": {"tolerations": [{"key": "gone", "operator": "Exists"}]},
}


@both
@pytest.mark.parametrize("gates", [("example.com/quota",), ("one", "two"), ()])
@pytest.mark.parametrize("spec", PODS, ids=list(PODS))
def test_without_patches_the_answer_is_what_may_change(revision, gates, spec):
    """Changes of the pod's own spec, each judged by the API server itself, as the same patch is when it is asked for."""
    c = gated(revision, gates, **PODS[spec])
    before = c.digest()
    answers = c.may("app")
    assert 4 <= len(answers) <= 8
    assert answers.suggested
    assert before == c.digest()
    for row in answers:
        again, = c.may("app", row.patch)
        assert (again.allowed, again.message, again.after) == (row.allowed, row.message, row.after)
        assert row.title in repr(answers)
    told = {row.title.partition(" (")[0]: row.allowed for row in answers}
    assert not told["add a gate"]
    assert told["add a toleration"]
    assert bool(gates) == told.get("add an entry to nodeSelector")
    assert bool(gates) == any(title.startswith("remove") for title in told)
    if not gates:
        assert {"add a toleration", "change an image"} == {title for title, allowed in told.items() if allowed}
    rule = "Of the spec of a gated pod only these" if gates else "Of the spec of a pod that no gate holds only these"
    assert f"{rule} " in repr(answers)
    assert 1 == " ".join(repr(answers).split()).casefold().count(rule.casefold())


def test_suggested_values_are_real_or_said_to_be_made_up():
    """Keys and values are those of the pod and the nodes; where there are none, the title names what is made up."""
    c = gated(nodeSelector={ZONE: "a"})
    changed = next(row for row in c.may("app") if row.title == "change an entry of nodeSelector")
    assert {"spec": {"nodeSelector": {ZONE: "b"}}} == json.loads(changed.patch)
    bare = Cluster.from_manifests([pod("app", gates=["g"], nodeSelector={"x": "y"})])
    titles = [row.title for row in bare.may("app")]
    assert "add an entry to nodeSelector (example.com/pool is made up)" in titles
    assert "change an entry of nodeSelector (another-y is made up)" in titles
    tainted = Cluster.from_manifests([node("n", taints=[{"key": "gone", "effect": "NoSchedule"}]), pod("app", gates=["g"])])
    assert "add a toleration" in [row.title for row in tainted.may("app")]


SUGGESTING = [make.node("n2", "b", labels={"gpu": "no", "all": "x"}, taints=[{"key": "t2", "effect": "NoSchedule"}]),
              make.node("n1", "a", labels={"gpu": "yes", "all": "x"}, taints=[{"key": "t1", "effect": "NoExecute"}])]
ANOTHER, POOL, MADE_UP = {"name": "example.com/another-gate"}, "example.com/pool", "(example.com/pool is made up)"
GATED = ("add a gate (example.com/another-gate is made up)", {"schedulingGates": [{"name": "a"}, ANOTHER]})
SPREAD = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "p"}}}
SPREADING = ("add a spread constraint", {"topologySpreadConstraints": [SPREAD]})
TWO_CONTAINERS = [{"name": "a", "image": "reg:5000/x/y:1.2", "env": [{"name": "A", "value": "b"}]}, {"name": "b", "image": "z@sha256:ab"}]
ZONES_OF_GPUS = [[requirement(ZONE, "In", "b", "a")], [requirement("gpu", "In", "yes")]]


def tolerating(*keys):
    """Return tolerations of these keys."""
    return {"tolerations": [{"key": key, "operator": "Exists"} for key in keys]}


@pytest.mark.parametrize(("spec", "nodes", "told"), [
    ({"containers": [{"name": "app", "image": "pause"}]}, SUGGESTING, [
        ("add an entry to nodeSelector", {"nodeSelector": {ZONE: "a"}}),
        ("set required node affinity", terms([requirement(ZONE, "In", "a", "b")])["spec"]),
        (GATED[0], {"schedulingGates": [ANOTHER]}), ("add a toleration", tolerating("t2")), SPREADING,
        ("change an image (pause:next is made up)", {"containers": [{"name": "app", "image": "pause:next"}]})]),
    ({"gates": ["a", "b"], "nodeSelector": {ZONE: "b", "aa": "x"}}, SUGGESTING, [
        ("add an entry to nodeSelector", {"nodeSelector": {"gpu": "no"}}),
        ("change an entry of nodeSelector (another-x is made up)", {"nodeSelector": {"aa": "another-x"}}),
        ("set required node affinity", terms([requirement("gpu", "In", "no", "yes")])["spec"]),
        ("remove one of its 2 gates", {"schedulingGates": [{"name": "b"}]}),
        (GATED[0], {"schedulingGates": [{"name": "a"}, {"name": "b"}, ANOTHER]}), ("add a toleration", tolerating("t2")), SPREADING]),
    ({"gates": ["a"], "nodeSelector": {"gpu": "yes"}, "affinity": required({ZONE: ["b", "a"]}, {"gpu": ["yes"]}), **tolerating("t2")}, SUGGESTING, [
        ("add an entry to nodeSelector", {"nodeSelector": {ZONE: "a"}}), ("change an entry of nodeSelector", {"nodeSelector": {"gpu": "no"}}),
        ("shorten the values of an affinity requirement", terms([requirement(ZONE, "In", "b")], ZONES_OF_GPUS[1])["spec"]),
        ("lengthen the values of an affinity requirement (another-a is made up)",
         terms([requirement(ZONE, "In", "b", "a", "another-a")], ZONES_OF_GPUS[1])["spec"]),
        ("add a requirement to each affinity term", terms(*([*term, requirement("all", "Exists")] for term in ZONES_OF_GPUS))["spec"]),
        ("remove its gate", {"schedulingGates": None}), GATED, ("add a toleration", tolerating("t2", "t1")), SPREADING]),
    ({"gates": ["a"], "affinity": required({ZONE: ["a"]}), "tolerations": [{"operator": "Exists"}],
      "topologySpreadConstraints": [SPREAD | {"maxSkew": 2}, SPREAD | {"topologyKey": HOST}]}, SUGGESTING, [
        ("add an entry to nodeSelector", {"nodeSelector": {ZONE: "a"}}),
        ("lengthen the values of an affinity requirement", terms([requirement(ZONE, "In", "a", "b")])["spec"]),
        ("add a requirement to each affinity term", terms([requirement(ZONE, "In", "a"), requirement("gpu", "Exists")])["spec"]),
        ("remove its gate", {"schedulingGates": None}), GATED,
        (f"add a toleration {MADE_UP}", {"tolerations": [{"operator": "Exists"}, *tolerating(POOL)["tolerations"]]}),
        ("loosen a spread constraint", {"topologySpreadConstraints": [SPREAD | {"maxSkew": 3}, SPREAD | {"topologyKey": HOST}]})]),
    ({"nodeSelector": {ZONE: "q", "gpu": "yes", "all": "x", HOST: "n1"}, "containers": TWO_CONTAINERS}, SUGGESTING, [
        (f"add an entry to nodeSelector {MADE_UP}", {"nodeSelector": {POOL: "a"}}),
        ("change an entry of nodeSelector (another-x is made up)", {"nodeSelector": {"all": "another-x"}}),
        ("set required node affinity", terms([requirement(ZONE, "In", "a", "b")])["spec"]),
        (GATED[0], {"schedulingGates": [ANOTHER]}), ("add a toleration", tolerating("t2")), SPREADING,
        ("change an image (reg:5000/x/y:next is made up)", {"containers": [TWO_CONTAINERS[0] | {"image": "reg:5000/x/y:next"}, TWO_CONTAINERS[1]]})]),
    ({"gates": ["a"]}, [], [
        (f"add an entry to nodeSelector {MADE_UP}", {"nodeSelector": {POOL: "a"}}),
        (f"set required node affinity {MADE_UP}", terms([requirement(POOL, "In", "a", "b")])["spec"]),
        ("remove its gate", {"schedulingGates": None}), GATED, (f"add a toleration {MADE_UP}", tolerating(POOL)), SPREADING]),
], ids=["free", "two gates", "both directives", "widest", "every label", "no nodes"])  # fmt: skip
def test_what_may_be_tried_is_made_of_the_pod_and_the_nodes(spec, nodes, told):
    """Zones come before labels that tell nodes apart, hostnames last; what neither pod nor nodes have is said to be made up."""
    suggested = suggestions(manifest.from_plain(pod("p", **spec)), [manifest.from_plain(each) for each in nodes])

    assert told == [(each.title, each.patch["spec"]) for each in suggested]


@pytest.mark.parametrize(("labels", "selected"), [
    ({"tier": "db", "app": "web"}, {"app": "web"}), ({}, {"app": "app"}),
])
def test_a_suggested_spread_constraint_selects_pods_of_its_sort(labels, selected):
    """It has the first label of the pod; for one without labels the label that its name would have, and never all pods."""
    patch, = (json.loads(row.patch) for row in gated(labels=labels).may("app") if row.title == "add a spread constraint")

    assert [selected] == [each["labelSelector"]["matchLabels"] for each in patch["spec"]["topologySpreadConstraints"]]


def test_a_feature_that_is_off_refuses_what_it_suggests():
    """The judge is the API server as it is: with the feature gate off no directive may change, and nothing says so by hand."""
    off = revision_named("upstream").with_gates({"kube-apiserver": {"PodSchedulingReadiness": False}})
    told = {row.title.partition(" (")[0]: row for row in gated(off).may("app")}
    assert not told["add an entry to nodeSelector"].allowed
    assert "feature gate PodSchedulingReadiness is off" in told["add an entry to nodeSelector"].explanation


def test_rules_that_are_not_todays_are_said_first():
    """The headline names rules other than today's; the rules are those of the API server, not of the scheduler."""
    assert "rules design (the design documents), not today's" in " ".join(repr(gated("design").may("app")).split(")\n")[0].split())
    assert "not today's" not in repr(gated().may("app"))
    c = gated()
    c.upgrade("design", component="kube-scheduler")
    assert "not today's" not in repr(c.may("app"))
    assert "a design that the documents reject" in " ".join(repr(gated("lax_updates").may("app")).split())


def test_many_patches_have_a_line_each():
    """More than seven patches are told shortly: the answer, what changes, why not; each by itself has everything."""
    c = gated(nodeSelector={ZONE: "a"})
    patches = [{"spec": {"nodeSelector": {VM: str(number)}}} for number in range(9)]
    many, few = c.may("app", *patches, {"spec": {"nodeSelector": {ZONE: "b"}}}), c.may("app", *patches[:7])
    assert (True, False) == (many.is_short, few.is_short)
    assert f"10. ✕ refused (422)  spec.nodeSelector[{ZONE}]: a → b" in repr(many)
    assert "rule: entries of nodeSelector may be added" in repr(many)
    assert len(repr(many).splitlines()) < 24
    assert "it would widen" in repr(many[9])


def test_a_list_is_a_json_patch():
    """A list of operations needs no kind; where a kind is asked for, the refusal names the one that it wants."""
    c = gated(nodeSelector={ZONE: "a"})
    row, = c.may("app", [{"op": "add", "path": "/spec/nodeSelector/x", "value": "y"}])
    assert row.allowed
    with pytest.raises(ApplyRefused, match='a list of operations is a patch of kind "json"'):
        c.patch("pod/app", [{"op": "remove", "path": "/spec/nodeSelector"}])


def test_an_unknown_field_is_dropped_with_a_warning():
    """As kubectl patch, which asks for no validation of fields: the server's default is a warning (v1.36)."""
    c = gated(nodeSelector={ZONE: "a"})
    misspelt = {"spec": {"nodeSelecter": {VM: "spot"}, "containers": None, "nodeSelector": {VM: "spot"}}}
    misspelt["spec"].pop("containers")
    row, = c.may("app", misspelt)
    assert (True, ("a1",), ('unknown field "spec.nodeSelecter"',)) == (row.allowed, row.after, row.warnings)
    assert 'Warning: unknown field "spec.nodeSelecter", which is dropped' in repr(row)
    assert ('Warning: unknown field "spec.nodeSelecter"', "pod/app patched") == c.patch("app", misspelt).lines
    assert {ZONE: "a", VM: "spot"} == dict(c["app"].spec.node_selector)
    listed = {"spec": {"tolerations": [{"key": "k", "operater": "Exists"}]}}
    assert ('unknown field "spec.tolerations[0].operater"',) == c.may("app", listed)[0].warnings


@pytest.mark.parametrize("width", [460, 700, 1260])
def test_the_rule_at_the_top_is_whole(width):
    """The picture ends the sentence of what may change at every width, however many lines it takes."""
    drawn = draw(gated().may("app"), width)
    assert "spread constraints are immutable. Tried on its own spec, each alone." in drawn


def test_what_a_refused_change_of_two_terms_may_append_is_said_of_both():
    """Where each term would become narrower, the requirement of each is told, joined by "and"."""
    c = gated(affinity=required({ZONE: ["a", "b"]}, {VM: ["spot", "demand"]}))
    row, = c.may("app", terms([requirement(ZONE, "In", "a")], [requirement(VM, "In", "spot")]))

    assert row.remedy == (f"append the requirement {ZONE} In [a] to nodeSelectorTerms[0] "
                          f"and append the requirement {VM} In [spot] to nodeSelectorTerms[1]")


def test_a_narrowing_that_drops_node_affinity_is_offered_as_one_that_keeps_it():
    """Where entries of nodeSelector stand in place of required terms, the entries alone are allowed and select the same nodes."""
    row, = gated(affinity=required({ZONE: ["a", "b"]})).may("app", {"spec": {"affinity": None, "nodeSelector": {ZONE: "a"}}})

    assert (False, "narrower", ("a1", "a2")) == (row.allowed, row.relation, row.after)
    assert {"spec": {"nodeSelector": {ZONE: "a"}}} == json.loads(row.instead)
    assert f"add {ZONE}: a to nodeSelector" == row.remedy


RULE_OF_SPEC, NO_GATE_HOLDS = f"rule: {SPEC_RULE}", "rule: the pod has no scheduling gate"
MERGE_LISTS = ("a merge patch replaces a whole list: this one drops spec.containers[app].image, spec.containers[app].resources; "
               'kind="strategic" merges the list')
NOT_AT_TOP = "write spec.nodeSelector and spec.tolerations: a patch begins where a manifest does"


@pytest.mark.parametrize(("patch", "kind", "code", "hint", "explained", "remedy"), [
    ({"spec": {"priority": 7}}, "merge", 422, "", RULE_OF_SPEC, ""),
    ({"spec": {"nodeName": "a1", "nodeSelector": {VM: "spot"}}}, "merge", 422, "", RULE_OF_SPEC, f"add {VM}: spot to nodeSelector"),
    ({"spec": {"containers": [{"image": "x"}]}}, "merge", 422, "", RULE_OF_SPEC, ""),
    ({"spec": {"containers": [{"name": "app"}]}}, "merge", 422, MERGE_LISTS, RULE_OF_SPEC, ""),
    ({"spec": {"containers": [{"name": "new", "image": "x"}]}}, "strategic", 422, "", "", ""),
    ({"nodeSelector": {"a": "b"}, "tolerations": [], "kind": "Pod"}, "merge", 200, NOT_AT_TOP, "", ""),
    ({"nodeSelector": 3, "tolerations": 3, "spec": {"nodeSelector": 3}}, "merge", 400, NOT_AT_TOP,
     "the patch leaves nothing that the API server can read as this pod", ""),
    ({"nothing": 3, "spec": 3}, "merge", 400, "", "the patch leaves nothing that the API server can read as this pod", ""),
    ({"nodeSelector": {"a": "b"}}, "json", 422, "", "the patch leaves nothing that the API server can read as this pod", ""),
])  # fmt: skip
def test_a_patch_that_is_no_narrowing_is_told_how_else_it_may_be_written(patch, kind, code, hint, explained, remedy):
    """At which place a field belongs, which kind merges a list; what is refused for another field is offered without that field."""
    row, = gated(affinity=required({ZONE: ["a"]})).may("app", patch, kind=kind)

    assert (code, hint, explained, remedy) == (row.code, row.hint, row.explanation, row.remedy)


def test_the_same_remedy_is_told_once():
    """Where required terms stay as they are, what is added is the entries alone; without a gate nothing may be added."""
    row, = gated(affinity=required({ZONE: ["a"]})).may("app", {"spec": {"nodeName": "a1", "nodeSelector": {ZONE: "b"}}})
    free, = gated(gates=(), affinity=required({ZONE: ["a", "b"]})).may("app", terms([requirement(ZONE, "In", "a")]))

    assert (f"add {ZONE}: b to nodeSelector", {"spec": {"nodeSelector": {ZONE: "b"}}}) == (row.remedy, json.loads(row.instead))
    assert ("", "", True) == (free.remedy, free.instead, free.explanation.startswith(NO_GATE_HOLDS))


def test_an_outage_has_no_status_and_a_long_text_is_cut_in_the_error():
    """Nobody answers a patch while the API server is out; of a text of two documents the first 60 characters are quoted."""
    c = gated()
    c.outage(seconds=60)
    row, = c.may("app", {"spec": {"priority": 7}})
    assert (0, "ConnectionRefused", "") == (row.code, row.reason, row.explanation)
    text = f"a: {'b' * 90}\n---\n{{}}"
    with pytest.raises(ValueError, match="a patch is one YAML") as refused:
        c.may("app", text)
    assert f"a patch is one YAML document; this text has 2: 'a: {'b' * 57}'" == str(refused.value)


def test_a_patch_of_ones_own_has_its_own_rule():
    """The sentence of what may change stands at the top of suggested changes alone."""
    answers = gated().may("app", {"spec": {"priority": 7}})

    assert ("", False) == (answers.rule, answers.suggested)
    assert (SPEC_RULE, True) == ((suggested := gated().may("app")).rule, suggested.suggested)


def test_a_patch_that_leaves_no_pod_says_so():
    """Of a pod that cannot be read no nodes are compared: its effect is told in words."""
    row, = gated().may("app", {"spec": {"nodeSelector": 3}})

    assert ("unknown", "it leaves no pod that can be read") == (row.relation, row.effect)


def test_a_suggested_longer_requirement_keeps_its_values():
    """The change that lengthens an affinity requirement adds a value to those there, the one that shortens drops the last."""
    c = gated(affinity=required({ZONE: ["a", "c"]}))
    made = {row.title.split()[0]: row.patch for row in c.may("app") if "values of an affinity" in row.title}

    assert {"shorten": [["a"]], "lengthen": [["a", "c", "b"]]} == {
        name: [json.loads(values) for values in re.findall(r'"values": (\[.*?\])', patch)] for name, patch in made.items()}


def term(**keys):
    """Return an item as terms are: a list of expressions, each with a key and its values."""
    return {"e": [{"key": key, "values": list(values)} if values else {"key": key} for key, values in keys.items()]}


@pytest.mark.parametrize(("old", "new", "path", "lines", "short"), [
    ({"a": "x", "b": 1, "c": [1, 2], "d": {"k": "v"}, "f": 7}, {"a": "no", "c": [1, 3], "d": {"k": "v", "l": "true"}, "f": 7}, "spec", """
- a: x
+ a: "no"
- b: 1
- c: [1, 2]
+ c: [1, 3]
  d:
+   l: "true"
""", 'spec.a: x → "no", spec.b: - 1, spec.c: [1, 2] → [1, 3], spec.d.l: + "true"'),
    ({"x": {"a": {"b": 1}}, "z": 1}, {"x": {"a": {"b": 2}}, "z": 1}, "spec.x.a", "- b: 1\n+ b: 2", "spec.x.a.b: 1 → 2"),
    ({"x": {"a": {"b": 1}}, "z": 1}, {"x": {"a": {"b": 2}}, "z": 2}, "spec", """
  x:
    a:
-     b: 1
+     b: 2
- z: 1
+ z: 2
""", "spec.x.a.b: 1 → 2, spec.z: 1 → 2"),
    ({"x": {"a": 1}}, {"x": {}}, "spec.x", "- a: 1", "spec.x.a: - 1"),
    ({"x": {"a": 1}}, {"x": "s"}, "spec", "- x:\n-   a: 1\n+ x: s", "spec.x: {a: 1} → s"),
    ({"l": [{"name": "a", "v": 1}, {"name": "b", "v": 2}]}, {"l": [{"name": "a", "v": 1}, {"name": "b", "v": 3}]}, "spec", """
  l:
  - {name: a, v: 1}
  - name: b
-   v: 2
+   v: 3
""", "spec.l[1].v: 2 → 3"),
    ({"l": [{"name": "a", "v": 1}, {"name": "b", "v": 2}]}, {"l": [{"name": "c", "v": 4}, {"name": "b", "v": 2}]}, "spec", """
  l:
- - {name: a, v: 1}
+ - {name: c, v: 4}
  - {name: b, v: 2}
""", "spec.l[0].name: a → c, spec.l[0].v: 1 → 4"),
    ({"l": [{"name": "a", "v": 1}]}, {"l": [{"name": "a", "v": 1}, {"name": "b", "v": 2}]}, "spec", """
  l:
  - {name: a, v: 1}
+ - {name: b, v: 2}
""", "spec.l: + {name: b, v: 2}"),
    ({"l": [{"name": "a"}, {"name": "b"}]}, {"l": [{"name": "c"}]}, "spec", """
  l:
- - {name: a}
- - {name: b}
+ - {name: c}
""", "spec.l: - {name: a} - {name: b} + {name: c}"),
    ({"l": [{"name": "a"}]}, {}, "spec", "- l:\n- - {name: a}", "spec.l: - {name: a}"),
    ({"l": ["a"]}, {"l": ["a", "b"]}, "spec", "- l: [a]\n+ l: [a, b]", "spec.l: [a] → [a, b]"),
    ({}, {"l": ["a", "b"]}, "spec", "+ l: [a, b]", "spec.l: + a + b"),
    ({"t": [term(k="ab")]}, {"t": [term(k="a")]}, "spec", """
  t:
  - e:
    - key: k
-     values: [a, b]
+     values: [a]
""", "spec.t[0].e[0].values: [a, b] → [a]"),
    ({"t": [term(k="ab")]}, {"t": [term(k="ab", m="")]}, "spec", """
  t:
  - e:
    - {key: k, values: [a, b]}
+   - {key: m}
""", "spec.t[0].e: + {key: m}"),
    ({"t": [term(k="a"), term(m="b")]}, {"t": [term(k="a"), term(m="c")]}, "spec", """
  t:
  - e:
    - {key: k, values: [a]}
  - e:
    - key: m
-     values: [b]
+     values: [c]
""", "spec.t[1].e[0].values: [b] → [c]"),
    ({}, {"x": {REQUIRED: {"t": [term(k="a")]}}}, "spec", f"""
+ x:
+   {REQUIRED}:
+     t:
+     - e:
+       - {{key: k, values: [a]}}
""", "spec.x: + {required…: {t: [{e: [{key: k, values: [a]}]}]}}"),
])  # fmt: skip
def test_a_change_is_told_below_its_path_and_on_one_line(old, new, path, lines, short):
    """Lines are those that differ, below the path that all of them share; on one line each change has its whole path."""
    changes = changes_of({"spec": old}, {"spec": new})

    assert (path, lines.strip("\n").splitlines(), short) == (changes.path, list(map(str, changes.lines)), changes.short)


def test_what_the_server_writes_is_no_change():
    """Versions, times and the identity of an object are its server's; a key with a dot or a slash stands in brackets."""
    before = {"metadata": {"uid": "1", "resourceVersion": "3", "creationTimestamp": "t", "generation": 1, "labels": {"a.b/c": "d", "e.f": "g"}}}
    after = {"metadata": {"uid": "2", "resourceVersion": "4", "creationTimestamp": "u", "generation": 2, "labels": {"a.b/c": "e", "e.f": "h", "i/j": "k"}}}

    assert ("", (), "") == changes_of(before, {"metadata": after["metadata"] | {"labels": before["metadata"]["labels"]}})
    assert ("metadata.labels", "metadata.labels[a.b/c]: d → e, metadata.labels[e.f]: g → h, metadata.labels[i/j]: + k") == (
        changes_of(before, after)[::2])


@pytest.mark.parametrize(("value", "lines"), [
    *((value, [written]) for value, written in (
        ("true", '"true"'), ("Yes", '"Yes"'), ("off", '"off"'), ("n", '"n"'), ("no-way", "no-way"), ("a b", '"a b"'), ("1a", '"1a"'),
        ("a/b.c-d", "a/b.c-d"), ("é", '"é"'), ("", '""'), (None, "null"), (True, "true"), (1.5, "1.5"), ([], "[]"), ({}, "{}"))),
    ({"labels": {}, "a": {"b": {"c": "d"}}}, ["labels: {}", "a:", "  b:", "    c: d"]),
    ({"a": ["x" * 40]}, [f"a: [{'x' * 40}]"]), ({"a": ["x" * 41]}, ["a:", f"- {'x' * 41}"]),
    ({"b": {"a": ["x" * 38]}}, ["b:", f"  a: [{'x' * 38}]"]), ({"b": {"a": ["x" * 39]}}, ["b:", "  a:", f"  - {'x' * 39}"]),
    ([{"k": "x" * 39}], [f"- {{k: {'x' * 39}}}"]), ([{"k": "x" * 40}], [f"- k: {'x' * 40}"]),
    ([{"k": "x" * 40, "l": 1}], [f"- k: {'x' * 40}", "  l: 1"]), ([["x" * 50]], [f"- [{'x' * 50}]"]),
    ([{"a": {"b": "c"}, "d": 1}], ["- a:", "    b: c", "  d: 1"]), ([{"a": ["b"], "c": "d"}], ["- {a: [b], c: d}"]),
    ({"a": [{"b": "c"}]}, ["a:", "- {b: c}"]), ([{"a": ["b", {"c": "d"}]}], ["- a:", "  - b", "  - {c: d}"]),
])  # fmt: skip
def test_a_value_is_written_as_yaml(value, lines):
    """Short parts stand in flow style up to 44 characters with their indent; words that YAML reads otherwise are quoted."""
    assert lines == list(block(value))
    assert value == yaml.safe_load("\n".join(lines))


def test_items_that_stay_are_counted_from_the_first_that_stays():
    """Of a long list three items that stay are shown, and how many more of those there are, whatever went before them."""
    tolerations = [{"key": f"example.com/{name}", "operator": "Exists", "effect": "NoSchedule"} for name in "abcdefgh"]
    before, after = ({"spec": {"tolerations": items}} for items in (tolerations, tolerations[1:]))
    lines = [str(line) for line in changes_of(before, after).lines]

    assert ["  - key: example.com/b", "  - key: example.com/c", "  - key: example.com/d"] == [line for line in lines if "  - key" in line]
    assert "  # 4 more, unchanged" == lines[-1]
