"""Small clusters with a question, each answered by playing its script: Kubernetes' words are the expected values.

A scenario of the documents names the items that it proves; they become the marks of its test.
"""

import pytest
from click.testing import CliRunner
from manifests import node, pod

import kvolsched
from kvolsched import scenario as shipped
from kvolsched.cli import main
from kvolsched.cluster import Cluster
from kvolsched.learn.scenario import ExpectationFailed, Scenario, ScenarioError, load, read, scenario_names
from kvolsched.learn.templates import declared, fill

LESSONS = [name for name in scenario_names() if not load(name).checklist]


def params():
    """List every scenario of the documents with the marks that it names."""
    return [pytest.param(name, id=name, marks=pytest.mark.checklist(*load(name).checklist)) for name in scenario_names()
            if load(name).checklist]


@pytest.mark.parametrize("name", params())
def test_scenario(name):
    """The script of a scenario runs, and each of its expectations holds."""
    scenario = load(name)
    assert any("expect" in line for line in scenario.script)
    cluster = kvolsched.play(name)
    steps = cluster._last_step.number
    cluster.back(steps)
    cluster.goto(steps)
    again = scenario.play()
    assert again.manifests() == cluster.manifests(), "the same scenario, played again, ends otherwise"


def test_a_scenario_without_script_is_not_played():
    """What has no script shows nothing by itself: `play` says so, and how to get the cluster."""
    (name, *_) = (name for name in scenario_names() if not load(name).script)
    with pytest.raises(ScenarioError, match=f"{name} has no script to play; scenario\\('{name}'\\) returns its cluster"):
        kvolsched.play(name)


SETTINGS = {  # scenario -> values of its parameters for which its script is played too
    "two-disks-each": [{"mode": "WaitForFirstConsumer"}, {"zones": 2}, {"zones": 4}],
    "half-full-nodes": [{"kind": "zonal"}, {"mode": "WaitForFirstConsumer"}],
    "apart-on-one-node": [{"mode": "WaitForFirstConsumer"}],
    "ssd-and-hdd": [{"mode": "WaitForFirstConsumer"}],
    "zones": [{"zones": 4, "replicas": 10, "skew": 2}, {"zones": 1, "nodes": 1}, {"replicas": 0}, {"counts": "its own"}],
    "soft-spread": [{"spread": "DoNotSchedule"}],
    "zone-and-host": [{"second": 2}, {"hosts": "ScheduleAnyway"}],
    "immediate-trap": [{"zones": 7}, {"mode": "WaitForFirstConsumer"}],
    "dead-zone": [{"alive": 5, "held": 1}, {"taints": "Honor"}],
    "gated-jobs": [{"jobs": 12, "quota": 12, "zone": "zone-a"}, {"quota": 0}],
    "disks-by-node": [{"nodes": 9, "exact": 1}, {"affinity": "no"}],
    "held-jobs": [{"jobs": 1, "disks": "none"}],
    "suspended-jobs": [{"jobs": 4, "quota": 4, "zone": "zone-a"}, {"quota": 0}],
    "retained-volumes": [{"disks": 1}, {"disks": 4}],
    "redis-pmem": [{"tracking": "off"}, {"interval": 60}, {"nodes": 1, "replicas": 2}],
    "two-volumes-one-pool": [{"nodes": 1}, {"free": "100Gi"}],
    "third-pod": [{"machines": 2}, {"kept": "even"}, {"kept": "even", "machines": 2}],
    "exact-fit": [{"lag": 20}, {"nodes": 1, "each": 1}],
}
SCRIPTED = [name for name in LESSONS if load(name).script]


@pytest.mark.parametrize(("name", "settings"), [(name, each) for name in SCRIPTED for each in [{}, *SETTINGS.get(name, [])]])
def test_shipped_scripts_hold(name, settings):
    """A shipped scenario with a script shows what it asks about, with its defaults and with other parameters."""
    found = load(name)
    assert any("expect" in line for line in found.script)
    assert found.name in found.play(**settings).name


@pytest.mark.checklist("255")
def test_volumes_made_at_once_trap_pods_and_volumes_that_wait_do_not():
    """Immediate volumes go round the zones and one pod runs; with WaitForFirstConsumer all run in the zone with room."""
    for mode, running in (("Immediate", 1), ("WaitForFirstConsumer", 3)):
        c = shipped("immediate-trap", mode=mode)
        c.run(seconds=60)
        assert running == [pod.status.phase for pod in c.objects("pods")].count("Running")


def test_parameters_come_first_then_dials():
    """A parameter changes the objects, a dial a component; the cluster's name says which parameters were given."""
    c = shipped("immediate-trap", "design", zones=4, **{"zonal.example.com": {"kind": "zonal", "delay": 5.0}})
    assert ("immediate-trap, zones=4", "design", 5) == (c.name, c.revision.name, len(c.objects("nodes")))
    c.run(seconds=60)
    assert 5.0 <= c.now
    assert 3 == len(shipped("immediate-trap", kubelet={"start_delay": 2.0}).objects("nodes")) - 1


