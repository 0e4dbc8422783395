"""Cases of what `fix` proposes and tells, each in a small, hostile cluster: edits, what they cost whom, cards.

Tests compare the whole of each with a stored text; after a change of words `python tests/store_fixes.py` stores them
anew: read what differs.
"""

from pathlib import Path

from fix_cases.asking import ASKED
from fix_cases.cards import CARDS
from fix_cases.claims import CLAIMS
from fix_cases.commands import COMMANDS
from fix_cases.costs import HARM, OUTCOMES
from fix_cases.nodes import NODES
from fix_cases.pods import PODS
from fix_cases.states import STATES
from fix_cases.trials import TRIALS

HERE = Path(__file__).parent.parent
EDITS, COSTS = {**NODES, **PODS, **CLAIMS, **STATES}, {**HARM, **OUTCOMES, **TRIALS}
STORED = {HERE / "questions" / "edits.txt": EDITS, HERE / "questions" / "costs.txt": COSTS, HERE / "views" / "cards.txt": CARDS,
          HERE / "questions" / "commands.txt": COMMANDS,
          HERE / "questions" / "fixes.txt": ASKED}  # fmt: skip


def stored(cases):
    """Return the stored texts of cases by title."""
    path = next(path for path, those in STORED.items() if those is cases)
    sections = ("\n" + path.read_text(encoding="utf-8")).split("\n=== ")[1:]
    return {title: text.strip("\n") for title, _, text in (each.partition("\n") for each in sections)}
