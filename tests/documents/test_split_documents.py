"""What is one statement, by rule, on texts of our own."""

import pytest
import split_documents

TITLE = split_documents.TITLES


def split(name, text):
    """Split a text under the title of a document, without the title's own section if that says nothing."""
    mark = "# " if name in split_documents.MARKED else ""
    found = split_documents.split(name, f"{mark}{TITLE[name]}\n\n{text}")
    return [each for each in found if each[1] or each[0] != TITLE[name]]


@pytest.mark.parametrize(("name", "text", "statements"), [
    pytest.param("S2", "One pod waits, e.g. for\na disk. Two run! Why? They fit.", ["One pod waits, e.g. for a disk.", "Two run!", "Why? They fit."], id="sentences"),
    pytest.param("S2", "Ways are:\n- the first\n- the second. It is\n  longer.", ["Ways are: the first", "the second.", "It is longer."], id="a list"),
    pytest.param("S0", "Ways are: * the first * the second", ["Ways are: the first", "the second"], id="a list in one line"),
    pytest.param("S0", "It goes: 1. Write. 2. NEW: Read.", ["It goes: Write.", "NEW: Read."], id="steps in one line"),
    pytest.param("S0", "  • With disks\n    • Yes: two\n    • No: one", ["With disks Yes: two", "No: one"], id="a label above items"),
    pytest.param("S3", "  • a label\n\nIts text is here.", ["a label Its text is here."], id="a label above a text"),
    pytest.param("S2", '```\ntype A struct {\n    ...\n    // Both are ORed. None is one.\n    // +optional\n    B []string `json:"b"`\n    C int\n}\n```',
                 ["type A struct B []string Both are ORed.", "None is one.", "C int"], id="a struct"),
    pytest.param("S0", "For example:\n\napiVersion: v1\nkind: Pod\nspec:\n  - a: b", ["For example: apiVersion: v1 kind: Pod spec: - a: b"], id="a manifest"),
    pytest.param("S3", "for each node; do\n    if on; then\n        # all nodes\n        count pods\n        if few; then\n            take it\n        fi\n    fi\ndone",
                 ["all nodes", "for each node; do if on; then count pods", "if few; then take it"], id="pseudo code"),
    pytest.param("S4", "Is it slow?\nNo.\n\nIs it new?\nN/A", ["Is it slow? No."], id="a question as a heading"),
    pytest.param("S4", "  • Other\n    • Condition name:\n    • Details: Look at it.", ["Other Details: Look at it."], id="a form"),
    pytest.param("S2", "Authors: @somebody\n\n- [ ] a box\n\nTBD", [], id="nothing"),
    pytest.param("S2", "## Implementation History\n\nIt began in May.", [], id="a section of who did what"),
])
def test_one_statement(name, text, statements):
    """A sentence, an item, a declaration, a manifest; what introduces belongs to what it introduces."""
    assert statements == [each for _, found in split(name, text) for each in found]


def test_headings_are_counted_in_order():
    """Of a document in Markdown they are marked, of another they are short lines alone; left-out sections count, too."""
    told = "Goals\n\nA pod runs.\n\nImplementation History\n\nIn May.\n\nThis is (i.e. was) a heading?\n\nYes, it is."
    assert [("Goals", ["A pod runs."]), ("Implementation History", []), ("This is (i.e. was) a heading?", ["Yes, it is."])] == split("S4", told)
    assert [("Goals", ["A pod runs."])] == split("S2", "### Goals\nA pod runs.")


def test_an_anchor_never_changes(tmp_path, monkeypatch):
    """A statement that is stored keeps its anchor wherever it moves in its section; a new one gets the next that is free."""
    monkeypatch.setattr(split_documents, "INDEX", tmp_path)
    (tmp_path / "S4.txt").write_text(split_documents.index_text(split_documents.anchored("S4", [("T", ["One waits.", "Two run."])])))
    later = split_documents.anchored("S4", [("T", ["New.", "Two run.", "One waits."])])
    assert later == [("T", {"S4-1-3": "New.", "S4-1-2": "Two run.", "S4-1-1": "One waits."})]


def test_the_text_cannot_be_read_from_what_is_kept():
    """Kept are a digest and single words, sorted, each once, without the small ones."""
    line = split_documents.index_text([("T", {"S4-1-1": "The pod waits for the claim of the pod."})]).splitlines()[1]
    number, mark, *words = line.split()
    assert (number, len(mark), words) == ("1-1", 10, ["claim", "pod", "waits"])
