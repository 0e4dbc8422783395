"""One incident: a scenario that ends in a symptom, what kubectl shows then, a question, the cause, cures that are run.

The file is a scenario's (`scenario.py`), or names a shipped one (`scenario`, and its parameters under `with`). Without
a `revision` its rules are today's: kubectl then shows what it shows in a reader's own cluster. And it has

| field | value |
|---|---|
| `title` | what happens, in one line |
| `symptom` | a list of `run` (a kubectl command) and `shows` (words that its output has) |
| `question` | what the reader is asked before the end; `answers`: name -> what speaks for or against it; `right` |
| `cause` | why, in one to three sentences |
| `cures` | a list of `words`, `script` (acts, `expect`) from the symptom on; `anew`: other parameters, to begin again |
| `sources` | where people met it: `kubernetes#108096` or an address |
| `sentences` | the sentences of events and conditions that lead here, as they are written in this run |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from kvolsched.api.kinds.meta import Frozen, freeze, thaw
from kvolsched.api.notebook_output import PrintedAnswer, to_type
from kvolsched.api.words import hanging_indent
from kvolsched.learn.scenario import Scenario, ScenarioError, load, read_data
from kvolsched.learn.templates import ExpectationFailed
from kvolsched.rules.registry import TODAY

if TYPE_CHECKING:
    from kvolsched.cluster import Cluster
    from kvolsched.questions.fix.harm import Stars
    from kvolsched.questions.predict import Prediction
    from kvolsched.questions.why import Why, Whys
    from kvolsched.rules.revision import Revision
    from kvolsched.views.panel.predict import Predict

FIELDS = ("title", "symptom", "question", "answers", "right", "cause", "cures", "sources", "sentences")
NEEDED = tuple(field for field in FIELDS if field != "sentences")
_EVENTS = re.compile(r"^Events:", re.MULTILINE)
_REPOSITORIES = {  # as people call them
    "kubernetes": "kubernetes/kubernetes", "enhancements": "kubernetes/enhancements",
    "aws-ebs-csi-driver": "kubernetes-sigs/aws-ebs-csi-driver",
}  # fmt: skip


@attrs.frozen
class Cure:
    """One cure."""

    words: str  # what is done, as an imperative
    script: tuple[Frozen, ...] = ()  # acts and expectations, from the symptom on or from the start
    # other parameters of the scenario: it begins anew with them; none: the cure follows the symptom
    anew: Frozen | None = None


@attrs.frozen(repr=False)
class Cured(PrintedAnswer):
    """A cure that was run.

    Args:
        words: what was done.
        cluster: the cluster after it.
        failed: which expectation does not hold; "" if all do.
        start: the cluster at the symptom; None if the cure begins anew.
    """

    words: str
    cluster: Cluster
    failed: str = ""
    start: Cluster | None = None

    @property
    def stars(self) -> Stars | None:
        """How good the cure is, beside a copy that nobody touched; None if it begins anew."""
        if self.start is None:
            return None
        from kvolsched.learn.rescue import at_rest
        from kvolsched.questions.fix.harm import stars

        return stars(at_rest(self.start), at_rest(self.cluster), self.start.world.log.objects)

    def __bool__(self) -> bool:
        return not self.failed

    def __repr__(self) -> str:
        end = f"✕ {self.failed}" if self.failed else f"✓ it helps {self.stars.drawn if self.stars else ''}".rstrip()
        return hanging_indent([f"{self.words}: {end}"], 2)


class Cures(PrintedAnswer, tuple[Cured, ...]):
    """Cures that were run; printed, a line each."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


@attrs.frozen(repr=False)
class Symptom(PrintedAnswer):
    """What kubectl shows, command by command: of `describe` the events alone.

    Args:
        shown: (command, output, words of it that are the symptom).
    """

    shown: tuple[tuple[str, str, str], ...]

    def __repr__(self) -> str:
        shown = []
        for command, output, _ in self.shown:
            events = _EVENTS.search(output)
            told = output[events.start() if events else 0:].rstrip("\n")
            shown.append(f"$ {command}\n{told}")
        return "\n\n".join(shown)


