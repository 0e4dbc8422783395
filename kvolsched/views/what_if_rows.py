"""Rows of the what-if panel: fields whose values are tried, a cell for each value with what came of it."""

from attrs import frozen


@frozen
class ValueCell:
    """One value of a field, while the other fields keep theirs."""

    value: str  # As a manifest writes it
    running: int = 0  # Pods that run at the end
    pods: int = 0  # Pods in all
    is_known: bool = False  # Whether it has been run
    refused: str = ""  # Why the API server refused it, in its words
    unfinished: str = ""  # Why its run stopped before its end
    others: tuple[int, int] = (0, 0)  # Of pods that are not counted: how many run, how many there are

    @property
    def all_run(self) -> bool:
        """Whether every pod that is counted runs."""
        return self.is_known and not self.refused and self.running == self.pods


@frozen
class FieldStrip:
    """One field, and a cell for each of its values."""

    label: str  # Its short name: "maxSkew"
    path: str  # "deploy/web:spec.template.spec.topologySpreadConstraints[0].maxSkew"
    cells: tuple[ValueCell, ...]
    present: int  # Number of the cell that is shown
    is_ordered: bool = True  # Whether the values are numbers in order


@frozen
class WhatIfRows:
    """What came of all values that were tried."""

    fields: tuple[FieldStrip, ...]
    step: int = 0  # Where every run begins
    revision: str = ""
    seed: int = 0
    workload: str = ""  # Whose pods are counted, if not all: "deploy/web"

    @property
    def shown(self) -> ValueCell:
        """What came of the values that are shown."""
        return self.fields[0].cells[self.fields[0].present]
