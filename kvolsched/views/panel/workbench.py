"""The gate workbench: patches of a pod as YAML to edit, and what the API server answers to each.

Every patch is tried alone, on a fork of the cluster as it is now; the cluster never changes. A text that is no YAML
keeps the answer to the last one that was, and one line says what is wrong with it.
"""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs
import ipywidgets as widgets

from kvolsched.api.kinds.node import HOSTNAME_LABEL, ZONE_LABELS
from kvolsched.api.text.fault import ManifestError
from kvolsched.core.core import ClusterCore
from kvolsched.questions.may import PatchAnswers, PatchRow, may
from kvolsched.questions.may.changes import block
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.text import escape
from kvolsched.views.pages.may import draw
from kvolsched.views.panel.host import DrawnPanel, Host
from kvolsched.world.manifest_patch import PATCH_KINDS, ManifestPatch

_PLACE = re.compile(r"\bpatch, (?:document \d+, )?")


@attrs.define
class _Draft:
    """One patch of the list: its text, the answer to the last text that could be read, and what is wrong. Mutable.

    A suggested one has a title until it is edited.
    """

    text: str
    title: str = ""
    row: PatchRow | None = None
    error: str = ""

    @property
    def sign(self) -> str:
        return "!" if self.error else "" if self.row is None else "✓" if self.row.allowed else "✕"


