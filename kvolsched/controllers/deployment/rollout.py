"""One sync of one Deployment: its ReplicaSets with what was planned so far, and how they are scaled."""

from collections.abc import Sequence

from ...api.kinds.meta import EMPTY, Frozen, evolve_parts
from ...api.kinds.pod import PodTemplateSpec
from ...api.kinds.workload import Deployment, ReplicaSet
from ...api.unmodelled_defaults import with_unmodelled_defaults
from ...api.workloads import TEMPLATE_LABEL, scaled_value
from ...world.apiserver import key_of
from ...world.plan import PlanBuilder, PlannedEvent, reference_of

NAME = "deployment-controller"
KIND = "Deployment"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"


class Rollout:
    """A Deployment and its ReplicaSets, in which what is planned counts as written. Mutable."""

    def __init__(self, plan: PlanBuilder, owner: Deployment, sets: Sequence[ReplicaSet]) -> None:
        self.plan, self.owner = plan, owner
        self.sets = {replica_set.metadata.name: replica_set for replica_set in sets}
        self.seen_sets = dict(self.sets)  # as they were at the start: the status counts these
        self.template: PodTemplateSpec = with_unmodelled_defaults(owner).spec.template
        same = (name for name, replica_set in self.sets.items() if has_template(replica_set, self.template))
        self.new_name = next(same, "")
        self.replicas = 1 if owner.spec.replicas is None else owner.spec.replicas
        self.strategy: Frozen = owner.spec.rest.get("strategy", EMPTY)
        self.is_rolling = self.strategy.get("type", "RollingUpdate") == "RollingUpdate"

    @property
    def new_set(self) -> ReplicaSet | None:
        """The ReplicaSet of the present template, if it exists."""
        return self.sets.get(self.new_name)

    @property
    def old_sets(self) -> list[ReplicaSet]:
        """The ReplicaSets of other templates, the oldest first."""
        return [replica_set for name, replica_set in self.sets.items() if name != self.new_name]

    @property
    def total(self) -> int:
        """How many pods all ReplicaSets are to have."""
        return sum(map(size, self.sets.values()))

    @property
    def max_surge(self) -> int:
        """How many pods may be too many."""
        return self._limits()[0] if self.is_rolling else 0

    @property
    def max_unavailable(self) -> int:
        """How many pods may be missing."""
        return min(self._limits()[1], self.replicas) if self.is_rolling and self.replicas else 0

    def _limits(self) -> tuple[int, int]:
        rolling = self.strategy.get("rollingUpdate", EMPTY)
        surge = scaled_value(rolling.get("maxSurge", "25%"), self.replicas, up=True)
        unavailable = scaled_value(rolling.get("maxUnavailable", "25%"), self.replicas, up=False)
        return (surge, unavailable) if surge or unavailable else (0, 1)

    def new_set_size(self, present: int) -> int:
        """Return how large the new ReplicaSet may be now, given its present size."""
        if not self.is_rolling:
            return self.replicas
        room = self.replicas + self.max_surge - self.total
        return present if room <= 0 else present + min(room, self.replicas - present)

    def size_annotations(self) -> dict[str, str]:
        """Return the annotations that say for how many replicas a ReplicaSet was sized."""
        return {DESIRED_REPLICAS: str(self.replicas), MAX_REPLICAS: str(self.replicas + self.max_surge)}

    def scale(self, replica_set: ReplicaSet, wanted: int, *, annotate: bool = False) -> bool:
        """Scale a ReplicaSet and annotate it (`annotate`: even if its size stays); say whether its size changes."""
        present = size(replica_set)
        if present == wanted and not annotate:
            return False
        annotations = replica_set.metadata.annotations.merged(self.size_annotations())
        resized = evolve_parts(replica_set, metadata={"annotations": annotations}, spec={"replicas": wanted})
        words = f"Deployment controller scales {reference_of(replica_set)} from {present} to {wanted}"
        self.update(replica_set, resized, words)
        if present != wanted:
            event = self.scaling_event(replica_set, present, wanted)
            self.plan.event(self.owner, event.type, event.reason, event.message)
        return present != wanted

    def update(self, old: ReplicaSet, new: ReplicaSet, words: str) -> None:
        """Plan to replace a ReplicaSet."""
        self.sets[new.metadata.name] = self.plan.update(old, new, words)

    def scaling_event(self, replica_set: ReplicaSet, present: int, wanted: int) -> PlannedEvent:
        """Return the Event on the Deployment about a scaled ReplicaSet."""
        direction = "up" if wanted > present else "down"
        message = f"Scaled {direction} replica set {replica_set.metadata.name} from {present} to {wanted}"
        return PlannedEvent(key_of(self.owner), "Normal", "ScalingReplicaSet", message, NAME)


def size(replica_set: ReplicaSet) -> int:
    """Return how many pods a ReplicaSet is to have."""
    return 1 if replica_set.spec.replicas is None else replica_set.spec.replicas


def has_template(replica_set: ReplicaSet, template: PodTemplateSpec) -> bool:
    """Say whether a ReplicaSet is of a template, but for the label of its hash and the server's defaults."""
    return _without_hash(with_unmodelled_defaults(replica_set).spec.template) == _without_hash(template)


def _without_hash(template: PodTemplateSpec) -> PodTemplateSpec:
    return evolve_parts(template, metadata={"labels": template.metadata.labels.merged({TEMPLATE_LABEL: None})})
