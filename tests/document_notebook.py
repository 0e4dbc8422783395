"""The form of a document's notebook, and its plain text to write and review; the notebook itself is the source.

`python tests/document_notebook.py read S4` prints it as text, `write S4 FILE` assembles it from such a text, runs the
cells that are new or changed and says what is not in the form; `run S4 [ANCHOR...]` runs cells again and stores what they
show, `show S4 [ANCHOR...]` prints both, `check S4` says what is not in the form. A text looks like this:

    # S4 · Pod Mutable Scheduling Directives

    ```python
    from kvolsched.documents import *
    ```

    ## 3 Summary

    S4-3-1 · One short sentence of ours.

    ```python 228 229
    c = ran(node("n1"), pod("app", gates=["quota"]))
    len(c.passes("app"))
    ```

    S4-3-2 · Another one.

    In words: what it means here, and why there is nothing to run.

    S4-3-3 · A third one.

    Cannot run here, because the reason.

    S4-3-4 · What another statement says as well.

    See S4-3-1: what differs, if anything.

After ```python stand the items of tests/checklist.md that the cell proves. A line that begins with %% is for whoever
writes, and is not stored. Every cell stands for itself: it is run after the first one alone, here and in the tests.
"""

import ast
import contextlib
import io
import json
import os
import re
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

os.environ["TQDM_DISABLE"] = "1"  # a progress bar shows seconds: nothing to store

import checklist
import nbformat
import public_face
import split_documents
from IPython.core.formatters import DisplayFormatter
from nbformat import v4

from kvolsched.learn import said

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "notebooks" / "documents"
NAMES = tuple(split_documents.TITLES)
MOST_LINES, MOST_COLUMNS, MOST_WORDS = 12, 88, 60
MOST_BYTES = 3_000_000
FENCE = re.compile(r"```python(.*)")
ANCHOR = re.compile(r"S\d-\d+-(?:\d+|[a-z])")  # with a letter: no statement of the document, but what it leaves to be done
TOLD = re.compile(rf"({ANCHOR.pattern}) · ?(.*)", re.DOTALL)
LINKED = re.compile(r"^See (S\d)(-\d+-\w+)", re.MULTILINE)
IN_CODE = re.compile(r"`((?:\w+/)+\w+\.py)(?:::([\w.]+))?`")
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
          "language_info": {"name": "python"}}  # fmt: skip


def path_of(name):
    """Return where the notebook of a document stands."""
    return FOLDER / f"{name}.ipynb"


@cache
def notebook(name):
    """Read the notebook of a document, once."""
    return nbformat.read(path_of(name), as_version=4)


def cells(name):
    """Return the cells that run statements: {anchor: cell}, without the first one."""
    return {each.id.removesuffix("-cell"): each for each in notebook(name).cells
            if each.cell_type == "code" and each.id.endswith("-cell")} if path_of(name).exists() else {}


def items(cell):
    """Return the items of the checklist that a cell proves."""
    return cell.metadata.get("checklist", [])


# --- run -------------------------------------------------------------------------------------------------------------

@cache
def _formatter():
    return DisplayFormatter()


@cache
def _first_names():
    names = {"__name__": "__notebook__"}
    exec(said.SETUP, names)  # noqa: S102 - our own line
    return names


def run(source):
    """Run a cell after the first one alone, and return what it shows as a notebook's outputs."""
    names, printed = dict(_first_names()), io.StringIO()
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    shown = []
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)  # noqa: S102 - our own notebook
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None  # noqa: S307
        if value is not None:
            data, metadata = _formatter().format(value)
            shown = [v4.new_output("execute_result", data, metadata=metadata)]
    if text := printed.getvalue():
        shown.insert(0, v4.new_output("stream", name="stdout", text=text))
    return shown


def told(outputs):
    """Return what outputs say as text: what is printed, and each answer's words; a picture's are its reading."""
    return "\n".join("".join(each.get("text", "")) or "".join(each.get("data", {}).get("text/plain", "")) for each in outputs)


def store(made, *anchors, changed=None):
    """Run cells of a notebook, all or these, store what they show, and number them."""
    for number, each in enumerate((each for each in made.cells if each.cell_type == "code"), 1):
        anchor = each.id.removesuffix("-cell")
        if each.id.endswith("-cell") and (anchor in anchors if anchors else changed is None or anchor in changed):
            try:
                each.outputs = run(each.source)
            except Exception as error:  # noqa: BLE001 - whoever writes the cell is told
                each.outputs = []
                print(f"{anchor}: {type(error).__name__}: {error}")
        each.execution_count = number
        for output in each.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number


# --- text ------------------------------------------------------------------------------------------------------------

def text_of(made):
    """Return a notebook as the text that it is written in."""
    parts = []
    for each in made.cells:
        if each.cell_type == "code":
            parts.append(f"```python {' '.join(items(each))}".rstrip() + f"\n{each.source}\n```")
        else:
            source = re.sub(r'<a id="(S\d-\d+-\w+)"[^>]*>[^<]*</a> · ', r"\1 · ", each.source)
            parts.append(re.sub(r"^See \[(S\d-\d+-\w+)\]\([^)]*\)", r"See \1", source, flags=re.MULTILINE))
    return "\n\n".join(parts) + "\n"


