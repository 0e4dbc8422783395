"""The one-line mutants of a module: what a slip of the hand would leave of a line that decides what a reader sees.

A mutant is the module's tree with one node replaced. Nothing is mutated that no reader sees: docstrings, annotations,
imports, decorators, what only a type checker reads, what a trait says of itself, which nothing shows; nor are the
arguments of a smallest or greatest swapped, which is the same value. Of a module that draws nor are places, radii and
sizes in px, which are style, and the keys by which the parts of a picture are told apart (`4:pod/web-0`): their first
digit is what is drawn first, the rest only differs. Of a module of rules nor is what cannot change what is decided:

- words: sentences, what is told of a verdict or of a field that is not read, what a dial or a hint says of itself, what
  a set of rules is called (readings and recordings have these);
- aliases of types, and asserts: one that holds is a note to the type checker;
- how much work is counted, or spared since it would do nothing or say the same, and the numbers by which inputs or
  reasons are told apart;
- which values of a dial or a setting are refused;
- names by which a component finds its own notes, views, causes and routines: who writes them is who reads them;
- the namespace that stands in where there is none: every stored object has one;
- kinds and fields that no document knows, and when pods are tried again after their changes.
"""

import ast
import random
import re

FLIPPED = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
SHIFTED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OTHER_SIGN = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
              ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.Mod: ast.Mult}  # fmt: skip
OTHER_CALL = {"min": "max", "max": "min", "any": "all", "all": "any"}
ORDERED = {"sorted", "sort", "min", "max", "groupby"}
NOT_SEEN = {"encoding", "slots", "frozen", "kw_only", "eq", "hash", "repr", "maxsize", "strict", "alias", "stacklevel"}
NO_VALUES = {"annotation", "returns", "decorator_list", "bases", "op", "ops", "ctx", "names", "pattern", "format_spec"}
NOT_READ = {"cast", "TypeVar", "ParamSpec", "NewType", "getLogger", "warn", "add_class", "Layout"}
TELLS = {"describe", "Card", "Clause", "Sides", "_clauses", "_words", "__str__", "__repr__", "short", "sum_words",
         "unread", "unread_fields", "_manifest_name", "in_name", "with_settings_named", "_pairs_text", "_read_pairs",
         "_value", "_read_shape", "NamedSetting", "check_gates", "_object_list",
         "CapacityExceeded", "ClaimInUse", "LabelMissing", "LimitExceeded", "NothingProvisioned", "OtherNodeSelected",
         "DiskAttached", "OtherZone", "PoolsExceeded", "SkewExceeds", "TopologyNotAllowed", "VolumeOutOfReach"}  # fmt: skip
TELLS_IN = {"dial": slice(1, None), "QueueingHint": slice(1, 2), "Values": slice(0, 1), "AdmissionPlugin": slice(0, 1),
            "Reason": slice(0, 1), "once": slice(0, 1), "cached": slice(0, 1)}
"""The arguments that are words, what may be said, or names inside."""
NOT_TOLD = {"words", "refusal_words", "metadata", "unread", "volume_attributes_class_name"}
SPARES = {"concerning", "is_settled", "_is_handed_over", "_dequeue_settled", "_is_marked", "needs_poll", "_next_hash",
          "_topologies", "_is_countable", "_uncertain", "skip_without", "filter_skip_without", "reads_other_nodes",
          "reads_room"}  # fmt: skip
NAMES_INSIDE = {"ANSWER", "ARRANGE", "BINDING", "CLAIMS", "ITEM", "NOT_RANKED", "OPERATIONS", "POLL", "TOPOLOGIES", "VOLUMES",
                "WORKER"}  # fmt: skip
