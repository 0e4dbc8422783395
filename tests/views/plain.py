"""Rows of a frame with plain values for what a test does not say: `plain.NodeRow("node/a", "a", cpu=4000)`."""

import attrs

from kvolsched.views import frame as f


def _plain(kind, **values):
    """Return what makes a row: the names and numbers that it is given, and these values for the rest."""
    names = [field.name for field in attrs.fields(kind)]
    return lambda *given, **named: kind(**values | dict(zip(names, given, strict=False)) | named)


Head = _plain(
    f.Head, scenario="", revision="upstream", branch="main", step=0, steps_known=0, gear="steps", time=0.0, actor="",
    actor_id="", sentence="", hot=(), focus="", not_read="",
)  # fmt: skip
NodeRow = _plain(
    f.NodeRow, cpu_used=0, cpu=0, memory_used=0, memory=0, pods_used=0, pods=110, ready=True, unschedulable=False,
    taints=(), verdict="not judged", first=-1, reason="", resolvable=True, score=-1,
)  # fmt: skip
PodRow = _plain(
    f.PodRow, namespace="default", node="", assumed_node="", nominated_node="", state="pending", gates=(),
    in_focus=False, claims=(), cpu=0, memory=0, queue="", wait=0.0,
)  # fmt: skip
ClaimRow = _plain(
    f.ClaimRow, class_name="", mode="", size="", state="pending", selected_node="", assumed_node="", volume="",
    assumed_volume="", pods=(),
)  # fmt: skip
VolumeRow = _plain(f.VolumeRow, class_name="", size="", state="available", reach="all", claim="", assumed_claim="")
VerdictRow = _plain(f.VerdictRow, first=-1, chosen=False)
ChangeRow = _plain(f.ChangeRow, old="", new="")
EventRow = _plain(f.EventRow, count=1, last=0.0)
Cursor = _plain(f.Cursor, pending=0)
Lane = _plain(f.Lane, marks=())
Stop = _plain(f.Stop, family="node", resolvable=True, by_constraint=False)
Landing = _plain(f.Landing, stops=())
SkewRow = _plain(
    f.SkewRow, not_counted=(), left_out="", skew_if_placed=0, fits=True, landing=None, best=None, sum="",
)  # fmt: skip
SkewLedger = _plain(
    f.SkewLedger, min_domains=0, when="DoNotSchedule", selector="", self_match=1, minimum=0, minimum_domain="", limit=0,
    rows=(), subject="", place="", moment="", open=True, plugin="",
)  # fmt: skip
CapacityRow = _plain(f.CapacityRow, published=None, largest_volume=None, age=0.0, expired=False, driver_now=None,
                     fits=False, reason="", driver_largest=None)  # fmt: skip
CapacityLedger = _plain(f.CapacityLedger, rows=(), moment="")
SeriesPane = _plain(f.SeriesPane, reasons=(), has_sum=False)
SeriesRows = _plain(f.SeriesRows, until=0.0, time=0.0, step=0, is_at_end=True, by_step=False)