@pytest.mark.parametrize(("settings", "words"), [
    ({"zonse": 4}, ("no parameter or component is called 'zonse'; did you mean zones[?]\n  parameters: zones=3: how many .* mode=Immediate: .*\n"
                    "  components, with dials as a mapping: .*kubelet.*zonal.example.com")),
    ({"zones": 1}, "zones must be a whole number from 2 to 26, not 1"),
    ({"zones": "4"}, "zones must be a whole number from 2 to 26, not '4'"),
    ({"zones": True}, "zones must be a whole number from 2 to 26, not True"),
    ({"mode": "Later"}, "mode must be one of Immediate, WaitForFirstConsumer, not 'Later'"),
])
def test_wrong_settings_are_named(settings, words):
    """An unknown setting lists parameters and components; a value of a wrong type or range says what it must be."""
    with pytest.raises(ScenarioError, match=f"immediate-trap: {words}"):
        shipped("immediate-trap", **settings)


def test_the_list_of_scenarios_is_a_list_and_a_table():
    """The names are a list as before; printed, each has its question and parameters, on the command line too."""
    assert isinstance(kvolsched.scenarios(), list)
    assert len(set(kvolsched.scenarios())) == len(kvolsched.scenarios())
    assert "zones" in kvolsched.scenarios()
    printed = repr(kvolsched.scenarios())
    assert [] == [name for name in kvolsched.scenarios() if load(name).question[:40] not in printed]
    assert "replicas=9: how many pods the Deployment asks for" in printed
    assert printed == CliRunner().invoke(main, ["scenarios"]).output.rstrip("\n")
    with pytest.raises(KeyError, match=r"no scenario is called 'zone': did you mean zones or dead-zone\? There are: .*dead-zone, "):
        shipped("zone")


def test_the_command_line_sets_parameters_and_plays_scripts():
    """`kvolsched run NAME --set zones=4` plays the script with these parameters; wrong ones are refused in words."""
    done = CliRunner().invoke(main, ["run", "gated-jobs", "--set", "jobs=3", "--set", "zone=zone-a"])
    assert 0 == done.exit_code
    assert "User patches pod/job-1." in done.output
    assert 2 == done.output.count("Running")
    for text, words in (("jobs=many", "jobs must be a whole number from 1 to 200, not 'many'"), ("jbos=3", "no parameter or"),
                        ("jobs", "'jobs': write NAME=VALUE")):
        refused = CliRunner().invoke(main, ["run", "gated-jobs", "--set", text])
        assert (True, True) == (refused.exit_code != 0, words in refused.output)


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("262")
def test_shipped_scenarios_run_under_every_revision(name, revision):
    """A shipped scenario loads, asks a question, and comes to rest under either set of rules."""
    cluster = shipped(name, revision)
    cluster.run(steps=2_000)
    load(name).play(cluster, expecting=False)
    assert cluster.revision.name == revision
    assert cluster.goto(-1).number


@pytest.mark.checklist("260")
def test_same_seed_same_run():
    """Equal scenarios and seeds give equal runs, sentence by sentence; another seed may decide ties otherwise."""
    runs = [[repr(step) for step in shipped("zonal-example", seed=seed).run().steps] for seed in (1, 1)]
    assert runs[0] == runs[1]
    chosen = {}
    for seed in [*range(12), *range(12)]:
        cluster = Cluster.from_manifests([node("node-a"), node("node-b"), pod("app")], seed=seed)
        cluster.run()
        chosen.setdefault(seed, set()).add(cluster["pod/app"].spec.node_name)
    assert {"node-a", "node-b"} == set().union(*chosen.values())  # equal nodes: the seed decides, alike in each run
    assert {1} == {len(each) for each in chosen.values()}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "wants one mapping"),
        ("question: a\nmood: good", "unknown mood"),
        ("question: a\nscript: [{dance: now}]", "unknown word 'dance'"),
        ("parameters: [zones]", "parameters: wants a mapping of names"),
        ("parameters: {zones: 3}", "parameters.zones: wants default and says"),
        ("parameters: {zones: {default: 2.5, says: how many}}", "parameters.zones.default: must be a whole number or a text"),
        ("parameters: {zones: {default: 3, says: how many, most: 2}}", "zones must be a whole number to 2, not 3"),
        ("parameters: {n: {default: 3, says: a}}\nscript: [{run: $(m)}]", r"mine: \$\(m\): no such parameter; there are: n"),
        ("parameters: {n: {default: 3, says: a}}\nscript: [{for: [n], run: true}]", r"mine: for: wants a mapping"),
        ("parameters: {n: {default: 3, says: a}}\nscript: [{for: {m: x}, run: true}]", r"mine: for: m must be a number"),
        ("parameters: {n: {default: 9999, says: a}}\nscript: [{for: {i: $(n), j: $(n)}, run: true}]", r"mine: for: i, j would repeat"),
        ("parameters: {n: {default: 3, says: a}}\nscript: [{when: {m: 3}, run: true}]", r"mine: \$\(m\): no such parameter"),
    ],
)
def test_faults_of_a_scenario_are_named(text, words):
    """The error about an unknown field lists the known ones."""
    with pytest.raises(ScenarioError, match=words):
        read(text, "mine").play()


