"""Pages of words, as tests read them: what is asked of every page, its texts, and the cells of its tables."""

import re
from xml.etree import ElementTree as ET

from kvolsched.views.drawing.theme import sheet

FOREIGN = re.compile(r"<(?:script|img|b onerror)")


def parsed(html):
    """Parse a page: it must be well-formed XML."""
    return ET.fromstring(html.replace("<wbr/>", ""))  # noqa: S314 - our own string


def told(html):
    """Return the words of a page."""
    return " ".join("".join(parsed(html).itertext()).split())


def texts(html):
    """Return each text between two tags."""
    return [each.strip() for each in parsed(html).itertext() if each.strip()]


def cells(html):
    """Return the words of each line of each table, a cell each."""
    return [[" ".join("".join(cell.itertext()).split()) for cell in line] for line in parsed(html).iter("tr")]


def faults(html):
    """Return what is wrong with a page: markup of somebody else, lines of unequal length, what no sheet or browser knows."""
    root = parsed(f"<div>{html}</div>")
    tables = ([sum(int(cell.get("colspan", "1")) for cell in line) for line in table.iter("tr")]
              for table in root.iter("table"))  # fmt: skip
    classes = {name for each in root.iter() for name in each.get("class", "").split()}
    return [
        *FOREIGN.findall(html), *(counts for counts in tables if len(set(counts)) > 1),
        *sorted(name for name in classes if f".{name}" not in sheet() and name not in UNSTYLED),
        *sorted({each.tag.rpartition("}")[2] for each in root.iter()} - ELEMENTS), *sorted({each.get("role", "") for each in root.iter()} - ROLES),
    ]  # fmt: skip


ELEMENTS = frozenset((
    "b", "br", "button", "circle", "clipPath", "code", "defs", "details", "div", "g", "h3", "h4", "i", "li", "line", "ol", "p", "path", "pattern",
    "polygon", "polyline", "pre", "rect", "small", "span", "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr",
    "tspan", "ul", "use"))  # fmt: skip
ROLES = {"", "alert", "button", "columnheader", "grid", "gridcell", "group", "img", "note", "row", "rowheader", "status"}
UNSTYLED = {"k-b", "k-differs", "k-half", "k-live", "k-one", "k-track"}
