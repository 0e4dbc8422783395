"""What readers see of many clusters: every word and every mark of answers and pictures, as stored in `tests/shown/`.

A line that stood before in a file is not repeated.

After a change that is meant: `python tests/test_shown.py [CASE...]` stores what is shown now; look at the difference.
"""

import os
import sys
from pathlib import Path

import pytest
from shown import pictures, shown
from shown_cases import CASES
from views.pages import faults
from views.placed import misplaced

STORED = Path(__file__).parent / "shown"


def lines_of(case):
    """Return the lines of a case, of which those that stood before in it are counted, and the faults of its pictures."""
    lines, before, wrong = [], set(), []
    for question, answer in CASES[case]():
        drawn = pictures(answer)
        told = shown(answer, drawn)
        new = [line for line in told if line not in before]
        lines += [f"=== {' '.join(question.split())}, {len(told)} lines", *new]
        before.update(new)
        wrong += [(question, fault) for _, html in drawn for fault in (*misplaced(html), *faults(html))]
    return lines, wrong


@pytest.mark.parametrize("case", CASES)
def test_what_is_shown_is_what_is_stored(case):
    """Every word of an answer, and the words and marks of its picture at two widths in the order in which they are read.

    No word or mark leaves its picture, no word stands over another, no page has a style that no sheet has.
    """
    stored = (STORED / f"{case}.txt").read_text(encoding="utf-8").splitlines()

    assert (stored, []) == lines_of(case)


if __name__ == "__main__":
    os.environ["TQDM_DISABLE"] = "1"
    STORED.mkdir(exist_ok=True)
    for name in sys.argv[1:] or CASES:
        (STORED / f"{name}.txt").write_text("\n".join(lines_of(name)[0]) + "\n", encoding="utf-8")
        print(name, flush=True)
