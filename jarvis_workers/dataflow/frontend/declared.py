"""Read types and declarators: the name, the pointer levels and the dimensions of arrays."""

import re
from typing import Any, NamedTuple

from jarvis_workers.dataflow.frontend.grammar import Expr, Node, Reading

FUNCTION = "fn*"
RECORDS = frozenset(("struct_specifier", "union_specifier", "class_specifier"))
TYPES = RECORDS | {
    *("primitive_type", "type_identifier", "sized_type_specifier", "enum_specifier", "qualified_identifier"),
    *("template_type", "placeholder_type_specifier", "decltype", "macro_type_specifier", "dependent_type"),
}
SPECIFIERS = frozenset(
    (
        *("storage_class_specifier", "attribute_specifier", "attribute_declaration", "ms_declspec_modifier"),
        *("virtual", "virtual_function_specifier", "explicit_function_specifier", "alignas_qualifier"),
        "ms_call_modifier",
    )
)
NOISE = re.compile(r"\b(?:const|volatile|static|struct|class|enum|union|typename|register|restrict|constexpr)\b|std::")
SPACES = re.compile(r"\s+")
AROUND = re.compile(r"\s*([<>,*&()\[\]:])\s*")
SIZED = {
    "unsigned": "unsigned int",
    "signed": "int",
    "signed int": "int",
    "short int": "short",
    "signed short": "short",
    "long int": "long",
    "signed long": "long",
    "long long int": "long long",
    "signed long long": "long long",
    "unsigned short int": "unsigned short",
    "unsigned long int": "unsigned long",
    "unsigned long long int": "unsigned long long",
}
VIRTUAL = re.compile(r"\bvirtual\b|\boverride\b")
DESTRUCTOR = re.compile(r"\bvirtual\s[^;{}()]*~|~\w+\s*\(\s*\)\s*(?:noexcept\s*)?override")
SIGNS = ("unsigned", "signed")
TYPE_MAX = 120
NESTED_MAX = 24


class Specified(NamedTuple):
    """The part of a declaration before its declarators: type, flags, and the declarators left to read."""

    type: str
    flags: str
    rest: list[Node]
    words: tuple[str, ...]


class Declarator(NamedTuple):
    """One declarator; `function` is the declarator node of a function, with its parameters."""

    name: str
    type: str
    dims: list[Expr | None]
    constant: bool
    function: Node | None


def specified(reading: Reading, children: list[Node]) -> Specified:
    """Read the specifiers of a declaration; `rest` are its declarators with their commas."""
    name, flags = "", ""
    words: tuple[str, ...] = ()
    for place, child in enumerate(children):
        kind = child.type
        if kind in TYPES and not name:
            name = type_name(reading, child, kind)
        elif kind == "type_qualifier":
            flags += "c" if reading.word(child).startswith("const") else ""
        elif kind in SPECIFIERS:
            word = reading.word(child)
            words = (*words, word)
            flags += {"static": "s", "thread_local": "t", "_Thread_local": "t", "__thread": "t"}.get(word, "")
        else:
            return Specified(name, flags, children[place:], words)
    return Specified(name, flags, [], words)


def type_name(reading: Reading, node: Node, kind: str) -> str:
    """Return the type that a specifier names; a definition in it is recorded."""
    if kind in ("primitive_type", "type_identifier"):
        return reading.word(node)
    if kind == "sized_type_specifier":
        return _sized(reading.word(node))
    if kind in RECORDS:
        return record(reading, node)
    if kind == "enum_specifier":
        return _enumeration(reading, node)
    if kind == "placeholder_type_specifier":
        return "auto"
    return plain_type(reading.word(node))


def plain_type(text: str) -> str:
    """Return a type without qualifiers and redundant spaces."""
    bare = AROUND.sub(r"\1", SPACES.sub(" ", NOISE.sub(" ", text[:TYPE_MAX])).strip())
    return SIZED.get(bare, bare)


