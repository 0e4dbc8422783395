"""Mutate random lines of what speaks to readers, and count how many of the mutants the tests kill.

    python tests/mutate.py record [FILE...]           which test runs which statement: once, then after larger changes
    python tests/mutate.py run --lines 200 --seed 1   go on where the last run of this seed ended, then print the score
    python tests/mutate.py run --seed 2 FILE...       lines of these files of the package alone
    python tests/mutate.py score --seed 1             the score, and the survivors

With `--documents` before all of it: the lines of the rules that the design documents are about, and the cells of the
documents' notebooks alone as tests: is a cell that stays as it is proof of anything? What is no rule of the documents is
not drawn: a line that cells run under today's rules alone, a constant that such lines alone read, a default that the
documents' rules replace, what acts on later releases' fields alone (`SILENT`), and what tests/mutants.py leaves out of
modules of rules.

Not tried either is what `tests/equivalent_mutants.tsv` lists, mutant by mutant, each with the reason why it changes
nothing that anybody could see. Everything else counts.

No file of the tree is changed: every mutant is a fork of a process that has collected the tests, where it is put into
its function; one outside of functions stands in a temporary copy of the tree, which is imported anew. Only tests that run
the mutated line are run, those first that are quick and killed before; the first failure ends a mutant, and so do 60
seconds of processor time. A line outside of functions is run by importing it: its tests are those that run statements
with the names that it defines, or the function of which it has a default.
"""

import argparse
import ast
import gc
import gzip
import importlib
import inspect
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(Path(__file__).parent))

import mutants as m  # noqa: E402
import statements as s  # noqa: E402

MUTATED = ("views", "questions", "cli")
"""The folders and files of the package that are mutated."""

DOCUMENTED = ("api/validation/pod_update_rules.py", "api/volumes.py", "controllers/admission/documents.py",
              "controllers/persistent_volume", "controllers/provisioner", "rules/releases/design_documents.py",
              "rules/releases/early_draft.py", "rules/revision.py", "rules/settings.py",
              "scheduler/loop/binding_flow.py", "scheduler/loop/volume_binder.py",
              "scheduler/plugins/node_volume_limits.py", "scheduler/plugins/pod_topology_spread",
              "scheduler/plugins/volume_binding", "scheduler/plugins/volume_node.py",
              "scheduler/plugins/volume_restrictions.py", "scheduler/plugins/volume_rollback.py",
              "scheduler/plugins/volume_zone.py")  # fmt: skip
"""What the documents are about; how a verdict is told is for readers (`WORDS_OF_VERDICTS`), and is mutated elsewhere."""
WORDS_OF_VERDICTS = ("card.py", "evidence.py")
DOCUMENTS_VALUES = ("DESIGN", "DRAFT", "CHECK_VOLUME_BINDING", "MATCH_UNBOUND_PVCS", "EVEN_PODS_SPREAD", "NO_DISK_CONFLICT")
TODAYS = re.compile(  # what a cell runs only under today's rules
    r"\.(WaitInPreBind|CSIMigration|ClaimFailures|CapacityPublisher|CapacityShape|ShapePoint|StorageCapacityCheck)\."
)
SILENT = re.compile(r"""  # what the documents are silent about, although it runs under their rules, too: of later releases
    \.(_index_pod|_is_going|_stops_tracking_inline|mode|offered_by|single_pod_mode|_single_pod_users|with_offered):
    | \.counted_by_moving
    | \b(FILESYSTEM|FINALIZER|GROUPING_KINDS|MIGRATED_TO|SCORING_GATE|SINGLE_POD_MODE|WITH_GENERATIONS)\b
    | \b(assign_default_class|is_default|is_listed|migrated|modes_match|moves|serves_claim|serves_volume|shared_labels)\b
    | \b(_assign_default_class|has_class|pods_of|volume_taken)\b | :failed\ =\ PlannedEvent\(Key\(CLAIM
    | :(if\ )?(checks_capacity|guarded)(\ =|:) | :if\ any\(\(?waiting\.checks_capacity
    | \._claim_of:(if\ )?claim\b | \._claim_of:return\ claim\ if | :if\ _single_pod_users\( | \.honors_node_taints\b | \bold\.spec\.tolerations\b | \bnodeTaintsPolicy\b
    | :if\ ephemeral\b
    # how many pods a trial of preemption counts that are not counted otherwise
    | :if\ constraint\.matcher\ is\ None\ or\ \(seen | :if\ not\ moves
    # of provisioners that are no CSI drivers
    | \.(is_on_node|_directory): | :(of_node|host)\ =\  | HOSTNAME_LABEL:\ \(host | \bis_csi\b
""", re.VERBOSE)
EQUIVALENT = Path(__file__).parent / "equivalent_mutants.tsv"
"""Mutants of which a person has read that nobody could see them, each with the reason: they are not tried."""
CELLS = "tests/documents/test_document_notebooks.py"

