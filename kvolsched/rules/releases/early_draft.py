"""The earliest of the documents (S1), and the others where it does not differ."""

import attrs

from ...api import volumes
from ...scheduler.framework.extension_points import EnabledPlugin
from ...scheduler.framework.profile import Profile
from ...scheduler.loop.binding_flow import TwoPasses
from ...scheduler.plugins.volume_binding.releases import MATCH_UNBOUND_PVCS
from ...scheduler.plugins.volume_node import VolumeNode
from ...scheduler.plugins.volume_zone import VolumeZone
from ..revision import Revision, volume_binding_of
from ..settings import GATES_OF_DRAFT
from .design_documents import design, design_profile

STANDS_FOR = ("the earliest of the documents", "and design where it does not differ")
MINORS = ()


def draft_profile() -> Profile:
    """Return the plugins of the early draft: S0's, with two predicates for volumes (S1, Volume Node Predicate)."""
    rules = design_profile().replacing(MATCH_UNBOUND_PVCS)
    plugins = []
    for each in rules.plugins:
        plugins.append(each)
        if each.name == VolumeZone.name:
            plugins.append(EnabledPlugin(VolumeNode()))
    return attrs.evolve(rules, name="draft", plugins=tuple(plugins))


def draft() -> Revision:
    """Return the rules of S1, the earlier draft: the scheduler does not select a node for provisioning.

    >>> draft().name
    'draft'
    """
    rules, profile = design(), draft_profile()
    return attrs.evolve(
        rules,
        called="draft",
        gates_of=GATES_OF_DRAFT,
        profile=profile,
        flow=TwoPasses(volume_binding_of(profile), volumes.DRAFT, concurrent=True),
        binder=attrs.evolve(rules.binder, rules=volumes.DRAFT),
        provisioning=attrs.evolve(
            rules.provisioning, uses_selected_node=False, on_failure="retry", in_tree_affinity=False
        ),
    )
