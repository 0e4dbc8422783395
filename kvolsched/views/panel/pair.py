"""Two runs side by side: moved together, by step or by time, and drawn in halves with what differs marked in both."""

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any
from xml.etree import ElementTree as ET

from attrs import evolve

from kvolsched.api.words import counted
from kvolsched.views.drawing.svg import num, path
from kvolsched.views.drawing.text import escape
from kvolsched.views.frame import Frame
from kvolsched.views.pages import differences as picture
from kvolsched.views.pages.differences import Differences, differences
from kvolsched.views.panel.acts import Call
from kvolsched.views.panel.driver import ClusterDriver
from kvolsched.views.pictures.map_cards import NO_VOLUME
from kvolsched.views.pictures.map_tray import NONE_WAITS

BESIDE, BETWEEN = 1100, 16
"""From this width on the halves stand beside each other; the gap between them, px."""
MOST_STEPS = 1_000
WAYS = ("step", "time")
_OF_ALL = {NONE_WAITS: "Nothing that waits differs.", NO_VOLUME: "no volume differs"}
"""What a map says of all objects, and what it says where it shows only those that differ."""

_MOVED = re.compile(r"translate\(([-\d.]+)(?:px)?[ ,]+([-\d.]+)")
_NUMBERED = re.compile(r'data-ref="step/(\d+)"[^>]*><text x="([\d.]+)" y="([\d.]+)"')
_HEIGHT = re.compile(r'<svg[^>]* height="([\d.]+)"')


class Pair(ClusterDriver):
    """Two clusters as one driver: what moves the first moves the second too. Mutable: it moves both.

    Args:
        left: the panel's cluster, on which the user acts.
        right: the other one.
        align: "step": both make the same number of steps; "time": the second goes as far as the clock of the first.
        stay: both stay where they are until they are moved.
    """

    def __init__(self, left: ClusterDriver, right: ClusterDriver, align: str = "step", *, stay: bool = False) -> None:
        super().__init__(left.cluster, tell=left.tell)
        self.left, self.right, self.align, self.script = left, right, align, left.script
        self.halves: tuple[Frame, Frame] = (Frame(), Frame())
        self.at = self._reached() if stay else left.place()[0]
        if not stay:
            self._follow()

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called: by what tells them apart, their branches, their rules or their names."""
        clusters = self.left.cluster, self.right.cluster
        ways = ([cluster.world.branch for cluster in clusters], [cluster.revision.name for cluster in clusters],
                [cluster.name for cluster in clusters], ["this", "the other"])  # fmt: skip
        left, right = next(way for way in ways if way[0] != way[1])
        return left, right

    def differences(self) -> Differences:
        """Return what differs now."""
        return differences(self.left.cluster, self.right.cluster, self.names)

    def frame(self, focus: str = "", *, judge: bool = False, most: int | None = None) -> Frame:
        """Return the first cluster's frame, with the steps that are known of both; `halves` are their own."""
        left = self.left.frame(focus, judge=judge, most=most)
        there = focus if focus in {pod.ref for pod in left.pods} else ""
        right = self.right.frame(there, judge=judge, most=most if left.next else None)
        self.halves = (left, right)
        known = max(left.head.steps_known, right.head.steps_known)
        one, other = self.names
        whose = ("both" if self.align == "step" else one, one, one if left.next or not right.next else other)
        head = evolve(left.head, step=min(max(self.at, left.head.step), known), steps_known=known, of_pair=whose)
        return evolve(left, head=head, next=left.next or right.next)

    def step(self, actor: str | None = None) -> None:
        """Let the first one step, by the actor if one is named, and the second one follow; at its end only that."""
        before, others = self.left.place(), bool(actor) and all(row.actor != actor for row in self.halves[0].next)
        if not others:
            self.left.step(actor)
        if others or (self.align == "time" and self.left.place() == before):
            self.right.step(actor if others else None)
        else:
            self.at = max(self.left.place()[0], self.at + 1)
            self._follow()
        self.at = self._reached()

    def back(self) -> None:
        """Go one step back with both; where one has ended, the other one goes alone until they meet."""
        self.goto(max(0, self.at - 1))

    def goto(self, step: int) -> None:
        """Go to a step, each as far as it is known."""
        self.left.goto(min(step, self.left.place()[1]))
        if self.align == "step":
            self.right.goto(min(step, self.right.place()[1]))
        else:
            self._follow()
        self.at = self._reached()

    def run(self) -> None:
        """Run both to their ends."""
        self.left.run()
        self.right.run()
        self.at = self._reached()

    def _reached(self) -> int:
        """Return the step that is shown: that of who is further, by time that of the first one."""
        return max(each.place()[0] for each in (self.left, self.right)[: 2 if self.align == "step" else 1])

    def _follow(self) -> None:
        """Bring the second one to where the first one is."""
        if self.align == "time":
            _go_to_time(self.right, self.left.cluster.now)
            return
        _, known = self.right.place()
        self.right.goto(min(self.at, known))
        for _ in range(self.at - known):
            before = self.right.place()
            self.right.step()
            if self.right.place() == before:
                break

    def gear(self, unit: str) -> None:
        """Count in "steps" or in "turns"."""
        self.left.gear(unit)
        self.right.gear(unit)

    def switch(self, branch: str) -> None:
        self.left.switch(branch)
        step, _ = self.left.place()
        self.goto(step)

    def perform(self, call: Call, branch: str = "", *, forks: bool = False) -> str:
        """Let the user act on the first one."""
        said = self.left.perform(call, branch, forks=forks)
        self.at, _ = self.left.place()
        self._follow()
        return said


