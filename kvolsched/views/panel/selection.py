"""What is selected speaks for all tabs: the pod that a selected object is about, and judging it where nobody has."""

from kvolsched.views.drawing.text import escape, name_in_ref
from kvolsched.views.frame import Frame

JUDGE = "judge/now"
"""Ref of the button that judges the pod in focus on a fork."""


def pod_of(frame: Frame, ref: str) -> str:
    """Return the ref of the pod that an object is about: a pod, that of a claim or of a volume's claim; "" for none."""
    if any(pod.ref == ref for pod in frame.pods):
        return ref
    for volume in frame.volumes:
        if volume.ref == ref:
            ref = volume.claim or volume.assumed_claim
    users = next((claim.pods for claim in frame.claims if claim.ref == ref), ())
    return users[0] if users else ""


def judge_button(frame: Frame) -> str:
    """Return the button under an empty table of verdicts, as HTML; "" where there is nothing to judge."""
    focus = frame.head.focus
    if frame.verdicts.rows or not frame.nodes or all(pod.ref != focus for pod in frame.pods):
        return ""
    name = escape(name_in_ref(focus))
    return (
        f'<div class="k-judge"><span class="k-btn k-plain" data-ref="{JUDGE}" role="button" '
        f'aria-label="judge {name} now, on a fork">Judge {name} now</span>'
        '<span class="k-q-label">on a fork: the scheduler learns nothing of it</span></div>'
    )
