"""A served cluster with a client: the example of zones, after its run."""

import pytest
from served_client import Client

import kvolsched


@pytest.fixture(scope="session")
def example():
    """Return the example under the rules of today, after its run; nobody moves it."""
    c = kvolsched.scenario("zonal-example", "upstream")
    c.run()
    return c


@pytest.fixture
def cluster(example):
    """Return a copy of the example."""
    return example.fork("zonal-example")


@pytest.fixture
def served(cluster):
    """Serve the cluster, which the test steps."""
    with cluster.serve() as server:
        yield server


@pytest.fixture
def client(served):
    """Return a client of the served cluster."""
    return Client(served)
