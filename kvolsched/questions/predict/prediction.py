"""A prediction: a question that takes answers, lets it happen on the cluster, and is counted in the grade.

The simulation waits: nothing is shown of a verdict before an answer, a wrong answer shows only what speaks against it,
and the reveal is the step itself. Nothing here waits for anybody: a prediction that nobody answers is a value that
prints its question.
"""

from collections.abc import Callable, Iterable
from functools import cache, cached_property, partial
from typing import Any, Self

import attrs

from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolumeClaim
from ...api.notebook_output import PrintedAnswer, Rows
from ...api.unknown_name import UnknownName, did_you_mean
from ...api.volumes import class_of_claim, has_provisioner
from ...api.words import counted, hanging_indent
from ...core.core import ClusterCore
from ...rules.named import plugin_card
from ...scheduler.loop.scheduling_cycle import PASS
from ...world.apiserver import ref
from ...world.log import Key
from . import candidates as kinds
from . import outcome as outcomes
from .candidates import ASKS, MOST, NEW, NONE, PossibleAnswer
from .outcome import Outcome, Verdict

MOST_GROUPS = 12


# What was asked, of what, where -> each try to answer it, in order, true if it was right. Of this process: a kernel.
_tries: dict[tuple[str, str, str], list[bool]] = {}


@attrs.frozen
class GradeRow:
    """How the questions of one kind were answered."""

    ask: str
    asked: int
    answered: int
    first: int
    later: int


