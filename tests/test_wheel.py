"""The wheel, installed in an empty environment, runs the README's examples: on this Python, and on 3.13 if it is installed."""

import os
import shutil
import subprocess
import sys
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


@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_the_wheel_runs_the_readme_in_an_empty_environment(version, pip, wheel, tmp_path):
    """The wheel alone, without notebooks and widgets, runs every Python block of the README."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} with ensurepip is not installed here")
    home = tmp_path / "environment"
    run(python, "-m", "venv", "--without-pip", home)
    run(*pip, "--python", home / "bin" / "python", "install", "--quiet", "--no-compile", "--disable-pip-version-check", wheel)
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    printed = run(
        home / "bin" / "python", "-c", EXAMPLES, ROOT / "README.md", home,
        cwd=tmp_path, env={**outside, "TQDM_DISABLE": "1"},
    )  # fmt: skip
    assert "True False" in printed
