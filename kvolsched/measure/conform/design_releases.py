"""Differences of Kubernetes 1.11 from the design documents, as changes of revision `design`.

Recordings of 1.11 are replayed with these changes, so that everything else is compared.
"""

from typing import Any, ClassVar

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.pod import Pod
from kvolsched.rules.revision import Revision
from kvolsched.scheduler.columns.column import Integers
from kvolsched.scheduler.framework.extension_points import ColumnContext, EnabledPlugin
from kvolsched.scheduler.plugins.volume_binding.claims import smallest_first

VOLUME_RULES_1_11 = attrs.evolve(
    volumes.DESIGN, selected_node_key="volume.alpha.kubernetes.io/selected-node", is_listed=volumes.has_class_field
)


def as_in_1_11(revision: Revision, *extra: EnabledPlugin, only: tuple[str, ...] = (), **options: Any) -> Revision:
    """Return the rules of 1.11: claims in order of rising size, no priority, the alpha annotation key.

    `extra` plugins are appended to the profile; of the others it keeps `only` (names; none: all). `options` are other
    options of VolumeBinding.
    """
    rules, plugins, binding = VOLUME_RULES_1_11, [], revision.flow.volume_binding
    for enabled in revision.profile.plugins:
        plugin = enabled.plugin
        if enabled.name == binding.name:
            plugin = binding = attrs.evolve(binding, rules=rules, claim_order=smallest_first, **options)
        if not only or enabled.name in only:
            plugins.append(attrs.evolve(enabled, plugin=plugin, weight=0))
    return attrs.evolve(
        revision, profile=attrs.evolve(revision.profile, plugins=(*plugins, *extra)),
        flow=attrs.evolve(revision.flow, volume_binding=binding, options=rules),
        binder=attrs.evolve(revision.binder, rules=rules), provisioning=attrs.evolve(revision.provisioning, delay=0.0)
    )


@attrs.frozen
class RecordedRank:
    """Score plugin with recorded scores of nodes."""

    name: ClassVar[str] = "Rank"
    ranks: tuple[tuple[str, int], ...]

    def score(self, _pod: Pod, columns: ColumnContext) -> Integers:
        """Return the recorded score of each node; 0 without one."""
        ranks: Integers = columns.nodes.live.array.astype(int) * 0
        for node, rank in self.ranks:
            if node in columns.nodes.row_of:
                ranks[columns.nodes.row_of[node]] = rank
        return ranks

    def normalise(self, raw: Integers) -> Integers:
        """Return the scores unchanged."""
        return raw
