"""PNG in few bytes: a stored notebook holds many pictures, and their writer compresses for speed.

A drawing has a few flat colours and the shades at the edges of its letters: 256 colours show it without a visible loss.
"""

import zlib
from struct import pack, unpack

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DIFFERENCES = 1  # the filter that stores each pixel as its difference to the one before
COLOURS = 256


def packed(png: bytes) -> bytes:
    """Return a PNG of at most 256 colours; other than 8-bit RGBA with the filter of differences comes back as it is."""
    header, raw = _chunk(png, b"IHDR"), zlib.decompress(_chunk(png, b"IDAT"))
    width, height, *form = unpack(">IIBBBBB", header)
    rows = np.frombuffer(raw, np.uint8).reshape(height, -1)
    if form != [8, 6, 0, 0, 0] or rows.shape[1] != 4 * width + 1 or (rows[:, 0] != _DIFFERENCES).any():
        return png
    steps = rows[:, 1:].reshape(height, width, 4)
    pixels = np.cumsum(steps, axis=1, dtype=np.uint8)[:, :, :3].reshape(-1, 3).astype(np.int32)
    begins = np.asarray(steps.any(axis=2))
    begins[:, 0] = True
    starts = np.flatnonzero(begins.ravel())  # of runs of one colour: there are ten times fewer than pixels
    lengths = np.diff(starts, append=width * height)
    codes, places = np.unique(pixels[starts] @ np.array([1 << 16, 1 << 8, 1]), return_inverse=True)
    colours = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)
    kept = np.argsort(-np.bincount(places, lengths), kind="stable")[:COLOURS]
    nearest = np.array([((colours[kept] - colour) ** 2).sum(axis=1).argmin() for colour in colours], np.uint8)
    indices = np.repeat(nearest[places], lengths).reshape(height, width)
    lines = np.hstack([np.zeros((height, 1), np.uint8), indices]).tobytes()
    chunks = [(b"IHDR", pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
              (b"PLTE", colours[kept].astype(np.uint8).tobytes()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
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
