"""Write unit tests from recorded calls of the C code: arguments, results, and the buffers after the call.

Only functions whose result depends solely on their arguments are tested, with plain numbers and buffers of numbers.
"""

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.mechanical.context import scalar
from jarvis_workers.c2rust.project import Project, ProjectItem
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

MOST_TESTS = 3
SMALL = ("bool", "integer", "enum")
BYTE = CType("integer", "unsigned char", size=1, align=1)
# Functions of the C library whose results depend only on their arguments and memory, in every locale.
# fmt: off
DETERMINISTIC = frozenset((
    "abs", "labs", "llabs", "malloc", "calloc", "realloc", "free", "memcmp", "memcpy", "memmove", "memset", "memchr",
    "strlen", "strnlen", "strcmp", "strncmp", "strcpy", "strncpy", "strcat", "strncat", "strchr", "strrchr", "strstr",
    "strspn", "strcspn", "strpbrk", "fabs", "floor", "ceil", "sqrt", "fmod",
))
# fmt: on
HEADER = "//! Arguments and results that were recorded from the C code.\n\nuse crate::c::*;\n"
TEST = """
#[test]
fn golden_{name}_{number}() {{
{objects}    let result = unsafe {{ {call} }};
{checks}}}
"""


class RecordedCall(NamedTuple):
    """A call of a C function that returned: an input (see inputs.c), the registers of its result, and its objects as
    hexadecimal bytes."""

    lines: str
    general: int
    vector: int
    objects: tuple[str, ...]


class _Unsupported(Exception):
    pass


def golden_tests(project: Project, calls: Mapping[str, Sequence[RecordedCall]]) -> dict[str, str]:
    """Return the tests of functions by slot, given their calls by slot; functions that cannot be tested are omitted."""
    pure = pure_functions(project)
    found = dict[str, str]()
    for item in project.functions:
        if item.definition.key in pure and (text := "".join(_tests(item, calls.get(item.slot, ())))):
            found[item.slot] = text
    return found


def module_of(tests: Iterable[str]) -> str:
    """Return the text of the test module, or "" if there are no tests."""
    text = "".join(tests)
    return text and HEADER + text


def pure_functions(project: Project) -> frozenset[str]:
    """Return the keys of the functions that use only their own variables, and call only such functions."""
    functions = {item.definition.key: item for item in project.functions}
    constants = {item.definition.key for item in project.globals if item.definition.constant}
    uses = {key: _uses(item.definition.tree) for key, item in functions.items()}
    allowed = constants | functions.keys()
    pure = {key for key, names in uses.items() if names is not None and all(_is_pure(one, allowed) for one in names)}
    while impure := {key for key in pure if any(one.target in functions.keys() - pure for one in uses[key] or ())}:
        pure -= impure
    return frozenset(pure)


def _uses(tree: SyntaxNode) -> tuple[SyntaxNode, ...] | None:
    """Return the names that a function refers to, or None if it may depend on other state."""
    nodes = tuple(walk(tree))
    for node in nodes:
        callee = node.children[0] if node.kind == "call" else None
        while callee is not None and callee.kind in ("implicit_cast", "parentheses"):
            callee = callee.children[0]
        if node.kind in ("asm", "unknown", "address_of_label") or (callee and not callee.target):
            return None
        if node.kind == "variable" and node.operator in ("static", "extern", "thread_local"):
            return None
    return tuple(node for node in nodes if node.kind == "name" and node.target and node.value is None)


def _is_pure(name: SyntaxNode, allowed: set[str]) -> bool:
    return name.target in allowed or name.name in DETERMINISTIC or name.name.startswith("__builtin_")


def _tests(item: ProjectItem, calls: Sequence[RecordedCall]) -> Iterator[str]:
    """Yield the tests of a function, those with different results first."""
    chosen = {(call.general, call.vector, call.objects): call for call in reversed(calls)}
    for number, call in enumerate(list(reversed(chosen.values()))[:MOST_TESTS], 1):
        try:
            yield _test(item, call, number)
        except _Unsupported:
            return


