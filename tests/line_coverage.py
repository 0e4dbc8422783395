"""Which lines of kvolsched the tests reach: `--coverage`.

Every line is watched until it has run once (SlipCover), and a function whose lines have all run is again what it was
before it was watched: else each line would go on jumping over its mark, which costs a fifth of the time and more. Each
worker tells the lines that it ran, and the main process reads which there are. What runs in a process of its own
(kernels, a JupyterLab, commands) is not seen.
"""

import gc
import json
import sys
import time
from pathlib import Path
from types import CodeType, FunctionType

import cloudpickle
import pytest
import slipcover
from slipcover.importer import SlipcoverMetaPathFinder

PACKAGE = Path(__file__).parent.parent / "kvolsched"
NEVER_RUN = [r"^ *\.\.\.$", "raise NotImplementedError"]  # beside SlipCover's own: TYPE_CHECKING, pragma
SHARE = 50  # of the time until functions are looked through again


def lines_of(code):
    """Return the lines that are watched in a function and in those inside it."""
    inside = [lines_of(each) for each in code.co_consts if isinstance(each, CodeType)]
    return {line for _, line in slipcover.slipcover.findlinestarts(code)}.union(*inside)


class Watched(slipcover.Slipcover):
    """Remembers what each function was before it was watched: as that it travels to other processes by value."""

    def __init__(self, **options):
        super().__init__(**options)
        self.before = {}
        reducers = cloudpickle.Pickler._dispatch_table
        reduced = reducers[CodeType]
        reducers[CodeType] = lambda code: reduced(self.before.get(code, code))

    def instrument(self, co, parent=None):
        code = super().instrument(co, parent)
        self.before[code] = co
        return code


class Finder(SlipcoverMetaPathFinder):
    """Answers for kvolsched alone: pytest asks each finder for its test modules, and takes SlipCover's for them."""

    def find_spec(self, fullname, path, target=None):
        return super().find_spec(fullname, path, target) if fullname.partition(".")[0] == PACKAGE.name else None


class LineCoverage:
    """Mutable: the lines that this process has run, and the functions of which some have not run yet."""

    def __init__(self, config):
        if PACKAGE.name in sys.modules:
            raise pytest.UsageError(f"{PACKAGE.name} was imported before its lines could be watched")
        self.worker = hasattr(config, "workerinput")
        if self.worker:  # which lines there are is half of the work of watching them
            slipcover.Slipcover.lines_from_code = staticmethod(lambda _code: ())
        self.watched = Watched(immediate=True, source=[str(PACKAGE)], exclude_also=NEVER_RUN)
        self.functions, self.due = [], 0.0
        sys.meta_path.insert(0, Finder(self.watched, slipcover.FileMatcher([str(PACKAGE)])))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self):
        """Find the functions that are watched, before the garbage collector leaves them out."""
        of_package = [each for each in gc.get_objects()
                      if type(each) is FunctionType and each.__code__.co_filename.startswith(str(PACKAGE))]
        found = [(each, self.watched.before.get(each.__code__)) for each in of_package]
        self.functions = [(each, before, lines_of(before)) for each, before in found if before]

    def pytest_runtest_logfinish(self):
        """Let each function be what it was when its last line has run; seldom, as there are thousands."""
        if (began := time.process_time()) < self.due:
            return
        seen, left = self.watched.newly_seen, []
        for function, before, lines in self.functions:
            if lines <= seen[before.co_filename]:
                function.__code__ = before
            else:
                left.append((function, before, lines))
        self.functions = left
        self.due = began + SHARE * (time.process_time() - began)

    def pytest_sessionfinish(self, session):
        """Let a worker's lines travel with its last word."""
        if self.worker:
            ran = {file: sorted(lines) for file, lines in self.watched.newly_seen.items()}
            session.config.workeroutput["coverage"] = json.dumps(ran)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Keep what a worker said; one that crashed said nothing."""
        for file, lines in json.loads(getattr(node, "workeroutput", {}).get("coverage", "{}")).items():
            self.watched.all_seen[str(Path(file).resolve())].update(lines)

    def pytest_terminal_summary(self, terminalreporter):
        """Print the lines that no test of this run reached, file by file."""
        found = self.watched.get_coverage()
        terminalreporter.section("lines that no test of this run reached")
        slipcover.print_coverage(found, outfile=terminalreporter, skip_covered=True, missing_width=100)
