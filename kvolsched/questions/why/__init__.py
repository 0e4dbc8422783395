"""Why is this pod pending? Names the requirements that exclude every node, and who holds the short resources.

Imports only. `asking` answers, `answer` and `causes` hold the values of the answer about one pod and about many,
`alike` says which pods are judged once,
`demands` finds the requirements and their minimal unsatisfiable core, `clauses` takes a pod's spec apart, `table` ties
the sentence's clauses to nodes and demands and compares in few words, `claim_problems` tells why a claim has no
volume, `on_node` what a placed pod waits for, `sentences` explains kube-scheduler's words.
"""

from .answer import Why
from .asking import explain_judgement, pending, why, why_all
from .causes import Cause, Whys

__all__ = ["Cause", "Why", "Whys", "explain_judgement", "pending", "why", "why_all"]
