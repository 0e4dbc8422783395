"""What every test gets: Hypothesis' profile, and the record of which checklist items were proved.

The record is written to the file that KVOLSCHED_CHECKLIST names (the Makefile does), so that a run of a few
tests by hand does not pass for a run of all.
"""

import json
import os
from pathlib import Path

import checklist
import hypothesis
import pytest

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


def pytest_configure(config):
    """Record where asked to, once: in the main process, which hears every report."""
    path = os.environ.get("KVOLSCHED_CHECKLIST")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record(Path(path)), "checklist-record")


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


# Files whose searches and random clusters take minutes, a quarter of it for the tracer; other tests run the same lines.
UNTRACED = frozenset({"test_discoveries.py", "test_mutated.py", "test_volume_plugins.py", "test_columns.py",
                      "test_fill.py", "test_queue_moves.py", "test_snapshot.py", "test_preemption.py",
                      "test_preferences.py", "test_real_components.py", "test_volume_families.py", "test_stranded.py",
                      "test_scenarios.py", "test_experiments_page.py", "test_architecture.py", "test_checklist.py",
                      "test_wheel.py", "test_readme.py", "test_notebooks.py", "test_references.py", "test_doctests.py"})
UNTRACED_FOLDERS = frozenset({"browser", "documents", "experiments"})


def pytest_collection_modifyitems(items):
    """Let the numbers travel with the reports, and who proves them; long searches run without the tracer of coverage."""
    for item in items:
        if item.path.name in UNTRACED or item.path.parent.name in UNTRACED_FOLDERS:
            item.add_marker("no_cover")
        if marked := checklist.marks(item):
            item.user_properties.append(("checklist", marked))
