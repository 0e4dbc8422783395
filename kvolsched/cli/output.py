"""How commands print: every text through `say`, every failure as one sentence."""

from __future__ import annotations

import click

from ..api.notebook_output import printable


def say(text: str, *, err: bool = False) -> None:
    """Print a text, whose characters a terminal neither obeys nor hides."""
    click.echo(printable(text), err=err)


class Refused(click.ClickException):
    """An error in one printable sentence."""

    def __init__(self, words: str) -> None:
        super().__init__(printable(words))
