"""A user's acts in the panel: forms and buttons, the script that repeats them, and the branches that they begin."""

import html
import re

import pytest

from kvolsched import ApplyRefused, UnknownName, scenario
from kvolsched.views.panel.acts import ACTS, MANIFEST, UNTIL, Call, act_named, unused
from kvolsched.views.panel.acts_row import ActsRow, is_shown


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
    assert "k-error" not in lab.host.sentence
    with pytest.raises(ApplyRefused):
        lab.user("label", object="node/node-a", label="disk=<script>")
    with pytest.raises(ValueError, match="taint takes: node, taint"):
        lab.user("taint", node="node-a")
    lab.do("clear")
    with pytest.raises(ValueError, match="taint takes: node, taint"):
        lab.user("taint", node="node-a")
    assert "ValueError: taint takes: node, taint</b>" in lab.host.sentence


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


SHOP = {
    "node": [("n1", "n1"), ("n2", "n2")], "pod": [("web-0", "pod/web-0")], "object": [("node/n1", "node/n1"), ("pod/web-0", "pod/web-0")],
    "workload": [("deploy/web", "deploy/web")], "cordoned": [("n2", "n2")], "gated": [("web-1", "pod/web-1")], "component": [("scheduler", "scheduler")],
    "process": [("kubelet", "kubelet")], "stoppable": [("zone=a", "zone=a")], "stopped": [("zone=b", "zone=b")], "rules": [("design", "design")],
    "restarted": [("all", ""), ("kube-scheduler", "kube-scheduler")], "gate": [("kube-scheduler: G", "kube-scheduler: G")],
    "condition": [("pod/web-0 Running", "pod/web-0 Running")],
}  # fmt: skip
EVERY_ACT = [
    ("cordon", "Which node?", "cordon", {"node": "n1"}, 'c.cordon("n1")', "n1 cordoned", "", False),
    ("uncordon", "Which node?", "uncordon", {"node": "n2"}, 'c.uncordon("n2")', "n2 uncordoned", "cordoned", False),
    ("taint", "Which node, and which taint? With a final - it is removed.", "taint", {"node": "n1", "taint": "dedicated=db:NoSchedule"},
     'c.taint("n1", "dedicated=db:NoSchedule")', "n1 tainted", "", False),
    ("label", "Which object, and which label? With a final - it is removed.", "label", {"object": "node/n1", "label": "disk=ssd"},
     'c.label("node/n1", "disk=ssd", overwrite=True)', "node/n1 labelled", "", False),
    ("delete", "Which object?", "delete", {"object": "node/n1"}, 'c.delete("node/n1")', "node/n1 deleted", "", False),
    ("evict", "Which pod?", "evict", {"pod": "pod/web-0"}, 'c.evict("web-0")', "pod/web-0 evicted", "pod", False),
    ("scale", "Which workload, to how many pods?", "scale", {"workload": "deploy/web", "replicas": "3"}, 'c.scale("deploy/web", 3)',
     "deploy/web of 3", "workload", False),
    ("ungate", "Which pod's gates?", "ungate", {"pod": "pod/web-1"}, 'c.ungate("web-1")', "pod/web-1 ungated", "gated", False),
    ("crash", "Which component? It loses what it remembers and lists everything again.", "crash", {"component": "kubelet"}, 'c.crash("kubelet")',
     "kubelet crashed", "", False),
    ("refuse", "Whose next write, and why?", "refuse it", {"component": "scheduler", "nth": "1", "reason": "Conflict"},
     'c.refuse("scheduler", nth=1, reason="Conflict")', "scheduler refused", "", False),
    ("delay", "Which component, for how many seconds?", "delay", {"component": "kubelet", "seconds": "5"}, 'c.delay("kubelet", 5)', "kubelet delayed",
     "", False),
    ("stop", "Which nodes? Their kubelets answer nobody.", "stop", {"nodes": "zone=a"}, 'c.stop_nodes("zone=a")', "a stopped", "", False),
    ("start", "Which nodes run again?", "start", {"nodes": "zone=b"}, 'c.start_nodes("zone=b")', "b started", "stopped", False),
    ("apply", "Which manifest?", "apply", {"yaml": MANIFEST}, f'c.apply("""{MANIFEST}""")', "more applied", "", False),
    ("rules", "Which rules, and who restarts with them?", "restart", {"rules": "design", "component": ""}, 'c.upgrade("design")', "design ", "", True),
    ("gate", "Which feature gate? Its process restarts.", "restart", {"gate": "kube-scheduler: G", "to": "off"},
     'c.upgrade({"G": False}, "kube-scheduler")', "kube-scheduler: G off", "", True),
    ("explore", "Every order of turns from here, for how many seconds? A way to a stuck end becomes a branch.", "search",
     {"lag": "none", "seconds": "10"}, 'c.explore(lag="none", seconds=10, branch="found")', "", "", False),
    ("until", "Play until when? Such as: pod/web-0 Running, pvc/data Bound, pod/web-0 gone.", "play", {"until": "pod/web-0 Running"},
     'c.run("pod/web-0 Running")', "", "", False),
]  # fmt: skip


