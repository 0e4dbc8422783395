"""Split the design documents into statements, and keep of each where it stands, a digest and its words, unordered.

`python tests/split_documents.py FOLDER` reads the documents (`S0-....txt` to `S4-....txt`, which are not ours to copy) and
compares them with the index in kvolsched/learn/statements; `--store` writes it, `--skeleton S2` prints the plain text that
a notebook of a document begins with (see document_notebook.py), with the document's words for whoever writes it.

What is one statement, by rule:

- a sentence of a paragraph, of a list item, or of a comment in code;
- a declaration in Go (field, constant, function), together with the first sentence of its comment; a whole manifest;
  of pseudo code a condition with the instructions that it guards;
- what only introduces (it ends with a colon, or is a label above deeper items) belongs to the first statement that it
  introduces, a drawing to the sentence before it, a question to its answer, also if it is the heading.

No statements, by rule: headings; front matter, authors, what a website writes around a text; the sections of LEFT_OUT,
which say who did what when; boxes to tick; lines of a form that nobody filled in ("Other field:"), "TBD", "N/A".

A statement's anchor is its document, its heading's place in the document's order (the title is the first), and its own
place under it: S0-14-7. An anchor never changes: a statement whose digest is stored keeps its own, a new one gets the
next that is free.
"""

import hashlib
import re
import sys
from collections import Counter
from pathlib import Path

