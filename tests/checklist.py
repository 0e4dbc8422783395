"""The documents as countable items, which of them the tests prove, and which a reader can run.

Alone knows how `checklist.md` is numbered (Part A: 1 to 276, where 141, 142 and 143 are only the headings of
their lettered items) and what counts as proof: a test marked with the item passed, and none so marked failed.
A skipped or expected failure proves nothing. A proof is a reader's if its test uses only the public face (see
`public_face.py`), else it is one of the engine's own tests; a test with the mark `answered` only shows that a page
answers the item in words, which is counted apart. As a command, prints one line an item from the record that a
test run leaves (see conftest.py), and the counts as its last lines; with `--engine-only`, the items that no reader
can run yet, and what their tests reach of the engine, from the marks alone: nothing is run.
"""

import contextlib
import io
import json
import re
import sys
from functools import cache
from pathlib import Path

import public_face

HERE = Path(__file__).parent
MARK = re.compile(r"\bmark\.(?:checklist|answered)\b")
READER, ENGINE, WORDS = "reader", "engine", "words"  # who proves an item; the best one counts


def items(text: str) -> dict[str, str]:
    """Read the countable items, in the order of the text: number ("104", "141d") -> its words."""
    part = text.split("## Part A.", 1)[1].split("\n## Part B.", 1)[0]
    found: dict[str, str] = {}
    heading = ""
    for line in part.splitlines():
        if numbered := re.match(r"(\d+)\. (\[.*)", line):
            heading = numbered[1]
            found[heading] = numbered[2]
        elif re.match(r" +- \d+[a-z]\. ", line):
            found.pop(heading, None)  # it only gathers its lettered items
            found |= dict(re.findall(r"\b(\d+[a-z])\. (.*?)(?= +\d+[a-z]\. |$)", line))
    return found


ITEMS = items((HERE / "checklist.md").read_text(encoding="utf-8"))


def faults(numbers: tuple[object, ...]) -> list[str]:
    """What is wrong with the arguments of one `checklist(...)` mark: a sentence each."""
    if not numbers:
        return ["checklist() names no item"]
    return [f"checklist({number!r}): no such item; write a number of tests/checklist.md as a string"
            for number in numbers if number not in ITEMS]


@cache
def _face(path: Path, test: str) -> str:
    return ENGINE if public_face.touches(path, test) else READER


def marks(item) -> list[tuple[str, str]]:
    """Return which items a collected test proves, and as what: [("104", "reader"), ...]."""
    numbers = [number for mark in item.iter_markers("checklist") for number in mark.args]
    face = _face(item.path, item.function.__name__) if numbers else ENGINE
    told = [number for mark in item.iter_markers("answered") for number in mark.args]
    return [(number, face) for number in numbers] + [(number, WORDS) for number in told]


Record = dict[str, dict[str, list[str]]]
"""{item: {test: ["passed" | "failed" | "skipped", "reader" | "engine" | "words"]}}."""


def proofs(record: Record) -> dict[str, dict[str, list[str]]]:
    """Which tests prove each item, by who runs them: {item: {"reader": [test, ...]}}; the best of them comes first."""
    found: dict[str, dict[str, list[str]]] = {}
    for number, tests in record.items():
        if number not in ITEMS or any(outcome == "failed" for outcome, _ in tests.values()):
            continue
        passed = {face: sorted(test for test, said in tests.items() if said == ["passed", face])
                  for face in (READER, ENGINE, WORDS)}
        if any(passed.values()):
            found[number] = {face: names for face, names in passed.items() if names}
    return found


def counts(record: Record) -> dict[str, int]:
    """How many items are run by a reader, by the engine's own tests alone, and answered in words alone."""
    best = [next(iter(found)) for found in proofs(record).values()]
    return {face: best.count(face) for face in (READER, ENGINE, WORDS)}


STATES = {READER: "run by a reader in", ENGINE: "proved by the engine's own", WORDS: "answered in words, see"}


