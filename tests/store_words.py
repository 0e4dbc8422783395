"""Writes the lessons' words into docs/glossary.md, from those in italics at first use: `python tests/store_words.py`.

A word is in italics where it is explained, and the glossary repeats that sentence. `EMPHASIS` are the other words in italics.
"""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
PAGE, FOLDER = ROOT / "docs" / "glossary.md", ROOT / "notebooks"
HEAD = """## Words of the lessons

Each as the lesson says it that needs it first. This part is made by `python tests/store_words.py`.

| word | as it is explained | lesson |
| --- | --- | --- |
"""
EMPHASIS = frozenset({
    "add", "also in the way", "before", "binding", "clean", "decision", "file, new, terminal", "step", "enough for a class.", "even pods spreading", "every",
    "explore", "in another rack", "is", "name", "node inclusion policies", "not enough capacity", "not in", "other",
    "pod mutable scheduling directives", "queue controller", "shift+enter", "spot", "demand", "storage capacity constraints", "that", "the pod is not assumed",
    "topology aware volume scheduling", "uses", "we do not assumepod", "where",
})
ITALIC = re.compile(r"(?<![*\w])\*([^*\n]{2,40})\*(?!\*)")
HIDDEN = re.compile(r"```.*?```|<details>.*?<summary>.*?</summary>|</details>|^#[^\n]*$", re.DOTALL | re.MULTILINE)


def lessons():
    """Return the lessons in the order of the course's map."""
    return [FOLDER / "ten-minutes.ipynb", *sorted(FOLDER.glob("[0-9]*.ipynb"))]


def base(word):
    """Return a word without the ending of its plural."""
    word = word.lower()
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "is")) else word


def words():
    """Return what the lessons explain: word -> the sentence and the lesson of its first use in italics."""
    found = {}
    for path in lessons():
        for cell in nbformat.read(path, as_version=4).cells[1:]:  # the first one names the panel's buttons
            if cell.cell_type != "markdown":
                continue
            for paragraph in re.split(r"\n\s*\n|\n(?=- )", HIDDEN.sub("", cell.source)):
                for sentence in re.split(r"(?<=[.?:])\s+(?=[A-Z`*])", " ".join(re.sub(r"^(- |\*\*\d\.\*\* )", "", paragraph).split())):
                    for word in ITALIC.findall(sentence):
                        if word.lower() not in EMPHASIS:
                            found.setdefault(base(word), (word, sentence, path.stem))
    return dict(sorted(found.items()))


def part():
    """Return the part of the page."""
    rows = (f"| {word} | {sentence.rstrip(':.')}. | [{lesson[:2] if lesson[0].isdigit() else 'ten minutes'}](../notebooks/{lesson}.ipynb) |"
            for word, sentence, lesson in words().values())
    return HEAD + "\n".join(rows) + "\n"


def main():
    """Write it at the end of the page."""
    text = PAGE.read_text("utf-8")
    PAGE.write_text(text.partition(HEAD.splitlines()[0])[0].rstrip("\n") + "\n\n" + part(), "utf-8")


if __name__ == "__main__":
    main()
