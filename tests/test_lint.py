"""What ruff and mypy say of the sources: tests like all others, so that a core reads types while another runs tests."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("words", ["ruff check kvolsched tests", "mypy"])
def test_nothing_is_to_be_said(words):
    """The command has nothing to say of the sources; what it says is shown."""
    done = subprocess.run([sys.executable, "-m", *words.split()], cwd=ROOT, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, f"{words}\n{done.stdout}{done.stderr}"