def _test(item: ProjectItem, call: RecordedCall, number: int) -> str:
    before, arguments = _read_input(call.lines)
    type_, objects, checks, words = item.definition.type, "", _result_check(item.definition.type, call), list[str]()
    passed = sorted(int(value) for kind, value in arguments if kind == "G")
    if len(arguments) != len(type_.parameters) or passed != list(range(len(call.objects))):
        raise _Unsupported
    for parameter, (kind, value) in zip(type_.parameters, arguments, strict=True):
        if kind != "G":
            words.append(_argument(parameter, kind, int(value, 16)))
            continue
        name, element = f"memory_{value}", _element(parameter)
        after, array = bytes.fromhex(call.objects[int(value)]), _array(before[int(value)], element)
        mutable = "" if parameter.const else "mut "
        objects += f"    let {mutable}{name}: [{scalar(element)}; {len(after) // element.size}] = {array};\n"
        words.append(f"{name}.as_{mutable.strip()}{'_' if mutable else ''}ptr().cast()")
        if not parameter.const:
            checks += f"    assert_eq!({name}, {_array(after, element)});\n"
    name = item.rust_name
    return TEST.format(
        name=name.removeprefix("r#"), number=number, objects=objects, call=f"{name}({', '.join(words)})", checks=checks
    )


def _read_input(lines: str) -> tuple[list[bytes], list[tuple[str, str]]]:
    """Return the objects of an input, and its arguments: kind and value."""
    objects, arguments = list[bytearray](), list[tuple[str, str]]()
    for kind, *rest in (line.split(" ") for line in lines.splitlines()):
        if kind == "o":
            objects.append(bytearray(int(rest[0])))
        elif kind == "w":
            start, content = int(rest[0]), bytes.fromhex(rest[1])
            objects[-1][start : start + len(content)] = content
        elif kind in "gGv" and rest[0].isalnum():
            arguments.append((kind, rest[0]))
        else:
            raise _Unsupported
    return [bytes(one) for one in objects], arguments


def _element(parameter: CType) -> CType:
    target = parameter.target
    if target is None or target.kind not in (*SMALL, "floating", "void") or target.kind == "bool" or target.size > 8:
        raise _Unsupported
    return BYTE if target.kind == "void" else target


def _argument(parameter: CType, kind: str, bits: int) -> str:
    if parameter.kind == "pointer" and kind == "g" and not bits:
        return "core::ptr::null()" if parameter.const else "core::ptr::null_mut()"
    if kind == ("v" if parameter.kind == "floating" else "g") and parameter.kind != "pointer":
        return _value(bits.to_bytes(8, "little")[: parameter.size], parameter)
    raise _Unsupported


def _array(content: bytes, element: CType) -> str:
    if len(content) % element.size:
        raise _Unsupported
    parts = (content[at : at + element.size] for at in range(0, len(content), element.size))
    return f"[{', '.join(_value(part, element) for part in parts)}]"


def _value(content: bytes, type_: CType) -> str:
    """Return a value of a scalar type in Rust."""
    rust = scalar(type_)
    if rust in ("f32", "f64"):
        value = struct.unpack("<f" if rust == "f32" else "<d", content)[0]
        if not math.isfinite(value) or (value == 0 and content[-1]):
            raise _Unsupported
        return f"{rust}::from_bits({int.from_bytes(content, 'little'):#x})"
    if rust == "bool":
        return "true" if content[0] else "false"
    return str(int.from_bytes(content, "little", signed=rust.startswith("i")))


def _result_check(type_: CType, call: RecordedCall) -> str:
    result = type_.target
    if result is None or result.kind == "void":
        return "    assert_eq!(result, ());\n"
    if result.kind not in (*SMALL, "floating") or not 0 < result.size <= 8:
        raise _Unsupported
    bits = call.vector if result.kind == "floating" else call.general
    return f"    assert_eq!(result, {_value(bits.to_bytes(8, 'little')[: result.size], result)});\n"
