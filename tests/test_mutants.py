"""The list of mutants that nobody could see: each is one of a line that stands there, and has a reason."""

import mutants
import mutate
import pytest


@pytest.mark.parametrize("file", sorted({file for file, _ in mutate.equivalent()}))
def test_a_listed_mutant_is_one_of_a_line_of_today(file):
    """Who changes a line of the list judges its mutants anew: none stays listed for a line that is gone."""
    of_readers = file.split("/")[1] in mutate.MUTATED
    path = mutate.ROOT / file
    lines = path.read_text(encoding="utf-8").splitlines()
    by_line = mutants.mutants(mutate.parsed(path), draws="views" in path.parts, rules=not of_readers)
    there = {(lines[line - 1].strip(), mutants.in_one_line(*each.source()[1:])) for line, found in by_line.items() for each in found
             if (file, lines[line - 1].strip()) in mutate.equivalent()}  # fmt: skip

    assert {(text, pair) for (other, text), pairs in mutate.equivalent().items() if other == file for pair in pairs} <= there
    assert all(len(line.split("\t")[-1]) > 20 for line in mutate.EQUIVALENT.read_text(encoding="utf-8").splitlines())
