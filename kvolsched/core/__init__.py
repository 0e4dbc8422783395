"""The core of a cluster: what it holds, the acts of its user, faults, time, and what they return."""
