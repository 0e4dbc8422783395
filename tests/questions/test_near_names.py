"""Names that somebody nearly wrote, and those that somebody meant."""

import pytest

from kvolsched import make
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.near_names import near_misses, right_keys


@pytest.mark.parametrize(("name", "there", "near"), [
    ("cordno", ["cordon", "uncordon", "coral"], ["cordon"]),  # two letters swapped are one edit, two changed are too many
    ("storage-fast", ["xtorage-fast", "storage-fost", "storage-fsat", "stroage-fsat"],
     ["storage-fost", "storage-fsat", "xtorage-fast", "stroage-fsat"]),
    ("zone-1", ["zone-2", "zone-a", "zone"], []),
    ("web", ["web-0", "wec"], ["wec"]),
])
def test_what_is_nearly_written_comes_first(name, there, near):
    """The fewest edits first, then a right first letter, then by name; what only a number tells apart is another name."""
    assert near == near_misses(name, there)


@pytest.mark.parametrize(("name", "there", "near"), [
    ("topology.example.com", ["topologi.exampel.com", "topologi.exampla.con"], ["topologi.exampel.com"]),
    ("web-front", ["wep-frond", "wep-frunt-s"], ["wep-frond"]),
])
def test_no_name_is_near_that_is_more_than_two_edits_away(name, there, near):
    """However long a name is, three letters that differ make another one."""
    assert near == near_misses(name, there)


@pytest.mark.parametrize(("old", "today"), [
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"), ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
])
def test_a_beta_label_is_its_name_of_today(old, today):
    """Who selects by a label's beta name is told the name of today if nodes have it, and no other."""
    assert [today] == right_keys(old, [from_plain(make.node("n1", labels={today: "x", "other": "y"}))])
    assert [] == right_keys(old, [from_plain(make.node("n1", labels={"other": "y"}))])
