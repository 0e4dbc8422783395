"""Which fields of a pod a set of rules does not read although today's do, found from the rules themselves.

A plugin that reads constraints as an earlier release did says what it leaves out (`unread`); the fields of a plugin, a
controller or a gate that a set of rules lacks are not read by anybody.
"""

from collections.abc import Callable, Iterable, Iterator

from ..api.kinds.pod import Pod
from ..api.words import listed
from ..controllers import ephemeral_volume
from ..scheduler.framework.card import Objects
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from .named import plugin_cards
from .revision import Revision
from .settings import DIRECTIVES_GATE

MOST_PODS = 3  # pods that a sentence names


def unread_fields(rules: Revision, pod: Pod, objects: Objects) -> tuple[str, ...]:
    """Return the fields that a pod sets and rules do not read, by their names in a manifest, in the order of plugins.

    Args:
        rules: the rules of the scheduler.
        pod: the pod.
        objects: the objects of the cluster, for the pod's claims.

    >>> from kvolsched import Cluster, design, upstream
    >>> from kvolsched.make import pod
    >>> app = {"name": "app", "image": "app", "ports": [{"containerPort": 80, "hostPort": 80}]}
    >>> web = Cluster.from_manifests([pod("web", containers=[app])])["web"]
    >>> unread_fields(design(), web, {}), unread_fields(upstream(), web, {})
    (('hostPort',), ())
    """
    return tuple(dict.fromkeys(_unread(rules, pod, objects)))


def unread_words(rules: Revision | str, fields: Iterable[str], whose: str = "this pod") -> str:
    """Return the sentence about fields that are not read; "" if there are none.

    >>> unread_words("design", ["minDomains", "nodeTaintsPolicy"])
    'Rules design do not read minDomains and nodeTaintsPolicy of this pod.'
    """
    names = list(fields)
    name = rules if isinstance(rules, str) else rules.name
    return f"Rules {name} do not read {listed(names)} of {whose}." if names else ""


def unread_by_pods(rules: Revision, objects: Objects, than: Revision | None = None) -> Iterator[str]:
    """Yield a sentence for each group of pods of which rules do not read the same fields.

    Args:
        rules: the rules.
        objects: the objects of a cluster.
        than: other rules; what these do not read either is left out.

    >>> from kvolsched import design, scenario
    >>> list(unread_by_pods(design(), scenario("zonal-example").world.log.objects))
    []
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for key in sorted(key for key in objects if key.kind == "Pod"):
        theirs = unread_fields(than, objects[key], objects) if than is not None else ()
        fields = tuple(name for name in unread_fields(rules, objects[key], objects) if name not in theirs)
        alike.setdefault(fields, []).append(f"pod/{key.name}")
    for fields, names in alike.items():
        more = len(names) - MOST_PODS
        shown = [*names[:MOST_PODS], f"{more} more"] if more > 0 else names
        if words := unread_words(rules, fields, listed(shown)):
            yield words


def _unread(rules: Revision, pod: Pod, objects: Objects) -> Iterator[str]:
    """Yield what plugins say that they leave out, then what nobody is there to read."""
    if pod.spec.scheduling_gates and not rules.settings.is_on(SCHEDULER, DIRECTIVES_GATE):
        yield "schedulingGates"
    plugins = {enabled.name: enabled for enabled in rules.profile.plugins}
    for enabled in plugins.values():
        says: Callable[[Pod, Objects], Iterable[str]] | None = getattr(enabled.plugin, "unread", None)
        yield from says(pod, objects) if says is not None else ()
    known = plugin_cards()
    for name, card in known.items():
        yield from card.unread(pod, objects) if name not in plugins else ()
    for name, card in known.items():
        yield from card.unranked(pod) if name not in plugins or not plugins[name].weight else ()
    if ephemeral_volume not in rules.controllers and any(volume.ephemeral is not None for volume in pod.spec.volumes):
        yield "volumes[].ephemeral"
