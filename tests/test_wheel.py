"""The wheel, installed in an empty environment, runs the README's examples and lessons: on 3.13 if it is there, in `make test-long` on 3.11 too."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = """
import re, sys
import kvolsched
assert sys.argv[2] in kvolsched.__file__, kvolsched.__file__
for block in re.findall(r"```python\\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.DOTALL):
    exec(compile(block, "README.md", "exec"), {})
"""

# Every cell of every lesson in a shell of IPython, as a kernel would; pictures are not drawn, their readings are.
LESSONS = """
import gc, os, sys
gc.set_threshold(10_000)  # as in conftest.py
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
import json, kvolsched
assert sys.argv[1] in kvolsched.__file__, kvolsched.__file__
shell = InteractiveShell.instance()
shell.display_formatter.active_types = ["text/plain"]
for path in sorted(Path("course/notebooks").resolve().glob("*.ipynb"))[:: int(sys.argv[2])]:
    os.chdir(path.parent)
    shell.reset(new_session=True)
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            done = shell.run_cell("".join(cell["source"]))
            assert done.success or "raises-exception" in cell["metadata"].get("tags", ()), (path.name, cell["id"])
    print(path.stem, "ran", file=sys.stderr)
"""
MOST_BYTES = 10_000_000  # of a wheel with all lessons


def run(*command, **options):
    """Run a command and return its output; a failure shows what it printed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert 0 == done.returncode, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@cache
def interpreter(version):
    """Return the path of a Python of this version that starts, or None."""
    this = [sys.executable] if version == f"{sys.version_info.major}.{sys.version_info.minor}" else []
    candidates = [*this, shutil.which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}*/bin/python"))]
    for candidate in filter(None, candidates):
        answer = subprocess.run([candidate, "-c", "import ensurepip, venv"], capture_output=True, check=False)
        if answer.returncode == 0:
            return candidate
    return None


def first_of(versions):
    """Return the first of these versions that is here, or else the last."""
    return next(filter(interpreter, versions), versions[-1])


@pytest.fixture(scope="module")
def pip(tmp_path_factory):
    """Return a pip that installs for other environments as well: of this environment if uv did not make it, or its own."""
    python = sys.executable
    if find_spec("pip") is None:
        folder = tmp_path_factory.mktemp("pip")
        run(python, "-m", "venv", folder)
        python = folder / "bin" / "python"
    return python, "-m", "pip"


@pytest.fixture(scope="module")
def wheel(pip, tmp_path_factory):
    """Build the wheel once."""
    folder = tmp_path_factory.mktemp("wheel")
    run(*pip, "wheel", "--quiet", "--no-deps", ROOT, "-w", folder)
    (built,) = folder.glob("*.whl")
    return built


def install(pip, home, *packages):
    """Install packages in an environment."""
    run(*pip, "--python", home / "bin" / "python", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *packages)


@pytest.fixture(scope="module")
def environment(pip, wheel, tmp_path_factory):
    """Return a function that makes an environment of a version of Python, once: it has the wheel and what that depends on."""
    @cache
    def made(version):
        python = interpreter(version)
        if python is None:
            pytest.skip(f"Python {version} with ensurepip is not installed here")
        home = tmp_path_factory.mktemp("environment")
        run(python, "-m", "venv", "--without-pip", home)
        install(pip, home, wheel)
        return home
    return made


def outside():
    """Return the environment variables of somebody who has only the wheel."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"TQDM_DISABLE": "1"}


# This Python runs the same blocks and cells from the checkout in each `make test`; from the wheel, where there is no other.
# What lessons need is installed beside the wheel after it has been alone.
@pytest.mark.parametrize("versions", [("3.13", "3.11"), pytest.param(("3.11",), marks=pytest.mark.long)], ids=["newest", "oldest"])
def test_the_wheel_runs_the_readme_in_an_empty_environment(versions, environment, tmp_path):
    """The wheel alone, without notebooks and widgets, runs every Python block of the README."""
    home = environment(first_of(versions))
    printed = run(home / "bin" / "python", "-c", EXAMPLES, ROOT / "README.md", home, cwd=tmp_path, env=outside())
    assert "True False" in printed


@pytest.mark.parametrize(("versions", "every"), [
    (("3.13", "3.11"), 4), pytest.param(("3.13", "3.11"), 1, marks=pytest.mark.long),
    pytest.param(("3.11",), 1, marks=pytest.mark.long)], ids=["newest, a few", "newest", "oldest"])
def test_lessons_run_from_the_wheel_in_an_empty_folder(versions, every, pip, environment, tmp_path):
    """The wheel brings the lessons: copied to an empty folder, their cells run without a checkout."""
    home = environment(first_of(versions))
    install(pip, home, "ipywidgets", "anywidget", "altair", "cloudpickle")
    folder = tmp_path / "empty"
    folder.mkdir()
    run(home / "bin" / "kvolsched", "lessons", "./course", cwd=folder, env=outside())
    run(home / "bin" / "python", "-c", LESSONS, home, every, cwd=folder, env=outside() | {"IPYTHONDIR": str(tmp_path)})

    assert sorted(path.name for path in (folder / "course" / "notebooks").glob("*.ipynb")) == [
        path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


def test_the_wheel_is_small_and_typed(wheel):
    """With all lessons it stays under 10 MB, and type checkers read its annotations."""
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as content:
        assert "kvolsched/py.typed" in content.namelist()


def test_a_package_index_shows_the_readme_without_dead_links(wheel):
    """The description keeps every heading and block of the README, its links that lead somewhere, and no others."""
    readme = (ROOT / "README.md").read_text("utf-8")
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".dist-info/METADATA"))
        told = message_from_bytes(content.read(name))
    shown = told.get_payload(decode=True).decode()

    assert "text/markdown" == told["Description-Content-Type"]
    assert re.findall(r"\]\((https?:[^)]*)\)", readme) == re.findall(r"\]\(([^)]*)\)", shown)
    for kept in (r"(?m)^#.*", r"```[^`]*```"):
        assert re.findall(kept, readme) == re.findall(kept, shown)


@pytest.mark.skipif(os.name == "nt" or find_spec("pip") is None, reason="needs a shell, and pip in this environment")
def test_an_installation_prints_one_line_and_its_errors(tmp_path):
    """`make lab` says once that it installs; pip's warnings about its sources stay out, and what fails is shown."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "nowhere"), "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run([ROOT / ".ci" / "environment", "python", tmp_path / "venv", "lab"], cwd=ROOT, check=False,
                          capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **nowhere})  # fmt: skip

    assert done.returncode != 0
    assert "ERROR: " in done.stderr
    assert [] == [line for line in done.stderr.splitlines() if line.startswith("WARNING: ")]
    assert 1 == done.stderr.count("kvolsched: installing kvolsched[lab]")
