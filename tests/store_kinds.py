"""Writes docs/kinds.md and the README's sentence from the list of kinds: `python tests/store_kinds.py`."""

import re
from pathlib import Path

from kvolsched.api.kinds.kind import KINDS
from kvolsched.api.text.kind_list import KEPT, NOT_MODELLED, RECORDED, parts
from kvolsched.api.words import listed

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "kinds.md", ROOT / "README.md"
HEAD = f"""# Kinds

What is modelled, as `kvolsched kinds` prints it; `kvolsched kinds pod` has the fields of one kind. Objects of all other kinds
are kept and printed, and nobody acts on them. A field is read where rules go by it;
{KEPT}. A part that several kinds share, such as the template of pods, stands with each.
This page is made by `python tests/store_kinds.py`.
"""
ROW = re.compile(r"^\| `kvolsched kinds` \|.*$", re.MULTILINE)


def sentence():
    """Return what the README says of kinds."""
    unrecorded = [kind.name for kind in KINDS if kind.note]
    told = f" (of {listed(unrecorded, 'and')} the answers of real components are not all recorded)" if unrecorded else ""
    return (f"Modelled are {listed([kind.name for kind in KINDS], 'and')}{told}; not modelled are {', '.join(NOT_MODELLED)} "
            "([every field](docs/kinds.md))")


def page():
    """Return the text of the page."""
    lines = [HEAD, "## Not modelled", "", "| kind | what that means |", "| --- | --- |"]
    lines += [*(f"| {what} | {why} |" for what, why in NOT_MODELLED.items()), ""]
    for kind in KINDS:
        lines += [f"## {kind.name}", "", f"`{kind.type.api_version}`; answers of real components: {kind.note or RECORDED}.", "",
                  "| part | read | kept |", "| --- | --- | --- |"]
        lines += [f"| {part.path or 'the object'} | {', '.join(part.read)} | {', '.join(part.kept)} |" for part in parts(kind)]
        lines.append("")
    return "\n".join(lines)


def readme(text):
    """Return the README with the sentence in the row of the command."""
    return ROW.sub(lambda _: f"| `kvolsched kinds` | {sentence()} |", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(README.read_text("utf-8")), encoding="utf-8")
