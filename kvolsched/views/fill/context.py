"""What all tables of one frame share: objects by kind, assumed objects, turns of the step, the judged pass.

It reads the engine and stores nothing: a `FrameContext` lives while one frame is filled.
"""

from functools import cached_property
from operator import itemgetter
from typing import Any

from attrs import define, frozen

from ...core.component_names import DISPLAY_NAMES
from ...core.core import ClusterCore
from ...questions.explain import Pass, judge_last_pass, last_pass
from ...rules.revision import Revision
from ...scheduler.loop.assume_cache import ASSUMED, key_of_note
from ...scheduler.loop.binding_flow import WORKER
from ...scheduler.loop.evictor import EVICTOR
from ...scheduler.loop.scheduling_cycle import PASS
from ...scheduler.requests import pod_requests
from ...world.apiserver import key_for, ref
from ...world.history import Turn
from ...world.log import Key
from ..frame import Verdicts

LABELS = DISPLAY_NAMES | {
    PASS: "scheduler · pass",
    WORKER: f"scheduler · {WORKER}",
    EVICTOR: f"scheduler · {EVICTOR}",
    "persistentvolume claims": "PV controller · claims",
    "persistentvolume volumes": "PV controller · volumes",
    "persistentvolume operations": "PV controller · operations",
}


def label_of(actor: str) -> str:
    """Return an actor's name as people read it."""
    return LABELS.get(actor, actor)


NodeVerdict = tuple[str, int, str, bool]
"""The verdict on a node: its word, the index of the first plugin that rejects, the reasons, resolvable."""


@frozen
class PassRows:
    """What frames show of a pass: plain rows, without the pass."""

    verdicts: Verdicts
    of_node: dict[str, NodeVerdict]
    totals: dict[str, int]  # scores of the nodes that fit


@define
class JudgedPass:
    """What was read of the pass that was judged again last, for frames that follow each other. Mutable.

    A pass is identified by its turn and by the revision: judging it once more would give the same.
    """

    turn: Turn | None = None
    revision: Revision | None = None
    rows: PassRows | None = None


class FrameContext:
    """The present place of a cluster, while a frame is filled from it; `frame_of` has the options.

    Ledgers are about the moment `at`: "now", "pass" or a step.
    """

    def __init__(self, cluster: ClusterCore, focus: str = "", selected: str = "", *, judge: bool = False,
                 judged: JudgedPass | None = None, at: str | int = "now") -> None:
        self.cluster, self.at = cluster, at
        self.judge = judge
        self.judged = JudgedPass() if judged is None else judged
        self.selected = selected
        self.world = cluster.world
        self.objects = self.world.log.objects
        self.notes = self.world.log.notes
        self.step = self.world.step_number
        self._requests: dict[int, tuple[int, int]] = {}  # by the identity of a spec, which the objects hold
        self._sorted: dict[str, list[tuple[Key, Any]]] = {}
        self.by_kind = self.world.log.by_kind()
        self.focus = self._focus(focus)

    def of(self, kind: str) -> list[tuple[Key, Any]]:
        """Return keys and objects of a kind, sorted by key."""
        found = self._sorted.get(kind)
        if found is None:
            found = self._sorted[kind] = sorted(self.by_kind.get(kind, ()), key=itemgetter(0))
        return found

    def requests(self, pod: Any) -> tuple[int, int]:
        """Return the cpu (millicores) and memory (bytes) that a pod requests."""
        found = self._requests.get(id(pod.spec))
        if found is None:
            of_pod = pod_requests(pod.spec)
            found = self._requests[id(pod.spec)] = of_pod.cpu, of_pod.memory
        return found

    @cached_property
    def claims_of_pods(self) -> dict[Key, tuple[str, ...]]:
        """Return the refs of the claims of each pod that has any, in the order of its volumes; sorted by pod."""
        return {key: tuple([ref(Key("PersistentVolumeClaim", key.namespace, name)) for name in names])
                for key, pod in self.of("Pod") if (names := [*pod.claim_names()])}  # fmt: skip

    @cached_property
    def assumed(self) -> dict[Key, Any]:
        """Return the objects of the scheduler's assume cache that the API does not have yet."""
        return {key_of_note(note.name): value for note, value in self.notes.items() if note.sort == ASSUMED}

    @cached_property
    def turns(self) -> list[Any]:
        """Return the turns of the present step."""
        place = self.world.place
        return [turn for turn in self.world.history.turns_of(self.step) if turn.end <= place]

    @cached_property
    def passed(self) -> Pass | None:
        """Return the last pass over the pod in focus, judged again at its place; None when there was none."""
        if self.focus is None or (self.last_turn is None and not self.judge):
            return None
        return judge_last_pass(self.cluster, self.focus)

    @cached_property
    def last_turn(self) -> Turn | None:
        """Return the turn of the last pass over the pod in focus; None when there was none."""
        return last_pass(self.cluster, self.focus) if self.focus is not None else None

    def _focus(self, focus: str) -> Key | None:
        if focus:
            return key_for(focus)
        turn = last_pass(self.cluster)
        if turn is not None:
            namespace, _, name = turn.cause.partition("/")
            return Key("Pod", namespace, name)
        return next((key for key, pod in self.of("Pod") if not pod.spec.node_name), None)
