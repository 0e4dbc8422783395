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


# What runs without the tracer of coverage, which makes a test three times as slow: files, folders and single tests whose
# searches, random clusters and recorded cases take long. The lines that they run are run by other tests as well.
UNTRACED = frozenset({
    "test_architecture.py", "test_certificates.py", "test_checklist.py", "test_columns.py", "test_controller_races.py", "test_discoveries.py",
    "test_experiments_page.py", "test_fault_runs.py", "test_fill.py", "test_metamorphic.py", "test_mutated.py", "test_notebooks.py",
    "test_pages.py", "test_preemption.py", "test_preferences.py", "test_queue_moves.py", "test_readme.py",
    "test_real_components.py", "test_recorded.py", "test_scenarios.py", "test_snapshot.py", "test_stranded.py",
    "test_traces.py", "test_volume_families.py", "test_volume_plugins.py", "test_wheel.py",
    "test_a_leader_change_at_any_moment_is_searched", "test_a_pass_leaves_the_cluster_as_it_found_it",
    "test_a_picture_fits_its_width", "test_a_redacted_cluster_answers_the_same", "test_applying_twice_is_applying_once", "test_causes_stay_inside_the_picture",
    "test_columns_say_what_rules_say", "test_demands_say_what_the_plugins_say", "test_each_fix_can_be_applied",
    "test_each_mutant_fails_with_a_picture", "test_every_fix_makes_the_pod_schedulable",
    "test_figures_with_an_aim_are_measured", "test_five_thousand_nodes_in_a_second", "test_kube_scheduler_v1_36",
    "test_memory_changes_nothing_of_a_result", "test_no_pass_says_otherwise",
    "test_no_recorded_case_is_answered_otherwise", "test_recorded_answers_agree_with_the_witness",
    "test_reductions_change_no_outcome", "test_sample_counts_ends_by_seed", "test_shortcuts_change_no_answer",
    "test_texts_stay_in_their_cards_and_over_no_other_text", "test_the_price_of_an_object_does_not_grow",
    "test_the_scheduler_says_the_same", "test_the_set_is_unsatisfiable_and_minimal",
    "test_words_stay_inside_the_picture",
})
UNTRACED_FOLDERS = frozenset({"browser", "documents", "experiments", "notebooks"})
# What takes long or waits for others is begun first, so that at the end no core waits for the other.
FIRST = {name: place for place, name in enumerate((
    "test_panel.py", "test_controls.py", "test_lab.py", "test_wheel.py", "test_discoveries.py", "test_fix.py", ".ipynb",
    "test_mutated.py", "test_alternatives.py", "test_fill.py", "test_columns.py", "test_checklist.py"))}


def pytest_collection_modifyitems(items):
    """Order the files; let the numbers travel with the reports, and who proves them; leave long tests untraced."""
    items.sort(key=lambda item: FIRST.get(item.path.name, FIRST.get(item.path.suffix, len(FIRST))))
    for item in items:
        names = {item.path.name, getattr(item, "originalname", "")}
        if names & UNTRACED or item.path.parent.name in UNTRACED_FOLDERS:
            item.add_marker("no_cover")
        if marked := checklist.marks(item):
            item.user_properties.append(("checklist", marked))


def pytest_terminal_summary(terminalreporter):
    """Say of how many tests the coverage is."""
    ran = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())
           if report.when == "call"]
    if terminalreporter.config.pluginmanager.hasplugin("_cov") and ran:
        traced = sum("no_cover" not in report.keywords for report in ran)
        terminalreporter.write_line(f"The coverage is that of {traced} of {len(ran)} tests: the others run untraced, "
                                    "see UNTRACED in tests/conftest.py.")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker whole files, and all tests of the browser to one: a JupyterLab serves them all."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = Path(nodeid.partition("::")[0])
            return "browser" if path.parent.name == "browser" else str(path)

    return ByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Leave the kernels of stored notebooks untraced: nbval would trace them by itself."""
    if item.path.suffix != ".ipynb":
        return (yield)
    options = item.config.option
    sources, options.cov_source = getattr(options, "cov_source", None), None
    try:
        return (yield)
    finally:
        options.cov_source = sources
