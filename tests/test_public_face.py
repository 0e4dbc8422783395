"""Which tests a reader can run is read from their source: through helpers, constants, fixtures and files."""

import public_face
import pytest

FILE = """
import kvolsched
from kvolsched import Cluster
from kvolsched.api import volumes
from kvolsched.world.log import Key
from documents.clusters import cluster, where
import manifests

KEY = [Key]

def peek(c):
    return c.world

def near(c):
    return c["pod/app"]

class Own:
    def __init__(self):
        self._kept = 1

@pytest.fixture
def log(near):
    return peek(near)
"""


@pytest.fixture
def touched(tmp_path):
    """Return what a test of these lines reaches beside the public face."""
    def ask(body, arguments="c", decorator=""):
        path = tmp_path / "test_it.py"
        path.write_text(f"{FILE}\n{decorator}\ndef test_it({arguments}):\n    {body}\n")
        public_face.source.cache_clear()
        return public_face.touches(path, "test_it")
    return ask


@pytest.mark.parametrize("body", [
    "assert near(c)", "assert where(cluster(manifests.node()), 'app')", "Cluster('design')", "kvolsched.scenario('zonal-example')",
    "from kvolsched.explore import Crash", "Own()",
    "raise kvolsched.ApplyRefused(())", "c.step().number",
])
def test_the_public_face_is_for_readers(touched, body):
    """Public names and modules, methods of their values, and the tests' own helpers are all that these use."""
    assert [] == touched(body)


@pytest.mark.parametrize(("body", "reached"), [
    ("c.world.log", [".world"]),
    ("peek(c)", [".world"]),
    ("[peek(each) for each in c]", [".world"]),
    ("c._cache", ["._cache"]),
    ("c.revision.profile.plugin('NodeName')", [".profile"]),
    ("KEY", ["kvolsched.world.log.Key"]),
    ("volumes.selected_node(c)", ["kvolsched.api.volumes"]),
    ("kvolsched.api.volumes.selected_node(c)", ["kvolsched.api"]),
    ("from kvolsched.world import log", ["kvolsched.world.log"]),
    ("from kvolsched.questions.explore.search import Search", ["kvolsched.questions.explore.search.Search"]),
    ("import kvolsched.world.log as logs; logs.Log()", ["kvolsched.world.log"]),
    ("monkeypatch.setattr(c, 'step', None)", ["patches the package"]),
])
def test_looks_inside_are_named(touched, body, reached):
    """A look inside is found wherever it is: in the test, in a helper that it calls, in an import, in a patch."""
    assert reached == touched(body)


def test_fixtures_and_parameters_belong_to_a_test(touched):
    """What a fixture reaches its test reaches, and what its decorator names."""
    assert [".world"] == touched("pass", arguments="log")
    assert ["kvolsched.world.log.Key"] == touched("pass", decorator="@pytest.mark.parametrize('c', KEY)")


def test_the_names_of_the_package_are_read():
    """What `kvolsched` itself offers is taken from its `__all__`."""
    assert {"Cluster", "scenario", "example"} <= public_face.public_names()
