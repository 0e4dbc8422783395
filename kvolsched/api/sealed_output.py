"""Outputs of a cell that wait for an answer: how they are stored so that nobody reads them by accident, and unsealed.

A seal is a mimetype of its own in the stored notebook: the outputs, compressed, as text. A search, or a page that shows
notebooks, finds nothing in it; equal outputs have equal seals, so whoever compares stored outputs compares them, too.
It hides from the eye and is no secret: `unseal` puts the outputs into a fold, for a book that has no kernel.
"""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

MIME = "application/vnd.kvolsched.sealed+json"
WIDGET = "application/vnd.jupyter.widget-view+json"  # names a widget of one kernel
SUMMARY = "After your answer"
# A padlock, drawn: where there is no font of emojis the letter would be an empty box.
_LOCK = '<svg width=11 height=14 fill=none stroke=currentColor><path d="M1 6h9v7H1zM3 6V4a2.5 2.5 0 0 1 5 0v2"/></svg>'
LOCK = "sealed until you have answered; after a reload of the page, run this cell again"

Bundle = Mapping[str, Any]  # mimetype -> data


def seal(outputs: Sequence[Bundle], right: str = "") -> dict[str, Any]:
    """Return what stands in the place of outputs until they are asked for: a lock in words, and the outputs sealed.

    What was right is sealed with them, so that whoever checks a lesson can look whether it stands anywhere before.

    >>> locked = seal([{"text/plain": "4 of 12"}])
    >>> "4 of 12" in str(locked)
    False
    >>> outputs_of(locked)
    [{'text/plain': '4 of 12'}]
    """
    kept = [{kind: data for kind, data in each.items() if kind != WIDGET} for each in outputs]
    held = {"outputs": [each for each in kept if each], "right": right}
    text = json.dumps(held, sort_keys=True, separators=(",", ":"))
    packed = b64encode(zlib.compress(text.encode(), 9)).decode()
    html = f'<p style="border:1px dashed;border-radius:4px;padding:6px 10px;opacity:.75">{_LOCK} {LOCK}</p>'
    return {MIME: {"sealed": packed}, "text/html": html, "text/plain": f"({LOCK})"}


def outputs_of(sealed: Bundle) -> list[dict[str, Any]]:
    """Return the outputs that a seal holds; none if it is no seal."""
    return list(_opened(sealed).get("outputs", ()))


def right_of(sealed: Bundle) -> str:
    """Return what was right, as a seal holds it; "" if it is no seal, or nothing was right."""
    return str(_opened(sealed).get("right", ""))


def _opened(sealed: Bundle) -> dict[str, Any]:
    return dict(json.loads(zlib.decompress(b64decode(sealed[MIME]["sealed"])))) if MIME in sealed else {}


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
    words = escape(_text(data, "text/plain"))
    if "image/png" in data:
        return f'<img alt="{words}" src="data:image/png;base64,{_text(data, "image/png")}">'
    if "image/svg+xml" in data:
        drawn = b64encode(_text(data, "image/svg+xml").encode()).decode()
        return f'<img alt="{words}" src="data:image/svg+xml;base64,{drawn}">'
    if "text/html" in data:
        return _text(data, "text/html")
    return f"<pre>{words}</pre>"


def _text(data: Bundle, kind: str) -> str:
    return "".join(data.get(kind, "")).strip()
