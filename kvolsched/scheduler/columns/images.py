"""Which images the nodes have, and how large they are: by image name, as a column once somebody asks for it.

Reads `status.images` of nodes alone. Mutable; the snapshot alone moves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node

from .node_table import Column, NodeTable

MOST = 64  # columns kept; the one not asked for longest goes first


def images_of(node: Node | None) -> dict[str, int]:
    """Return the bytes of each image that a node says it has, by every name that it goes by."""
    listed: tuple[Mapping[str, Any], ...] = node.status.rest.get("images", ()) if node is not None else ()
    return {str(name): int(image.get("sizeBytes", 0)) for image in listed for name in image.get("names", ())}


def full_name(image: str) -> str:
    """Return an image's name with its tag: `latest`, if it names none."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


class Images:
    """The images on nodes. Mutable."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._on: dict[str, dict[str, int]] = {}
        self._columns: dict[str, Column] = {}

    def __bool__(self) -> bool:
        """Say whether any node tells of its images."""
        return bool(self._on)

    def on(self, image: str) -> Mapping[str, int]:
        """Return, by node name, the bytes of an image on the nodes that have it."""
        return self._on.get(image, {})

    def sizes(self, image: str) -> NDArray[np.int64]:
        """Return, by row, the bytes of an image; 0 where it is not."""
        column = self._columns.pop(image, None)
        if column is None:
            while len(self._columns) >= MOST:
                self._nodes.drop(self._columns.pop(next(iter(self._columns))))
            column = self._nodes.column(np.int64, 0)
            for name, size in self.on(image).items():
                column.now[self._nodes.row_of[name]] = size
        self._columns[image] = column
        return column.now

    def change(self, name: str, old: Node | None, new: Node | None) -> None:
        """Follow a node that has its row now (if it is there at all)."""
        if (old is None or "images" not in old.status.rest) and (new is None or "images" not in new.status.rest):
            return
        if old is not None and new is not None and old.status.rest == new.status.rest:
            return
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
                column.now[row] = after.get(image, 0)

    def meaning(self) -> Mapping[str, Mapping[str, int]]:
        """Return which node has which image, for comparing two snapshots."""
        return self._on
