"""A prediction with buttons: a button a candidate, and one that lets it happen.

The buttons are ipywidgets and carry facts of the API alone; a wrong answer is told what speaks against it, and once it
happened the drawn prediction takes their place. `Quiz` puts questions before the steps of a panel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from kvolsched.predict import Grade, Outcome, PossibleAnswer, Prediction
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.text import escape
from kvolsched.views.fill.predict import rows_of
from kvolsched.views.panel.host import ROOT, Host
from kvolsched.views.pictures.predict import draw
from kvolsched.views.predict_rows import PredictPage


class Predict(widgets.VBox):  # type: ignore[misc,unused-ignore] # ipywidgets ships no types
    """One question about what happens next, to be answered by a click, a number key, or in Python.

    A wrong answer shows what speaks against it and leaves the others open. *Let it happen* steps the cluster and shows
    every verdict. Nothing waits for an answer: a notebook that runs by itself prints the question.

        asked = c.predict("Which node?", pod="my-pod")
        asked                      # shows it
        asked.answer("node-b")     # what a click does
        asked.reveal()             # lets it happen: the cluster steps up to there
        asked.grade()              # this notebook's answers, first tries apart
    """

    def __init__(self, prediction: Prediction, *, let_happen: Callable[[], None] | None = None,
                 width: int = 1000) -> None:
        self.prediction = prediction
        self._let_happen = let_happen or prediction.reveal
        self._width = width
        self.host = Host()
        self.head, self.said = widgets.HTML(), widgets.HTML()
        self.buttons = [self._button(number, each) for number, each in enumerate(prediction.candidates, 1)]
        self.happen = widgets.Button(description="Let it happen").add_class("k-btn").add_class("k-step")
        self.happen.on_click(lambda _button: self.reveal())
        choices = widgets.Box(self.buttons).add_class("k-cands")
        self._open: tuple[Any, ...] = (self.head, choices, self.said, self.happen, self.host)
        super().__init__(self._open)
        self.add_class(ROOT).add_class("k-predict")
        self.host.on_msg(self._message)
        self._draw()

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

    def answer(self, name: str | int) -> Predict:
        """Answer with the name of a candidate, or its number from 1.

        Raises:
            ValueError: there is no such candidate; the message lists them.
        """
        self.prediction.answer(name)
        self._draw()
        return self

    def reveal(self) -> Predict:
        """Let it happen: step the cluster up to what was asked, and show every verdict."""
        if not self.prediction.revealed:
            self._let_happen()
        self._draw()
        return self

    def grade(self) -> Grade:
        """Count this notebook's answers by what was asked, first tries apart."""
        return self.prediction.grade()

    def figure(self) -> Figure:
        """Return what is shown as a picture."""
        page = rows_of(self.prediction)
        return Figure(lambda width, selection: draw(page, width, selection), repr(self.prediction))

    def save(self, path: str | Path) -> Path:
        """Write what is shown as a picture (.svg, .png, .html) or as text (.txt); return the path."""
        return self.figure().save(path)

    def _button(self, number: int, candidate: PossibleAnswer) -> Any:
        facts = f"\n{candidate.facts}" if candidate.facts else ""
        button = widgets.Button(description=f"{number}\u2002{candidate.name}{facts}", tooltip=candidate.facts)
        button.on_click(lambda _button: self.answer(candidate.name))
        return button.add_class("k-cand")

    def _message(self, _host: Any, content: dict[str, Any], _buffers: Any) -> None:
        cmd = content.get("cmd")
        if cmd == "act" and 1 <= content.get("number", 0) <= len(self.candidates):
            self.answer(int(content["number"]))
        elif cmd == "step":
            self.reveal()
        elif cmd == "width":
            self._width = max(320, min(4000, int(content["px"])))
            self._draw()
        self.host.tick += 1

    def _draw(self) -> None:
        page = rows_of(self.prediction)
        if page.revealed:
            self.host.body = draw(page, self._width)
            self.children = (self.host,)
            return
        self.head.value = head_html(page)
        self.said.value = said_html(page)
        for button, card in zip(self.buttons, page.cards, strict=True):
            if card.answered:
                button.add_class("k-mine")
                button.disabled = True
        self.children = self._open

    def __repr__(self) -> str:
        return repr(self.prediction)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **more: Any) -> dict[str, Any]:
        live: dict[str, Any] = super()._repr_mimebundle_(include=include, exclude=exclude, **more)
        return live | self.figure()._repr_mimebundle_()


def head_html(page: PredictPage) -> str:
    """Return the question and what is known of its subject as HTML."""
    about = f'<span class="k-soft-t">{escape(page.about)}</span>' if page.about else ""
    return f'<div class="k-ask"><b>{escape(page.title)}</b>{about}</div>'


def said_html(page: PredictPage) -> str:
    """Return what is said of the last answer as HTML: the verdict that speaks against it, then what to do."""
    if page.right is None:
        return f'<p class="k-ask" role="status"><span class="k-soft-t">{escape(page.sentence)}</span></p>'
    last = next(card for card in page.cards if card.answered and card.name == page.tag[2:].removeprefix("not "))
    reason = f"{last.plugin}: {last.words}" if last.plugin else last.words
    proof = f' <span class="k-soft-t">{escape(last.evidence)}</span>' if last.evidence else ""
    tone = "ok" if page.right else last.family
    return (
        f'<p class="k-ask" role="status"><span class="k-tag k-tag-{tone}">{escape(page.tag)}</span> '
        f'<b>{escape(reason)}</b>{proof} <span class="k-soft-t">{escape(page.sentence)}</span></p>'
    )


class Quiz(widgets.VBox):  # type: ignore[misc,unused-ignore] # ipywidgets ships no types
    """The questions before a panel's steps: one is shown where more than one thing could happen. Mutable.

    Args:
        question: returns the question that the next step answers, or None.
        step: makes that step.
    """

    def __init__(self, question: Callable[[], Prediction | None], step: Callable[[], None]) -> None:
        self._question, self._step = question, step
        self.asked: Predict | None = None
        super().__init__()

    def ask(self) -> bool:
        """Show the next question, if there is one; say whether the step has to wait for it.

        While a question is open, asking again lets it happen.
        """
        if self.asked is not None and not self.asked.prediction.revealed:
            self.asked.reveal()
            return True
        prediction = self._question()
        if prediction is None:
            self.clear()
            return False
        self.asked = Predict(prediction, let_happen=partial(self._happen, prediction))
        self.set_trait("children", (self.asked,))
        return True

    def clear(self) -> None:
        """Take the question away: the panel has moved otherwise."""
        self.asked = None
        self.set_trait("children", ())

    def _happen(self, prediction: Prediction) -> None:
        prediction.tell()
        self._step()
