"""The table of sentences: every sentence that `decode` knows, in the order in which rows are asked.

The rows lie in `sentences/`: `nodes.yaml` has what kube-scheduler says of nodes, `pods.yaml` what it says of a whole
pod, `volumes.yaml` the PV controller, provisioners and the kubelet, `workloads.yaml` the other controllers and nodes,
`refusals.yaml` the API server and kubectl. A row has who writes its sentences (`from`), the patterns one a line
(`says`; older and newer words of one rule stand together), the `rule`, what `usually` causes it, and the kubectl line
to type `next`; `field_error` and `cases` as in `Meaning`, where each case says how the word `begins`. Read is
`sentences.json`, which `python tests/store_sentences.py` makes of them: no answer waits for a reader of YAML.

A pattern is the sentence itself with placeholders: `<claim>` is one word, `<why…>` is any text, and `<<rest>>` is
another sentence, which is decoded in its turn. A word that was read takes its placeholder's place in the kubectl line,
if it is a name that Kubernetes allows: what a stranger wrote never reaches a shell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

PLACEHOLDER = re.compile(r"<<(?P<inner>\w+)>>|<(?P<word>\w+)(?P<free>…)?>")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}\Z")
RESOURCE = re.compile(r"(?:[a-z0-9.-]{1,253}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,252}\Z")  # nvidia.com/gpu, too
LONG_FRONT = 12  # characters before a placeholder that tell a sentence from others
INNER = "inner_"  # the names of groups that hold another sentence begin so
GROUPS = "groups"  # the name of a list that counts node groups, and the part of its clauses
ERROR_TYPES = (
    "Invalid value|Forbidden|Required value|Unsupported value|Duplicate value|Too many|Too long|May not be more than"
    "|Not found|Internal error|FieldValue[A-Z][A-Za-z]+"
)
FIELD = r"\S{1,400}(?:, whenUnsatisfiable\})?"  # {topologyKey, whenUnsatisfiable} is the one path with a blank


@dataclass(frozen=True)
class Meaning:
    """What one or more sentences mean: who writes them, the rule in one line, the usual cause, the line to type next.

    Args:
        plugin: the scheduler's plugin or the component that writes the sentences.
        sentences: the patterns; older and newer words of the same rule stand together.
        rule: the rule in one line.
        cause: what usually causes it.
        next_line: the kubectl line that shows more.
        field_error: whether a field's path, an error type and a value may precede the sentences.
        cases: (regular expression, meaning): what the sentences mean where a word at a placeholder begins so. The
            expression's named groups are words, too.
    """

    plugin: str
    sentences: tuple[str, ...]
    rule: str
    cause: str
    next_line: str
    field_error: bool = False
    cases: tuple[tuple[str, Meaning], ...] = ()

    def read(self, text: str) -> dict[str, str] | None:
        """Return the words at the placeholders if the text is one of the sentences."""
        for sentence in self.sentences:
            if _longest_words(sentence) in text and (found := _pattern(sentence, self.field_error).fullmatch(text)):
                return {name: word for name, word in found.groupdict().items() if word is not None}
        return None

    def case_of(self, words: Mapping[str, str]) -> tuple[Meaning, Mapping[str, str]]:
        """Return the first case that the words at the placeholders are of, with its words; else this meaning."""
        for expression, case in self.cases:
            for found in filter(None, (re.match(expression, word) for word in words.values())):
                return case, {**words, **found.groupdict()}
        return self, words

    def may_begin(self, text: str) -> bool:
        """Whether one of the sentences begins so: with the text, or as the text does up to its first placeholder."""
        fronts = [(sentence, PLACEHOLDER.split(sentence, maxsplit=1)[0]) for sentence in self.sentences]
        return any(sentence.startswith(text) or (len(front) >= LONG_FRONT and text.startswith(front))
                   for sentence, front in fronts)  # fmt: skip


@cache
def _longest_words(sentence: str) -> str:
    """Return the longest part of a pattern that every such sentence has: few expressions are then made for a paste."""
    first, *others = PLACEHOLDER.sub("\0", sentence).split("\0")
    return max(first[1:], *others, "", key=len)  # the first letter may be a capital


@cache
def _pattern(sentence: str, field_error: bool) -> re.Pattern[str]:  # noqa: FBT001 - as a meaning has it
    before = rf"(?:{FIELD}: (?:{ERROR_TYPES}): (?:.*: )?)?" if field_error else ""
    return re.compile(before + as_expression(sentence), re.DOTALL)


def as_expression(sentence: str) -> str:
    """Return a pattern as a regular expression: its first letter small or capital, equal names equal words."""
    parts, last, seen = [], 0, set()
    for found in PLACEHOLDER.finditer(sentence):
        parts.append(re.escape(sentence[last : found.start()]))
        last = found.end()
        name = INNER + found["inner"] if found["inner"] else found["word"]
        if name in seen:
            parts.append(f"(?P={name})")
            continue
        seen.add(name)
        quoted = sentence[last : last + 1] == '"'
        one = r'[^"\s]{0,400}' if quoted else r"\S{1,400}?"
        parts.append(f"(?P<{name}>{'.+' if found['inner'] or found['free'] else one})")
    expression = "".join([*parts, re.escape(sentence[last:])])
    return f"(?i:{expression[0]}){expression[1:]}" if expression[0].isalpha() else expression


def fill_placeholders(line: str, words: Mapping[str, str]) -> str:
    """Return a kubectl line with the names that are known; a word that is no name leaves its placeholder."""

    def known(found: re.Match[str]) -> str:
        word = words.get(found["word"] or "", "")
        return word if (RESOURCE if found["word"] == "resource" else NAME).match(word) else found[0]

    return PLACEHOLDER.sub(known, line)


AUTOSCALER = "cluster autoscaler"


def packaged_json(name: str) -> Any:
    """Return the data of a JSON file beside this module."""
    with open(f"{__file__.removesuffix('table.py')}{name}", encoding="utf-8") as file:  # noqa: PTH123 - before pathlib is
        return json.load(file)


def _meaning(row: Mapping[str, Any]) -> Meaning:
    cases = tuple((begins, _meaning(case)) for begins, case in row.get("cases", ()))
    return Meaning(**{**row, "sentences": tuple(row.get("sentences", ())), "cases": cases})


MEANINGS = tuple(map(_meaning, packaged_json("sentences.json")))
CUT = Meaning(
    "",
    (),
    "The sentence was cut here: what else it said is not in the paste.",
    "An event keeps 1,024 characters of a message; tables, chats and alerts shorten it further.",
    "kubectl get events -n <namespace> -o custom-columns=OBJECT:.involvedObject.name,MESSAGE:.message",
)
CUT_SUMMARY = replace(
    CUT, next_line="kubectl get pod <pod> -n <namespace> -o jsonpath='{.status.conditions[*].message}'"
)
UNKNOWN = Meaning(
    "",
    (),
    "Unknown: this clause is in no row of the table.",
    "A plugin, driver or webhook of your own cluster, or another release, may write it.",
    "",
)
