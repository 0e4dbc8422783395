"""What can be set on a revision: S0's level and zonal phase, feature gates by process, a scoring shape, and rollback.

A setting turns plain rules into others, and stands in the revision's name. All settings are applied together to the
plain rules, so that their order does not matter and each can be taken back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

import attrs

from ..api import volumes
from ..api.kinds.meta import EMPTY, Frozen
from ..api.unknown_name import UnknownName, did_you_mean, unknown_name
from ..controllers import kubelet
from ..controllers.persistent_volume import PVControllerOptions
from ..controllers.provisioner import ProvisionerOptions
from ..scheduler.framework.extension_points import EnabledPlugin, Score
from ..scheduler.framework.profile import Profile
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..scheduler.plugins.node_volume_limits import all_volumes, bound_volumes
from ..scheduler.plugins.pod_topology_spread.releases import PseudoCode
from ..scheduler.plugins.volume_binding import VolumeBinding
from ..scheduler.plugins.volume_binding.claims import provisioned_where_allowed
from ..scheduler.plugins.volume_binding.matching import SEARCHES
from ..scheduler.plugins.volume_binding.releases import provisioned_anywhere, with_gates_off
from ..scheduler.plugins.volume_binding.scoring import (
    SCORING_GATE,
    CapacityShape,
    ShapePoint,
    SizeMatch,
    check_shape,
    read_shape,
)
from ..scheduler.plugins.volume_rollback import VolumeRollback

Settable = TypeVar("Settable", bound="SettableRules")
MANAGER = "kube-controller-manager"
API_SERVER = "kube-apiserver"
SCHEDULING_GATE, PROVISIONING_GATE = VOLUME_GATES = ("VolumeScheduling", "DynamicProvisioningScheduling")
DIRECTIVES_GATE = "PodSchedulingReadiness"
CAPACITY_GATE = "CSIStorageCapacity"
SPREADING_GATE = "EvenPodsSpread"
# The gates that each process reads (S0, Feature Gates; S2, API; S3, Graduation Criteria; S4, Feature Enablement).
LATER_GATES = (CAPACITY_GATE, SPREADING_GATE, DIRECTIVES_GATE)
GATES_OF: Mapping[str, tuple[str, ...]] = Frozen({
    SCHEDULER: (*VOLUME_GATES, *LATER_GATES),
    MANAGER: VOLUME_GATES,
    kubelet.NAME: (SCHEDULING_GATE,),
    API_SERVER: LATER_GATES,
})
# v1.36.2's gates are on for good, but for this one, which is alpha.
GATES_OF_TODAY: Mapping[str, tuple[str, ...]] = Frozen({**GATES_OF, SCHEDULER: (*GATES_OF[SCHEDULER], SCORING_GATE)})
OFF_BY_DEFAULT = frozenset({SCORING_GATE})
# S1, User-facing API: one gate, in two processes.
GATES_OF_DRAFT: Mapping[str, tuple[str, ...]] = Frozen({
    SCHEDULER: (SCHEDULING_GATE, *LATER_GATES),
    MANAGER: (SCHEDULING_GATE,),
    API_SERVER: LATER_GATES,
})
ZONAL_PHASES = ("labels", "admitting", "converting")
MATURITY_LEVELS = ("alpha", "beta", "ga")
# S0, Performance and Optimizations: not required for alpha; one in beta, both for GA (Implementation Plan).
INDEX_OF_LEVEL = {"alpha": "none", "beta": "class", "ga": "class and node"}
IN_TREE = "kubernetes.io/"


@attrs.frozen
class RuleSettings:
    """The settings of a revision.

    Args:
        level: the level of S0's implementation plan; "": all that the documents say.
        gates: process -> feature gate -> on; a gate that is not named is as it is by default: on, unless it is one of
            `OFF_BY_DEFAULT`. `kubelet/node-a` is one kubelet.
        phase: the phase of the conversion of zonal volumes; None: none was chosen, as phase 0.
        rollback: bound volumes are released after a scheduling failure.
        blind: so are those that may hold data.
        weights: score plugin -> weight; those that are not named keep theirs.
        volume_index: how the scheduler searches volumes (see `SEARCHES`); "": as the level says.
        pseudo_code: hard spreading is judged as S3's pseudo code has it.
        shape: the points of VolumeBindingArgs; None: Kubernetes' own.
    """

    level: str = ""
    gates: Frozen = EMPTY
    phase: int | None = None
    rollback: bool = False
    blind: bool = False
    volume_index: str = ""
    weights: Frozen = EMPTY
    pseudo_code: bool = False
    shape: tuple[ShapePoint, ...] | None = attrs.field(default=None)

    @shape.validator
    def _check_shape(self, _field: object, shape: tuple[ShapePoint, ...] | None) -> None:
        if shape is not None:
            check_shape(shape, gate=self.is_on(SCHEDULER, SCORING_GATE))

    def is_on(self, process: str, gate: str) -> bool:
        """Say whether a gate is on in a process."""
        return bool(self.gates.get(process, EMPTY).get(gate, gate not in OFF_BY_DEFAULT))

    @property
    def in_name(self) -> str:
        """How they stand in the name of rules: ` (alpha; kubelet: VolumeScheduling=false; phase 1) + rollback`."""
        gates = (f"{process}: {_pairs_text(switches)}" for process, switches in self.gates.items())
        others = (f"{each.head}{value}" for each in NAMED_SETTINGS if (value := each.value(self)) is not None)
        words = "; ".join(filter(None, (self.level, *gates, *others)))
        rollback = f" + {'blind ' if self.blind else ''}rollback" if self.rollback else ""
        return f"{f' ({words})' if words else ''}{rollback}"

    def merged_gates(self, gates: Mapping[str, Mapping[str, bool]]) -> Frozen:
        """Return the gates with these set beside the others; those that are as by default are as if never named."""
        processes = sorted({*self.gates, *gates}, key=lambda name: (list(GATES_OF).index(name.partition("/")[0]), name))
        merged = {name: {**self.gates.get(name, EMPTY), **gates.get(name, EMPTY)} for name in processes}
        other = {}
        for name, switches in merged.items():
            # Unnamed it would be as by default, and for one kubelet as for the others.
            unnamed = merged.get(kubelet.NAME, EMPTY) if name.startswith(f"{kubelet.NAME}/") else EMPTY
            other[name] = {gate: on for gate, on in switches.items()
                           if on is not unnamed.get(gate, gate not in OFF_BY_DEFAULT)}  # fmt: skip
        return Frozen({name: Frozen(switches) for name, switches in other.items() if switches})

    def volume_binding(self, plugin: VolumeBinding) -> VolumeBinding:
        """Return the plugin of volumes under these settings."""
        if self.level == "alpha":
            plugin = attrs.evolve(plugin, provisioning=provisioned_anywhere)
        elif self._with_nodes(plugin.rules):
            plugin = attrs.evolve(plugin, provisioning=provisioned_where_allowed, rules=volumes.DESIGN)
        index = self.volume_index or INDEX_OF_LEVEL.get(self.level, "")
        if index:
            plugin = attrs.evolve(plugin, search=SEARCHES[index])
        if self.level and plugin.scoring is None:
            plugin = attrs.evolve(plugin, scoring=SizeMatch())
        if self.is_on(SCHEDULER, SCORING_GATE):
            plugin = attrs.evolve(plugin, scoring=CapacityShape() if self.shape is None else CapacityShape(self.shape))
        return with_gates_off(plugin, [gate for gate in GATES_OF[SCHEDULER] if not self.is_on(SCHEDULER, gate)])

    def _with_nodes(self, rules: volumes.VolumeRules) -> bool:
        """Say whether a draft tells provisioners the node at last (S1, Making dynamic provisioning topology aware)."""
        return self.level in MATURITY_LEVELS[1:] and rules == volumes.DRAFT

    def flow(self, flow: Any) -> Any:
        """Return how volumes are bound under these settings."""
        changed = {"options": volumes.DESIGN} if self._with_nodes(getattr(flow, "options", volumes.UPSTREAM)) else {}
        return attrs.evolve(flow, volume_binding=self.volume_binding(flow.volume_binding), **changed)

    def profile(self, profile: Profile, volume_binding: VolumeBinding) -> Profile:
        """Return a profile under these settings, with this plugin of volumes."""
        off = {"VolumeZone"} if self.phase is not None and self.phase >= len(ZONAL_PHASES) else set()
        off |= set() if self.is_on(SCHEDULER, SPREADING_GATE) else {"PodTopologySpread"}
        enabled = [self._enabled(each, volume_binding) for each in profile.plugins if each.name not in off]
        kept = tuple(attrs.evolve(each, weight=self.weights.get(each.name, each.weight)) for each in enabled)
        profile = attrs.evolve(profile, plugins=kept)
        return profile.with_plugin(VolumeRollback(volume_binding.events_to_register)) if self.rollback else profile

    def _enabled(self, enabled: EnabledPlugin, volume_binding: VolumeBinding) -> EnabledPlugin:
        """Return a plugin at this level: beta ranks disks by their sizes, GA counts them before they are bound."""
        reached = MATURITY_LEVELS.index(self.level) if self.level else None
        if enabled.name == volume_binding.name:
            weight = enabled.weight if reached is None else int(reached > 0)
            weight = weight or int(self.is_on(SCHEDULER, SCORING_GATE))
            return attrs.evolve(enabled, plugin=volume_binding, weight=weight)
        if enabled.name == "NodeVolumeLimits" and reached is not None:
            counted = all_volumes if reached > 1 else bound_volumes
            return attrs.evolve(enabled, plugin=attrs.evolve(enabled.plugin, counted=counted))
        if enabled.name == "PodTopologySpread" and self.pseudo_code:
            literal = PseudoCode(enabled.plugin.prepare_hard)
            return attrs.evolve(enabled, plugin=attrs.evolve(enabled.plugin, prepare_hard=literal))
        return enabled

    def binder(self, options: PVControllerOptions) -> PVControllerOptions:
        """Return the PV controller's options under these settings."""
        delays, provisioning = (self.is_on(MANAGER, gate) for gate in VOLUME_GATES)
        return attrs.evolve(
            options, delays=options.delays and delays, rolls_back=options.rolls_back or self.rollback,
            delayed_provisioning=options.delayed_provisioning and provisioning,
            rolls_back_dirty=options.rolls_back_dirty or self.blind,
            rules=volumes.DESIGN if self._with_nodes(options.rules) else options.rules,
        )

    def provisioning(self, options: ProvisionerOptions) -> ProvisionerOptions:
        """Return the options of every driver under these settings.

        Without VolumeScheduling the controller hands claims over at once. At alpha no driver is told a node or allowed
        topologies, and zonal volumes have no node affinity. From beta on in-tree plugins are converted (S1), but not
        before phase 1, and not without the gate that has them say an affinity: they have labels then.
        """
        if self.level == "alpha":
            options = attrs.evolve(
                options, uses_selected_node=False, uses_allowed_topologies=False, zonal_affinity=False
            )
        elif self.level:
            options = attrs.evolve(options, in_tree_affinity=True, uses_selected_node=True, on_failure="reschedule")
        if self.phase == 0:
            options = attrs.evolve(options, in_tree_affinity=False)
        if not self.is_on(MANAGER, SCHEDULING_GATE):
            options = attrs.evolve(options, serves_delayed="at once", in_tree_affinity=False)
        return options

    def driver(self, name: str, options: ProvisionerOptions) -> ProvisionerOptions:
        """Return one driver's options: without the gate, plugins inside the manager learn of no node and topology."""
        in_tree = options.plays_in_tree and name.startswith(IN_TREE)
        if not in_tree or self.is_on(MANAGER, PROVISIONING_GATE):
            return options
        never: dict[str, Any] = {"serves_delayed": "never"} if self.is_on(MANAGER, SCHEDULING_GATE) else {}
        return attrs.evolve(options, uses_selected_node=False, uses_allowed_topologies=False, **never)


