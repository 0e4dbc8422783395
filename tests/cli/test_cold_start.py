"""What a command loads before it answers: modules are counted, for seconds depend on the machine."""

import subprocess
import sys

import pytest

COUNT = """
import sys
before = set(sys.modules)
from kvolsched.cli import main
try:
    main({words!r}, standalone_mode=False)
except SystemExit:
    pass
print("loaded", *sorted(set(sys.modules) - before))
"""
LIGHT = ("kvolsched.api.notebook_output", "kvolsched.api.text", "kvolsched.api.unknown_name", "kvolsched.api.words",
         "kvolsched.cli.", "kvolsched.learn.lessons", "kvolsched.questions.decode", "kvolsched.rules.registry")


def loaded(*words):
    """Return the modules that a command loads, beyond those of an empty program."""
    done = subprocess.run([sys.executable, "-c", COUNT.format(words=[*words])], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize(("words", "most"), [
    (["--help"], 150), (["why", "--help"], 150), (["lessons", "--help"], 150), (["decode", "2 Insufficient cpu"], 215)])
def test_who_asks_for_words_waits_for_no_engine(words, most):
    """Help and the explanation of a sentence load neither numpy nor a room of the engine."""
    found = loaded(*words)
    assert len(found) <= most, found
    assert "numpy" not in found
    assert [each for each in found if each.count(".") > 1 and each.startswith("kvolsched.") and not each.startswith(LIGHT)] == []
