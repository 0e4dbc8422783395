"""Names and numbers in sentences."""

import pytest

from kvolsched.api.words import amount, cores, counted, first_of, from_to, listed, one_of


@pytest.mark.parametrize(("names", "every", "some"), [
    ([], "", ""), (["a"], "a", "a"), (["a", "b"], "a and b", "a or b"), (["a", "b", "c"], "a, b and c", "a, b or c"),
])  # fmt: skip
def test_names_are_enumerated(names, every, some):
    """Commas stand between all but the last two."""
    assert (every, some) == (listed(names), one_of(names))


@pytest.mark.parametrize(("most", "words"), [(4, "a, b, c"), (3, "a, b, c"), (2, "a, b and 1 more"), (1, "a and 2 more")])
def test_of_many_names_the_first_are_told(most, words):
    """What is left out is counted, and nothing is said where nothing is left out."""
    assert words == first_of(["a", "b", "c"], most)


def test_one_thing_is_singular():
    """Only the number 1 has no plural; of a kind it is the word that Kubernetes uses."""
    assert ["0 nodes", "1 node", "2 nodes"] == [counted(number, "node") for number in range(3)]
    assert ["2 StorageClasses", "2 CSIStorageCapacities", "2 keys", "2 passes"] == [
        counted(2, noun) for noun in ("StorageClass", "CSIStorageCapacity", "key", "pass")]


def test_numbers_are_short():
    """Cores and bytes are written as people say them."""
    assert ["1.2", "4", "0.25"] == list(map(cores, (1200, 4000, 250)))
    assert ["16Gi", "1.5Gi", "512"] == list(map(amount, (16 << 30, 3 << 29, 512)))


def test_an_absent_value_is_none():
    """A change names both sides, also one that is not there."""
    assert ("a → b", "none → b", "a → none") == (from_to("a", "b"), from_to("", "b"), from_to("a", ""))
