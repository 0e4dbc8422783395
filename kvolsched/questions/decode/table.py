"""The table of sentences: every sentence that `decode` knows, in the order in which rows are asked.

The rows lie in `sentences/`: `nodes.yaml` has what kube-scheduler says of nodes, `pods.yaml` what it says of a whole
pod, `volumes.yaml` the PV controller, provisioners and the kubelet, `workloads.yaml` the other controllers and nodes,
`refusals.yaml` the API server and kubectl. A row has who writes its sentences (`from`), the patterns one a line
(`says`; older and newer words of one rule stand together), the `rule`, what `usually` causes it, and the kubectl line
to type `next`; `field_error` and `cases` as in `Meaning`, where each case says how the word `begins`.
"""

from collections.abc import Mapping
from importlib import resources
from typing import Any

import attrs

from ...api.text.manifest import read_plain
from .meaning import Meaning

FILES = ("nodes", "pods", "volumes", "workloads", "refusals")
FIELDS = {"from": "plugin", "says": "sentences", "rule": "rule", "usually": "cause", "next": "next_line",
          "field_error": "field_error", "cases": "cases"}  # fmt: skip
AUTOSCALER = "cluster autoscaler"


def _meaning(row: Mapping[str, Any], writer: str = "") -> Meaning:
    """Return what a row says, or a case of a row of this writer; a name that stands for no field is an error."""
    fields: dict[str, Any] = {"plugin": writer, "sentences": "", "next_line": ""}
    fields |= {FIELDS[name]: value for name, value in row.items() if name != "begins"}
    cases = tuple((case["begins"], _meaning(case, fields["plugin"])) for case in row.get("cases", ()))
    return Meaning(**fields | {"sentences": tuple(fields["sentences"].splitlines()), "cases": cases})


def _rows() -> tuple[Meaning, ...]:
    """Return the rows of all files."""
    texts = resources.files(__package__) / "sentences"
    files = ((texts / f"{name}.yaml").read_text("utf-8") for name in FILES)
    return tuple(_meaning(row) for text in files for row in read_plain(text, "sentences")[0])


MEANINGS = _rows()
CUT = Meaning(
    "",
    (),
    "The sentence was cut here: what else it said is not in the paste.",
    "An event keeps 1,024 characters of a message; tables, chats and alerts shorten it further.",
    "kubectl get events -n <namespace> -o custom-columns=OBJECT:.involvedObject.name,MESSAGE:.message",
)
CUT_SUMMARY = attrs.evolve(
    CUT, next_line="kubectl get pod <pod> -n <namespace> -o jsonpath='{.status.conditions[*].message}'"
)
UNKNOWN = Meaning(
    "",
    (),
    "Unknown: this clause is in no row of the table.",
    "A plugin, driver or webhook of your own cluster, or another release, may write it.",
    "",
)
