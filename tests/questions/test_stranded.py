"""How many pods the design's two passes strand in the loops recorded from Kubernetes 1.11: volumes bound, no node left."""

from pathlib import Path

from kvolsched.api import volumes
from kvolsched.measure.conform import read
from kvolsched.measure.conform.design_loop import play
from kvolsched.rules.named import design
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.world.log import Key

PAGE = Path(__file__).parent.parent.parent / "docs" / "recorded-loops.md"
RECORDED = Path(__file__).parent.parent / "conformance" / "design-loop.jsonl.gz"


def stranded(case):
    """Play a case and give, for each pod that has its volumes and no node left, the plugins that reject first."""
    world, rules, _ = play(case, design())
    world.show()
    objects = world.sim.log.objects
    for plain in case["pods"]:
        meta = plain["metadata"]
        pod = objects[Key("Pod", meta.get("namespace", "default"), meta["name"])]
        claims = [objects.get(Key("PersistentVolumeClaim", pod.metadata.namespace, name)) for name in pod.claim_names()]
        if not pod.spec.node_name and claims and all(claim and volumes.is_bound(claim) for claim in claims):
            judgement = judge(pod, world.cache.snapshot, rules.profile)
            if not judgement.any_feasible:
                yield set(judgement.first_rejecting.values())


def test_two_passes_strand_pods_and_the_page_says_how_many():
    """Nothing is held for a pod while its volumes bind: some find no node in their second pass."""
    loops = [recorded.case for recorded in read(RECORDED)]
    found = [plugins for case in loops for plugins in stranded(case)]
    pods = sum(len(case["pods"]) for case in loops)
    cpu = sum("NodeResourcesFit" in plugins for plugins in found)
    said = PAGE.read_text("utf-8")

    assert (len(loops), pods, len(found), cpu) == (200, 600, 50, 24)
    assert f"Of the {pods} pods in them, **{len(found)} are stranded**" in said
    assert f"For {cpu} of" in said
