"""kvolsched: Kubernetes' scheduling and volume binding loop, run in a notebook, step by step, forward and back."""

from . import alternatives, experiments, queueing
from .api.examples import example
from .api.text.fault import ManifestError
from .api.unknown_name import UnknownName
from .check import ClusterCheck, check
from .cluster import Cluster
from .decode import Decoded, decode
from .exercise import exercise
from .exercise import names as exercises
from .ipython_magic import load_ipython_extension, unload_ipython_extension
from .predict import grade
from .results import ApplyRefused, Run, Step
from .revision import Revision, design, draft, upstream
from .scenario import Scenario, play, scenario
from .scenario import scenario_names as scenarios
from .sweep import Sweep, sweep

__version__ = "0.1.0"

__all__ = [
    "ApplyRefused",
    "Cluster",
    "ClusterCheck",
    "Decoded",
    "ManifestError",
    "Revision",
    "Run",
    "Scenario",
    "Step",
    "Sweep",
    "UnknownName",
    "alternatives",
    "check",
    "decode",
    "design",
    "draft",
    "example",
    "exercise",
    "exercises",
    "experiments",
    "grade",
    "load_ipython_extension",
    "play",
    "queueing",
    "scenario",
    "scenarios",
    "sweep",
    "unload_ipython_extension",
    "upstream",
]


def __dir__() -> list[str]:
    """Return what a notebook offers after `kvolsched.`: the public names, and the modules that lessons use."""
    return sorted([*__all__, "__version__", "explore", "make", "writes"])