def with_settings_named(rules: Settable, words: str, rollback: str = "") -> Settable:
    """Return rules with the settings that a name of rules says, such as `beta; kubelet: VolumeScheduling=false`.

    Raises:
        ValueError: the words are no settings, or have a value that there is not.
    """
    given = [word for word in words.split("; ") if word]
    others = [next((each for each in NAMED_SETTINGS if word.startswith(each.head)), None) for word in given]
    for word, other in zip(given, others, strict=True):
        if other is None:
            process, colon, switches = word.partition(": ")
            rules = rules.with_gates({process: _read_pairs(switches)}) if colon else rules.matured(word)
    for word, other in zip(given, others, strict=True):  # a shape needs its gate
        rules = rules if other is None else other.read(rules, word.removeprefix(other.head))
    return rules.with_rollback(blind=rollback == "blind rollback") if rollback else rules


def _pairs_text(pairs: Mapping[Any, Any]) -> str:
    return ", ".join(f"{key}={str(value).lower()}" for key, value in pairs.items())


def _read_pairs(text: str) -> dict[str, Any]:
    """Return pairs that a name has as text; a value of no known form stays as it is, to be refused by name.

    Raises:
        ValueError: a part of the text is no pair.
    """
    pairs = [each.partition("=") for each in text.split(", ")]
    if wrong := next((key for key, equals, _ in pairs if not equals), None):
        raise ValueError(f"settings of rules: {wrong!r}: write NAME=VALUE")
    return {key: _value(value) for key, _, value in pairs}


