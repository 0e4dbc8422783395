"""The row of a user's acts, the form that asks for what an act needs, and the script of what was done."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import ipywidgets as widgets

from kvolsched.core.results import ApplyRefused
from kvolsched.views.drawing.text import escape
from kvolsched.views.panel.acts import ACTS, Field, PanelAct, act_named

MANY = 40
"""Of more choices a field completes what is written; of fewer it lists them."""

Choices = Callable[[str], list[tuple[str, str]]]


class ActsRow:
    """Buttons, form and script of one panel. Mutable: at most one act is asked for at a time.

    Args:
        choices: what there is of a kind to choose from.
        do: carries out an act: its name and the values of its fields; an error is shown in the form.
    """

    def __init__(self, choices: Choices, do: Callable[..., None]) -> None:
        self.choices, self.do = choices, do
        self.act: PanelAct | None = None
        self.fields: dict[str, Any] = {}
        self.buttons = {act.name: button(f"{act.name}…", "k-act", act.question, partial(self._pressed, act.name))
                        for act in ACTS}  # fmt: skip
        self.note = widgets.Label().add_class("k-q-label")
        self.opener = button("history", "k-act k-history", "what was done, as lines of Python",
                             lambda _: show(self.script, shown=not is_shown(self.script)))  # fmt: skip
        label = widgets.Label("Or you act").add_class("k-q-label")
        self.row = widgets.Box([label, *self.buttons.values(), self.opener, self.note]).add_class("k-acts")
        self.question, self.line, self.said = widgets.HTML(), widgets.HTML().add_class("k-line"), widgets.HTML()
        self.submit = button("", "k-btn k-plain k-do", "do it (Enter)", lambda _: self._submitted())
        self.cancel = button("cancel", "k-btn k-plain k-cancel", "leave it (Esc)", lambda _: self.close())
        self.form = widgets.Box().add_class("k-form")
        self.text = widgets.Textarea(rows=6, disabled=False).add_class("k-code")
        self.copy = button("copy", "k-btn k-plain k-copy", "copy these lines", lambda _: None)
        self.script = widgets.Box([self.text, self.copy]).add_class("k-script")
        show(self.form, shown=False)
        show(self.script, shown=False)

    def ask(self, name: str, selected: str = "") -> None:
        """Open the form of an act; what is selected fills in its field.

        Raises:
            UnknownName: there is no such act. It is a KeyError.
        """
        self.act = act = act_named(name)
        self.fields = {field.name: self._field(field, selected) for field in act.fields}
        for each in self.fields.values():
            each.observe(lambda _: self._preview(), "value")
        self.question.value = f'<b role="status">{escape(act.question)}</b>'
        self.submit.description = act.done or act.name
        self.said.value = ""
        self.form.children = (self.question, *self.fields.values(), self.submit, self.cancel, self.line, self.said)
        show(self.form, shown=True)
        self._preview()

    def take(self, ref: str) -> bool:
        """Fill in the field that asks for such an object; say whether one did."""
        for field in self.act.fields if self.act is not None else ():
            value, asked = field.taken_from(ref), self.fields[field.name]
            listed = isinstance(asked, widgets.Dropdown)
            if value and (not listed or value in dict(asked.options).values()):
                asked.value = value
                return True
        return False

    def values(self) -> dict[str, Any]:
        """Return what stands in the fields."""
        return {name: each.value for name, each in self.fields.items()}

    def close(self) -> None:
        """Leave the form."""
        if self.act is not None:
            self.act = None
            self.said.value = ""
            show(self.form, shown=False)

    def refused(self, error: BaseException) -> None:
        """Show in the form why an act was refused."""
        said = getattr(error, "lines", None) or str(error.args[0] if isinstance(error, KeyError) else error).split("\n")
        self.said.value = f'<span class="k-refusal" role="alert">{"<br>".join(map(escape, said))}</span>'

    def update(self, note: str, lines: Iterable[str], offered: AbstractSet[str]) -> None:
        """Show which acts there are objects for, where an act begins a branch, and what was done."""
        for act in ACTS:
            if act.needs:
                show(self.buttons[act.name], shown=act.needs in offered)
        self.note.value = note
        self.text.value = "\n".join(lines)
        self.opener.disabled = not self.text.value

    def _field(self, field: Field, selected: str) -> Any:
        known = self.choices(field.choices) if field.choices else [(value, value) for value in field.values]
        name = field.label or field.name
        value = field.taken_from(selected) or field.default
        listed = [each for _, each in known]
        if field.lines:
            return widgets.Textarea(value, rows=6).add_class("k-code")
        if not known:
            return widgets.Text(value, placeholder=name, description=field.label, continuous_update=False,
                                style={"description_width": "initial"}).add_class("k-field")  # fmt: skip
        if len(known) > MANY or field.choices == "condition":
            first = value if value in listed else listed[0]
            return widgets.Combobox(value=first, options=listed, continuous_update=False,
                                    placeholder=name).add_class("k-field")  # fmt: skip
        return widgets.Dropdown(options=known, value=value if value in listed else listed[0]).add_class("k-field")

    def _preview(self) -> None:
        """Show the line of Python that the form stands for."""
        if self.act is not None:
            try:
                line = str(self.act.call(self.values()))
            except ValueError:
                line = ""
            self.line.value = f"<code>{escape(line if len(line) < 120 else line[:110] + '…')}</code>"

    def _submitted(self) -> None:
        if self.act is not None:
            try:
                self.do("user", act=self.act.name, **self.values())
            except (ApplyRefused, LookupError, ValueError) as error:  # shown where it was asked
                self.refused(error)

    def _pressed(self, name: str, _button: Any) -> None:
        if self.act is not None and self.act.name == name:
            self.close()
        else:
            self.do("ask", name=name)


def button(label: str, classes: str, hint: str, pressed: Callable[[Any], None]) -> Any:
    """Make a button with classes of the sheet."""
    made = widgets.Button(description=label, tooltip=hint)
    for name in classes.split():
        made.add_class(name)
    made.on_click(pressed)
    return made


def show(widget: Any, *, shown: bool) -> None:
    """Show or hide a widget."""
    (widget.remove_class if shown else widget.add_class)("k-hidden")


def is_shown(widget: Any) -> bool:
    """Say whether a widget is shown."""
    return "k-hidden" not in widget._dom_classes  # noqa: SLF001 - ipywidgets has no other word for it
