"""The table of sentences: every sentence that `decode` knows, in the order in which rows are asked.

`nodes` has what kube-scheduler says of nodes, `pods` what it says of a whole pod, `volumes` the PV controller,
provisioners and the kubelet, `workloads` the other controllers and nodes, `refusals` the API server and kubectl.
"""

from __future__ import annotations

import attrs

from ..meaning import Meaning
from .nodes import NODES
from .pods import PODS
from .refusals import REFUSALS
from .volumes import VOLUMES
from .workloads import AUTOSCALER, WORKLOADS

MEANINGS: tuple[Meaning, ...] = (*NODES, *PODS, *VOLUMES, *WORKLOADS, *REFUSALS)
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

__all__ = ["AUTOSCALER", "CUT", "CUT_SUMMARY", "MEANINGS", "UNKNOWN"]
