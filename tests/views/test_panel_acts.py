"""A user's acts in the panel: forms and buttons, the script that repeats them, and the branches that they begin."""

import pytest

from kvolsched import ApplyRefused, scenario
from kvolsched.views.panel.acts import ACTS, Call, unused
from kvolsched.views.panel.acts_row import is_shown


@pytest.fixture
def lab():
    """Return the panel of the zonal example at its start."""
    return scenario("zonal-example").lab()


def test_a_button_asks_and_the_form_acts(lab):
    """A click asks; the form shows its line of Python, does it, closes, and the line is in the history."""
    lab.acts.buttons["cordon"].click()
    assert "Which node?" in lab.acts.question.value
    lab.acts.fields["node"].value = "node-b"
    assert "c.cordon(&quot;node-b&quot;)" in lab.acts.line.value
    lab.acts.submit.click()
    assert lab.driver.cluster["node/node-b"].spec.unschedulable
    assert (lab.acts.act, list(lab.history)) == (None, ['c.cordon("node-b")'])
    assert "cordons node-b" in lab.host.sentence
    assert lab.acts.text.value == 'c.cordon("node-b")'


def test_what_is_selected_or_clicked_fills_in_the_form(lab):
    """A selected node stands in the field; a click on another one replaces it and selects nothing."""
    lab.selection = "node/node-b"
    lab.do("ask", name="taint")
    assert lab.acts.fields["node"].value == "node-b"
    lab.do("select", ref="node/node-c")
    assert (lab.acts.fields["node"].value, lab.selection) == ("node-c", "node/node-b")
    lab.do("select", ref="pod/my-pod")
    assert (lab.acts.fields["node"].value, lab.selection) == ("node-c", "pod/my-pod")


def test_escape_leaves_the_form_then_the_selection(lab):
    """The first Escape closes the form, the second clears the selection; nothing was done."""
    lab.selection = "node/node-a"
    lab.do("ask", name="cordon")
    lab.do("clear")
    assert (lab.acts.act, is_shown(lab.acts.form), lab.selection) == (None, False, "node/node-a")
    lab.do("clear")
    assert (lab.selection, len(lab.history)) == ("", 0)


@pytest.mark.parametrize(
    ("act", "values", "line"),
    [
        ("cordon", {"node": "node-a"}, 'c.cordon("node-a")'),
        ("taint", {"node": "node-a", "taint": "a=b:NoSchedule"}, 'c.taint("node-a", "a=b:NoSchedule")'),
        ("label", {"object": "node/node-a", "label": "disk=ssd"}, 'c.label("node/node-a", "disk=ssd", overwrite=True)'),
        ("delete", {"object": "pod/my-pod"}, 'c.delete("pod/my-pod")'),
        ("evict", {"pod": "pod/my-pod"}, 'c.evict("my-pod")'),
        ("crash", {"component": "scheduler"}, 'c.crash("scheduler")'),
        ("refuse", {"component": "scheduler", "nth": "2", "reason": "Conflict"},
         'c.refuse("scheduler", nth=2, reason="Conflict")'),
        ("delay", {"component": "PV controller", "seconds": "1.5"}, 'c.delay("PV controller", 1.5)'),
        ("stop", {"nodes": "failure-domain.beta.kubernetes.io/zone=us-central1-a"},
         'c.stop_nodes("failure-domain.beta.kubernetes.io/zone=us-central1-a")'),
        ("rules", {"rules": "upstream", "component": ""}, 'c.upgrade("upstream")'),
        ("gate", {"gate": "kube-scheduler: EvenPodsSpread", "to": "off"},
         'c.upgrade({"EvenPodsSpread": False}, "kube-scheduler")'),
        ("explore", {"lag": "none", "seconds": "60"}, 'c.explore(lag="none", seconds=60, branch="found")'),
    ],
)  # fmt: skip
def test_every_act_is_a_line_that_repeats_it(lab, act, values, line):
    """The history, run on a fresh cluster, ends in the same world."""
    lab.do("step")
    lab.user(act, **values)
    lab.do("step")
    assert line in list(lab.history)
    again = scenario("zonal-example")
    exec("\n".join(lab.history), {"c": again})  # noqa: S102 - our own lines
    assert (lab.driver.cluster.digest(), lab.branches) == (again.digest(), again.branches)


def test_a_failure_that_is_found_is_replayed_on_a_branch():
    """The panel stands at its end, steps through it, and says why it happens until it is moved."""
    lab = scenario("two-replicas", "design").lab()
    lab.user("explore", lag="none", seconds="60")
    assert (["found", "main"], 21, 21) == (lab.branches, lab.frame.head.step, lab.frame.head.steps_known)
    assert lab.acts.note.value.startswith("web-0's and web-1's nodes were chosen at steps 1 and 2 without either knowing")
    lab.do("goto", step=20)
    assert "none of 2 nodes fits" in lab.reading().partition("\n")[0]
    assert "web-0's" not in lab.acts.note.value


def test_a_search_that_finds_nothing_says_so(lab):
    """No branch begins."""
    lab.user("explore", lag="none", seconds="60")
    assert ("Exhausted: no failure in any state", ["main"]) == (lab.acts.note.value, lab.branches)