def notebook_of(name, text, before=None):
    """Assemble a notebook from its text; a cell that is as before keeps what it shows. Returns it, and what is new."""
    old = {each.id: each for each in before.cells} if before else {}
    made, changed = [], set()
    anchor = name
    for block in _blocks(text):
        if fence := FENCE.match(block):
            first = not any(each.cell_type == "code" for each in made)
            source = block.split("\n", 1)[1].rsplit("\n```", 1)[0]
            cell = v4.new_code_cell(source, id=f"{name}-first" if first else f"{anchor}-cell")
            if proved := fence[1].split():
                cell.metadata["checklist"] = proved
            same = old.get(cell.id)
            if same is not None and same.source == source and same.outputs:
                cell.outputs = same.outputs
            elif not first:
                changed.add(anchor)
            made.append(cell)
        elif heading := re.match(r"##+ (\d+) ", block):
            made.append(v4.new_markdown_cell(block, id=f"{name}-{heading[1]}"))
        elif statement := TOLD.match(block):
            anchor = statement[1]
            link = f'<a id="{anchor}" href="#{anchor}">{anchor}</a> · {statement[2]}'
            made.append(v4.new_markdown_cell(_linked(name, link), id=anchor))
        elif made and ANCHOR.fullmatch(made[-1].id) and made[-1].cell_type == "markdown":
            made[-1].source += _linked(name, f"\n\n{block}")
        else:
            made.append(v4.new_markdown_cell(block, id=f"{name}-text-{len(made)}" if made else name))
    return v4.new_notebook(cells=made, metadata=KERNEL), changed


def _linked(name, text):
    return LINKED.sub(lambda found: f"See [{found[1]}{found[2]}]({'' if found[1] == name else f'{found[1]}.ipynb'}"
                                    f"#{found[1]}{found[2]})", text)


def _blocks(text):
    """Split a text into its blocks: code with its fences, other lines that stand together."""
    block, code = [], False
    for line in [*text.splitlines(), ""]:
        if line.startswith("%%") and not code:
            continue
        if line.startswith("```") and not code and block:
            yield "\n".join(block)
            block = []
        if line or code:
            block.append(line)
        if line.startswith("```"):
            code = not code
        if block and not code and (not line or line == "```"):
            yield "\n".join(block)
            block = []


# --- form ------------------------------------------------------------------------------------------------------------

def faults(name):
    """Everything in which the notebook of a document is not in the form: a sentence each."""
    made, sections = notebook(name), split_documents.stored(name)
    kept = {anchor: words for _, anchors in sections for anchor, (_, words) in anchors.items()}
    marks = {mark for _, anchors in sections for mark, _ in anchors.values()}
    found = []
    if (size := path_of(name).stat().st_size) > MOST_BYTES:
        found.append(f"{size:,} bytes: at most {MOST_BYTES:,}")
    if doubled := [each for each, count in Counter(cell.id for cell in made.cells).items() if count > 1]:
        found.append(f"ids that stand twice: {doubled}")
    headings = [re.sub(r"^#+ ", "", each.source) for each in made.cells if re.match(r"##+ \d", each.source)]
    named = [f"{place} {heading}" for place, (heading, anchors) in enumerate(sections, 1)]
    found += [f"heading {each!r} is none of the document" for each in headings if each not in named]
    found += [f"heading {each!r} is missing" for each, (_, anchors) in zip(named, sections, strict=True)
              if anchors and each not in headings]
    order = [each.id for each in made.cells if each.id in kept]
    found += [f"{anchor} is not answered" for anchor in kept if anchor not in order]
    found += [f"{anchor} is no statement of the document" for anchor in (each.id for each in made.cells)
              if re.fullmatch(r"S\d-\d+-\d+", anchor) and anchor not in kept]
    found += [f"the heading of {each.id} is another one" for each in made.cells
              if ANCHOR.fullmatch(each.id) and _section(made.cells, each) != each.id.rpartition("-")[0]]
    if order != [anchor for anchor in kept if anchor in order]:
        found.append("the statements are not in the document's order")
    for place, cell in enumerate(made.cells):
        following = made.cells[place + 1] if place + 1 < len(made.cells) else None
        if ANCHOR.fullmatch(cell.id):
            found += [f"{cell.id} {fault}" for fault in _of_statement(cell, following, kept.get(cell.id, ()), marks)]
        elif cell.cell_type == "code" and cell.id.endswith("-cell"):
            found += [f"{cell.id} {fault}" for fault in _of_cell(cell)]
    return found


def _section(cells, cell):
    """Return the id of the heading that a cell stands under."""
    return next(each.id for each in reversed(cells[:cells.index(cell)]) if re.fullmatch(r"S\d-\d+", each.id))


