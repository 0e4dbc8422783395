"""Incidents: what people meet with pods and volumes; each has a symptom, a question, a cause, and cures that are run.

`incidents("free text, or an event's sentence")` finds them, `incident("dead-zone")` opens one. Each is a file of
`files/`: a scenario, and what only an incident has; `one_incident.py` documents the fields.
"""

from .drawer import Incidents, NotShown, incident, incidents
from .one_incident import Cure, Cured, Incident, Symptom

__all__ = ["Cure", "Cured", "Incident", "Incidents", "NotShown", "Symptom", "incident", "incidents"]
