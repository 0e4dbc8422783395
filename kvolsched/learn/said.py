"""Find a statement of the design documents by their words, and the cell that runs it.

The documents' notebooks tell each statement in one sentence of ours, under an anchor; `statements/` keeps the single
words of each, unordered. Alone knows both forms. Loads no room but `api`, so that a terminal answers at once.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from html import escape
from itertools import chain, islice
from math import log
from pathlib import Path
from textwrap import indent, wrap
from typing import Any, Literal

import attrs

from ..api.notebook_output import NumberedRows, PrintedAnswer, as_html, to_type
from .lessons import course

FOLDER, INDEX = "notebooks/documents", "statements"
SETUP = "from kvolsched.documents import *"
WIDTH = 92  # characters of a line that a notebook of 1000 px shows
MOST = 8  # so many statements are an answer
WORDS, CANNOT, SEE = "In words: ", "Cannot run here, because ", "See ["
_ANCHOR = re.compile(r'<a id="(S\d-\d+-\w+)"[^>]*>[^<]*</a> · (.*)', re.DOTALL)
_ONE_DOCUMENT = re.compile(r"(?:\[?(S[0-4])\]?[:,]? +(?=\S))?(.*)", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(r"S\d-\d+(?:-\w+)?", re.IGNORECASE)
_RULES = re.compile(r"\b(upstream|design|draft)\b|^from kvolsched\.alternatives import (\w+)", re.MULTILINE)
_RAN_UNDER = re.compile(r"\brules (upstream|design|draft)\b")
_WORD = re.compile(r"[A-Za-z0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDING = re.compile(r"(?<=\w{3})(?:es|s|e|ed|ing|ly)\Z")
_SMALL = re.compile(
    "a|an|and|any|are|as|at|be|but|by|can|does|for|from|has|have|if|in|into|is|it|its|may|no|not|of|on|one|only|or|so|than"
    "|that|the|their|them|then|there|they|this|to|was|we|what|when|where|which|will|with|you"
)
Answer = Literal["cell", "words", "cannot"]
# What a click on a button does: a new cell below the one that was clicked in, with the code pasted into it; where the
# page has no cells that can be added (a saved page, another front end), the code is copied.
_PUT = """const code = this.dataset.code, panel = this.closest('.jp-NotebookPanel');
const add = panel && panel.querySelector('[data-command="notebook:insert-cell-below"]');
const copy = () => { navigator.clipboard?.writeText(code); this.textContent = 'copied: paste it into a cell'; };
const paste = () => {
  const editor = panel.querySelector('.jp-Cell.jp-mod-active .cm-content'), data = new DataTransfer();
  if (!editor || editor.textContent.trim()) return copy();
  data.setData('text/plain', code);
  editor.focus();
  editor.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
};
if (!add) copy();
else { add.dispatchEvent(new MouseEvent('mousedown', {bubbles: true, cancelable: true})); setTimeout(paste, 200); }"""


@attrs.frozen(repr=False)
class Statement(PrintedAnswer):
    """One statement of a document, told in a sentence of ours, with its answer.

    Args:
        anchor: document, place of its heading, place under it: "S0-14-7". It never changes. A letter as its end says
            that the document leaves it to be done, or that it follows of several statements.
        document: the title of the document.
        section: the heading under which it stands.
        sentence: what it says.
        answer: "cell" if a cell runs it, "words" if it is answered in words, "cannot" if it cannot be run here.
        text: the words, or the reason; also what differs from the statement whose cell this is.
        cell: the code that runs it, "" for none; it begins with SETUP in a notebook of its own.
        rules: the sets of rules that the cell names, `design` if none.
        seen: the anchor of the statement that has the cell, if another one has.
    """

    anchor: str
    document: str
    section: str
    sentence: str
    answer: Answer
    text: str = ""
    cell: str = ""
    rules: tuple[str, ...] = ()
    seen: str = ""

    def put(self) -> str:
        """Put the cell below the one that runs now, in JupyterLab, and return it as text that runs alone."""
        code = f"{SETUP}\n\n{self.cell}"
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if shell is not None and self.cell:
            shell.set_next_input(code)
        return code if self.cell else ""

    def __repr__(self) -> str:
        told = {"cell": "", "words": "In words: ", "cannot": "Cannot run here, because "}[self.answer]
        text = [f"{told}{self.text}"] if self.text else []
        code = ["", SETUP, self.cell] if self.cell else []
        return "\n".join([self.line(), *(line for each in text for line in wrap(each, WIDTH)), *code])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        return {"text/plain": repr(self), "text/html": as_html(repr(self)) + self.button()}

    def button(self) -> str:
        """Return a button that puts the cell below, as HTML; "" without a cell."""
        code = escape(f"{SETUP}\n\n{self.cell}")
        act = f'type="button" data-code="{code}" onclick="{escape(_PUT)}"'
        return f"<button {act}>Put the cell of {self.anchor} below</button>" if self.cell else ""

    def line(self) -> str:
        """Return where it stands, and what it says."""
        rules = f" · {', '.join(self.rules)}" if self.rules not in ((), ("design",)) else ""
        told = indent("\n".join(wrap(self.sentence, WIDTH - 2)), "  ")
        cell = f" · the cell of {self.seen}" if self.seen and self.cell else ""
        return f"{self.anchor} · {self.document}, {self.section}{rules}{cell}\n{told}"


@attrs.frozen(repr=False)
class Statements(NumberedRows[Statement], PrintedAnswer):
    """Statements, the best match first; printed, the first with its cell."""

    rows: tuple[Statement, ...]
    hint: str = ""

    def __bool__(self) -> bool:
        return bool(self.rows)

    def put(self) -> str:
        """Put the cell of the best match below; `[1].put()` that of the second."""
        return self.rows[0].put() if self.rows else ""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        shown = [as_html(repr(each) if each is self.rows[0] else each.line()) + each.button() for each in self.rows]
        return {"text/plain": repr(self), "text/html": "<br>".join(shown) or as_html(self.hint)}

    def __repr__(self) -> str:
        if not self.rows:
            return self.hint
        first, *others = self.rows
        asked = (to_type(f'kvolsched.said("{each.anchor}")', f"kvolsched said {each.anchor}") for each in others[:1])
        more = [f"{call} shows the cell of another one" for call in asked]
        return "\n\n".join([repr(first), *(each.line() for each in others), *more])


def said(text: str, most: int = MOST) -> Statements:
    """Find statements of the five design documents: by their words and names, a section, an anchor, a pasted sentence.

    Returns the statements, best first; none, with a hint, where nothing fits. A document's name before the words, such
    as `S0 ActualSkew`, leaves the others out.

    >>> said("schedulingGates nodeSelector narrow")[0].document
    'Pod Mutable Scheduling Directives'
    >>> said("S4-12-8")[0].anchor
    'S4-12-8'
    """
    text = text.strip()
    if _NAMED.fullmatch(text):
        name = text.lower().capitalize()
        rows = tuple(each for each in statements() if f"{each.anchor}-".startswith(f"{name}-"))
    else:
        ((document, words),) = _ONE_DOCUMENT.findall(text)[:1]
        found = (statements()[place] for place in _search().ranked(words))
        rows = tuple(islice((each for each in found if each.anchor.startswith(document.upper())), most))
    if rows:
        return Statements(rows)
    example = to_type('kvolsched.said("ActualSkew")', "kvolsched said ActualSkew")
    near = ",".join(_search().near(text))
    return Statements((), f"no statement fits{f'; near are: {near}' if near else ''}; for example {example}")


@cache
def statements() -> tuple[Statement, ...]:
    """Return all statements, in the documents' order."""
    told = {each.anchor: each for path in sorted((course() / FOLDER).glob("S?.ipynb")) for each in read(path)}
    found = []
    for each in told.values():
        seen = told.get(each.seen, each)  # one that points to another has the answer of that
        text = each.text or seen.text
        found.append(attrs.evolve(each, answer=seen.answer, cell=seen.cell, rules=seen.rules, text=text))
    return tuple(found)


