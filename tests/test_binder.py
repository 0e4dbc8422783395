"""Binder's own tool reads binder/ as we mean it; building the image needs Docker and is not tried here."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "artefacts")


@pytest.fixture(scope="module")
def dockerfile(tmp_path_factory):
    """What repo2docker would build from a clean copy of this tree."""
    copy = tmp_path_factory.mktemp("binder") / "kvolsched"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    done = subprocess.run([sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."],
                          cwd=copy, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_binder_has_our_python(dockerfile):
    """Python 3.11 or later, which pyproject.toml requires: Binder's default is older."""
    assert "python=3.11" in dockerfile


def test_binder_installs_the_lab(dockerfile):
    """The image installs binder/requirements.txt, which is this project with its extra `lab`."""
    requirements = (ROOT / "binder" / "requirements.txt").read_text().split()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert "binder/requirements.txt" in dockerfile
    assert requirements == [".[lab]"]
    assert any(line.startswith("jupyterlab>=4.4") for line in project["optional-dependencies"]["lab"])
