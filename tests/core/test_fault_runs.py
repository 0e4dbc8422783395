"""Random clusters under random faults: nothing that must hold is broken at any write, and nobody is forgotten at rest.

Crashes, refused writes, outages of the API server, components that see late, nodes that stop, users who create, delete,
scale, drain and edit, turns out of order. `python tests/fault_runs.py SEED` tells the fewest acts of a finding.
"""

from concurrent.futures import ProcessPoolExecutor

import fault_runs
import pytest

import kvolsched

SAMPLE, BLOCKS, ALL = 60, 20, 10_000


def test_a_sample_of_fault_runs_finds_nothing():
    """Invariants hold at every write of 60 runs, no act fails otherwise than a user is told, nobody is forgotten."""
    assert [] == [report for seed in range(SAMPLE) if (report := fault_runs.report(seed))]


@pytest.mark.long
@pytest.mark.parametrize("block", range(BLOCKS))
def test_ten_thousand_fault_runs_find_nothing(block):
    """The same of 10,000 runs, on every core."""
    seeds = range(block, ALL, BLOCKS)
    found = kvolsched.sweep(fault_runs.wrong, {"seed": seeds}, ProcessPoolExecutor)
    assert (len(seeds), ()) == (len(found), found.failures)
    assert [] == [fault_runs.report(row["seed"]) for row in found if row["result"]]


def test_the_fewest_acts_of_a_finding_are_told(monkeypatch):
    """What matters is found by leaving acts out, one by one; the same seed does the same."""
    def nodes_are_schedulable(_before, after):
        cordoned = (key.name for key, obj in after.items() if key.kind == "Node" and obj.spec.unschedulable)
        return next((f"{name} is cordoned" for name in cordoned), "")

    monkeypatch.setattr(fault_runs, "INVARIANTS", (nodes_are_schedulable,))
    seed = next(seed for seed in range(3_000) if "is cordoned" in fault_runs.wrong(seed))
    first, *acts = fault_runs.report(seed).splitlines()
    assert first.startswith(f"seed {seed}: ")
    assert 1 == len(acts)
    assert "cordon(" in acts[0] or "drain(" in acts[0]
