"""What a user may do in the panel: each act is a question, its fields, and the line of Python that it stands for.

A line is a method of `Cluster` with its arguments; the panel calls that method, and the line repeats the act anywhere.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from kvolsched.api.unknown_name import UnknownName, did_you_mean

REASONS = ("Conflict", "NotFound", "Forbidden", "Invalid", "Timeout")
MANIFEST = """apiVersion: v1
kind: Pod
metadata: {name: another}
spec:
  containers: [{name: app, image: app, resources: {requests: {cpu: 500m}}}]
"""


@frozen
class Call:
    """A call of one of a cluster's methods; as text the line that makes it."""

    method: str
    args: tuple[Any, ...]
    named: Mapping[str, Any] = field(factory=dict)

    def __str__(self) -> str:
        parts = [*map(literal, self.args), *(f"{name}={literal(value)}" for name, value in self.named.items())]
        return f"c.{self.method}({', '.join(parts)})"

    def on(self, cluster: Any) -> Any:
        """Make the call on a cluster."""
        return getattr(cluster, self.method)(*self.args, **self.named)


def literal(value: Any) -> str:
    """Return a string, number, boolean or mapping as Python source with double quotes."""
    if isinstance(value, str) and "\n" in value:
        escaped = value.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        return f'"""{escaped}"""' if not escaped.endswith('"') else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {literal(each)}" for key, each in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


@frozen
class Field:
    """One thing that an act asks for: `choices` names what there is to choose from, without them it is written."""

    name: str
    label: str = ""
    choices: str = ""
    values: tuple[str, ...] = ()
    default: Any = ""
    takes: tuple[str, ...] = ()  # kinds of the refs on the screen that fill it in
    lines: bool = False  # whether a text has several lines

    def taken_from(self, ref: str) -> str:
        """Return the value that a clicked object means for this field; "" if it means none."""
        kind, _, name = ref.partition("/")
        return "" if kind not in self.takes else name if kind == "node" and self.choices != "object" else ref


@frozen
class PanelAct:
    """An act: its button, its question, its fields, and the call that they make; `needs`: what must exist for it."""

    name: str
    question: str
    fields: tuple[Field, ...]
    call: Callable[[Mapping[str, Any]], Call]
    ends: str  # what follows of it, as a branch is named: "{node} cordoned"
    done: str = ""  # label of the button that does it; by default the name
    needs: str = ""
    forks: bool = False  # whether it begins a branch wherever it is done

    def branch(self, values: Mapping[str, Any]) -> str:
        """Return the name of a branch that begins with this act."""
        return self.ends.format_map({name: str(each).rpartition("=")[2] for name, each in values.items()})


def _words(text: str) -> list[str]:
    found = text.replace(",", " ").split()
    if not found:
        raise ValueError("nothing was written in the field")
    return found


def _number(text: Any) -> float:
    number = float(str(text).strip().removesuffix("s"))
    return int(number) if number.is_integer() else number


def _gate(values: Mapping[str, Any]) -> Call:
    process, _, gate = values["gate"].partition(": ")
    return Call("upgrade", ({gate: values["to"] == "on"}, process))


_NODE = Field("node", choices="node", takes=("node",))
_POD = Field("pod", choices="pod", takes=("pod",))
_OBJECT = Field("object", choices="object", takes=("node", "pod", "pvc", "pv", "sc"))
_COMPONENT, _PROCESS = Field("component", choices="component"), Field("component", choices="process")

