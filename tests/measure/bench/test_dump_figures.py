"""The questions of the benchmark are asked of a small dump as of a large one."""

import json

from api.big_dump import CAUSES, big_text
from click.testing import CliRunner

from kvolsched.cli import main
from kvolsched.measure.bench.figures import QUESTIONS, dump_figures


def test_every_question_is_asked(tmp_path):
    """Each has its seconds and an aim; the first figure is that of reading."""
    path = tmp_path / "dump.json"
    path.write_text(big_text(20, 40, pending=len(CAUSES)))
    found = list(dump_figures(path))
    assert ["a dump of 5,000 nodes and 10,000 pods read", *(f"  {name}" for name, _, _ in QUESTIONS)] == [name for name, _, _ in found]
    assert all(0 <= seconds < aim for _, seconds, aim in found)


def test_the_command_asks_about_a_dump_of_so_many_pods_alone(monkeypatch, tmp_path):
    """With `--dump` no workload is measured, and the aim of reading grows with the pods."""
    writer = tmp_path / "small_dump.py"
    writer.write_text(f"def big_text(pods, claims, pending):\n    return {big_text(20, 40, pending=len(CAUSES))!r}\n")
    monkeypatch.setattr("kvolsched.measure.bench.figures.DUMP", writer)
    told = json.loads(CliRunner().invoke(main, ["bench", "--dump", "50000", "--json"]).stdout)
    assert told["workloads"] == []
    assert [figure["name"].strip() for figure in told["figures"][1:]] == [name for name, _, _ in QUESTIONS]
    assert (told["figures"][0]["name"], told["figures"][0]["at_most"]) == ("a dump of 5,000 nodes and 50,000 pods read", 50)
