"""A scene: keyed groups at boxes, drawn in layers, with the boxes remembered so that links can end at them."""

from attrs import define, field, frozen

from kvolsched.views.drawing.svg import group, halo, picture, ring


@frozen
class Box:
    """A rectangle of the picture, px."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Return the right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """Return the lower edge."""
        return self.y + self.h


@define
class Scene:
    """A picture while it is drawn: keyed groups, and the boxes that links end at. Mutable."""

    selected: frozenset[str]
    hot: frozenset[str]
    parts: list[tuple[str, str]] = field(factory=list)
    boxes: dict[str, Box] = field(factory=dict)

    def put(self, key: str, box: Box, body: str, *, ref: str = "", label: str = "", radius: float = 7,
            quiet: bool = False) -> None:
        """Add a group at `box`; with a ref it can be selected, and unless quiet it shows that."""
        inner = halo(box.w, box.h, radius) + body if ref in self.hot and not quiet else body
        chosen = ref in self.selected
        if chosen and not quiet:
            inner += ring(box.w, box.h, radius)
        self.parts.append((key, group(key, box.x, box.y, inner, ref=ref, label=label, pressed=chosen)))
        if ref:
            self.boxes.setdefault(ref, box)

    def svg(self, width: float, height: float, label: str) -> str:
        """Return the whole picture; siblings stand in the order of their keys, which begin with their layer."""
        return picture(width, height, "".join(part for _, part in sorted(self.parts)), label)