@attrs.frozen(repr=False)
class Grade(Rows[GradeRow], PrintedAnswer):
    """How this notebook's questions were answered, by what is asked; first tries apart.

    A later try counts only if the first was wrong, and a question that is shown before an answer counts as not
    answered.
    """

    rows: tuple[GradeRow, ...]

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return sum(row.asked for row in self.rows)

    @property
    def first(self) -> int:
        """How many were right at the first try."""
        return sum(row.first for row in self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return "no question has been asked"
        total = GradeRow("all", *(sum(getattr(row, name) for row in self.rows)
                                  for name in ("asked", "answered", "first", "later")))
        rows = (*self.rows, *((total,) if len(self.rows) > 1 else ()))
        head = f"{'question':<10}{'asked':>7}{'answered':>10}{'right at first':>16}{'right later':>13}"
        lines = (f"{row.ask:<10}{row.asked:>7}{row.answered:>10}{row.first:>16}{row.later:>13}" for row in rows)
        return "\n".join([head, *lines])


def grade() -> Grade:
    """Count the predictions of this notebook by what was asked, first tries apart.

    >>> isinstance(grade(), Grade)
    True
    """
    rows = []
    for ask in dict.fromkeys((*ASKS, *(asked for asked, *_ in _tries))):
        found = [tries for (asked, *_), tries in _tries.items() if asked == ask]
        if found:
            answered = [tries for tries in found if tries]
            first = sum(tries[0] for tries in answered)
            rows.append(GradeRow(ask, len(found), len(answered), first, sum(any(tries[1:]) for tries in answered)))
    return Grade(tuple(rows))


def forget_grades() -> None:
    """Forget all answers that were counted."""
    _tries.clear()


class NotAnswered(Exception):
    """Raised where the answer to a question is asked for before anybody has given one."""


class AskedQuestion(PrintedAnswer):
    """One question to the reader. Mutable: it takes answers, and is closed until one is given or somebody gives up.

    Args:
        title: the question.
        ask: what is asked, one of `ASKS`, or the name of another sort of question.
        about: in a line what is known of its subject.
        candidates: the possible answers.
        key: what tells it from other questions, for the count.
    """

    def __init__(self, title: str, ask: str, about: str, candidates: tuple[PossibleAnswer, ...],
                 key: tuple[str, str, str]) -> None:
        self.title, self.ask, self.about, self.candidates = title, ask, about, candidates
        self.answers: list[str] = []
        self.revealed = False
        self._tries = _tries.setdefault(key, [])
        self._waiting: list[Callable[[], object]] = []

    def answer(self, name: Any) -> Self:
        """Answer with the name of a candidate, or its number from 1; a wrong answer is told what speaks against it.

        Raises:
            ValueError: there is no such candidate; the message lists them.
        """
        if name is None or isinstance(name, bool):  # who has not decided has not said "none of them"
            there = ", ".join(each.name for each in self.candidates) or "numbers"
            raise ValueError(f"{name} is no answer; there are: {there}")
        chosen = self._candidate(name)
        if self.revealed or self.is_right or chosen.name in self.answers:
            return self
        self.answers.append(chosen.name)
        if self.is_known:
            self._tries.append(self.counts_as_right(chosen))
        self._open()
        return self

    def reveal(self) -> Self:
        """Let it happen, and show every verdict.

        Raises:
            NotAnswered: nobody has answered; `give_up` shows it all the same.
        """
        if not self.is_open:
            raise NotAnswered(f"{self.title} Answer first: .answer(...); .give_up() shows it without an answer")
        return self.give_up()

    def give_up(self) -> Self:
        """Let it happen, answered or not; a question without an answer counts as not answered."""
        self.revealed = True
        self._open()
        return self

    def when_open(self, show: Callable[[], object]) -> None:
        """Call a function at the first answer, or when somebody gives up; at once if that is over."""
        self._waiting.append(show)
        if self.is_open:
            self._open()

    @property
    def is_open(self) -> bool:
        """Whether there is an answer, or somebody gave up."""
        return bool(self.answers) or self.revealed

    def _open(self) -> None:
        waiting, self._waiting = self._waiting, []
        for show in waiting:
            show()

    @property
    def is_known(self) -> bool:
        """Whether it is known what is right."""
        return True

    @property
    def right(self) -> str:
        """What is right, answered or not; "" as long as that is not known."""
        return self._outcome.happened if self.is_known else ""

    @property
    def has_moved(self) -> bool:
        """Whether what it is about is no longer where the question was asked."""
        return False

    @property
    def is_right(self) -> bool:
        """Whether the last answer counts as right; False as long as that is not known."""
        return bool(self.answers) and self.is_known and self.counts_as_right(self._candidate(self.answers[-1]))

    @property
    def outcome(self) -> Outcome | None:
        """What happened; None until it is revealed."""
        return self._outcome if self.revealed and self.is_known else None

    @property
    def _outcome(self) -> Outcome:
        raise NotImplementedError

    def counts_as_right(self, candidate: PossibleAnswer) -> bool:
        """Whether a candidate is what happened, or as good: an equal sum of scores."""
        return not self._outcome.right.isdisjoint(candidate.stands_for)

    def happened(self, candidate: PossibleAnswer) -> bool:
        """Whether a candidate is what happened; False until it is revealed."""
        return self.outcome is not None and self._outcome.happened in candidate.stands_for

    def verdict(self, candidate: PossibleAnswer) -> Verdict | None:
        """Return what speaks for or against a candidate: of those that were answered, and of all once revealed."""
        if not self.is_known or (not self.revealed and candidate.name not in self.answers):
            return None
        named = (name for name in candidate.stands_for if name == self._outcome.happened)
        return self._outcome.verdicts.get(next(named, candidate.name))

    def grade(self) -> Grade:
        """Count this notebook's answers by what was asked, first tries apart."""
        return grade()

    def _candidate(self, name: Any) -> PossibleAnswer:
        if isinstance(name, int) and str(name) not in (each.name for each in self.candidates):
            if 1 <= name <= len(self.candidates):
                return self.candidates[name - 1]
            raise ValueError(f"there are {len(self.candidates)} candidates; {name} is none of their numbers")
        name = str(name)
        wanted = {"none": NONE, "new": NEW, "pending": kinds.PENDING, "gone": kinds.GONE}.get(name.lower(), name)
        for candidate in self.candidates:
            if name == candidate.name or wanted in candidate.stands_for:
                return candidate
        names = [each.name for each in self.candidates]
        hint = did_you_mean(name, names)
        raise UnknownName(f"{name!r} is no candidate; there are: {', '.join(names)}{hint}")

    def __repr__(self) -> str:
        note = f" ({self.outcome.note})" if self.outcome is not None and self.outcome.note else ""
        lines = [f"{self.title}{note}", *([f"  {hanging_indent([self.about], 2)}"] if self.about else [])]
        wide = max((len(each.name) for each in self.candidates), default=0) + 2
        for number, candidate in enumerate(self.candidates, 1):
            lines.append(f"  {number}  {candidate.name:<{wide}}{hanging_indent([self._words_of(candidate)], wide + 5)}"
                         .rstrip())  # fmt: skip
        lines += [f"you: {name} {self._mark(name)}".rstrip() for name in self.answers]
        if self.outcome is not None:
            happened = "" if self.outcome.happened in (NONE, NEW) else f"{self.outcome.happened}. "
            lines.append(hanging_indent([f"it happened: {happened}{self.outcome.sentence}".rstrip()], 2))
        elif not self.answers:
            lines.append("not answered yet: .answer(name), then .reveal()")
        return "\n".join(lines)

    def _mark(self, name: str) -> str:
        return "" if not self.is_known else "✓" if self.counts_as_right(self._candidate(name)) else "✕"

    def _words_of(self, candidate: PossibleAnswer) -> str:
        verdict = self.verdict(candidate)
        if verdict is None:
            return candidate.facts
        sign = "★" if self.happened(candidate) else "✓" if verdict.right else "✕"
        words = f"{verdict.plugin}: {verdict.words}" if verdict.plugin else verdict.words
        return f"{sign} {words}" + (f" ({verdict.evidence})" if verdict.evidence else "")


class Prediction(AskedQuestion):
    """One question about what happens next on a cluster. Mutable: it takes answers, and `reveal` steps the cluster.

    Args:
        cluster: the cluster that `reveal` steps.
        title: the question.
        ask: what is asked, one of `ASKS`, or the name of another sort of question.
        about: in a line what is known of its subject.
        candidates: the possible answers.
        find: finds what happens, on a fork of the present place; it is called when it is needed first.
        subject: the object that it is about, for the count.
    """

    def __init__(self, cluster: ClusterCore, title: str, ask: str, about: str,
                 candidates: tuple[PossibleAnswer, ...], find: Callable[[], Outcome], subject: str) -> None:
        self.cluster, self._find = cluster, find
        self._place = (cluster.world.place, cluster.world.step_number)
        super().__init__(title, ask, about, candidates, (ask, subject, cluster.digest()))

    def give_up(self) -> Self:
        """Let it happen, answered or not: step the cluster up to what was asked, and show every verdict.

        A cluster that has moved since the question was asked stays where it is.
        """
        if not self.revealed:
            with self.cluster.world.lock:
                for _ in range(0 if self.has_moved else self._outcome.steps):
                    self.cluster.step()
        return super().give_up()

    def tell(self) -> Self:
        """Show every verdict without stepping the cluster: somebody else lets it happen."""
        return super().give_up()

    @cached_property
    def _outcome(self) -> Outcome:
        with self.cluster.world.lock:
            return self._find()

    @property
    def has_moved(self) -> bool:
        """Whether the cluster is no longer where the question was asked."""
        return (self.cluster.world.place, self.cluster.world.step_number) != self._place

    @property
    def steps(self) -> int:
        """How many steps of the cluster it takes."""
        return self._outcome.steps

    def _candidate(self, name: Any) -> PossibleAnswer:
        return super()._candidate(self.cluster.revision.profile.name_of(name))


def predict(cluster: ClusterCore, question: str = "", *, pod: str = "", ask: str = "node", node: str = "",
            claim: str = "") -> Prediction:
    """Ask what happens next, before it happens.

    Args:
        cluster: the cluster; it moves when the prediction is revealed.
        question: the question in your words.
        pod: the pod; by default the only one without a node.
        ask: "node" it gets, "plugin" that rejects `node` first, "volume" of `claim`, "end" of the pod, or "order": who
            acts next.
        node: for "plugin" the node; by default the first that is rejected.
        claim: for "volume" the claim; by default the pod's first that has no volume.

    Raises:
        ValueError: there is nothing to predict, or no such kind of question.
        UnknownName: there is no such object.
    """
    if ask not in ASKS:
        hint = did_you_mean(ask, list(ASKS))
        raise UnknownName(f"nothing is asked by {ask!r}; there are: {', '.join(ASKS)}{hint}")
    if ask == "order":
        return _who_acts_next(cluster, question)
    if ask == "volume":
        return _volume(cluster, question, pod, claim)
    key = _pod(cluster, pod)
    about = kinds.pod_words(cluster, cluster.world.log.objects[key])
    if ask == "plugin":
        wanted = cluster.world.find_key(node, "node").name if node else ""
        outcome, node, asked = outcomes.first_rejection(cluster, key, wanted)
        title = question or ASKS[ask].format(node=node, pod=_short(key))
        plugins = (PossibleAnswer(name, plugin_card(name).looks_at or "a plugin of your own") for name in sorted(asked))
        found = (*plugins, PossibleAnswer(NONE, "the pod fits there"))
        facts = next((each.facts for each in kinds.node_candidates(cluster) if each.name == node), "")
        about = f"{node}: {facts}. {about}"
        return Prediction(cluster, title, ask, about, found, lambda: outcome, f"{ref(key)} {node}")
    find = cache(partial(outcomes.next_pass if ask == "node" else outcomes.end_of_pod, cluster.fork(), key))
    count = len(cluster.objects("nodes"))
    groups: list[tuple[str, ...]] = []
    if count > MOST:  # that of what happened, then the largest
        happened = find().happened
        groups = sorted(find().groups(), key=lambda names: (happened not in names, -len(names), names))[:MOST_GROUPS]
    nodes = kinds.node_candidates(cluster, groups)
    ends = (PossibleAnswer(kinds.PENDING, "it has no node when the cluster is idle"),
            PossibleAnswer(kinds.GONE, "it is deleted or evicted"))  # fmt: skip
    found = (*nodes, PossibleAnswer(NONE)) if ask == "node" else (*nodes, *ends)
    hidden = count - sum(len(each.stands_for) for each in nodes)
    about += f" {counted(hidden, 'more node')} {'is' if hidden == 1 else 'are'} judged in other ways." if hidden else ""
    return Prediction(cluster, question or ASKS[ask].format(pod=_short(key)), ask, about, found, find, ref(key))


def question_of_next_step(cluster: ClusterCore) -> Prediction | None:
    """Return the question that the next step answers: which node a pass chooses, or who acts; None without a choice."""
    turns = cluster.next.turns
    if not turns:
        return None
    first = turns[0]
    if first.actor == PASS:
        key = cluster.world.find_key(f"pod/{first.cause}", "pod")
        free = not cluster.world.log.objects[key].spec.node_name
        asked = predict(cluster, pod=f"pod/{first.cause}") if free else None
        if asked is not None and asked.steps == 1:
            return asked
    return _who_acts_next(cluster, "") if len(turns) > 1 else None


def _who_acts_next(cluster: ClusterCore, question: str) -> Prediction:
    turns = cluster.next.turns
    if not turns:
        raise ValueError("nothing is left to predict: nobody has anything to do")
    find = partial(outcomes.next_turn, cluster.fork(), turns)
    return Prediction(cluster, question or ASKS["order"], "order", "", kinds.turn_candidates(turns), find, "")


def _volume(cluster: ClusterCore, question: str, pod: str, claim: str) -> Prediction:
    if claim:
        key = cluster.world.find_key(claim, "pvc")
    else:
        owner = _pod(cluster, pod)
        keys = [Key("PersistentVolumeClaim", owner.namespace, name)
                for name in cluster.world.log.objects[owner].claim_names()]  # fmt: skip
        unbound = [each for each in keys if each in cluster.world.log.objects
                   and not cluster.world.log.objects[each].spec.volume_name]  # fmt: skip
        if not unbound:
            raise ValueError(f"{ref(owner)} has no claim without a volume: nothing is left to predict")
        key = min(unbound)
    stored = cluster.world.log.objects[key]
    if stored.spec.volume_name:
        raise ValueError(f"{ref(key)} has {stored.spec.volume_name} already: nothing is left to predict")
    found = kinds.volume_candidates(cluster, stored)
    find = cache(partial(outcomes.volume_of, cluster.fork(), key, [each.name for each in found]))
    shown = _few_volumes(found, find()) if len(found) > MOST else found
    size = stored.spec.resources.requests.get("storage", "")
    about = f"It asks for {size or 'a volume'} of class {class_of_claim(stored) or '(none)'}."
    hidden = len(found) - len(shown)
    more = "more volume of the class is" if hidden == 1 else "more volumes of the class are"
    about += f" {hidden} {more} not shown." if hidden else ""
    new = (PossibleAnswer(NEW, "provisioned for the claim"),) if _may_be_made(cluster, stored, find) else ()
    made = (*new, PossibleAnswer(NONE, "it stays unbound"))
    return Prediction(cluster, question or ASKS["volume"].format(claim=_short(key)), "volume", about, (*shown, *made),
                      find, ref(key))  # fmt: skip


def _may_be_made(cluster: ClusterCore, claim: PersistentVolumeClaim, find: Callable[[], Outcome]) -> bool:
    """Whether a volume may be made for a claim: its class has a provisioner, or it may still get a default class."""
    if claim.spec.storage_class_name is None:
        return True
    storage_class = cluster.world.log.objects.get(Key("StorageClass", "", class_of_claim(claim)))
    if storage_class is not None and has_provisioner(storage_class):
        return True
    return find().happened == NEW  # a component of the reader's own made it


def _few_volumes(found: tuple[PossibleAnswer, ...], outcome: Outcome) -> tuple[PossibleAnswer, ...]:
    """Return `MOST` volumes: the one that is taken, and others as far apart by name as may be."""
    step = len(found) / MOST
    chosen = {int(place * step) for place in range(MOST)}
    taken = next((place for place, each in enumerate(found) if each.name == outcome.happened), None)
    if taken is not None and taken not in chosen:
        chosen = {min(chosen, key=lambda place: abs(place - taken)), taken} ^ chosen
    return tuple(each for place, each in enumerate(found) if place in chosen)


def _pod(cluster: ClusterCore, pod: str) -> Key:
    """Return the pod that is meant; it must have no node yet.

    Raises:
        ValueError: the pod has a node, or no pod is named and not exactly one is without a node.
    """
    if pod:
        key = cluster.world.find_key(pod, "pod")
        stored: Pod = cluster.world.log.objects[key]
        if stored.spec.node_name:
            raise ValueError(f"{ref(key)} is on {stored.spec.node_name} already: nothing is left to predict")
        return key
    waiting = [key for key, obj in sorted(cluster.world.log.objects.items())
               if key.kind == "Pod" and not obj.spec.node_name]  # fmt: skip
    if len(waiting) != 1:
        names: Iterable[Any] = (ref(key) for key in waiting[:8])
        there = f"{len(waiting)} pods have no node: {', '.join(names)}" if waiting else "no pod is without a node"
        raise ValueError(f"say which pod: {there}")
    return waiting[0]


def _short(key: Key) -> str:
    return key.name if key.namespace in ("", "default") else f"{key.namespace}/{key.name}"
