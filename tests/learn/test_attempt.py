"""Exercises of lessons that nobody has solved yet."""

import pytest

import kvolsched


def test_a_solved_exercise_says_so(capsys):
    """A block of which no assertion fails is solved, and its names stay."""
    with kvolsched.attempt("count them"):
        answer = 3
        assert answer == 3

    assert capsys.readouterr().out == "solved\n"
    assert answer == 3


@pytest.mark.parametrize(("message", "said"), [((), "count them"), (("two are wrong",), "two are wrong"), (("",), "count them")])
def test_an_unsolved_exercise_gives_a_hint_and_no_traceback(capsys, message, said):
    """A failed assertion is no error of the notebook: it prints its message, else the hint."""
    with kvolsched.attempt("count them"):
        raise AssertionError(*message)

    assert capsys.readouterr().out == f"not yet: {said}\n"


def test_a_gap_that_breaks_a_call_is_not_yet(capsys):
    """What goes wrong because `...` is still there is not yet solved."""
    with kvolsched.attempt("count them"):
        assert len(...) == 3

    assert capsys.readouterr().out == "not yet: ... is still to be filled in\n"


def test_an_error_of_the_reader_is_raised(capsys):
    """A name typed wrongly is no unsolved exercise: its traceback is shown, and nothing says solved."""
    with pytest.raises(NameError), kvolsched.attempt("count them"):
        counted  # noqa: B018, F821

    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda c: c.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "A"}}), "metadata.name"),
    (lambda c: c.scale("deploy/wbe", 2), "deploy"),
    (lambda c: c.where("region=east & slots>10"), "cannot be read"),
    (lambda c: c.whatif(**{"deploy/web:spec.replica": [2]}), 'did you mean "replicas"'),
])
def test_what_the_package_refuses_is_not_yet(capsys, wrong, words):
    """A manifest that the API server refuses, a text that cannot be read, or a name that does not exist, is told in its own words."""
    with kvolsched.attempt("count them"):
        wrong(kvolsched.scenario("zones"))

    said = capsys.readouterr().out
    assert said.startswith("not yet: ")
    assert words in said


def test_a_value_that_the_readers_own_code_refuses_is_raised(capsys):
    """An error of the reader's own function keeps its traceback, also where the package has called it."""
    with pytest.raises(ValueError, match="invalid literal"), kvolsched.attempt("count them"):
        kvolsched.scenario("zones").run(lambda _: int("many"))

    assert capsys.readouterr().out == ""


def test_an_interrupt_is_raised():
    """Who stops a cell stops it."""
    with pytest.raises(KeyboardInterrupt), kvolsched.attempt("count them"):
        raise KeyboardInterrupt


def test_a_hint_is_asked_for():
    """An exercise without a hint helps nobody."""
    with pytest.raises(ValueError, match="it is empty"):
        kvolsched.attempt(" ")
