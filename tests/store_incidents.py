"""Write which incidents show the rule of a decoded sentence: `python tests/store_incidents.py`."""

import json
from pathlib import Path

from kvolsched.learn.incidents import incidents
from kvolsched.learn.incidents.drawer import rules_of, rules_shown

TARGET = Path(__file__).parent.parent / "kvolsched" / "questions" / "decode" / "incidents.json"
MOST = 3  # named of each sentence


def index():
    """Return rule -> names of incidents, those whose sentences speak of fewest rules first."""
    found = {}
    for incident in incidents():
        rules = rules_shown(incident.name)
        spoken = frozenset().union(*map(rules_of, incident.sentences))
        for rule in rules:
            found.setdefault(rule, []).append((len(spoken), incident.name))
    return {rule: [name for _, name in sorted(names)[:MOST]] for rule, names in sorted(found.items())}


def text():
    """Return the file's text."""
    return json.dumps(index(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