def _value(text: str) -> Any:
    return int(text) if text.isdecimal() else {"true": True, "false": False}.get(text, text)


@attrs.frozen
class NamedSetting:
    """A setting in the name of rules: its first words, what follows them (None: it is not set), and how it is read."""

    head: str
    value: Callable[[RuleSettings], object | None]
    read: Callable[[Any, str], Any]


NAMED_SETTINGS = (
    NamedSetting("phase ", lambda settings: settings.phase,
                 lambda rules, text: rules.in_phase(int(text) if text.isdecimal() else text)),
    NamedSetting("volume index: ", lambda settings: settings.volume_index or None,
                 lambda rules, text: rules.with_volume_index(text)),
    NamedSetting("weights: ", lambda settings: _pairs_text(settings.weights) or None,
                 lambda rules, text: rules.with_weights(_read_pairs(text))),
    NamedSetting("spreading: pseudo code", lambda settings: "" if settings.pseudo_code else None,
                 lambda rules, text: rules.matured(f"spreading: {text}") if text else rules.with_pseudo_code()),
    NamedSetting("shape: ", lambda settings: None if settings.shape is None else
                 ", ".join(f"{point.utilization}={point.score}" for point in settings.shape),
                 lambda rules, text: rules.with_volume_binding_args(shape=_read_shape(text))),
)  # fmt: skip
"""The settings beside level and gates, in the order in which they stand in a name."""