def _go_to_time(driver: ClusterDriver, now: float) -> None:
    """Go to the last step that is over at a time, further than what is known if need be."""
    world = driver.cluster.world
    times = {turn.step: turn.time for turn in world.turns if not turn.quiet}
    driver.goto(max((step for step, time in times.items() if time <= now and step <= world.known_steps), default=0))
    for _ in range(MOST_STEPS):
        before = world.step_number
        if before == world.known_steps:
            driver.step()
        if driver.cluster.now > now:
            driver.goto(before)
        if world.step_number == before:
            return


def views(pair: Pair, draw: Callable[[Frame, int, str], dict[str, str]], width: int, selection: str, *,
          only: bool = False) -> dict[str, str]:  # fmt: skip
    """Draw every view of both in halves, marked where they differ, and the table of the differences.

    `draw` draws the views of one frame at a width; with `only` the maps leave out what is alike in both.
    """
    found = pair.differences()
    beside = width >= BESIDE
    half = (width - BETWEEN) // 2 if beside else width
    differing = tuple(sorted({row.ref for row in found.rows}))
    shown = only_differing(pair.halves, differing) if only else pair.halves
    drawn = [draw(evolve(frame, head=evolve(frame.head, hot=differing)), half, selection) for frame in shown]
    for number, each in enumerate(drawn):
        each["sentence"] = _head(pair.halves[number], found, number) + each["sentence"]
        each["map"] = _with_signs(each["map"]) if not only or any(map(is_drawn, shown)) else ""
        each["lanes"] = _with_fork(each["lanes"], found)
        if not beside:  # each sentence stands over its own map
            each["sentence"], each["map"] = "", each["sentence"] + each["map"]
    kind = "k-pair" if beside else "k-pair k-stacked"
    both = {
        name: f'<div class="{kind}">' + "".join(f'<div class="k-half">{each[name]}</div>' for each in drawn) + "</div>"
        for name in ("sentence", "map", "lanes")
    }
    if only:
        for said, meant in _OF_ALL.items():
            both["map"] = both["map"].replace(f">{said}<", f">{meant}<")
        both["map"] = f'<p class="k-q-label" role="status">{hidden_words(pair.halves, shown)}</p>{both["map"]}'
    return both | {"side": "", "body": f'<div class="k-box">{picture.draw(found, width - 22, selection)}</div>'}


def reading(pair: Pair, one: Callable[[Frame], str]) -> str:
    """Return both as text, and what differs."""
    names = pair.names
    parts = [f"{name}: {_end(frame)}\n{one(frame)}" for name, frame in zip(names, pair.halves, strict=True)]
    return "\n\n".join([*parts, picture.reading(pair.differences())])


def _head(frame: Frame, found: Differences, number: int) -> str:
    """Return the line above a half: its name, what it did after the last common step, and how its pods end."""
    then = found.then[number] or "nothing more yet"
    since = f"alike until step {found.alike}, then: {then}" if found.rows or any(found.then) else "alike so far"
    family = "ok" if all(pod.node for pod in frame.pods) else "storage"
    return (
        f'<div class="k-half-head"><span class="k-badge">branch <b>{escape(found.names[number])}</b></span>'
        f'<span class="k-who">{escape(since)}</span><b class="k-end-{family}">{escape(_end(frame))}</b></div>'
    )


