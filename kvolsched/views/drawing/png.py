"""PNG in few bytes: a stored notebook holds many pictures, and their writer compresses for speed.

A drawing has a few flat colours and the shades at the edges of its letters: 256 colours show it without a visible loss.
"""

import zlib
from struct import pack, unpack

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DIFFERENCES = 1  # the filter that stores each pixel as its difference to the one before
COLOURS = 256
Grid = NDArray[np.int64]


def packed(png: bytes) -> bytes:
    """Return a PNG of at most 256 colours; other than 8-bit RGBA with the filter of differences comes back as it is."""
    pixels = _pixels(png)
    return png if pixels is None else _written(pixels)


def transparent(on_white: bytes, on_black: bytes) -> bytes:
    """Return a picture without its ground, from two that differ in it alone: their writer spoils pale ones."""
    white, black = _pixels(on_white), _pixels(on_black)
    if white is None or black is None:
        return on_white
    opacity = 255 - (white - black)[:, :, 1:2].clip(0, 255)
    colours = (black[:, :, :3] * 255 + opacity // 2) // np.maximum(opacity, 1)
    return _written(np.concatenate([colours.clip(0, 255), opacity], axis=2))


def _pixels(png: bytes) -> Grid | None:
    """Return the pixels, height by width by RGBA; None for another form."""
    width, height, *form = unpack(">IIBBBBB", _chunk(png, b"IHDR"))
    rows = np.frombuffer(zlib.decompress(_chunk(png, b"IDAT")), np.uint8).reshape(height, -1)
    if form != [8, 6, 0, 0, 0] or rows.shape[1] != 4 * width + 1 or (rows[:, 0] != _DIFFERENCES).any():
        return None
    return np.cumsum(rows[:, 1:].reshape(height, width, 4), axis=1, dtype=np.uint8).astype(np.int64)


def _written(pixels: Grid) -> bytes:
    """Return pixels as a PNG: the most frequent colours stay, each other one becomes the nearest of them."""
    height, width, _ = pixels.shape
    begins = np.ones((height, width), bool)
    begins[:, 1:] = (pixels[:, 1:] != pixels[:, :-1]).any(axis=2)
    starts = np.flatnonzero(begins.ravel())  # of runs of one colour: there are ten times fewer than pixels
    lengths = np.diff(starts, append=width * height)
    codes = pixels.reshape(-1, 4)[starts] @ np.array([1 << 24, 1 << 16, 1 << 8, 1])
    codes, places = np.unique(codes, return_inverse=True)
    colours = np.stack([codes >> 24, codes >> 16 & 255, codes >> 8 & 255, codes & 255], axis=1)
    kept = np.argsort(-np.bincount(places, lengths), kind="stable")[:COLOURS]
    nearest = np.array([((colours[kept] - colour) ** 2).sum(axis=1).argmin() for colour in colours], np.uint8)
    indices = np.repeat(nearest[places], lengths).reshape(height, width)
    lines = np.hstack([np.zeros((height, 1), np.uint8), indices]).tobytes()
    palette = colours[kept].astype(np.uint8)
    chunks = [(b"IHDR", pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", palette[:, :3].tobytes()),
              (b"tRNS", palette[:, 3].tobytes()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]  # fmt: skip
    return _SIGNATURE + b"".join(
        pack(">I", len(content)) + kind + content + pack(">I", zlib.crc32(kind + content)) for kind, content in chunks
    )


def _chunk(png: bytes, wanted: bytes) -> bytes:
    """Return the content of all chunks of a kind, joined."""
    found, at = b"", len(_SIGNATURE)
    while at < len(png):
        (size,) = unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == wanted:
            found += png[at + 8 : at + 8 + size]
        at += 12 + size
    return found
