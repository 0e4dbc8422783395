"""Why is this pod pending? Names the requirements that exclude every node, and who holds the short resources.

Imports only. `asking` answers, `answer` holds the answer's values, `demands` finds the requirements and their minimal
unsatisfiable core, `clauses` takes a pod's spec apart, `claim_problems` tells why a claim has no volume, `sentences`
explains kube-scheduler's words.
"""

from __future__ import annotations

from .answer import DemandRow, FailureRow, Holding, Why, Whys
from .asking import explain_judgement, pending, why, why_all

__all__ = ["DemandRow", "FailureRow", "Holding", "Why", "Whys", "explain_judgement", "pending", "why", "why_all"]
