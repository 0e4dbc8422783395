"""The table of gates: every combination is run, and does what S0 says of it."""

from functools import cache

import pytest

from kvolsched import experiments
from kvolsched.rules import named


@cache
def gates(rules):
    """Run all combinations under these rules once; the rows of a table never change."""
    return experiments.gates(rules)


@pytest.mark.parametrize("rules", ["design", "upstream"])
@pytest.mark.checklist("71", "72", "73", "140")
def test_every_combination_does_what_s0_says(rules):
    """Scheduler, manager and kubelets, each gate on and off, with provisioners in-tree and external: 64 rows agree."""
    table = gates(rules)
    assert (64, True) == (len(table), table.agrees)
    combinations = {(row.scheduler, row.manager, row.kubelets, row.provisioner) for row in table}
    assert 64 == len(combinations)
    assert len({row.found for row in table}) > 5  # the rows differ, so that agreement says something


def row_of(table, scheduler, manager, *, kubelets=True, provisioner="in-tree"):
    """The row of a combination."""
    return next(row for row in table if (row.scheduler, row.manager, row.kubelets, row.provisioner)
                == (scheduler, manager, kubelets, provisioner))


@pytest.mark.checklist("73", "140")
def test_skew_between_masters():
    """A newer scheduler is fine; a newer controller leaves claims unbound and the pod unschedulable (S0, HA)."""
    table, new, old = gates("design"), (True, True), (False, False)
    for provisioner in ("in-tree", "external"):
        fine = row_of(table, new, old, provisioner=provisioner)
        assert ("before, runs", "before, runs") == (fine.found.existing, fine.found.made)
        assert "the scheduler is newer" in fine.words
        stuck = row_of(table, old, new, provisioner=provisioner)
        assert ("never, no node", "never, no node") == (stuck.found.existing, stuck.found.made)
        assert "the controller is newer" in stuck.words


@pytest.mark.checklist("71", "72")
def test_what_the_gates_hold_apart():
    """Kubelets refuse what a scheduler without the gate chose; allowedTopologies are unknown in-tree without the gate."""
    table, off = gates("design"), (False, False)
    assert "before, not mounted" == row_of(table, off, off).found.existing_zone_a
    assert "before, runs out of reach" == row_of(table, off, off, kubelets=False).found.existing_zone_a
    zones = [row_of(table, off, off, provisioner=name).found.allowed for name in ("in-tree", "external")]
    assert ["b", "a"] == zones


def test_the_table_is_text():
    """The table's text has a line for each combination, and names the rules and gates."""
    lines = repr(experiments.gates(provisioners=["external"])).splitlines()
    assert "Gates by process, rules design: 32 of 32 combinations as S0 says" == lines[0]
    assert 3 + 32 == len(lines)
    assert {"yes"} == {line.split()[-1] for line in lines[3:]}


def test_what_cannot_be_asked_is_refused():
    """An unknown kind of provisioner is named with those that there are; the draft lacks one of the gates."""
    with pytest.raises(ValueError, match="no kind of provisioner nfs; there are: in-tree, external"):
        experiments.gates(provisioners=["nfs"])
    with pytest.raises(ValueError, match="no gate DynamicProvisioningScheduling of kube-scheduler"):
        experiments.gates(named.draft())
