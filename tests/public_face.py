"""Which tests a reader can run: those that reach the package only through its public face.

Read from the source, without running it: a test, its fixtures and parameters, and every helper and constant of the
tests that they name, through the files that they import from. Public are the names in `kvolsched.__all__`, the
modules of PUBLIC, and whatever their values offer, except the attributes of INSIDE, which lead into the engine.
Patching the package is not for readers either.
"""

import ast
from functools import cache
from pathlib import Path

import attrs

HERE = Path(__file__).parent
PACKAGE = "kvolsched"
# Modules whose names a reader imports beside those of the package itself.
PUBLIC = frozenset(f"{PACKAGE}.{name}" for name in (
    "alternatives", "cli", "cluster", "custom_scheduler", "documents", "experiments", "explore", "make", "queueing",
    "scenario", "writes",
    "api.make", "cli.commands", "cli.redact", "controllers.custom_controller.writes", "core.results", "learn.alternatives",
    "learn.documents", "learn.exercise", "learn.queueing", "learn.said", "learn.scenario", "measure.bench", "measure.experiments",
    "questions.explore", "rules.custom_scheduler", "rules.revision"))
# Attributes of public values that lead into the engine: a cluster's simulation, a revision's plugins and rules.
INSIDE = frozenset({"world", "profile", "flow", "binder", "provisioning", "simulation"})


@attrs.frozen
class Source:
    """A file of tests: what it defines and what it imports, by name."""

    path: Path
    definitions: dict[str, ast.AST]
    imports: dict[str, tuple[str, str]]
    """name -> (module, name in it); the second is empty for a module."""


@cache
def source(path):
    """Read a file of tests."""
    return read(path, ast.parse(path.read_text(encoding="utf-8")))


def read(path, parsed):
    """Read what the statements of a file, or of a page's cell, define and import."""
    definitions, imports = {}, {}
    for node in parsed.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports |= imported(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            definitions |= {name.id: node for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return Source(path, definitions, imports)


def imported(node):
    """Return what an import binds: name -> (module, name in it)."""
    if isinstance(node, ast.Import):
        return {(each.asname or each.name.partition(".")[0]): (each.name if each.asname else each.name.partition(".")[0], "")
                for each in node.names}
    return {each.asname or each.name: (node.module or "", each.name) for each in node.names}


@cache
def public_names():
    """Return the names that the package itself offers."""
    for node in source(HERE.parent / PACKAGE / "__init__.py").definitions.items():
        if node[0] == "__all__":
            return frozenset(ast.literal_eval(node[1].value))
    return frozenset()


def inner(module, name):
    """Return the part of the package that an import leads to if it is not public, else ""."""
    if module.split(".")[0] != PACKAGE:
        return ""
    if module == PACKAGE:
        public = name in {"", "*"} or name in public_names() or f"{PACKAGE}.{name}" in PUBLIC or name.startswith("__")
        return "" if public else f"{PACKAGE}.{name}"
    return "" if {module, f"{module}.{name}"} & PUBLIC else f"{module}.{name}".rstrip(".")


def file_of(module):
    """Return the file of tests that a module name means, None for any other module."""
    path = HERE.joinpath(*module.split("."))
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)


def touches(path, test):
    """Return what a test reaches beside the public face, sorted; empty for a test that a reader can run.

    Args:
        path: the test's file.
        test: the name of its function.
    """
    of = source(Path(path))
    return sorted(_reach(of, test, set())) if test in of.definitions else ["a test in a class"]


def reached_by_cell(cell):
    """Return what a cell of a page reaches beside the public face, sorted; empty for one that keeps to it."""
    parsed = ast.parse(cell)
    return sorted(_reach_node(read(HERE, parsed), parsed, set()))


def _reach(of, name, seen):
    """Return what a name of a file reaches, following definitions and imports that were not seen before."""
    if (of.path, name) in seen:
        return set()
    seen.add((of.path, name))
    if name in of.definitions:
        return _reach_node(of, of.definitions[name], seen)
    module, inside = of.imports.get(name, ("", ""))
    if found := inner(module, inside):
        return {found}
    target = file_of(module) if module and inside else None
    return _reach(source(target), inside, seen) if target else set()


def _reach_node(of, node, seen):
    """Return what a piece of code reaches: by its imports, its attributes and the names that it uses."""
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Import | ast.ImportFrom):
            for module, name in imported(each).values():
                target = file_of(module)
                inside = inner(module, name)
                found |= {inside} if inside else _reach(source(target), name, seen) if target and name else set()
        elif isinstance(each, ast.Attribute):
            found |= _reach_attribute(of, each, seen)
        elif isinstance(each, ast.Name):
            found |= _reach(of, each.id, seen)
        elif isinstance(each, ast.arg):
            found |= _reach(of, each.arg, seen) if each.arg in of.definitions else set()
    return found


def _reach_attribute(of, node, seen):
    """Return what an attribute reaches: into the engine, of the package, or of another file of tests."""
    if node.attr == "setattr" and _base(node) in {"monkeypatch", "patched"}:
        return {"patches the package"}
    if node.attr in INSIDE or (node.attr.startswith("_") and not node.attr.startswith("__") and _base(node) not in {"self", "cls"}):
        return {f".{node.attr}"}
    module, name = of.imports.get(_base(node), ("", ""))
    if name or not module or not isinstance(node.value, ast.Name):
        return set()
    if found := inner(module, node.attr):
        return {found}
    target = file_of(module)
    return _reach(source(target), node.attr, seen) if target else set()


def _base(node):
    """Return the name that a chain of attributes begins with, "" for another expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
