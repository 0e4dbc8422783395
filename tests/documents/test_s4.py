"""Mutable scheduling directives of gated pods (S4), tried through the API server and the scheduler behind it."""

from itertools import chain, combinations

import pytest
from documents.clusters import cluster, fits, patch, reach, refusal, where
from hypothesis import given
from hypothesis import strategies as st
from manifests import ZONE, claim, node, node_selector, pod, required, storage_class

VM = "example.com/vm"
NODES = [node("a1", "a", labels={VM: "spot"}), node("a2", "a", labels={VM: "demand"}),
         node("b1", "b", labels={VM: "spot"}), node("b2", "b", labels={VM: "demand"})]
SELECTOR = 'Pod "app" is invalid: spec.nodeSelector: Invalid value: '
TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
FIXED = "pod updates may not change fields other than"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
both = pytest.mark.parametrize("revision", ["design", "upstream"])


def gated(revision="design", *gates, **spec):
    """A cluster of four nodes with a pod behind gates (one, if none is named)."""
    return cluster(*NODES, pod("app", gates=gates or ("example.com/quota",), **spec), revision=revision)


def node_affinity(**fields):
    """The patch of a pod's node affinity."""
    return {"spec": {"affinity": {"nodeAffinity": fields}}}


@both
@pytest.mark.checklist("230", "241", "244")
def test_only_a_pod_with_gates_may_change_its_directives(revision):
    """The same narrowing is accepted while the stored pod has gates, and refused once it has none."""
    c = gated(revision)
    assert "" == refusal(patch, c, "pod/app", spec={"nodeSelector": {VM: "spot"}})
    assert "" == refusal(patch, c, "pod/app", spec={"schedulingGates": None})
    for change in ({"spec": {"nodeSelector": {VM: "spot", ZONE: "a"}}}, {"spec": {"affinity": required({ZONE: ["a"]})}},
                   {"spec": {"nodeSelector": None}}):
        assert FIXED in refusal(patch, c, "pod/app", **change)
    bare = cluster(*NODES, pod("app"), revision=revision)
    assert FIXED in refusal(patch, bare, "pod/app", spec={"affinity": required({ZONE: ["a"]})})


@both
@pytest.mark.checklist("232")
def test_node_selector_takes_additions_only(revision):
    """Absent it may be set, entries may be added, none may be changed or removed."""
    c = gated(revision)
    assert "" == refusal(patch, c, "pod/app", spec={"nodeSelector": {ZONE: "a"}})
    assert "" == refusal(patch, c, "pod/app", spec={"nodeSelector": {VM: "spot"}})
    words = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
    for change in ({ZONE: "b"}, {VM: None}, None):
        said = refusal(patch, c, "pod/app", spec={"nodeSelector": change})
        assert (True, True) == (said.startswith(SELECTOR), said.endswith(words)), said
    assert {ZONE: "a", VM: "spot"} == dict(c["pod/app"].spec.node_selector)


@both
@pytest.mark.checklist("233", "234")
def test_what_is_not_there_may_be_set_to_anything(revision):
    """Without node affinity, or with preferences only, any required terms may be set; several ORed as well."""
    preferred = [{"weight": 1, "preference": node_selector({ZONE: ["a"]})["nodeSelectorTerms"][0]}]
    for affinity in (None, {"nodeAffinity": {PREFERRED: preferred}}):
        c = gated(revision, **({"affinity": affinity} if affinity else {}))
        change = node_affinity(**{REQUIRED: node_selector({ZONE: ["a"]}, {VM: ["demand"], ZONE: ["b"]}), PREFERRED: preferred})
        assert "" == refusal(patch, c, "pod/app", **change)
        assert 2 == len(c["pod/app"].spec.affinity.node_affinity.required.node_selector_terms)


@both
@pytest.mark.checklist("235", "236", "237", "245")
def test_required_terms_may_only_be_narrowed(revision):
    """Requirements are added to terms; a term more or less, or a requirement changed or removed, is refused."""
    c = gated(revision, affinity=required({ZONE: ["a", "b"]}, {VM: ["spot"]}))

    def change(*wanted):
        return refusal(patch, c, "pod/app", **node_affinity(**{REQUIRED: {"nodeSelectorTerms": list(wanted)}}))

    def term(*expressions, fields=()):
        told = [{"key": key, "operator": "In", "values": values} for key, values in expressions]
        by_field = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in fields]
        return {"matchExpressions": told, **({"matchFields": by_field} if by_field else {})}

    zone, vm = (ZONE, ["a", "b"]), (VM, ["spot"])
    count = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
    only = "only additions are allowed (no mutations or deletions)"
    assert change(term(zone), term(vm), term((ZONE, ["c"]))).endswith(count)
    assert change(term(zone)).endswith(count)
    assert count in change()
    for wanted in ([term(zone), term((VM, ["demand"]))], [term((ZONE, ["a"])), term(vm)], [term(zone), term()]):
        said = change(*wanted)
        assert (True, True) == (TERMS in said, only in said), said
    assert "" == change(term(zone, (VM, ["demand"])), term(vm))
    assert "" == change(term(zone, (VM, ["demand"])), term(vm, fields=["b1"]))
    assert change(term(zone), term(vm, fields=["b1"])).endswith(only)
    patch(c, "pod/app", spec={"schedulingGates": None})
    c.run()
    assert ["a2", "b1", "b2"] == fits(c, "app")


