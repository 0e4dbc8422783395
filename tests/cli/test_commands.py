"""What all commands have in common: their help in 60 columns with an example, and what their exit codes mean."""

import json
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from kvolsched import Cluster, make
from kvolsched.api.notebook_output import IN_TERMINAL
from kvolsched.cli import main
from kvolsched.cli.commands import RulesType, parse_time
from kvolsched.cli.output import EXIT_CODES, HELP_WIDTH
from kvolsched.learn.class_report import ClassGrade
from kvolsched.learn.incidents import incidents
from kvolsched.measure.conform.agreement import Agreement
from kvolsched.questions.why import pending
from kvolsched.rules.named import REVISIONS

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


@pytest.mark.parametrize("opens", [True, False])
def test_a_night_is_written_and_opened(opens, monkeypatch, tmp_path):
    """The command says where the page is, and a browser shows it unless nobody wants one."""
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    monkeypatch.setattr("kvolsched.learn.night.save_night", lambda file: file)
    page = tmp_path / "ten-minutes.html"

    assert (0, f"{page}\n") == call("night", *([] if opens else ["--no-browser"]))
    assert ([page.as_uri()] if opens else []) == shown


@pytest.mark.parametrize(("words", "folder", "arguments"), [
    ((), "kvolsched-lessons", ()), (("./course",), "course", ()), (("./course", "--no-browser", "x"), "course", ("--no-browser", "x")),
    (("--no-browser",), "kvolsched-lessons", ("--no-browser",)), (("--port=1", "--no-browser"), "kvolsched-lessons", ("--port=1", "--no-browser")),
])  # fmt: skip
def test_the_lab_opens_copied_lessons(words, folder, arguments, monkeypatch):
    """Lessons are copied first; JupyterLab gets all other words, and its exit code is the command's."""
    asked = []
    monkeypatch.setattr("kvolsched.learn.lessons.copy_lessons", lambda folder, *, force: asked.append((str(folder), force)) or "copied")
    monkeypatch.setattr("kvolsched.learn.lessons.open_lab", lambda folder, given: asked.append((str(folder), given)) or 3)

    assert (3, "'copied'\n") == call("lab", *words)
    assert [(folder, False), (folder, arguments)] == asked


def test_without_jupyterlab_the_lab_says_what_to_install(monkeypatch):
    """What is missing is said in one sentence, after the lessons were copied."""
    def missing(*_):
        raise ModuleNotFoundError("install jupyterlab")

    monkeypatch.setattr("kvolsched.learn.lessons.copy_lessons", lambda *_, **__: "copied")
    monkeypatch.setattr("kvolsched.learn.lessons.open_lab", missing)

    assert (2, "'copied'\nError: install jupyterlab\n") == call("lab")


@pytest.mark.parametrize(("words", "force"), [((), False), (("--force",), True)])
def test_lessons_are_copied_over_changes_only_by_force(words, force, monkeypatch):
    """The folder is the usual one; a folder that is there needs no path."""
    asked = []
    monkeypatch.setattr("kvolsched.learn.lessons.copy_lessons", lambda folder, *, force: asked.append((str(folder), force)) or "copied")
    Path("there").mkdir()

    assert [(0, "'copied'\n")] * 2 == [call("lessons", *words), call("lessons", "there", *words)]
    assert [("kvolsched-lessons", force), ("there", force)] == asked


@pytest.mark.parametrize(("name", "text", "code", "said"), [
    ("decode", "0/3 nodes are available: 3 Insufficient cpu.", 0, "Insufficient cpu"), ("decode", "nobody writes this", 1, "nobody writes this"),
    ("said", "topology spread", 0, "S3-"), ("said", "xyzzy", 1, "no statement fits"),
])  # fmt: skip
def test_what_is_pasted_may_come_through_a_pipe(name, text, code, said):
    """Without words standard input is read; the answer and the exit code are those of the words."""
    piped = CliRunner().invoke(main, [name], input=text)

    assert (code, piped.output) == call(name, *text.split()) == (piped.exit_code, piped.output)
    assert said in piped.output


