"""kvolsched: Kubernetes' scheduling and volume binding loop, run in a notebook, step by step, forward and back.

Every public name is imported when it is first asked for: `import kvolsched` alone loads no room.
"""

import gc
import sys
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .rules.registry import LATER_REVISIONS

if TYPE_CHECKING:
    from .api.examples import example
    from .api.text.fault import ManifestError
    from .api.unknown_name import UnknownName
    from .cli.ipython_magic import load_ipython_extension, unload_ipython_extension
    from .cluster import Cluster
    from .core.dial_list import dials
    from .core.results import ApplyRefused, Run, Step
    from .learn import alternatives, queueing
    from .learn.ask import ask
    from .learn.attempt import attempt
    from .learn.class_report import grade, report
    from .learn.exercise import exercise
    from .learn.exercise import names as exercises
    from .learn.incidents import Incident, incident, incidents
    from .learn.night import exam, rescue
    from .learn.pager import page
    from .learn.said import Statement, Statements, said
    from .learn.scenario import Scenario, play, scenario
    from .learn.scenario import scenario_names as scenarios
    from .measure import experiments
    from .measure.check import ClusterCheck, check
    from .measure.differ import RuleDifference, differ, known_differences
    from .measure.sweep import Sweep, sweep
    from .questions.decode import Decoded, decode
    from .questions.predict import NotAnswered
    from .rules.releases.design_documents import design
    from .rules.releases.early_draft import draft
    from .rules.releases.kubernetes_1_36 import upstream
    from .rules.revision import Revision

__version__ = "0.2.0"

__all__ = [
    "ApplyRefused", "Cluster", "ClusterCheck", "Decoded", "Incident", "ManifestError", "NotAnswered", "Revision",
    "RuleDifference", "Run", "Scenario", "Statement", "Statements", "Step", "Sweep", "UnknownName", "alternatives",
    "ask", "attempt", "check", "decode", "design", "dials", "differ", "draft", "exam", "example", "exercise",
    "exercises", "experiments", "grade", "incident", "incidents", "known_differences", "load_ipython_extension", "page",
    "play", "queueing", "report", "rescue", "said", "scenario", "scenarios", "sweep", "unload_ipython_extension",
    "upstream",
]  # fmt: skip

_PLACES = {  # module -> the public names that it has; a name with = stands there under another one
    "api.examples": "example",
    "api.text.fault": "ManifestError",
    "api.unknown_name": "UnknownName",
    "learn.ask": "ask",
    "learn.attempt": "attempt",
    "measure.check": "ClusterCheck check",
    "cluster": "Cluster",
    "questions.decode": "Decoded decode",
    "measure.differ": "RuleDifference differ known_differences",
    "learn.class_report": "grade report",
    "learn.exercise": "exercise exercises=names",
    "learn.incidents": "Incident incident incidents",
    "learn.night": "exam rescue",
    "learn.pager": "page",
    "learn.said": "Statement Statements said",
    "cli.ipython_magic": "load_ipython_extension unload_ipython_extension",
    "questions.predict": "NotAnswered",
    "core.dial_list": "dials",
    "core.results": "ApplyRefused Run Step",
    "rules.named": "design draft upstream",
    "rules.revision": "Revision",
    "learn.scenario": "Scenario play scenario scenarios=scenario_names",
    "measure.sweep": "Sweep sweep",
}
_PLACE_OF = {
    public: (module, there or public)
    for module, names in _PLACES.items()
    for public, _, there in (name.partition("=") for name in names.split())
}
_SHORT_NAMES = {  # modules that people import without their room; beside this file stands a stub of each, for mypy
    "alternatives": "learn.alternatives",
    "custom_scheduler": "rules.custom_scheduler",
    "documents": "learn.documents",
    "experiments": "measure.experiments",
    "explore": "questions.explore",
    "make": "api.make",
    "queueing": "learn.queueing",
    "scenario": "learn.scenario",
    "widgets": "views.widgets",
    "writes": "controllers.custom_controller.writes",
}
_ALTERNATIVES = (
    *("place_first", "late_binder", "bind_in_pv_controller", "bind_in_kubelet", "bind_in_scheduler", "extender"),
    *("single_function", "quota_by_topology", "spread_by_affinity_terms", "spread_inside_affinity", "lax_updates"),
    *("added_terms", "affinity_at_creation", "list_of_topologies"),
)


def _alternative(name: str) -> Any:
    """Return a rejected design by its name."""
    return import_module(f"{__name__}.rules.alternatives").ALTERNATIVES[name]()


LATER_REVISIONS.update({name: partial(_alternative, name) for name in _ALTERNATIVES})


class _ShortNames:
    """Finds `kvolsched.make`, and modules below such a name, in their room: both names are one module."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        package, _, rest = name.partition(".")
        short, dot, below = rest.partition(".")
        if package != __name__ or short not in _SHORT_NAMES:
            return None
        loader: Any = self  # by its methods: to import the base class takes longer than the package
        return ModuleSpec(name, loader, origin=f"{__name__}.{_SHORT_NAMES[short]}{dot}{below}")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(str(spec.origin))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the module keeps its own name


class _Package(ModuleType):
    """The package: a public function is not replaced by a module that is imported under its name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in _PLACE_OF):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # functions that use it travel to other processes


sys.modules[__name__].__class__ = _Package
sys.meta_path.insert(0, _ShortNames())  # before that which would read a file again, under the other name


def _draw_without_cluster(answer: Any) -> Any:
    import_module(f"{__name__}.cluster")  # which says how answers are drawn
    return answer.figure()


def __getattr__(name: str) -> Any:
    """Import a public name, or a module, when it is first asked for."""
    if name in _PLACE_OF:
        module, there = _PLACE_OF[name]
        collects = gc.isenabled()
        gc.disable()  # hundreds of classes are made, and none is garbage
        try:
            value = getattr(import_module(f"{__name__}.{module}"), there)
        finally:
            if collects:
                gc.enable()
        if name == "decode" and f"{__name__}.cluster" not in sys.modules:
            import_module(f"{__name__}.api.notebook_output").draw_with(_draw_without_cluster)
        globals()[name] = value
        return value
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as missing:
        if missing.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    """Return what a notebook offers after `kvolsched.`: the public names, and the modules that lessons use."""
    return sorted([*__all__, "__version__", "explore", "make", "widgets", "writes"])
