"""A prediction with buttons: a button a candidate, and one that lets it happen.

The buttons are ipywidgets and carry facts of the API alone; a wrong answer is told what speaks against it, and once it
happened the drawn prediction takes their place. `Quiz` puts questions before the steps of a panel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as widgets

from kvolsched.core.core import ClusterCore
from kvolsched.questions.predict import (
    AskedQuestion,
    Bet,
    Grade,
    Outcome,
    PossibleAnswer,
    Prediction,
    question_of_next_step,
)
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.text import escape
from kvolsched.views.pages.predict import PredictPage, draw, rows_of
from kvolsched.views.panel.held_back import offer_after
from kvolsched.views.panel.host import DrawnPanel, Host
from kvolsched.views.panel.lab import Lab

NOT_TOLD = "next  who may act is not told here: Step asks before it happens"


class Predict(DrawnPanel):
    """One question, to be answered by a click, a number key, or in Python.

    A wrong answer to `c.predict` shows what speaks against it and leaves the others open; *Let it happen* steps the
    cluster and shows every verdict. What a cell under `%%after asked` shows is held back until the first answer, or
    until somebody gives up. Nothing waits for an answer: a notebook that runs by itself prints the question.

        asked = c.predict("Which node?", pod="my-pod")
        asked                      # shows it
        asked.answer("node-b")     # what a click does
        asked.reveal()             # lets it happen once there is an answer: the cluster steps up to there
        asked.give_up()            # shows it without an answer, and counts as not answered
        asked.grade()              # this notebook's answers, first tries apart
    """

    def __init__(self, prediction: AskedQuestion, *, let_happen: Callable[[], object] | None = None,
                 changed: Callable[[], None] = lambda: None, width: int = 1000) -> None:
        self.prediction, self._changed = prediction, changed
        self._let_happen = let_happen or prediction.give_up
        self._width = width
        self.host = Host()
        self.head, self.said = widgets.HTML(), widgets.HTML()
        self.buttons = [self._button(number, each) for number, each in enumerate(prediction.candidates, 1)]
        self.happen = widgets.Button().add_class("k-btn").add_class("k-step")
        self.happen.on_click(lambda _button: self.give_up())
        if isinstance(prediction, Bet) and prediction.is_number:
            self.buttons = [self._number_field()]
        choices = widgets.Box(self.buttons).add_class("k-cands")
        self._open: tuple[Any, ...] = (self.head, choices, self.said, self.happen, self.host)
        super().__init__(self._open, of="k-predict")
        self._draw()
        offer_after()

    @property
    def candidates(self) -> tuple[PossibleAnswer, ...]:
        """The possible answers."""
        return self.prediction.candidates

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers so far."""
        return tuple(self.prediction.answers)

    @property
    def is_right(self) -> bool:
        """Whether the last answer counts as right."""
        return self.prediction.is_right

    @property
    def outcome(self) -> Outcome | None:
        """What happened; None until it is revealed."""
        return self.prediction.outcome

    def answer(self, name: str | float) -> Predict:
        """Answer with the name of a candidate, or its number from 1.

        Raises:
            ValueError: there is no such candidate; the message lists them.

        >>> from kvolsched import scenario
        >>> asked = scenario("zonal-example").predict("Which node?", pod="my-pod")
        >>> asked.answer("node-a").is_right
        True
        """
        self.prediction.answer(name)
        self._draw()
        self._changed()
        return self

    def reveal(self) -> Predict:
        """Let it happen: step the cluster up to what was asked, and show every verdict.

        Raises:
            NotAnswered: nobody has answered.

        >>> from kvolsched import scenario
        >>> asked = scenario("zonal-example").predict("Which node?", pod="my-pod")
        >>> asked.answer("node-b").reveal().outcome.happened
        'node-a'
        """
        if not self.prediction.is_open:
            self.prediction.reveal()
        return self.give_up()

    def give_up(self) -> Predict:
        """Let it happen without an answer, which counts as not answered.

        >>> from kvolsched import scenario
        >>> asked = scenario("zonal-example").predict("Which node?", pod="my-pod")
        >>> asked.give_up().outcome.happened
        'node-a'
        """
        if not self.prediction.revealed:
            self._let_happen()
        self._draw()
        return self

    def was(self, value: Any) -> None:
        """Say what was right, by a value of the run; a prediction of `c.predict` finds it by itself.

        Raises:
            TypeError: it is a prediction of `c.predict`.
            ValueError: no choice means the value, or more than one does.

        >>> import kvolsched
        >>> kvolsched.ask("Which node?", "node-a", "node-b").was("node-b")
        """
        if not isinstance(self.prediction, Bet):
            raise TypeError(f"{self.prediction.title!r} finds by itself what happens; was() is for kvolsched.ask")
        self.prediction.was(value)
        self._draw()

    def grade(self) -> Grade:
        """Count this notebook's answers by what was asked, first tries apart.

        >>> from kvolsched import scenario
        >>> asked = scenario("zonal-example").predict("Which node?", pod="my-pod")
        >>> _ = asked.answer("node-a")
        >>> bool(asked.grade())
        True
        """
        return self.prediction.grade()

    def figure(self) -> Figure:
        """Return what is shown as a picture.

        >>> from kvolsched import scenario
        >>> asked = scenario("zonal-example").predict("Which node?", pod="my-pod")
        >>> asked.figure().reading.partition(chr(10))[0]
        'Which node?'
        """
        page = rows_of(self.prediction)
        return Figure(lambda width, selection: draw(page, width, selection), repr(self.prediction))

    def _button(self, number: int, candidate: PossibleAnswer) -> Any:
        facts = f"\n{candidate.facts}" if candidate.facts else ""
        button = widgets.Button(description=f"{number}\u2002{candidate.name}{facts}", tooltip=candidate.facts)
        button.on_click(lambda _button: self.answer(candidate.name))
        return button.add_class("k-cand")

    def _number_field(self) -> Any:
        field = widgets.Text(placeholder="a number, then Enter", continuous_update=False)

        def typed(change: Any) -> None:
            try:
                self.answer(float(change["new"]))
            except ValueError:
                self.said.value = f'<p class="k-quiz" role="status">{escape(repr(change["new"]))} is no number.</p>'

        field.observe(typed, "value")
        return field

    def _message(self, _host: Any, content: dict[str, Any], _buffers: Any) -> None:
        cmd = content.get("cmd")
        if cmd == "act" and 1 <= content.get("number", 0) <= len(self.candidates):
            self.answer(int(content["number"]))
        elif cmd == "step" and self.prediction.is_open:
            self.give_up()
        elif cmd == "width":
            self._resize(content["px"])

    def _draw(self) -> None:
        page = rows_of(self.prediction)
        self.host.tick += 1  # what was pressed has its answer
        if page.revealed:
            self.host.body = draw(page, self._width)
            self.children = (self.host,)
            return
        about = f'<span class="k-who">{escape(page.about)}</span>' if page.about else ""
        self.head.value = f'<div class="k-quiz"><b>{escape(page.title)}</b>{about}</div>'
        self.said.value = said_html(page)
        self.happen.description = "Let it happen" if self.answers else "I cannot say: show me"
        for button, card in zip(self.buttons, page.cards, strict=False):  # a number's field is no card
            if card.answered:
                button.add_class("k-mine")
                button.disabled = True
        self.children = self._open

    def __repr__(self) -> str:
        return repr(self.prediction)


