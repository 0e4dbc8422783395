"""Write the sentences that `decode` knows as JSON, from the YAML that is edited: `python tests/store_sentences.py`."""

import json
from pathlib import Path

from kvolsched.api.text.yaml_text import packaged_data

PACKAGE = "kvolsched.questions.decode"
TARGET = Path(__file__).parent.parent / "kvolsched" / "questions" / "decode" / "sentences.json"
FILES = ("nodes", "pods", "volumes", "workloads", "refusals")  # in the order in which rows are asked
FIELDS = {"from": "plugin", "says": "sentences", "rule": "rule", "usually": "cause", "next": "next_line",
          "field_error": "field_error", "cases": "cases"}  # fmt: skip


def meaning(row, writer=""):
    """Return the fields of a `Meaning` that a row has, or a case of a row of this writer; another name is an error."""
    fields = {"plugin": writer, "next_line": ""} | {FIELDS[name]: value for name, value in row.items() if name != "begins"}
    if "sentences" in fields:
        fields["sentences"] = fields["sentences"].splitlines()
    if "cases" in fields:
        fields["cases"] = [(case["begins"], meaning(case, fields["plugin"])) for case in fields["cases"]]
    return fields


def text():
    """Return the file's text."""
    rows = [meaning(row) for name in FILES for row in packaged_data(PACKAGE, "sentences", f"{name}.yaml")]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
