"""The registers in which functions return their results: the file that defines which bytes the shadow gate compares.

Each function has a line with up to seven tab-separated fields: its slot name; the pieces of the result as
`r0:0f,v1:ff`, that is, register and mask of the significant bytes, "-" for none, "?" if the result cannot be compared;
the bytes of arguments on the stack, which a function may overwrite; the numbers of general and vector registers with
arguments, as `2+1`, without the second for a variadic function; the masks of the significant bytes in the general
ones, 00 for parts of records, "-" without registers; the integer constants in it; and the members that it accesses as
OFFSET:SIZE:STRIDE:COUNT, in bytes, for COUNT elements of an array. The last two may be missing. Registers are `r`
(general), `v` (vector) and `p` (general, with a pointer).  Conventions: System V ABI for x86-64, 3.2.3, and AAPCS64, 6.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from jarvis_workers.source.clang.c_types import CType, Field, Record
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

Records = Mapping[str, Record]
WORD = 8
IN_REGISTERS = 16
VECTOR_REGISTERS = 8
GENERAL_REGISTERS = {"x86_64": 6, "aarch64": 8}
MOST_HOMOGENEOUS = 4
MOST_LEAVES = 64
MOST_MENTIONED = 256
NONE: Mapping[str, str] = MappingProxyType({})


class CallShape(NamedTuple):
    """The fields of a line.

    `parameters` are the indices of the parameters in general registers, by register; -1 is the address of the result.
    `vectors` is the number of vector registers with arguments.
    """

    result: str
    stack_bytes: int
    parameters: tuple[int, ...]
    vectors: int


class Leaf(NamedTuple):
    """A scalar at an offset in bytes. `width` counts the bytes that a bit-field touches, else its size."""

    type: CType
    offset: int
    width: int


def shapes_text(
    functions: Mapping[str, CType],
    records: Records,
    machine: str,
    mentions: Mapping[str, str] = NONE,
    silent: Collection[str] = (),
) -> str:
    """Return the file for functions by slot name.

    `machine` is x86_64 or aarch64, `mentions` are the last fields of lines (see `mentioned`). The arguments with which
    others call `silent` functions are not compared: all that such a call does is in memory, or in its result.
    """
    shapes = ((name, function_shape(functions[name], records, machine)) for name in sorted(functions))
    return "".join(
        _line(name, shape, functions[name], mentions.get(name, ""), is_silent=name in silent) for name, shape in shapes
    )


def _line(name: str, shape: CallShape, function: CType, mentions: str, *, is_silent: bool) -> str:
    masks = (
        _mask(function.parameters[number]) if number >= 0 and not is_silent else "00" for number in shape.parameters
    )
    registers = f"{len(shape.parameters)}" + ("" if function.variadic else f"+{shape.vectors}")
    return f"{name}\t{shape.result}\t{shape.stack_bytes}\t{registers}\t{','.join(masks) or '-'}{mentions}\n"


def mentioned(constants: Sequence[int], tree: SyntaxNode, records: Records) -> str:
    """Return the last two fields of a function's line."""
    numbers = ",".join(str(one) for one in constants[:MOST_MENTIONED] if -(1 << 63) <= one < 1 << 63)
    members = sorted({place for node in walk(tree) if (place := _access(node, records))})[:MOST_MENTIONED]
    return f"\t{numbers or '-'}\t{','.join(':'.join(map(str, place)) for place in members) or '-'}"


def _access(node: SyntaxNode, records: Records) -> tuple[int, int, int, int] | None:
    """Return offset, size, stride and count of a member.

    In an array of records, those of the member in each element.
    """
    record = records.get(node.target) if node.kind == "member" else None
    if record is None or not isinstance(node.value, int) or record.fields[node.value].bit_field:
        return None
    field, object_ = record.fields[node.value], node.children[0]
    type_, count, offset = field.type, 1, field.offset // 8
    element = type_.target if type_.kind == "array" and type_.target else type_
    stride, count = max(0, element.size), type_.length if element is not type_ else 1
    if node.operator == "." and object_ is not None:
        inner = object_.children[0] if object_.kind == "subscript" else object_
        if inner is not None and (base := _access(inner, records)):
            return base[0] + offset, element.size, base[2], base[3] if inner is not object_ else 1
    return (offset, min(element.size, 8), stride, count) if element.size > 0 else None


