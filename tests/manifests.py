"""Builders of manifests as plain data: those that readers have; `objects` has the same as typed objects."""

from kvolsched.make import *  # noqa: F403 - the same names
from kvolsched.make import metadata  # noqa: F401