def _read_shape(text: str) -> list[dict[str, Any]]:
    points = (each.partition("=") for each in text.split(", "))
    return [{"utilization": _value(at), "score": _value(score)} for at, _, score in points]


def check_gates(gates: Mapping[str, Mapping[str, bool]], known: Mapping[str, tuple[str, ...]]) -> None:
    """Check that every process reads the gates that are set for it.

    Raises:
        UnknownName: there is no such process or gate; the message lists those that there are. It is a ValueError.
        ValueError: a value is neither True nor False.
    """
    for process, switches in gates.items():
        one_kubelet = process.startswith(f"{kubelet.NAME}/")
        reads = known.get(kubelet.NAME if one_kubelet else process)
        unknown = [gate for gate in switches if gate not in (reads or ())]
        if reads is None or unknown:
            there = "; ".join(f"{name} has {', '.join(of_process)}" for name, of_process in known.items())
            hint = did_you_mean(process, known.keys()) if reads is None else did_you_mean(unknown[0], reads)
            raise UnknownName(f"no gate {', '.join(unknown) or '...'} of {process}: {there}{hint}")
        values: Mapping[str, object] = switches
        wrong = [f"{gate}={on!r}" for gate, on in values.items() if not isinstance(on, bool)]
        if wrong:
            raise ValueError(f"gates of {process} are True or False, not {', '.join(wrong)}")