INDEX = Path(__file__).parents[1] / "kvolsched" / "learn" / "statements"
TITLES = {
    "S0": "Volume Topology-aware Scheduling",
    "S1": "Volume Topology-aware Scheduling",
    "S2": "Storage Capacity Constraints for Pod Scheduling",
    "S3": "Even Pods Spreading",
    "S4": "KEP-3838: Pod Mutable Scheduling Directives",
}
MARKED = ("S1", "S2")  # documents in Markdown; of the others, headings are short lines alone
LEFT_OUT = ("Table of Contents", "Release Signoff Checklist", "Implementation History", "History")
AROUND = re.compile(r"You can.t perform that action at this time\.|Authors: @.*|- \[[ x]\] .*|\[[ x]\] .*")
NOTHING = re.compile(r"(N/A|TBD|TODO)\.?|.*[-:] TBD\.?|\W*|\(?(See|see|check) [^.]*\.?\)?")
ITEM = re.compile(r"( *)(?:[•*-]|\d+\.)\s+(.*)")
DECLARED = re.compile(r"(type \w+ |const \()")
SIGNATURE = re.compile(r"\w+\(\w+ \*.*\)$")
END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)([\"”)]?)\s+(?=(?:\+ )?[\"“(‘`]?[A-Z.\d])")
WORD = re.compile(r"[A-Za-z0-9_]+(?:[./-][A-Za-z0-9_]+)*")
SMALL = re.compile(
    "a|all|also|an|and|any|are|as|at|be|because|been|but|by|can|could|do|does|each|for|from|had|has|have|how|i|if|in|into|is|it|its"
    "|like|may|might|more|no|not|of|on|one|only|or|other|our|same|should|so|such|than|that|the|their|them|then|there|these|they|this"
    "|those|to|was|we|what|when|where|whether|which|while|will|with|would|you")


def clean(text):
    """Return a text in one line, without the marks of links, bold and code fences."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text.replace("\u00a0", " "))
    return " ".join(re.sub(r"\*\*|```", "", text).split())


def digest(text):
    """Return what a statement is known by: a digest of its words in their order."""
    return hashlib.sha256(" ".join(WORD.findall(text.lower())).encode()).hexdigest()[:10]


def words(text):
    """Return the single words of a statement, sorted, each once, without the small ones."""
    found = {}
    for word in WORD.findall(text):
        found.setdefault(word.lower(), word)
    return [found[word] for word in sorted(found) if not SMALL.fullmatch(word)]


def sentences(text):
    """Split a text into sentences; a question stays with its answer."""
    parts, found = END.split(text), []
    for place in range(0, len(parts), 2):
        part = (parts[place] + (parts[place + 1] if place + 1 < len(parts) else "")).strip()
        if found and (found[-1].endswith("?") or found[-1] in ("Yes.", "No.")):
            found[-1] += f" {part}"
        elif part:
            found.append(part)
    return found


class Splitter:
    """Mutable: reads one document line by line and collects its headings, each with its statements."""

    def __init__(self, name, text):
        self.name, self.marked = name, name in MARKED
        self.found = []  # [heading, [statement, ...]]
        self.introduced = ""
        self.read(text.replace("\u00a0", " ").splitlines())

    def say(self, text):
        """Keep one statement, with what introduced it."""
        text = clean(f"{self.introduced} {text}")
        self.introduced = ""
        if text in ("No.", "Yes."):
            text = f"{self.found[-1][0]} {text}"
        if not NOTHING.fullmatch(text) and self.found[-1][0] not in LEFT_OUT:
            self.found[-1][1].append(text)

    def tell(self, text, *, introduces=False):
        """Keep the sentences of a paragraph or of an item; what only introduces waits for what follows."""
        parts = sentences(clean(text))
        waiting = parts.pop() if parts and (introduces or parts[-1].endswith(":")) else ""
        for part in parts:
            self.say(part)
        self.introduced = f"{self.introduced} {waiting}".strip()

    def heading(self, text):
        """Begin a section."""
        self.introduced = ""
        self.found.append([clean(text), []])

    def read(self, lines):
        """Read all lines, from the title on."""
        title = TITLES[self.name]
        first = max(place for place, line in enumerate(lines) if line.strip("# ").strip() == title)
        self.heading(title)
        place = first + 1
        while place < len(lines):
            place = self.block(lines, place)

    def block(self, lines, place):
        """Read what begins at a line, and return where the next begins."""
        line = lines[place]
        stripped = line.strip()
        if not stripped:
            return place + 1
        if code := self.code(lines, place):
            return code
        if AROUND.match(stripped):
            return past(lines, place)
        if self.marked and stripped.startswith("#"):
            self.heading(stripped.lstrip("# "))
            return place + 1
        if ITEM.match(line):
            return self.items(lines, place)
        if not self.marked and is_heading(line):
            self.heading(stripped)
            return place + 1
        end = past(lines, place) if self.marked else place + 1
        self.paragraph(" ".join(lines[place:end]))
        return end

    def paragraph(self, text):
        """Split a paragraph, in which an export may have put a list into one line."""
        text = clean(text)
        if re.search(r":\s+\* ", text):
            first, *items = re.split(r"\s\* ", text)
        elif re.search(r":\s+1\. ", text):
            first, *items = re.split(r"\s\d+\. ", text)
        else:
            first, items = text, []
        if re.match(r"TODO\b.*[^.?:]$", first) and not items:
            first += "."
        self.tell(first, introduces=first.endswith(","))
        for item in items:
            self.tell(item)

    def items(self, lines, place):
        """Split a list into its items, by their indents; an item without a full stop introduces the deeper ones."""
        found = []  # [indent, text]
        while place < len(lines) and lines[place].strip():
            if item := ITEM.match(lines[place]):
                found.append([len(item[1]), item[2]])
            elif self.marked or lines[place].startswith(" "):
                found[-1][1] += " " + lines[place].strip()
            else:
                break
            place += 1
        label = len(found) == 1 and not self.marked and self.is_text(lines, place)
        while found:
            indent, text = found.pop(0)
            deeper = bool(found) and found[0][0] > indent
            if "apiVersion:" in text:
                text, _, manifest = text.partition("apiVersion:")
                while found and found[0][0] > indent:
                    manifest += f" {found.pop(0)[1]}"
                self.tell(text)
                self.say(f"apiVersion:{manifest}")
            elif text.endswith(":") and not deeper and not label:
                continue  # a line of a form that nobody filled in
            elif text.endswith("?") and not deeper:
                continue
            else:
                self.tell(text, introduces=(deeper or label) and not text.endswith("."))
        if not label:
            self.flush()
        return place

    def is_text(self, lines, place):
        """Whether what follows a line is a paragraph or code."""
        place = next((each for each in range(place, len(lines)) if lines[each].strip()), len(lines))
        return place < len(lines) and (begins_code(lines[place]) or not (ITEM.match(lines[place]) or is_heading(lines[place])))

    def flush(self):
        """Forget a label under which nothing stands."""
        if self.introduced and not self.introduced.endswith(":"):
            self.introduced = ""

    def code(self, lines, place):
        """Read a block of code, and return where it ends; 0 if none begins here."""
        stripped = lines[place].strip()
        if self.marked and stripped.startswith("```"):
            end = next(each for each in range(place + 1, len(lines)) if lines[each].strip().startswith("```"))
            self.declarations([line.strip() for line in lines[place + 1:end]])
            return end + 1
        if self.marked:
            return 0
        indent = len(lines[place]) - len(lines[place].lstrip())
        first = next(each for each in range(place, len(lines)) if not lines[each].lstrip().startswith("//"))
        stripped = lines[first].strip()
        if DECLARED.match(stripped):
            end = first + 1
            while stripped.endswith(("{", "(")) and lines[end].rstrip() not in (" " * indent + "}", " " * indent + ")"):
                end += 1
            end += stripped.endswith(("{", "("))
            self.declarations([line.strip() for line in lines[place:end]])
            return end
        if SIGNATURE.match(stripped):
            self.say(stripped)
            return place + 1
        if stripped.startswith("for each ") and stripped.endswith("do"):
            end = next(each for each in range(place, len(lines)) if lines[each].strip() == "done")
            self.pseudo_code([line.strip() for line in lines[place + 1:end]], stripped)
            return end + 1
        if re.match(r"(apiVersion|spec):", lines[place]):
            end = next((each for each in range(place, len(lines)) if not lines[each].strip()), len(lines))
            self.say(" ".join(lines[place:end]))
            return end
        if re.match(r"[+|][-\s\w(]", stripped):  # a drawing belongs to the sentence before it
            end = past(lines, place)
            for line in lines[place:end]:
                self.introduced += "".join(f" {word}" for word in re.findall(r"\w[\w,() ]*\w", line))
            self.say("")
            return end
        return 0

    def declarations(self, lines):
        """Split Go: each declaration with the first sentence of its comment, each further sentence of it for itself."""
        comment = []
        for line in lines:
            if line.startswith("//"):
                comment.append(line.strip("/ "))
                continue
            if line.startswith(("...", "}", ")")) or not line:
                continue
            text = "\n".join(each for each in comment if not each.startswith("+"))
            comment = []
            if line.endswith(("{", "(")) and not text:
                self.introduced = f"{self.introduced} {line.rstrip('{(')}"  # its fields are the statements
                continue
            first, *rest = [part for item in re.split(r"\n- |\n(?=Note:)", text) for part in sentences(clean(item))] or [""]
            while rest and first.endswith(":"):
                first = f"{first} {rest.pop(0)}"
            self.say(f"{re.sub(r'`(json|protobuf|patch).*', '', line)} {first}")
            introduced = ""
            for part in rest:
                if part.endswith(":"):
                    introduced = part
                    continue
                self.say(f"{introduced} {part}")
                introduced = ""

    def pseudo_code(self, lines, first):
        """Split pseudo code: a condition with the instructions that it guards, and each comment."""
        guard = [first]
        for line in lines:
            if line.startswith("#"):
                self.say(line.strip("# "))
            elif line.endswith((" then", " do")):
                guard.append(line)
            elif line != "fi":
                self.say(" ".join([*guard, line]))
                guard = []


def is_heading(line):
    """Whether a line of a document without marks is a heading: it begins a line, is short, and ends like a name."""
    sentence = re.search(r"[.:,;}]$|^TODO|^[{|+`@•(]| \* |(?<!i\.e)(?<!etc)(?<!\.\.)[.:] ", line)
    return bool(line) and not line.startswith(" ") and len(line) <= 150 and not (sentence or SIGNATURE.match(line) or line == "N/A")


def begins_code(line):
    """Whether a line of a document without marks begins a block of code."""
    code = re.match(r" *((type \w+|const) .*[({]$|for each .*do$|[+|][-\s\w(])|(apiVersion|spec):", line)
    return bool(code or SIGNATURE.match(line.strip()))


def past(lines, place):
    """Return where the lines that stand together end."""
    while place < len(lines) and lines[place].strip() and not (lines[place].startswith("#")):
        place += 1
        if place < len(lines) and (ITEM.match(lines[place]) or lines[place].startswith("```")):
            break
    return place


def split(name, text):
    """Return a document's headings in order, each with its statements: [(heading, [statement, ...]), ...]."""
    return [(heading, found) for heading, found in Splitter(name, text).found]


def stored(name):
    """Read the index of a document: [(heading, {anchor: (digest, words)}), ...]."""
    path, found = INDEX / f"{name}.txt", []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        number, _, rest = line.partition(" ")
        if "-" in number:
            known, *kept = rest.split()
            found[-1][1][f"{name}-{number}"] = known, kept
        else:
            found.append((rest, {}))
    return found


def anchored(name, sections):
    """Give each statement its anchor, the stored one if its digest is stored: [(heading, {anchor: statement}), ...]."""
    before = stored(name)
    found = []
    for place, (heading, told) in enumerate(sections):
        kept = dict(before[place][1]) if place < len(before) else {}
        known = {}
        for anchor, (mark, _) in kept.items():
            known.setdefault(mark, []).append(anchor)
        last = max((int(anchor.rpartition("-")[2]) for anchor in kept), default=0)
        anchors = {}
        for statement in told:
            if same := known.get(digest(statement)):
                anchors[same.pop(0)] = statement
            else:
                last += 1
                anchors[f"{name}-{place + 1}-{last}"] = statement
        found.append((heading, anchors))
    return found


def index_text(sections):
    """Write what is kept of a document."""
    lines = []
    for place, (heading, told) in enumerate(sections, 1):
        lines.append(f"{place} {heading}")
        lines += [" ".join([anchor.partition("-")[2], digest(statement), *words(statement)])
                  for anchor, statement in told.items()]
    return "\n".join(lines) + "\n"


def documents(folder):
    """Read the documents of a folder: name -> [(heading, {anchor: statement}), ...]."""
    paths = {path.name[:2]: path for path in sorted(Path(folder).glob("S[0-4]-*.txt"))}
    return {name: anchored(name, split(name, path.read_text("utf-8"))) for name, path in paths.items()}


def skeleton(name, sections):
    """Return the plain text that a document's notebook is begun with."""
    lines = [f"# {name} · {TITLES[name]}", "", "```python", "from kvolsched.documents import *", "```"]
    for place, (heading, told) in enumerate(sections, 1):
        lines += ["", f"## {place} {heading}"]
        for anchor, statement in told.items():
            lines += ["", f"%% {statement}", f"{anchor} ·"]
    return "\n".join(lines) + "\n"


def main(folder, *options):
    """Compare, store, or print a skeleton."""
    found = documents(folder)
    if "--skeleton" in options:
        name = options[options.index("--skeleton") + 1]
        print(skeleton(name, found[name]), end="")
        return 0
    faults = 0
    for name, sections in found.items():
        path, text = INDEX / f"{name}.txt", index_text(sections)
        lost = Counter(mark for _, told in stored(name) for mark, _ in told.values()) - Counter(
            digest(statement) for _, told in sections for statement in told.values())
        same = path.exists() and path.read_text("utf-8") == text
        print(f"{name}: {len(sections)} headings, {sum(len(told) for _, told in sections)} statements"
              f"{'' if same else ', not as stored'}{f', {sum(lost.values())} stored ones are gone' if lost else ''}")
        faults += not same
        if "--store" in options:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
    return 0 if "--store" in options else faults


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
