"""CustomResourceDefinitions: what they serve, and what their schema does to objects."""

import re
from pathlib import Path

import pytest
import yaml
from served_client import MERGE, PODS, Kubectl, pod

from kvolsched.views.fill.choices import choices

APPLY = "application/apply-patch+yaml"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = yaml.safe_load((Path(__file__).parent / "clients" / "backups.yaml").read_text())
BACKUPS = "/apis/example.com/v1/namespaces/default/backups"


def backup(name="b", **spec):
    """Return the manifest of a backup."""
    return {"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": name}, "spec": {"claim": "my-pvc", **spec}}


def definition(path, value):
    """Return the definition with another value at a path."""
    found = yaml.safe_load(yaml.safe_dump(DEFINITION))
    *parents, last = path
    place = found
    for step in parents:
        place = place[step]
    place[last] = value
    return found


@pytest.fixture
def backups(client):
    """Return a client of a cluster that serves backups."""
    code, found = client.ask("POST", DEFINITIONS, DEFINITION)
    assert code == 201
    assert [each["type"] for each in found["status"]["conditions"]] == ["NamesAccepted", "Established"]
    return client


def test_a_definition_is_served_until_it_is_undone(backups, cluster):
    """Discovery, OpenAPI and the path of a kind are there once it is defined, and gone when the cluster goes back."""
    found = backups.get("/apis/example.com/v1")
    assert [each["name"] for each in found["resources"]] == ["backups", "backups/status", "backups/scale"]
    assert (found["resources"][0]["shortNames"], found["resources"][0]["singularName"]) == (["bk"], "backup")
    assert "example.com" in [each["name"] for each in backups.get("/apis")["groups"]]
    assert "io.k8s.api.Backup" in backups.get("/openapi/v3/apis/example.com/v1")["components"]["schemas"]
    assert backups.get(BACKUPS)["items"] == []
    cluster.back(1)
    assert backups.refused("GET", BACKUPS)[0] == 404
    assert backups.refused("GET", "/apis/example.com/v1")[0] == 404


def test_what_may_be_deleted_in_a_panel_is_of_kinds_that_are_modelled(backups, cluster):
    """An object of a kind that is defined in the cluster, and its definition, are no choices of a user's acts; a pod is."""
    backups.ask("POST", BACKUPS, backup())
    backups.ask("POST", PODS, pod("web"))
    offered = [name for name, _ in choices(cluster, "object")]

    assert ("pod/web" in offered, [name for name in offered if "backup" in name.lower()]) == (True, [])


def test_defaults_and_pruning(backups):
    """A schema's defaults are stored, in items of lists too; what it does not declare goes, with a warning."""
    code, found = backups.ask("POST", BACKUPS, backup(steps=[{"name": "x"}], colour="red"))
    assert (code, found["metadata"]["generation"]) == (201, 1)
    assert found["spec"] == {"claim": "my-pvc", "copies": 2, "steps": [{"name": "x", "seconds": 1}]}
    assert "spec.colour" in backups.headers["Warning"]
    code, reason, message = backups.refused("POST", f"{BACKUPS}?fieldValidation=Strict", backup("c", colour="red"))
    assert (code, reason) == (400, "BadRequest")
    assert message.endswith('strict decoding error: unknown field "spec.colour"')


