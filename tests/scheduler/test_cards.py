"""Cards: what other rooms tell of a plugin stands beside it, and no other file names a plugin."""

import ast
import re
from pathlib import Path

import pytest

import kvolsched
from kvolsched.questions.fix.edit_search import CATALOGUE
from kvolsched.rules.named import REVISIONS, plugin_card, plugin_cards
from kvolsched.scheduler.framework.card import NO_CARD
from kvolsched.scheduler.framework.extension_points import Filter, Score
from kvolsched.views.frame import FAMILIES

HOUSE = Path(kvolsched.__file__).parent
NAMED = re.compile(rf'(^|["\'])({"|".join(sorted((*plugin_cards(), "VolumeRollback")))})($|["\'])')
# Files that name a plugin for a reason that no card can take from them: what they do to this one plugin is their matter.
MAY_NAME = {
    "scheduler/loop/binding_flow.py": "writes what VolumeBinding decides, and fails with its name in the message",
    "rules/settings.py": "gates, levels and phases that switch or change one plugin",
    "rules/revision.py": "hands the plugin that decides volumes to the binding flow",
    "controllers/kubelet.py": "an event's reason that is also a plugin's name",
}
MAY_NAME_FOLDERS = {
    "scheduler/plugins": "the plugins",
    "rules/releases": "which plugins are enabled",
    "rules/alternatives": "rejected designs, each in the place of one plugin",
    "questions/decode": "Kubernetes' sentences, by who writes them, without loading the scheduler",
    "measure/conform": "recordings of one plugin",
    "measure/experiments": "experiments with one plugin",
}


def enabled():
    """Every plugin of the profiles that ship, once."""
    return {each.name: each for rules in REVISIONS.values() for each in rules().profile.plugins}


@pytest.mark.parametrize("name", sorted(enabled()))
def test_every_plugin_has_a_complete_card(name):
    """A letter of its own, a family, what it looks at; what a rejection lacks and an edit for each sort of it."""
    plugin, card = enabled()[name].plugin, plugin_card(name)
    rejects, ranks = enabled()[name].extends(Filter), enabled()[name].extends(Score)

    assert plugin.card is not NO_CARD
    assert card.family in FAMILIES
    assert card.looks_at
    if rejects:
        assert card.letter.isupper()
        assert (card.clauses, card.clause_of_reason) != (NO_CARD.clauses, NO_CARD.clause_of_reason)
    if ranks and card.letter:
        assert card.short


def test_letters_are_different():
    """No two plugins share a column's letter."""
    letters = [card.letter for card in plugin_cards().values() if card.letter]

    assert len(set(letters)) == len(letters)


def names_in(path):
    """Yield the names of plugins in a file: whole or quoted strings outside docstrings, and imported classes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree)
                  if isinstance(node, documented) and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from (found[2] for found in NAMED.finditer(node.value))
        elif isinstance(node, ast.ImportFrom) and "plugins" in (node.module or ""):
            yield from (each.name for each in node.names if NAMED.fullmatch(each.name))


def test_no_other_file_names_a_plugin():
    """A plugin is named in its folder and in the file of a release; the list of other files is short, and each is needed."""
    naming = {path.relative_to(HOUSE).as_posix(): found
              for path in sorted(HOUSE.rglob("*.py")) if (found := set(names_in(path)))}  # fmt: skip
    allowed = {name for name in naming if name in MAY_NAME or any(map(name.startswith, MAY_NAME_FOLDERS))}

    assert {} == {name: found for name, found in naming.items() if name not in allowed}
    assert set(MAY_NAME) <= set(naming)


def test_every_sort_of_demand_has_an_edit():
    """The sorts that the sources of cards name are in the catalogue of `fix`, or the card has the edits itself."""
    own = {"node name", "feature"}  # edits on the card
    written = {found[1] for path in (HOUSE / "scheduler").rglob("*.py")
               for found in re.finditer(r'Clause\(\s*"([a-z -]+)"', path.read_text(encoding="utf-8"))}  # fmt: skip

    assert {"taint", "spread", "feature"} <= written
    assert written <= {*CATALOGUE, *own}
