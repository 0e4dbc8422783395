"""The dials of a driver, and the failures that may be ordered: values only, no decision."""

from collections.abc import Mapping

import attrs

from ...api.dials import PERIOD, SECONDS, SWITCH, TEXT, TEXTS, choice, dial, mapping_of, or_null, several, values, whole
from ...api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL
from ...world.reconciler import Backoff
from ...world.storage_pools import POOLS, Pool
from .capacity import NODE, PublishingOptions

EXHAUSTED = "ResourceExhausted"
TOPOLOGY_KEYS = {"zonal": (ZONE_LABEL,), "local": (HOSTNAME_LABEL,)}
KEYS = values("zonal, local, or a list of labels", lambda given: isinstance(given, tuple) or given in [*TOPOLOGY_KEYS],
              lambda given: TOPOLOGY_KEYS.get(given, given))  # fmt: skip
ZONES = values("a domain, or a mapping from claim to domain", lambda given: isinstance(given, str | Mapping))
UNFINISHED = frozenset({"Canceled", "DeadlineExceeded", "Unavailable", "Aborted"})  # the driver may still be at work


@attrs.frozen(kw_only=True)
class Failure:
    """Attempts that fail."""

    times: int | None = dial(1, or_null(whole(1)), "how many attempts that fall on the topology; null for all")
    topology: str = dial("", TEXT, 'the domain where they fail; "" for any')
    code: str = dial(
        EXHAUSTED, TEXT, "the gRPC code of the failure",
        "S0, PV Controller Changes: any failure removes the selected node; external-provisioner asks for its code",
    )
    desc: str = dial(
        "", TEXT,
        'what the driver says; "" for "not enough capacity in" the domain, of another code "cannot create a volume in"',
    )


@attrs.frozen(kw_only=True)
class ProvisionerOptions:
    """The dials of a driver, and what sets of rules alone decide of it.

    Args:
        plays_in_tree: under the name of an in-tree plugin it plays the plugin inside the PV controller: it goes by
            class and node, not by annotation, and has the controller's messages.
        in_tree_affinity: volumes of in-tree plugins have node affinity as others do (S0); else labels alone (S1).
    """

    serves: tuple[str, ...] = dial(
        (), TEXTS, "provisioner names in classes and annotations that it acts for, beside its own name"
    )
    topology_keys: tuple[str, ...] = dial(
        (ZONE_LABEL,), KEYS, "labels of nodes that tell where a volume is reached, if no CSINode names the driver's",
        "S0, Dynamic Provisioning with Topology: zonal plugins make it in the node's zone, local ones on the node",
        also="kind",
    )
    strict_topology: bool = dial(
        False, SWITCH, "whether it is asked for the selected node's topology and nothing else (`--strict-topology`)"
    )
    tries_preferred: bool = dial(
        False, SWITCH, "whether with a selected node, too, it tries every preferred topology until a pool has room"
    )
    immediate_topology: bool = dial(
        True, SWITCH, "whether it is told a topology even if neither class nor pod wants one (`--immediate-topology`)"
    )
    pools: tuple[Pool, ...] = dial(
        (), POOLS, "its storage; none: unlimited, and no capacity is published",
        "S2, Goals: storage that is local to a node, or limited in another segment, has to be tracked",
    )
    publishing: PublishingOptions = dial(
        PublishingOptions(), mapping_of(PublishingOptions), "how its capacity is published, if there are pools",
        "S2, Updating capacity information with external-provisioner",
    )
    delay: float = dial(
        0.3, SECONDS, "from the start of an attempt to the volume in the API, and from release to deletion",
        "S0, Delayed Volume Binding: provisioning can take a long time",
    )
    fails: tuple[Failure, ...] = dial((), several(mapping_of(Failure)), "failures to come, in their order")
    fail_chance: int = dial(0, whole(0, 100), "share of attempts that fail besides, in percent, drawn by seed")
    on_failure: str = dial(
        "reschedule", choice("reschedule", "retry"), "whether a failure removes the selected node or is retried",
        "S0, PV Controller Changes: a failure removes the annotation, so that the scheduler tries again",
    )
    reschedule_codes: tuple[str, ...] = dial(
        (EXHAUSTED,), TEXTS, "which failures are rescheduled; none named: every one",
        "S0, PV Controller Changes: every failure; since external-provisioner 1.0 where no storage is left",
    )
    immediate_zone: Mapping[str, str] | str = dial(
        "", ZONES, 'where volumes of claims without a selected node lie; "": by the hash of the claim\'s name',
        "S0, Problem: a zone is chosen before anybody knows where the pod can run",
    )
    plays_in_tree: bool = False
    in_tree_affinity: bool = True
    uses_selected_node: bool = dial(
        True, SWITCH, "whether it makes volumes where the selected node is",
        "S0, Implementation Plan: not at alpha; Dynamic Provisioning interface changes: its labels decide",
    )
    node_needs_delay: bool = dial(
        False, SWITCH, "whether a selected node counts for claims of a class that waits alone",
        "S0, Dynamic Provisioning interface changes: it is passed when late binding is enabled on the class",
    )
    uses_allowed_topologies: bool = dial(
        True, SWITCH, "whether it is told what topologies the class allows",
        "S0, Dynamic Provisioning interface changes: they are passed when the class sets them",
    )
    list_for_node: bool = dial(
        True, SWITCH, "whether with a selected node it is told what topologies the class allows, too",
        "S0, Restricting Topology: for one domain the list can be ignored, since the scheduler has looked at it",
    )
    whole_topologies: bool = dial(
        False, SWITCH, "whether each term of allowedTopologies is the topology of one volume, with all its values",
        "S0, Restricting Topology, Alternatives: such a list becomes very verbose (rejected)",
    )
    serves_delayed: str = dial(
        "selected", choice("selected", "at once", "never"), "when it serves claims of a class that waits",
        "S0, PV Controller Changes: the annotation is the signal to begin; gates by process are the other values",
    )
    zonal_affinity: bool = dial(
        True, SWITCH, "whether volumes with zones have them in their node affinity, else in labels alone",
        "S0, Zonal PV Upgrade and Downgrade: new volumes get it, old ones are converted",
    )
    retry_interval_start: float = dial(
        1.0, PERIOD, "after the first failure for a claim, a volume or a capacity; each further one doubles it"
    )
    retry_interval_max: float = dial(300.0, PERIOD, "the longest such wait")
    adds_finalizer: bool = dial(True, SWITCH, "whether its volumes carry its finalizer until their storage is deleted")
    running: bool = dial(
        True, SWITCH, "whether the driver runs at all", "S0, End to End Zonal Example: the administrator launches it"
    )
    node_deployment: bool = dial(
        False, SWITCH, "whether a provisioner runs on each node, for volumes and capacity of that node alone",
        "S2, Only inline ephemeral volumes: one beside each node service; for volumes of claims too since v2.0",
    )

    @property
    def backoff(self) -> Backoff:
        """How long what has failed waits until it is tried again."""
        return Backoff.per_cause(self.retry_interval_start, self.retry_interval_max)

    @property
    def per_node(self) -> bool:
        """Whether a provisioner runs on each node."""
        return self.node_deployment or self.publishing.form == NODE


UPSTREAM = ProvisionerOptions()
DESIGN = ProvisionerOptions(
    reschedule_codes=(),  # S0: every failure removes the annotation
    plays_in_tree=True,
    node_needs_delay=True,
    list_for_node=False,
    adds_finalizer=False,
    publishing=PublishingOptions(form="central"),
)
