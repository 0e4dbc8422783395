"""`kvolsched serve`: it says where, steps on Enter, ends cleanly on Ctrl-C, and refuses a port that is taken."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

from click.testing import CliRunner

from kvolsched.cli import commands, main

ROOT = Path(__file__).parent.parent.parent


def test_it_says_where_steps_on_enter_and_ends_on_ctrl_c(tmp_path):
    """The first line is said when it is ready, the second says what to type; Enter makes a step; Ctrl-C ends it with code 0."""
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # not so in what a script put aside
    command = [sys.executable, "-c", f"{hears}; from kvolsched.cli import main; main()", "serve", "zonal-example",
               "--kubeconfig", "config"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    words, name, at, url = process.stdout.readline().rsplit(maxsplit=3)
    assert (words, name, at) == ("serving", "zonal-example", "at")
    assert process.stdout.readline() == "in another terminal: kubectl --kubeconfig='config' get pods; Enter makes a step, Ctrl-C ends it\n"
    config = json.loads((tmp_path / "config").read_text())
    assert config["clusters"][0]["cluster"]["server"] == url
    assert (tmp_path / "config").stat().st_mode & 0o777 == 0o600
    with urllib.request.urlopen(f"{url}/readyz") as answer:
        assert answer.read() == b"ok"
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("step 1, t=0 s: Scheduler judges my-pod")
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0


def test_a_taken_port_is_said():
    """A port that another program has is refused in one sentence, with the code of wrong input."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["serve", "zonal-example", "--port", str(port)])
    assert f"port {port} of 127.0.0.1 cannot be had" in done.output
    assert done.exit_code == 2


def test_a_live_cluster_needs_no_enter(monkeypatch):
    """With --live the line that says what to type names only Ctrl-C, and nothing is read."""
    monkeypatch.setattr(commands, "Event", lambda: SimpleNamespace(wait=lambda: None))
    done = CliRunner().invoke(main, ["serve", "zonal-example", "--live"], input="\n")

    assert done.exit_code == 0
    assert re.fullmatch(r"serving zonal-example at (\S+)\nin another terminal: kubectl --server=\1 get pods; Ctrl-C ends it\n", done.output)
