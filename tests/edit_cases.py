"""Cases of what `fix` proposes and tells, each in a small, hostile cluster: edits, what they cost whom, cards.

Tests compare the whole of each with a stored text; after a change of words `python tests/edit_cases.py` stores them
anew: read what differs.
"""

from pathlib import Path

from asking_cases import ASKED
from card_cases import CARDS
from command_cases import COMMANDS
from edit_cases_claims import CLAIMS
from edit_cases_nodes import NODES
from edit_cases_pods import PODS
from edit_cases_states import STATES
from harm_cases import HARM, OUTCOMES

HERE = Path(__file__).parent
EDITS, COSTS = {**NODES, **PODS, **CLAIMS, **STATES}, {**HARM, **OUTCOMES}
STORED = {HERE / "questions" / "edits.txt": EDITS, HERE / "questions" / "costs.txt": COSTS, HERE / "views" / "cards.txt": CARDS,
          HERE / "questions" / "commands.txt": COMMANDS,
          HERE / "questions" / "fixes.txt": ASKED}  # fmt: skip


def stored(cases):
    """Return the stored texts of cases by title."""
    path = next(path for path, those in STORED.items() if those is cases)
    sections = ("\n" + path.read_text(encoding="utf-8")).split("\n=== ")[1:]
    return {title: text.strip("\n") for title, _, text in (each.partition("\n") for each in sections)}


if __name__ == "__main__":
    for path, cases in STORED.items():
        path.write_text("\n".join(f"=== {title}\n{find()}\n" for title, find in cases.items()), encoding="utf-8")