def _mask(type_: CType) -> str:
    return f"{(1 << type_.size) - 1:02x}" if type_.kind != "record" and 0 < type_.size <= WORD else "00"


def function_shape(function: CType, records: Records, machine: str) -> CallShape:
    """Return the shape of a function type."""
    assert function.target is not None
    try:
        result = _result(function.target, records, machine)
    except TypeError:
        result = "?"
    hidden = [-1] if machine == "x86_64" and result == "-" and _is_large(function.target) else []
    return CallShape(result, *_arguments(function.parameters, records, machine, hidden))


def argument_words(type_: CType, records: Records) -> str:
    """Return where x86-64 passes the words of a record, or "" if that is uncertain.

    "r" is a general register, "x" a vector register, "m" memory.
    """
    try:
        if _in_memory(type_, records, "x86_64"):
            return "m" * ((type_.size + WORD - 1) // WORD) if type_.align <= WORD else ""
        words = "".join({"r": "r", "v": "x"}[piece[0]] for piece in _result(type_, records, "x86_64").split(","))
    except (TypeError, KeyError):
        return ""
    return words if len(words) == (type_.size + WORD - 1) // WORD else ""


def _is_large(type_: CType) -> bool:
    return type_.kind == "record" and type_.size > 0


def _result(type_: CType, records: Records, machine: str) -> str:
    if type_.kind == "void" or type_.size == 0 or _in_memory(type_, records, machine):
        return "-"
    if type_.kind == "pointer":
        return "p0:ff"
    pieces = _homogeneous(type_, records) if machine == "aarch64" else []
    return ",".join(pieces or _pieces(type_, records, machine))


def _pieces(type_: CType, records: Records, machine: str) -> list[str]:
    """Return a piece for every eight bytes: a vector register if they contain only floating-point numbers."""
    leaves, pieces, used = _leaves(type_, records), [], {"r": 0, "v": 0}
    vectors = machine == "x86_64" or type_.kind == "floating"
    for start in range(0, type_.size, WORD):
        inside = [leaf for leaf in leaves if leaf.offset < start + WORD and leaf.offset + leaf.width > start]
        register = "v" if vectors and inside and all(leaf.type.kind == "floating" for leaf in inside) else "r"
        mask = sum(1 << byte for byte in range(WORD) if any(_covers(leaf, start + byte) for leaf in inside))
        if mask:
            pieces.append(f"{register}{used[register]}:{mask:02x}")
        used[register] += 1
    return pieces


def _homogeneous(type_: CType, records: Records) -> list[str]:
    """Return the vector registers of an aggregate of up to four numbers of one floating-point type; otherwise empty."""
    leaves = _leaves(type_, records)
    sizes = {leaf.type.size for leaf in leaves if leaf.type.kind == "floating"}
    distinct = sorted({leaf.offset for leaf in leaves})
    if len(sizes) != 1 or any(leaf.type.kind != "floating" for leaf in leaves) or len(distinct) > MOST_HOMOGENEOUS:
        return []
    return [f"v{number}:{'ff' if sizes == {WORD} else '0f'}" for number in range(len(distinct))]


def _covers(leaf: Leaf, byte: int) -> bool:
    return leaf.offset <= byte < leaf.offset + leaf.width


def _in_memory(type_: CType, records: Records, machine: str) -> bool:
    if type_.kind != "record" or type_.size <= 0:
        return False
    if machine == "aarch64":
        return type_.size > IN_REGISTERS and not _homogeneous(type_, records)
    return type_.size > IN_REGISTERS or any(
        leaf.type.align > 0 and leaf.offset % leaf.type.align for leaf in _leaves(type_, records)
    )


def _leaves(type_: CType, records: Records, base: int = 0) -> list[Leaf]:
    """Return the scalars of a type, only the first ones if it is large.

    Raises TypeError for types such as `long double`.
    """
    if type_.kind == "record":
        record = records.get(type_.key)
        if record is None or record.size < 0:
            raise TypeError(type_.spelling)
        return [leaf for field in record.fields for leaf in _field_leaves(field, records, base)][:MOST_LEAVES]
    if type_.kind in ("array", "incomplete_array"):
        assert type_.target is not None
        count = min(type_.length, MOST_LEAVES)
        return [
            leaf
            for number in range(count)
            for leaf in _leaves(type_.target, records, base + number * type_.target.size)
        ]
    if type_.kind in ("other", "function", "variable_array"):
        raise TypeError(type_.spelling)
    return [Leaf(type_, base, max(type_.size, 0))]


def _field_leaves(field: Field, records: Records, base: int) -> list[Leaf]:
    if not field.bit_field:
        return _leaves(field.type, records, base + field.offset // 8)
    if not field.width or not field.name:
        return []
    first, last = field.offset // 8, (field.offset + field.width - 1) // 8
    unit = CType("integer", field.type.spelling, size=1, align=1)
    return [Leaf(unit, base + first, last - first + 1)]


def _arguments(
    parameters: tuple[CType, ...], records: Records, machine: str, general: list[int]
) -> tuple[int, tuple[int, ...], int]:
    """Return the bytes on the stack, the parameters by general register, and the number of vector registers."""
    most, vectors, stack = GENERAL_REGISTERS[machine], VECTOR_REGISTERS, 0
    for number, type_ in enumerate(parameters):
        needs_general, needs_vectors, in_memory = _needs(type_, records, machine)
        if not in_memory and len(general) + needs_general <= most and needs_vectors <= vectors:
            general, vectors = [*general, *[number] * needs_general], vectors - needs_vectors
            continue
        if machine == "aarch64":
            most, vectors = (most, 0) if needs_vectors else (len(general), vectors)
        size = WORD if machine == "aarch64" and in_memory else max(type_.size, WORD)
        align = min(max(type_.align, WORD), IN_REGISTERS)
        stack = (stack + align - 1) // align * align + (size + WORD - 1) // WORD * WORD
    return stack, tuple(general), VECTOR_REGISTERS - vectors


def _needs(type_: CType, records: Records, machine: str) -> tuple[int, int, bool]:
    """Return the number of general and vector registers that an argument needs, and whether it is passed in memory."""
    try:
        if _in_memory(type_, records, machine):
            return (1, 0, False) if machine == "aarch64" else (0, 0, True)
        pieces = _result(type_, records, machine).split(",")
    except TypeError:
        return (0, 1, False) if machine == "aarch64" else (0, 0, True)
    vectors = sum(piece.startswith("v") for piece in pieces)
    return len(pieces) - vectors, vectors, False


# Assign the arguments of a generated call to locations: lines of a plan for registers, then for the stack.

STACK_WORDS = 8
POINTER_BYTES = 8


class Ungenerated(Exception):
    """Raised if an argument cannot be generated; the message is the reason on one line."""


@dataclass
class RegisterArguments:
    """Arguments by register, in the order of the parameters; the rest is on the stack."""

    generals: int
    vectors: int = VECTOR_REGISTERS
    stack: int = STACK_WORDS
    lines: list[str] = field(default_factory=list)

    def general(self, line: str) -> None:
        """Add a line for a general register."""
        if self.generals:
            self.generals -= 1
        else:
            line = self._on_stack({"g": "s", "G": "S"}[line[0]] + line[1:])
        self.lines.append(line)

    def vector(self, line: str) -> None:
        """Add a line for a vector register."""
        if self.vectors:
            self.vectors -= 1
        else:
            line = self._on_stack("s" + line[1:])
        self.lines.append(line)

    def record(self, number: int, words: str) -> None:
        """Add the words of an object: "r", "x" and "m" for a general register, a vector register, the stack."""
        generals, vectors = words.count("r"), words.count("x")
        if generals > self.generals or vectors > self.vectors:
            words, generals, vectors = "m" * len(words), 0, 0
        self.generals, self.vectors = self.generals - generals, self.vectors - vectors
        for at, kind in enumerate(words):
            line = f"{kind} {number} {at * POINTER_BYTES}"
            self.lines.append(self._on_stack(line) if kind == "m" else line)

    def _on_stack(self, line: str) -> str:
        if not self.stack:
            raise Ungenerated("it has too many parameters")
        self.stack -= 1
        return line
