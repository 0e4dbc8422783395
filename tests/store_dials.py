"""Writes docs/dials.md from the declarations of the dials: `python tests/store_dials.py`."""

from pathlib import Path

import kvolsched

PAGE = Path(__file__).parents[1] / "docs" / "dials.md"
HEAD = """# Dials

What can be set on a component, by a scenario (`components:`), by `Cluster(components={{...}})` and by
`kvolsched.scenario(name, **{{component: dials}})`. `kvolsched.dials("driver")` prints the same; a wrong name or value is an
error with its path and what there is. A sentence of the documents is told in our words, with its section: S0 is Volume
Topology-aware Scheduling, S2 Storage Capacity Constraints, S3 Even Pods Spreading.

A driver is a component under its own name, such as `pd.csi`; the provisioner that runs for it on a node has its dials and
those of `pd.csi on NODE`. Seconds are simulated. This page is made by `python tests/store_dials.py`.
"""


def page():
    """Return the text of the page."""
    table = kvolsched.dials()
    lines = [HEAD.replace("{{", "{").replace("}}", "}")]
    for component in dict.fromkeys(row.component for row in table):
        lines += [f"## {component[:1].upper()}{component[1:]}", "", "| dial | values | default | what it is |", "| --- | --- | --- | --- |"]
        for row in table:
            if row.component == component:
                cells = (f"`{'`, `'.join(row.name.split(', '))}`", row.values, f"`{row.default}`", f"{row.stands_for}{f'. *{row.serves}*' * bool(row.serves)}")
                lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