def said_html(page: PredictPage) -> str:
    """Return what is said of the last answer as HTML: the verdict that speaks against it, then what to do."""
    if page.right is None:
        return f'<p class="k-quiz" role="status"><span class="k-who">{escape(page.sentence)}</span></p>'
    last = next(card for card in page.cards if card.answered and card.name == page.tag[2:].removeprefix("not "))
    reason = f"{last.plugin}: {last.words}" if last.plugin else last.words
    proof = f' <span class="k-who">{escape(last.evidence)}</span>' if last.evidence else ""
    tone = "ok" if page.right else last.family
    tag = f'<span class="k-tag" style="background:var(--kv-{tone})">{escape(page.tag)}</span>'
    then = f'<span class="k-who"> · {escape(page.sentence)}</span>'
    return f'<p class="k-quiz" role="status">{tag} <b>{escape(reason)}</b>{proof}{then}</p>'


class Quiz(widgets.VBox):  # type: ignore[misc,unused-ignore] # ipywidgets ships no types
    """The questions before a panel's steps: one is shown where more than one thing could happen. Mutable.

    `question` returns the one that the next step answers, or None, `step` makes that step.
    """

    def __init__(self, question: Callable[[], Prediction | None], step: Callable[[], None],
                 changed: Callable[[], None] = lambda: None) -> None:
        self._question, self._step, self._changed = question, step, changed
        self.asked: Predict | None = None
        super().__init__()

    @property
    def is_open(self) -> bool:
        """Whether a question waits: it is shown, and the cluster is where it was asked."""
        return self.asked is not None and not (self.asked.prediction.revealed or self.asked.prediction.has_moved)

    def words(self) -> str:
        """Return the open question as text; who may act next, and what each would do, is the answer."""
        return repr(self.asked.prediction) if self.is_open and self.asked is not None else NOT_TOLD

    def ask(self) -> bool:
        """Show the next question, if there is one; say whether the step has to wait for it.

        While a question is open, asking again lets it happen.
        """
        if self.is_open and self.asked is not None:
            self.asked.give_up()
            return True
        prediction = self._question()
        if prediction is None:
            self.clear()
            return False
        self.asked = Predict(prediction, let_happen=partial(self._happen, prediction), changed=self._changed)
        self.set_trait("children", (self.asked,))
        return True

    def clear(self) -> None:
        """Take the question away."""
        self.asked = None
        self.set_trait("children", ())

    def _happen(self, prediction: Prediction) -> None:
        prediction.tell()
        self._step()


def ask_before_steps(lab: Lab, cluster: ClusterCore) -> Quiz:
    """Put a question before each plain step of a panel; who chooses an actor, plays or goes elsewhere is not asked.

    Who may act next is not listed meanwhile: what each would do is the answer.
    """
    quiz = Quiz(partial(question_of_next_step, cluster), lambda: lab.do("step", asked=True), partial(lab.do, "ping"))
    lab.chips.layout.display = "none"

    def before_step(panel: Lab, actor: str | None) -> bool:
        if panel.playing or actor is not None:
            quiz.clear()
            return True
        return not quiz.ask()

    def moved(_change: Any) -> None:
        if quiz.asked is not None and not quiz.asked.prediction.revealed and not quiz.is_open:
            quiz.clear()

    def number_pressed(number: int) -> bool:
        if quiz.asked is not None and quiz.is_open and number <= len(quiz.asked.candidates):
            quiz.asked.answer(number)
        return False

    lab.before_step, lab.before_number, lab.next_words = before_step, number_pressed, quiz.words
    lab.slider.observe(moved, "value")
    lab.slot.children = (*lab.slot.children, quiz)
    quiz.ask()
    return quiz