NOT_RUN = ("browser", "test_lint", "test_wheel", "test_site", "test_lessons", "test_lessons_shipped", "test_notebooks",
           "test_readme", "test_doctests", "test_architecture", "test_checklist", "test_experiments_page",
           "test_conform", "test_columns", "test_mutated", "test_other_peoples_files", "test_public_face", "documents",
           "bench", "corpus")  # fmt: skip
"""Tests that run elsewhere (kernels, browsers, other processes), or that see no sentence of these rooms."""

CACHE = type(cache(bool))
LIBRARIES = ("pytest", "hypothesis", "numpy", "yaml", "attrs", "altair", "ipywidgets", "IPython.display", "cloudpickle",
             "_pytest.assertion.rewrite", "nbformat", "jsonschema", "narwhals")  # fmt: skip
WHAT_READERS_SEE = "test_shown.py"  # asked early: it sees most
KEPT = ROOT / "build" / "mutants"
MOST_SECONDS = 60
SLOWEST_TEST = 12
NOT_COPIED = shutil.ignore_patterns(".git", "build", "__pycache__", ".venv", ".hypothesis", "artefacts", ".mypy_cache",
                                    ".ruff_cache", ".pytest_cache", "[0-9]*.ipynb")  # fmt: skip


def sources():
    """Return the files that are mutated, as paths in the tree."""
    for name in MUTATED:
        path = ROOT / "kvolsched" / name
        yield from [path] if path.suffix else sorted(each for each in path.rglob("*.py") if is_mutated(str(each)))


@cache
def parsed(path):
    """Return the tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def mutants_of(path):
    """Return the mutants of a file, by line."""
    return m.mutants(parsed(path), draws="views" in path.parts, rules=MUTATED is DOCUMENTED)


@cache
def replaced():
    """Return (class, field) of what the documents' rules set: its default is another release's."""
    made = {call for path in sources() for node in ast.walk(parsed(path)) for call in ast.walk(node)
            if isinstance(call, ast.Call) and _is_documents(node)}
    return {(name, each.arg) for call in made for name in _and_bases(ast.unparse(call.func).rpartition(".")[2])
            for each in call.keywords}


def _and_bases(name):
    """Return the name of a class, and those of its bases."""
    bases = {ast.unparse(base) for path in sources() for each in parsed(path).body
             if isinstance(each, ast.ClassDef) and each.name == name for base in each.bases}
    return {name, *(more for base in bases for more in _and_bases(base))}


def _is_documents(node):
    """Whether a statement makes a value of the documents' rules."""
    match node:
        case ast.Assign([ast.Name(name)]):
            return name in DOCUMENTS_VALUES
        case ast.FunctionDef(name):
            return name in ("design", "design_profile")
    return False


@cache
def class_fields(path):
    """Return {line: (class, field)} of the fields of a module's classes."""
    return {line: (each.name, field.target.id) for each in parsed(path).body if isinstance(each, ast.ClassDef)
            for field in each.body if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            for line in range(field.lineno, field.end_lineno + 1)}


@cache
def equivalent():
    """Return {(file, text of a line): what its mutants that change nothing write before and after}, as they are listed."""
    found = {}
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines()[1:]:
        file, text, before, after, _reason = line.split("\t")
        found.setdefault((file, text), set()).add((before, after))
    return found


def chosen(path, line, seed):
    """Return the mutant of a line that is tried, or None."""
    text = path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
    return m.chosen(mutants_of(path), line, seed, equivalent().get((str(path.relative_to(ROOT)), text), ()))


def is_mutated(origin):
    """Whether a module's file is one of them."""
    rest = origin.rpartition("/kvolsched/")[2]
    if MUTATED is DOCUMENTED and rest.endswith(WORDS_OF_VERDICTS):
        return False
    return any(rest == each or rest.startswith(f"{each}/") for each in MUTATED)


