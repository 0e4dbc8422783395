"""The container images on nodes and their sizes, by image name; a column per image is built on first use.

Reads `status.images` of nodes only. Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node

from .node_table import Column, NodeTable

MAX_CACHED_IMAGES = 64  # columns; the least recently used is dropped


def images_of(node: Node | None) -> dict[str, int]:
    """Return the bytes of each image in a node's status, by each of the image's names."""
    listed: tuple[Mapping[str, Any], ...] = node.status.rest.get("images", ()) if node is not None else ()
    return {str(name): int(image.get("sizeBytes", 0)) for image in listed for name in image.get("names", ())}


def full_name(image: str) -> str:
    """Return an image name with its tag, which is `latest` if the name has none."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


class Images:
    """The images on nodes. Mutable."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._on: dict[str, dict[str, int]] = {}
        self._columns: dict[str, Column] = {}
        self.version = 0
        """Counts changes of images on nodes."""

    def __bool__(self) -> bool:
        """Say whether any node reports images."""
        return bool(self._on)

    def nodes_with(self, image: str) -> Mapping[str, int]:
        """Return the nodes that have an image, with its bytes."""
        return self._on.get(image, {})

    def sizes(self, image: str) -> NDArray[np.int64]:
        """Return, by row, the bytes of an image; 0 if the node does not have it."""
        column = self._columns.pop(image, None)
        if column is None:
            while len(self._columns) >= MAX_CACHED_IMAGES:
                self._nodes.drop(self._columns.pop(next(iter(self._columns))))
            column = self._nodes.column(np.int64, 0)
            for name, size in self.nodes_with(image).items():
                column.array[self._nodes.row_of[name]] = size
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
        for image in before.keys() - after.keys():
            del self._on[image][name]
            if not self._on[image]:
                del self._on[image]
        for image, size in after.items():
            self._on.setdefault(image, {})[name] = size
        if new is not None:
            row = self._nodes.row_of[name]
            for image, column in self._columns.items():
                column.array[row] = after.get(image, 0)

    def facts(self) -> Mapping[str, Mapping[str, int]]:
        """Return the images and their nodes, for comparing two snapshots."""
        return self._on
