"""Random moves of a toy world, as Hypothesis strategies."""

from hypothesis import strategies as st
from world.toy_components import create, pod, relabel

from kvolsched.world.apiserver import Write
from kvolsched.world.log import Key

ACTORS = ("greet", "count", "claim")
COMPONENTS = ("greeter", "counter", "claimer")
NAMES = ("p0", "p1", "p2")


def step(sim):
    """Make a step of the longest waiting component."""
    sim.step()


def fine(sim):
    """Make one turn only."""
    sim.step(turns=True)


def go(actor):
    """Return the move that steps a chosen actor."""
    def go(sim):
        sim.step(actor)
    return go


def user(verb, name):
    """Return the move of a person who creates, changes or deletes a pod."""
    def act(sim):
        key = Key("Pod", "default", name)
        stored = sim.log.objects.get(key)
        if verb == "create":
            sim.perform("user", [create(pod(name))])
        elif verb == "delete":
            sim.perform("user", [Write("delete", key)])
        elif stored is not None:
            sim.perform("user", [relabel(stored, by="user")])
    return act


def refuse(component, nth):
    """Return the move that lets a later write be refused."""
    def act(sim):
        sim.refuse(component, nth)
    return act


def crash(component):
    """Return the move that crashes a component."""
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
    """Make these moves in a world and return it."""
    for move in life:
        move(sim)
    return sim
