"""Modules by the names that people import, as mypy reads them: a name without a type would be an error here."""

from collections.abc import Callable
from typing import Any

import kvolsched.alternatives
import kvolsched.custom_scheduler
import kvolsched.documents
import kvolsched.experiments
import kvolsched.explore
import kvolsched.make
import kvolsched.queueing
import kvolsched.scenario
import kvolsched.widgets
import kvolsched.writes
from kvolsched.alternatives import compare
from kvolsched.custom_scheduler import ways
from kvolsched.documents import ran
from kvolsched.experiments import gates
from kvolsched.explore import Crash
from kvolsched.make import pod
from kvolsched.queueing import hold
from kvolsched.scenario import read
from kvolsched.widgets import Steps
from kvolsched.writes import patch

READ: list[Callable[..., Any] | type] = [compare, ways, ran, gates, Crash, pod, hold, read, patch, Steps]
BELOW: list[Callable[..., Any]] = [
    kvolsched.make.node, kvolsched.queueing.quota, kvolsched.writes.delete, kvolsched.alternatives.experiment,
    kvolsched.experiments.capacity, kvolsched.custom_scheduler.ways, kvolsched.scenario,
]