def test_failed_expectations_show_both_sides():
    """A failed expectation names the script line, the expected and the actual value."""
    script = "question: a\nobjects:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\nscript:\n- expect: "
    for line, said in (
        ("{ns/shop: {metadata.name: mall}}", "expected ns/shop metadata.name 'mall', it is 'shop'"),
        ("{is: pod/app exists}", "expected 'pod/app exists' to be True, it is False"),
        ("{event: {about: ns/shop}}", "expected an event .*, there are \\[\\]"),
    ):
        with pytest.raises(ExpectationFailed, match=f"mine: script\\[1\\]: {said}"):
            read(script + line, "mine").play()


def test_gates_and_dials_must_exist():
    """The error about an unknown gate or dial lists the known ones."""
    with pytest.raises(ValueError, match=r"no gate VolumeBinding of kube-scheduler: .* VolumeScheduling"):
        Scenario("mine", gates={"kube-scheduler": {"VolumeBinding": False}}).cluster()
    with pytest.raises(ValueError, match=r"kubelet has no dial speed; there are: absent, denied, start_delay"):
        Cluster(components={"kubelet": {"speed": 3}})
    with pytest.raises(ValueError, match=r"cannot deny 'everything'; write for example"):
        Cluster(components={"kubelet": {"denied": ["everything"]}})


def test_values_are_filled_in_and_items_repeated():
    """A reference alone keeps the type of its value; `for` counts and goes through lists, `when` leaves items out."""
    values = {"n": 2, "mode": "late"}
    assert [2, "x-2", "$(n)", "a $(n)"] == fill(["$(n)", "x-$(n)", "$$(n)", "a $$(n)"], values)
    assert {"pod-2": {"deep": [2]}} == fill({"pod-$(n)": {"deep": ["$(n)"]}}, values)
    names = [{"for": {"zone": ["a", "b"], "i": "$(n)"}, "name": "$(zone)$(i)"}, {"for": {"i": 0}, "name": "none"}]
    assert [{"name": "a1"}, {"name": "a2"}, {"name": "b1"}, {"name": "b2"}] == fill(names, values)
    assert ["p1", "p2", "end"] == fill([{"for": {"i": "$(n)"}, "item": "p$(i)"}, "end"], values)
    assert ["yes"] == fill([{"when": {"mode": "late"}, "item": "yes"}, {"when": {"n": [3, 4]}, "item": "no"}], values)


def test_a_scenario_without_parameters_keeps_its_references():
    """`$(HOST)` in a container's arguments is Kubernetes' own unless the scenario declares parameters or repeats items."""
    script = "question: a\nobjects:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: {a: $(HOST)}}}"
    assert "$(HOST)" == read(script, "mine").cluster()["ns/shop"].metadata.annotations["a"]
    with pytest.raises(ScenarioError, match=r"mine: no parameter or component is called 'n'\n  parameters: none"):
        read(script, "mine").cluster(n=3)


def test_items_are_repeated_without_any_parameter():
    """`for` alone is enough; what is filled in is not filled in again."""
    repeated = "question: a\nobjects:\n- for: {n: 2}\n  item: {apiVersion: v1, kind: Namespace, metadata: {name: shop-$(n),"
    made = read(f"{repeated} annotations: {{a: $$(HOST)}}}}}}", "mine")
    cluster = made.filled().cluster()
    assert ["$(HOST)", "$(HOST)"] == [cluster[f"ns/shop-{n}"].metadata.annotations["a"] for n in (1, 2)]
    with pytest.raises(ScenarioError, match=r"mine: \$\(m\): no such parameter; there are: n"):
        read(f"{repeated} annotations: {{a: $(m)}}}}}}", "mine").cluster()


def test_parameters_say_what_they_want():
    """A text of the command line becomes a value of the parameter's type."""
    number, word = declared({"n": {"default": 3, "says": "a"}, "w": {"default": "x", "says": "b"}})
    assert (-7, "7") == (number.parsed("-7"), word.parsed("7"))
    assert "n=3: a" == repr(number)
