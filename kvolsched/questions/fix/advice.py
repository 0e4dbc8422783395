"""Classes of advice, from what restores to what must never be done, and the class that each kind of edit has.

A fix has the class of its worst edit. An edit says which kind it is; where the class hangs on the case (a value that is
a slip of the pen, a label that would lie), the edit says the class, too.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class AdviceClass(NamedTuple):
    """How far advice goes: its letter, what it does in two words, and who decides."""

    letter: str
    words: str
    who: str


OPERATOR, OWNER = "operator of the cluster", "owner of the workload"
CLASSES = {each.letter: each for each in (
    AdviceClass("W", "waits or asks", "nobody"),
    AdviceClass("A", "restores", OPERATOR),
    AdviceClass("B", "corrects", OWNER),
    AdviceClass("C", "keeps what it promises", OWNER),
    AdviceClass("D", "adds capacity", f"{OPERATOR}; it costs money"),
    AdviceClass("E", "promises less", OWNER),
    AdviceClass("F", "changes other workloads", "the owners of those pods"),
    AdviceClass("G", "overrides a decision", "whoever decided it"),
    AdviceClass("H", "loses or leaves data", "owner of the data, in writing"),
    AdviceClass("X", "never", "nobody"),
)}  # fmt: skip
ORDER = tuple(CLASSES)
NEVER = "X"
COSTLY = "FGH"  # without anything better this is said first

# The usual class of each kind of edit.
USUAL: Mapping[str, str] = {
    "wait": "W", "ask the autoscaler": "W", "ask the gate's controller": "W",
    "bring back": "A", "uncordon": "A", "free a node": "A", "initialise": "A", "run a provisioner": "A",
    "run a driver": "A", "permit": "A", "default class": "A", "label truly": "A", "allow topology": "G",
    "publish capacity": "A", "clear selected node": "X", "upgrade the scheduler": "A", "declare a feature": "A",
    "recreate volume": "B",
    "use class": "B", "use claim": "B", "use selector": "B", "create claim": "B", "create class": "B", "own claim": "B",
    "use provisioner": "B", "use access mode": "E", "offer access mode": "B", "drop preferences": "B",
    "spread policy": "C", "strategy": "C", "drop nodeName": "C",
    "add node": "D", "larger machine": "D", "raise maxPods": "D", "add volume": "D", "add disks": "D",
    "lower request": "E", "smaller claim": "E", "change selector": "E", "drop selector": "E", "drop affinity": "E",
    "drop pod term": "E",
    "drop host port": "E", "scale down": "E", "soften spread": "E", "raise maxSkew": "E", "drop feature": "E",
    "move pods": "F", "delete pods": "F", "run elsewhere": "F",
    "tolerate": "G", "untaint": "G", "remove gates": "G", "relabel": "G",
    "release volume": "H", "new claim": "H", "delete claim": "H", "restore snapshot": "H",
}  # fmt: skip


def worst(letters: Iterable[str]) -> str:
    """Return the letter of the class that goes furthest; "W" of none."""
    return max(letters, key=ORDER.index, default=ORDER[0])
