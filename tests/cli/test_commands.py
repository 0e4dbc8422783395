"""What all commands have in common: their help in 60 columns with an example, and what their exit codes mean."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kvolsched import make
from kvolsched.cli import main
from kvolsched.cli.output import EXIT_CODES, HELP_WIDTH
from kvolsched.measure.conform.agreement import Agreement

ROOT = Path(__file__).parent.parent.parent
COMMANDS = sorted(main.commands)
EXAMPLE = re.compile(r"^  Example: (kvolsched .*)$", re.MULTILINE)
APP, LARGE = make.pod("app", cpu="1"), make.pod("large", cpu="9")


def call(*words):
    """Run a command, and give its exit code and all that it prints."""
    done = CliRunner().invoke(main, words, prog_name="kvolsched")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def help_of(*words):
    """Return the help of a command, or of all."""
    code, text = call(*words, "--help")
    assert code == 0
    return text


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Work in a folder with a dump, and manifests that fit and that do not."""
    for name, objects in {"dump.yaml": [make.node("n1", cpu="2"), LARGE], "app.yaml": [APP], "large.yaml": [LARGE]}.items():
        (tmp_path / name).write_text("\n---\n".join(map(json.dumps, objects)))
    (tmp_path / "tests" / "conformance").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS)])
def test_help_fits_a_narrow_terminal(words):
    """No line of a help is longer than 60 characters, and no sentence is cut with dots."""
    text = help_of(*words)
    assert [line for line in text.splitlines() if len(line) > HELP_WIDTH] == []
    assert "..." not in text.partition("\n\n")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_whole_sentences(name):
    """Each command stands in the list with the first sentence of its own help, to its end."""
    sentence = re.match(r"Usage: [^\n]*(?:\n {4,}[^\n]*)*\n\n(.*?\.)(?=\s)", help_of(name), re.DOTALL)[1]
    assert f"{name} {' '.join(sentence.split())} " in " ".join(help_of().split())


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS)])
def test_every_help_has_an_example_that_can_be_run(words):
    """The example is a command with arguments that it takes; a command's own example is of that command."""
    (example,) = EXAMPLE.findall(help_of(*words))
    _, name, *rest = shlex.split(example)
    assert words in [(), (name,)]
    with main.make_context("kvolsched", [name, *rest]) as context:
        assert main.commands[name].make_context(name, rest, parent=context).params is not None


def test_one_table_says_what_exit_codes_mean():
    """The help of all commands has a line for each code, and the README names each of them."""
    table = " ".join(help_of().partition("Exit codes:")[2].split())
    row = next(line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if "`kvolsched --help`" in line)
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning}" in table
        assert f" {code} " in row


@pytest.mark.parametrize(("words", "code"), [
    ("check app.yaml --cluster dump.yaml", 0),
    ("check large.yaml --cluster dump.yaml", 1),
    ("check app.yaml --cluster dump.yaml --without zone=q", 2),
    ("check dump.yaml --cluster gone.yaml", 2),
    ("check app.yaml --cluster dump.yaml --json --revision nonsense", 2),
    ("conform tests/conformance", 2),
    ("decode 'the moon is full'", 1),
    ("decode ''", 2),
    ("differ design upstraem", 2),
    ("differ design upstream --of 'answers, nodes,' --about volumes,spread --examples 1", 0),
    ("differ design upstream --of 'answers, moon' --examples 1", 2),
    ("bench zonall", 2),
    ("explore dead-zone --lag none", 1),
    ("explore disk-stolen --lag none", 0),
    ("explore dead-zoen", 2),
    ("explore dead-zone --lag no", 2),
    ("get dump.yaml pods", 0),
    ("get dump.yaml podz", 2),
    ("get dump.yaml pods nobody", 2),
    ("get dump.yaml pods/large nobody", 2),
    ("describe dump.yaml pod nobody", 2),
    ("incidents xyzzy", 1),
    ("incidents dead-zone", 0),
    ("lessons app.yaml", 2),
    ("lessons nope", 2),
    ("lab nope", 2),
    ("redact gone.yaml", 2),
    ("redact dump.yaml -o none/x.yaml", 2),
    ("run zoness", 2),
    ("run zones --set zons=3", 2),
    ("why dump.yaml", 0),
    ("why dump.yaml --pod nobody", 2),
    ("why dump.yaml --live", 2),
    ("whyy dump.yaml", 2),
])  # fmt: skip
def test_a_finding_is_1_and_a_wrong_input_2(words, code):
    """What a command looks for ends it with 1; a word, name or file that cannot be with 2; neither has a traceback."""
    assert code == call(*shlex.split(words))[0]


