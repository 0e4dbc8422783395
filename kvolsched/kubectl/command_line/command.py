"""One command while it runs: the cluster, its words, and what it has printed so far."""

from collections.abc import Iterable

import attrs

from ...core.acts import ClusterActs
from ...core.results import ApplyRefused, CommandResult
from ...core.user_commands import ActRefused
from ...world.apiserver import ref
from ...world.log import Key
from ..resource_lookup import ResourceNotFound
from .flags import CommandError, Words
from .selection import Objects, Selection, select


@attrs.define
class Command:
    """A running command. Mutable: it collects output, errors, and hints."""

    cluster: ClusterActs
    name: str
    words: Words
    stdin: str = ""
    out: list[str] = attrs.field(factory=list)
    errors: list[str] = attrs.field(factory=list)
    hints: list[str] = attrs.field(factory=list)
    failed: bool = False

    @property
    def objects(self) -> Objects:
        """What the API server stores now."""
        return self.cluster.world.log.objects

    def warn(self, text: str) -> None:
        """Print a line to the errors that is no failure."""
        self.errors.append(text)

    def tell(self, done: CommandResult) -> None:
        """Print what an act did; what kubectl warns of goes to the errors."""
        for line in done.lines:
            (self.errors if line in done.warnings else self.out).append(line)

    def fail(self, error: CommandError | ActRefused | ResourceNotFound) -> None:
        """Print an error, and go on."""
        self.errors.append(error.words)
        self.hints += [error.hint] if error.hint else []
        self.failed = self.failed or not isinstance(error, CommandError) or error.code != 0

    def report_missing(self, missing: Iterable[ResourceNotFound]) -> None:
        """Print which objects were not found."""
        for error in missing:
            self.fail(error)

    def chosen(self, arguments: tuple[str, ...], *, listing: bool = True) -> Selection:
        """Return the objects that arguments mean."""
        return select(self.objects, self.words, arguments, verb=self.name, listing=listing)


def reference(key: Key) -> str:
    """Return the reference to an object."""
    return ref(key)


def refusal(error: ApplyRefused) -> CommandError:
    """Return kubectl's error for a write that the API server refuses."""
    return CommandError("\n".join(error.lines))