def report(record: Record) -> list[str]:
    """One line an item, then the counts."""
    proved = proofs(record)
    lines = []
    for number, words in ITEMS.items():
        tests = record.get(number, {})
        failed = sorted(test for test, (outcome, _) in tests.items() if outcome == "failed")
        face = next(iter(proved.get(number, {})), "")
        state = (f"{STATES[face]} {', '.join(proved[number][face])}" if face
                 else f"FAILED in {', '.join(failed)}" if failed
                 else f"not yet (skipped: {', '.join(sorted(tests))})" if tests
                 else "not yet")
        lines.append(f"{number:>4}  {shortened(words)}  -- {state}")
    count = counts(record)
    lines += by_document()
    lines.append(f"{count[READER]} of {len(ITEMS)} run by a reader, {count[ENGINE]} by the engine's own tests, "
                 f"{count[WORDS]} answered in words")
    return [*lines, f"{count[READER] + count[ENGINE]} of {len(ITEMS)} items proved"]


def by_document() -> list[str]:
    """Count the statements of each document, and how its notebook answers them; `make test` holds that each does."""
    import document_notebook

    lines = []
    for name in document_notebook.NAMES:
        total, run, words, cannot = document_notebook.counts(name)
        rest = total - run - words - cannot
        lines.append(f"{name}: {total} statements: {run} run, {words} in words, {cannot} cannot be run here"
                     + f", {rest} not yet" * bool(rest))
    return lines


def shortened(words: str) -> str:
    """Return an item's words without bold, cut to one line."""
    short = re.sub(r"\*\*", "", words)
    return short if len(short) <= 70 else short[:69].rstrip() + "…"


class Marked:
    """Mutable: what the collected tests are marked with, as if all of them passed."""

    def __init__(self) -> None:
        self.record: Record = {}

    def pytest_collection_finish(self, session) -> None:
        """Note the marks of every test that was collected."""
        for item in session.items:
            for number, face in marks(item):
                self.record.setdefault(number, {})[item.nodeid] = ["passed", face]


def marked_files() -> list[Path]:
    """Return the files of tests with such marks."""
    return [path for path in sorted(HERE.rglob("test_*.py")) if MARK.search(path.read_text(encoding="utf-8"))]


def engine_only(session=None) -> list[str]:
    """List the items that only the engine's own tests are marked with, and what these reach; then the counts.

    A session of pytest that has collected all of these files is asked; else they are collected here.
    """
    import pytest

    marked, said, files = Marked(), io.StringIO(), marked_files()
    if session is not None and {item.path for item in session.items}.issuperset(files):
        marked.pytest_collection_finish(session)
    else:
        with contextlib.redirect_stdout(said):
            ended = pytest.main([*map(str, files), "--collect-only", "-q", "-p", "no:cacheprovider"], plugins=[marked])
        if ended:
            return [said.getvalue()]
    found = proofs(marked.record)
    lines = []
    for number in ITEMS:
        if next(iter(found.get(number, {})), "") != ENGINE:
            continue
        lines.append(f"{number:>4}  {shortened(ITEMS[number])}")
        for test in dict.fromkeys(name.partition("[")[0] for name in found[number][ENGINE]):
            path, _, name = test.partition("::")
            reached = public_face.touches((HERE.parent / path).resolve(), name)
            lines.append(f"        {test}: {', '.join(reached)}")
    count = counts(marked.record)
    lines.append(f"marked: {count[READER]} for a reader, {count[ENGINE]} for the engine's own tests alone, "
                 f"{count[WORDS]} answered in words, {len(ITEMS) - len(found)} not at all")
    return lines


def main(path: str) -> None:
    """Print the report of the record in this file, or what no reader can run yet."""
    if path == "--engine-only":
        print("\n".join(engine_only()))
        return
    record = Path(path)
    print("\n".join(report(json.loads(record.read_text(encoding="utf-8")) if record.exists() else {})))


if __name__ == "__main__":
    main(*sys.argv[1:])
