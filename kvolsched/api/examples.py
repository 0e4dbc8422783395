"""Example manifests from the design documents, shipped with the package; each names its document and section."""

from __future__ import annotations

from importlib import resources

from .text.manifest import Manifests, read


def example_names() -> tuple[str, ...]:
    """Return the names of the shipped examples, sorted."""
    files = resources.files("kvolsched").joinpath("manifests").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def example(name: str) -> Manifests:
    """Return the objects of one shipped example, such as `zonal-volume-1`.

    Raises:
        KeyError: no example has this name; the message lists the names.
    """
    if name not in example_names():
        raise KeyError(f"no example {name!r}; there are: {', '.join(example_names())}")
    text = resources.files("kvolsched").joinpath("manifests", f"{name}.yaml").read_text(encoding="utf-8")
    return read(text, name=f"{name}.yaml")
