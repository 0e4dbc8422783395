"""What an up-to-date scheduler sees of a cluster: objects, and their snapshot, which a cluster and its forks share.

Questions judge on it. It is what the scheduler's own view becomes once every change is delivered, without delivering.
"""

from typing import Any

from ..scheduler.columns.hypothetical_snapshot import KeptSnapshot
from ..scheduler.columns.snapshot import Snapshot
from ..scheduler.loop.assume_cache import ASSUMED, is_current, key_of_note
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.apiserver import moment
from ..world.log import Key, Log
from .core import ClusterCore


def objects_seen_by_scheduler(cluster: ClusterCore, log: Log | None = None) -> dict[Key, Any]:
    """Return the objects as an up-to-date scheduler sees them: the API's, overlaid with the assumed ones.

    Args:
        cluster: the cluster, by whose rules an assumed object is current.
        log: a log at the position that is asked for; by default the cluster's, at its present position.
    """
    log, rules = log or cluster.world.log, cluster.revision
    objects = dict(log.objects)
    for note, value in log.notes.items():
        if note[1] == ASSUMED and note[0] == SCHEDULER:
            key = key_of_note(note[2])
            if is_current(key, objects.get(key), value, rules.flow.volume_rule):
                objects[key] = value
    return objects


def snapshot_of_scheduler(cluster: ClusterCore, log: Log | None = None) -> Snapshot:
    """Return the snapshot of what an up-to-date scheduler sees; it is shared: who changes it changes a copy.

    Args:
        cluster: the cluster.
        log: a log at the position that is asked for; by default the cluster's, at its present position. Plugins judge
            at its time.
    """
    at = moment(log or cluster.world.log)
    return kept_snapshot(cluster).of(objects_seen_by_scheduler(cluster, log), at)


def kept_snapshot(cluster: ClusterCore) -> KeptSnapshot:
    """Return the snapshot that the scheduler and all questions share, in a cluster and in every fork.

    >>> core = ClusterCore()
    >>> kept_snapshot(core) is kept_snapshot(core.fork())
    True
    """
    shared = (each.shared for each in cluster.world.components if each.name == SCHEDULER)
    return next((each for each in shared if isinstance(each, KeptSnapshot)), KeptSnapshot())
