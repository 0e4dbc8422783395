"""Hypothesis strategies: plain data of any kind, drawn from the table of fields."""

from hypothesis import strategies as st

from kvolsched.api.kinds.kind import KINDS
from kvolsched.api.text.convert import schema

WORDS = st.text(alphabet="abcxyz019.-/:# é\n'\"{[&*!%@`|>~=", max_size=8) | st.sampled_from(
    ["yes", "null", "1e3", "0x1f", "012", "1_000", "2024-01-31", "<<", "=", "~", "n", "1:30", " a", "- b", "%x", ".5"]
)
QUANTITIES = st.sampled_from(["0", "1", "100m", "1024Mi", "1Gi", "1e3", "0.5", "1500m", "2Ti", "128974848", "12E"])
SCALARS = {
    "string": WORDS,
    "boolean": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "intOrString": st.integers(0, 99) | WORDS,
    "time": st.sampled_from(["2024-01-31T12:00:00Z", "2024-01-31T12:00:00.123456Z"]),
    "quantity": QUANTITIES,
    "object": st.just({}),
}


def values(type_name, depth=0, enum=()):
    """Plain values of a type of the table."""
    if enum:
        return st.sampled_from(enum)
    if type_name in SCALARS:
        return SCALARS[type_name]
    if type_name.startswith("[]"):
        return st.lists(values(type_name[2:], depth), max_size=2)
    if type_name.startswith("map[string]"):
        return st.dictionaries(WORDS, values(type_name.removeprefix("map[string]"), depth), max_size=3)
    return structures(type_name, depth)


def structures(type_name, depth=0):
    """Plain mappings with up to three fields of a type, fewer the deeper."""
    fields = schema()["types"][type_name]

    def filled(names):
        return st.fixed_dictionaries({name: field(fields[name], depth + 1) for name in names})

    most = 4 if depth < 2 else 2 if depth < 6 else 0
    return st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=most).flatmap(filled)


def field(declared, depth):
    """Plain values of one field as the table declares it."""
    if isinstance(declared, dict):
        inner = declared["type"]
        return values(inner, depth, () if inner.startswith("[]") else tuple(declared.get("enum", ())))
    return values(declared, depth)


def objects():
    """Plain objects of the modelled kinds, named."""

    def of_kind(kind):
        type_name = schema()["kinds"][f"{kind.type.api_version}/{kind.name}"]

        def named(pair):
            data, metadata = pair
            data = {key: value for key, value in data.items() if key not in ("apiVersion", "kind")}
            return {
                **data,
                "apiVersion": kind.type.api_version,
                "kind": kind.name,
                "metadata": {**metadata, "name": "x"},
            }

        return st.tuples(structures(type_name), structures("ObjectMeta", 1)).map(named)

    return st.sampled_from(KINDS).flatmap(of_kind)
