"""The table of the scheduling queue's moves: loops make every move of it and no other, and the docs draw it."""

from pathlib import Path
from random import Random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvolsched import scenario
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.core.results import ApplyRefused
from kvolsched.rules.named import revision_named
from kvolsched.scheduler.framework.verdict import Code, Reject
from kvolsched.scheduler.loop import scheduling_queue as queue
from kvolsched.scheduler.loop.scheduling_queue import (
    ABSENT,
    LEGAL_MOVES,
    PARTS,
    QUEUE_MOVES,
    IllegalMove,
    QueueEntry,
    QueueEvent,
    move_entry,
)
from kvolsched.world.component import TurnContext

PAGE = Path(__file__).parents[2] / "docs" / "scheduling-queue.md"
START, END = "<!-- generated from QUEUE_MOVES: python tests/scheduler/test_queue_moves.py -->\n", "<!-- end -->\n"


# --- loops ----------------------------------------------------------------------------------------------------------


class RecordedMoves(frozenset):
    """The legal moves; remembers which moves were looked up."""

    made = frozenset()

    def __contains__(self, move):
        """Look a move up in the table and remember it."""
        self.made |= {move}
        return super().__contains__(move)


@pytest.fixture(scope="module")
def recorded():
    """Record the moves of all loops of this module."""
    with pytest.MonkeyPatch.context() as patch:
        moves = RecordedMoves(LEGAL_MOVES)
        patch.setattr(queue, "LEGAL_MOVES", moves)
        yield moves


