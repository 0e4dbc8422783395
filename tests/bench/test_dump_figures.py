"""The questions of the benchmark are asked of a small dump as of a large one."""

from api.big_dump import CAUSES, big_text

from kvolsched.bench.dump import QUESTIONS, dump_figures


def test_every_question_is_asked(tmp_path):
    """Each has its seconds and an aim; the first figure is that of reading."""
    path = tmp_path / "dump.json"
    path.write_text(big_text(20, 40, pending=len(CAUSES)))
    found = list(dump_figures(path))
    assert ["a dump of 5,000 nodes and 10,000 pods read", *(f"  {name}" for name, _, _ in QUESTIONS)] == [name for name, _, _ in found]
    assert all(0 <= seconds < aim for _, seconds, aim in found)