def read(path: Path) -> Iterator[Statement]:
    """Read the statements of a document's notebook, in order; one without an answer is no statement yet."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    document = section = ""
    for place, cell in enumerate(cells):
        source = "".join(cell["source"])
        if found := re.match(r"#+ (.*)", source):
            section = re.sub(r"^\d+ |^S\d · ", "", found[1])
            document = document or section
        if told := _ANCHOR.match(source):
            follows = cells[place + 1] if place + 1 < len(cells) else {"cell_type": ""}
            code = "".join(follows["source"]) if follows["cell_type"] == "code" else ""
            yield _read_one(told[1], document, section, told[2], code, str(follows.get("outputs", "")))


def _read_one(anchor: str, document: str, section: str, told: str, code: str, shown: str) -> Statement:
    sentence, _, rest = told.partition("\n\n")
    sentence, rest = " ".join(sentence.split()), " ".join(rest.split())
    plain = Statement(anchor, document, section, sentence, "words", rest.removeprefix(WORDS))
    if rest.startswith(SEE):
        target, _, rest = rest.removeprefix(SEE).partition("]")
        return attrs.evolve(plain, text=rest.partition(")")[2].lstrip(": "), seen=target)
    if rest.startswith(CANNOT):
        return attrs.evolve(plain, answer="cannot", text=rest.removeprefix(CANNOT))
    if not code:
        return plain
    named = [known or rejected for known, rejected in _RULES.findall(code)] or _RAN_UNDER.findall(shown)
    return attrs.evolve(plain, answer="cell", text=rest, cell=code, rules=tuple(dict.fromkeys(named)) or ("design",))


def terms(text: str) -> list[str]:
    """Return the search terms of a text: its words and the parts of its names, without endings."""
    return [term for word in _WORD.findall(text) for term in _terms_of(word)]


@cache
def _terms_of(word: str) -> tuple[str, ...]:
    parts = _PART.findall(word)
    found = (word.lower(), *(part.lower() for part in parts if len(parts) > 1))
    return tuple(_ENDING.sub("", term) for term in found if not _SMALL.fullmatch(term))


@cache
def index() -> dict[str, tuple[str, ...]]:
    """Return the documents' single words by anchor."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(Path(__file__).with_name(INDEX).iterdir()):
        name = path.name.partition(".")[0]
        for line in path.read_text(encoding="utf-8").splitlines():
            number, _, *words = line.split(" ")
            if "-" in number:
                found[f"{name}-{number}"] = tuple(words)
    return found


