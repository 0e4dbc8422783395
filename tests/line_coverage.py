"""Which lines of kvolsched the tests reach: `--coverage`.

Every line is watched until it has run once and left alone afterwards (SlipCover), which costs a twentieth of the time;
a tracer would make each test three times as slow. Each worker watches the lines that it runs, and the main process
puts them together. What runs in a process of its own (kernels, a JupyterLab, commands) is not seen.
"""

import json
import sys
from pathlib import Path
from types import CodeType

import cloudpickle
import pytest
import slipcover
from slipcover.importer import SlipcoverMetaPathFinder

PACKAGE = Path(__file__).parent.parent / "kvolsched"
NEVER_RUN = [r"^ *\.\.\.$", "raise NotImplementedError"]  # beside SlipCover's own: TYPE_CHECKING, pragma


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
    """Mutable: the lines that this process has run, and those that its workers told of."""

    def __init__(self, config):
        if PACKAGE.name in sys.modules:
            raise pytest.UsageError(f"{PACKAGE.name} was imported before its lines could be watched")
        self.worker = hasattr(config, "workerinput")
        # Files that no process imported are read by the main process, once.
        sources = None if self.worker else [str(PACKAGE)]
        self.watched = Watched(immediate=True, source=sources, exclude_also=NEVER_RUN)
        self.of_workers = []
        sys.meta_path.insert(0, Finder(self.watched, slipcover.FileMatcher([str(PACKAGE)])))

    def pytest_sessionfinish(self, session):
        """Let a worker's lines travel with its last word."""
        if self.worker:
            session.config.workeroutput["coverage"] = json.dumps(self.watched.get_coverage())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Keep what a worker said; one that crashed said nothing."""
        self.of_workers += [json.loads(text) for text in [getattr(node, "workeroutput", {}).get("coverage")] if text]

    def pytest_terminal_summary(self, terminalreporter):
        """Print the lines that no test of this run reached, file by file."""
        together = self.watched.get_coverage()
        for of_worker in self.of_workers:
            slipcover.merge_coverage(together, of_worker)
        terminalreporter.section("lines that no test of this run reached")
        slipcover.print_coverage(together, outfile=terminalreporter, skip_covered=True, missing_width=100)