@pytest.mark.parametrize(("revision", "anywhere"), [("design", True), ("upstream", False)])
@pytest.mark.checklist("235", "237")
def test_where_in_a_term_a_requirement_may_be_added(revision, anywhere):
    """The document says additions: anywhere; Kubernetes takes them at the end alone. Nobody may exchange one for another."""
    c = gated(revision, affinity=required({ZONE: ["a"]}))

    def change(*expressions):
        told = [{"key": key, "operator": "In", "values": values} for key, values in expressions]
        return refusal(patch, c, "pod/app", **node_affinity(**{REQUIRED: {"nodeSelectorTerms": [
            {"matchExpressions": told}]}}))

    zone, vm = (ZONE, ["a"]), (VM, ["spot"])
    only = "only additions are allowed (no mutations or deletions)"
    assert only in change((VM, ["demand"]), (ZONE, ["b"]))
    assert anywhere == (change(vm, zone) == "")
    assert "" == change(*((vm, zone, vm) if anywhere else (zone, vm)))
    assert only in change(vm, vm)
    assert ["a1"] == sorted(selected(c))


@both
@pytest.mark.checklist("238")
def test_preferences_may_change_in_any_way(revision):
    """Preferred terms of a gated pod are set, exchanged and taken away, and the last ones rank the nodes."""
    def preferring(zone, vm):
        return [{"weight": 50, "preference": node_selector({ZONE: [zone], VM: [vm]})["nodeSelectorTerms"][0]}]

    c = gated(revision, affinity=required({VM: ["spot", "demand"]}))
    for wanted in (preferring("a", "spot"), preferring("b", "demand"), None, preferring("b", "spot")):
        assert "" == refusal(patch, c, "pod/app", **node_affinity(**{PREFERRED: wanted}))
    patch(c, "pod/app", spec={"schedulingGates": None})
    c.run()
    assert ["b1"] == where(c, "app")


@both
@pytest.mark.checklist("239")
def test_pod_affinity_never_changes(revision):
    """Pod affinity and anti-affinity are refused in every update, gated or not: added, changed and removed."""
    near = {"podAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "x"}}}]}}
    apart = {"podAntiAffinity": near["podAffinity"]}
    for gates in (("g",), ()):
        c = cluster(*NODES, pod("app", gates=gates), pod("set", gates=gates, affinity=near), revision=revision)
        for reference, change in (("pod/app", near), ("pod/app", apart), ("pod/set", {"podAffinity": None}),
                                  ("pod/set", apart)):
            assert FIXED in refusal(patch, c, reference, spec={"affinity": change})


@both
@pytest.mark.checklist("240")
def test_tolerations_labels_and_annotations_change_as_before(revision):
    """Any pod may get more tolerations and other labels and annotations; a toleration stays."""
    toleration = {"key": "example.com/spot", "operator": "Exists", "effect": "NoSchedule"}
    for gates in (("g",), ()):
        c = cluster(*NODES, pod("app", gates=gates, labels={"app": "x"}), revision=revision)
        assert "" == refusal(patch, c, "pod/app", metadata={"labels": {"app": "y"}, "annotations": {"team": "z"}})
        assert "" == refusal(patch, c, "pod/app", spec={"tolerations": [toleration]})
        assert {"app": "y"} == dict(c["pod/app"].metadata.labels)
        said = refusal(patch, c, "pod/app", spec={"tolerations": None})
        assert "existing toleration can not be modified except its tolerationSeconds" in said


# -- one way -----------------------------------------------------------------------------------------------------------

VALUES = {ZONE: ["a", "b"], VM: ["spot", "demand"]}
expressions = st.sampled_from([(key, list(some)) for key, known in VALUES.items()
                               for some in chain.from_iterable(combinations(known, size) for size in (1, 2))])
wishes = st.one_of(
    st.dictionaries(st.sampled_from(list(VALUES)), st.sampled_from(["a", "b", "spot", "demand", None])).map(
        lambda selector: {"spec": {"nodeSelector": selector}}),
    st.lists(st.lists(expressions, max_size=3), max_size=3).map(lambda wanted: node_affinity(**{REQUIRED: {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": values}
                                                    for key, values in each]} for each in wanted]}})),
)


def selected(c):
    """The nodes that a pod's node selector and required node affinity match."""
    spec = c["pod/app"].spec
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    terms_ = affinity.required if affinity is not None else None
    return {each.metadata.name for each in c.objects("nodes")
            if all(each.metadata.labels.get(key) == value for key, value in spec.node_selector.items())
            and (terms_ is None or terms_.matches(each.metadata.labels))}


@given(st.lists(wishes, max_size=6), st.sampled_from(["design", "upstream"]))
@pytest.mark.checklist("242", "249")
def test_no_accepted_update_ever_widens(changes, revision):
    """Whatever is tried, the nodes a pod selects never grow: what a policy allowed on creation stays allowed.

    The workbench says beforehand what is accepted, and that no node at all would newly match.
    """
    c = gated(revision)
    before = selected(c)
    for change in changes:
        told, = c.may("pod/app", change)
        assert told.allowed == (refusal(c.patch, "pod/app", change) == "")
        after = selected(c)
        assert after <= before
        if told.allowed:
            assert (sorted(after), None) == (list(told.after), told.witness)
        before = after


# -- stories -----------------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("254")
def test_a_gated_pods_volume_waits_and_follows_the_narrowing(revision):
    """Nothing is provisioned for a gated pod; the zone that it is narrowed to becomes the volume's."""
    c = cluster(*NODES, storage_class(), claim("data"), pod("app", "data", gates=("g",)), revision=revision)
    c.run(seconds=120)
    assert ("Pending", []) == (c["pvc/data"].status.phase, c.objects("pv"))
    patch(c, "pod/app", spec={"nodeSelector": {ZONE: "b"}})
    c.run(seconds=120)
    assert [] == c.objects("pv")
    patch(c, "pod/app", spec={"schedulingGates": None})
    c.run("pod/app Running")
    assert [{ZONE: ["b"]}] == reach(c, "data")
