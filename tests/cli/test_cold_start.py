"""What a command loads before it answers: modules are counted, for seconds depend on the machine."""

import json
import subprocess
import sys

import pytest

from kvolsched import make

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
LIGHT = ("kvolsched.api.kinds.meta", "kvolsched.api.make", "kvolsched.api.notebook_output", "kvolsched.api.text", "kvolsched.api.unknown_name", "kvolsched.api.words",
         "kvolsched.cli.", "kvolsched.learn.incidents", "kvolsched.learn.lessons", "kvolsched.learn.said",
         "kvolsched.learn.scenario", "kvolsched.learn.templates", "kvolsched.questions.decode", "kvolsched.rules.registry")


def loaded(*words):
    """Return the modules that a command loads, beyond those of an empty program."""
    done = subprocess.run([sys.executable, "-c", COUNT.format(words=[*words])], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize(("words", "most"), [
    (["--help"], 85), (["why", "--help"], 85), (["lessons", "--help"], 85), (["decode", "2 Insufficient cpu"], 90),
    (["said", "spread"], 120), (["incidents"], 160), (["incidents", "zone", "lost"], 160)])
def test_who_asks_for_words_waits_for_no_engine(words, most):
    """Help, the explanation of a sentence, and lists of statements and incidents load neither numpy nor the engine."""
    found = loaded(*words)
    assert len(found) <= most, found
    assert "numpy" not in found
    rooms = [each for each in found if each.startswith("kvolsched.") and each.count(".") > 1]
    assert [each for each in rooms if not (each.startswith(LIGHT) or f"{each}.meta" in LIGHT)] == []


@pytest.mark.parametrize("words", [["why", "dump.json"], ["check", "app.json", "--cluster", "dump.json"]])
def test_who_asks_about_a_file_loads_what_answers(words, tmp_path, monkeypatch):
    """`why` and `check` load the engine; neither drawing, kubectl, a server, nor what only unpacks archives or masks arrays."""
    (tmp_path / "dump.json").write_text("\n".join(map(json.dumps, [make.node("n1", cpu="2"), make.pod("large", cpu="9")])))
    (tmp_path / "app.json").write_text(json.dumps(make.pod("app", cpu="1")))
    monkeypatch.chdir(tmp_path)
    found = loaded(*words)
    assert len(found) <= 515, found
    above = [f"kvolsched.{room}" for room in ("kubectl", "views", "serve", "learn", "rules.alternatives")]
    assert [] == [each for each in [*above, "importlib.resources", "numpy.ma", "shutil", "subprocess", "zipfile"] if each in found]