def pod(name, cpu="1", *, claim="", gated=False):
    """Return a pod's manifest."""
    spec = {"containers": [{"name": "app", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}]}
    if claim:
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    if gated:
        spec["schedulingGates"] = [{"name": "example.com/gate"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def large_node():
    """Return the manifest of a node with room for everything."""
    resources = {"cpu": "99", "memory": "99Gi", "pods": "99"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "large"}, "status": {"allocatable": resources}}


def replaced(cluster, *pods):
    """Delete pods and create others with their names before the scheduler sees it."""
    for manifest in pods:
        cluster.delete(f"pod/{manifest['metadata']['name']}")
        cluster.apply(manifest)


def ungated(old):
    """Lift a pod's scheduling gates."""
    return evolve_parts(old, spec={"scheduling_gates": ()})


ACTIONS = {
    "add a pod": lambda c: c.apply(pod("other")),
    "add a pod with a claim": lambda c: c.apply(pod("my-pod", claim="my-pvc")),
    "add a gated pod": lambda c: c.apply(pod("other", gated=True)),
    "add a large pod": lambda c: c.apply(pod("other", "64")),
    "lift the gates": lambda c: c._edit("pod/other", ungated),
    "delete a pod": lambda c: c.delete("pod/other"),
    "delete the pod with a claim": lambda c: c.delete("pod/my-pod"),
    "replace a pod": lambda c: replaced(c, pod("other")),
    "replace a pod by a gated one": lambda c: replaced(c, pod("other", gated=True)),
    "replace both pods": lambda c: replaced(c, pod("my-pod", claim="my-pvc"), pod("other", gated=True)),
    "add a node": lambda c: c.apply(large_node()),
    "delete a node": lambda c: c.delete("node/large"),
    "cordon all nodes": lambda c: [c.cordon(node.metadata.name) for node in c.objects("Node")],
    "uncordon all nodes": lambda c: [c.uncordon(node.metadata.name) for node in c.objects("Node")],
    "delete the claim": lambda c: c.delete("pvc/my-pvc"),
    "add a finalizer": lambda c: c._edit("pod/other", lambda old: evolve_parts(old, metadata={"finalizers": ("x/y",)})),
    "refuse a write of the scheduler": lambda c: c.refuse("kube-scheduler"),
    "the scheduler sees": lambda c: c.world.deliver(c.world.processes["kube-scheduler"]),
    "a turn of the pass": lambda c: c.step("scheduling pass", turns=True),
    "a turn of the bind worker": lambda c: c.step("bind worker", turns=True),
    "a turn": lambda c: c.step(turns=True),
    "20 steps": lambda c: c.run(steps=20),
    "run": lambda c: c.run(),
}
RULES = ("design", "design with resync", "upstream", "upstream in two turns")


def cluster_under(rules, **components):
    """Return the cluster of the zonal example; passes may have two turns, waiting pods may be retried after 5 s."""
    revision = revision_named(rules.partition(" ")[0])
    if rules == "design with resync":
        revision = attrs.evolve(revision, flow=attrs.evolve(revision.flow, resync=5.0))
    return scenario("zonal-example", attrs.evolve(revision, flow=attrs.evolve(revision.flow, fine=rules.endswith("two turns"))), **components)


def loop(rules, actions, *, provisions=True):
    """Play actions; those that are refused, or whose object does not exist, are left out."""
    cluster = cluster_under(rules, **{"kubernetes.io/gce-pd": {"running": provisions}})
    for action in actions:
        try:
            ACTIONS[action](cluster)
        except (KeyError, ApplyRefused):
            continue
    return cluster


def erring(pod, node, seen):
    """Reject every node, the large one by an error."""
    return Reject(("no such thing",), Code.ERROR if node.metadata.name == "large" else Code.UNSCHEDULABLE)


def directed_loops():
    """Let time pass beyond back-offs and timeouts, replace a pod that waits for its volumes, and meet an error."""
    cluster = cluster_under("upstream", **{"kubernetes.io/gce-pd": {"running": False}})
    cluster.apply(pod("other", "64"))
    cluster.run(until=lambda c: c.now > 400)
    cluster.apply(large_node())
    cluster.run(steps=20)
    slow = cluster_under("design", **{"kubernetes.io/gce-pd": {"delay": 30.0}})
    slow.run()
    loop("design", ["run", "replace both pods", "run"], provisions=False)
    loop("upstream in two turns", ["a turn of the pass", "delete the pod with a claim", "the scheduler sees"])
    finalized = ["add a large pod", "20 steps", "add a finalizer", "delete a pod", "add a node", "run"]
    loop("upstream", ["delete the pod with a claim", *finalized])
    failing = cluster_under("upstream").with_plugin(erring)
    failing.apply(pod("other"))
    failing.run(steps=20)
    failing.apply(large_node())
    failing.run(steps=20)


MEETING = (0, 1, 2, 3, 4, 8, 13, 15, 17, 18, 21, 24, 26, 38, 59, 83)
"""Seeds whose random loops made a move that none before them had made; where they no longer do, others are tried."""


def rows_that_differ(moves):
    """Return the events of the table that these moves do not have with just its sources and targets."""
    made = {row.event: [move for move in moves if move[0] is row.event] for row in QUEUE_MOVES}
    return [row.event for row in QUEUE_MOVES
            if ({source for _, source, _ in made[row.event]}, {target for _, _, target in made[row.event]})
            != (set(row.sources), set(row.targets))]


# --- tests ----------------------------------------------------------------------------------------------------------


@settings(max_examples=settings.default.max_examples // 4, deadline=None)
@given(st.sampled_from(RULES), st.lists(st.sampled_from(sorted(ACTIONS)), max_size=15), st.booleans())
def test_any_loop_makes_only_legal_moves(rules, actions, provisions):
    """Whatever users do between the turns, no move is illegal, and every entry is written by a move."""
    loop(rules, actions, provisions=provisions)


def test_every_row_is_met_and_no_other_move(recorded):
    """Random and directed loops meet every event with every part that it moves from and to."""
    directed_loops()
    for seed in dict.fromkeys((*MEETING, *range(100))):
        random = Random(seed)
        loop(random.choice(RULES), random.choices(sorted(ACTIONS), k=20), provisions=random.random() < 0.5)
        if not (unmet := rows_that_differ(recorded.made)):
            break
    assert recorded.made <= LEGAL_MOVES
    assert [] == unmet


def test_an_illegal_move_raises_and_changes_nothing():
    """A pod that is not in the queue cannot be bound."""
    cluster = cluster_under("upstream")
    process = cluster.world.processes["kube-scheduler"]
    ctx = TurnContext(cluster.world, process, process.component.actors[0])
    with pytest.raises(IllegalMove, match="'node chosen, binding cycle starts' does not move a pod from '' to 'binding'"):
        move_entry(ctx, "default/nobody", QueueEvent.NODE_RESERVED, QueueEntry(queue.BINDING))
    assert ctx.note(queue.QUEUE, "default/nobody") is None


# --- the page -------------------------------------------------------------------------------------------------------


def page():
    """Return the generated part of the page: the moves from part to part, the parts, and the moves one by one."""
    return "\n".join([*move_matrix(), "", *part_table(), "", *move_table(), ""])


def move_matrix():
    """Yield a table with a line for each part, a column for each part, and the numbers of the moves between them."""
    places = (ABSENT, *PARTS)
    yield f"| from ↓ to → | {' | '.join(f'`{part}`' if part else 'out' for part in places)} |"
    yield f"|---|{'---|' * len(places)}"
    for source in places:
        cells = (", ".join(str(number) for number, row in enumerate(QUEUE_MOVES, 1)
                           if source in row.sources and target in row.targets) for target in places)  # fmt: skip
        yield f"| {f'`{source}`' if source else 'out'} | {' | '.join(cells)} |"


def part_table():
    """Yield the parts as a table."""
    yield "| part | a pod in it |"
    yield "|---|---|"
    yield from (f"| `{part}` | {meaning} |" for part, meaning in PARTS.items())


def move_table():
    """Yield the moves as a table."""
    yield "| | event | from | to | in kube-scheduler |"
    yield "|---|---|---|---|---|"
    for number, row in enumerate(QUEUE_MOVES, 1):
        sources, targets = (", ".join(part or "out" for part in parts) for parts in (row.sources, row.targets))
        upstream = f"`{row.upstream}`" if row.upstream else "–"
        yield f"| {number} | {row.event.value} | {sources} | {targets} | {upstream} |"


def test_the_page_shows_the_table():
    """The tables in the docs are those of `QUEUE_MOVES`."""
    text = PAGE.read_text(encoding="utf-8")
    assert text[text.index(START) + len(START) : text.index(END)] == page()
    assert set(PARTS) == {part for row in QUEUE_MOVES for part in (*row.sources, *row.targets)} - {ABSENT}


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(START) + len(START)] + page() + text[text.index(END) :], encoding="utf-8")
