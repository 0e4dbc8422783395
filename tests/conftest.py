"""What every test gets: Hypothesis' profile, and the record of which checklist items were proved.

The record is written to the file that KVOLSCHED_CHECKLIST names (the Makefile does), so that a run of a few
tests by hand does not pass for a run of all.
"""

import gc
import json
import os
import signal
import sys
from pathlib import Path

import checklist
import hypothesis
import pytest

# What is printed is compared, and whether a bar of progress appears is chance. Notebooks' kernels inherit it; tqdm reads it
# when it is imported.
os.environ["TQDM_DISABLE"] = "1"

# Derandomized in CI: the same commit gives the same verdict. By hand every run looks elsewhere.
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("long", deadline=None, max_examples=2000, derandomize=True)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


class Record:
    """Mutable: the outcomes of marked tests, as their reports reach the main process."""

    def __init__(self, path):
        self.path = path
        self.items = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.fresh = {}

    def pytest_runtest_logreport(self, report):
        """Keep the worst of set-up, call and tear-down; an expected failure counts as skipped."""
        for number, face in dict(report.user_properties).get("checklist", ()):
            outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
            tests = self.fresh.setdefault(number, {})
            before, _ = tests.get(report.nodeid, ["passed", face])
            tests[report.nodeid] = [max(before, outcome, key=SEVERITY.index), face]

    def pytest_sessionfinish(self):
        """Write the record: earlier runs' tests stay unless they ran again."""
        for number, tests in self.fresh.items():
            self.items.setdefault(number, {}).update(tests)
        self.path.write_text(json.dumps(self.items, indent=1, sort_keys=True) + "\n", encoding="utf-8")


SEVERITY = ["passed", "skipped", "failed"]


def pytest_addoption(parser):
    """Take `--coverage`."""
    parser.addoption("--coverage", action="store_true", help="print the lines of kvolsched that no test reached")


def pytest_configure(config):
    """Watch lines if asked to; record where asked to, once: in the main process, which hears every report."""
    if config.getoption("coverage"):
        import line_coverage

        config.pluginmanager.register(line_coverage.LineCoverage(config), "line-coverage")
    path = os.environ.get("KVOLSCHED_CHECKLIST")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record(Path(path)), "checklist-record")


def pytest_sessionstart(session):
    """Let each of several workers write its share of the tests' rewritten asserts, which all of them then load.

    All collect the same files at the same time: else each would rewrite every file, which is half of its collection.
    """
    from _pytest.assertion import rewrite  # pytest does this on import alone, and has no other door to it

    worker = getattr(session.config, "workerinput", {"workercount": 1})
    if worker["workercount"] == 1 or sys.dont_write_bytecode or session.config.rootpath != Path(__file__).parent.parent:
        return
    mine, workers = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    state = session.config.stash[rewrite.assertstate_key]
    for path in sorted(Path(__file__).parent.rglob("test_*.py"))[mine::workers]:
        folder = rewrite.get_cache_dir(path)
        kept = folder / (path.stem + rewrite.PYC_TAIL)
        if rewrite._read_pyc(path, kept) is None:
            folder.mkdir(parents=True, exist_ok=True)
            source, code = rewrite._rewrite_test(path, session.config)
            rewrite._write_pyc(state, code, source, kept)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let a mark with an unknown item fail the collection of its file."""
    report = yield
    found = [f"{item.nodeid}: {fault}"
             for item in report.result or () if isinstance(item, pytest.Item)
             for name in ("checklist", "answered") for mark in item.iter_markers(name)
             for fault in checklist.faults(mark.args)]
    if found:
        report.outcome, report.result, report.longrepr = "failed", [], "\n".join(found)
    return report


@pytest.fixture
def ctrl_c_interrupts():
    """Let SIGINT raise KeyboardInterrupt: a shell starts what runs in its background with it ignored."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


# What takes long or waits for others is begun first, so that at the end no core waits for the other.
FIRST = {name: place for place, name in enumerate((
    "test_panel.py", "test_controls.py", "test_lab.py", "test_wheel.py", "test_lint.py", ".ipynb", "test_fill.py",
    "test_alternatives.py", "test_mutated.py", "test_columns.py", "test_fix.py", "test_discoveries.py",
    "test_checklist.py"))}


def pytest_collection_modifyitems(items):
    """Order the files."""
    items.sort(key=lambda item: FIRST.get(item.path.name, FIRST.get(item.path.suffix, len(FIRST))))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Let the numbers travel with the reports, and who proves them: read by the one worker that runs the test."""
    if marked := checklist.marks(item):
        item.user_properties.append(("checklist", marked))


def pytest_collection_finish():
    """Let the garbage collector leave out what the tests themselves are made of, and look at new objects less often.

    It would look at the former thousands of times, and at the latter after every 700th, most of which stay: a tenth of
    the time of tests that load clusters.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Let the collector leave out what a file's tests have kept for later ones (read clusters, drawn pages), too."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


SHARING = {"test_advice.py": "waiting", "test_first_sentence.py": "waiting"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker whole files, and those that share what takes long to one.

    A JupyterLab serves all tests of the browser; waiting pods are asked why, and what would fix it.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = Path(nodeid.partition("::")[0])
            return "browser" if path.parent.name == "browser" else SHARING.get(path.name, str(path))

    return ByFile(config, log)
