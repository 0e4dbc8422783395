"""Kubernetes 1.11 as a variant of revision `design`: what this release did otherwise than the documents say.

Recordings of 1.11 are played with this variant, so that they test everything in which release and documents agree.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from kvolsched import volumes
from kvolsched.api.kinds.pod import Pod
from kvolsched.revision import Revision
from kvolsched.scheduler.framework.extension_points import ColumnContext, EnabledPlugin
from kvolsched.scheduler.framework.verdict import Integers
from kvolsched.scheduler.plugins.volume_binding.claims import smallest_first

RULES_OF_1_11 = attrs.evolve(
    volumes.DESIGN, selected_node_key="volume.alpha.kubernetes.io/selected-node", is_listed=volumes.has_class_field
)


def as_in_1_11(revision: Revision, *extra: EnabledPlugin, only: tuple[str, ...] = (), **options: Any) -> Revision:
    """Return a revision with 1.11's volume rules and no scores.

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
            binding = attrs.evolve(binding, rules=rules, claim_order=smallest_first, **options)
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
        ranks: Integers = at.nodes.live.now.astype(int) * 0
        for node, rank in self.ranks:
            if node in at.nodes.row_of:
                ranks[at.nodes.row_of[node]] = rank
        return ranks

    def normalise(self, raw: Integers) -> Integers:
        """Leave the ranks as they are."""
        return raw
