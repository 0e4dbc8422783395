"""Cases of edits that `fix` proposes: what a module of the catalogue yields for a pod in a small, hostile cluster.

`tests/questions/test_edits.py` compares the whole of each edit with `tests/questions/edits.txt`; after a change of words
`python tests/edit_cases.py` stores them anew: read what differs.
"""

from pathlib import Path

from edit_cases_claims import CLAIMS
from edit_cases_nodes import NODES
from edit_cases_pods import PODS

STORED = Path(__file__).parent / "questions" / "edits.txt"
CASES = {**NODES, **PODS, **CLAIMS}


def stored():
    """Return the stored texts by title."""
    sections = STORED.read_text(encoding="utf-8").split("=== ")[1:]
    return {title: text.strip("\n") for title, _, text in (each.partition("\n") for each in sections)}


if __name__ == "__main__":
    STORED.write_text("\n".join(f"=== {title}\n{find()}\n" for title, find in CASES.items()), encoding="utf-8")
