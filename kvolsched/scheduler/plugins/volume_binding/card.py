"""The card of VolumeBinding."""

from ...framework.card import Card, RuleReads
from ...volume_clauses import claims_of_reason, volume_clauses

CARD = Card(
    "V", "storage", "volumes", "where the pod's volumes are or can be made",
    reads=RuleReads(("spec.volumes",), ("metadata.labels",)),
    finds_fault_with_volumes=True,
    clauses=volume_clauses,
    clause_of_reason=claims_of_reason,
)  # fmt: skip