def _end(frame: Frame) -> str:
    """Return in words how the pod in focus stands, or how many of several run; and whether that is the end."""
    idle = "" if frame.next else ", stays so"
    if len(frame.pods) != 1:
        placed = sum(bool(pod.node) for pod in frame.pods)
        return f"{placed} of {len(frame.pods)} pods have a node" + (idle if placed < len(frame.pods) else "")
    [pod] = frame.pods
    return f"{pod.name} {pod.state} on {pod.node}" if pod.node else f"{pod.name} {pod.state}{idle}"


def _with_signs(drawn: str) -> str:
    """Return a map with the sign of a difference on the corner of every halo, above all that is drawn."""
    front, end, rest = drawn.rpartition("</svg>")
    try:
        signs = "".join(picture.small_badge(x, y) for x, y in _corners(ET.fromstring(drawn), 0.0, 0.0))  # noqa: S314
    except ET.ParseError:  # a sentence in place of a map
        return drawn
    return front + signs + end + rest


def _corners(element: ET.Element, x: float, y: float) -> Iterator[tuple[float, float]]:
    """Yield the lower right corners of all halos, in the picture's coordinates."""
    moved = _MOVED.search(element.get("style", "") + element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.get("class") == "k-hot":
        place = (float(element.get(name, 0)) for name in ("x", "y", "width", "height"))
        left, top, wide, high = place
        yield x + left + wide, y + top + high
    for child in element:
        yield from _corners(child, x, y)


def _with_fork(lanes: str, found: Differences) -> str:
    """Draw a dotted line in the lanes behind the last step that both have in common."""
    places = sorted((int(step), float(x), float(y)) for step, x, y in _NUMBERED.findall(lanes))
    if len(places) < 2 or not found.rows:
        return lanes
    (first, x0, y), (last, x1, _) = places[0], places[-1]
    if not first <= found.alike < last:
        return lanes
    x = x0 + (found.alike + 0.5 - first) * (x1 - x0) / (last - first)
    high = _HEIGHT.search(lanes)
    bottom = float(high[1]) - 24 if high else y + 60
    front, end, rest = lanes.partition("</svg>")
    return f"{front}{path(f'M{num(x)} {num(y)}V{num(bottom)}', 'k-fork')}{picture.small_badge(x, y + 7)}{end}{rest}"


_COUNTED = {"nodes": "node", "pods": "pod", "claims": "claim", "volumes": "volume"}


def only_differing(halves: tuple[Frame, Frame], differing: Iterable[str]) -> tuple[Frame, ...]:
    """Return both frames with the nodes, pods, claims and volumes that differ, by ref, and the nodes of such pods."""
    kept = set(differing)
    for name in _COUNTED:
        rows, others = ({row.ref: row for row in getattr(half, name)} for half in halves)
        kept |= {ref for ref in rows.keys() | others.keys() if rows.get(ref) != others.get(ref)}
    for half in halves:
        kept |= {pod for claim in half.claims if claim.ref in kept for pod in claim.pods}
    places = {place for half in halves for pod in half.pods if pod.ref in kept
              for place in (pod.node, pod.assumed_node, pod.nominated_node)}  # fmt: skip
    kept |= {node.ref for half in halves for node in half.nodes if node.name in places}
    return tuple(_filtered(half, kept) for half in halves)


def hidden_words(halves: tuple[Frame, ...], shown: tuple[Frame, ...]) -> str:
    """Return in a sentence what both halves have alike and do not show."""
    gone = {one: len(getattr(halves[0], name)) - len(getattr(shown[0], name)) for name, one in _COUNTED.items()}
    named = ", ".join(counted(number, one) for one, number in gone.items() if number)
    if not any(map(is_drawn, shown)):
        return f"Nothing differs on the map: {named or 'there is no object'}, alike in both."
    return f"Hidden, for they are alike in both: {named}." if named else "Nothing is alike in both: all is shown."


def is_drawn(half: Frame) -> bool:
    """Say whether a map has anything to show."""
    return any(getattr(half, name) for name in _COUNTED)


def _filtered(half: Frame, kept: AbstractSet[str]) -> Frame:
    rows: dict[str, Any] = {name: tuple(r for r in getattr(half, name) if r.ref in kept) for name in _COUNTED}
    rows["pods"] = tuple(evolve(pod, claims=tuple(c for c in pod.claims if c in kept)) for pod in rows["pods"])
    classes = {claim.class_name for claim in rows["claims"]}
    rows["classes"] = tuple(row for row in half.classes if row.ref in kept or row.name in classes)
    return evolve(half, **rows)
