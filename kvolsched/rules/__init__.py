"""Sets of rules: revisions, their settings, dials and drivers, and the designs that the documents reject."""