def _sized(text: str) -> str:
    words = [word for word in text.split() if word not in ("const", "volatile")]
    words.sort(key=lambda word: (word not in SIGNS, word in ("int", "char", "double")))
    name = " ".join(words)
    return SIZED.get(name, name)


def descriptor(reading: Reading, node: Node) -> str:
    """Return the type of a cast, of `sizeof`, or of a template argument."""
    specifiers = specified(reading, reading.children(node))
    stars = ""
    inner = specifiers.rest[0] if specifiers.rest else None
    for _ in range(NESTED_MAX):
        if inner is None:
            break
        kind = inner.type
        if kind in ("abstract_function_declarator", "function_declarator"):
            return FUNCTION
        if kind in ("abstract_pointer_declarator", "pointer_declarator", "abstract_array_declarator"):
            stars += "*"
        elif kind in ("abstract_reference_declarator", "reference_declarator"):
            stars += "&"
        inner = next((child for child in inner.named_children if child.type.endswith("declarator")), None)
    return specifiers.type + stars


def array_type(reading: Reading, node: Node) -> tuple[str, list[Expr | None]]:
    """Return the type of the elements of an array type, and its dimensions; of any other type, itself and none."""
    specifiers = specified(reading, reading.children(node))
    inner = specifiers.rest[0] if specifiers.rest else None
    stars = ""
    dims: list[Expr | None] = []
    for _ in range(NESTED_MAX):
        if inner is None:
            return specifiers.type + stars, dims
        if inner.type == "abstract_pointer_declarator" and not dims:
            stars += "*"
        elif inner.type == "abstract_array_declarator":
            size = inner.child_by_field_name("size")
            dims.append(reading.expr(size) if size is not None else None)
        else:
            break
        inner = inner.child_by_field_name("declarator")
    return descriptor(reading, node), []


def declared(reading: Reading, node: Node, of: Specified) -> Declarator:
    """Read one declarator, from the outside in."""
    stars = ""
    dims: list[Expr | None] = []
    function: Node | None = None
    constant = "c" in of.flags
    for _ in range(NESTED_MAX):
        kind = node.type
        if kind in ("identifier", "field_identifier", "type_identifier"):
            break
        children = reading.children(node)
        if kind == "pointer_declarator":
            if function is not None:
                return _pointer_to_function(reading, children, of)
            stars, dims = stars + "*", []
            constant = any(child.type == "type_qualifier" and "const" in reading.word(child) for child in children)
        elif kind == "reference_declarator":
            stars += "&"
        elif kind == "array_declarator":
            dims.insert(0, _size(reading, children))
        elif kind == "function_declarator":
            function = node
        inner = _inner(children)
        if inner is None:
            break
        node = inner
    name = reading.word(node) if node.child_count == 0 or node.type == "qualified_identifier" else ""
    return Declarator(name, of.type + stars, dims, constant, function)


def _pointer_to_function(reading: Reading, children: list[Node], of: Specified) -> Declarator:
    inner = _inner(children)
    if inner is None or not reading.enter():
        return Declarator("", FUNCTION, [], False, None)
    declarator = declared(reading, inner, of)
    reading.leave()
    return Declarator(declarator.name, FUNCTION, declarator.dims, False, None)


def _inner(children: list[Node]) -> Node | None:
    for child in children:
        kind = child.type
        if kind.endswith(("declarator", "identifier")) and not kind.startswith("ms_"):
            return child
    return None


def _size(reading: Reading, children: list[Node]) -> Expr | None:
    for place, child in enumerate(children):
        if child.type == "[":
            sizes = [size for size in children[place + 1 : -1] if size.is_named and size.type != "type_qualifier"]
            return reading.expr(sizes[0]) if sizes else None
    return None


def parameters(reading: Reading, function: Node) -> list[list[Any]]:
    """Return the parameters of a function's declarator."""
    result: list[list[Any]] = []
    for holder in reading.children(function):
        if holder.type != "parameter_list":
            continue
        for child in reading.children(holder):
            kind = child.type
            if kind == "identifier":
                result.append([reading.word(child), "int", []])
            elif kind in ("parameter_declaration", "optional_parameter_declaration"):
                result.append(_parameter(reading, child))
        break
    return [] if result == [["", "void", []]] else result