def test_every_act_asks_shows_its_line_and_names_its_branch():
    """Question, fields with what stands in them, the label of what does it, the line, the branch, and what must exist for it."""
    row = ActsRow(SHOP.__getitem__, lambda *_a, **_m: None)
    seen = []
    for act in (*ACTS, UNTIL):
        row.ask(act.name)
        values = {name: field.value for name, field in row.fields.items()}
        seen.append((act.name, html.unescape(re.sub("<[^>]+>", "", row.question.value)), row.submit.description, values, str(act.call(values)),
                     act.branch(values), act.needs, act.forks))

    assert EVERY_ACT == seen
    assert [f"{name}…" for name, *_ in EVERY_ACT[:-1]] == [button.description for button in row.buttons.values()]
    assert [question for _, question, *_ in EVERY_ACT[:-1]] == [button.tooltip for button in row.buttons.values()]


@pytest.mark.parametrize(("act", "ref", "filled"), [
    ("cordon", "node/n2", {"node": "n2"}), ("cordon", "pod/web-0", None), ("uncordon", "node/n2", {"node": "n2"}), ("uncordon", "node/n1", None),
    ("taint", "node/n2", {"node": "n2"}), ("label", "pod/web-0", {"object": "pod/web-0"}), ("label", "zone/a", None), ("label", "pv/none", None),
    ("evict", "pod/web-0", {"pod": "pod/web-0"}), ("ungate", "pod/web-1", {"pod": "pod/web-1"}), ("stop", "node/n1", None), ("scale", "deploy/web", None),
    ("delete", "node/n1", {"object": "node/n1"}), ("refuse", "node/n1", None), ("until", "pod/web-0", None),
])  # fmt: skip
def test_a_click_fills_in_the_field_that_asks_for_it(act, ref, filled):
    """A node by its name, any other object by its reference, where there is such a choice; any other click is left to others."""
    row = ActsRow(SHOP.__getitem__, lambda *_a, **_m: None)
    row.ask(act)
    before = {name: field.value for name, field in row.fields.items()}

    assert (filled is not None, before | (filled or {})) == (row.take(ref), {name: field.value for name, field in row.fields.items()})
    row.close()
    assert not row.take(ref)
    for each in ("pvc/a", "pv/a", "sc/a", "node/a", "pod/a"):
        assert act_named("label").fields[0].taken_from(each) == each


@pytest.mark.parametrize(("act", "values", "line"), [
    ("taint", {"node": "n1", "taint": "a=b:NoSchedule, c:NoExecute-"}, 'c.taint("n1", "a=b:NoSchedule", "c:NoExecute-")'),
    ("label", {"object": "pod/a", "label": "a=b  c-"}, 'c.label("pod/a", "a=b", "c-", overwrite=True)'),
    ("delay", {"component": "x", "seconds": " 2.50s "}, 'c.delay("x", 2.5)'), ("delay", {"component": "x", "seconds": "3.0"}, 'c.delay("x", 3)'),
    ("rules", {"rules": "design", "component": "kube-scheduler"}, 'c.upgrade("design", "kube-scheduler")'),
    ("gate", {"gate": "kubelet: Some", "to": "on"}, 'c.upgrade({"Some": True}, "kubelet")'),
    ("apply", {"yaml": 'a: "\\"\n"""'}, 'c.apply("a: \\"\\\\\\"\\n\\"\\"\\"")'),
])
def test_what_is_written_becomes_the_call(act, values, line):
    """Several taints or labels, seconds with their unit, a process that is restarted alone; texts of several lines."""
    assert line == str(act_named(act).call(values))


def test_what_is_not_written_is_said():
    """An empty field is no act, and an unknown act lists those that there are."""
    with pytest.raises(ValueError, match=r"^nothing was written in the field$"):
        act_named("taint").call({"node": "n1", "taint": " , "})
    with pytest.raises(UnknownName) as unknown:
        act_named("cordn")
    names = "cordon, uncordon, taint, label, delete, evict, scale, ungate, crash, refuse, delay, stop, start, apply, rules, gate, explore, until"
    assert (f"no act 'cordn'; there are: {names}; did you mean cordon or uncordon?",) == unknown.value.args
    assert ["a b", "branch", "a 3"] == [unused(" a \n b ", []), unused("\t", []), unused("a", ["a", "a 2", "b"])]


