"""The page on performance: its marks, its workloads, its claims."""

import re
from pathlib import Path

import pytest
from store_looks import charts, described
from store_performance import BEGIN, END, PAGE, stored

from kvolsched.measure.bench import WORKLOADS

TEXT = PAGE.read_text(encoding="utf-8")


def test_what_is_printed_is_stored_between_the_marks():
    """Twice stored is stored once; a page without marks is refused."""
    page = f"a\n{BEGIN}\nold\n{END}\nz\n"
    once = stored(page, "new\n")
    assert once == f"a\n{BEGIN}\n\n```text\nnew\n```\n\n{END}\nz\n"
    assert stored(once, "new") == once
    with pytest.raises(SystemExit, match="marks"):
        stored("a page", "new")
    assert stored(TEXT, "new").count(BEGIN) == 1


def test_the_page_names_every_workload():
    """And none that there is not."""
    table = TEXT.rpartition("| name | pods ask for |")[2]
    named = re.findall(r"`([a-z-]+)`", table.partition("\n\n")[0])
    assert named == list(WORKLOADS)


def test_the_page_compares_only_what_can_be_compared():
    """It leads with the index, and never says that this is faster than kube-scheduler."""
    assert TEXT.index("5.4 s a pod") < TEXT.index("decision core")
    assert "faster than kube-scheduler" not in TEXT.lower()
    assert "Everything else is no comparison of schedulers" in TEXT


def test_the_page_of_counts_has_the_pictures_of_its_charts():
    """Under each cell that draws stands a picture of what is printed there, as its description."""
    page = (PAGE.parent / "looks.md").read_text("utf-8")

    assert len(charts(page)) == 2
    assert [name for name in charts(page) if f"]({name})" not in page] == []
    assert [name for name, text in charts(page).items() if described("<svg>", text)[5:] not in (PAGE.parent / name).read_text("utf-8")] == []


def test_the_page_is_linked():
    """From the architecture, where the benchmark's room is named."""
    assert "performance.md" in (Path(PAGE).parent / "architecture.md").read_text(encoding="utf-8")
