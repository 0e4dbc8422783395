"""Random lives of a toy world: what may happen to it, as Hypothesis strategies."""

from hypothesis import strategies as st
from world.toys import create, pod, relabel

from kvolsched.world.apiserver import Write
from kvolsched.world.log import Key

ACTORS = ("greet", "count", "claim")
COMPONENTS = ("greeter", "counter", "claimer")
NAMES = ("p0", "p1", "p2")


def step(sim):
    """Whoever has waited longest."""
    sim.step()


def fine(sim):
    """One turn only."""
    sim.step(turns=True)


def go(actor):
    """A chosen actor."""
    def go(sim):
        sim.step(actor)
    return go


def user(verb, name):
    """A person creates, changes or deletes a pod."""
    def act(sim):
        key = Key("Pod", "default", name)
        here = sim.log.objects.get(key)
        if verb == "create":
            sim.perform("user", [create(pod(name))])
        elif verb == "delete":
            sim.perform("user", [Write("delete", key)])
        elif here is not None:
            sim.perform("user", [relabel(here, by="user")])
    return act


def refuse(component, nth):
    """A write to come is refused."""
    def act(sim):
        sim.refuse(component, nth)
    return act


def crash(component):
    """A component starts anew."""
    def act(sim):
        sim.crash(component)
    return act


forward = st.one_of(
    st.just(step), st.just(step), st.just(fine), st.sampled_from(ACTORS).map(go),
    st.builds(user, st.sampled_from(["create", "delete", "relabel"]), st.sampled_from(NAMES)),
    st.builds(refuse, st.sampled_from(COMPONENTS), st.integers(1, 3)),
    st.sampled_from(COMPONENTS).map(crash),
)
lives = st.lists(forward, max_size=25)


def live(sim, life):
    """Let all that happen to a world; returns it."""
    for move in life:
        move(sim)
    return sim