def _parameter(reading: Reading, node: Node) -> list[Any]:
    children = reading.children(node)
    end = next((place for place, child in enumerate(children) if child.type == "="), len(children))
    of = specified(reading, children[:end])
    if not of.rest:
        return ["", of.type, []]
    if of.rest[0].type.startswith("abstract_"):
        return ["", _abstract(reading, node, of), []]
    declarator = declared(reading, of.rest[0], of)
    if declarator.function is not None:
        return [declarator.name, FUNCTION, []]
    if declarator.dims:
        return [declarator.name, declarator.type.rstrip("&") + "*", declarator.dims[1:]]
    return [declarator.name, declarator.type, []]


def _abstract(reading: Reading, node: Node, of: Specified) -> str:
    shape = reading.word(of.rest[0])
    if "(" in shape:
        return FUNCTION
    return of.type + "".join(mark for mark in shape.replace("[", "*") if mark in "*&")


def record(reading: Reading, node: Node) -> str:
    """Return the name of a struct, class or union; its fields are recorded if it has a body."""
    name, body = "", None
    bases: list[str] = []
    for child in reading.children(node):
        kind = child.type
        if kind == "field_declaration_list":
            body = child
        elif kind in ("type_identifier", "template_type", "qualified_identifier"):
            name = plain_type(reading.word(child)).partition("<")[0]
        elif kind == "base_class_clause":
            bases = [plain_type(reading.word(base)) for base in child.named_children if base.type in TYPES]
    if body is None:
        return name
    name = name or f"struct@{reading.line(node)}"
    if reading.enter():
        reading.types[name] = {**_fields(reading, body), "bases": bases, "union": node.type == "union_specifier"}
        reading.types[name] |= _virtual(reading.word(body)) if reading.cpp else {}
        reading.leave()
    return name


def _virtual(body: str) -> dict[str, str]:
    """Return whether the destructor of a class is virtual, or any method; nothing if none is."""
    found = VIRTUAL.search(body)
    return {} if found is None else {"virtual": "~" if DESTRUCTOR.search(body) else found[0]}


def _fields(reading: Reading, body: Node) -> dict[str, Any]:
    """Return the fields of a struct, and the names of those that are members of anonymous unions in it."""
    fields: dict[str, Any] = {}
    shared: list[str] = []
    for child in reading.children(body):
        if child.type == "field_declaration":
            _add_fields(reading, child, fields, shared)
        elif child.type == "function_definition":
            reading.skip("local class", child)
    return {"fields": fields, "shared": shared} if shared else {"fields": fields}


def _add_fields(reading: Reading, node: Node, fields: dict[str, Any], shared: list[str]) -> None:
    of = specified(reading, reading.children(node))
    if of.type in reading.types and not any(child.is_named for child in of.rest):
        inner = reading.types[of.type]
        fields.update(inner["fields"])
        shared += inner["fields"] if inner["union"] else inner.get("shared", ())
    for child in of.rest:
        if child.type == "=":
            break
        if child.type.endswith(("declarator", "identifier")):
            declarator = declared(reading, child, of)
            if declarator.name and declarator.function is None:
                fields[declarator.name] = [declarator.type, declarator.dims]


def _enumeration(reading: Reading, node: Node) -> str:
    """Return the name of an enumeration; its constants with known values are recorded."""
    name = "int"
    last: int | None = -1
    for child in reading.children(node):
        if child.type == "type_identifier":
            name = reading.word(child)
        elif child.type == "enumerator_list":
            for item in child.named_children:
                if item.type == "enumerator":
                    last = _constant(reading, reading.children(item), last)
    return name


def _constant(reading: Reading, children: list[Node], last: int | None) -> int | None:
    value = None if last is None else last + 1
    if len(children) > 2:
        tag, *parts = reading.expr(children[-1])
        value = parts.pop() if tag == "n" else None
    if value is not None and children:
        reading.constants[reading.word(children[0])] = ["n", value]
    return value
