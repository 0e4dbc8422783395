"""How any command ends: what it prints, where, and with which exit code, whatever is raised in it."""

import errno
import gc
import io
import json
import sys
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from kvolsched import Cluster, UnknownName, make
from kvolsched.api.notebook_output import IN_TERMINAL
from kvolsched.api.text.fault import ManifestError
from kvolsched.cli import output
from kvolsched.cli.output import SOURCE, Commands, PathType, Refused, load_engine, say
from kvolsched.core.results import ApplyRefused
from kvolsched.kubectl import ResourceNotFound


@click.group(cls=Commands)
def main():
    """Do something."""


def called(*words, work=None, text=None):
    """Run a command that does this; return its exit code, what it printed, and what it said to stderr."""
    @main.command("work")
    @click.option("--json", is_flag=True)
    @click.argument("sources", nargs=-1, type=SOURCE)
    def _work(sources, json):
        """Work long. Then rest."""
        say("begun")
        return work(sources)

    done = CliRunner().invoke(main, list(words) or ["work"], input=text, prog_name="kvolsched")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def raising(error):
    """Return work that ends so."""
    def work(_):
        raise error
    return work


def no_space(filename=None, number=errno.ENOSPC):
    """Return an error of the system."""
    return OSError(number, "No space left on device", filename)


ENDS = [
    (KeyboardInterrupt(), 130, ""), (SystemExit(7), 7, ""), (click.exceptions.Exit(5), 5, ""), (Refused("a \x1b wrong name"), 2, "Error: a \\x1b wrong name\n"),
    (click.ClickException("odd"), 1, "Error: odd\n"), (UnknownName("no pod/a"), 2, "Error: no pod/a\n"), (BrokenPipeError(), 141, ""),
    (no_space(), 2, "Error: cannot write the output: No space left on device\n"), (no_space("x.html"), 2, "Error: x.html: No space left on device\n"),
    (no_space("x.html", errno.EACCES), 2, "Error: x.html: No space left on device\n"), (OSError("closed"), 2, "Error: cannot write the output: closed\n"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "code", "said"), ENDS, ids=lambda each: repr(each)[:40])
def test_each_end_has_its_exit_code(error, code, said):
    """What was printed before stays; a failure is one printable sentence."""
    assert (code, "begun\n", said) == called(work=raising(error))


@pytest.mark.parametrize(("error", "words"), [(Refused("wrong"), "wrong"), (UnknownName("no pod/a"), "no pod/a"), (no_space("x"), "x: No space left on device")])
def test_a_failure_is_json_where_the_answer_would_be(error, words):
    """With --json it is one document on standard output; without it is a sentence on the other stream."""
    code, out, said = called("work", "--json", work=raising(error))

    assert (2, "begun\n" + json.dumps({"error": words}) + "\n", "") == (code, out, said)
    assert (2, "begun\n", f"Error: {words}\n") == called("work", work=raising(error))


@pytest.mark.parametrize(("hint", "said"), [("there are: a", 'pods "b" not found\nthere are: a\n'), ("", 'pods "b" not found\n')])
def test_kubectls_errors_are_said_in_its_words(hint, said):
    """With a hint below, where there is one, and without *Error:* before it."""
    assert (2, "begun\n", said) == called(work=raising(ResourceNotFound('pods "b" not found', hint)))


@pytest.mark.parametrize(("manifest", "kind"), [("kind: [", ManifestError), (make.pod("A"), ApplyRefused)])
def test_what_a_server_refuses_is_a_wrong_input(manifest, kind):
    """Its words are the sentence."""
    with pytest.raises(kind) as refused:
        Cluster().apply(manifest)
    assert (2, "begun\n", f"Error: {refused.value}\n") == called(work=raising(refused.value))


def test_an_answer_is_that_of_a_terminal():
    """While a command runs its answers are printed for a terminal, and no longer after it; texts are made harmless."""
    seen = []
    assert (0, "begun\n", "a\\x1bb\n") == called(work=lambda _: seen.append(IN_TERMINAL.get()) or say("a\x1bb", err=True))
    assert ([True], False) == (seen, IN_TERMINAL.get())


def test_help_has_whole_sentences_and_the_exit_codes():
    """Each command in its order with its first sentence, then what the codes mean, in 60 columns."""
    called(work=len)
    code, text, _ = called("--help")
    table = " ".join(text.partition("Commands:")[2].split())

    assert (0, "work Work long. Exit codes:") == (code, table.partition(" 0 ")[0])
    assert table.partition("Exit codes: ")[2] == " ".join(f"{code} {words}" for code, words in output.EXIT_CODES.items())
    assert 60 >= max(map(len, text.splitlines()))


@pytest.mark.parametrize(("word", "said"), [("wrk", "there is no command 'wrk'; did you mean work?"), ("x\x1b", "there is no command 'x\\x1b'"),
                                            ("--nope", "No such option")])
def test_an_unknown_command_is_named(word, said):
    """With the nearest one; an option is click's own."""
    called(work=len)
    code, _, words = called(word)

    assert (2, True) == (code, said in words), words


def test_standard_input_is_read_once(tmp_path, monkeypatch):
    """`-` is its text, with one character more than is read of a file; a second one is refused; a file is a path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("")
    read = []
    assert 0 == called("work", "-", "there", work=read.extend, text="one\ntwo")[0]
    assert (("standard input", b"one\ntwo"), "there") == ((read[0].name, read[0].content), str(read[1]))
    assert "standard input can be read only once" in called("work", "-", "-", work=len, text="")[2]
    assert "'gone' does not exist" in called("work", "gone", work=len)[2]
    monkeypatch.setattr("kvolsched.api.text.fault.LIMITS", SimpleNamespace(size=10))
    called("work", "-", work=read.extend, text="x" * 20)
    assert 11 == len(read[-1].content)


def test_the_engine_is_loaded_once(monkeypatch):
    """Where it is loaded nothing is done; else it is imported without garbage being collected, and what is there is kept from that."""
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(gc.isenabled()))
    load_engine()
    assert [] == frozen


def test_characters_that_a_terminal_lacks_are_written_as_codes(monkeypatch):
    """A stream of few characters gets codes in their place, and is no error."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    group = Commands("odd", commands={"work": click.Command("work", callback=lambda: print("✓") or print("✕", file=sys.stderr))})
    with pytest.raises(SystemExit) as ended:
        group.main(["work"])

    assert (0, [b"\\u2713\n", b"\\u2715\n"]) == (ended.value.code, [stream.flush() or stream.buffer.getvalue() for stream in streams])


def test_a_path_is_one_whatever_is_asked_of_it(tmp_path):
    """Its type keeps what click checks."""
    path = PathType(exists=True, dir_okay=False)
    (tmp_path / "a").write_text("")

    assert tmp_path / "a" == path.convert(str(tmp_path / "a"), None, None) == path.convert(str(tmp_path / "a").encode(), None, None)
    with pytest.raises(click.BadParameter, match="is a directory"):
        path.convert(str(tmp_path), None, None)