class GateWorkbench(DrawnPanel):
    """Patches of a pod to edit, with the API server's answer to each, the nodes before and after, and the witness.

    A number chooses the patch that is edited, its picture follows the text; *Add* begins another one.

        bench = c.may("nightly", edit=True)
        bench                                  # shows it
        bench.text = "spec: {nodeSelector: {topology.kubernetes.io/zone: zone-a}}"
        bench.answers[0].verdict               # what `c.may` answers
        bench.error                            # one line, if the text is no YAML
    """

    def __init__(self, cluster: ClusterCore, pod: str, *patches: Any, kind: str = "merge", width: int = 1000) -> None:
        self.cluster, self.pod = cluster, pod
        ManifestPatch({}, kind)  # refuses a kind that there is not
        self._base = may(cluster, pod)
        self._width, self._quiet, self.place = width, False, 0
        self.drafts = [_Draft(_as_text(patch)) for patch in patches]
        if not patches and kind == "merge":
            self.drafts = [_Draft(_as_text(json.loads(row.patch)), row.title) for row in self._base]
        self.drafts = self.drafts or [_Draft(_first_text(cluster, self._base, kind))]
        self._rule = "" if patches else self._base.rule
        self.host, self.head, self.said = Host(), widgets.HTML(), widgets.HTML()
        self.editor = widgets.Textarea(continuous_update=True).add_class("k-patch")
        self.editor.observe(self._edited, "value")
        self.kind = widgets.Dropdown(options=list(PATCH_KINDS), value=kind, tooltip="as in kubectl patch --type")
        self.kind.add_class("k-choice").observe(lambda _change: self._try_all(), "value")
        self.add = self._small("Add a patch", self.begin)
        self.remove = self._small("Remove", self.drop)
        self.list = widgets.Box().add_class("k-patches")
        self._numbers: list[Any] = []
        super().__init__([self.head, self.list, self.editor, self.said, self.host], of="k-predict")
        self._try_all()

    @property
    def text(self) -> str:
        """The patch that is edited, as YAML; setting it tries it."""
        return self.drafts[self.place].text

    @text.setter
    def text(self, text: str) -> None:
        self.editor.value = text

    @property
    def error(self) -> str:
        """What is wrong with the text that is edited, in one line; "" if it can be read."""
        return self.drafts[self.place].error

    @property
    def patches(self) -> tuple[str, ...]:
        """All patches, as YAML."""
        return tuple(draft.text for draft in self.drafts)

    @property
    def answers(self) -> PatchAnswers:
        """What the API server answers to each patch that can be read."""
        rows = tuple(attrs.evolve(draft.row, title=draft.title) for draft in self.drafts if draft.row is not None)
        suggested = all(draft.title for draft in self.drafts)
        return attrs.evolve(self._base, rows=rows, suggested=suggested, rule=self._rule if suggested else "")

    def begin(self, patch: Any = "") -> None:
        """Add a patch to the list, by default a copy of the one that is edited, and edit it.

        >>> from kvolsched import Cluster
        >>> from kvolsched.make import pod
        >>> bench = Cluster.from_manifests([pod("app", gates=["example.com/queue"])]).may("app", "spec: {}", edit=True)
        >>> bench.begin("spec: {nodeSelector: {zone: a}}")
        >>> len(bench.answers)
        2
        """
        self.drafts.append(_Draft(_as_text(patch) if patch else self.text))
        self._try(self.drafts[-1])
        self.choose(len(self.drafts))

    def drop(self) -> None:
        """Remove the patch that is edited; one always stays.

        >>> from kvolsched import Cluster
        >>> from kvolsched.make import pod
        >>> bench = Cluster.from_manifests([pod("app", gates=["example.com/queue"])]).may("app", "spec: {}", edit=True)
        >>> bench.begin()
        >>> bench.drop()
        >>> len(bench.answers)
        1
        """
        if len(self.drafts) > 1:
            del self.drafts[self.place]
            self.choose(min(self.place + 1, len(self.drafts)))

    def choose(self, number: int) -> None:
        """Edit the patch of this number, from 1.

        Raises:
            ValueError: there is no such patch.

        >>> from kvolsched import Cluster
        >>> from kvolsched.make import pod
        >>> bench = Cluster.from_manifests([pod("app", gates=["example.com/queue"])]).may("app", "spec: {}", edit=True)
        >>> bench.begin("spec: {nodeSelector: {zone: a}}")
        >>> bench.choose(1)
        >>> bench.text
        'spec: {}'
        """
        if not 1 <= number <= len(self.drafts):
            raise ValueError(f"there are {len(self.drafts)} patches; {number} is none of their numbers")
        self.place = number - 1
        self._draw()

    def figure(self) -> Figure:
        """Return what is shown as a picture.

        >>> from kvolsched import Cluster
        >>> from kvolsched.make import pod
        >>> bench = Cluster.from_manifests([pod("app", gates=["example.com/queue"])]).may("app", "spec: {}", edit=True)
        >>> type(bench.figure()).__name__
        'Figure'
        """
        answers, shown = self.answers, self._shown()
        return Figure(lambda width, selection: draw(answers, width, selection, shown), repr(self))

    def _small(self, label: str, pressed: Any) -> Any:
        button = widgets.Button(description=label).add_class("k-btn").add_class("k-plain")
        button.on_click(lambda _button: pressed())
        return button

    def _edited(self, change: dict[str, Any]) -> None:
        if not self._quiet:
            self.drafts[self.place].text, self.drafts[self.place].title = change["new"], ""
            self._try(self.drafts[self.place])
            self._draw()

    def _try_all(self) -> None:
        for draft in self.drafts:
            self._try(draft)
        self._draw()

    def _try(self, draft: _Draft) -> None:
        try:
            with self.cluster.world.lock:
                answers = may(self.cluster, self.pod, draft.text, kind=self.kind.value)
        except ManifestError as error:
            draft.error = _in_the_text(_PLACE.sub("", str(error).splitlines()[-1]), draft.text)
        except ValueError as error:
            draft.error = "nothing is written" if not draft.text.strip() else str(error).partition(": '")[0]
        else:
            draft.error, draft.row = "", answers[0]
            self._base = attrs.evolve(answers, rows=())

    def _message(self, _host: Any, content: dict[str, Any], _buffers: Any) -> None:
        cmd, ref = content.get("cmd"), str(content.get("ref", ""))
        if cmd == "width":
            self._resize(content["px"])
        elif cmd == "select" and ref.startswith("patch/") and ref[6:].isdigit() and int(ref[6:]) <= len(self.drafts):
            self.choose(int(ref[6:]))

    def _shown(self) -> list[tuple[int, PatchRow]]:
        """Return each patch that was read with its number: first the one that is edited."""
        numbers = [number for number, draft in enumerate(self.drafts, 1) if draft.row is not None]
        shown = list(zip(numbers, self.answers, strict=True))
        if self.answers.is_short:  # a row opens where it is
            return shown
        return sorted(shown, key=lambda each: each[0] != self.place + 1)

    def _draw(self) -> None:
        while len(self._numbers) < len(self.drafts):
            self._numbers.append(self._small("", partial(self.choose, len(self._numbers) + 1)))
        shown = self._numbers[: len(self.drafts)]
        for number, (button, draft) in enumerate(zip(shown, self.drafts, strict=True), 1):
            button.description = f"{number} {draft.sign}".strip()
            (button.add_class if number == self.place + 1 else button.remove_class)("k-do")
        self.remove.disabled = len(self.drafts) == 1
        self._quiet = True
        try:
            self.editor.value = self.text
            self.editor.rows = max(4, min(16, self.text.count("\n") + 2))
        finally:
            self._quiet = False
        self.list.children = (*shown, self.add, self.remove, self.kind)
        self.head.value = f'<div class="k-quiz"><b>Patch {escape(self.pod)}</b></div>'
        self.said.value = self._error_html()
        self.host.tick += 1  # what was pressed has its answer
        selected = f"patch/{self.place + 1}" if len(self.drafts) > 1 else ""
        self.host.body = draw(self.answers, self._width, selected, self._shown())

    def _error_html(self) -> str:
        draft = self.drafts[self.place]
        if not draft.error:
            return ""
        kept = " The picture shows the last text that could be read." if draft.row is not None else ""
        return (f'<p class="k-quiz" role="alert"><span class="k-tag">! no YAML</span> {escape(draft.error)}'
                f'<span class="k-who">{kept}</span></p>')  # fmt: skip

    def __repr__(self) -> str:
        drafts = enumerate(self.drafts, 1)
        wrong = (f"patch {number} is no YAML: {draft.error}" for number, draft in drafts if draft.error)
        return "\n".join([repr(self.answers), *wrong])


def _as_text(patch: Any) -> str:
    return patch.strip("\n") if isinstance(patch, str) else "\n".join(block(patch))


def _in_the_text(error: str, text: str) -> str:
    """Return an error whose line is one of the text: what is missing at its end is told of the line after it."""
    found = re.match(r"line (\d+)", error)
    last = max(1, len(text.splitlines()))
    return error.replace(found[0], f"line {min(int(found[1]), last)}", 1) if found else error


def _first_text(cluster: ClusterCore, base: PatchAnswers, kind: str) -> str:
    """Return a patch that narrows a pod to the zone, or the host, of the first node that matches now."""
    first = next(iter(base.before), "")
    nodes = (node for node in cluster.objects("nodes") if node.metadata.name == first)
    labels: Mapping[str, str] = next((node.metadata.labels for node in nodes), {})
    key = next((key for key in (*ZONE_LABELS, HOSTNAME_LABEL) if key in labels), ZONE_LABELS[0])
    value = labels.get(key, "zone-a")
    if kind == "json":
        return "\n".join(block([{"op": "add", "path": "/spec/nodeSelector", "value": {key: value}}]))
    return "\n".join(block({"spec": {"nodeSelector": {key: value}}}))
