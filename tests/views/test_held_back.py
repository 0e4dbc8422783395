"""Cells that are held back, in a shell that only notes: what is shown of them, where, and when."""

import sys
from types import SimpleNamespace

import pytest

import kvolsched
from kvolsched.api.sealed_output import WIDGET, seal
from kvolsched.views.panel import held_back


class Publisher:
    """What a shell shows: (data, metadata, the id of the place, whether it takes the place of what is there)."""

    def __init__(self):
        self.shown = []
        self.title = "of the shell"

    def publish(self, data, metadata=None, transient=None, update=False):  # noqa: FBT002 - IPython's
        """Note an output."""
        self.shown.append((data, metadata, (transient or {}).get("display_id", ""), update))


class Shell:
    """A shell with what the magic asks of it. Mutable: cells run in `user_ns`."""

    def __init__(self):
        self.display_pub, self.magics, self.user_ns, self.execution_count = Publisher(), {}, {}, 7
        self.compile, self.compiled = SimpleNamespace(cache=self._cache), []
        self.display_formatter = SimpleNamespace(format=self._format)
        self.kernel = SimpleNamespace(comm_manager=SimpleNamespace(comms={"open": 1}))
        self.user_ns["shell"] = self
        held_back.add_to(self)

    def register_magic_function(self, function, kind, name):
        """Note a magic."""
        self.magics[kind, name] = function

    def transform_cell(self, cell):
        """Translate a cell, as IPython does its magics."""
        return cell.replace("%nine", "9")

    def _cache(self, source, number, raw_code):
        self.compiled.append((source, number, raw_code))
        return "<cell>"

    def _format(self, value):
        return ({}, {}) if value == "nothing" else ({"text/plain": repr(value)}, {"of": str(value)})

    def run(self, line, cell):
        """Run a cell under the magic."""
        self.magics["cell", "after"](line, cell)


@pytest.fixture
def shell():
    """Return a shell with a question that nobody has answered."""
    made = Shell()
    made.user_ns["asked"] = kvolsched.ask("Held back?", "yes", "no")
    return made


def published(text, **metadata):
    """Return a displayed text."""
    return {"text/plain": text}, metadata


CELL = """print("a", end="")
print("b")
shell.display_pub.publish({"text/plain": "drawn"}, {"wide": True}, transient={})
import sys
print("c", file=sys.stderr)
later = 6 * 7
later"""
OUTPUTS = [published("ab\n"), published("drawn", wide=True), published("c\n"), published("42", of="42")]


@pytest.mark.parametrize("of", ["asked", " asked ", "bet"])
def test_a_cell_is_sealed_until_the_answer(shell, of):
    """At once its variables are there; its outputs stand sealed in the first place, and each in its own after the answer."""
    asked = shell.user_ns["asked"]
    shell.user_ns["bet"] = asked.prediction
    asked.was("no")
    shell.run(of, CELL)
    stored = list(shell.display_pub.shown)
    places = [place for *_, place, _ in stored]

    assert 42 == shell.user_ns["later"]
    assert [(seal([data for data, _ in OUTPUTS], "no"), {}), ({}, {}), ({}, {}), ({}, {})] == [each[:2] for each in stored]
    assert (4, {False}) == (len(set(places) - {""}), {update for *_, update in stored})
    asked.answer("yes")
    assert [(*output, place, True) for output, place in zip(OUTPUTS, places, strict=True)] == shell.display_pub.shown[4:]
    asked.reveal()
    assert 8 == len(shell.display_pub.shown)


def test_after_the_answer_a_cell_shows_what_it_shows(shell):
    """Nothing is sealed; the outputs come in their order."""
    shell.user_ns["asked"].answer("no")
    shell.run("asked", CELL)

    assert [(*output, "", False) for output in OUTPUTS] == shell.display_pub.shown


def test_a_cell_that_shows_nothing_leaves_no_lock(shell):
    """Neither sealed nor open is there anything; an answer shows nothing, either."""
    publisher = shell.display_pub
    shell.run("asked", "later = 1")
    shell.user_ns["asked"].answer("no")

    assert ([], 1, publisher) == (publisher.shown, shell.user_ns["later"], shell.display_pub)


def test_an_error_is_never_held_back(shell):
    """What the cell showed before it is shown as well, and the shell shows what comes after it."""
    publisher, out = shell.display_pub, sys.stdout
    with pytest.raises(ZeroDivisionError):
        shell.run("asked", "print(1)\n1 / 0")
    shell.user_ns["asked"].answer("no")

    assert ([(*published("1\n"), "", False)], publisher, out) == (publisher.shown, shell.display_pub, sys.stdout)


def test_a_widget_that_was_closed_is_left_out(shell):
    """A bar of progress that is gone takes no place; one that is open does."""
    shell.user_ns["views"] = [{WIDGET: {"model_id": each}, "text/plain": each} for each in ("gone", "open")]
    shell.user_ns["asked"].answer("no")
    shell.run("asked", "for each in views: shell.display_pub.publish(each)")

    assert [(shell.user_ns["views"][1], {}, "", False)] == shell.display_pub.shown


@pytest.mark.parametrize(("cell", "values"), [
    ("1\n2", ["2"]), ("2;", []), ("2;  \n", []), ("later = 2", []), ("None", []), ("'nothing'", []), ("", []), ("# 1", []),
    ("%nine", ["9"]), ("for each in (1, 2): each", []), ("0", ["0"]), ("def f():\n    return 3\n\nf()", ["3"]),
])
def test_the_last_expression_is_displayed(shell, cell, values):
    """As IPython does it: not one with a semicolon, no None, and nothing that has no form; errors show the cell's lines."""
    shell.user_ns["asked"].answer("no")
    shell.run("asked", cell)

    assert [({"text/plain": value}, {"of": value}, "", False) for value in values] == shell.display_pub.shown
    assert [(cell.replace("%nine", "9"), 7, cell)] == shell.compiled


@pytest.mark.parametrize(("line", "name"), [("", "nothing"), ("late", "late"), ("shell", "shell"), (" late ", "late")])
def test_only_a_question_can_be_waited_for(shell, line, name):
    """Any other name is refused with how a question is made, and the cell does not run."""
    with pytest.raises(TypeError) as refused:
        shell.run(line, "later = 1")

    assert (f'%%after {line}: {name} is no question; make one in a cell before: asked = kvolsched.ask("...", "yes", "no")',
            False) == (str(refused.value), "later" in shell.user_ns)  # fmt: skip


def test_outputs_are_kept_in_their_order():
    """Texts that follow each other are one output, an empty one is none; what is cleared is forgotten."""
    publisher = Publisher()
    held = held_back.Held(publisher)
    lengths = [held.write(text) for text in ("", "one", "", " two")]
    held.publish({"text/plain": "x"})
    lengths += [held.write(text) for text in ("", "three")]
    kept = [published("one two"), published("x"), published("three")]

    assert ([0, 3, 0, 4, 0, 5], kept) == (lengths, held.outputs)
    held.clear_output(wait=True)
    assert [] == held.outputs
    held.write("four")
    held.clear_output()
    held.write("five")
    assert ([published("five")], "of the shell", []) == (held.outputs, held.title, publisher.shown)


@pytest.mark.parametrize(("loaded", "running", "has"), [(True, True, True), (True, False, False), (False, True, False)])
def test_the_magic_is_offered_where_there_is_a_shell(monkeypatch, loaded, running, has):
    """A script without IPython, or IPython without a shell, has none."""
    shell = Shell()
    shell.magics.clear()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell if running else None) if loaded else None)
    held_back.offer_after()

    assert has == (("cell", "after") in shell.magics)