@pytest.mark.parametrize(("spec", "words"), [
    ({"copies": "three"}, 'spec.copies: Invalid value: "string": spec.copies in body must be of type integer: "string"'),
    ({"copies": 0}, "spec.copies: Invalid value: 0: spec.copies in body should be greater than or equal to 1"),
    ({"copies": 6}, "spec.copies: Invalid value: 6: spec.copies in body should be less than or equal to 5"),
    ({"mode": "some"}, 'spec.mode: Unsupported value: "some": supported values: "full", "delta"'),
    ({"claim": "x" * 21}, "spec.claim: Too long: may not be more than 20 bytes"),
    ({"claim": "A"}, "spec.claim: Invalid value: \"A\": spec.claim in body should match '^[a-z-]+$'"),
    ({"tags": ["a", "b", "c"]}, "spec.tags: Too many: 3: must have at most 2 items"),
    ({"steps": [{"seconds": 1}]}, "spec.steps[0].name: Required value"),
    ({"options": {"a": 1}}, 'spec.options[a]: Invalid value: "integer": spec.options[a] in body must be of type string: "integer"'),
    ({"port": True}, 'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'),
])
def test_faults_by_the_schema(backups, spec, words):
    """What a schema forbids is 422, with the field in the words of the API server; nothing is stored."""
    assert backups.refused("POST", BACKUPS, backup(**spec)) == (422, "Invalid", f'Backup.example.com "b" is invalid: {words}')
    assert backups.refused("GET", f"{BACKUPS}/b")[2] == 'backups.example.com "b" not found'


def test_status_and_generation(backups):
    """A write of the object leaves its status, one of the status the rest; the generation counts the spec only."""
    made = backups.ask("POST", BACKUPS, {**backup(), "status": {"phase": "Lost"}})[1]
    assert "status" not in made
    done = backups.ask("PATCH", f"{BACKUPS}/b/status", {"status": {"phase": "Done"}, "spec": {"copies": 5}}, MERGE)[1]
    assert (done["status"], done["spec"]["copies"], done["metadata"]["generation"]) == ({"phase": "Done"}, 2, 1)
    more = backups.ask("PATCH", f"{BACKUPS}/b", {"status": {"phase": "Lost"}, "spec": {"copies": 3}}, MERGE)[1]
    assert (more["status"], more["spec"]["copies"], more["metadata"]["generation"]) == ({"phase": "Done"}, 3, 2)
    label = backups.ask("PATCH", f"{BACKUPS}/b", {"metadata": {"labels": {"a": "b"}}}, MERGE)[1]
    assert label["metadata"]["generation"] == 2
    stale = backups.refused("PUT", f"{BACKUPS}/b", made)
    assert stale[:2] == (409, "Conflict")
    assert stale[2].startswith('Operation cannot be fulfilled on backups.example.com "b": the object has been modified')
    assert backups.refused("POST", BACKUPS, backup())[2] == 'backups.example.com "b" already exists'


def test_scale_of_a_custom_object(backups):
    """Scale reads and writes the fields that the definition names."""
    backups.ask("POST", BACKUPS, backup())
    assert backups.get(f"{BACKUPS}/b/scale")["spec"] == {"replicas": 2}
    assert backups.ask("PATCH", f"{BACKUPS}/b/scale", {"spec": {"replicas": 4}}, MERGE)[1]["spec"] == {"replicas": 4}
    assert backups.get(f"{BACKUPS}/b")["spec"]["copies"] == 4
    assert backups.refused("PATCH", f"{BACKUPS}/b/scale", {"spec": {"replicas": 9}}, MERGE)[0] == 422


@pytest.mark.parametrize(("path", "value", "words"), [
    (("metadata", "name"), "others.example.com", 'metadata.name: Invalid value: "others.example.com": must be spec.names.plural+"."+spec.group'),
    (("spec", "group"), "", "spec.group: Required value"),
    (("spec", "scope"), "", 'spec.scope: Unsupported value: "": supported values: "Cluster", "Namespaced"'),
    (("spec", "versions", 0, "storage"), False, "must have exactly one version marked as storage version"),
    (("spec", "versions", 0, "schema"), {}, "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"),
    (("spec", "names", "kind"), "Pod", 'spec.names.kind: Invalid value: "Pod": is served here for another group already'),
    (("spec", "versions"), ["v1"], "spec.versions"), (("spec", "names"), "x", "spec.names.plural: Required value"),
])
def test_faults_of_a_definition(client, path, value, words):
    """A definition that cannot be served is 422 and says why."""
    code, reason, message = client.refused("POST", DEFINITIONS, definition(path, value))
    assert (code, reason) == (422, "Invalid")
    assert words in message


