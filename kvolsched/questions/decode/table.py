"""The table of sentences: every sentence that `decode` knows, in the order in which rows are asked.

The rows lie in `sentences/`: `nodes.yaml` has what kube-scheduler says of nodes, `pods.yaml` what it says of a whole
pod, `volumes.yaml` the PV controller, provisioners and the kubelet, `workloads.yaml` the other controllers and nodes,
`refusals.yaml` the API server and kubectl. A row has who writes its sentences (`from`), the patterns one a line
(`says`; older and newer words of one rule stand together), the `rule`, what `usually` causes it, and the kubectl line
to type `next`; `field_error` and `cases` as in `Meaning`, where each case says how the word `begins`.

A pattern is the sentence itself with placeholders: `<claim>` is one word, `<why…>` is any text, and `<<rest>>` is
another sentence, which is decoded in its turn. A word that was read takes its placeholder's place in the kubectl line,
if it is a name that Kubernetes allows: what a stranger wrote never reaches a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from ...api.text.yaml_text import packaged_data

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


@attrs.frozen(slots=False)
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

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The sentences as regular expressions."""
        before = rf"(?:{FIELD}: (?:{ERROR_TYPES}): (?:.*: )?)?" if self.field_error else ""
        return tuple(re.compile(before + as_expression(sentence), re.DOTALL) for sentence in self.sentences)

    def read(self, text: str) -> dict[str, str] | None:
        """Return the words at the placeholders if the text is one of the sentences."""
        for pattern in self.patterns:
            found = pattern.fullmatch(text)
            if found is not None:
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


FILES = ("nodes", "pods", "volumes", "workloads", "refusals")
FIELDS = {"from": "plugin", "says": "sentences", "rule": "rule", "usually": "cause", "next": "next_line",
          "field_error": "field_error", "cases": "cases"}  # fmt: skip
AUTOSCALER = "cluster autoscaler"


def _meaning(row: Mapping[str, Any], writer: str = "") -> Meaning:
    """Return what a row says, or a case of a row of this writer; a name that stands for no field is an error."""
    fields: dict[str, Any] = {"plugin": writer, "sentences": "", "next_line": ""}
    fields |= {FIELDS[name]: value for name, value in row.items() if name != "begins"}
    cases = tuple((case["begins"], _meaning(case, fields["plugin"])) for case in row.get("cases", ()))
    return Meaning(**fields | {"sentences": tuple(fields["sentences"].splitlines()), "cases": cases})


MEANINGS = tuple(_meaning(row) for name in FILES for row in packaged_data(__package__, "sentences", f"{name}.yaml"))
CUT = Meaning(
    "",
    (),
    "The sentence was cut here: what else it said is not in the paste.",
    "An event keeps 1,024 characters of a message; tables, chats and alerts shorten it further.",
    "kubectl get events -n <namespace> -o custom-columns=OBJECT:.involvedObject.name,MESSAGE:.message",
)
CUT_SUMMARY = attrs.evolve(
    CUT, next_line="kubectl get pod <pod> -n <namespace> -o jsonpath='{.status.conditions[*].message}'"
)
UNKNOWN = Meaning(
    "",
    (),
    "Unknown: this clause is in no row of the table.",
    "A plugin, driver or webhook of your own cluster, or another release, may write it.",
    "",
)