@pytest.mark.parametrize(("found", "code"), [(True, 0), (False, 1)])
def test_a_machine_that_is_not_ready_ends_with_1(found, code, monkeypatch):
    """What was looked at is printed."""
    monkeypatch.setattr("kvolsched.learn.ready.ready", lambda: [found] * found)
    assert (code, f"{[found] * found}\n") == call("ready")


@pytest.mark.parametrize(("stars", "code"), [(3, 0), (2, 1)])
def test_a_page_is_played_through_a_pipe(stars, code, monkeypatch):
    """Each line is a command, a hint or undone; what follows *done* is not read; three stars end it with 0."""
    done = []

    class Page:
        """A page that notes what it is told."""

        def __repr__(self):
            return "the page"

        def hint(self):
            """Give a hint."""
            return "a hint"

        def undo(self):
            """Undo."""
            return ["undone"]

        def kubectl(self, line):
            """Note a command."""
            done.append(line)
            return f"did {line}"

        def done(self):
            """End it."""
            return SimpleNamespace(stars=SimpleNamespace(count=stars))

    monkeypatch.setattr("kvolsched.learn.pager.page", lambda *asked: done.append(asked) or Page())
    monkeypatch.setattr("kvolsched.learn.class_report.report", lambda name: f"report of {name}")
    said = CliRunner().invoke(main, ["page", "ada", "--level", "2", "--number", "3", "--report"], input="get pods\n\n hint \nundo\ndone\nget nodes\n")
    plain = CliRunner().invoke(main, ["page", "ada"], input="")

    assert [("ada", 2, 3), "get pods", ("ada", 1, 1)] == done
    assert [code, code] == [said.exit_code, plain.exit_code]
    assert ["the page", "", "kubectl commands, hint, undo, done", "did get pods", "a hint", "['undone']"] == said.output.splitlines()[:6]
    assert ("report of ada", False) == (said.output.splitlines()[-1], "report of" in plain.output)


@pytest.mark.parametrize(("remarks", "code"), [([(), ()], 0), ([(), ("odd",)], 1), ([], 0)])
def test_an_odd_report_ends_with_1(remarks, code, monkeypatch):
    """All files are judged together; what is no report is a wrong input."""
    found = ClassGrade.__new__(ClassGrade)
    monkeypatch.setattr(ClassGrade, "__repr__", lambda _: "grades")
    monkeypatch.setattr(ClassGrade, "__iter__", lambda _: iter([SimpleNamespace(remarks=each) for each in remarks]))
    asked = []
    monkeypatch.setattr("kvolsched.learn.class_report.grade", lambda *files: asked.append([file.name for file in files]) or found)

    assert ((code, "grades\n"), [["app.yaml", "dump.yaml"]]) == (call("grade", "app.yaml", "dump.yaml"), asked)
    monkeypatch.undo()
    assert 2 == call("grade", "app.yaml")[0]


def test_an_incident_is_played_from_its_symptom_to_its_cures():
    """The best match is shown whole below the list; nothing is shown of none."""
    found = incidents("dead-zone")
    typed = IN_TERMINAL.set(True)
    parts = [f"{found!r}", f"{found[0]!r}", f"{found[0].symptom!r}", f"{found[0].asked_question().give_up()!r}", f"{found[0].cure()!r}"]
    IN_TERMINAL.reset(typed)

    assert (0, "\n\n".join(parts) + "\n") == call("incidents", "dead-zone", "--play")
    assert call("incidents", "xyzzy", "--play") == call("incidents", "xyzzy")


def streams(*words, text=None):
    """Run a command; return its exit code, what it printed, and what it said to stderr."""
    done = CliRunner().invoke(main, words, input=text, prog_name="kvolsched")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


class Found(SimpleNamespace):
    """What a search found."""

    def __repr__(self):
        return "what was found"


