"""Outputs of a cell that wait for an answer: how they are stored so that nobody reads them by accident, and unsealed.

A seal is a mimetype of its own in the stored notebook: the outputs, compressed, as text. A search, or a page that shows
notebooks, finds nothing in it; equal outputs have equal seals, so whoever compares stored outputs compares them, too.
It hides from the eye and is no secret: `unseal` puts the outputs into a fold, for a book that has no kernel.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

MIME = "application/vnd.kvolsched.sealed+json"
WIDGET = "application/vnd.jupyter.widget-view+json"  # names a widget of one kernel
SUMMARY = "After your answer"
LOCK = "sealed: what this cell shows appears here when you have answered"

Bundle = Mapping[str, Any]  # mimetype -> data


def seal(outputs: Sequence[Bundle]) -> dict[str, Any]:
    """Return what stands in the place of outputs until they are asked for: a lock in words, and the outputs sealed.

    >>> locked = seal([{"text/plain": "4 of 12"}])
    >>> "4 of 12" in str(locked)
    False
    >>> outputs_of(locked)
    [{'text/plain': '4 of 12'}]
    """
    kept = [{kind: data for kind, data in each.items() if kind != WIDGET} for each in outputs]
    text = json.dumps([each for each in kept if each], sort_keys=True, separators=(",", ":"))
    packed = b64encode(zlib.compress(text.encode(), 9)).decode()
    html = f'<p style="border:1px dashed;border-radius:4px;padding:6px 10px;opacity:.75">🔒 {LOCK}</p>'
    return {MIME: {"outputs": packed}, "text/html": html, "text/plain": f"({LOCK})"}


def outputs_of(sealed: Bundle) -> list[dict[str, Any]]:
    """Return the outputs that a seal holds; none if it is no seal."""
    held = sealed.get(MIME)
    found: list[dict[str, Any]] = json.loads(zlib.decompress(b64decode(held["outputs"]))) if held else []
    return found


def unseal(notebook: Mapping[str, Any]) -> int:
    """Put a closed fold in the place of each seal of a notebook, as plain data, and return how many there were."""
    count = 0
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if MIME in data:
                count += 1
                inside = "".join(map(_as_html, outputs_of(data)))
                html = f"<details><summary>{SUMMARY}</summary>{inside}</details>"
                output["data"] = {"text/html": html, "text/plain": f"({SUMMARY})"}
    return count


def _as_html(data: Bundle) -> str:
    if "image/png" in data:
        return f'<img alt="{escape(_text(data, "text/plain"))}" src="data:image/png;base64,{_text(data, "image/png")}">'
    if "text/html" in data:
        return _text(data, "text/html")
    return f"<pre>{escape(_text(data, 'text/plain'))}</pre>"


def _text(data: Bundle, kind: str) -> str:
    return "".join(data.get(kind, "")).strip()
