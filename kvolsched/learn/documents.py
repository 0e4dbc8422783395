"""What a cell of the documents' notebooks begins with: `from kvolsched.documents import *`.

Names that most cells use, and three functions with which a cell says one thought a line. Nothing else belongs here.
"""

from collections.abc import Callable
from typing import Any

from ..api import make
from ..api.make import *  # noqa: F403 - what manifests are made of
from ..api.text.fault import ManifestError
from ..api.volumes import DESIGN_KEY as SELECTED_NODE
from ..cluster import Cluster
from ..core.results import ApplyRefused
from ..rules.releases.design_documents import design
from ..rules.releases.early_draft import draft
from ..rules.releases.kubernetes_1_36 import upstream
from ..rules.revision import Revision
from .scenario import play, scenario

__all__ = [  # noqa: PLE0604 - with the names of what manifests are made of
    "SELECTED_NODE", "ApplyRefused", "Cluster", "ManifestError", "design", "draft", "play", "ran", "refusal",
    "scenario", "upstream", "where", *make.__all__,
]  # fmt: skip


def ran(*objects: Any, rules: str | Revision = "design", seconds: float = 120, **options: Any) -> Cluster:
    """Return a cluster of these objects after it has run, by default under the documents' rules.

    Args:
        objects: manifests as plain data.
        rules: a revision, or its name.
        seconds: for how long it runs, in simulated time.
        options: what `Cluster.from_manifests` takes beside these.

    >>> where(ran(node("n1"), pod("app")), "app")
    ['n1']
    """
    c = Cluster.from_manifests(list(objects), revision=rules, **options)
    c.run(seconds=seconds)
    return c


def where(c: Cluster, *pods: str) -> list[str]:
    """Return the node of each pod, "" for none."""
    return [c[f"pod/{name}"].spec.node_name for name in pods]


def refusal(act: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return why the API server refuses an act, "" if it allows it.

    >>> refusal(Cluster().apply, pod("App")).partition(": ")[0]
    'Pod "App" is invalid'
    """
    try:
        act(*arguments, **options)
    except (ApplyRefused, ManifestError) as refused:
        return str(refused)
    return ""
