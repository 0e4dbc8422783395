"""Upgrades in a running cluster: components restart with other rules, and several API servers share the requests.

A component's process is named as Kubernetes names it: kube-scheduler, kube-controller-manager (all its controllers),
kubelet, kube-apiserver, or a driver. An upgrade is an entry of the log: `back` undoes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ..api.unknown_name import UnknownName, did_you_mean
from ..rules.named import revision_named
from ..rules.revision import Revision, denied_by
from ..rules.settings import API_SERVER, MANAGER
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.component import WORLD, Component
from ..world.history import despite_interrupts
from ..world.log import Key
from ..world.rules import EVERYBODY, RULES, RuleSet, RunningRules, running_rules, stopped
from .component_names import COMPONENT_NAMES, DISPLAY_NAMES, component_called
from .core import USER, ClusterCore, provisioners
from .results import Step, last_step

KUBELET = "kubelet"
HALF = 0.5
Gates = Mapping[str, bool] | Mapping[str, Mapping[str, bool]]
Rules = str | Revision | Gates


def upgrade(cluster: ClusterCore, rules: Rules, component: str | None, *, beside: bool, share: float = HALF) -> Step:
    """Let components restart with other rules, and return the step; see `Cluster.upgrade`."""
    targets = _targets(cluster, rules, component)
    of_api_servers = beside and [*targets] == [API_SERVER]
    if not 0 <= share <= 1:
        raise ValueError(f"upgrade: share: {share:g}: must be between 0 and 1")
    if share != HALF and not of_api_servers:
        raise ValueError(f"upgrade: share: {share:g}: only a second API server, `beside` the first, answers a share")
    if of_api_servers:
        return _serve_beside(cluster, targets[API_SERVER], share)
    if beside:
        return _upgrade_beside(cluster, targets, component)
    changes: dict[str, RunningRules | None] = {}
    words = []
    for process, wanted in targets.items():
        label = _label(cluster, wanted)
        if process == EVERYBODY:
            running = RunningRules((label,)) if label != cluster.first_rules.name else None
            noted = sorted(note.name for note in cluster.world.log.notes if note[:2] == (WORLD, RULES))
            changes |= {**dict.fromkeys(noted), EVERYBODY: running}
            restarting = _begun(cluster, list(cluster.world.rule_sets[label].components))
            return _run(cluster, changes, restarting, f"every component {_restarts(label)}")
        names = _components(cluster, process, gates=isinstance(rules, Mapping))
        changes |= {name: _running(cluster, label) for name in names}
        words.append(f"{process} {_restarts(label) if process != API_SERVER else f'restarts with the rules {label}'}")
    return _run(cluster, changes, _begun(cluster, list(changes)), "; ".join(words))


def _serve_beside(cluster: ClusterCore, rules: Revision, share: float) -> Step:
    """Let a second API server answer a share of the requests, and return the step."""
    old, new = _label(cluster, rules_of(cluster, API_SERVER)), _label(cluster, rules)
    if old == new or share in (0, 1):
        only = new if share == 1 else old
        return _run(cluster, {API_SERVER: _running(cluster, only)}, [], f"one API server answers, {only}")
    words = f"two API servers answer, {old} and {new}: the second {share:.0%} of the requests"
    return _run(cluster, {API_SERVER: RunningRules((old, new), share=share)}, [], words)


def rules_of(cluster: ClusterCore, component: str) -> Revision:
    """Return the rules that a component, or "kube-apiserver", runs now; of several masters those of the leader.

    Raises:
        UnknownName: there is no such component. It is a LookupError.

    >>> from kvolsched import Cluster
    >>> c = Cluster("upstream")
    >>> _ = c.upgrade("design", component="kube-scheduler")
    >>> rules_of(c, "scheduler").name, rules_of(c, "kube-apiserver").name
    ('design', 'upstream')
    """
    known = component in cluster.world.names or component in (API_SERVER, MANAGER) or "/" in component
    component = component if known else component_called(cluster.world, component)
    running = running_rules(cluster.world.log.notes, component)
    return cluster.first_rules if running is None else cluster.rule_sets[running.leading]


def keep_rules(cluster: ClusterCore, label: str, rules: Revision) -> None:
    """Keep rules under a name, with what they make of each component, so that components may run them."""
    world = cluster.world
    if label not in cluster.rule_sets:
        first = cluster.first_rules.simulation(components=cluster.components).components
        made: dict[str, Component | None] = dict.fromkeys(component.name for component in first)
        made |= {each.name: each for each in rules.simulation(components=cluster.components).components}
        made.pop(USER)
        world.rule_sets[label] = RuleSet(made, rules.server(denied_by(cluster.components)))
        cluster.rule_sets[label] = rules  # last: whoever is interrupted before begins anew
    made = world.rule_sets[label].components
    made |= {each.name: each for each in provisioners(cluster, rules) if each.name not in made}
    if new := sorted(name for name in made if name not in world.names):
        world.add_components([stopped(name) for name in new])


def change_rules(cluster: ClusterCore, change: Callable[[Revision], Revision]) -> None:
    """Change every set of rules that a cluster has, whoever runs it; its forks keep theirs."""
    changed = {label: change(rules) for label, rules in cluster.rule_sets.items()}
    rules, world = change(cluster.first_rules), cluster.world
    made = rules.simulation(components=cluster.components)

    def begin_anew() -> None:
        cluster.first_rules, world.server = rules, made.server
        cluster.rule_sets, world.rule_sets = {}, {}
        world.replace_components(made.components)
        for label, each in changed.items():
            keep_rules(cluster, label, each)

    despite_interrupts(begin_anew)


def rules_in_words(cluster: ClusterCore) -> str:
    """Return the names of all rules that components run.

    >>> from kvolsched import Cluster
    >>> c = Cluster("upstream")
    >>> _ = c.upgrade("design", component="kube-scheduler")
    >>> rules_in_words(c)
    'upstream; kube-scheduler: design'
    """
    notes = {note.name: found for note, found in cluster.world.log.notes.items() if note[:2] == (WORLD, RULES)}
    everybody = notes.pop(EVERYBODY, None)
    controllers = cluster.controllers
    if controllers and len({notes.get(name) for name in controllers}) == 1 and controllers[0] in notes:
        notes[MANAGER] = notes[controllers[0]]
        notes = {name: running for name, running in notes.items() if name not in controllers}
    words = [cluster.first_rules.name if everybody is None else everybody.leading]
    for component, running in sorted(notes.items()):
        leads = f" ({running.leading} leads)" if running.elects else ""
        words.append(f"{component}: {' and '.join(running.names)}{leads}")
    return "; ".join(words)


def process_called(cluster: ClusterCore, name: str) -> tuple[str, list[str]]:
    """Return the process that a user means, and its components: kube-controller-manager has many.

    Raises:
        UnknownName: there is none; the message has the nearest names and lists the components.
    """
    if name == MANAGER:
        return name, [each for each in cluster.controllers if each in cluster.world.processes]
    component = component_called(cluster.world, name)
    return component, [component]


def _upgrade_beside(cluster: ClusterCore, targets: Mapping[str, Revision], component: str | None) -> Step:
    """Start a second master with other rules beside the first; which of them leads is drawn."""
    if component is None or len(targets) != 1:
        raise ValueError("beside: name the component that gets a second master, such as 'kube-scheduler'")
    (process, wanted), *_ = targets.items()
    label = _label(cluster, wanted)
    names = _components(cluster, process, gates=False)
    before = running_rules(cluster.world.log.notes, names[0])
    elections = before.elections + 1 if before is not None else 1
    leader = cluster.world.draw("leader", process, 2, elections)
    labels = {name: (_label(cluster, rules_of(cluster, name)), label) for name in names}
    changes = {name: RunningRules(of_both, leader, elections=elections) for name, of_both in labels.items()}
    leads = labels[names[0]][leader]
    words = f"a second {process} starts with the rules {label}; the master with the rules {leads} leads"
    return _run(cluster, changes, _begun(cluster, names), words)


def _run(
    cluster: ClusterCore, changes: Mapping[str, RunningRules | None], restarting: Sequence[str], words: str
) -> Step:
    cluster.world.run_rules(changes, restarting, words)
    return last_step(cluster.world)


def _begun(cluster: ClusterCore, names: Iterable[str]) -> list[str]:
    """Return those of these components that have begun to watch, so that they have something to lose."""
    return [name for name in names if name in cluster.world.processes and cluster.world.processes[name].watching]


def _targets(cluster: ClusterCore, rules: Rules, component: str | None) -> dict[str, Revision]:
    """Return the rules that each process is to run; `EVERYBODY` for all.

    Raises:
        ValueError: gates without a process, or there is no such component.
    """
    process = None if component is None else _process(cluster, component)
    if isinstance(rules, Mapping) and process is None:
        if any(isinstance(value, bool) for value in rules.values()):
            raise ValueError("upgrade: name the component whose gates these are, such as 'kube-scheduler'")
        gates = cast(Mapping[str, Mapping[str, bool]], rules)
        return {name: rules_for(cluster, {name: switches}, name) for name, switches in gates.items()}
    if process is None:
        return {EVERYBODY: rules_for(cluster, rules, SCHEDULER)}
    return {process: rules_for(cluster, rules, process)}


def rules_for(cluster: ClusterCore, rules: Rules, process: str) -> Revision:
    """Return the rules that a process is to run: those by name, or its present ones with these gates."""
    if isinstance(rules, str | Revision):
        found = revision_named(rules)
        asked = {webhook.name for webhook in found.webhooks}
        for webhook in cluster.first_rules.webhooks:  # they belong to the cluster, not to its release
            found = found if webhook.name in asked else found.with_webhook(webhook)
        return found.with_offered(cluster.first_rules.offered)
    present = rules_of(cluster, _components(cluster, process, gates=False)[0])
    of_itself = process in (API_SERVER, SCHEDULER, MANAGER) or process.partition("/")[0] == KUBELET
    nested = rules if any(isinstance(value, Mapping) for value in rules.values()) else {
        process if of_itself else MANAGER: rules
    }
    return present.with_gates(cast(Mapping[str, Mapping[str, bool]], nested))


def _label(cluster: ClusterCore, rules: Revision) -> str:
    """Return the name under which a cluster keeps these rules; new ones are added."""
    known = {cluster.first_rules.name: cluster.first_rules, **cluster.rule_sets}
    label = next((name for name, others in known.items() if others == rules), "")
    names = (rules.name if number == 1 else f"{rules.name} #{number}" for number in range(1, len(known) + 2))
    label = label or next(name for name in names if name not in known)
    keep_rules(cluster, label, rules)
    return label


def _running(cluster: ClusterCore, label: str) -> RunningRules | None:
    """Return the note of a component that runs rules; None if it would run them without."""
    everybody = running_rules(cluster.world.log.notes, EVERYBODY)
    without = cluster.first_rules.name if everybody is None else everybody.leading
    return None if label == without else RunningRules((label,))


def _process(cluster: ClusterCore, component: str) -> str:
    """Return the process that a name means.

    Raises:
        UnknownName: there is none; the message lists the names. It is a ValueError.
    """
    name = COMPONENT_NAMES.get(component, component)
    names = [API_SERVER, MANAGER, *(each for each in cluster.world.processes if each != USER)]
    kubelet, _, node = name.partition("/")
    if name in names or (kubelet == KUBELET and Key("Node", "", node) in cluster.world.log.objects):
        return name
    shown = [*(DISPLAY_NAMES[each] for each in names if each in DISPLAY_NAMES), *names]
    hint = did_you_mean(component, shown)
    raise UnknownName(f"no component is called {component!r}; there are: {', '.join(names)}{hint}")


def _components(cluster: ClusterCore, process: str, *, gates: bool) -> list[str]:
    """Return the components of a process: kube-controller-manager has many, all kubelets are one.

    Drivers read the manager's gates too: whether it hands them delayed claims.
    """
    if process == MANAGER:
        return [*cluster.controllers, *(sorted(cluster.driver_names - {*cluster.controllers}) if gates else ())]
    return [KUBELET] if process.startswith(f"{KUBELET}/") else [process]


def _restarts(label: str) -> str:
    return f"restarts with the rules {label}: what it remembered is lost"
