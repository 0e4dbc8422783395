"""Whether a machine can give the class."""

from importlib.metadata import PackageNotFoundError

import pytest
from click.testing import CliRunner

from kvolsched.cli import main
from kvolsched.learn import ready


def test_this_machine_can_give_the_class():
    """What the tests run in has all that a class needs: a line each, and a cell ran in a kernel."""
    found = ready.ready(60)

    assert found, found
    assert "✓ a kernel: a cell ran" in repr(found)
    assert repr(found).endswith("\nready")


def test_what_lacks_is_named(monkeypatch):
    """A package that is not installed is a line, no kernel is started, and the exit code is 1."""

    def version(name):
        if name == "anywidget":
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(ready, "version", version)
    monkeypatch.setattr(ready, "_kernel", lambda _seconds: pytest.fail("a kernel was started"))
    done = CliRunner().invoke(main, ["ready"])

    assert done.exit_code == 1
    assert "✕ anywidget: not installed" in done.output
    assert "pip install 'kvolsched[lab]'" in done.output