@pytest.mark.parametrize(("words", "found", "code", "most", "more"), [
    ((), {"exhausted": True}, 0, "30 s or 200,000 states; --lag none has far fewer states", ""),
    (("--lag", "none", "--seconds", "3"), {"counterexample": True}, 1, "3 s or 200,000 states", ""),
    (("--lag", "none", "--seconds", "3", "--max-states", "50"), {}, 0, "3 s or 50 states", "More time or states: --seconds 60 --max-states 500.\n"),
    (("--lag", "per kind", "--seconds", "7.5"), {}, 0, "7.5 s or 200,000 states; --lag none has far fewer states",
     "More time or states: --seconds 75 --max-states 2000000.\n"),
    ((), {"ended": "interrupted"}, 130, "30 s or 200,000 states; --lag none has far fewer states", ""),
    ((), {"ended": "interrupted", "counterexample": True}, 130, "30 s or 200,000 states; --lag none has far fewer states", ""),
])  # fmt: skip
def test_a_search_says_how_long_it_may_take(words, found, code, most, more, monkeypatch):
    """Before it how far it goes, after it how it would go further; what it found is the answer."""
    asked = []
    monkeypatch.setattr("kvolsched.Cluster.explore", lambda _self, **given: asked.append(given) or Found(
        **{"exhausted": False, "counterexample": None, "ended": ""} | found))
    given = dict(zip(words[::2], words[1::2], strict=True))

    assert (code, "what was found\n", f"Searching every order of turns of zones for at most {most}; Ctrl-C ends it with what was found.\n{more}") == (
        streams("explore", "zones", *words))
    assert [{"lag": given.get("--lag", "ordered"), "seconds": float(given.get("--seconds", 30)), "max_states": int(given.get("--max-states", 200_000))}] == asked


@pytest.mark.parametrize(("words", "given"), [
    (("a", "b"), ("a", "b", 0, 200, {"of": ("answers", "nodes"), "about": []})),
    (("a", "b", "--examples", "3", "--seed", "4", "--of", " words ,, ends", "--about", "spread, volumes,"),
     ("a", "b", 4, 3, {"of": ["words", "ends"], "about": ["spread", "volumes"]})),
])  # fmt: skip
@pytest.mark.parametrize(("found", "interrupted", "code"), [(True, False, 1), (False, False, 0), (True, True, 130), (False, True, 130)])
def test_two_sets_of_rules_are_compared(words, given, found, interrupted, code, monkeypatch):
    """What is written is what is asked, parts without a word are none; either form has the same exit code."""
    asked = []

    class Answer(Found):
        """An answer that may be none."""

        def __bool__(self):
            return found

        def as_data(self):
            """Return it as data."""
            return {"a": 1}

    def differ(*arguments, progress, **named):
        asked.append((*arguments, named))
        return Answer(interrupted=interrupted, progress=progress)

    monkeypatch.setattr("kvolsched.measure.differ.differ", differ)
    monkeypatch.setattr("kvolsched.measure.differ.outcome.USUAL", ("answers", "nodes"))

    assert (code, "what was found\n", "") == streams("differ", *words)
    assert (code, '{"a": 1}\n', "") == streams("differ", *words, "--json")
    assert [given, given] == asked


@pytest.mark.parametrize(("words", "given"), [
    ((), ((), (100, 1000, 5000, 20000), {})),
    (("basic", "zonal", "--fit", " 2, 30,", "--nodes", "7", "--pods", "8", "--limit", "1.5", "--runs", "3", "--aims", "--dump", "9", "--gate", "--write",
      "x", "--json"), (("basic", "zonal"), (2, 30), {"nodes": 7, "pods": 8, "limit": 1.5, "runs": 3, "aims": True, "dump": 9, "gate": True, "write": "x",
                                                    "as_json": True})),
])
def test_a_benchmark_is_asked_for(words, given, monkeypatch):
    """Every option is handed over, and its exit code is the command's."""
    asked = []
    monkeypatch.setattr("kvolsched.measure.bench.bench", lambda workloads, *, fit, **named: asked.append((workloads, fit, named)) or 4)
    usual = {"nodes": 5_000, "pods": 1_000, "limit": 20.0, "runs": 2, "aims": False, "dump": 0, "gate": False, "write": "", "as_json": False}

    assert (4, "", "") == streams("bench", *words)
    assert [(*given[:2], usual | given[2])] == asked
    for fit in ("1", "2,x", "1,2"):
        assert f"Invalid value for --fit: {fit!r}: write numbers of nodes from 2 on, such as 100,20000" in streams("bench", "--fit", fit)[2]


