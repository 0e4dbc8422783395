"""Why is this pod pending? Which demands together leave no node, who holds what is short, and how to read the event.

Imports and names only: `asking` asks, `answer` holds what is answered, `supplies` knows why a claim has no volume,
`sentences` how to read kube-scheduler's words.
"""

from __future__ import annotations

from .answer import DemandRow, FailureRow, Holding, Why, Whys
from .asking import explain_judgement, pending, why, why_all

__all__ = ["DemandRow", "FailureRow", "Holding", "Why", "Whys", "explain_judgement", "pending", "why", "why_all"]
