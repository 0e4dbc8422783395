"""The documents as countable items, and which of them the tests prove.

Alone knows how `checklist.md` is numbered (Part A: 1 to 276, where 141, 142 and 143 are only the headings of
their lettered items) and what counts as proof: a test marked with the item passed, and none so marked failed.
A skipped or expected failure proves nothing. As a command, prints one line an item from the record that a
test run leaves (see conftest.py), and the count as its last line.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


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


def proofs(record: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """Which tests prove each item; record: {item: {test: "passed" | "failed" | "skipped"}}."""
    return {number: sorted(test for test, outcome in tests.items() if outcome == "passed")
            for number, tests in record.items()
            if number in ITEMS and "passed" in tests.values() and "failed" not in tests.values()}


def report(record: dict[str, dict[str, str]]) -> list[str]:
    """One line an item, then the count."""
    proved = proofs(record)
    lines = []
    for number, words in ITEMS.items():
        tests = record.get(number, {})
        failed = sorted(test for test, outcome in tests.items() if outcome == "failed")
        short = re.sub(r"\*\*", "", words)
        short = short if len(short) <= 70 else short[:69].rstrip() + "…"
        state = (f"proved by {', '.join(proved[number])}" if number in proved
                 else f"FAILED in {', '.join(failed)}" if failed
                 else f"not yet (skipped: {', '.join(sorted(tests))})" if tests
                 else "not yet")
        lines.append(f"{number:>4}  {short}  -- {state}")
    return [*lines, f"{len(proved)} of {len(ITEMS)} items proved"]


def main(path: str) -> None:
    """Print the report of the record in this file."""
    record = Path(path)
    print("\n".join(report(json.loads(record.read_text(encoding="utf-8")) if record.exists() else {})))


if __name__ == "__main__":
    main(*sys.argv[1:])