LATER_KINDS, LATER_TESTS = {"CSINode", "CSIStorageCapacity", "VolumeAttachment"}, {"_stops_tracking_inline"}
STYLE = {"radius", "size", "thick", "width", "height", "pad"}
KEY = re.compile(r"\d:")
TRAITS = ("traitlets.", "_Int", "_Float", "_Unicode", "EndOfRun")
COMMUTES = {"min", "max", "minimum", "maximum"}
ALIASED = {"Callable", "tuple", "Mapping", "Sequence"}


class Mutant:
    """One node of a tree and what stands in its place."""

    def __init__(self, tree, node, kind, change):
        self.tree, self.node, self.kind, self.change = tree, node, kind, change
        self.line = node.lineno

    def _changed(self, use):
        """Return what is made of the changed tree, and put the node back."""
        kept, kind = dict(self.node.__dict__), type(self.node)
        try:
            self.change(self.node)
            return use()
        finally:
            self.node.__class__ = kind
            self.node.__dict__.clear()
            self.node.__dict__.update(kept)

    def source(self):
        """Return (the text of the mutated module, what was written before and after)."""
        before = ast.unparse(self.node)
        text, after = self._changed(lambda: (ast.unparse(self.tree), ast.unparse(self.node)))
        compile(text, "mutant", "exec")
        return text, before, after

    def code(self, path):
        """Return the code of the mutated module, with the lines of the original one."""
        return self._changed(lambda: compile(ast.fix_missing_locations(self.tree), path, "exec", dont_inherit=True))

    def is_inside(self, code):
        """Whether the node stands in the body of this function, not among its defaults."""
        functions = (each for each in ast.walk(self.tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
        return any(each.name == code.co_name and _first_line(each) == code.co_firstlineno
                   and each.body[0].lineno <= self.line <= each.end_lineno for each in functions)


def _first_line(function):
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def mutants(tree, *, draws=False, rules=False):
    """Return the mutants of a module, by line, in a fixed order; of one that draws or has rules what the module says."""
    found = {}
    for node, parent in _seen(_Decisions().visit(tree) if rules else tree, None):
        if not hasattr(node, "lineno"):
            continue
        for kind, change in _changes(node, parent):
            if kind == "arguments swapped" and _name(node.func) in COMMUTES:
                continue
            if draws and kind == "number" and (isinstance(node.value, float) or abs(node.value) > 3 or _is_px(parent)):
                continue
            if draws and kind == "string" and KEY.match(node.value):
                continue
            found.setdefault(node.lineno, []).append(Mutant(tree, node, kind, change))
    return found


def chosen(by_line, line, seed, known=frozenset()):
    """Return one of a line's mutants that says something else than the line, or None; none of those that are `known`."""
    there = list(by_line[line])
    random.Random(f"{seed}:{line}").shuffle(there)
    for mutant in there:
        try:
            _, before, after = mutant.source()
        except (SyntaxError, ValueError):
            continue
        if before != after and in_one_line(before, after) not in known:
            return mutant
    return None


def in_one_line(before, after):
    """Return what was written before and after as it is listed."""
    return tuple(" ".join(each[:300].split())[:200] for each in (before, after))


def _seen(node, parent):
    """Every node that a run evaluates for a reader, with its parent."""
    if _is_left_out(node):
        return
    yield node, parent
    for name, value in ast.iter_fields(node):
        if name in NO_VALUES or (isinstance(node, ast.AnnAssign | ast.Assign) and name in ("target", "targets")):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_help_of_trait(child, node):
                yield from _seen(child, node)


class _Decisions(ast.NodeVisitor):
    """Marks what a module of rules tells, or writes for the type checker: nothing of it is mutated."""

    def visit(self, node):
        """Mark a node's parts, and return it."""
        match node:
            case ast.Module(body):
                aliases = [each for each in body if isinstance(each, ast.Assign) and _is_type(each.value)]
                left_out = aliases
            case ast.Assign([ast.Name("MIGRATED")], ast.Call(_, [ast.Dict(values=left_out)])):
                left_out = list(left_out)  # the drivers that came after the plugins
            case ast.Call(function, arguments):
                left_out = arguments[TELLS_IN.get(_name(function), slice(0))]
                left_out += [each for each in node.keywords if each.arg in NOT_TOLD]
            case _:
                left_out = []
        for each in left_out:
            each.left_out = True
        node.left_out = getattr(node, "left_out", False) or _is_told(node)
        self.generic_visit(node)
        return node


def _is_told(node):
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.IfExp(body=ast.JoinedStr(), orelse=ast.Constant(str())):
            return True
        case ast.Constant(str(text)):
            return len(text.split(" ")) > 2 or text in LATER_KINDS
        case ast.Call(ast.Name("QueueingHint"), [ast.Constant(kind), _, *tests]):
            return kind in LATER_KINDS or any(isinstance(each, ast.Name) and each.id in LATER_TESTS for each in tests)
        case ast.Call(function):
            return _name(function) in TELLS
        case ast.FunctionDef(name) | ast.AnnAssign(ast.Name(name)):
            return name in TELLS or name in SPARES
        case ast.BoolOp(ast.Or(), [_, ast.Constant("default")] | [ast.Attribute(attr="volume_attributes_class_name"), _]):
            return True
        case ast.AugAssign(ast.Attribute(attr="visits")):
            return True
        case ast.If(body=[ast.Raise(ast.Call(ast.Name("ValueError" | "UnknownName" | "WrongDials" | "unknown_name")))]):
            return True
        case ast.Assign([target]):
            return {each.id for each in ast.walk(target) if isinstance(each, ast.Name)} <= NAMES_INSIDE
    return False


def _is_type(node):
    match node:
        case ast.Subscript(ast.Name(name)):
            return name in ALIASED
        case ast.BinOp(ast.Name(), ast.BitOr(), ast.Name()):
            return True
    return False


def _is_left_out(node):
    if getattr(node, "left_out", False):
        return True
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal() | ast.Expr(ast.Constant()):
            return True
        case ast.If(test):
            return "TYPE_CHECKING" in ast.unparse(test)
        case ast.Assign([ast.Name("__all__" | "__slots__")]):
            return True
        case ast.Call(function):
            return _name(function) in NOT_READ
        case ast.keyword(name):
            return name in NOT_SEEN
    return False


def _is_help_of_trait(node, parent):
    return isinstance(parent, ast.Call) and isinstance(node, ast.keyword) and node.arg == "help" and (
        ast.unparse(parent.func).startswith(TRAITS))  # fmt: skip


def _is_px(parent):
    return isinstance(parent, ast.keyword) and parent.arg in STYLE


def _name(function):
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _put(**fields):
    """A change that gives a node other fields."""
    return lambda node: node.__dict__.update(fields)


def _become(other):
    """A change that makes a node another one, in place: whoever holds it holds the other."""
    def change(node):
        line = node.lineno
        node.__class__, fields = other.__class__, other.__dict__
        node.__dict__.clear()
        node.__dict__.update(fields | {"lineno": line})
    return change


def _changes(node, parent):
    """Return (kind, change) for everything that may be put in this node's place."""
    by_type = {
        ast.Constant: _constants, ast.Compare: _comparisons, ast.BoolOp: _logic, ast.BinOp: _arithmetic,
        ast.AugAssign: _arithmetic, ast.Call: _calls, ast.If: _branches, ast.IfExp: _branches, ast.While: _loops,
        ast.List: _items, ast.Tuple: _items, ast.Set: _items, ast.Dict: _items, ast.comprehension: _filters,
        ast.ListComp: _filters, ast.GeneratorExp: _filters, ast.SetComp: _filters, ast.DictComp: _filters,
        ast.UnaryOp: _negations,
    }  # fmt: skip
    return by_type.get(type(node), lambda *_: ())(node, parent)


def _constants(node, parent):
    value = node.value
    if isinstance(value, bool):
        yield "constant", _put(value=not value)
    elif isinstance(value, int | float):
        if isinstance(value, float) or abs(value) > 3:
            yield "number", _put(value=value * 2 if value else 1.0)
        else:
            yield "number", _put(value=value + 1)
            yield "number", _put(value=value - 1)
    elif isinstance(value, str) and value:
        words = value.split(" ")
        if isinstance(parent, ast.JoinedStr) and not value.strip():
            return
        if len(words) > 2:
            yield "sentence", _put(value=" ".join(words[: len(words) // 2] + words[len(words) // 2 + 1 :]))
        else:
            yield "string", _put(value=value + "x" if value.strip() else value + "_")


def _comparisons(node, _):
    for place, operator in enumerate(node.ops):
        for table in (FLIPPED, SHIFTED):
            if type(operator) in table:
                yield "comparison", _put(ops=[*node.ops[:place], table[type(operator)](), *node.ops[place + 1 :]])


def _logic(node, _):
    yield "and/or", _put(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for place in range(len(node.values)):
        left = [*node.values[:place], *node.values[place + 1 :]]
        yield "operand dropped", _become(ast.BoolOp(node.op, left) if len(left) > 1 else left[0])


def _arithmetic(node, _):
    if type(node.op) in OTHER_SIGN and not _is_text(node):
        yield "sign", _put(op=OTHER_SIGN[type(node.op)]())


def _is_text(node):
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    return any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str) for side in sides)


def _calls(node, _):
    name = _name(node.func)
    if isinstance(node.func, ast.Name) and name in OTHER_CALL:
        yield "min/max", _put(func=ast.Name(OTHER_CALL[name], ast.Load()))
    if len(node.args) > 1 and not any(isinstance(each, ast.Starred) for each in node.args) and name != "isinstance":
        yield "arguments swapped", _put(args=[node.args[1], node.args[0], *node.args[2:]])
    if name in ORDERED:
        keys = [each for each in node.keywords if each.arg in ("key", "reverse")]
        for dropped in keys:
            yield "order", _put(keywords=[each for each in node.keywords if each is not dropped])
        if name in ("sorted", "sort") and not any(each.arg == "reverse" for each in keys):
            yield "order", _put(keywords=[*node.keywords, ast.keyword("reverse", ast.Constant(True))])
        if name == "sorted" and not keys and len(node.args) == 1:
            yield "order", _put(func=ast.Name("list", ast.Load()))
    elif name == "reversed":
        yield "order", _put(func=ast.Name("list", ast.Load()))


def _branches(node, _):
    yield "branch", _put(test=ast.Constant(True))
    yield "branch", _put(test=ast.Constant(False))


def _loops(node, _):
    yield "branch", _put(test=ast.Constant(False))


def _items(node, parent):
    if isinstance(parent, ast.Subscript | ast.For | ast.comprehension) or isinstance(getattr(node, "ctx", None), ast.Store):
        return
    if isinstance(node, ast.Dict):
        for place in range(len(node.keys)):
            yield "item dropped", _put(keys=[*node.keys[:place], *node.keys[place + 1 :]],
                                       values=[*node.values[:place], *node.values[place + 1 :]])
    elif len(node.elts) > 1 and not (isinstance(node, ast.Tuple) and isinstance(parent, ast.Return | ast.Assign)):
        for place in range(len(node.elts)):
            yield "item dropped", _put(elts=[*node.elts[:place], *node.elts[place + 1 :]])


def _filters(node, _):
    generators = getattr(node, "generators", ())
    for place, generator in enumerate(generators):
        if generator.ifs:
            free = ast.comprehension(generator.target, generator.iter, [], generator.is_async)
            yield "filter dropped", _put(generators=[*generators[:place], free, *generators[place + 1 :]])


def _negations(node, _):
    if isinstance(node.op, ast.Not):
        yield "not dropped", _become(node.operand)
    elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "sign", _become(node.operand)
