"""The Job controller: it alone makes the pods of a Job, counts those that have ended, and says when the Job is over.

A suspended Job has no pods. A pod that failed has a successor after 10 s, twice as long after each further failure, up
to 10 min. The limits of single indexes, the policies of failures and of success, and the deletion of finished Jobs
after a time are not modelled, nor is the adoption of pods by selector. Mirrors `pkg/controller/job` (v1.36.2).
"""

from .controller import component
from .sync import KIND, NAME

__all__ = ["KIND", "NAME", "component"]