def forked(work, most_seconds):
    """Run a function in a process of its own, silently; return (its exit code or None, the processor time it took)."""
    child = os.fork()
    if not child:
        os.setsid()
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (int(most_seconds) + 1, int(most_seconds) + 3))
        try:
            os._exit(work())
        except BaseException:  # noqa: BLE001 - whatever it is, the child ends here
            os._exit(70)
    began = time.monotonic()
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - began > most_seconds * 6:  # it waits for something that never comes
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.05)
    return (os.WEXITSTATUS(status) if os.WIFEXITED(status) else None), used.ru_utime + used.ru_stime


def pytest_of(folder, ids, *plugins):
    """Run tests of a tree in this process; return pytest's exit code."""
    import pytest

    os.chdir(folder)
    sys.path[:0] = [str(folder), str(folder / "tests")]
    os.environ["CI"] = "1"
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *ids], plugins=plugins))


# --- which test runs which statement --------------------------------------------------------------------------------


def record(files, most_seconds):
    """Record file by file; a file whose record is younger than it is left alone."""
    (KEPT / "recorded").mkdir(parents=True, exist_ok=True)
    recorder = s.Recorder(is_mutated, most_seconds)
    for path in sources():
        s.MarkedLoader(path.stem, str(path)).get_code(path.stem)
    named = bool(files)
    paths = [Path(each).resolve() for each in files] or sorted((ROOT / "tests").rglob("test_*.py"))
    for path in paths:
        rest = path.relative_to(ROOT)
        kept = KEPT / "recorded" / (str(rest).replace("/", "+") + ".json.gz")
        if str(rest) != CELLS and any(part.removesuffix(".py") in NOT_RUN for part in rest.parts):
            continue
        if kept.exists() and not named and kept.stat().st_mtime > path.stat().st_mtime:
            continue

        def work(rest=rest, kept=kept):
            pytest_of(ROOT, ["--maxfail=1000", *(["-m", ""] if "drawn" in rest.stem else []), str(rest)], recorder)
            tests = {name: [seconds, ran] for name, (seconds, ran) in recorder.tests.items() if ran}
            kept.write_bytes(gzip.compress(json.dumps(tests).encode(), 3))
            return 0

        code, seconds = forked(work, most_seconds * 3)
        count = len(_read(kept)) if kept.exists() else 0
        print(f"{rest}: {count} tests, {seconds:.0f} s{'' if code == 0 else ', did not end'}", flush=True)


def _read(kept):
    return json.loads(gzip.decompress(kept.read_bytes()))


def recorded():
    """Return (the tests that run a statement, what each test takes in seconds)."""
    runs, seconds = {}, {}
    for kept in sorted((KEPT / "recorded").iterdir()):
        if not (ROOT / kept.name.replace("+", "/").removesuffix(".json.gz")).exists():
            continue
        for test, (took, ran) in _read(kept).items():
            if took <= SLOWEST_TEST:
                seconds[test] = took
                for known in ran:
                    runs.setdefault(known, set()).add(test)
    return runs, seconds


