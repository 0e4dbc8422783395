"""Sets of rules by name: the releases, and the designs that the documents reject; which release or document each is."""

import re
from collections.abc import Callable, Mapping
from functools import cache

from ..api.unknown_name import UnknownName, did_you_mean
from ..scheduler.framework.card import NO_CARD, Card
from .registry import LATER_REVISIONS, TODAY
from .releases import design_documents, early_draft, kubernetes_1_36
from .releases.design_documents import design
from .releases.early_draft import draft
from .releases.kubernetes_1_36 import upstream
from .revision import Revision
from .settings import with_settings_named

RELEASES = {TODAY: kubernetes_1_36, "design": design_documents, "draft": early_draft}
STANDS_FOR: Mapping[str, tuple[str, str]] = {name: release.STANDS_FOR for name, release in RELEASES.items()}
"""What each set of rules stands for, and where it says nothing; all others are designs that the documents reject."""
_VERSION = re.compile(r"\bv?1\.(\d+)\b")
REVISIONS: dict[str, Callable[[], Revision]] = {
    "upstream": upstream, "design": design, "draft": draft, **LATER_REVISIONS,
}  # fmt: skip
"""Every revision by name. Rooms above this one add theirs when the package is imported (see `alternatives`)."""


_WITH_SETTINGS = re.compile(r"(?P<plain>\w+)(?: \((?P<settings>[^()]+)\))?(?: \+ (?P<rollback>(?:blind )?rollback))?")


def revision_named(revision: str | Revision) -> Revision:
    """Return a revision by name, or the given one; a name may have settings, as printed names have them.

    Raises:
        UnknownName: there is none of this name; the message lists the names. It is a KeyError.
        ValueError: there is no such setting.

    >>> revision_named("design (alpha; phase 1)") == design().matured("alpha").in_phase(1)
    True
    """
    if isinstance(revision, Revision):
        return revision
    named = _WITH_SETTINGS.fullmatch(str(revision))
    if named is not None and named["plain"] in REVISIONS:
        return with_settings_named(REVISIONS[named["plain"]](), named["settings"] or "", named["rollback"] or "")
    if revision not in REVISIONS:
        near = of_release(str(revision))
        hint = f"; did you mean {near}?" if near else did_you_mean(str(revision), REVISIONS.keys())
        raise UnknownName(f"no revision is called {revision!r}; there are: {known_revisions(list(REVISIONS))}{hint}")
    return REVISIONS[revision]()


def stands_for(called: str) -> str:
    """Return the release or the documents that rules stand for; "" if not known.

    >>> stands_for("upstream")
    'Kubernetes v1.36'
    """
    return ", ".join(filter(None, STANDS_FOR.get(called, ())))


def documents_of(called: str) -> str:
    """Return the release or the documents alone that rules stand for; "" if not known."""
    return STANDS_FOR[called][0] if called in STANDS_FOR else ""


def of_release(asked: str) -> str:
    """Return the name of the rules that stand for a release such as "1.16", or the nearest one; "" if none is named.

    >>> of_release("v1.14"), of_release("kubernetes-1.35"), of_release("late_binder")
    ('design', 'upstream', '')
    """
    found = _VERSION.search(asked)
    if found is None:
        return ""
    minor = int(found[1])
    return min((abs(each - minor), name) for name, release in RELEASES.items() for each in release.MINORS)[1]


def known_revisions(names: list[str]) -> str:
    """Return all names as words: those that stand for something with it, then the others.

    >>> known_revisions(["upstream", "late_binder"])
    'upstream (Kubernetes v1.36); rejected designs: late_binder'
    """
    others = [name for name in names if name not in STANDS_FOR]
    first = ", ".join(f"{name} ({stands_for(name)})" for name in names if name in STANDS_FOR)
    return f"{first}; rejected designs: {', '.join(others)}" if others else first


@cache
def plugin_cards() -> Mapping[str, Card]:
    """Return the card of every plugin that ships, by the plugin's name, in the order of profiles."""
    profiles = (rules().profile for rules in (upstream, design, draft))
    return {each.name: each.plugin.card for profile in profiles for each in profile.plugins}


def plugin_card(plugin: str) -> Card:
    """Return the card of a plugin by its name; that of a plugin of one's own says nothing."""
    return plugin_cards().get(plugin, NO_CARD)
