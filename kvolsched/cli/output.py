"""How commands read and answer: files, texts through `say`, failures as a sentence, help in 60 columns, exit codes."""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from ..api.notebook_output import IN_TERMINAL, printable

if TYPE_CHECKING:
    from ..kubectl import ResourceNotFound

DONE, FOUND, WRONG_INPUT, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 130, 141
EXIT_CODES = {
    DONE: "It is done, and nothing is amiss.",
    FOUND: "Something was found: the help of a command says what.",
    WRONG_INPUT: "A word, name or file is wrong, or a file cannot be written.",
    INTERRUPTED: "Ctrl-C ended it; what was found before is printed.",
    CLOSED_PIPE: "Its reader, such as `| head`, had read enough.",
}
"""What the exit codes of every command mean."""
HELP_WIDTH = 60
AS_JSON = "--json"
WHOLE = 1_000  # characters of a sentence that is not cut


def say(text: str, *, err: bool = False) -> None:
    """Print a text, whose characters a terminal neither obeys nor hides."""
    click.echo(printable(text), err=err)


def load_engine() -> None:
    """Import what every question about a cluster needs: no class of it is garbage, now or when the process ends."""
    if "kvolsched.cluster" not in sys.modules:
        import atexit

        from ..api.text.python_gc import paused_gc

        with paused_gc():
            from .. import cluster  # noqa: F401
        gc.freeze()
        atexit.register(gc.freeze)


class PathType(click.Path):
    """A path; what makes one is imported when there is one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, which is as the options of the type want it."""
        from pathlib import Path

        return Path(os.fsdecode(super().convert(value, param, ctx)))


class SourceType(PathType):
    """A file or directory that is read, or `-` for standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path, or the text of standard input, which is read once."""
        if value != "-":
            return super().convert(value, param, ctx)
        from ..api.text.fault import LIMITS
        from ..api.text.sources import NamedText

        known = ctx.find_root().meta if ctx is not None else {}
        if known.setdefault(STANDARD_INPUT, False):
            self.fail("standard input can be read only once", param, ctx)
        known[STANDARD_INPUT] = True
        return NamedText(sys.stdin.buffer.read(LIMITS.size + 1), STANDARD_INPUT)


STANDARD_INPUT = "standard input"
SOURCE = SourceType(exists=True)


class Refused(click.ClickException):
    """A wrong input, in one printable sentence."""

    exit_code = WRONG_INPUT

    def __init__(self, words: str) -> None:
        super().__init__(printable(words))


class Commands(click.Group):
    """Commands that end with one line, and with code 2, where their input is wrong or a file cannot be written."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, context_settings={"terminal_width": HELP_WIDTH}, **options)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names.

        Raises:
            click.UsageError: there is none; the message has the nearest names.
        """
        if args[0] not in self.commands and not args[0].startswith("-"):
            from ..api.unknown_name import did_you_mean

            ctx.fail(printable(f"there is no command {args[0]!r}{did_you_mean(args[0], self.commands)}"))
        ctx.meta[AS_JSON] = AS_JSON in args
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its whole first sentence, then what exit codes mean."""
        with formatter.section("Commands"):
            found = sorted(self.commands.items())
            formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in found])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what it printed is written before it ends. A failure is JSON where the answer would be."""
        typed = IN_TERMINAL.set(True)
        try:
            return self._answer(ctx)
        except click.ClickException as error:
            if not ctx.meta.get(AS_JSON):
                raise
            say(json.dumps({"error": error.format_message()}))
            sys.exit(error.exit_code)
        finally:
            IN_TERMINAL.reset(typed)

    def _answer(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal of few characters
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except (SystemExit, click.exceptions.Exit, click.ClickException):
            raise
        except _errors_of_kubectl() as error:
            say("\n".join(filter(None, (error.words, error.hint))), err=True)  # kubectl's words, without `Error:`
            sys.exit(WRONG_INPUT)
        except _errors_in_words() as error:
            raise Refused(str(error)) from None
        except BrokenPipeError:
            _write_nowhere()
            sys.exit(CLOSED_PIPE)  # as shells say of kubectl, which the signal ends
        except OSError as error:
            if error.errno == errno.ENOSPC or error.filename is None:
                _write_nowhere()
            place = f"{error.filename}: " if error.filename is not None else "cannot write the output: "
            raise Refused(f"{place}{error.strerror or error}") from None


def _errors_of_kubectl() -> type[ResourceNotFound]:
    """Return kubectl's error: no command loads the engine for an error that it does not meet."""
    from ..kubectl import ResourceNotFound

    return ResourceNotFound


def _errors_in_words() -> tuple[type[Exception], ...]:
    from ..api.text.fault import ManifestError
    from ..api.unknown_name import UnknownName
    from ..core.results import ApplyRefused

    return UnknownName, ManifestError, ApplyRefused


def _write_nowhere() -> None:
    """Let Python, which writes at its end what it could not write before, write to nobody."""
    with suppress(OSError, ValueError):  # a stream without a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
