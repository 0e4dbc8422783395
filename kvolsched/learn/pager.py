"""The pager: an incident under names that a reader's name draws; only its symptom is shown, the run judges the cure.

An agent's pod stands on every node, to be harmed, unless the symptom goes with it. No page is without its symptom:
names are drawn again, and at last taken as they are.
"""

import time
from collections import Counter
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any

import attrs

from ..api import make
from ..api.kinds.meta import thaw
from ..api.notebook_output import PrintedAnswer
from ..api.text.yaml_text import packaged_data
from ..api.words import counted
from ..cluster import Cluster
from ..core.results import ApplyRefused
from ..kubectl import CommandOutput
from ..questions.fix.harm import Stars
from ..questions.why import Why, Whys
from ..questions.why.asking import is_pending
from .incidents import Incident, incident
from .incidents.one_incident import Symptom
from .renamed import names_for, number_of, renamed
from .rescue import Rescue
from .scenario import ScenarioError, read_data
from .script_acts import SCRIPT_WORDS, listed
from .templates import ExpectationFailed

TRIES = 8  # sets of names that are drawn
NOT_PLAYED = (ExpectationFailed, ScenarioError, ApplyRefused, LookupError, ValueError)
_numbers: Counter[tuple[str, int]] = Counter()  # how many pages were drawn, of this process: a kernel
done_pages: list["DonePage"] = []  # of this process, as somebody was done with them


@attrs.frozen(repr=False)
class DonePage(PrintedAnswer):
    """A page that somebody is done with; printed, one line to share, then what the page was.

    Args:
        name, level, number: whose page, and which.
        stars: what its acts are worth.
        acts: the commands, each with what its `-f -` read.
        hints: how many hints were taken.
        seconds: how long it took.
        incident: what it was.
        so_far: this reader's pages up to here, in words.
        why: why it waited, in the reader's own sentence.
    """

    name: str
    level: int
    number: int
    stars: Stars
    acts: tuple[tuple[str, str], ...]
    hints: int
    seconds: float
    incident: Incident
    so_far: tuple[str, ...]
    why: str

    @property
    def code(self) -> str:
        """Six digits that name, page and acts make."""
        return sha256(repr((self.name, self.level, self.number, self.acts)).encode()).hexdigest()[:6]

    def __repr__(self) -> str:
        minutes, seconds = divmod(int(self.seconds), 60)
        took = [counted(len(self.acts), "act"), *([counted(self.hints, "hint")] if self.hints else [])]
        head = (f"kvolsched pager {self.name} L{self.level}.{self.number} {self.stars.drawn} {' '.join(took)} "
                f"{minutes}:{seconds:02} #{self.code}")
        lesson = next(lesson for lesson, names in _file()["nearest lesson"].items() if self.incident.name in names)
        return "\n".join([head, self.stars.sentence, f"It was: {self.incident.title}", self.incident.cause,
                          f"nearest lesson: {lesson}; met in: {', '.join(self.incident.sources)}",
                          f"so far: {', '.join(self.so_far)}"])  # fmt: skip


class IncidentPage(Rescue):
    """One page: a cluster with a symptom, freed by kubectl, judged by the run. Mutable.

    Printed it is what kubectl shows of its pods and of those that wait, and nothing else.
    """

    def __init__(self, name: str, level: int, number: int) -> None:
        self.name, self.level, self.number, self.hints = name, level, number, 0
        self._incident = _incident_of(name, level, number)
        self._began = time.monotonic()
        self._wanted = _file()["wanted"].get(self._incident.name, {})
        start, self._cures, self._machines = _drawn(self._incident, self._wanted, name, level, number)
        lacks = _lacking(start, self._wanted)
        super().__init__(start, f"All pods run, and yet: {lacks}." if lacks else "")

    def kubectl(self, command: str, stdin: str = "") -> CommandOutput:
        """Run kubectl: `get` and `describe` only look; after any other command the cluster runs until it is idle.

        A machine that is bought is a Node that is applied; its name begins as those of the page do.
        """
        known, acts = {node.metadata.name for node in self.cluster.objects("nodes")}, len(self.acts)
        done = super().kubectl(command, stdin)
        for node in self.cluster.objects("nodes"):
            name = node.metadata.name
            if len(self.acts) > acts and name not in known and not name.startswith(self._machines):
                self.undo()
                said = f"error: there is no machine {name}: a new one here is called {self._machines}NAME\n"
                return CommandOutput("", said, 1)
        return done

    def hint(self) -> str | Why | Whys:
        """Return the next hint: which objects matter, then why the pods wait."""
        self.hints += 1
        return f"look at: {', '.join(self._incident.kinds)}" if self.hints == 1 else self.why

    def done(self, why: str = "") -> DonePage:
        """Return what the acts are worth, and what the page was; a report has it, and `why` it waited."""
        acts, stars = tuple((act.command, act.stdin) for act in self.acts), self.stars
        pages = {(each.level, each.number): each.stars for each in done_pages if each.name == self.name}
        pages[self.level, self.number] = stars
        so_far = tuple(f"L{level}.{number} {each.drawn}" for (level, number), each in pages.items())
        done_pages.append(DonePage(self.name, self.level, self.number, stars, acts, self.hints,
                                   time.monotonic() - self._began, self._incident, so_far, why))  # fmt: skip
        return done_pages[-1]

    def _judged(self, cluster: Cluster) -> Stars:
        found = super()._judged(cluster)
        lacks = _lacking(cluster, self._wanted)
        return attrs.evolve(found, waiting=(*found.waiting, lacks)) if lacks else found

    def __repr__(self) -> str:
        waiting = (pod.metadata for pod in self.cluster.objects("pods") if is_pending(pod))
        asked = ("get pods -A -o wide", *(f"describe pod {pod.name} -n {pod.namespace}" for pod in waiting))
        shown = Symptom(tuple((f"kubectl {each}", str(self.cluster.kubectl(each)), "") for each in asked))
        return "\n\n".join(filter(None, [self.question, repr(shown), repr(self.stars) if self.acts else ""]))