@pytest.mark.parametrize("flags", [(), ("--json",)])
@pytest.mark.parametrize("interrupted", [True, False])
def test_a_comparison_that_was_interrupted_does_not_pass_for_all(flags, interrupted, monkeypatch):
    """Ctrl-C ends `conform` with 130 and what was compared, and says in either form that this is not all."""
    found = Agreement(counts={"fit": {"nodes": [1, 1]}}, interrupted=interrupted)
    monkeypatch.setattr("kvolsched.measure.conform.conform", lambda *_, **__: found)
    told = {(): f"{found}\n", ("--json",): '{"fit": {"nodes": {"agree": 1, "of": 1}}}\n'
            + "interrupted: not all cases were compared\n" * interrupted}[flags]  # fmt: skip

    assert (130 if interrupted else 0, told) == call("conform", "tests", *flags)
    assert interrupted == ("interrupted" in told)


def test_files_without_an_object_are_named(tmp_path):
    """Files of space and comments are a wrong input, and each of them is named."""
    (tmp_path / "none.yaml").write_text("# nothing\n")
    (tmp_path / "empty.yaml").write_text("\n")
    code, said = call("why", "none.yaml", "empty.yaml")
    assert (code, said) == (2, "Error: none.yaml, empty.yaml: there is no object in it, only space or comments\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_ends_every_command_with_130(name, monkeypatch):
    """Whatever a command is at, Ctrl-C gives the exit code that shells have for it."""
    def pressed(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(main.commands[name], "callback", pressed)
    (example,) = EXAMPLE.findall(help_of(name))
    assert call(*shlex.split(example)[1:]) == (130, "")


@pytest.mark.parametrize(("words", "near"), [
    ("explor zones", "there is no command 'explor'; did you mean explore?"),
    ("explore zones --second 3", "'--seconds'"),
    ("run zones --revision upstraem", "did you mean upstream?"),
    ("run zoness", "did you mean zones"),
    ("run zones --set zons=3", "did you mean zones?"),
    ("get dump.yaml podz", "did you mean pod or pods?"),
])  # fmt: skip
def test_a_wrong_name_suggests_the_near_one(words, near):
    """Commands, options, rules, scenarios, parameters and kinds: the likest name is offered."""
    assert near in call(*shlex.split(words))[1]


def test_free_text_needs_no_quotes():
    """Words of one argument and words of several find the same incidents, and not all there are."""
    found = call("incidents", "waiting for first consumer")
    assert found == call("incidents", "waiting", "for", "first", "consumer")
    assert found != call("incidents")


def test_rules_may_have_settings():
    """`--revision` takes the names that are printed, which may have settings, as `differ` does."""
    assert call("why", "dump.yaml", "--revision", "design (beta)")[0] == 0
    assert "no maturity 'moon'" in call("why", "dump.yaml", "--revision", "design (moon)")[1]


def test_wrong_input_is_json_where_the_answer_would_be():
    """With --json a wrong option, file or name is one JSON document with the error, as a usage error is without it."""
    wrong = "check app.yaml --cluster dump.yaml --revision nonsense"
    code, text = call(*shlex.split(wrong), "--json")
    assert (2, ["error"]) == (code, list(json.loads(text)))
    assert json.loads(text)["error"] in call(*shlex.split(wrong))[1]
    for words in ("check gone.yaml --cluster dump.yaml --json", "differ design upstraem --json", "bench zonall --json"):
        assert "error" in json.loads(call(*shlex.split(words))[1])


@pytest.mark.parametrize("name", ["lessons", "lab"])
def test_a_bare_word_makes_no_folder(name, tmp_path):
    """A folder that is not there is made only if it is written as a path; the error says how."""
    before = sorted(tmp_path.iterdir())
    assert "there is no folder 'nope'; to make it, write ./nope" in call(name, "nope")[1]
    assert before == sorted(tmp_path.iterdir())


def test_a_setting_without_a_value_is_refused():
    """A part of the name of rules that is no pair is named, not left out."""
    for name in ("upstream (weights: x)", "upstream (weights: VolumeBinding=1, x)", "upstream (kube-scheduler: x)"):
        assert "settings of rules: 'x': write NAME=VALUE" in call("why", "dump.yaml", "--revision", name)[1]


def test_a_fault_of_standard_input_says_where_it_is():
    """What comes through a pipe has no file name: a wrong line of it is said to be of standard input."""
    done = CliRunner().invoke(main, ["why", "-"], input="kind: [")

    assert (2, True) == (done.exit_code, "\nstandard input, document 1, line 2: " in done.output), done.output


def test_lessons_do_not_go_where_a_file_is():
    """Where a folder cannot be made, the reason is said without the number of the error or a quoted path."""
    Path("taken").mkdir()
    (Path("taken") / "notebooks").write_text("")
    code, said = call("lessons", "taken")

    assert 2 == code
    assert said in ("Error: taken: Not a directory\n", "Error: taken: File exists\n")


def test_a_page_that_cannot_be_written_says_why():
    """Where there is no folder for the page, the reason is said without the number of the error or a quoted path."""
    assert (2, "Error: missing/x.html: No such file or directory\n") == call("night", "missing/x.html", "--no-browser")
