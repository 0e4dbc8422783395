"""The container images on nodes and their sizes, by image name; a column per image is built on first use.

An image name has one size for all nodes. kube-scheduler (v1.36.2) keeps that of the node which it saw first; here it
is that of the oldest node, so that it is a function of the contents.

Reads `status.images` of nodes only. Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node

from .column import Column
from .node_table import NodeTable


class _Listed(NamedTuple):
    """An image in a node's status: when the node was created, and the image's bytes there."""

    created: str
    size: int


MAX_CACHED_IMAGES = 64  # columns; the least recently used is dropped


def images_of(node: Node | None) -> dict[str, int]:
    """Return the bytes of each image in a node's status, by name; a name that is listed twice has its first size."""
    listed: tuple[Mapping[str, Any], ...] = node.status.rest.get("images", ()) if node is not None else ()
    sizes: dict[str, int] = {}
    for image in listed:
        for name in image.get("names", ()):
            sizes.setdefault(str(name), int(image.get("sizeBytes", 0)))
    return sizes


def full_name(image: str) -> str:
    """Return an image name with its tag, which is `latest` if the name has none."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


class Images:
    """The images on nodes. Mutable."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._on: dict[str, dict[str, _Listed]] = {}
        self._columns: dict[str, Column] = {}
        self.version = 0
        """Counts changes of images on nodes."""
        self._sizes: dict[str, int] = {}

    def __bool__(self) -> bool:
        """Say whether any node reports images."""
        return bool(self._on)

    def nodes_with(self, image: str) -> Collection[str]:
        """Return the nodes that have an image."""
        return self._on.get(image, {}).keys()

    def size(self, image: str) -> int:
        """Return the bytes of an image that some node has: as the oldest such node reports them, by name if alike."""
        size = self._sizes.get(image)
        if size is None:
            size = self._sizes[image] = min((one.created, name, one.size) for name, one in self._on[image].items())[2]
        return size

    def rows_with(self, image: str) -> NDArray[np.bool_]:
        """Return, by row, whether the node has an image."""
        column = self._columns.pop(image, None)
        if column is None:
            while len(self._columns) >= MAX_CACHED_IMAGES:
                self._nodes.drop(self._columns.pop(next(iter(self._columns))))
            column = self._nodes.column(np.bool_, False)
            for name in self.nodes_with(image):
                column.array[self._nodes.row_of[name]] = True
        self._columns[image] = column
        return column.array

    def change(self, name: str, old: Node | None, new: Node | None) -> None:
        """Apply a change of a node, after its row was added or removed."""
        if (old is None or "images" not in old.status.rest) and (new is None or "images" not in new.status.rest):
            return
        if old is not None and new is not None and old.status.rest == new.status.rest:
            return
        self.version += 1
        before, after = images_of(old), images_of(new)
        for image in before.keys() | after.keys() if self._sizes else ():
            self._sizes.pop(image, None)
        for image in before.keys() - after.keys():
            del self._on[image][name]
            if not self._on[image]:
                del self._on[image]
        if new is not None:
            for image, size in after.items():
                self._on.setdefault(image, {})[name] = _Listed(new.metadata.creation_timestamp or "", size)
            row = self._nodes.row_of[name]
            for image, column in self._columns.items():
                column.array[row] = image in after

    def copied(self, nodes: NodeTable) -> Images:
        """Return an independent copy for a copied node table; its columns are built on first use."""
        copy = Images(nodes)
        copy._on = {image: dict(listed) for image, listed in self._on.items()}
        copy._sizes, copy.version = dict(self._sizes), self.version
        return copy

    def facts(self) -> Mapping[str, Mapping[str, object]]:
        """Return the images and their nodes, for comparing two snapshots."""
        return self._on
