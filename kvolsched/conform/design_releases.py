"""What the releases of the design's time did otherwise than the documents say, as options of revision `design`.

The documents are that revision's rule; recordings of 1.11 are played with these options, so that what is compared is
all the rest.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from kvolsched import volumes
from kvolsched.api.kinds.pod import Pod
from kvolsched.revision import Revision
from kvolsched.scheduler.columns.arrays import Integers
from kvolsched.scheduler.framework.extension_points import ColumnContext, EnabledPlugin

RULES_OF_1_11 = attrs.evolve(
    volumes.DESIGN, selected_node_key="volume.alpha.kubernetes.io/selected-node", lists_by_field=True
)


def as_in_1_11(revision: Revision, *extra: EnabledPlugin, only: tuple[str, ...] = (), **options: Any) -> Revision:
    """Return the design's rules with what 1.11 did otherwise: claims by rising size, no priority, its annotation key.

    Args:
        revision: the design's rules.
        extra: further plugins at the profile's end.
        only: plugins to keep; none named: all.
        options: further options of VolumeBinding.
    """
    rules, plugins, binding = RULES_OF_1_11, [], revision.flow.volume_binding
    for enabled in revision.profile.plugins:
        plugin = enabled.plugin
        if enabled.name == binding.name:
            binding = attrs.evolve(binding, rules=rules, largest_first=False, prioritises=False, **options)
            plugin = binding
        if not only or enabled.name in only:
            plugins.append(attrs.evolve(enabled, plugin=plugin, weight=0))
    return attrs.evolve(
        revision,
        profile=attrs.evolve(revision.profile, plugins=(*plugins, *extra)),
        flow=attrs.evolve(revision.flow, volume_binding=binding, options=rules),
        binder=attrs.evolve(revision.binder, rules=rules),
        provisioning=attrs.evolve(revision.provisioning, delay=0.0),
    )


@attrs.frozen
class Rank:
    """A recorded preference among nodes: the highest is taken."""

    name: ClassVar[str] = "Rank"
    ranks: tuple[tuple[str, int], ...]

    def score(self, _pod: Pod, at: ColumnContext) -> Integers:
        """Return each node's rank; one without is last."""
        ranks: Integers = at.nodes.live.array.astype(int) * 0
        for node, rank in self.ranks:
            if node in at.nodes.row_of:
                ranks[at.nodes.row_of[node]] = rank
        return ranks

    def normalise(self, raw: Integers) -> Integers:
        """Leave the ranks as they are."""
        return raw
