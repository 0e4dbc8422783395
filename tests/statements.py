"""Which statements each test runs, of the rooms that are mutated.

Every statement inside a function is compiled with a mark before it, so a test costs hardly more than without. A
statement is known by its file's name, its function and its text: what is recorded outlives changes above it in the file,
and a move of the file.
"""

import ast
import importlib.abc
import importlib.machinery
import sys
import time

MARKS = "__ran__"


def statements(tree, name):
    """Return (statement, what it is known by) for each statement inside a function."""
    found = []

    def walk(node, path, inside):
        for block in ("body", "orelse", "finalbody"):
            for each in getattr(node, block, None) or ():
                if not isinstance(each, ast.stmt):
                    continue
                if inside:
                    found.append((each, f"{name}:{path}:{_first_line(each)}"))
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                    walk(each, f"{path}.{each.name}", True)
                elif isinstance(each, ast.ClassDef):
                    walk(each, f"{path}.{each.name}", inside)
                else:
                    walk(each, path, inside)
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            walk(each, path, inside)

    walk(tree, "", False)
    return found


def _first_line(statement):
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return f"def {statement.name}"
    return ast.unparse(statement).partition("\n")[0]


class MarkedLoader(importlib.machinery.SourceFileLoader):
    """Compiles a module with a mark before each statement inside a function."""

    recorder = None
    compiled = {}  # noqa: RUF012 - by path, shared with the forks that come after

    def get_code(self, fullname):
        """Compile a module once: no bytecode with marks is kept on disk."""
        path = self.get_filename(fullname)
        if path not in self.compiled:
            self.compiled[path] = self.source_to_code(self.get_data(path), path)
        return self.compiled[path]

    def source_to_code(self, data, path, **_):
        """Mark, and compile."""
        tree = ast.parse(data)
        rest = path.rpartition("/kvolsched/")[2]
        for statement, known in statements(tree, rest.rpartition("/")[2] or rest):
            statement.known = self.recorder.number(known)
        _Marker().visit(tree)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module):
        """Let the module reach the marks."""
        module.__dict__[MARKS] = self.recorder.marks
        super().exec_module(module)


class _Marker(ast.NodeTransformer):
    """Puts the mark before each statement that has a number; docstrings stay first."""

    def generic_visit(self, node):
        super().generic_visit(node)
        for block in ("body", "orelse", "finalbody"):
            there = getattr(node, block, None)
            if isinstance(there, list) and there and isinstance(there[0], ast.stmt):
                setattr(node, block, [each for one in there for each in _marked(one)])
        return node


def _marked(statement):
    number = getattr(statement, "known", None)
    if number is None or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
        return [statement]
    mark = ast.parse(f"{MARKS}[{number}] = 1").body[0]
    for each in ast.walk(mark):
        if hasattr(each, "lineno"):
            each.lineno = each.end_lineno = statement.lineno
    return [mark, statement]


class Recorder(importlib.abc.MetaPathFinder):
    """Mutable: the statements that the current test ran; a finder for the modules under watch, and pytest's plugin."""

    def __init__(self, is_watched, most_seconds):
        self.is_watched, self.most_seconds = is_watched, most_seconds
        self.numbers, self.names, self.marks = {}, [], bytearray(100_000)
        self.tests, self.began, self.collected = {}, 0.0, None
        MarkedLoader.recorder = self
        sys.meta_path.insert(0, self)

    def number(self, known):
        """Return the number of a statement."""
        if known not in self.numbers:
            self.numbers[known] = len(self.names)
            self.names.append(known)
        return self.numbers[known]

    def find_spec(self, fullname, path, target=None):
        """Answer for the modules under watch alone."""
        if fullname.partition(".")[0] != "kvolsched":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec and spec.origin and self.is_watched(spec.origin):
            spec.loader = MarkedLoader(fullname, spec.origin)
        return spec

    def pytest_runtest_logstart(self, nodeid):
        """Begin with the marks of what all tests of the file share: what its import has run; nothing is answered before."""
        if self.collected is None:
            self.collected = bytes(self.marks)
        for module in [each for each in sys.modules.values() if MARKS in getattr(each, "__dict__", ())]:
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()
        self.marks[:] = self.collected
        self.test_began = time.process_time()

    def pytest_runtest_logreport(self, report):
        """Keep what a passed test ran, with what it set up."""
        if report.when == "call" and report.outcome == "passed":
            ran = [self.names[place] for place in _set(self.marks) if place < len(self.names)]
            self.tests[report.nodeid] = [round(time.process_time() - self.test_began, 3), ran]
        if time.process_time() - self.began > self.most_seconds:
            self.session.shouldstop = "long enough"

    def pytest_sessionstart(self, session):
        """Remember whom to stop, and when this process began."""
        self.session, self.began = session, time.process_time()


def _set(marks):
    place = marks.find(1)
    while place >= 0:
        yield place
        place = marks.find(1, place + 1)
