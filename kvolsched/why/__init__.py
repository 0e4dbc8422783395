"""Why is this pod pending? Which demands together leave no node, who holds what is short, and how to read the event.

Imports and names only: `asking` asks, `answer` holds what is answered, `supplies` knows why a claim has no volume,
`sentences` how to read kube-scheduler's words.
"""

from __future__ import annotations

from .answer import Demanded, Holding, NodeRow, Why, Whys
from .asking import every, explained, pending, why

__all__ = ["Demanded", "Holding", "NodeRow", "Why", "Whys", "every", "explained", "pending", "why"]
