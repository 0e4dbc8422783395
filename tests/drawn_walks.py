"""What chance asks of clusters that chance made shows what it showed before: a digest an answer, in `tests/shown/drawn.txt`.

What differs is written to `build/drawn/`: the same before a change, `git stash` and `python tests/drawn_walks.py show WALK`,
is what to compare it with. After a change that is meant: `python tests/drawn_walks.py store [SORT...]`.
"""

import os
import sys
import zlib
from pathlib import Path

import pytest
from drawn import SORTS, drawn

STORED = Path(__file__).parent / "shown" / "drawn.txt"
WRITTEN = Path(__file__).parent.parent / "build" / "drawn"
COUNTS = {"record": 90, "people": 50, "incident": 50, "scenario": 90, "chance": 60, "many": 14, "wishes": 50, "dump": 6, "details": 60, "fixes": 90, "edits": 300, "whys": 160, "twins": 50, "pictures": 240, "panel": 120, "pairs": 50, "quizzes": 50, "asks": 20, "traces": 30, "judged": 40, "kept": 40, "bets": 180,
          "what-ifs": 20, "searches": 90, "diffs": 50, "words": 60, "terminal": 80, "typed": 160,
          "benches": 60, "names": 60, "patches": 160, "invariants": 30,
          "skew-rows": 48, "capacity-rows": 16, "verdict-rows": 40, "map-rows": 32, "log-rows": 16, "chart-rows": 24,
          "card-rows": 40, "lane-rows": 20, "domain-rows": 16, "count-rows": 20, "head-rows": 12, "game-rows": 2}  # fmt: skip
WALKS = [f"{sort}-{number}" for sort in SORTS for number in range(COUNTS[sort])]


def stored():
    """Return {walk: the digest of each answer}."""
    return {line.split()[0]: line.split()[1:] for line in STORED.read_text(encoding="utf-8").splitlines()}


def digests(told):
    """Return a digest of each question with its answer."""
    return [f"{zlib.crc32(f'{question}: {shown}'.encode()):08x}"[:5] for question, shown in told]


def written(walk, told):
    """Write what a walk shows now; return where."""
    WRITTEN.mkdir(parents=True, exist_ok=True)
    path = WRITTEN / f"{walk}.txt"
    path.write_text("\n".join(f"=== {question}\n{shown}" for question, shown in told) + "\n", encoding="utf-8")
    return path


def walks(*sorts):
    """Return the parameters of a test: the walks of these sorts, of which each second half takes a longer run."""
    return [pytest.param(f"{sort}-{number}", marks=pytest.mark.long if number >= COUNTS[sort] // 2 else ())
            for sort in sorts for number in range(COUNTS[sort])]


def shows_what_it_showed(walk):
    """Fail, and write what is shown now, if an answer of a walk is another one than was stored."""
    told, before = drawn(walk), stored()[walk]
    now = digests(told)
    if now != before:
        changed = [question for (question, _), one, other in zip(told, now, [*before, *[""] * len(now)], strict=False) if one != other]
        pytest.fail(f"{len(changed)} of {len(now)} answers are others, the first: {changed[:5]}; {written(walk, told)} has all")


if __name__ == "__main__":
    os.environ["TQDM_DISABLE"] = "1"
    if sys.argv[1] == "show":
        print(written(sys.argv[2], drawn(sys.argv[2])))
    else:
        kept = stored() if STORED.exists() and sys.argv[2:] else {}
        kept = {walk: kept.get(walk) if sys.argv[2:] and walk.rpartition("-")[0] not in sys.argv[2:] else digests(drawn(walk))
                for walk in WALKS}  # fmt: skip
        STORED.write_text("".join(f"{' '.join([walk, *each])}\n" for walk, each in kept.items()), encoding="utf-8")
