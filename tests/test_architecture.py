"""The import law of the house, read from the sources.

api <- volumes, workloads, world <- admission, {scheduler | controllers} <- revision <- cluster (with its answers and edits)
    <- scenario, explain, kubectl, why <- fix, explore, conform, bench <- views <- exercise, cli

An arrow never goes back, also not between modules of one room.
"""

import ast
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "kvolsched"

API = {"api"}
GROUND = API | {"volumes", "workloads", "world"}
ENGINE = GROUND | {"admission", "scheduler", "controllers", "revision"}
FACE = ENGINE | {"answers", "edits", "cluster"}
MAY_IMPORT = {  # room -> the other rooms it may import
    "api": set(),
    "volumes": API,
    "workloads": API,
    "world": API,
    "admission": GROUND,
    "scheduler": GROUND,
    "controllers": GROUND,
    "revision": GROUND | {"admission", "scheduler", "controllers"},
    "answers": GROUND,
    "edits": API,
    "cluster": ENGINE | {"answers", "edits"},
    "scenario": FACE,
    "explain": FACE | {"scenario"},
    "kubectl": FACE,
    "explore": FACE | {"scenario", "explain"},
    "why": FACE,
    "fix": FACE | {"why", "explain"},
    "conform": FACE | {"scenario", "explain", "explore", "kubectl"},
    "bench": FACE | {"scenario", "explain", "explore", "conform"},
    "views": FACE | {"scenario", "explain", "explore", "conform"},
    "cli": FACE | {"scenario", "explain", "explore", "conform", "bench", "views", "redact", "why", "fix", "kubectl"},
    "exercise": FACE | {"views"},
    "__init__": FACE | {"scenario", "explain", "explore", "conform", "exercise"},  # the public names
    "redact": API,
    "__main__": {"cli"},
}
# Methods of Cluster that belong to a later room: one line each, which imports that room when called.
LATER = {
    "why": "why", "fix": "fix", "story": "explain", "passes": "explain", "diff": "explain", "explore": "explore",
    "sample": "explore",
    "lab": "views", "map": "views", "verdicts": "views",
    "verdict": "views", "scores": "views", "held": "views", "changes": "views", "events": "views",
    "domains": "views", "skew": "views", "capacity": "views", "timeline": "views", "writes": "views", "get": "kubectl",
    "describe": "kubectl", "_repr_mimebundle_": "views",
}
ONLY_IN = {  # library -> the only places that may import it
    "numpy": ("kvolsched.scheduler", "kvolsched.bench"),
    "yaml": ("kvolsched.api.yamltext",),
    "altair": ("kvolsched.views",),
    "ipywidgets": ("kvolsched.views",),
    "anywidget": ("kvolsched.views",),
}
OPEN_FOR = {"kvolsched.scheduler.plugins": "plugins never import plugins",
            "kvolsched.controllers": "controllers never import controllers"}


@dataclass(frozen=True)
class Import:
    """One arrow: which module imports what, on which line, inside which function of which class."""

    importer: str
    target: str
    line: int
    function: str = ""
    for_types: bool = False  # under `if TYPE_CHECKING`

    def __str__(self):
        """Name the place as an editor finds it."""
        return f"{self.importer}:{self.line} imports {self.target}"


def module_name(path, root=ROOT):
    """`kvolsched/world/log.py` is `kvolsched.world.log`; a package's `__init__` is the package."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module):
    """`kvolsched.world.log` lies in `world`; `kvolsched` itself in `__init__`."""
    return module.split(".")[1] if "." in module else "__init__"


def within(module, place):
    """Whether a module is this place or lies in it."""
    return module == place or module.startswith(place + ".")


def part(module, place):
    """Which of a place's parts a module belongs to: a package of several files is one."""
    return module.removeprefix(f"{place}.").split(".")[0]