class StatementSearch:
    """Statements by the terms of each: its document's words count most, then our sentence, its section, its cell.

    Ranked as BM25 ranks, with one count a term; a long statement counts less, as it shares a term with more.
    """

    OF_WORDS, OF_SENTENCE, OF_SECTION, OF_CELL = 1.0, 1.0, 0.3, 0.3
    LENGTH, BOTH = 0.5, 0.25
    LEAST, LEAST_OF_MANY, MANY = 0.3, 0.2, 7  # of the weight of what is asked, by its number of terms: what fits at all
    BESIDE = 0.35  # of the best match: what is shown, too

    def __init__(self, told: Sequence[Statement], kept: Mapping[str, Sequence[str]]) -> None:
        self.weights: list[dict[str, float]] = []
        for each in told:
            texts = {" ".join(kept.get(each.anchor, ())): self.OF_WORDS, each.sentence: self.OF_SENTENCE,
                     each.section: self.OF_SECTION, f"{each.text} {each.cell}": self.OF_CELL}  # fmt: skip
            found: dict[str, float] = {}
            for text, weight in texts.items():
                for term in set(terms(text)):
                    held = found.get(term)
                    found[term] = weight if held is None else max(held, weight) + self.BOTH * min(held, weight)
            self.weights.append(found)
        lengths = [max(1, len(kept.get(each.anchor, ()))) for each in told]
        mean = sum(lengths) / max(1, len(lengths))
        self.lengths = [1 - self.LENGTH + self.LENGTH * length / mean for length in lengths]
        counts = Counter(chain.from_iterable(self.weights))
        self.rarity = {term: log(1 + len(told) / count) for term, count in counts.items()}
        self.unknown = log(1 + len(told))

    def near(self, words: str) -> list[str]:
        """Return terms of the documents that are nearly those asked for."""
        return [near for term in dict.fromkeys(terms(words)) if term not in self.rarity and len(term) > 3
                for near in get_close_matches(term, self.rarity, 1, 0.8)]  # fmt: skip

    def ranked(self, words: str) -> list[int]:
        """Return the places of the statements that fit, best first; ties in the documents' order."""
        asked = list(dict.fromkeys(terms(words)))
        asked += [near for near in self.near(words) if near not in asked]
        everything = sum(self.rarity.get(term, self.unknown) for term in asked)
        least = everything * (self.LEAST if len(asked) < self.MANY else self.LEAST_OF_MANY)
        scores: dict[int, float] = {}
        for place, weights in enumerate(self.weights):
            held = [(self.rarity[term], weights[term]) for term in asked if term in weights]
            if sum(rarity for rarity, _ in held) >= least > 0:
                length = self.lengths[place]
                scores[place] = sum(rarity * 2 * weight / (weight + length) for rarity, weight in held)
        best = max(scores.values(), default=0)
        return sorted((place for place, score in scores.items() if score >= self.BESIDE * best),
                      key=lambda place: (-scores[place], place))  # fmt: skip


@cache
def _search() -> StatementSearch:
    return StatementSearch(statements(), index())


def search_index() -> dict[str, Any]:
    """Return what a page without Python needs to rank statements as `said` does: the book's `docs/static/said.js`."""
    search, told = _search(), statements()
    rows = [{"anchor": each.anchor, "section": each.section, "sentence": each.sentence, "weights": weights,
             "length": round(length, 4)}
            for each, weights, length in zip(told, search.weights, search.lengths, strict=True)]  # fmt: skip
    return {"statements": rows, "rarity": {term: round(rarity, 4) for term, rarity in search.rarity.items()},
            "unknown": search.unknown, "least": search.LEAST, "leastOfMany": search.LEAST_OF_MANY, "many": search.MANY,
            "beside": search.BESIDE}  # fmt: skip
