"""Names that somebody nearly wrote: within two edits of one that exists, or its beginning."""

from collections.abc import Iterable

from ..api.kinds.node import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_LABEL, Node

KEYS_TODAY = {BETA_ZONE_LABEL: ZONE_LABEL, BETA_REGION_LABEL: REGION_LABEL,
              "beta.kubernetes.io/os": "kubernetes.io/os", "beta.kubernetes.io/arch": "kubernetes.io/arch",
              "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type"}  # fmt: skip
MOST_EDITS = 2
LEAST_LENGTH = 3  # of a name: two edits change any shorter one into any other


def near_misses(name: str, there: Iterable[str], *, longer: bool = False) -> list[str]:
    """Return the names within two edits of one that is not among them, nearest first; a first letter is seldom wrong.

    Args:
        name: what was written.
        there: the names that exist.
        longer: whether a name also counts that continues this one after a `-`.
    """
    found = []
    for each in dict.fromkeys(there):
        if each == name or min(len(each), len(name)) < LEAST_LENGTH or _only_numbers_differ(name, each):
            continue
        distance = edits_between(name, each, MOST_EDITS)
        if distance <= min(MOST_EDITS, max(1, min(len(name), len(each)) // 4)):
            found.append((distance, each[0] != name[0], each))
        elif longer and each.startswith(f"{name}-"):
            found.append((MOST_EDITS + 1, False, each))
    return [each for *_, each in sorted(found)]


def nodes_labelled_for(resource: str, nodes: Iterable[Node]) -> dict[str, str]:
    """Return the nodes with a label that names the vendor of a device, by name: `{"g1": "accelerator=nvidia"}`."""
    vendor = resource.partition("/")[0].split(".")[0]
    named = ((node.metadata.name, f"{key}={value}") for node in nodes for key, value in node.metadata.labels.items())
    return {name: label for name, label in named if vendor in label and "/" in resource}


def right_keys(key: str, nodes: Iterable[Node]) -> list[str]:
    """Return the label keys that were meant by one that no node has: its name of today, else those nearly written."""
    there = dict.fromkeys(each for node in nodes for each in node.metadata.labels)
    if key in there:
        return []
    return [KEYS_TODAY[key]] if KEYS_TODAY.get(key) in there else near_misses(key, there)


def edits_between(one: str, other: str, most: int) -> int:
    """Return how many letters are put in, left out, changed or swapped between two names; `most` + 1 if more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, last = list(range(len(other) + 1)), [0] * (len(other) + 1)
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, other_letter in enumerate(other, 1):
            cost = min(before[column] + 1, now[-1] + 1, before[column - 1] + (letter != other_letter))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == other_letter:
                cost = min(cost, last[column - 2] + 1)
            now.append(cost)
        before, last = now, before
        if min(before) > most <= min(last):
            return most + 1
    return min(before[-1], most + 1)


def _only_numbers_differ(one: str, other: str) -> bool:
    """Say whether two names are told apart by a number or by their last letter, as zones and replicas are."""
    strip = str.maketrans("", "", "0123456789")
    of_one, of_other = ([letter for letter in name if letter.isdigit()] for name in (one, other))
    by_number = one.translate(strip) == other.translate(strip) and of_one != of_other
    return by_number or (one[:-1] == other[:-1] and one[-2:-1] in "-0123456789")
