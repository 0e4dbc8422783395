"""Example manifests from the design documents, shipped with the package; each names its document and section."""

from pathlib import Path

from .text.manifest import Manifests, read
from .unknown_name import UnknownName, nearest
from .words import one_of

FOLDER = Path(__file__).with_name("manifests")
# Examples that are several others together, and short names of the documents' tables.
TOGETHER = {"end-to-end": ("standard", "my-pvc", "my-pod")}
SHORT = {counts: f"spread-{counts}" for counts in ("3-3-0", "1-1-0", "2-1-0", "1-1-1", "2-1-1")}


def example_names() -> tuple[str, ...]:
    """Return the names of the shipped examples, sorted."""
    return tuple(sorted([*TOGETHER, *(file.stem for file in FOLDER.glob("*.yaml"))]))


def example(name: str) -> Manifests:
    """Return the objects of one shipped example, such as `zonal-volume-1`.

    Raises:
        UnknownName: no example has this name; the message lists the nearest names, then all. It is a KeyError.

    >>> example("zonal-volume-1")
    Manifests(1 PersistentVolume)
    >>> example("2-1-1")
    Manifests(3 Node, 4 Pod)
    """
    name = SHORT.get(name, name)
    if name not in example_names():
        near = nearest(name, [*example_names(), *SHORT])
        hint = f": did you mean {one_of(near)}? There" if near else "; there"
        raise UnknownName(f"no example {name!r}{hint} are: {', '.join(example_names())}")
    parts = [FOLDER.joinpath(f"{part}.yaml").read_text(encoding="utf-8") for part in TOGETHER.get(name, (name,))]
    return read("---\n".join(parts), name=f"{name}.yaml")
