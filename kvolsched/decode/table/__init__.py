"""The table of sentences: every sentence that `decode` knows, in the order in which rows are asked.

`nodes` has what kube-scheduler says of nodes, `pods` what it says of a whole pod, `volumes` the PV controller,
provisioners and the kubelet, `workloads` the other controllers and nodes, `refusals` the API server and kubectl.
"""

from __future__ import annotations

from ..meaning import Meaning
from .nodes import NODES
from .pods import PODS
from .refusals import REFUSALS
from .volumes import VOLUMES
from .workloads import WORKLOADS

MEANINGS: tuple[Meaning, ...] = (*NODES, *PODS, *VOLUMES, *WORKLOADS, *REFUSALS)
CUT = Meaning(
    "kube-scheduler",
    (),
    "The message is longer than an event may be and was cut here.",
    "Many different reasons, or long names, in one sentence.",
    "kubectl get pod <pod> -n <namespace> -o jsonpath='{.status.conditions}'",
)
UNKNOWN = Meaning(
    "",
    (),
    "Unknown: this clause is in no row of the table.",
    "A plugin, driver or webhook of your own cluster, or another release, may write it.",
    "",
)

__all__ = ["CUT", "MEANINGS", "UNKNOWN"]