def page(name: str, level: int = 1, number: int = 0, *, lesson: int = 0) -> IncidentPage:
    """Draw a page of the pager for a reader: a cluster in which something waits, to be freed with `.kubectl(...)`.

    Args:
        name: the reader's; it draws which incident, and all names in it. No incident comes twice in a round.
        level: 1 one rule, 2 two rules together, 3 order and time, 4 all runs, and yet not as its owner wants it.
        number: which page of this level; 0: the next.
        lesson: draw a page that shows this lesson's own rule, of whatever level; for a name always the same one.

    Raises:
        ValueError: there is no such level or lesson.

    >>> p = page("ada")
    >>> p.kubectl("get nodes").code
    0
    """
    level, number = _of_lesson(name, lesson) if lesson else (level, number)
    if level not in _levels():
        raise ValueError(f"there is no level {level}; there are {', '.join(map(str, _levels()))}")
    if not number:
        _numbers[name, level] += 1
        number = _numbers[name, level]
    return IncidentPage(name, level, number)


@cache
def _file() -> Mapping[str, Any]:
    return dict(packaged_data("kvolsched.learn", "incidents", "pages.yaml"))


def _levels() -> Mapping[int, list[str]]:
    """Return the names of the incidents by level."""
    return {int(level): names for level, names in _file()["levels"].items()}


def _incident_of(name: str, level: int, number: int) -> Incident:
    names = _levels()[level]
    turn, place = divmod(number - 1, len(names))
    return incident(sorted(names, key=lambda each: number_of(name, level, turn, each))[place])


def _of_lesson(name: str, lesson: int) -> tuple[int, int]:
    shown = _file()["shows the rule of"]
    if str(lesson) not in shown:
        raise ValueError(f"there is no lesson {lesson}; there are {', '.join(shown)}")
    drawn = min(shown[str(lesson)], key=lambda each: number_of(name, lesson, each))
    return next((level, number) for level, names in _levels().items() for number in range(1, len(names) + 1)
                if _incident_of(name, level, number).name == drawn)  # fmt: skip


def _lacking(cluster: Cluster, wanted: Mapping[str, Any]) -> str:
    """Return what does not hold of what is wanted in the end, in words."""
    try:
        SCRIPT_WORDS["expect"](cluster, wanted)
    except ExpectationFailed as failed:
        return failed.words
    return ""


def _drawn(
    found: Incident, wanted: Mapping[str, Any], *seed: object
) -> tuple[Cluster, list[list[dict[str, Any]]], str]:
    """Return an incident's cluster at its symptom under drawn names, its cures under these, and how machines begin."""
    values = thaw(found.parameters)
    filled = found.scenario.filled(**values)
    scripts = [thaw(attrs.evolve(found.scenario, script=cure.script).filled(**values).script)
               for cure in found.cures if cure.anew is None]  # fmt: skip
    plain = {"revision": filled.revision, "seed": filled.seed, "gates": thaw(filled.gates),
             "components": thaw(filled.components), "manifests": list(filled.manifests),
             "objects": thaw(filled.objects), "script": thaw(filled.script)}  # fmt: skip
    applied = [line.get("apply", []) for script in (plain["script"], *scripts) for line in script]
    objects = [*plain["objects"], *(obj for each in applied for obj in listed(each))]
    for attempt in range(TRIES):
        machines = f"worker-{number_of(*seed, attempt) % 0x1000:03x}-"
        names = names_for(objects, *seed, attempt, machines=machines)
        for agents in (True, False):
            data = renamed(plain, names)
            nodes = [obj["metadata"]["name"] for obj in data["objects"] if obj.get("kind") == "Node"] if agents else ()
            data["objects"] += [make.pod(f"agent-{name}", cpu="0", running_on=name, namespace="kube-system",
                                         tolerations=[{"operator": "Exists"}]) for name in nodes]  # fmt: skip
            try:
                scenario = read_data(data, found.name)
                cluster = scenario.play(scenario.cluster())
            except NOT_PLAYED:
                continue
            if any(is_pending(pod) for pod in cluster.objects("pods")) or _lacking(cluster, wanted):
                return cluster, renamed(scripts, names), machines
    return found.play(), scripts, ""