@pytest.mark.parametrize(("words", "asks"), [
    (("--live",), (None, None)), (("--live", "--context", "c", "-n", "a", "-n", "b"), ("c", ("a", "b"))),
])  # fmt: skip
def test_a_live_cluster_is_read(words, asks, monkeypatch):
    """What was not read is said; the answer is that of a dump."""
    asked = []

    def read(*arguments, revision):
        asked.append((*arguments, revision))
        return Found(remarks=["nodes were not read"], why=lambda **_: Found())

    monkeypatch.setattr("kvolsched.Cluster.from_kubectl", read)

    assert (0, "what was found\n", "nodes were not read\n") == streams("why", *words, "--revision", "design")
    assert [(*asks, "design")] == asked


@pytest.mark.parametrize("words", [(), ("dump.yaml", "--live"), ("dump.yaml", "--context", "c"), ("dump.yaml", "-n", "a")])
def test_a_dump_or_a_live_cluster_is_asked(words):
    """Neither, both, or an option of the one for the other is refused in one sentence."""
    code, _, said = streams("why", *words)
    assert (2, "Error: name a DUMP, or ask a real cluster: --live [--context NAME] [-n NAMESPACE]") == (code, said.splitlines()[-1])


@pytest.mark.parametrize(("words", "text"), [
    ((), "why"), (("--most", "1"), "why most"), (("--pod", "large"), "why pod"), (("--pod", "large", "--fix"), "why pod fix"), (("--fix",), "fixes"),
])  # fmt: skip
def test_why_of_a_dump(words, text):
    """Causes of all pending pods or of one, with its fixes below; with fixes alone those of each that is pending."""
    Path("two.yaml").write_text("\n---\n".join(map(json.dumps, [make.node("n1", cpu="2"), LARGE, make.pod("larger", cpu="10"), make.pod("gpu", cpu="11")])))
    c = Cluster.from_manifests(Path("two.yaml"), revision="upstream")
    expected = {
        "why": f"{c.why(most=20)!r}", "why most": f"{c.why(most=1)!r}", "why pod": f"{c.why('large')!r}", "why pod fix": f"{c.why('large')!r}\n\n{c.fix('large')!r}",
        "fixes": "\n\n".join(repr(c.fix(pod)) for pod in pending(c)),
    }[text]  # fmt: skip
    assert (0, expected + "\n") == streams("why", "two.yaml", *words)[:2]
    assert 3 == len(pending(c))


@pytest.mark.parametrize(("words", "code", "out", "said"), [
    (("dump.yaml", "nodes", "-o", "name"), 0, "node/n1\n", ""), (("dump.yaml", "app.yaml", "pods", "-o", "name"), 0, "pod/app\npod/large\n", ""),
    (("dump.yaml", "pods", "-n", "none"), 0, "", "No resources found in none namespace.\nOther namespaces have some: -n NAMESPACE, or -A for all.\n"),
    (("dump.yaml", "pvc"), 0, "", "No resources found in default namespace.\n"), (("dump.yaml", "pvc", "-A"), 0, "", "No resources found\n"),
    (("dump.yaml", "pods", "-n", "none", "-o", "name"), 0, "", ""),
    (("dump.yaml",), 2, "", "Error: name a kind after the dump, such as pods, pvc or nodes.\n"),
    (("gone.yaml", "pods"), 2, "", "Error: the first word must be a dump: 'gone.yaml' is no file or directory.\n"),
    (("pods",), 2, "", "Error: the first word must be a dump: 'pods' is no file or directory.\n"),
    (("dump.yaml", "app.yaml"), 2, "", "Error: name a kind after the dump, such as pods, pvc or nodes.\n"),
    (("dump.yaml", "pods", "--now", "never"), 2, "",
     "Error: Invalid value for '--now': 'never' is not a time; write for example 2026-01-31T12:00:00Z\n"),
])  # fmt: skip
def test_objects_of_dumps_are_listed(words, code, out, said):
    """Dumps come first, up to the first kind; where only other namespaces have some that is said."""
    found = streams("get", *words)
    told = found[2].rpartition("\n\n")[2] if code else found[2]
    assert (code, out.strip(), said) == (found[0], found[1].strip(), told)


