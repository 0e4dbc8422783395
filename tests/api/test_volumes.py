"""Rules that scheduler and PV controller share: which volumes match, are bound, are reachable from a node."""

from functools import partial

import attrs
import objects
import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import ZONE
from objects import claim, node, storage_class

from kvolsched.api import volumes
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.volumes import find_matching_volume, topology_allows, volume_fits_node

volume = partial(objects.volume, phase="")


def available(made, **spec):
    """Return a volume in phase Available, with parts of its spec replaced."""
    return evolve_parts(made, status={"phase": "Available"}, spec=attrs.evolve(made.spec, **spec))


def found(*candidates, asked=None, **how):
    """Return the name of the volume that is chosen, or None."""
    chosen = find_matching_volume(asked or claim(), candidates, **how)
    return chosen and chosen.metadata.name


@pytest.mark.checklist("93")
def test_the_smallest_that_fits_is_chosen_and_the_first_of_equals():
    """Volumes that are too small are ignored; of equal ones the first is chosen."""
    sizes = {"a": "5Gi", "b": "20Gi", "c": "11Gi", "d": "11Gi"}
    assert found(*(available(volume(name, size)) for name, size in sizes.items())) == "c"


def test_a_volume_that_names_the_claim_wins_whatever_its_size_class_and_phase():
    """A prebound volume is chosen even if its class differs, it is not Available, and its claim waits for a consumer."""
    mine = volume("mine", "50Gi", "other", claim="data")
    assert found(available(volume("fits")), mine, delayed=True) == "mine"
    assert found(volume("mine", "5Gi", claim="data")) is None


def test_a_prebound_volume_out_of_reach_rules_out_all_others():
    """With a node, a claim whose prebound volume is not reachable gets no other volume."""
    mine = volume("mine", claim="data", zone="zone-b")
    assert found(mine, available(volume("fits")), node=node("node-a", "zone-a")) is None


def test_the_controller_leaves_delayed_claims_to_the_scheduler():
    """For a delayed claim an unbound volume is a candidate only if a node is given."""
    assert found(available(volume()), delayed=True) is None
    assert found(available(volume()), delayed=True, node=node("node-a", "zone-a")) == "disk"


@pytest.mark.parametrize("spec", [
    {"volume_mode": "Block"}, {"storage_class_name": "other"}, {"volume_attributes_class_name": "gold"},
], ids=str)
def test_mode_and_classes_must_match(spec):
    """A volume of another mode, class or attributes class is not chosen."""
    assert found(available(volume(), **spec)) is None


def test_phase_selector_deletion_and_exclusion():
    """A match is Available, selected, not being deleted, and not taken by another claim of the pod."""
    assert found(volume()) is None
    assert found(volume(), rules=volumes.DESIGN) == "disk"  # 1.11 did not look at the phase
    assert found(available(volume()), excluded={"disk"}) is None
    assert found(available(volume()), asked=claim(selector={"matchLabels": {"tier": "gold"}})) is None
    gone = available(volume())
    gone = evolve_parts(gone, metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"})
    assert found(gone) is None


def test_the_scheduler_checks_access_modes():
    """The PV controller has sorted volumes by access modes before it asks."""
    read_only = available(volume(), access_modes=("ReadOnlyMany",))
    assert found(read_only, node=node("node-a", "zone-a")) is None
    assert found(read_only) == "disk"


def test_affinity_nil_empty_and_matching():
    """A volume without affinity is reachable from every node, one with an empty affinity from none."""
    anywhere, here = volume(), volume(zone="zone-a")
    nowhere = evolve_parts(
        here,
        spec={
            "node_affinity": attrs.evolve( here.spec.node_affinity, required=attrs.evolve(here.spec.node_affinity.required, node_selector_terms=())),
        },
    )
    for made, fits in ((anywhere, True), (here, True), (nowhere, False)):
        assert volume_fits_node(made, node("node-a", "zone-a")) is fits
    assert not volume_fits_node(here, node("node-b", "zone-b"))


@pytest.mark.checklist("64")
def test_allowed_topologies_are_ored_and_their_expressions_anded():
    """A class with zones a and b admits only their nodes; one without allowedTopologies admits every node."""
    zonal = storage_class(allowed=[{ZONE: ["zone-a", "zone-b"]}])
    assert [topology_allows(zonal, node(f"node-{each}", f"zone-{each}")) for each in "abc"] == [True, True, False]
    assert topology_allows(storage_class(), node("node-c", "zone-c"))
    both = storage_class(allowed=[{ZONE: ["zone-a"], "rack": ["r1"]}, {ZONE: ["zone-b"]}])
    assert topology_allows(both, node("node-a", "zone-a", labels={"rack": "r1"}))
    assert not topology_allows(both, node("node-a", "zone-a"))
    assert topology_allows(both, node("node-b", "zone-b"))


def test_the_beta_annotation_wins_over_the_field():
    """The annotation decides; a class field "" means no class, but counts as given."""
    asked = claim(storage_class="field", annotations={"volume.beta.kubernetes.io/storage-class": "beta"})
    assert volumes.class_of_claim(asked) == "beta"
    assert volumes.class_of_claim(claim(storage_class=None)) == ""
    assert not volumes.has_class(claim(storage_class=None))
    assert volumes.has_class(claim(storage_class=""))


def test_every_spelling_of_the_selected_node_is_read_and_all_are_removed():
    """A revision writes its own annotation key and reads it first."""
    for rules in (volumes.UPSTREAM, volumes.DESIGN):
        asked = volumes.with_selected_node(claim(), "node-a", rules)
        assert asked.metadata.annotations[rules.selected_node_key] == "node-a"
        for reader in (volumes.UPSTREAM, volumes.DESIGN):
            assert volumes.selected_node(asked, reader) == "node-a"
        assert volumes.with_selected_node(asked, "") == claim()


@given(st.lists(st.integers(1, 30), max_size=6), st.integers(1, 30))
def test_the_choice_is_the_least_that_suffices(sizes, asked):
    """Of volumes of any sizes the smallest that is large enough is chosen."""
    made = [available(volume(f"v{n}", f"{size}Gi")) for n, size in enumerate(sizes)]
    chosen = find_matching_volume(claim(size=f"{asked}Gi"), made)
    enough = [size for size in sizes if size >= asked]
    assert (chosen is None) == (not enough)
    if chosen is not None:
        assert volumes.capacity(chosen) == min(enough) * 2**30


@given(st.booleans(), st.booleans())
def test_binding_a_volume_twice_changes_nothing_more(prebound, own_uid):
    """A second binding writes nothing; only a volume that no user had prebound gets the annotation."""
    asked = evolve_parts(claim(), metadata={"uid": "u1"})
    disk = volume(claim="data" if prebound else None)
    if prebound and own_uid:
        ref = attrs.evolve(disk.spec.claim_ref, uid="u1")
        disk = evolve_parts(disk, spec={"claim_ref": ref})
    once = volumes.bind_volume_to_claim(disk, asked)
    assert volumes.bind_volume_to_claim(once, asked) is once
    assert ("pv.kubernetes.io/bound-by-controller" in once.metadata.annotations) is (not prebound)
    assert volumes.is_bound_to(once, asked)
