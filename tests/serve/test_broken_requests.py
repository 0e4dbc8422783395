"""Random requests, most of them broken: each is answered, or refused by a Status, and the cluster can go on."""

import json
import random
from threading import Thread

from served_client import MERGE, PODS, Client

from kvolsched.api.text.convert import to_plain
from kvolsched.serve.http import ClientRequest
from kvolsched.serve.objects import ServedObjects
from kvolsched.serve.resources import RESOURCES
from kvolsched.serve.routes import Routes
from kvolsched.serve.status import StatusError

JUNK = (None, 0, -1, True, "", [], {}, "x", 10**30, 1.5, [None], {"a": None}, "2026-99-99T00:00:00Z", "é" * 300)
WORDS = ("", "1", "true", "-1", "9" * 30, "All", "Strict", "a in (b", "metadata.name=my-pod", "=", "eyJ2IjoxfQ==", "Exact", "Orphan")
QUERY = ("limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "dryRun", "fieldManager",
         "fieldValidation", "force", "gracePeriodSeconds", "propagationPolicy", "timeoutSeconds", "sendInitialEvents", "watch")
MEDIA = ("application/json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/json-patch+json",
         "application/apply-patch+yaml", "application/vnd.kubernetes.protobuf", "text/html")


def broken(draw, value):
    """Return plain data with some of it left out, or replaced by what does not belong there."""
    if draw.random() < 0.03:
        return draw.choice(JUNK)
    if isinstance(value, dict):
        kept = {name: broken(draw, inner) for name, inner in value.items() if draw.random() > 0.03}
        return kept | ({draw.choice(("status", "spec", "metadata", "kind", "$patch", "zzz")): draw.choice(JUNK)} if draw.random() < 0.05 else {})
    return [broken(draw, item) for item in value] if isinstance(value, list) else value


def test_every_request_is_answered_or_refused_by_a_status(cluster):
    """Of 600 random requests none raises anything but a Status, and afterwards the cluster runs, forks and goes back."""
    routes, draw = Routes(ServedObjects(cluster)), random.Random(5)
    codes = set()
    for _ in range(600):
        key = draw.choice(sorted(cluster.world.log.objects))
        resource = next(each for each in RESOURCES if each.kind == key.kind)
        path = [*(("apis", resource.group) if resource.group else ("api",)), resource.version,
                *(("namespaces", key.namespace) if key.namespace else ()), resource.plural, *([key.name] if draw.random() < 0.8 else []),
                *([draw.choice(("status", "scale", "eviction", "log"))] if draw.random() < 0.2 else [])]
        body = json.dumps(broken(draw, to_plain(cluster.world.log.objects[key]))).encode()
        request = ClientRequest("x", draw.choice(("GET", "POST", "PUT", "PATCH", "PATCH", "DELETE")), tuple(path), {
            name: draw.choice(WORDS) for name in draw.sample(QUERY, draw.randint(0, 3))},
            {"Content-Type": draw.choice(MEDIA)}, body[:draw.choice((None, None, None, 20))], lambda: False)
        try:
            answer = routes.answer(request)
            codes.add(answer.code)
            list(answer.stream or ())
        except StatusError as refused:
            codes.add(json.loads(json.dumps(refused.status()))["code"])
    assert {200, 400, 404, 405, 415, 422} <= codes
    cluster.run()
    cluster.fork().back(3)
    assert cluster.digest()


def test_requests_while_the_reader_moves(served, cluster):
    """Clients that read and write while the reader steps, forks and goes back get answers or refusals, never a fault."""
    faults = []

    def ask(number):
        client = Client(served, f"client-{number}")
        for turn in range(15):
            for code, data in (client.ask("GET", PODS), client.ask("PATCH", f"{PODS}/my-pod", {"metadata": {"labels": {"x": f"{number}-{turn}"}}}, MERGE)):
                if code not in (200, 404, 409):
                    faults.append(data)

    threads = [Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        cluster.run()
        cluster.fork()
        cluster.back(3)
    assert faults == []