def test_a_manifest_is_applied_as_it_is_written(lab):
    """Several lines, quotes and backslashes stay what they are in the line that repeats them."""
    text = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {said: "a \\"\\"\\" b"}}\n'
    lab.user("apply", yaml=text)
    again = scenario("zonal-example")
    exec(str(lab.history), {"c": again})  # noqa: S102 - our own lines
    assert again["namespace/shop"].metadata.annotations["said"] == 'a """ b'


def test_the_form_shows_a_refusal_and_nothing_is_recorded(lab):
    """The server's words stand where the act was asked for; the form stays open; Python gets the exception."""
    lab.do("ask", name="label")
    lab.acts.fields["object"].value = "node/node-a"
    lab.acts.fields["label"].value = "disk=<script>"
    lab.acts.submit.click()
    assert "&lt;script&gt;" in lab.acts.said.value
    assert "<script>" not in lab.acts.said.value
    assert (lab.acts.act.name, len(lab.history), lab.frame.head.step) == ("label", 0, 0)
    with pytest.raises(ApplyRefused):
        lab.user("label", object="node/node-a", label="disk=<script>")
    with pytest.raises(ValueError, match="taint takes: node, taint"):
        lab.user("taint", node="node-a")


def test_an_act_in_the_past_begins_a_branch(lab):
    """The row says so before; the branch is named after the act; the drop-down goes back to the old one."""
    lab.do("run")
    last = lab.frame.head.step
    assert lab.acts.note.value == ""
    lab.do("goto", step=6)
    assert lab.acts.note.value == "starts a branch at step 6"
    lab.user("cordon", node="node-a")
    assert lab.branches == ["node-a cordoned", "main"]
    assert (lab.toolbar.branch.value, sorted(lab.toolbar.branch.options)) == ("node-a cordoned", ["main", "node-a cordoned"])
    lab.toolbar.branch.value = "main"
    assert (lab.frame.head.branch, lab.frame.head.step) == ("main", last)
    assert list(lab.history)[-4:] == [
        "c.goto(6)", 'c.goto(6, branch="node-a cordoned")', 'c.cordon("node-a")', 'c.goto("main")',
    ]  # fmt: skip


def test_a_refused_act_in_the_past_begins_no_branch(lab):
    """The known future stays."""
    lab.do("run")
    lab.do("goto", step=3)
    with pytest.raises(ValueError, match="taint"):
        lab.user("taint", node="node-a", taint="nonsense:Never")
    assert (lab.branches, lab.frame.head.steps_known) == (["main"], 9)


def test_rules_begin_a_branch_also_at_the_end(lab):
    """Other rules never overwrite what is known under the first ones."""
    lab.do("run")
    lab.user("rules", rules="upstream", component="kube-scheduler")
    assert lab.branches == ["upstream kube-scheduler", "main"]
    assert lab.frame.head.revision == "upstream"


def test_step_repeats_what_the_user_did(lab):
    """A user is among those who may act next: Step goes on along this branch, another chip leaves it."""
    lab.do("step")
    lab.user("cordon", node="node-b")
    lab.do("step")
    digest = lab.driver.cluster.digest()
    lab.do("goto", step=1)
    chip = lab.chips.children[1]
    assert (chip.description, "k-default" in chip._dom_classes) == ("user\u2002cordons node-b", True)
    lab.do("step")
    lab.do("step")
    assert (digest, lab.branches) == (lab.driver.cluster.digest(), ["main"])
    lab.do("goto", step=1)
    lab.chips.children[2].click()
    assert lab.branches == ["branch-1", "main"]
    assert not lab.driver.cluster["node/node-b"].spec.unschedulable


def test_run_goes_on_from_the_end_of_the_branch(lab):
    """Run repeats what is known, acts included, before it goes on."""
    lab.do("step")
    lab.user("cordon", node="node-b")
    lab.do("reset")
    lab.do("run")
    assert (lab.driver.cluster["node/node-b"].spec.unschedulable, lab.branches) == (True, ["main"])


def test_acts_without_an_object_are_not_offered(lab):
    """Nothing can be scaled, ungated, uncordoned or started here; after a cordon one node can be uncordoned."""
    hidden = {act.name for act in ACTS if not is_shown(lab.acts.buttons[act.name])}
    assert hidden == {"scale", "ungate", "uncordon", "start"}
    lab.user("cordon", node="node-a")
    assert is_shown(lab.acts.buttons["uncordon"])


def test_the_script_opens_and_closes(lab):
    """The button of the history shows its lines."""
    assert not is_shown(lab.acts.script)
    lab.do("step")
    lab.do("step")
    lab.acts.opener.click()
    assert (is_shown(lab.acts.script), lab.acts.text.value) == (True, "for _ in range(2): c.step()")
    assert repr(lab.history) == "for _ in range(2): c.step()"


def test_names_of_branches_and_calls():
    """A taken name gets a number; a call prints as Python with double quotes."""
    assert [unused("a", ["main"]), unused("a", ["a", "a 2"]), unused(" ", [])] == ["a", "a 3", "branch"]
    assert str(Call("f", ("x", 1, {"g": False}), {"k": 'say "yes"'})) == 'c.f("x", 1, {"g": False}, k="say \\"yes\\"")'
