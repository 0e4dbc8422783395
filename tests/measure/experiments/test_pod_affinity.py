"""Pod affinity beside spreading: when S3's rewriting says the same, and what anti-affinity in zones costs a pass."""

import pytest

from kvolsched import experiments

both = pytest.mark.parametrize("revision", ["design", "upstream"])


@both
@pytest.mark.checklist("224")
@pytest.mark.parametrize("skew", [1, 2])
def test_an_affinity_term_of_one_topology_as_selector_and_key(revision, skew):
    """Where each zone has a pod, or none has, the constraint alone leaves the zones that both leave; only there always."""
    table = experiments.affinity_as_spreading(skew=skew, revision=revision)
    assert 27 == len(table)
    assert {True} == {row.same for row in table if row.settled}
    assert {*range(27)} == {index for index, row in enumerate(table) if row.settled or not row.same or skew > 1}
    unsettled = [row for row in table if not row.settled]
    assert all({*row.both} < {*row.rewritten} for row in unsettled if not row.same)
    assert any(not row.same for row in unsettled)
    assert repr(table).splitlines()[2].startswith("0/0/0")


@both
@pytest.mark.checklist("224")
def test_affinity_keeps_pods_out_of_empty_zones_and_spreading_sends_them_there(revision):
    """With 1/1/0 both together leave no zone for maxSkew 1; the constraint alone leaves the empty one."""
    row = next(row for row in experiments.affinity_as_spreading(revision=revision) if row.counts == (1, 1, 0))
    assert ((), ("c",)) == (row.both, row.rewritten)


@both
@pytest.mark.checklist("226")
@pytest.mark.parametrize(("nodes", "zones"), [(12, 3), (30, 3), (20, 5)])
def test_what_anti_affinity_in_any_domain_has_to_look_at(revision, nodes, zones):
    """As the loop runs, a pass compares as many times more terms in zones as a zone has nodes; both place all pods."""
    runs = experiments.anti_affinity(nodes, zones, revision=revision)
    assert [zones, zones] == [len({*run.placed}) for run in (runs.zone_wide, runs.on_nodes)]
    assert "" not in runs.zone_wide.placed + runs.on_nodes.placed
    assert zones <= runs.zone_wide.passes
    assert nodes / zones == pytest.approx(runs.ratio)
    assert "anti-affinity in zones" in repr(runs)