class Tests:
    """Which tests may see a line, and in which order they are asked."""

    def __init__(self):
        self.runs, self.seconds = recorded()
        self.size = Counter(test for tests in self.runs.values() for test in tests)
        self.text = {path: path.read_text(encoding="utf-8") for path in sources()}
        self.known = {path: s.statements(ast.parse(text), path.name) for path, text in self.text.items()}
        self.killers = Counter()
        self.functions = {}
        for known in self.runs:
            self.functions.setdefault(_function(known), []).append(known)
            self.functions.setdefault(_module(known), []).append(known)
        self.todays = {test for known, tests in self.runs.items() for test in tests if TODAYS.search(known)}

    def documented(self, path, line):
        """Whether a cell runs a line, or a statement that reads the constant there, under the documents' rules."""
        known, field = self.statement(path, line), class_fields(path).get(line, ("", ""))
        if field in replaced() or TODAYS.search(f".{field[0]}.") or SILENT.search(known) or (
                known and known not in self.runs):
            return False
        named = self._made_of({name for name, first, last, _ in _defined(self.text[path])
                               if first <= line <= last and name == name.upper()})
        if any(map(SILENT.search, named)):
            return False
        if not named:
            return not self.todays.issuperset(self.of(path, line))
        readers = self._reading(named)
        if not readers and not any(self._defaults(named)):
            return False
        return not self.todays.issuperset(readers or self.of(path, line))

    def _made_of(self, names):
        """Return constants, and those that are made of them."""
        more = {name for text in self.text.values() for name, _, _, words in _defined(text)
                if name == name.upper() and not names.isdisjoint(words)}
        return names if more <= names else self._made_of(names | more)

    def _reading(self, names):
        """Return the tests that run a statement with one of these names."""
        return {test for statements in self.known.values() for _, known in statements
                if not names.isdisjoint(WORD.findall(known)) for test in self.runs.get(known, ())}

    def _defaults(self, names):
        """Yield the fields that have one of these names in their default, which the documents' rules keep."""
        for path, text in self.text.items():
            lines = text.splitlines()
            for line, field in class_fields(path).items():
                if not names.isdisjoint(WORD.findall(lines[line - 1])) and field not in replaced():
                    yield from () if TODAYS.search(f".{field[0]}.") else (field,)

    def of(self, path, line):
        """Return the tests of a line, the promising ones first."""
        inside = self.statement(path, line) or self.of_default(path, line)
        found = self.of_statement(inside) if inside else self.of_names(path, line) or self.of_module(path)
        here = str(path)
        rare = Counter()  # tests of what few tests run in this function, then in this module, see what others never do
        for place, weight in ((_function(inside), 1), (_module(inside), 0.1)) if inside else ():
            for known in self.functions.get(place, ()):
                for test in self.runs[known]:
                    rare[test] += weight / len(self.runs[known])
        order = sorted(found, key=lambda test: (-self.killers[here, test], self.seconds[test] > 1, -rare[test], self.size[test]))
        seen = [test for test in order if WHAT_READERS_SEE in test]
        first = dict.fromkeys([*order[:6], *(seen[:6] if inside else seen)])
        return [*first, *(test for test in order if test not in first)]

    def statement(self, path, line):
        """Return what the innermost statement of a function at a line is known by, "" outside of functions."""
        inside = [(each.end_lineno - each.lineno, known) for each, known in self.known[path]
                  if each.lineno <= line <= each.end_lineno]
        return min(inside)[1] if inside else ""

    def of_default(self, path, line):
        """Return what the first statement of the function is known by whose default stands at a line, else ""."""
        functions = (each for each in ast.walk(parsed(path)) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
        if not any(each.lineno <= line <= each.end_lineno for each in functions):
            return ""
        return min(((each.lineno, known) for each, known in self.known[path] if each.lineno > line), default=(0, ""))[1]

    def of_statement(self, known):
        """Return the tests that run a statement; of one that was written since, those that run its function."""
        if known not in self.runs:
            return {test for other in self.functions.get(_function(known), ()) for test in self.runs[other]}
        return self.runs[known]

    def of_module(self, path):
        """Return the tests that run any function of a module: of a name that only decorators read."""
        return {test for known in self.functions.get(path.name, ()) for test in self.runs[known]}

    def of_names(self, path, line):
        """Return the tests that run a statement with a name that is defined at this line, or made of such names."""
        names, todo = set(), [name for name, first, last, _ in _defined(self.text[path]) if first <= line <= last]
        while todo:
            if (name := todo.pop()) not in names:
                names.add(name)
                todo += [other for text in self.text.values() if name in text
                         for other, _, _, words in _defined(text) if name in words]
        return self._reading(names)


def _module(known):
    """Return the module of what a statement is known by."""
    return known.partition(":")[0]


def _function(known):
    """Return the module and function of what a statement is known by."""
    return ":".join(known.split(":")[:2])


WORD = re.compile(r"\w+")


@cache
def _defined(text):
    """Return (name, first line, last line, its words) of what a module defines outside of functions."""
    found, lines = [], text.splitlines()
    for each in ast.parse(text).body:
        words = frozenset(WORD.findall("\n".join(lines[each.lineno - 1:each.end_lineno])))
        if isinstance(each, ast.ClassDef):
            outside = [part for part in each.body if not isinstance(part, ast.FunctionDef)]
            words = frozenset(word for part in (*outside, *each.bases) for word in WORD.findall(ast.unparse(part)))
            found.append((each.name, each.lineno, each.end_lineno, words))
        elif isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            found += [(name.id, each.lineno, each.end_lineno, words) for target in targets for name in ast.walk(target)
                      if isinstance(name, ast.Name)]
    return found


# --- mutants ----------------------------------------------------------------------------------------------------------


def sample(count, seed, tests, files=()):
    """Return (file, line) of so many random lines that have a mutant, of some files or of all."""
    lines = [(path, line) for path in sources() if not files or path in files for line in mutants_of(path)]
    order = random.Random(seed).sample(lines, len(lines))
    drawn = (each for each in order if (MUTATED is not DOCUMENTED or tests.documented(*each)) and chosen(*each, seed))
    return list(itertools.islice(drawn, count))


class Session:
    """pytest's plugin, mutable: tests are collected once, then each mutant is tried in a fork of this process.

    A mutant inside a function is given to the function in place. Any other one stands in a temporary copy of the tree,
    which the fork imports anew.
    """

    def __init__(self, tests, count, seed, most_seconds, files):
        self.tests, self.count, self.seed, self.most_seconds, self.files = tests, count, seed, most_seconds, files
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.last = self.folder / "last.txt"
        self.sound = {}

    def pytest_runtest_logstart(self, nodeid):
        """Write down the test that runs and when it began, for when the process dies in it."""
        self.last.write_text(f"{time.process_time()} {nodeid}", encoding="utf-8")

    def pytest_runtestloop(self, session):
        """Try the mutants of a seed that were not tried yet; append each result."""
        self.session, self.items = session, {item.nodeid: item for item in session.items}
        for each in sources() if MUTATED is DOCUMENTED else ():  # cells import them when they run
            importlib.import_module(str(each.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__"))
        gc.unfreeze()
        self.functions, self.caches = {}, []
        for each in gc.get_objects():
            if isinstance(each, CACHE) and is_mutated(f"/{each.__module__.replace('.', '/')}.py"):
                self.caches.append(each)
            if isinstance(each, FunctionType) and is_mutated(each.__code__.co_filename):
                self.functions.setdefault(_place(each.__code__), []).append(each)
        gc.freeze()
        done = {(one["file"], one["line"]) for one in told(self.seed)}
        shutil.copytree(ROOT, self.folder, ignore=NOT_COPIED, dirs_exist_ok=True)
        try:
            for path, line in sample(self.count, self.seed, self.tests, self.files):
                rest = str(path.relative_to(ROOT))
                if (rest, line) not in done:
                    self.one(path, rest, line)
        finally:
            shutil.rmtree(self.folder)
        return True

    def one(self, path, rest, line):
        """Try one mutant."""
        text = self.tests.text[path]
        mutant = chosen(path, line, self.seed)
        mutated, before, after = mutant.source()
        known = {"file": rest, "line": line, "kind": mutant.kind, "text": text.splitlines()[line - 1].strip(),
                 "before": before[:300], "after": after[:300]}  # fmt: skip
        one = known | self.tried(path, line, self.in_place(mutant, path) or self.imported_anew(rest, mutated, text))
        with (KEPT / f"results-{self.seed}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")
        print(f"{one['end']:>9} {one['seconds']:5.1f} s  {rest}:{line} {mutant.kind}: {one['by'] or one['text']}", flush=True)

    def in_place(self, mutant, path):
        """Return what runs tests with the mutant put into its function; None if it is outside of functions."""
        code = mutant.code(str(path))
        found = next((each for each in _outermost_functions(code) if mutant.is_inside(each)), None)
        functions = self.functions.get(_place(found)) if found is not None else None
        if not functions or any(len(each.__code__.co_freevars) != len(found.co_freevars) for each in functions):
            return None

        def work(ids):
            for each in functions:
                each.__code__ = found
            for each in self.caches:  # of what the functions made before they were mutated
                each.cache_clear()
            return self.run_here(ids)

        return work

    def imported_anew(self, rest, mutated, text):
        """Return what runs tests of a copy of the tree with the mutated module."""
        def work(ids):
            (self.folder / rest).write_text(mutated, encoding="utf-8")
            ours = ("__main__", m.__name__, s.__name__)
            for name in [name for name, module in sys.modules.items() if name not in ours
                         and (getattr(module, "__file__", None) or "").startswith(str(ROOT))]:
                del sys.modules[name]
            try:
                return pytest_of(self.folder, ["-m", "", *ids], Told(self.last))
            finally:
                (self.folder / rest).write_text(text, encoding="utf-8")

        return work

    def tried(self, path, line, work):
        """Return how a mutant ended: the first tests alone, then all others."""
        left, used, asked = [each for each in self.tests.of(path, line) if each in self.items], 0.0, 0
        total, several = len(left), [12, 60, len(left)]
        while left and used < self.most_seconds:
            count = several.pop(0)
            now, left = self.by_files(left[:count]) if asked else left[:count], left[count:]
            self.last.write_text("0 ", encoding="utf-8")
            code, seconds = forked(lambda now=now: work(now), self.most_seconds - used)
            used, asked = used + seconds, asked + len(now)
            began, _, last = self.last.read_text(encoding="utf-8").partition(" ")
            # One that takes far longer than without the mutant never ends.
            slow = code is None and self.tests.seconds.get(last, 99) * 10 + 5 < seconds - float(began)
            if code == 1 and not self.is_sound(last):
                del self.items[last]
                return self.tried(path, line, work)
            if code not in (0, None) or slow:
                self.tests.killers[str(path), last] += 1
                return {"end": "killed", "by": last if code == 1 or slow else f"code {code}", "seconds": used,
                        "tests": asked, "of": total}  # fmt: skip
        return {"end": "survived", "by": "", "seconds": used, "tests": asked, "of": total}

    def by_files(self, names):
        """Return tests file by file, that of the quickest tests first: most are asked before the time is over."""
        seconds = {}
        for name in names:
            seconds.setdefault(name.partition("::")[0], []).append(self.tests.seconds[name])
        order = sorted(seconds, key=lambda file: sum(seconds[file]) / len(seconds[file]))
        return [name for file in order for name in names if name.startswith(f"{file}::")]

    def is_sound(self, name):
        """Whether a test passes without a mutant; asked once."""
        if name not in self.sound:
            code, _ = forked(lambda: self.run_here([name]), self.most_seconds)
            self.sound[name] = code == 0
            print(f"{name} {'passes' if code == 0 else 'FAILS'} without a mutant", flush=True)
        return self.sound[name]

    def run_here(self, ids):
        """Run tests in this process; return 1 as soon as one fails, else 0."""
        items = [self.items[name] for name in ids]
        for number, item in enumerate(items):
            after = items[number + 1] if number + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.session.testsfailed:
                return 1
        return 0


def _place(code):
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _outermost_functions(code):
    """Return the code of a module's functions and of its classes' methods."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if each.co_flags & inspect.CO_OPTIMIZED:
                yield each
            else:
                yield from _outermost_functions(each)


class Told:
    """pytest's plugin: writes down the test that runs, for when the process dies in it."""

    def __init__(self, path):
        self.path = path

    def pytest_runtest_logstart(self, nodeid):
        """Write it down."""
        self.path.write_text(f"{time.process_time()} {nodeid}", encoding="utf-8")


def run(count, seed, most_seconds, mutated=()):
    """Collect the tests, then try mutants, of some files or of all."""
    os.nice(10)
    tests = Tests()
    files = sorted({test.partition("::")[0] for test in tests.seconds})
    pytest_of(ROOT, ["-s", "-m", "", *files], Session(tests, count, seed, most_seconds, mutated))
    score(seed)


def told(seed):
    """Return the results of a seed so far."""
    path = KEPT / f"results-{seed}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def score(seed):
    """Print the survivors, and how many were killed."""
    results = told(seed)
    for one in results:
        if one["end"] == "survived":
            print(f"{one['file']}:{one['line']} {one['kind']} ({one['tests']} of {one['of']} tests)\n"
                  f"    {one['before'][:150]}\n    {one['after'][:150]}")
    killed, reached = (sum(map(asked, results)) for asked in (lambda one: one["end"] == "killed", lambda one: one["of"] > 0))
    by_room = Counter((room, one["end"]) for one in results for room in MUTATED
                      if one["file"].startswith(f"kvolsched/{room}"))
    for room in MUTATED:
        print(f"{room}: {by_room[room, 'killed']} killed, {by_room[room, 'survived']} survived")
    print(f"{killed} of {len(results)} killed, {killed / max(1, len(results)):.0%}; {len(results) - reached} that no test runs")


def main():
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", action="store_true", help="the documents' rules, by the cells of their notebooks")
    parser.add_argument("what", choices=["record", "run", "score"])
    parser.add_argument("files", nargs="*", help="the test files to record, or the mutated files to run")
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=MOST_SECONDS, help="seconds of processor time for one mutant")
    parser.add_argument("--seconds", type=int, default=120, help="the longest time that is recorded of one test file")
    options = parser.parse_intermixed_args()
    if options.documents:
        global MUTATED, KEPT, NOT_RUN
        MUTATED, KEPT, NOT_RUN = DOCUMENTED, KEPT.parent / "mutants-of-documents", ()
        options.files = options.files or [CELLS] * (options.what == "record")
    KEPT.mkdir(parents=True, exist_ok=True)
    if options.what == "record":
        os.nice(10)
        for name in LIBRARIES:
            importlib.import_module(name)
        record(options.files, options.seconds)
    elif options.what == "run":
        run(options.lines, options.seed, options.most, {Path(each).resolve() for each in options.files})
    else:
        score(options.seed)


if __name__ == "__main__":
    main()