class SettableRules:
    """Rules that can be set: each method returns others, whose name says what was set."""

    settings: RuleSettings
    gates_of: Mapping[str, tuple[str, ...]]
    profile: Profile

    def _set(self, **changes: Any) -> Self:
        """Return these rules with changed settings."""
        raise NotImplementedError

    @property
    def gates(self) -> Mapping[str, Mapping[str, bool]]:
        """The feature gates that were set, by process."""
        return self.settings.gates

    def in_phase(self, phase: int) -> Self:
        """Return these rules in a phase of S0's zonal PV upgrade (checklist 28-34).

        >>> import kvolsched
        >>> kvolsched.design().in_phase(1).name
        'design (phase 1)'

        Args:
            phase: 0: nothing converts, and new in-tree volumes have labels alone; 1: new
                volumes with zone labels get their node affinity on admission; 2: a controller converts the volumes
                that there are; 3: VolumeZone and the controller are gone.

        Raises:
            ValueError: there is no such phase.
        """
        if phase not in range(4):
            raise ValueError(f"no phase {phase!r} of the zonal upgrade; there are 0, 1, 2 and 3")
        return self._set(phase=phase)

    def matured(self, level: str) -> Self:
        """Return these rules at a level of S0's implementation plan (checklist 143n).

        >>> import kvolsched
        >>> kvolsched.design().matured("alpha").name
        'design (alpha)'

        Args:
            level: "alpha": volumes are filtered, matched, bound and made, and a class must name a provisioner; nothing
                is ranked, neither scheduler nor provisioner looks at allowedTopologies, the provisioner does not
                know the node, zonal volumes have labels, no node affinity, and every node's search visits every
                volume. "beta": all of this is there; disks are ranked by how close they are in size, and volumes
                without node affinity are searched once. "ga": limits of disks count what is yet to be bound, and
                each node has a map of its volumes.

        Raises:
            ValueError: there is no such level.
        """
        if level not in MATURITY_LEVELS:
            raise unknown_name(f"maturity {level!r}", str(level), MATURITY_LEVELS)
        return self._set(level=level)

    def with_gates(self, gates: Mapping[str, Mapping[str, bool]]) -> Self:
        """Return these rules with feature gates by process, as in clusters of mixed releases (checklist 71-73, 140).

        Gates that were set before stay as they are unless they are named again. All are on by default but
        StorageCapacityScoring, which only `upstream` has.

        >>> import kvolsched
        >>> kvolsched.design().with_gates({"kube-scheduler": {"VolumeScheduling": False}}).name
        'design (kube-scheduler: VolumeScheduling=false)'

        Args:
            gates: process -> gate -> on, for example `{"kube-scheduler": {"VolumeScheduling": False}}`; one kubelet is
                "kubelet/node-a".

        Raises:
            ValueError: there is no such process or gate.
        """
        check_gates(gates, self.gates_of)
        return self._set(gates=self.settings.merged_gates(gates))

    def with_rollback(self, *, blind: bool = False) -> Self:
        """Return these rules with S0's sketch of a transaction: if no node fits a pod, its clean claims are unbound.

        >>> import kvolsched
        >>> kvolsched.design().with_rollback().name
        'design + rollback'

        Args:
            blind: unbind claims that are not clean, too: S0 warns of it, for their volumes may hold a user's data.
        """
        return self._set(rollback=True, blind=blind)

    def with_weights(self, weights: Mapping[str, int]) -> Self:
        """Return these rules with weights of score plugins, as in the scheduler's configuration (S0, Priority: a TODO).

        Weights that were set before stay as they are unless they are named again. A weight removes no node. That of
        VolumeBinding counts for nothing under `upstream` as long as the gate StorageCapacityScoring is off.

        >>> import kvolsched
        >>> kvolsched.design().with_weights({"VolumeBinding": 10}).name
        'design (weights: VolumeBinding=10)'

        Args:
            weights: plugin -> weight; 0 leaves its score out. The documents' names are taken, too: `PrioritizeVolumes`.

        Raises:
            ValueError: there is no such score plugin, or the weight is no whole number from 0.
        """
        known = sorted(each.name for each in self.profile.plugins if each.extends(Score))
        weights = {self.profile.name_of(name): weight for name, weight in weights.items()}
        given: Mapping[str, object] = weights
        for name, weight in given.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise UnknownName(f"no score plugin {name!r}; there are: {', '.join(known)}{hint}")
            if isinstance(weight, bool) or not isinstance(weight, int) or weight < 0:
                raise ValueError(f"weight of {name}: {weight!r}: must be a whole number from 0")
        return self._set(weights=Frozen({**self.settings.weights, **weights}))

    def with_volume_binding_args(self, *, shape: Sequence[Mapping[str, int]] | None) -> Self:
        """Return these rules with a shape in VolumeBindingArgs (`pluginConfig` of the scheduler's configuration).

        The shape says how many points, 0 to 10, a class of volumes gets by its utilisation: how many percent are
        requested of the volumes that would be bound or, on a node without any, of the room that is published there.
        Kubernetes' own shape prefers the emptiest. It is read if the gate StorageCapacityScoring is on, else refused.

        >>> import kvolsched
        >>> on = kvolsched.upstream().with_gates({"kube-scheduler": {"StorageCapacityScoring": True}})
        >>> on.with_volume_binding_args(shape=[{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]).name
        'upstream (kube-scheduler: StorageCapacityScoring=true; shape: 0=0, 100=10)'

        Args:
            shape: points of rising utilization, each with its score; None: Kubernetes' own again.

        Raises:
            ValueError: the gate is off, or the points are no shape; in Kubernetes' words.
        """
        return self._set(shape=None if shape is None else read_shape(shape))

    def with_volume_index(self, index: str) -> Self:
        """Return these rules with a search for volumes as S0 writes it, and each of its optimisations on or off.

        Decisions stay the same; how many volumes are visited does not (see `Cluster.visits`).

        >>> import kvolsched
        >>> kvolsched.design().with_volume_index("none").name
        'design (volume index: none)'

        Args:
            index: "none": every volume for every node; "class": volumes by class, and one search for all nodes if
                none of a class has a node affinity; "node": a map of volumes for each node; "class and node"; or
                "columns", the engine's own, which judges all nodes at once.

        Raises:
            ValueError: there is no such index.
        """
        if index not in SEARCHES:
            raise unknown_name(f"volume index {index!r}", str(index), list(SEARCHES))
        return self._set(volume_index=index)

    def with_pseudo_code(self) -> Self:
        """Return these rules with S3's predicate as its pseudo code has it: matching − minimum < maxSkew for any pod.

        For a pod that matches its own selector this is the skew after placement; for another it is stricter by one.

        >>> import kvolsched
        >>> kvolsched.design().with_pseudo_code().name
        'design (spreading: pseudo code)'
        """
        return self._set(pseudo_code=True)
