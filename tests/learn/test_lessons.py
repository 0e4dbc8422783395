"""The form of the lessons: what each of them has, counted."""

import re
from pathlib import Path

import lesson_bets
import lesson_form
import nbformat
import pytest
import store_words
from nbformat import v4

from kvolsched.api.sealed_output import seal

ROOT = Path(__file__).parent.parent.parent
LESSONS = [*sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")), ROOT / "docs" / "lesson-template.ipynb"]  # that of docs/teaching.md
FOLDED = {"jupyter": {"outputs_hidden": True}, "tags": ["hide-output"]}
SOLUTION = {"jupyter": {"source_hidden": True, "outputs_hidden": True}, "tags": ["hide-input", "hide-output"]}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_is_in_the_form(path):
    """Every lesson has a question, folded answers, a panel early, a control, exercises with solutions, today's box."""
    assert lesson_form.faults(path) == []


def test_the_contents_say_how_long_each_lesson_takes():
    """The minutes are those that are counted, give or take two, of words, questions, exercises and cells."""
    contents = (ROOT / "notebooks" / "contents.md").read_text("utf-8")
    stated = {name: int(minutes) for name, minutes in re.findall(r"\((\d\d-\S*)\.ipynb\) \|.*\| (\d+) \|[^|]*\|\n", contents)}
    counted = {path.stem: lesson_form.minutes(nbformat.read(path, as_version=4).cells) for path in LESSONS[:-1]}

    assert sorted(stated) == sorted(counted)
    assert [name for name, minutes in counted.items() if abs(minutes - stated[name]) > 2] == []


def test_the_glossary_has_the_words_that_the_lessons_explain():
    """Each word in italics at its first use stands in the glossary, as the lesson says it."""
    words = store_words.words()

    assert {"pass", "claim", "class", "volume", "domain", "skew", "verdict", "plugin", "assume", "gate", "segment", "turn"} <= set(words)
    assert (ROOT / "docs" / "glossary.md").read_text("utf-8").endswith(store_words.part())


def code(source, text="", **metadata):
    """Make a code cell that printed a text."""
    shown = [v4.new_output("stream", text=text)] if text else []
    folded = [v4.new_output("display_data")] if "hide-output" in metadata.get("tags", ()) else []
    return v4.new_code_cell(source, outputs=folded + shown, metadata=metadata)


def lesson():
    """Make the smallest lesson that is in the form."""
    asks = [cell for _ in range(3) for cell in (v4.new_markdown_cell("**Predict** it."), code("assert c", "x", **FOLDED))]
    tries = [cell for _ in range(2) for cell in (code("with attempt(1):", "not yet: x"), code("with attempt(1):", "solved", **SOLUTION))]
    return [v4.new_markdown_cell("# Who?"), code("import kvolsched"), code("c.lab()"), code("c.predict()"), *asks,
            code("c.fork()\nassert 1"), code("c.whatif()\nassert 1"), *tries,
            v4.new_markdown_cell("## What Kubernetes does today"),
            v4.new_markdown_cell("## Where next\n[a](https://a.example) [b](https://b.example)")]


def written(cells, folder):
    """Write cells as a notebook and return its path."""
    path = folder / "a.ipynb"
    nbformat.write(v4.new_notebook(cells=cells), path)
    return path


def test_the_smallest_lesson_is_in_the_form(tmp_path):
    """The rules can be met."""
    assert lesson_form.faults(written(lesson(), tmp_path)) == []


def changed(place, source=None, **metadata):
    """Return a change of one cell."""
    def change(cells):
        cells[place] = code(source or cells[place].source, lesson_form.printed(cells[place]), **metadata)
    return change


@pytest.mark.parametrize(("change", "words"), [
    (lambda cells: cells.insert(1, v4.new_raw_cell("x" * 1_000_001)), "bytes"),
    (lambda cells: cells.__setitem__(slice(4, 4), [code("1") for _ in range(30)]), "cells: at most 40"),
    (lambda cells: cells.__setitem__(0, v4.new_markdown_cell("# Who")), "no title with a question"),
    (lambda cells: cells.pop(-2), "no box"),
    (lambda cells: cells.insert(10, cells.pop(2)), "the panel is cell"),
    (lambda cells: cells.pop(3), "c.predict"),
    (changed(5), "unfolded"),
    (lambda cells: cells[5].outputs.pop(0), "shows its first line"),
    (changed(11, "1\nassert 1"), "controls"),
    (changed(10, "1\nassert 1"), "forks"),
    (changed(10, "c.fork()"), "asserts"),
    (changed(1, "import kvolsched.world.log"), "no internal module"),
    (changed(1, tags=["raises-exception"]), "a traceback"),
    (lambda cells: cells.pop(13), "exercises with"),
    (lambda cells: cells[13].outputs.clear(), 'does not store "solved"'),
    (lambda cells: cells[12].outputs.clear(), 'does not store "not yet"'),
    (lambda cells: cells.insert(1, v4.new_markdown_cell("word " * 91)), "91 words"),
    (lambda cells: cells.insert(1, v4.new_markdown_cell("It works!")), "'!'"),
    (lambda cells: cells.insert(1, v4.new_markdown_cell("[a](gone.md)")), "leads nowhere"),
    (lambda cells: cells.pop(), "Where next"),
])
def test_each_fault_of_form_is_seen(tmp_path, change, words):
    """Each rule can fail."""
    cells = lesson()
    change(cells)

    assert any(words in fault for fault in lesson_form.faults(written(cells, tmp_path)))


def redone():
    """Make the smallest lesson of the shorter form."""
    bets = [cell for _ in range(4) for cell in (code("kvolsched.ask()"), code("%%after first", "x"))]
    (first, second) = ([code("with attempt(1):", "not yet: x"), code("with attempt(1):", "solved", **SOLUTION)] for _ in range(2))
    return [v4.new_markdown_cell("# Who?"), code("c.fork().lab()"), *bets, *first, v4.new_markdown_cell("*Enough for a class.*"), *second,
            v4.new_markdown_cell("## What the documents said"),
            v4.new_markdown_cell("## Where next\n[a](https://a.example) [b](https://b.example)"), code("kvolsched.page()")]


@pytest.mark.parametrize(("change", "words"), [
    (lambda _cells: None, None),
    (lambda cells: cells.insert(2, v4.new_raw_cell("x" * 600_001)), "bytes"),
    (lambda cells: cells.__setitem__(slice(2, 2), [code("1") for _ in range(20)]), "cells: at most 30"),
    (lambda cells: cells[0].update(source="# Who?\n" + "word " * 41), "the first cell has 41 words"),
    (lambda cells: cells.insert(1, v4.new_markdown_cell("Words.")), "no play"),
    (lambda cells: cells.__delitem__(slice(2, 4)), "3 bets"),
    (lambda cells: cells.__setitem__(slice(2, 2), [code("kvolsched.ask()") for _ in range(3)]), "7 bets"),
    (lambda cells: cells.insert(2, cells.pop(12)), "Enough for a class"),
    (lambda cells: cells.pop(-3), "What the documents said"),
    (lambda cells: cells[1].update(source="c.lab()"), "way back"),
    (lambda cells: cells.pop(), "no page"),
])
def test_a_redone_lesson_begins_with_play_and_ends_with_a_page(tmp_path, monkeypatch, change, words):
    """Each rule of the shorter form can be met, and can fail."""
    monkeypatch.setattr(lesson_form, "REDONE", {"a"})
    cells = redone()
    change(cells)
    found = lesson_form.faults(written(cells, tmp_path))

    assert found == [] if words is None else any(words in fault for fault in found)


@pytest.mark.parametrize("path", LESSONS[:-1], ids=lambda path: path.stem)
def test_a_lesson_asks_before_it_tells(path):
    """No prediction stands in prose, and nothing that was right stands open before its question is answered."""
    assert lesson_bets.faults(path) == []


def bets():
    """Make the smallest lesson that asks: a question, and its answer sealed."""
    asked = v4.new_output("execute_result", {"text/plain": "Which?\n  1  node-b  4 cpu\n  2  node-a  2 cpu\n  3  none"})
    held = v4.new_output("display_data", seal([{"text/plain": "node-a and node-b, or none"}], "node-a"))
    return [v4.new_markdown_cell("A pod waits for node-a, node-b, or none."),
            v4.new_code_cell("bet = kvolsched.ask('Which?', 'node-b', 'node-a', 'none')\nbet", outputs=[asked]),
            v4.new_markdown_cell("<details><summary>After your answer</summary>It is node-a.</details>"),
            v4.new_code_cell("%%after bet\nbet.was(c.node)", outputs=[held])]


def test_the_smallest_lesson_that_asks_is_no_fault(tmp_path):
    """A fold may tell, and all choices may be named."""
    assert lesson_bets.faults(written(bets(), tmp_path)) == []


@pytest.mark.parametrize(("change", "words"), [
    (lambda cells: cells.insert(0, v4.new_markdown_cell("**Predict:** which?")), "predicts in prose"),
    (lambda cells: cells.insert(2, v4.new_markdown_cell("It runs on node-a.")), "has 'node-a'"),
    (lambda cells: cells.insert(0, v4.new_markdown_cell("It runs on node-a.")), "has 'node-a'"),
    (lambda cells: cells.insert(2, code("c.run()", "on node-a")), "has 'node-a'"),
    (lambda cells: cells[2].update(source="<details><summary>Solution</summary>x</details>"), "a fold 'Solution'"),
    (lambda cells: cells[3].update(outputs=[]), "is stored open"),
    (lambda cells: cells[3].update(outputs=[v4.new_output("display_data", seal([]))]), "does not say what was right"),
    (lambda cells: cells[3].update(outputs=[v4.new_output("display_data", seal([{"text/plain": "node-b node-a none"}], "none"))]),
     "in the order"),
    (lambda cells: cells.pop(1), "which no cell asks"),
    (lambda cells: cells.pop(3), "no cell is after it"),
])
def test_each_way_to_spoil_is_seen(tmp_path, change, words):
    """Each rule of asking can fail."""
    cells = bets()
    change(cells)

    assert any(words in fault for fault in lesson_bets.faults(written(cells, tmp_path)))
