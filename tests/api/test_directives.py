"""Directives of a pod: which nodes they select, and specs with one of them alone, changed or left out."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvolsched.api.kinds import directives as d
from kvolsched.api.kinds.meta import Frozen, ObjectMeta
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import (
    Affinity,
    NodeAffinity,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    PodTemplateSpec,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
)
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement, Toleration
from kvolsched.api.kinds.workload import DaemonSet, DaemonSetSpec
from kvolsched.controllers.daemon_set import fits
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.verdict import Ok
from kvolsched.scheduler.plugins.node_affinity import NodeAffinity as Plugin

KEYS, VALUES = st.sampled_from("ab"), st.sampled_from("12")
LABELS = st.dictionaries(KEYS, VALUES, max_size=2).map(Frozen)
TERMS = st.builds(
    lambda key, values: NodeSelectorTerm(match_expressions=(Requirement(key=key, operator="In", values=tuple(values)),)),
    KEYS, st.lists(VALUES, max_size=2, unique=True),
)  # fmt: skip
SELECTORS = st.none() | st.builds(lambda terms: NodeSelector(node_selector_terms=tuple(terms)), st.lists(TERMS, max_size=2))
LIKES = (PreferredSchedulingTerm(weight=1),)
NEAR, FAR, OTHER = (PodAffinityTerm(topology_key=key) for key in ("near", "far", "other"))


def spec_with(labels, required):
    """Return a spec that asks for these labels and terms, prefers others, and is near and far from pods."""
    affinity = Affinity(
        node_affinity=NodeAffinity(required=required, preferred=LIKES),
        pod_affinity=PodAffinity(required=(NEAR, OTHER)), pod_anti_affinity=PodAffinity(required=(FAR,)),
    )  # fmt: skip
    return PodSpec(node_selector=labels, affinity=affinity)


@given(LABELS, SELECTORS, LABELS)
def test_plugin_controller_and_directives_select_the_same_nodes(selector, required, labels):
    """NodeAffinity rejects a node exactly if the directives do not select it, and a DaemonSet puts no daemon there."""
    spec, node = spec_with(selector, required), Node(metadata=ObjectMeta(name="n", labels=labels))
    daemons = DaemonSet(spec=DaemonSetSpec(template=PodTemplateSpec(spec=spec)))

    chosen = d.selects_node(spec, node)

    assert chosen == isinstance(Plugin().rule(Pod(spec=spec), node, Snapshot()), Ok)
    assert chosen == fits(daemons, node)[0]
    assert chosen == (d.first_unmet(spec, node) is None)


@given(LABELS, SELECTORS, LABELS, SELECTORS)
def test_a_spec_that_selects_only_this_keeps_what_it_prefers(before, old, after, new):
    """Other labels and terms replace what was required; preferences and affinity to pods stay."""
    changed = d.selecting_only(spec_with(before, old), after, new)

    assert (after, new) == (changed.node_selector, changed.required_node_affinity)
    assert (LIKES, (NEAR, OTHER)) == (changed.affinity.node_affinity.preferred, changed.affinity.pod_affinity.required)
    assert PodSpec() == d.with_required_node_affinity(PodSpec(), None)  # nothing is added to say nothing


def test_one_constraint_alone_stands_first_and_the_others_forbid_nothing():
    """The others keep their keys, so that the same nodes count, but allow any skew and ask for no domains."""
    stated = tuple(TopologySpreadConstraint(topology_key=key, max_skew=1, min_domains=2) for key in "abc")
    alone = d.constraint_alone(PodSpec(topology_spread_constraints=stated), 1).topology_spread_constraints

    assert stated[1] == alone[0]
    assert [("a", d.ANY_SKEW, None), ("c", d.ANY_SKEW, None)] == [
        (each.topology_key, each.skew_limit, each.min_domains) for each in alone[1:]]
    changed = d.with_constraint(PodSpec(topology_spread_constraints=stated), 2, max_skew=5).topology_spread_constraints
    assert (*stated[:2], attrs.evolve(stated[2], max_skew=5)) == changed


@pytest.mark.parametrize(("stated", "limit", "is_hard"), [
    ({}, 1, True), ({"max_skew": 3, "when_unsatisfiable": "DoNotSchedule"}, 3, True),
    ({"max_skew": 2, "when_unsatisfiable": "ScheduleAnyway"}, 2, False),
])  # fmt: skip
def test_a_constraint_knows_its_limit_and_whether_it_rejects(stated, limit, is_hard):
    """Without maxSkew the limit is 1, and without whenUnsatisfiable nodes are rejected."""
    constraint = TopologySpreadConstraint(**stated)
    assert (limit, is_hard) == (constraint.skew_limit, constraint.is_hard)


def test_terms_of_pods_are_kept_alone_or_left_out_one_by_one():
    """One term alone drops all others; without one the rest stays; node affinity is never touched."""
    spec = spec_with(Frozen(), None)

    assert [OTHER] == list(d.pod_term_alone(spec, "pod_affinity", 1).pod_terms)
    assert [OTHER, FAR] == list(d.without_pod_term(spec, "pod_affinity", 0).pod_terms)
    assert d.without_pod_term(spec, "pod_anti_affinity", 0).affinity.pod_anti_affinity is None
    assert [] == list(d.without_pod_terms(spec).pod_terms)
    assert spec.node_affinity == d.without_pod_terms(spec).node_affinity == d.pod_term_alone(spec, "pod_affinity", 0).node_affinity


def test_tolerations_are_added_behind_those_there_are():
    """The stored tolerations stay in their order."""
    first, more = Toleration(key="a"), Toleration(key="b")
    assert (first, more) == d.with_tolerations(PodSpec(tolerations=(first,)), more).tolerations
