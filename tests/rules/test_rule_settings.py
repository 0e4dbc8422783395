"""Settings of a revision: they stand in its name, hold together, and can be taken back."""

import attrs
import pytest
from documents.clusters import cluster
from manifests import node

import kvolsched
from kvolsched import Cluster, design, draft, upstream
from kvolsched.rules.named import revision_named
from kvolsched.scheduler.framework.custom_plugin import custom_plugin

SCHEDULER, MANAGER = "kube-scheduler", "kube-controller-manager"
OFF = {SCHEDULER: {"VolumeScheduling": False}}


@pytest.mark.parametrize(("rules", "name"), [
    (design(), "design"),
    (draft(), "draft"),
    (upstream().with_gates(OFF), "upstream (kube-scheduler: VolumeScheduling=false)"),
    (design().matured("alpha"), "design (alpha)"),
    (design().in_phase(1), "design (phase 1)"),
    (design().with_rollback(), "design + rollback"),
    (design().with_gates({MANAGER: {"VolumeScheduling": False}, **OFF}),
     "design (kube-scheduler: VolumeScheduling=false; kube-controller-manager: VolumeScheduling=false)"),
    (design().with_rollback().in_phase(1).with_gates(OFF).matured("alpha"),
     "design (alpha; kube-scheduler: VolumeScheduling=false; phase 1) + rollback"),
])
def test_settings_stand_in_the_name(rules, name):
    """Level, gates that are off, phase and rollback are in the name, in this order, whatever the order of the calls."""
    assert name == rules.name
    c = cluster(node("n1"), revision=rules)
    assert f"rules {name}: " in repr(c)
    c.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"},
             "spec": {"containers": [{"name": "app", "image": "pause"}]}})
    c.run("pod/app scheduled")
    assert f"rules {name}: " in repr(c.passes("app"))


def test_the_order_of_settings_does_not_matter():
    """The same settings in another order are the same rules."""
    one = design().with_gates(OFF).matured("beta").in_phase(2).with_rollback()
    assert one == design().with_rollback().in_phase(2).matured("beta").with_gates(OFF)


@pytest.mark.checklist("73")
def test_gates_are_kept():
    """`with_gates(a).with_gates(b)` has both; a gate that is named again changes, and on again it is as it was."""
    provisioning = {SCHEDULER: {"DynamicProvisioningScheduling": False}}
    both = design().with_gates(OFF).with_gates(provisioning)
    assert both == design().with_gates({SCHEDULER: {**OFF[SCHEDULER], **provisioning[SCHEDULER]}})
    assert "design (kube-scheduler: VolumeScheduling=false, DynamicProvisioningScheduling=false)" == both.name
    again = both.with_gates({SCHEDULER: {"VolumeScheduling": True}})
    assert again.profile == design().with_gates(provisioning).profile
    assert "design (kube-scheduler: DynamicProvisioningScheduling=false)" == again.name
    spreading = {SCHEDULER: {"EvenPodsSpread": False}}
    without = design().with_gates(spreading)
    assert "PodTopologySpread" not in [each.name for each in without.profile.plugins]
    assert design().profile == without.with_gates({SCHEDULER: {"EvenPodsSpread": True}}).profile


def test_a_plugin_of_ones_own_stays():
    """A plugin that is added before or after a setting is there with it, and in the name."""
    mine = custom_plugin(lambda _pod, _node, _seen: True, name="mine")
    before, after = design().with_plugin(mine, 1).with_gates(OFF), design().with_gates(OFF).with_plugin(mine, 1)
    assert before == after
    assert "design (kube-scheduler: VolumeScheduling=false) + mine" == before.name
    assert "mine" == before.profile.plugins[-1].name


def test_rules_that_were_changed_by_hand_take_settings_first():
    """Settings on rules that were changed after other settings are refused: nobody could take them back."""
    changed = attrs.evolve(design().matured("alpha"), event_series=("mine",))
    with pytest.raises(ValueError, match="rules were changed after level, gates, phase or rollback; set those last"):
        changed.with_gates(OFF)
    assert attrs.evolve(design(), event_series=("mine",)).matured("alpha").event_series == ("mine",)


@pytest.mark.parametrize(("gates", "words"), [
    ({"kube-proxy": {"VolumeScheduling": False}}, "no gate VolumeScheduling of kube-proxy: kube-scheduler has VolumeScheduling, DynamicProvisioningScheduling"),
    ({"kubelet": {"Magic": True}}, "no gate Magic of kubelet"),
    ({SCHEDULER: {"VolumeScheduling": "off"}}, "gates of kube-scheduler are True or False, not VolumeScheduling='off'"),
])
def test_gates_that_do_not_exist_are_refused(gates, words):
    """The error names process and gate, lists what there is, and a value that is no switch."""
    with pytest.raises(ValueError, match=words.replace(".", r"\.")):
        design().with_gates(gates)


def test_a_phase_in_a_name_is_a_number():
    """A word where a name has the phase is refused, also one that stands for a number elsewhere."""
    with pytest.raises(ValueError, match="no phase 'true' of the zonal upgrade"):
        revision_named("design (phase true)")


def test_the_three_revisions_are_public():
    """`design`, `draft` and `upstream` stand side by side."""
    assert ["design", "draft", "upstream"] == [make().name for make in (kvolsched.design, kvolsched.draft, kvolsched.upstream)]


def test_rules_are_values():
    """Rules with settings can be compared and looked up: equal ones have one hash."""
    rules = {make().with_gates({SCHEDULER: {"VolumeScheduling": on}}) for make in (design, draft) for on in (True, False)}
    assert 4 == len(rules)
    assert design().with_gates({SCHEDULER: {"VolumeScheduling": False}}) in rules


@pytest.mark.parametrize("rules", [
    design().matured("beta"), design().in_phase(2), design().with_pseudo_code(), design().with_rollback(),
    design().with_rollback(blind=True).in_phase(1), upstream().with_weights({"NodeResourcesFit": 5}),
    design().with_gates({"kube-scheduler": {"VolumeScheduling": False}, "kubelet/node-a": {"VolumeScheduling": False}}),
    design().matured("ga").with_volume_index("class and node"),
], ids=lambda rules: rules.name)
def test_the_name_that_is_printed_is_a_name(rules):
    """Rules with settings are found by the name that outputs show; a setting that there is not is refused."""
    assert rules == revision_named(rules.name)
    assert Cluster(rules.name).revision == rules


@pytest.mark.checklist("266")
def test_plugins_are_called_by_the_documents_names_too():
    """A weight, a verdict and a prediction take the document's name of a plugin; what is shown has both names."""
    assert design().with_weights({"VolumeBinding": 3}) == design().with_weights({"PrioritizeVolumes": 3})
    assert "draft (weights: VolumeBinding=3)" == draft().with_weights({"PrioritizeUnboundPVCs": 3}).name
    c = kvolsched.scenario("zonal-example", "design")
    asked = c.predict(ask="plugin", node="node-c", pod="my-pod")
    assert asked.answer("CheckVolumeBinding").is_right
    c.step("scheduler")
    by_both = [repr(c.verdicts("my-pod", "node-c", name)) for name in ("VolumeBinding", "CheckVolumeBinding")]
    assert by_both[0] == by_both[1]
    assert "VolumeBinding (CheckVolumeBinding) on node-c" in by_both[0]
    assert "  node-c        VolumeBinding (CheckVolumeBinding)  node(s)" in repr(c.fits("my-pod"))
    with pytest.raises(KeyError, match="no score plugin 'PrioritizeVolumes'"):
        kvolsched.upstream().with_weights({"PrioritizeVolumes": 3})
