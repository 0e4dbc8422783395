"""The gate workbench: which changes of a pod's scheduling directives the API server takes, and what each would select.

`witness` decides whether one pod's directives select a node that another's do not; `workbench` asks the API server on a
fork and compares; `answer` has the result.
"""

from .answer import PatchAnswers, PatchRow
from .witness import Witness, find_witness
from .workbench import may

__all__ = ["PatchAnswers", "PatchRow", "Witness", "find_witness", "may"]