ACTS = (
    PanelAct("cordon", "Which node?", (_NODE,), lambda v: Call("cordon", (v["node"],)), "{node} cordoned"),
    PanelAct("uncordon", "Which node?", (Field("node", choices="cordoned", takes=("node",)),),
            lambda v: Call("uncordon", (v["node"],)), "{node} uncordoned", needs="cordoned"),
    PanelAct("taint", "Which node, and which taint? With a final - it is removed.",
            (_NODE, Field("taint", default="dedicated=db:NoSchedule")),
            lambda v: Call("taint", (v["node"], *_words(v["taint"]))), "{node} tainted"),
    PanelAct("label", "Which object, and which label? With a final - it is removed.",
            (_OBJECT, Field("label", default="disk=ssd")),
            lambda v: Call("label", (v["object"], *_words(v["label"])), {"overwrite": True}),
            "{object} labelled"),
    PanelAct("delete", "Which object?", (_OBJECT,), lambda v: Call("delete", (v["object"],)), "{object} deleted"),
    PanelAct("evict", "Which pod?", (_POD,), lambda v: Call("evict", (v["pod"].removeprefix("pod/"),)),
            "{pod} evicted", needs="pod"),
    PanelAct("scale", "Which workload, to how many pods?",
            (Field("workload", choices="workload"), Field("replicas", "replicas", default="3")),
            lambda v: Call("scale", (v["workload"], int(v["replicas"]))),
            "{workload} of {replicas}", needs="workload"),
    PanelAct("ungate", "Which pod's gates?", (Field("pod", choices="gated", takes=("pod",)),),
            lambda v: Call("ungate", (v["pod"].removeprefix("pod/"),)), "{pod} ungated", needs="gated"),
    PanelAct("crash", "Which component? It loses what it remembers and lists everything again.", (_PROCESS,),
            lambda v: Call("crash", (v["component"],)), "{component} crashed"),
    PanelAct("refuse", "Whose next write, and why?",
            (_COMPONENT, Field("nth", "write number", default="1"), Field("reason", values=REASONS)),
            lambda v: Call("refuse", (v["component"],), {"nth": int(v["nth"]), "reason": v["reason"]}),
            "{component} refused", done="refuse it"),
    PanelAct("delay", "Which component, for how many seconds?",
            (_PROCESS, Field("seconds", "seconds", default="5")),
            lambda v: Call("delay", (v["component"], _number(v["seconds"]))), "{component} delayed"),
    PanelAct("stop", "Which nodes? Their kubelets answer nobody.",
            (Field("nodes", choices="stoppable", takes=("node",)),),
            lambda v: Call("stop_nodes", (v["nodes"],)), "{nodes} stopped"),
    PanelAct("start", "Which nodes run again?", (Field("nodes", choices="stopped", takes=("node",)),),
            lambda v: Call("start_nodes", (v["nodes"],)), "{nodes} started",
            needs="stopped"),
    PanelAct("apply", "Which manifest?", (Field("yaml", default=MANIFEST, lines=True),),
            lambda v: Call("apply", (v["yaml"],)), "more applied"),
    PanelAct("rules", "Which rules, and who restarts with them?",
            (Field("rules", choices="rules"), Field("component", choices="restarted")),
            lambda v: Call("upgrade", tuple(filter(None, (v["rules"], v["component"])))),
            "{rules} {component}", done="restart", forks=True),
    PanelAct("gate", "Which feature gate? Its process restarts.",
            (Field("gate", choices="gate"), Field("to", values=("off", "on"))), _gate,
            "{gate} {to}", done="restart", forks=True),
    PanelAct("explore", "Every order of turns from here, for how many seconds? A way to a stuck end becomes a branch.",
            (Field("lag", "lag", values=("none", "ordered", "per kind")), Field("seconds", "seconds", default="10")),
            lambda v: Call("explore", (), {"lag": v["lag"], "seconds": _number(v["seconds"]), "branch": "found"}),
            "", done="search"),
)  # fmt: skip
UNTIL = PanelAct("until", "Play until when? Such as: pod/web-0 Running, pvc/data Bound, pod/web-0 gone.",
                (Field("until", choices="condition"),), lambda v: Call("run", (v["until"],)), "", done="play")
BY_NAME = {act.name: act for act in (*ACTS, UNTIL)}


def act_named(name: str) -> PanelAct:
    """Return the act of this name.

    Raises:
        UnknownName: there is none; the message lists the names. It is a KeyError.
    """
    if name not in BY_NAME:
        raise UnknownName(f"no act {name!r}; there are: {', '.join(BY_NAME)}{did_you_mean(name, BY_NAME)}")
    return BY_NAME[name]


def unused(name: str, taken: Sequence[str]) -> str:
    """Return a name that is not taken: itself, or with a number."""
    name = re.sub(r"\s+", " ", name).strip() or "branch"
    numbered = (name if number == 1 else f"{name} {number}" for number in range(1, len(taken) + 2))
    return next(each for each in numbered if each not in taken)
