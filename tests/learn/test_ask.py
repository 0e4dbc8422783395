"""A lesson's question, and cells whose output is held back until it is answered, in a real kernel."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbformat import v4

import kvolsched
from kvolsched.api import sealed_output
from kvolsched.api.sealed_output import MIME, outputs_of, seal, unseal
from kvolsched.questions.predict.bet import Bet, _means
from kvolsched.views.panel import held_back


@pytest.mark.parametrize(("choices", "value", "right"), [
    (("none", "1 to 9", "10 to 12"), 4, "1 to 9"),
    (("none", "1 to 9", "10 to 12"), 10, "10 to 12"),
    (("4 of 12", "12 of 12"), 12, "12 of 12"),
    (("none", "1 to 9"), 0, "none"),
    (("fewer than 3", "3 to 5", "more than 5"), 2, "fewer than 3"),
    (("fewer than 3", "3 to 5", "more than 5"), 6, "more than 5"),
    (("yes, at once", "no, never"), True, "yes, at once"),
    (("yes, at once", "no, never"), False, "no, never"),
    (("on node-a", "on node-a-small"), "node-a", "on node-a"),
    (("on node-a", "on node-a-small"), "node-a-small", "on node-a-small"),
])
def test_the_choice_that_names_the_value_is_right(choices, value, right):
    """A choice is right by a value of the run: the same word, a name in it, a range."""
    asked = kvolsched.ask("What?", *choices)
    asked.answer(right)
    asked.was(value)

    assert asked.is_right
    assert asked.outcome.happened == right


@pytest.mark.parametrize(("choice", "meant", "others"), [
    ("1 to 9", (1, 9, 4.5), (0, 10, 0.9, 9.1)), ("-3 to -1", (-3, -1), (-4, 0, 3)), ("0.5 to 1.5 of it", (0.5, 1.5), (0.4, 1.6)),
    ("more than 5", (6, 5.1), (5, 4)), ("fewer than 3", (2, -1), (3, 4)), ("less than 3 pods", (2.9,), (3,)),
    ("None of 4", (0, 4), (1,)), ("no pod", ("no", "pod"), (0, "none", "")), ("12 of 12", (12,), (1, 2)), ("-2", (-2,), (2,)),
    ("Yes, at once", (True,), (False,)), ("no: never", (False,), (True,)), ("nothing", (), (False, True, 0)),
    ("on node-a", ("node-a", "NODE-A", " on "), ("node", "a", "node-")), ("node-a.b (c)", ("node-a.b", "c"), ("node-aXb",)),
])  # fmt: skip
def test_a_choice_means_a_value(choice, meant, others):
    """Both ends of a range belong to it, a bound does not; words are whole words, whatever their case, and dots are dots."""
    assert ([], []) == ([value for value in meant if not _means(choice, value)], [value for value in others if _means(choice, value)])


@pytest.mark.parametrize(("said", "right"), [(5, True), (9.0, True), (7, True), (4.9, False), (9.1, False)])
def test_a_number_is_right_as_far_from_the_value_as_the_bet_says(said, right):
    """The answer is marked with the value told beside it; the count of first answers takes the later word."""
    asked = Bet(f"How many, {said}?", (), within=2)
    before = repr(asked)
    asked.answer(said)
    asked.was(7)

    assert before.splitlines() == [f"How many, {said}?", "  2 more or less is right, too", "not answered yet: .answer(name), then .reveal()"]
    assert [f"you: {said:g} {'✓' if right else '✕'}", "it happened: 7. It was 7."] == repr(asked).splitlines()[-2:]
    assert (right, "7", [f"{said:g}"]) == (asked.is_right, asked.right, [each.name for each in asked.candidates])
    assert [right] == asked._tries


@pytest.mark.parametrize("choices", [("one",), ("a", "b", "a")])
def test_a_bet_wants_choices_that_differ(choices):
    """One choice alone, and two that are equal, are no question."""
    with pytest.raises(ValueError, match="wants two or more choices that differ, or number=True; got "):
        kvolsched.ask("Which?", *choices)


@pytest.mark.parametrize("value", [7, "c", True])
def test_a_value_that_no_choice_names_is_refused(value):
    """Whoever writes a lesson sees that the choices do not cover what happened."""
    with pytest.raises(ValueError, match="must be one of the choices"):
        kvolsched.ask("Which?", "a", "b").was(value)


def test_a_number_is_the_choice_of_that_name_before_the_choice_at_that_place():
    """Where choices are numbers themselves, 1 means the choice "1", and where none is so called the first one."""
    assert kvolsched.ask("How many?", "0", "none", "1", "2").answer(1).answers == ("1",)
    assert kvolsched.ask("How many?", "none", "all").answer(1).answers == ("none",)


def test_nothing_is_told_before_an_answer():
    """To ask for the answer first is an error; to give up shows it, and counts as not answered."""
    asked = kvolsched.ask("Told too early?", "yes", "no")
    asked.was(True)
    assert "★" not in repr(asked)
    with pytest.raises(kvolsched.NotAnswered, match="Answer first"):
        asked.reveal()
    assert asked.outcome is None

    asked.give_up()
    assert "1  yes  ★" in repr(asked)
    assert asked.happen.description == "I cannot say: show me"
    assert asked.grade().first == kvolsched.grade().first


def test_the_first_answer_counts_and_waits_for_the_run():
    """An answer before the run is judged when a value is told; a second one changes nothing."""
    before = kvolsched.grade()
    asked = kvolsched.ask("How many, counted once?", number=True, within=1)
    asked.answer(5).answer(4)
    assert (asked.answers, asked.is_right, asked.outcome) == (("5",), False, None)

    asked.was(4)
    assert asked.is_right
    assert "It was 4." in repr(asked)
    assert kvolsched.grade().first == before.first + 1


@pytest.mark.parametrize(("answer", "right"), [(2, True), (2.5, True), (3, True), (3.1, False), (1.9, False)])
def test_a_number_near_the_value_is_right_whoever_comes_first(answer, right):
    """How near counts is said beside the question, and counts as well where the cell that tells the value ran before."""
    asked = kvolsched.ask("How many on average?", number=True, within=0.5)
    assert "0.5 more or less is right, too" in repr(asked)
    asked.was(2.5)
    asked.answer(answer)

    assert asked.is_right == right
    assert ("✓" in repr(asked)) == right


@pytest.mark.parametrize(("asked", "there"), [(("none", "1 to 9"), "none, 1 to 9"), ((), "numbers")])
def test_a_bet_that_nobody_has_made_is_refused(asked, there):
    """None is neither the choice "none" nor a number: one sentence says so, and the question stays open."""
    bet = kvolsched.ask("How many?", *asked, number=not asked)
    with pytest.raises(ValueError, match=f"^None is no answer; there are: {there}$"):
        bet.answer(None)

    assert bet.answers == ()


@pytest.mark.parametrize("given", [{}, {"choices": ("a",)}, {"choices": ("a", "a")}, {"choices": ("a", "b"), "number": True}])
def test_what_is_no_question_is_refused(given):
    """A question has two choices that differ, or asks for a number."""
    with pytest.raises(ValueError, match="What"):
        kvolsched.ask("What?", *given.get("choices", ()), number=given.get("number", False))


def test_a_prediction_is_the_same_kind_of_question():
    """`c.predict` refuses to tell before an answer, too, and opens cells; it needs nobody to say what was right."""
    asked = kvolsched.scenario("zonal-example").predict("Which node?", pod="my-pod")
    opened = []
    asked.prediction.when_open(lambda: opened.append(True))

    assert type(asked) is type(kvolsched.ask("Which?", "a", "b"))
    with pytest.raises(kvolsched.NotAnswered):
        asked.reveal()
    with pytest.raises(TypeError, match="by itself"):
        asked.was("node-a")
    assert not opened
    asked.answer("node-b").answer("node-a")
    assert opened == [True]


def test_a_seal_is_lossless_stable_and_unreadable():
    """Equal outputs have equal seals; a widget's random name is no part of it; the text is nowhere."""
    outputs = [{"text/plain": "runs on node-a", sealed_output.WIDGET: {"model_id": "1"}}, {sealed_output.WIDGET: {}}]
    other = [{sealed_output.WIDGET: {"model_id": "2"}, "text/plain": "runs on node-a"}]

    assert seal(outputs) == seal(other)
    assert outputs_of(seal(outputs)) == [{"text/plain": "runs on node-a"}]
    assert "node-a" not in json.dumps(seal(outputs))
    assert all(char < "\u2000" for char in seal(outputs)["text/html"])  # no emoji, which not every machine has
    assert outputs_of({"text/plain": "a"}) == []