def imports(source, module, package, modules):
    """Every import of one source, also inside functions; names that are modules count as such."""
    found = []

    def visit(node, function, for_types):
        for_types = for_types or (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"))
        for child in ast.iter_child_nodes(node):
            inside = function
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = f"{function}.{child.name}".lstrip(".")
            elif isinstance(child, ast.Import):
                found.extend(Import(module, alias.name, child.lineno, function, for_types)
                             for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = resolve_name("." * child.level + (child.module or ""), package)
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    target = full if full in modules else base
                    found.append(Import(module, target, child.lineno, function, for_types))
            visit(child, inside, for_types)

    visit(ast.parse(source), function="", for_types=False)
    return list(dict.fromkeys(found))


def read_house(house):
    """All imports of a package and the trees of its modules; {module: (path, imports)}."""
    paths = {module_name(path, house.parent): path for path in sorted(house.rglob("*.py"))}
    return {module: (path, imports(path.read_text(encoding="utf-8"), module,
                                   module if path.stem == "__init__" else module.rpartition(".")[0], paths))
            for module, path in paths.items()}


def one_line_methods(tree):
    """Methods of Cluster that are, after their docstring, imports and one statement: {name}."""
    found = set()
    for cluster in (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Cluster"):
        for method in (node for node in cluster.body if isinstance(node, ast.FunctionDef)):
            body = method.body[1:] if ast.get_docstring(method, clean=False) is not None else method.body
            if len([node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]) == 1:
                found.add(method.name)
    return found


def breaches(house):
    """Every import that the law forbids: a sentence each."""
    modules = read_house(house)
    found = []
    for module, (path, arrows) in modules.items():
        here = room(module)
        if here not in MAY_IMPORT:
            found.append(f"{module}: no room of this name in the law")
            continue
        short = one_line_methods(ast.parse(path.read_text(encoding="utf-8"))) if here == "cluster" else set()
        for arrow in arrows:
            library = arrow.target.split(".")[0]
            if library != "kvolsched":
                places = ONLY_IN.get(library)
                if places and not any(within(module, place) for place in places):
                    found.append(f"{arrow}: {library} only in {', '.join(places)}")
                continue
            there = room(arrow.target)
            if there == here:
                found.extend(f"{arrow}: {why}" for place, why in OPEN_FOR.items()
                             if module != place and within(module, place) and within(arrow.target, place)
                             and part(module, place) != part(arrow.target, place))
                continue
            owner, _, method = arrow.function.partition(".")
            if here == "cluster" and owner == "Cluster" and LATER.get(method) == there:
                if method not in short:
                    found.append(f"{arrow}: Cluster.{method} belongs to {there} and must be one line here")
            elif here == "cluster" and arrow.for_types and there in LATER.values():
                pass  # the types that those methods give
            elif there not in MAY_IMPORT[here]:
                found.append(f"{arrow}: {here} may not import {there}")
    return found


def circles(house):
    """Modules that import each other in a circle when they are loaded."""
    modules = read_house(house)
    after = {module: {arrow.target for arrow in arrows
                      if arrow.target in modules and arrow.target != module
                      and not arrow.function and not arrow.for_types}
             for module, (_, arrows) in modules.items()}
    found = set()
    for start, first in after.items():
        seen, todo = set(), list(first)
        while todo:
            module = todo.pop()
            if module not in seen:
                seen.add(module)
                todo.extend(after[module])
        if start in seen:
            found.add(start)
    return sorted(found)


def too_long(house):
    """Modules of over 500 lines whose first paragraph does not say why."""
    found = []
    for path in sorted(house.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        law = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
        if len(source.splitlines()) > 500 and "over 500 lines because" not in " ".join(law.split()):
            found.append(f"{path.relative_to(house.parent)}: {len(source.splitlines())} lines")
    return found


def undeclared(house, core, lab):
    """Imports of libraries that pyproject.toml does not bring where they are used."""
    differ = {"pyyaml": "yaml", "vl_convert_python": "vl_convert"}

    def names(requirements):
        plain = [re.split(r"[^\w-]", line)[0].lower().replace("-", "_") for line in requirements]
        return {differ.get(name, name) for name in plain}

    everywhere = names(core) | {"attr", "kvolsched"} | set(sys.stdlib_module_names)
    in_views = names(lab) | {"IPython", "traitlets"}  # come with ipywidgets
    return [str(arrow) for module, (_, arrows) in read_house(house).items() for arrow in arrows
            if (library := arrow.target.split(".")[0]) not in everywhere
            and not (library in in_views and room(module) == "views")]


def test_imports_keep_the_law():
    """No room imports a later one, and numpy, cattrs, yaml and the widget libraries keep their places."""
    assert breaches(HOUSE) == []


def test_no_arrow_goes_in_a_circle():
    """Modules load in an order; none needs another that needs it."""
    assert circles(HOUSE) == []


def test_long_files_say_why():
    """A file over 500 lines is split, or its first paragraph defends it."""
    assert too_long(HOUSE) == []


def test_every_library_is_declared():
    """What is imported is in pyproject.toml; the lab's libraries only serve the views."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert undeclared(HOUSE, project["dependencies"], project["optional-dependencies"]["lab"]) == []


def test_importing_the_package_imports_no_widgets():
    """`import kvolsched` stays light: no altair, no widgets, no IPython."""
    heavy = {"altair", "ipywidgets", "anywidget", "IPython", "vl_convert"}
    question = f"import sys, kvolsched; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", question],
                            cwd=ROOT, check=True, capture_output=True, text=True)

    assert loaded.stdout.strip() == "[]"


@pytest.fixture
def house(tmp_path):
    """Build a small house from {path: source}."""
    def build(files):
        for name, source in files.items():
            path = tmp_path / "kvolsched" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return tmp_path / "kvolsched"
    return build


STORY = "class Cluster:\n def story(self):\n  'Tell it.'\n  from kvolsched import explain\n"


@pytest.mark.parametrize(("path", "source"), [
    ("api/pod.py", "from kvolsched import world"),
    ("api/pod.py", "from ..world import log"),
    ("world/log.py", "import kvolsched.volumes"),
    ("world/log.py", "def late():\n from kvolsched.cluster import Cluster"),
    ("scheduler/cycle.py", "from kvolsched.controllers import kubelet"),
    ("controllers/kubelet.py", "from kvolsched.scheduler.cycle import Cycle"),
    ("controllers/kubelet.py", "from kvolsched.controllers.garbage import Collector"),
    ("controllers/kubelet.py", "from .garbage import Collector"),
    ("scheduler/plugins/node_name.py", "from . import node_ports"),
    ("scheduler/plugins/node_name.py", "from kvolsched.scheduler.plugins.node_ports import NodePorts"),
    ("scenario.py", "from kvolsched.views import frame"),
    ("explain.py", "import kvolsched"),
    ("views/map.py", "from kvolsched.cli import main"),
    ("utils.py", ""),
    ("explain.py", "import numpy as np"),
    ("controllers/kubelet.py", "from numpy import array"),
    ("scenario.py", "import yaml"),
    ("cli.py", "import altair"),
    ("cluster.py", "from kvolsched import explain"),
    ("explain.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n from kvolsched.views import map"),
    ("cluster.py", STORY + "  answer = explain.story(self)\n  return answer"),
    ("cluster.py", STORY.replace("explain", "views") + "  return views.story(self)"),
    ("cluster.py", STORY.replace("def story", "def step") + "  return explain.story(self)"),
])
def test_breaches_are_found(house, path, source):
    """Each kind of forbidden import is seen, so that the law above is no empty one."""
    others = ("world/log", "explain", "controllers/garbage", "scheduler/plugins/node_ports")
    built = house({f"{name}.py": "" for name in others} | {path: source})

    assert len(breaches(built)) == 1


@pytest.mark.parametrize(("path", "source"), [
    ("cluster.py", "import kvolsched.revision\n" + STORY + "  return explain.story(self)"),
    ("cluster.py", "import typing\nif typing.TYPE_CHECKING:\n from kvolsched.explain import Story"),
    ("scheduler/plugins/__init__.py", "from kvolsched.scheduler.plugins import node_ports"),
    ("scheduler/nodetable.py", "import numpy"),
    ("api/yamltext.py", "import yaml, cattrs"),
    ("views/map.py", "import altair\nfrom kvolsched import explain"),
    ("bench.py", "import numpy\nfrom kvolsched.scenario import load"),
])
def test_what_the_law_allows_passes(house, path, source):
    """No false alarm on what each room is there for."""
    built = house({path: source, "explain.py": "", "scheduler/plugins/node_ports.py": ""})

    assert breaches(built) == []


def test_circles_long_files_and_strange_libraries_are_found(house):
    """The three other readings can fail as well."""
    built = house({
        "world/__init__.py": "from kvolsched.world.log import Log",
        "world/log.py": "from kvolsched.world import view",
        "world/view.py": "from kvolsched.world import Log",
        "api/pod.py": "x = 1\n" * 501,
        "api/node.py": '"""Node: over 500 lines\nbecause it tests the rule.\n"""\n' + "x = 1\n" * 501,
        "cli.py": "import click, pandas, altair",
        "views/map.py": "import altair, IPython",
    })

    assert circles(built) == ["kvolsched.world", "kvolsched.world.log", "kvolsched.world.view"]
    assert too_long(built) == ["kvolsched/api/pod.py: 501 lines"]
    assert undeclared(built, ["click>=8", "PyYAML"], ["altair>=6,<7"]) == [
        "kvolsched.cli:1 imports pandas", "kvolsched.cli:1 imports altair"]
