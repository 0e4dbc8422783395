"""Binder's own tool reads binder/ as we mean it; building the image needs Docker and is not tried here."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
    assert requirements == ["-c", "constraints.txt", ".[lab]"]  # -c counts from the file, . from the root
    assert any(line.startswith("jupyterlab>=4.4") for line in project["optional-dependencies"]["lab"])


def test_binders_packages_are_pinned_to_versions_that_we_allow():
    """Every pinned version is one that pyproject.toml takes; JupyterLab comes with Binder's base image and is not pinned."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [Requirement(line) for line in (*project["dependencies"], *project["optional-dependencies"]["lab"])]
    pinned = dict(line.lower().split("==") for line in (ROOT / "binder" / "constraints.txt").read_text().split())

    assert "jupyterlab" not in pinned
    assert [one.name for one in wanted if one.name != "jupyterlab" and one.name.lower() not in pinned] == []
    assert [one.name for one in wanted if one.name.lower() in pinned and not one.specifier.contains(pinned[one.name.lower()])] == []


def test_binder_opens_pages_as_they_read(tmp_path):
    """What the image runs at its end makes JupyterLab show a page such as the contents, not its source, and gets kubectl for its terminal."""
    script = ROOT / "binder" / "postBuild"
    (tmp_path / "bin").mkdir()
    for name, lines in {"python": f"echo {tmp_path}", "bin/python": f'echo "$@" >>{tmp_path}/asked; [ "$3" != download ]'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / name).chmod(0o755)
    subprocess.run([script], check=True, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert "pip download" in (tmp_path / "asked").read_text()
    settings = json.loads((tmp_path / "share/jupyter/lab/settings/overrides.json").read_text())

    assert os.access(script, os.X_OK)
    assert settings["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]["markdown"] == "Markdown Preview"