CELLS = {
    "load": "import kvolsched",
    "ask": 'bet = kvolsched.ask("How many?", "none", "1 to 9")\nbet',
    "held": '%%after bet\nprint("the figure is", 4)\nbet.was(4)\n"as a value"',
    "later": 'bet.prediction.is_known, "for later cells"',
    "quiet": "%%after bet\nkept = 5\nkept;",
    "closed": '%%after bet\nfrom ipywidgets import HTML, IntProgress\nbar = IntProgress()\ndisplay(bar)\nbar.close()\nHTML("stays")',
    "error": "%%after bet\nprint('before it')\nraise KeyError('a mistake')",
    "none": "%%after nothing\n1",
    "other": 'other = kvolsched.ask("Which?", "a", "b")',
    "held too": '%%after other\nprint("first")\nother.was("a")\n"second"',
    "answer": "other.answer(2);",
    "open": "%%after other\nprint('open', kept)",
}


@pytest.fixture(scope="module")
def made():
    """A notebook of these cells, run in a kernel."""
    cells = [v4.new_code_cell(source) for source in CELLS.values()]
    made = v4.new_notebook(cells=cells)
    NotebookClient(made, kernel_name="python3", timeout=60, allow_errors=True).execute()
    return made


@pytest.fixture(scope="module")
def shown(made):
    """What each cell shows, by its name."""
    return {name: cell.outputs for name, cell in zip(CELLS, made.cells, strict=True)}


