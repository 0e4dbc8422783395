"""Names that somebody nearly wrote, and those that somebody meant."""

from functools import cache
from itertools import product

import pytest

from kvolsched import make
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.near_names import edits_between, near_misses, nodes_labelled_for, right_keys


@pytest.mark.parametrize(("name", "there", "near"), [
    ("cordno", ["cordon", "uncordon", "coral"], ["cordon"]),  # two letters swapped are one edit, two changed are too many
    ("storage-fast", ["xtorage-fast", "storage-fost", "storage-fsat", "stroage-fsat"],
     ["storage-fost", "storage-fsat", "xtorage-fast", "stroage-fsat"]),
    ("zone-1", ["zone-2", "zone-a", "zone"], []),
    ("web", ["web-0", "wec"], ["wec"]),
    ("web", ["web", "weh", "weh", "we", "w"], ["weh"]), ("ab", ["abc", "ac"], []), ("abc", ["ab", "abd"], ["abd"]),
    ("volumes", ["valumez", "volunes"], ["volunes"]), ("volumess", ["valumezs", "volunezz"], ["valumezs"]),
    ("r5-fast", ["r6-fast", "r-fast", "r55-fast", "r5-fest"], ["r5-fest"]),  # what only numbers tell apart is meant so
    ("pool-a", ["pool-b", "pool-ab"], ["pool-ab"]), ("poola", ["poolb"], ["poolb"]), ("pool0a", ["pool0b", "pool1a"], []),
    ("pool10", ["pool01"], []), ("p1ool", ["po1ol"], ["po1ol"]),
])
def test_what_is_nearly_written_comes_first(name, there, near):
    """The fewest edits first, then a right first letter, then by name; what only a number tells apart is another name."""
    assert near == near_misses(name, there)


def test_a_name_that_goes_on_is_near_if_it_is_asked_for():
    """What continues a name after a hyphen comes last, whatever its length; what only begins alike does not count."""
    there = ["database-b-longer", "database-a-longer", "databases-all", "database0-x", "zatabase", "databaxx", "database-b"]

    assert ["database-b", "databaxx", "zatabase"] == sorted(near_misses("database", there))
    assert ["zatabase", "database-b", "databaxx", "database-a-longer", "database-b-longer"] == near_misses("database", there, longer=True)
    assert ["wex", "web-0"] == near_misses("web", ["web-0", "webs-0", "wex"], longer=True)


@cache
def edits(one, other):
    """Return in how many edits one name becomes another, by the definition."""
    if not one or not other:
        return len(one) + len(other)
    ways = [edits(one[1:], other) + 1, edits(one, other[1:]) + 1, edits(one[1:], other[1:]) + (one[0] != other[0])]
    swapped = one[1::-1] == other[:2] and len(one) > 1
    return min([*ways, *([edits(one[2:], other[2:]) + 1] if swapped else [])])


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_edits_are_counted_up_to_a_limit(most):
    """Letters put in, left out, changed, or swapped with the next one, each once; more than the limit is one more than it."""
    words = ["".join(letters) for length in range(5) for letters in product("ab", repeat=length)] + ["cabx", "acbx", "abcabc", "bacbac", "ca", "abc"]

    assert [] == [(one, other) for one, other in product(words, words) if edits_between(one, other, most) != min(edits(one, other), most + 1)]


@pytest.mark.parametrize(("resource", "meant"), [
    ("nvidia.com/gpu", {"a": "nvidia.com/mig=true", "c": "accelerator=nvidia-a100"}), ("amd.com/gpu", {}), ("nvidia", {}), ("cpu", {}),
])  # fmt: skip
def test_nodes_whose_labels_name_a_vendor_are_meant(resource, meant):
    """A device that no node has was meant on the nodes with a label that names its vendor, in the key or the value."""
    nodes = [make.node("c", labels={"accelerator": "nvidia-a100", "zone": "z"}), make.node("b", labels={"cpu": "x"}),
             make.node("a", labels={"vendor": "nvidia", "nvidia.com/mig": "true"})]

    assert meant == nodes_labelled_for(resource, map(from_plain, nodes))


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
    assert [today] == right_keys(old, [from_plain(make.node("n1", labels={today: "x", f"{old}x": "y"}))])
    assert [f"{old}x"] == right_keys(old, [from_plain(make.node("n1", labels={"other": "y", f"{old}x": "z"})), from_plain(make.node("n2"))])
    assert [] == right_keys(old, [from_plain(make.node("n1", labels={old: "x", today: "x", f"{old}x": "y"}))])
