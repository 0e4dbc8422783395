"""The list of dials: every option that can be set, with what it is, as declarations have it; the page has the same."""

import attrs
import pytest
import store_dials

import kvolsched
from kvolsched.api.dials import dials_of
from kvolsched.rules.named import REVISIONS, revision_named


def test_the_page_is_what_the_declarations_say():
    """docs/dials.md is made of the declarations: `python tests/store_dials.py` stores it."""
    assert store_dials.PAGE.read_text("utf-8") == store_dials.page()


def test_every_dial_of_every_component_is_listed():
    """Each option that any set of rules can have set is in the list, and says what it is without a full stop."""
    rows = kvolsched.dials()
    listed = {(row.component, row.name.partition(",")[0]) for row in rows}
    named = {name.partition(",")[0] for _, name in listed}
    for name in REVISIONS:
        for options in revision_named(name).options.values():
            assert {*dials_of(type(options))} <= named
    assert len(listed) == len(rows) > 70
    assert [] == [row for row in rows if not row.stands_for or row.stands_for.endswith(".") or not row.values]
    assert [] == [row.serves for row in rows if row.serves and not row.serves.startswith(("S0, ", "S1, ", "S2, ", "S3, ", "S4, "))]


@pytest.mark.parametrize(("asked", "component"), [
    ("driver", "driver"), ("pd.csi", "driver"), ("kubernetes.io/gce-pd", "driver"), ("scheduler", "scheduler"), ("kube-scheduler", "scheduler"), ("PV controller", "PV controller"),
    ("persistent-volume-binder", "PV controller"), ("kubelet", "kubelet"), ("every component", "every component")])
def test_a_component_is_found_by_both_its_names(asked, component):
    """The name that people see and that of Kubernetes; a driver stands for all."""
    assert {component} == {row.component for row in kvolsched.dials(asked)}


def test_a_default_names_the_rules_that_have_it():
    """Where releases differ, each default stands with their names; a value is printed as YAML would have it."""
    defaults = {row.name: row.default for row in kvolsched.dials("driver")}
    assert "objects (upstream); central (design, draft)" == defaults["publishing.form"]
    assert ("0.3", "false", '""') == (defaults["delay"], defaults["strict_topology"], defaults["publishing.prefix"])
    assert "null (design, draft)" == {row.name: row.default for row in kvolsched.dials("scheduler")}["resync"]


def test_a_printed_dial_says_all():
    """Name, default, values, what it is and the sentence that it serves; several components are named only."""
    lines = repr(kvolsched.dials("driver")).splitlines()
    place = lines.index("delay = 0.3  (a number of seconds from 0)")
    assert ["    from the start of an attempt to the volume in the API, and from release to deletion",
            "    S0, Delayed Volume Binding: provisioning can take a long time"] == lines[place + 1 : place + 3]
    assert "kubelet: start_delay, stop_delay, admits" in repr(kvolsched.dials())
    with pytest.raises(KeyError, match=r"no component 'kublet' with dials; .*did you mean kubelet\?"):
        kvolsched.dials("kublet")
    assert attrs.asdict(kvolsched.dials("kubelet").rows[0])["name"] == "start_delay"
    assert kvolsched.dials("kubelet/node-a") == kvolsched.dials("kubelet")