def test_a_cell_runs_and_what_it_shows_is_stored_sealed(shown):
    """Its variables are there for later cells; a lock, and nothing that tells, is in its outputs."""
    (lock, *rest) = shown["held"]

    assert MIME in lock.data
    assert "sealed" in lock.data["text/plain"]
    assert "figure" not in json.dumps([lock, *rest])
    assert [place.data for place in rest] == [{}]  # nothing is seen there until it is answered
    assert [each["text/plain"] for each in outputs_of(lock.data)] == ["the figure is 4\n", "'as a value'"]
    assert "for later cells" in shown["later"][0].data["text/plain"]
    assert shown["quiet"] == []


def test_a_widget_that_is_closed_is_not_held(shown):
    """A bar of progress goes when its work is done; to show it later would be an error in the page."""
    (lock, *_) = shown["closed"]

    assert [each["text/plain"] for each in outputs_of(lock.data)] == ["HTML(value='stays')"]


def test_an_error_is_never_held_back(shown):
    """What was shown before it, and its traceback, stand open; so does the use of what is no question."""
    assert [output.output_type for output in shown["error"]] == ["display_data", "error"]
    assert shown["error"][1].ename == "KeyError"
    assert "is no question" in shown["none"][0].evalue


def test_the_first_answer_puts_the_output_into_its_place(shown):
    """What was held stands open where it was held, in its order; a cell that runs after the answer is never sealed."""
    assert [output.data["text/plain"] for output in shown["held too"]] == ["first\n", "'second'"]
    assert MIME not in shown["held too"][0].data
    assert shown["open"][0].data["text/plain"] == "open 5\n"


class Page:
    """A page as a shell publishes to it: what is published anew under a place's name stands in that place."""

    def __init__(self):
        self.places = {}

    def publish(self, data, _metadata, *, transient, update=False):
        """Show something, in its place if it has one."""
        place = transient["display_id"]
        assert update == (place in self.places)
        self.places[place] = data


def test_what_was_held_takes_the_place_of_its_lock():
    """An answer adds nothing to the page: the lock, and each empty place below it, becomes what was held there."""
    shell, asked = InteractiveShell(), kvolsched.ask("Which, at its place?", "a", "b")
    shell.display_pub = page = Page()
    held_back.hold_back(shell, asked.prediction, 'print("first")\n"second"')
    shell.history_manager.end_session()
    assert [True, False] == [MIME in data for data in page.places.values()]
    asked.answer("a")

    assert ["first\n", "'second'"] == [data["text/plain"] for data in page.places.values()]


def test_a_book_has_a_closed_fold_in_the_place_of_a_seal(made):
    """A page without a kernel shows the outputs when its reader opens the fold."""
    plain = json.loads(json.dumps(made))
    assert unseal(plain) == 2
    folded = plain["cells"][2]["outputs"][0]["data"]["text/html"]

    assert folded.startswith("<details><summary>After your answer</summary><pre>the figure is 4</pre>")
    assert "<details open" not in folded


class Rich:
    """A value with metadata for its page."""

    def _repr_html_(self):
        return "<b>rich</b>", {"isolated": True}


@pytest.mark.parametrize(("cell", "outputs"), [
    ("rich", [("<b>rich</b>", {"text/html": {"isolated": True}})]),
    ("None", []), ("rich;", []), ("x = 1", []), ("", []),
])
def test_only_the_value_of_the_last_expression_is_displayed(cell, outputs):
    """A held cell displays as IPython does: the last value with its metadata, but nothing for None or behind a semicolon."""
    shell = InteractiveShell()
    shell.user_ns["rich"] = Rich()
    held = held_back.Held(shell.display_pub)
    with held_back._into(held, shell):
        held_back._run(shell, cell)
    shell.history_manager.end_session()

    assert outputs == [(data["text/html"], metadata) for data, metadata in held.outputs]
