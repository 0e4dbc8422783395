"""One function for volumes at the end: predicate, priority and bind right before a pod is bound (S0, rejected)."""

import attrs

from ...api.kinds.pod import Pod
from ...scheduler.framework.extension_points import PostFilterResult
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.ranking import rank
from ...scheduler.loop.binding_flow import Strategy, assume_cache
from ...scheduler.loop.scheduling_cycle import SCHEDULER, SchedulingPass, handle_failure
from ...world.component import TurnContext
from ..named import revision_named
from ..revision import Revision
from .building import Rearranged, based_on, judging_by


@attrs.frozen
class SingleFunctionPass(SchedulingPass):
    """A pass that judges nodes without volumes, then asks about volumes for the best nodes alone, best first."""

    def choose(self, ctx: TurnContext, name: str, judgement: Judgement, number: int) -> str:
        """Return the best node on which the pod can have its volumes; the walk over volumes ends at the first."""
        if not judgement.any_feasible:
            return ""
        totals = rank(judgement).total()
        pod: Pod = judgement.pod
        snapshot, flow = assume_cache(ctx).snapshot, self.flow
        assert isinstance(flow, Strategy)
        for node in sorted(totals, key=lambda each: (-totals[each], each)):
            decision = flow.volume_binding.decide(pod, node, snapshot)
            if not (decision.reasons or decision.error):
                return node
        return ""


    def _handle_no_fit(self, ctx: TurnContext, name: str, pod: Pod, judgement: Judgement,
                       preemption: PostFilterResult) -> None:
        """Report that the function at the end accepts none of the nodes that fit, or why none fits."""
        if not judgement.any_feasible:
            return super()._handle_no_fit(ctx, name, pod, judgement, preemption)
        nodes = ", ".join(judgement.feasible)
        message = f"0/{judgement.seen.size} nodes are available: no volumes for the pod on {nodes}."
        handle_failure(ctx, name, pod, message, rejected_by=("VolumeBinding",))
        return None


def single_function(base: str | Revision = "design") -> Revision:
    """Return rules in which volumes are matched, ranked and bound by one function after all predicates.

    Volumes are walked for few nodes. S0 (One scheduler function) rejects it: preemption asks the predicates again
    without the pods of lower priority, and volumes are none of them. So pods are evicted on a node where the pod that
    needs the room can never have its volume. Preemption is part of these rules, as of every scheduler since 1.8.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("evicted-in-vain", "single_function")
    >>> c.run().ended
    'nothing is left to do'
    >>> "pod/victim" in c, c["pod/app"].spec.node_name
    (False, '')
    """
    profile = revision_named(base).profile.without("VolumeBinding")
    arranged = Rearranged(SCHEDULER, replace=judging_by(SingleFunctionPass))
    return based_on(base, "single_function", profile=profile, arrange=arranged)