def test_the_row_is_put_together_whole():
    """Buttons with what they ask, the history with its lines to copy, and a form that is closed until something is asked."""
    done, what = [], SHOP.__getitem__
    row = ActsRow(what, lambda cmd, **arguments: done.append((cmd, arguments)))
    label, *buttons, opener, note = row.row.children

    assert (("k-acts",), "Or you act", ("k-q-label",), ("k-q-label",)) == (row.row._dom_classes, label.value, label._dom_classes, note._dom_classes)
    assert ([*row.buttons.values()], row.opener, row.note) == (buttons, opener, note)
    assert {("k-act",)} == {button._dom_classes for button in buttons}
    assert [("history", "what was done, as lines of Python", ("k-act", "k-history")), ("", "do it (Enter)", ("k-btn", "k-plain", "k-do")),
            ("cancel", "leave it (Esc)", ("k-btn", "k-plain", "k-cancel")), ("copy", "copy these lines", ("k-btn", "k-plain", "k-copy"))] == [
        (each.description, each.tooltip, each._dom_classes) for each in (opener, row.submit, row.cancel, row.copy)]  # fmt: skip
    assert (("k-form", "k-hidden"), ("k-script", "k-hidden"), ("k-line",)) == (row.form._dom_classes, row.script._dom_classes, row.line._dom_classes)
    assert ((row.text, row.copy), 6, ("k-code",)) == (row.script.children, row.text.rows, row.text._dom_classes)
    row.buttons["refuse"].click()
    assert [("ask", {"name": "refuse"})] == done
    row.ask("refuse")
    component, nth, reason = row.fields.values()
    assert (row.question, component, nth, reason, row.submit, row.cancel, row.line, row.said) == row.form.children
    assert ('<b role="status">Whose next write, and why?</b>', True, "") == (row.question.value, is_shown(row.form), row.said.value)
    assert ("write number", "write number", "initial", False, ("k-field",), "1") == (
        nth.placeholder, nth.description, nth.style.description_width, nth.continuous_update, nth._dom_classes, nth.value)
    assert (("Conflict", "NotFound", "Forbidden", "Invalid", "Timeout"), ("k-field",)) == (tuple(each for each, _ in reason.options), reason._dom_classes)
    nth.value = "two"
    assert "<code></code>" == row.line.value
    nth.value = "2"
    assert "<code>c.refuse(&quot;scheduler&quot;, nth=2, reason=&quot;Conflict&quot;)</code>" == row.line.value
    row.submit.click()
    assert [("user", {"act": "refuse", "component": "scheduler", "nth": "2", "reason": "Conflict"})] == done[1:]
    row.refused(UnknownName("no <such>\nname"))
    assert '<span class="k-refusal" role="alert">no &lt;such&gt;<br>name</span>' == row.said.value
    row.cancel.click()
    row.submit.click()
    assert (None, False, 2) == (row.act, is_shown(row.form), len(done))
    row.ask("cordon")
    row.buttons["taint"].click()
    assert (3, "cordon") == (len(done), row.act.name)
    row.buttons["cordon"].click()
    assert row.act is None
    row.update("a note", ["one", "two"], {"pod", "gated"})
    assert ("a note", "one\ntwo", False) == (note.value, row.text.value, opener.disabled)
    assert {"uncordon", "scale", "start"} == {name for name, button in row.buttons.items() if not is_shown(button)}
    row.update("", [], set())
    assert ("", "", True) == (note.value, row.text.value, opener.disabled)
    opener.click()
    assert is_shown(row.script)
    opener.click()
    assert not is_shown(row.script)


@pytest.mark.parametrize(("count", "kind"), [(0, "Text"), (1, "Dropdown"), (40, "Dropdown"), (41, "Combobox")])
def test_of_many_choices_a_field_completes(count, kind):
    """It lists up to forty, completes more, and is written where there is none; what is selected stands in it."""
    names = [(f"n{number}", f"n{number}") for number in range(count)]
    row = ActsRow({"node": names}.__getitem__, lambda *_a, **_m: None)
    row.ask("cordon", "node/n0")
    field = row.fields["node"]

    assert (kind, "n0") == (type(field).__name__, field.value)
    assert [each for each, _ in names] == [option[0] if isinstance(option, tuple) else option for option in getattr(field, "options", ())]
    if kind != "Dropdown":
        assert ("node", False) == (field.placeholder, field.continuous_update)
    row.ask("cordon", "node/elsewhere")
    assert ("n0" if count else "elsewhere") == row.fields["node"].value


def test_a_long_line_is_cut_in_the_form():
    """Of a manifest the form shows the first 110 characters; shorter lines stand whole."""
    row = ActsRow(SHOP.__getitem__, lambda *_a, **_m: None)
    row.ask("apply")
    assert ("Textarea", 6, ("k-code",)) == (type(row.fields["yaml"]).__name__, row.fields["yaml"].rows, row.fields["yaml"]._dom_classes)
    for length, whole in ((119, True), (120, False)):
        row.fields["yaml"].value = "x" * (length - len('c.apply("")'))
        line = f'c.apply("{row.fields["yaml"].value}")'
        assert row.line.value == f"<code>{html.escape(line if whole else line[:110] + '…')}</code>"


@pytest.mark.parametrize(("error", "words"), [
    (KeyError("no <x>"), "no &lt;x&gt;"), (IndexError("step 9"), "step 9"), (ValueError("wrong\ntwice"), "wrong<br>twice"), (UnknownName("no pod/a"), "no pod/a"),
])
def test_whatever_an_act_raises_is_shown_in_its_form(error, words):
    """In its own words, without quotes."""
    def do(*_a, **_m):
        raise error

    row = ActsRow(SHOP.__getitem__, do)
    row.ask("cordon")
    row.submit.click()
    assert f'<span class="k-refusal" role="alert">{words}</span>' == row.said.value
