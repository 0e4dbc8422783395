"""The first ten minutes: the night's page and its buttons, and three more clusters drawn by a name."""

import gzip
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from kvolsched.cli import main
from kvolsched.learn.night import exam, rescue
from kvolsched.views.pictures import choices

PAGE = Path(__file__).parent.parent.parent / "docs" / "static" / "ten-minutes.html"


def test_the_page_is_small_and_drawn_by_this_version(tmp_path):
    """`kvolsched night` writes the page of the book, at most 15 KB packed, with every state that two acts reach."""
    done = CliRunner().invoke(main, ["night", str(tmp_path / "night.html"), "--no-browser"])

    assert (done.exit_code, done.output.strip()) == (0, str(tmp_path / "night.html"))
    assert (tmp_path / "night.html").read_text("utf-8") == PAGE.read_text("utf-8")
    assert len(gzip.compress(PAGE.read_bytes(), 9)) <= 15_000
    assert "http" not in PAGE.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert CliRunner().invoke(main, ["night", str(tmp_path / "no" / "night.html")]).exit_code == 2


def test_the_stored_picture_has_the_question():
    """A notebook that is not trusted shows the picture alone: what is asked stands over the map."""
    game = rescue().game()
    words = re.findall(r"<text[^>]*>([^<]*)", choices._still(game, 828))

    assert " ".join(words).startswith(game.question)


def test_buttons_do_what_kubectl_does():
    """The machine in zone-a is the surprise; the one where the disk is frees the database."""
    night = rescue()

    assert [night.press(2).stars.count, night.undo().press(3).stars.count] == [0, 3]
    assert "3  Buy a machine of 16 cpu in zone-b" in repr(night)


@pytest.mark.parametrize("name", ["ada", "your name"])
def test_each_patient_has_one_cure_and_a_restart_that_does_not_help(name):
    """Of the acts one alone has three stars, and a restart none; all clusters have names of their own."""
    found = exam(name)
    for patient in found:
        states = patient.game().states
        stars = {patient.offers[taken[0]].words: state.stars for taken, state in states.items() if taken}
        assert sorted(stars.values())[-2:] == [max(count for count in stars.values() if count < 3), 3], stars
        assert next(count for words, count in stars.items() if words.startswith("Restart")) == 0
    assert not {node.metadata.name for node in found[0].start.objects("nodes")} & {
        node.metadata.name for node in exam(f"not {name}")[0].start.objects("nodes")}


def test_what_a_button_does_is_taken_back_as_one_act():
    """An act of two commands leaves nothing behind when it is undone: the claim that it deleted is there as before."""
    night = rescue()
    before = night.cluster.get("pvc")
    night.press(4).undo()

    assert (str(night.cluster.get("pvc")), night.acts) == (str(before), [])
    assert night.press(3).press(4).undo().stars.count == 3


def test_an_exam_counts_its_stars():
    """Printed, its last line has the stars of the clusters on which something was done."""
    assert repr(exam("ada")).splitlines()[-1] == "0 of 9 stars"
    tried = exam("ada")
    best = next(number for number in range(1, 6) if rescue_by(tried[0], number) == 3)
    tried[0].press(best)
    assert repr(tried).splitlines()[-1] == "3 of 9 stars"


def rescue_by(patient, number):
    """Return the stars of one act, which is taken back."""
    count = patient.press(number).stars.count
    patient.undo()
    return count


def test_of_several_games_the_first_is_the_stored_picture():
    """Where several clusters are shown as one, a notebook that is not trusted shows the first of them."""
    games = exam("ada")
    stored = games._repr_mimebundle_()["image/png"]

    assert [True, False] == [stored == game._repr_mimebundle_()["image/png"] for game in games[:2]]
