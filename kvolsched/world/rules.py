"""Which rules each component runs, in a world whose components may be upgraded one by one.

A set of rules defines every component and the API server; a note of the world names the set that a component runs. A
note may name two: masters of which one leads and alone acts, or API servers that share the requests. Without a note a
component runs the rules that the world was made with.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs

from .apiserver import ApiServer
from .component import WORLD, Component
from .digest import DIGEST_IGNORES
from .log import Note
from .view import Exists

RULES = "rules"
EVERYBODY = "every component"  # the note of components without a note of their own
MASTERS = 2


@attrs.frozen
class RunningRules:
    """A note: the sets of rules that a component runs.

    Args:
        names: one set, or two: of the masters, or of the API servers.
        leader: which of the masters leads.
        share: the part of the requests that the second API server answers.
        elections: how often a leader was elected.
    """

    names: tuple[str, ...]
    leader: int = 0
    share: float = 0.0
    elections: int = attrs.field(default=0, metadata=DIGEST_IGNORES)

    @property
    def leading(self) -> str:
        """The set of rules of the leader."""
        return self.names[self.leader]

    @property
    def elects(self) -> bool:
        """Whether several masters are there, of which one leads."""
        return len(self.names) == MASTERS and not self.share


@attrs.frozen(eq=False)
class RuleSet:
    """What a set of rules makes of each component (None: it has no such component), and its API server.

    Mutable: definitions of components that join later are added to `components`.
    """

    components: dict[str, Component | None]
    server: ApiServer


def rules_note(component: str) -> Note:
    """Return the note that names the rules of a component."""
    return Note(WORLD, RULES, component)


def running_rules(notes: Mapping[Note, Any], component: str) -> RunningRules | None:
    """Return what a component runs; None: the rules that the world was made with."""
    found = notes.get(rules_note(component))
    return found if found is not None else notes.get(rules_note(EVERYBODY))


def stopped(name: str) -> Component:
    """Return a component that does nothing, as one that a set of rules does not have."""
    return Component(name, (), (), activation=NEVER)


NEVER = partial(Exists, ())
"""The activation condition of a component that never begins to watch."""
