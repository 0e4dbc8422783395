"""The list of kinds: what is modelled, of which no answers are recorded, what is not; README and page have the same."""

import re

import pytest
import store_kinds
from click.testing import CliRunner

from kvolsched.api.kinds.kind import KINDS
from kvolsched.api.text.kind_list import NOT_MODELLED, READ_AS_WRITTEN, RECORDED, kind_table, parts
from kvolsched.cli import main


def test_page_and_readme_say_what_the_list_says():
    """Both are made of it: `python tests/store_kinds.py` stores them."""
    assert store_kinds.PAGE.read_text("utf-8") == store_kinds.page()
    text = store_kinds.README.read_text("utf-8")
    assert text == store_kinds.readme(text)
    assert store_kinds.sentence() in " ".join(text.split())


def test_the_command_lists_every_kind_and_what_is_not_there():
    """`kvolsched kinds` has a line for each kind, with what to know of its answers, and one for what is not modelled."""
    done = CliRunner().invoke(main, ["kinds"])
    lines = done.output.splitlines()
    assert 0 == done.exit_code
    for kind in KINDS:
        (line,) = [line for line in lines if line.split()[0] == kind.name]
        assert line.endswith(kind.note or RECORDED)
    assert [f"  {what}: {why}" for what, why in NOT_MODELLED.items()] == lines[lines.index("not modelled:") + 1 :]
    assert {name for what in NOT_MODELLED for name in what.split(", ")}.isdisjoint(kind.name for kind in KINDS)


def test_a_kind_that_is_not_modelled_is_an_error():
    """An unknown kind is refused with those that there are."""
    done = CliRunner().invoke(main, ["kinds", "cronjob"])
    assert (2, True) == (done.exit_code, "unknown kind 'cronjob'; known: namespaces" in done.output)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_part_of_a_kind_stands_once(kind):
    """Each part has fields that are read, none that is both read and kept, and stands there once; metadata is read."""
    found = parts(kind)
    assert len({part.path for part in found}) == len(found)
    for part in found:
        assert part.read
        assert set(part.read).isdisjoint(part.kept)
    assert {"metadata"} <= set(found[0].read)


def test_what_a_rule_reads_is_not_called_kept():
    """Each field that has no value of its own, and that a rule reads as it is written, is declared as read."""
    rooms = [path for room in ("api", "controllers", "scheduler") for path in (store_kinds.ROOT / "kvolsched" / room).rglob("*.py")]
    texts = [path.read_text("utf-8") for path in rooms if not {"validation", "text", "unmodelled_defaults.py"} & set(path.parts)]
    found = re.findall(r'\brest(?:\.get\(|\[)"(\w+)"|"(\w+)" (?:not )?in [\w.]*\brest\b', "\n".join(texts))
    told = {"generation", "resourceClaims", "backoffLimitPerIndex", "podFailurePolicy"}  # the server's own; said elsewhere
    declared = {field for fields in READ_AS_WRITTEN.values() for field in fields.split()}

    assert {first or second for first, second in found} - told <= declared
    pod = {part.path: part for part in parts(kind_table("pod").kinds[0])}
    assert {"hostNetwork", "os", "resources", "runtimeClassName", "activeDeadlineSeconds"} <= set(pod["spec"].read)


def test_fields_stand_where_they_are_in_a_manifest():
    """Lists have brackets, parts their paths: a pod's host port is read, its probes are kept."""
    pod = {part.path: part for part in parts(kind_table("pod").kinds[0])}
    assert "hostPort" in pod["spec.containers[].ports[]"].read
    assert "livenessProbe" in pod["spec.containers[]"].kept
    assert "  spec.tolerations[]: read effect, key, operator, tolerationSeconds, value" in repr(kind_table("po"))