def _of_statement(cell, following, kept, marks):
    code = following is not None and following.cell_type == "code"
    _, sentence = re.split(r"</a> · ?", cell.source.partition("\n\n")[0])
    rest = [part for part in cell.source.split("\n\n")[1:] if part.startswith((said.WORDS, said.CANNOT, said.SEE))]
    if len(rest) + code != 1:
        yield f"has {len(rest) + code} answers: one of a cell, `In words: `, `Cannot run here, because `, `See S0-1-2`"
    if code and following.id != f"{cell.id}-cell":
        yield "is followed by the cell of another statement"
    if not sentence or len(sentence.split()) > MOST_WORDS:
        yield f"says {len(sentence.split())} words: 1 to {MOST_WORDS}"
    if split_documents.digest(sentence) in marks or _too_near(sentence, kept):
        yield "has the document's own words: tell it in ours"
    for part in rest:
        target = re.match(r"See \[(S\d)(-\d+-\w+)\]", part)
        if target and f"{target[1]}{target[2]}" not in answers(target[1]):
            yield f"points to {target[1]}{target[2]}, which has no answer of its own"
    for place, name in IN_CODE.findall(cell.source):
        if not (ROOT / "kvolsched" / place).exists():
            yield f"names {place}: no such file"
        elif name and not re.search(rf"\b(def|class) {name.rpartition('.')[2]}\b|^{name}\b", (ROOT / "kvolsched" / place).read_text("utf-8"), re.MULTILINE):
            yield f"names {name}: not in {place}"


def _too_near(sentence, kept):
    """Whether a sentence has nearly all words of a longer statement, and few others."""
    ours, theirs = ({word.lower() for word in each} for each in (split_documents.words(sentence), kept))
    return len(theirs) >= 8 and len(ours & theirs) > 0.85 * len(theirs) and len(ours) < 1.3 * len(theirs)


def _of_cell(cell):
    lines = cell.source.splitlines()
    if len(lines) > MOST_LINES:
        yield f"has {len(lines)} lines: at most {MOST_LINES}"
    yield from (f"has a line of {len(line)} characters: at most {MOST_COLUMNS}" for line in lines if len(line) > MOST_COLUMNS)
    try:
        body = ast.parse(cell.source).body
    except SyntaxError as error:
        yield f"is no Python: {error}"
        return
    if any(token.string == ";" for token in tokenize.generate_tokens(io.StringIO(cell.source).readline)):
        yield "has two thoughts in one line"
    if not isinstance(body[-1], ast.Expr) or not told(cell.outputs):
        yield "shows nothing: its last line is a value"
    for call in (each for each in ast.walk(ast.Module(body, [])) if isinstance(each, ast.Call)):
        if ast.unparse(call.func) in ("Cluster", "Cluster.from_manifests") and not re.search(
                r"revision=|'(design|upstream|draft)'|\(rules\)|\(\*\*", ast.unparse(call)):
            yield f"names no rules in {ast.unparse(call.func)}(...): its own are upstream"
    if reached := public_face.reached_by_cell(cell.source):
        yield f"reaches into the engine: {', '.join(reached)}"
    yield from checklist.faults(tuple(items(cell))) if items(cell) else ()


@cache
def answers(name):
    """Return how each statement of a document is answered by itself: {anchor: "cell", "words" or "cannot"}."""
    return {each.anchor: each.answer for each in said.read(path_of(name)) if not each.seen} if path_of(name).exists() else {}


def counts(name):
    """Return of a document how many statements it has, and how many are answered by what: cell, words, cannot."""
    total = sum(len(anchors) for _, anchors in split_documents.stored(name))
    found = Counter(each.answer for each in said.statements() if each.anchor.startswith(name) and each.anchor[-1].isdigit())
    return total, found["cell"], found["words"], found["cannot"]


def main(act, name, *rest):
    """Print, assemble, run or check the notebook of a document; `all` means each."""
    if name == "all":
        return sum(main(act, each, *rest) for each in NAMES if path_of(each).exists())
    path = path_of(name)
    before = nbformat.read(path, as_version=4) if path.exists() else None
    if act in ("read", "show"):
        found = {anchor: cell for anchor, cell in cells(name).items() if not rest or anchor in rest}
        shown = [f"{anchor}\n{cell.source}\n  =>\n{told(cell.outputs)}\n\n" for anchor, cell in found.items()]
        print(text_of(before) if act == "read" else "".join(shown), end="")
        return 0
    if act == "write":
        made, changed = notebook_of(name, Path(rest[0]).read_text("utf-8"), before)
        store(made, changed=changed)
    elif act == "run":
        made = before
        store(made, *rest)
    else:
        made = None
    if made is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")
    for each in (notebook, answers, said.statements):
        each.cache_clear()  # cells may have asked before it was stored
    found = faults(name)
    print("\n".join(found), "{} statements: {} run, {} in words, {} cannot".format(*counts(name)), sep="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
