"""A served cluster: real clients of Kubernetes, such as kubectl, on a cluster that steps back.

It is imported on first use and needs the standard library alone. Here is what is HTTP, text or time; what a write does
is decided where a user's is, by the API server of the cluster's world.
"""

from .served import ServedCluster

__all__ = ["ServedCluster"]