def test_the_objects_go_with_their_definition(backups, cluster):
    """Deleting a definition deletes its objects; one with a finalizer keeps it until the finalizer is gone."""
    backups.ask("POST", BACKUPS, backup("a"))
    backups.ask("POST", BACKUPS, {**backup("b"), "metadata": {"name": "b", "finalizers": ["example.com/hold"]}})
    code, _ = backups.ask("DELETE", f"{DEFINITIONS}/backups.example.com")
    assert (code, [each["metadata"]["name"] for each in backups.get(BACKUPS)["items"]]) == (200, ["b"])
    assert backups.get(f"{DEFINITIONS}/backups.example.com")["metadata"]["deletionTimestamp"]
    backups.ask("PATCH", f"{BACKUPS}/b", {"metadata": {"finalizers": None}}, MERGE)
    assert backups.refused("GET", BACKUPS)[0] == 404
    assert "CustomResourceDefinition" not in {key.kind for key in cluster.world.log.objects}


def test_an_apply_merges_by_the_schema(backups):
    """Lists of type map and set merge, a list without a type is replaced, and omission removes what one owned."""
    def apply(manager, **spec):
        return backups.ask("PATCH", f"{BACKUPS}/b?fieldManager={manager}&force=true", backup(**spec), APPLY)[1]["spec"]

    apply("a", tags=["x"], steps=[{"name": "one"}], windows=["mon"])
    both = apply("b", tags=["y"], steps=[{"name": "two", "seconds": 5}], windows=["tue"])
    assert both["tags"] == ["x", "y"]
    assert both["steps"] == [{"name": "one", "seconds": 1}, {"name": "two", "seconds": 5}]
    assert both["windows"] == ["tue"]
    left = apply("a")
    assert (left["tags"], left["steps"], left["windows"]) == (["y"], [{"name": "two", "seconds": 5}], ["tue"])


def test_kubectl_on_a_custom_resource(cluster, tmp_path):
    """The real kubectl creates a definition, waits for it, applies an object, prints its columns and explains it."""
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(DEFINITION))
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(backup(copies=3)))
    with cluster.serve() as served:
        kubectl = Kubectl(served, tmp_path)
        assert kubectl("apply -f crd.yaml")[1] == "customresourcedefinition.apiextensions.k8s.io/backups.example.com created\n"
        assert kubectl("wait --for=condition=Established crd/backups.example.com")[0] == 0
        assert kubectl("apply -f b.yaml")[1] == "backup.example.com/b created\n"
        assert kubectl("get bk")[1] == "NAME   CLAIM    PHASE\nb      my-pvc   \n"
        assert kubectl("get backup b -o wide")[1] == "NAME   CLAIM    PHASE   COPIES\nb      my-pvc           3\n"
        assert kubectl("scale backup b --replicas=4")[1] == "backup.example.com/b scaled\n"
        assert "claim" in kubectl("explain backup.spec")[1]
        assert kubectl("create cm settings --from-literal=a=b")[0] == 0
        for command in ("get bk", "get bk b -o wide", "get backups.example.com -A", "get cm,pods", "get cm/settings --show-labels", "get cm -o name",
                        "get secrets", "get cj -A", "get bk nosuch", "get crd -o name", "get bk -o jsonpath={.items[*].spec}"):
            ours = cluster.kubectl(command)
            assert (ours.code, ours.stdout, ours.stderr) == kubectl(command), command
        said, wanted = cluster.kubectl("describe bk b").stdout, kubectl("describe bk b")[1]
        assert re.sub(r"\d{4}-\S+Z", "TIME", said) == re.sub(r"\d{4}-\S+Z", "TIME", wanted)
    assert cluster["backup/b"].rest["spec"]["copies"] == 4
    assert "create backup/b" in repr(cluster.writes())


