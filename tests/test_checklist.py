"""The checklist counts what it says it counts."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import checklist
import public_face
import pytest


@pytest.fixture
def marked_run(tmp_path):
    """Run pytest with this project's conftest on a file of that content; give the record and the output."""
    def run(content, *arguments):
        (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n checklist(*items)\n answered(*items)\n")
        (tmp_path / "test_it.py").write_text(content)
        record = tmp_path / "record.json"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", *arguments],
            check=False, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=os.environ | {"KVOLSCHED_CHECKLIST": str(record), "PYTHONPATH": str(Path(__file__).parent),
                              "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
        return json.loads(record.read_text()), done.stdout
    return run


def test_there_are_305_items():
    """1 to 276, of which 141, 142 and 143 are 7 + 9 + 16 lettered ones."""
    numbers = {str(n) for n in range(1, 277)} - {"141", "142", "143"}
    lettered = {f"{n}{a}" for n, last in (("141", "g"), ("142", "i"), ("143", "p"))
                for a in "abcdefghijklmnop" if a <= last}

    assert set(checklist.ITEMS) == numbers | lettered
    assert len(checklist.ITEMS) == 305


def test_every_item_keeps_its_own_words():
    """Two items on one line are told apart."""
    assert checklist.ITEMS["143k"] == "unit: priority does not change the given order."
    assert checklist.ITEMS["143l"] == "unit: priority changes it."
    assert all(checklist.ITEMS.values())


@pytest.mark.parametrize(("tests", "proved"), [
    ({"a": "passed"}, True),
    ({"a": "passed", "b": "skipped"}, True),
    ({"a": "passed", "b": "failed"}, False),
    ({"a": "skipped"}, False),
    ({}, False),
])
def test_only_a_pass_without_a_failure_proves(tests, proved):
    """A skip proves nothing and a failure outweighs every pass."""
    record = {"104": {name: [outcome, checklist.ENGINE] for name, outcome in tests.items()}}
    lines = checklist.report(record)

    assert lines[-1] == f"{int(proved)} of 305 items proved"
    assert ("104" in checklist.proofs(record)) is proved


def test_a_readers_test_counts_before_the_engines_own_and_words_are_counted_apart():
    """Every item counts once, by the best of its proofs; what a page answers in words is not proved."""
    record = {
        "104": {"a": ["passed", "engine"], "b": ["passed", "reader"]},
        "105": {"a": ["passed", "engine"], "b": ["passed", "words"], "c": ["skipped", "reader"]},
        "106": {"a": ["passed", "words"]},
        "107": {"a": ["passed", "reader"], "b": ["failed", "engine"]},
    }
    lines = checklist.report(record)
    assert lines[-2] == "1 of 305 run by a reader, 1 by the engine's own tests, 1 answered in words"
    assert lines[-1] == "2 of 305 items proved"


@pytest.mark.parametrize("numbers", [(), (104,), ("141",), ("0",), ("277",), ("104", "141h")])
def test_unknown_items_are_named(numbers):
    """A mark that could never be counted is a fault."""
    assert checklist.faults(numbers)
    assert not checklist.faults(("104", "141d"))


def test_an_item_that_no_reader_can_run_says_why(request):
    """Where only the engine's own tests prove an item, each says in its docstring why no reader can."""
    listed = [line.strip().partition(": ")[0] for line in checklist.engine_only(request.session) if line.startswith("        ")]
    silent = []
    for test in listed:
        path, _, name = test.partition("::")
        of = public_face.source((Path(__file__).parents[1] / path).resolve())
        if "no reader" not in (ast.get_docstring(of.definitions[name]) or "").lower():
            silent.append(test)
    assert [] == silent


MARKED = """
import pytest
@pytest.mark.checklist("104", "141d")
def test_passes(): pass
@pytest.mark.checklist("104")
def test_skips(): pytest.skip("no")
@pytest.mark.checklist("105")
def test_fails(): assert False
@pytest.mark.checklist("106")
@pytest.mark.xfail(reason="not built", strict=True)
def test_expected(): assert False
@pytest.fixture
def broken():
    yield
    raise RuntimeError
@pytest.mark.checklist("107")
def test_teardown_fails(broken): pass
@pytest.mark.answered("107")
def test_looks_at_a_page(): pass
@pytest.mark.checklist("108")
def test_looks_inside(): assert str.format.__name__ or ().world
"""


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "2"]], ids=["alone", "two workers"])
def test_a_run_leaves_its_record(marked_run, workers):
    """What passed, failed and was skipped is recorded, and for whom, however the tests were spread over processes."""
    record, _ = marked_run(MARKED, *workers)

    assert record == {
        "104": {"test_it.py::test_passes": ["passed", "reader"], "test_it.py::test_skips": ["skipped", "reader"]},
        "141d": {"test_it.py::test_passes": ["passed", "reader"]},
        "105": {"test_it.py::test_fails": ["failed", "reader"]},
        "106": {"test_it.py::test_expected": ["skipped", "reader"]},
        "107": {"test_it.py::test_teardown_fails": ["failed", "reader"], "test_it.py::test_looks_at_a_page": ["passed", "words"]},
        "108": {"test_it.py::test_looks_inside": ["passed", "engine"]},
    }


def test_a_second_run_adds_to_the_record(marked_run):
    """Several runs make one record; the later word on a test stands."""
    marked_run(MARKED)
    record, _ = marked_run(MARKED.replace("assert False", "pass"), "-k", "fails")

    assert record["104"]["test_it.py::test_passes"] == ["passed", "reader"]
    assert record["105"] == {"test_it.py::test_fails": ["passed", "reader"]}


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "2"]], ids=["alone", "two workers"])
def test_an_unknown_item_fails_the_collection(marked_run, workers):
    """A misspelt number never passes unnoticed."""
    record, out = marked_run(MARKED.replace('"105"', '"305"'), *workers)

    assert "no such item" in out
    assert "305" not in record