@attrs.frozen(repr=False, slots=False)
class Incident(PrintedAnswer):
    """What people meet, to be played, predicted, explained and cured.

    Args:
        name: of the file.
        title: what happens.
        asked: (command, words that its output has).
        question: what the reader is asked.
        answers: name -> what speaks for or against it.
        right: the name of the right one.
        cause: why it happens.
        cures: what helps.
        sources: where people met it.
        sentences: the sentences of events that lead here.
        scenario: the cluster and its script, filled.
        parameters: of the shipped scenario.
    """

    name: str
    title: str
    asked: tuple[tuple[str, str], ...]
    question: str
    answers: Mapping[str, str]
    right: str
    cause: str
    cures: tuple[Cure, ...]
    sources: tuple[str, ...]
    sentences: tuple[str, ...]
    scenario: Scenario
    parameters: Frozen

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its objects, sorted."""
        return tuple(sorted({str(obj["kind"]) for obj in self._objects}))

    @property
    def taints(self) -> tuple[str, ...]:
        """The keys of its nodes' taints, sorted."""
        taints = [taint for obj in self._objects for taint in obj.get("spec", {}).get("taints", ())]
        return tuple(sorted({str(taint["key"]) for taint in taints}))

    @cached_property
    def _objects(self) -> list[dict[str, Any]]:
        return [thaw(obj) for obj in self.scenario.filled(**thaw(self.parameters)).objects]

    @property
    def links(self) -> tuple[str, ...]:
        """The sources as addresses."""
        return tuple(map(_address, self.sources))

    def start(self, revision: str | Revision = "") -> Cluster:
        """Return the cluster before anything has happened, under the incident's own rules or others."""
        return self.scenario.cluster(revision, **thaw(self.parameters))

    def play(self, revision: str | Revision = "") -> Cluster:
        """Return the cluster at the symptom: `.goto(0)` is the start, `.back()` a step before.

        Args:
            revision: other rules; what the file expects is then not checked.

        Raises:
            ExpectationFailed: the file expects something that does not happen.
        """
        if revision:
            return self.scenario.play(self.start(revision), expecting=False, **thaw(self.parameters))
        return self._played.fork(self.name)

    @cached_property
    def _played(self) -> Cluster:
        return self.scenario.play(self.start(), **thaw(self.parameters))

    @property
    def symptom(self) -> Symptom:
        """What kubectl shows at the end.

        Raises:
            ExpectationFailed: an output lacks the words of the symptom.
        """
        cluster = self.play()
        shown = []
        for command, words in self.asked:
            output = str(cluster.kubectl(command.removeprefix("kubectl ")))
            if words not in output:
                raise ExpectationFailed(f"{self.name}: {command} does not show {words!r}:\n{output}")
            shown.append((command, output, words))
        return Symptom(tuple(shown))

    def predict(self) -> Predict:
        """Ask the question with buttons; `.answer(...)` and `.reveal()` answer it, and the grade counts it."""
        from kvolsched.views.panel.predict import Predict

        return Predict(self.asked_question())

    def asked_question(self) -> Prediction:
        """Return the incident's question as a value, for a terminal."""
        from kvolsched.questions.predict import Outcome, PossibleAnswer, Prediction, Verdict

        verdicts = {name: Verdict(name == self.right, words) for name, words in self.answers.items()}
        outcome = Outcome(self.right, verdicts, self.cause, "at the end", 0)
        candidates = tuple(PossibleAnswer(name) for name in self.answers)
        return Prediction(self.play(), self.question, "incident", "", candidates, lambda: outcome, self.name)

    @property
    def why(self) -> Why | Whys:
        """Why pods wait at the symptom, as `c.why()` says it."""
        return self.play().why()

    def cure(self, revision: str | Revision = "") -> Cures:
        """Run every cure, under the incident's own rules or others, and say whether what it promises holds."""
        return Cures(self._cured(cure, revision) for cure in self.cures)

    def _cured(self, cure: Cure, revision: str | Revision) -> Cured:
        values = thaw(self.parameters) | thaw(cure.anew or freeze({}))
        start = self.play(revision) if cure.anew is None else None
        cluster = self.scenario.cluster(revision, **values) if start is None else start.fork(cure.words)
        try:
            attrs.evolve(self.scenario, script=cure.script).play(cluster, **values)
        except ExpectationFailed as failed:
            return Cured(cure.words, cluster, failed.words, start)
        return Cured(cure.words, cluster, start=start)

    def __repr__(self) -> str:
        lines = [self.title, f"  {hanging_indent([self.question], 2)}", *(f"    – {name}" for name in self.answers)]
        lines += ["  cures:", *(f"    {hanging_indent([cure.words], 4)}" for cure in self.cures)]
        lines += [f"  met in: {', '.join(self.sources)}",
                  *filter(None, [to_type("  .symptom, .predict(), .play(), .why, .cure()", "")])]  # fmt: skip
        return "\n".join(lines)


def _address(source: str) -> str:
    repository, mark, number = source.partition("#")
    if not mark or "//" in repository:
        return source
    return f"https://github.com/{_REPOSITORIES.get(repository, repository)}/issues/{number}"


def incident_of(data: Mapping[str, Any], name: str) -> Incident:
    """Return the incident that a file's data describe.

    Raises:
        ScenarioError: a field is missing or unknown, or the right answer is none of the answers; all faults are named.
    """
    data = dict(data)
    own = {field: data.pop(field) for field in FIELDS if field in data}
    shipped, parameters = data.pop("scenario", ""), data.pop("with", {})
    script = data.pop("script", []) if shipped else []
    revision = data.pop("revision", TODAY)
    faults = list(_faults(own, name))
    if shipped and data:
        faults.append(f"{name}: {', '.join(data)}: the scenario {shipped} has its own; give parameters under `with`")
    if faults:
        raise ScenarioError("\n".join(faults))
    scenario = attrs.evolve(load(shipped) if shipped else read_data(data, name), revision=revision)
    if shipped:
        scenario = attrs.evolve(scenario, script=tuple(map(freeze, script or [{"run": True}])))
    cures = tuple(Cure(each["words"], tuple(map(freeze, each.get("script", ()))),
                       freeze(each["anew"]) if "anew" in each else None) for each in own["cures"])
    return Incident(
        name, own["title"], tuple((each["run"], each["shows"]) for each in own["symptom"]), own["question"],
        {str(key): words for key, words in own["answers"].items()}, str(own["right"]), own["cause"], cures,
        tuple(own["sources"]), tuple(own.get("sentences", ())), scenario, freeze(parameters),
    )  # fmt: skip


def _faults(own: Mapping[str, Any], name: str) -> Iterator[str]:
    missing = [field for field in NEEDED if not own.get(field)]
    if missing:
        yield f"{name}: no {', '.join(missing)}; an incident has {', '.join(NEEDED)}"
    answers: Iterable[Any] = own.get("answers", ())
    if answers and str(own.get("right")) not in map(str, answers):
        yield f"{name}: right: {own.get('right')!r} is none of the answers: {', '.join(map(str, answers))}"
    if any("words" not in cure or "script" not in cure for cure in own.get("cures", ())):
        yield f"{name}: cures: each has words and a script that expects something"