def test_every_question_knows_a_kind_that_nobody_models(client, cluster):
    """A ConfigMap is found by kind and name, short name or name alone, listed, and told of; an unknown one is refused."""
    config = "/api/v1/namespaces/default/configmaps"
    client.ask("POST", config, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}})
    client.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})
    client.ask("POST", config.replace("default", "shop"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}})
    client.ask("PATCH", f"{config}/settings", {"data": {"a": "2"}}, MERGE)
    for reference in ("configmap/settings", "cm/settings", "configmaps/default/settings", "settings", "default/settings"):
        assert cluster[reference].rest["data"] == {"a": "2"}
        assert reference in cluster
    assert cluster["cm/shop/other"].metadata.namespace == "shop"
    assert [each.metadata.name for each in cluster.objects("configmaps")] == ["settings", "other"]
    assert "configmap/settings" in repr(cluster.writes())
    assert "data.a: 1 → 2" in repr(cluster.changes())
    assert "configmap/settings" in repr(cluster.story("cm/settings"))
    assert "kind: ConfigMap" in cluster.manifests("cm/settings")
    assert "secret/settings" not in cluster
    for reference in ("secret/settings", "configmap/nosuch", "cm/shop/settings", "a/b/c"):
        with pytest.raises(KeyError):
            cluster[reference]


def test_the_reader_edits_a_kind_that_nobody_models(backups, cluster):
    """`get`, `label`, `annotate` and `patch` of ours know it by kind and name, as the real ones do; what it cannot is said as there."""
    backups.ask("POST", BACKUPS, backup())
    backups.ask("POST", "/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": {"a": "1"}})
    assert repr(cluster.get("cm")).splitlines()[1].split()[:2] == ["cm", "1"]
    assert repr(cluster.get("backup/b")).splitlines()[1].split()[0] == "b"
    with pytest.raises(KeyError, match='"c" not found'):
        cluster.get("backup/c")
    cluster.label("backup/b", "a=1")
    cluster.kubectl("annotate backup b note=x")
    cluster.patch("cm/cm", {"data": {"a": "2"}})
    metadata = cluster["backup/b"].metadata
    assert (metadata.labels, metadata.annotations, cluster["cm/cm"].rest["data"]) == ({"a": "1"}, {"note": "x"}, {"a": "2"})
    assert backups.get(f"{BACKUPS}/b")["metadata"]["labels"] == {"a": "1"}
    assert cluster.kubectl("patch backup b -p '{\"metadata\": {\"name\": \"c\"}}' --type=merge").code == 1
    for command in ("scale backup b --replicas=2", "rollout restart backup b"):
        assert "error: Backup" not in cluster.kubectl(command).stderr


@pytest.mark.parametrize(("policy", "stays", "waits"), [("Background", [], False), ("Foreground", [], True), ("Orphan", ["b", "data"], False)])
def test_what_a_custom_object_owns_goes_with_it(backups, cluster, policy, stays, waits):
    """Its pod and ConfigMap are deleted after it, or before it, or stay without owner, as its client asks; so is what belongs to a pod."""
    owner = backups.ask("POST", BACKUPS, backup())[1]
    reference = {"apiVersion": "example.com/v1", "kind": "Backup", "name": "b", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
    backups.ask("POST", PODS, pod("b", ownerReferences=[reference]))
    maps = "/api/v1/namespaces/default/configmaps"
    of_pod = {**reference, "apiVersion": "v1", "kind": "Pod", "uid": backups.get(f"{PODS}/b")["metadata"]["uid"]}
    backups.ask("POST", maps, {"metadata": {"name": "data", "ownerReferences": [of_pod]}})
    assert backups.ask("DELETE", f"{BACKUPS}/b?propagationPolicy={policy}")[0] == 200
    assert (backups.ask("GET", f"{BACKUPS}/b")[0] == 200) is (waits or policy == "Orphan")
    cluster.run(seconds=100)
    assert backups.refused("GET", f"{BACKUPS}/b")[0] == 404
    found = [name for path, name in ((PODS, "b"), (maps, "data")) if backups.ask("GET", f"{path}/{name}")[0] == 200]
    assert found == stays
    cluster.back()
    cluster.fork().run()
