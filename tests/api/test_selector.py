"""Matching: each operator against its meaning, terms ORed and expressions ANDed, taints and tolerations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvolsched.api.kinds.meta import Frozen
from kvolsched.api.kinds.selector import (
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    Taint,
    Toleration,
    find_untolerated_taint,
)  # fmt: skip

KEYS, VALUES = st.sampled_from("abc"), st.sampled_from(["", "1", "2", "30", "x", "010"])
LABELS = st.dictionaries(KEYS, VALUES, max_size=3)
REQUIREMENTS = st.builds(
    lambda key, operator, values: Requirement(key=key, operator=operator, values=tuple(values)),
    KEYS,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near"]),
    st.lists(VALUES, max_size=3, unique=True),
)
TERMS = st.builds(lambda parts: NodeSelectorTerm(match_expressions=tuple(parts)), st.lists(REQUIREMENTS, max_size=3))


@pytest.mark.checklist("20")
@pytest.mark.parametrize(
    ("operator", "values", "here", "there", "nowhere"),
    [
        ("In", ("5", "6"), True, False, False),
        ("NotIn", ("5", "6"), False, True, True),
        ("Exists", (), True, True, False),
        ("DoesNotExist", (), False, False, True),
        ("Gt", ("4",), True, True, False),
        ("Gt", ("5",), False, True, False),
        ("Lt", ("6",), True, False, False),
        ("Lt", ("5",), False, False, False),
        ("Gt", ("x",), False, False, False),
        ("Gt", ("1", "2"), False, False, False),
        ("Near", ("5",), False, False, False),
    ],
)
def test_operators(operator, values, here, there, nowhere):
    """Each operator on a label of value 5, of value 7, and where the label is missing."""
    found = Requirement(key="k", operator=operator, values=values)
    assert [here, there, nowhere] == [found.matches(labels) for labels in ({"k": "5"}, {"k": "7"}, {"other": "5"})]


@given(LABELS, st.lists(TERMS, max_size=3))
@pytest.mark.checklist("19")
def test_terms_are_ored_and_expressions_anded(labels, terms):
    """A node selector matches if some term has expressions and all of them match; none match nothing."""
    expected = any(
        bool(term.match_expressions) and all(part.matches(labels) for part in term.match_expressions) for term in terms
    )
    assert expected == NodeSelector(node_selector_terms=tuple(terms)).matches(labels)


@given(LABELS, TERMS, TERMS, REQUIREMENTS)
def test_terms_widen_and_expressions_narrow(labels, one, other, more):
    """Another term never takes a node away; another expression never adds one to a term that has any."""
    if NodeSelector(node_selector_terms=(one,)).matches(labels):
        assert NodeSelector(node_selector_terms=(one, other)).matches(labels)
    longer = NodeSelectorTerm(match_expressions=(*one.match_expressions, more))
    if longer.matches(labels) and one.match_expressions:
        assert one.matches(labels)


@given(LABELS, KEYS, st.lists(VALUES, min_size=1, unique=True))
def test_opposite_operators(labels, key, values):
    """NotIn is the opposite of In, DoesNotExist of Exists."""
    for one, other in (("In", "NotIn"), ("Exists", "DoesNotExist")):
        pair = [Requirement(key=key, operator=operator, values=tuple(values)) for operator in (one, other)]
        assert pair[0].matches(labels) != pair[1].matches(labels)


@given(LABELS, st.dictionaries(KEYS, VALUES, max_size=2))
def test_match_labels_are_in_expressions(labels, wanted):
    """The matchLabels mean the same as In with one value each; the empty selector matches everything."""
    parts = tuple(Requirement(key=key, operator="In", values=(value,)) for key, value in wanted.items())
    by_labels, by_parts = LabelSelector(match_labels=Frozen(wanted)), LabelSelector(match_expressions=parts)
    assert by_labels.matches(labels) == by_parts.matches(labels)
    assert LabelSelector().matches(labels)


def test_fields_are_about_the_name():
    """A term's matchFields looks at metadata.name alone and is ANDed with the expressions."""
    field = Requirement(key="metadata.name", operator="In", values=("n",))
    label = Requirement(key="a", operator="Exists")
    term = NodeSelectorTerm(match_fields=(field,), match_expressions=(label,))
    assert [True, False, False] == [term.matches(*at) for at in (({"a": ""}, "n"), ({"a": ""}, "m"), ({}, "n"))]
    other = NodeSelectorTerm(match_fields=(Requirement(key="metadata.uid", operator="Exists"),))
    assert not other.matches({"metadata.uid": "x"}, "n")


def test_fields_of_a_volumes_term_are_not_read():
    """A volume's affinity is asked without the node's name, and then matchFields does not count."""
    field = Requirement(key="metadata.name", operator="In", values=("n",))
    label = Requirement(key="a", operator="Exists")
    term = NodeSelectorTerm(match_fields=(field,), match_expressions=(label,))
    assert [True, False] == [term.matches(labels) for labels in ({"a": ""}, {})]
    assert NodeSelectorTerm(match_fields=(field,)).matches({})


@pytest.mark.checklist("27")
def test_a_new_topology_key_needs_no_code():
    """A key that nobody has heard of selects as any other; ANDs and ORs of keys are expressible."""

    def term(**labels):
        parts = (Requirement(key=key, operator="In", values=(value,)) for key, value in labels.items())
        return NodeSelectorTerm(match_expressions=tuple(parts))

    found = NodeSelector(node_selector_terms=(term(moon="io", crater="1"), term(moon="europa")))
    places = [{"moon": "io", "crater": "1"}, {"moon": "io", "crater": "2"}, {"moon": "europa", "crater": "2"}, {}]
    assert [True, False, True, False] == [found.matches(place) for place in places]


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "value": "w"}, False),
        ({"key": "k", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "j", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "k", "operator": "Near", "value": "v"}, False),
        ({"key": "n", "operator": "Gt", "value": "1", "effect": "NoSchedule"}, False),
        ({"key": "n", "operator": "Lt", "value": "9", "effect": "NoSchedule"}, False),
    ],
)
def test_tolerations(toleration, expected):
    """A toleration covers a taint by key, operator, value and effect; the gate of Gt and Lt is off."""
    taint = Taint(key="n", value="5", effect="NoSchedule") if toleration.get("key") == "n" else Taint(key="k", value="v", effect="NoSchedule")
    found = Toleration(**toleration)
    assert expected == found.tolerates(taint)
    assert (None if expected else taint) == find_untolerated_taint([taint], [found])


def test_preferences_are_not_judged_as_hard_taints():
    """PreferNoSchedule is no hard effect; the first taint that nothing covers is the answer."""
    taints = [Taint(key="a", effect="PreferNoSchedule"), Taint(key="b", effect="NoExecute"), Taint(key="c", effect="NoSchedule")]
    assert "b" == find_untolerated_taint(taints, []).key
    assert "c" == find_untolerated_taint(taints, [Toleration(key="b", operator="Exists")]).key