def test_a_time_without_a_zone_is_utc():
    """Any other zone is kept."""
    times = [parse_time(text) for text in ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00", "2026-01-31T13:00:00+01:00", "2026-01-31")]
    assert [datetime(2026, 1, 31, 12, tzinfo=UTC)] * 3 == times[:3]
    assert datetime(2026, 1, 31, tzinfo=UTC) == times[3]


def test_names_of_rules_are_completed():
    """Those that begin as what is typed."""
    rules = RulesType()
    assert ["upstream"] == [each.value for each in rules.shell_complete(None, None, "up")]
    assert list(REVISIONS) == [each.value for each in rules.shell_complete(None, None, "")]


class Served:
    """A cluster that is served, which notes what is done."""

    def __init__(self, done):
        self.done = done

    def __enter__(self):
        self.done.append("begun")

    def __exit__(self, *_):
        self.done.append("ended")

    def url(self):
        """Return where."""
        return "http://localhost:1"

    def kubeconfig(self, path):
        """Note it."""
        self.done.append(str(path))


@pytest.mark.parametrize(("words", "where", "asked", "steps"), [
    (("zones",), ("zones", "--server=http://localhost:1", "Enter makes a step, "), (0, "steps"), 2),
    (("zones", "--live", "--port", "7"), ("zones", "--server=http://localhost:1", ""), (7, "live"), 0),
    (("zones", "--kubeconfig", "k.yaml"), ("zones", "--kubeconfig='k.yaml'", "Enter makes a step, "), (0, "steps"), 2),
    (("dump.yaml",), ("dump.yaml", "--server=http://localhost:1", "Enter makes a step, "), (0, "steps"), 2),
])
def test_a_cluster_is_served_until_ctrl_c(words, where, asked, steps, monkeypatch):
    """Where it is and how kubectl goes there is said; each line of input makes a step, until there is none."""
    done, given = [], []

    def waited():
        raise KeyboardInterrupt

    monkeypatch.setattr("kvolsched.Cluster.serve", lambda _self, port, *, pace: given.append((port, pace)) or Served(done))
    monkeypatch.setattr("kvolsched.cli.commands.Event", lambda: SimpleNamespace(wait=waited))
    taken = iter(["one step"])
    monkeypatch.setattr("kvolsched.Cluster.step", lambda _self: next(taken, None))
    code, out, _ = streams("serve", *words, text="\n\n")
    first, second, *rest = out.splitlines()

    assert (0, [asked], ["begun", *(["k.yaml"] if "k.yaml" in words else []), "ended"]) == (code, given, done)
    assert (f"serving {where[0]} at http://localhost:1", f"in another terminal: kubectl {where[1]} get pods; {where[2]}Ctrl-C ends it") == (first, second)
    assert ["one step", "nothing is left to do"][:steps] == rest


def test_a_redacted_dump_has_its_names_in_a_secret_file(tmp_path):
    """The file of old names is called a secret, is for its owner alone, and is said to be one."""
    code, out, said = streams("redact", "dump.yaml", "-o", "out.json", "--map", "names.json", "--salt", "s")
    names = json.loads(Path("names.json").read_text())

    assert (0, "", "SECRET: this file has the old names of a redacted dump. Do not share it.") == (code, out, names["secret"])
    assert "names.json has the old names: it is secret, do not share it" == said.splitlines()[-1]
    assert ({"n1", "large"} <= set(names["names"].values()), 0o600) == (True, (tmp_path / "names.json").stat().st_mode & 0o777)
    assert json.loads(Path("out.json").read_text())
    again = streams("redact", "dump.yaml", "-o", "out.json")
    assert (2, True) == (again[0], "out.json" in again[2])
    assert 0 == streams("redact", "dump.yaml", "-o", "out.json", "--force")[0]
    assert "kind: Node" in streams("redact", "dump.yaml")[1]
