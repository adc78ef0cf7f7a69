"""Generate arguments for functions: the plans that `c2rust/bench/runtime/inputs.c` executes.

Values are random, with a seed derived from the function, so that plans are reproducible.  They include constants of the
function, and values suggested by types, pointers and calls in the project: strings, buffers with their lengths,
structures filled to a limited depth or created by the project.  For some functions most inputs are meaningless: only
inputs without undefined behaviour in C count.  The later inputs of a function are calm: small numbers, large buffers.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import NamedTuple

from jarvis_workers.c2rust.input_sources import InputSources, SetupFunction, record_key
from jarvis_workers.c2rust.input_values import MOST_ELEMENTS, SMALL, InputValues, function_constants
from jarvis_workers.c2rust.project import ProjectItem
from jarvis_workers.c2rust.shapes import (
    GENERAL_REGISTERS,
    POINTER_BYTES,
    RegisterArguments,
    Ungenerated,
    argument_words,
)
from jarvis_workers.c2rust.signatures import ParameterMapping
from jarvis_workers.source.clang.c_types import CType

INPUTS, WILD = 96, 40
MOST_USED = 48
MOST_DEPTH = 3
MOST_OBJECTS = 16
MOST_BYTES = 1 << 20
MOST_FILLED, MOST_RECORDS, MOST_DISTINCT = 8, 3, 8
MOST_SETUPS, SETUP_DEPTH = 4, 3
CALM_BYTES, CALM_RECORDS, FLEXIBLE_BYTES = 1024, 16, 256
# Shares of structures that functions of the project make (as arguments, in structures), of those that a member of
# another one points to, of callbacks that are functions of the project, of arguments and of states as in its calls.
MADE, MADE_INSIDE, MEMBER, CALLBACK, CALLED, STARTED = 0.6, 0.3, 0.25, 0.8, 0.5, 0.3
BYTE = CType("integer", "unsigned char", size=1, align=1)
RAW = ParameterMapping("", "raw")


class UnusableSetup(Exception):
    """Raised if a setup function cannot be called with generated arguments; the message is the reason."""


class CallPlan(NamedTuple):
    """The inputs of a function as lines of a plan, by input number, or the reason why there are none.

    `constants` are those of the function.
    """

    slot: str
    inputs: tuple[str, ...] = ()
    reason: str = ""
    constants: tuple[int, ...] = ()

    def text(self, chosen: Sequence[int] | None = None) -> str:
        """Return the section of a plan with all or some inputs."""
        numbers = range(len(self.inputs)) if chosen is None else chosen
        return f"@ {self.slot}\n" + "".join(f"input {number}\n{self.inputs[number]}" for number in numbers)


def plan_calls(
    item: ProjectItem, mappings: Sequence[ParameterMapping], machine: str, sources: InputSources | None = None
) -> CallPlan:
    """Return the inputs of a function on a machine.

    `mappings` are the known facts about its pointers, `sources` further input sources of the project.
    """
    definition = item.definition
    if definition.name == "main":
        return CallPlan(item.slot, reason="it is the entry point of a program")
    offered = sources or InputSources(item.unit.records)
    literals = offered.literals.get(item.unit.file, ())
    function = SetupFunction(item.slot, definition.key, definition.type, tuple(mappings))
    constants, lines, reason = function_constants(definition.tree), list[str](), ""
    for number in range(INPUTS):
        seed = sha256(f"{item.slot}\0{definition.type.spelling}\0{number}".encode()).digest()
        try:
            values = InputValues(Random(seed), constants, literals, calm=number >= WILD)
            lines.append(_Generator(values, offered, machine).input(function))
        except UnusableSetup as problem:
            reason = str(problem)
        except Ungenerated as problem:
            return CallPlan(item.slot, reason=str(problem))
    return CallPlan(item.slot, tuple(lines), "" if lines else reason, constants)


def _pointer_argument(target: "str | int | None") -> str:
    return "g 0" if target is None else f"G {target}"


def _extension(type_: CType) -> str:
    """Return the type of an argument that must be extended to 4 bytes, as callees expect, or "" for larger types."""
    if type_.kind == "bool":
        return " bool"
    return f" {'i' if type_.signed else 'u'}{8 * type_.size}" if type_.size < 4 else ""


def _hex(value: int) -> str:
    return f"{value & ((1 << 64) - 1):x}"


class _Generator:
    """Generates random values, and the objects in memory to which their pointers refer."""

    def __init__(self, values: InputValues, sources: InputSources, machine: str) -> None:
        self._random, self._machine = values.random, machine
        self._sources, self._values = sources, values
        self._objects: list[list[str]] = []
        self._active: list[str] = []
        self._setups = 0
        # Shares of null pointers and of zeros in structures: initialised, half of it, or any.
        shares = (
            ((0.2, 0.5), (0.0, 0.0), (0.0, 0.9)) if values.calm else ((1.0, 1.0), (0.5, 0.3), (0.3, 0.0), (0.8, 0.6))
        )
        self._nulls, self._zeros = self._random.choice(shares)

    def input(self, function: SetupFunction) -> str:
        """Return the lines of one input of a function."""
        starters = self._sources.starters
        if starters and self._random.random() < STARTED:
            self._call(self._random.choices(starters, [one.weight for one in starters])[0], {})
        lines = self._arguments(function, {})
        return "".join(f"{line}\n" for line in (*(line for one in self._objects for line in one), *lines))

    def _arguments(self, function: SetupFunction, given: Mapping[int, int]) -> list[str]:
        """Return the lines of the arguments of a function; the objects in `given` are used for some of them."""
        call, type_, random = RegisterArguments(GENERAL_REGISTERS[self._machine]), function.type, self._random
        self._active.append(function.slot)
        target = type_.target
        if target and target.kind == "record" and self._words(target).startswith("m"):
            call.general(f"G {self.object_of(target, 1, 0)}")
        lengths = {one.length: number for number, one in enumerate(function.mappings) if one.length is not None}
        counts = {number: self._values.count() for number in lengths.values()}
        rows = self._sources.calls.get(function.key, ())
        row = random.choice(rows) if rows and random.random() < CALLED else ()
        for number, parameter in enumerate(type_.parameters):
            mapping = function.mappings[number] if number < len(function.mappings) else RAW
            value = row[number] if number < len(row) else None
            if number in given:
                call.general(f"G {given[number]}")
            elif parameter.kind == "pointer":
                text = value if isinstance(value, bytes) else None
                made = (
                    self._string(text) if text is not None else self.pointer_to(parameter, mapping, counts.get(number))
                )
                call.general(_pointer_argument(None if value == 0 else made))
            elif number in lengths:
                call.general(f"g {_hex(counts[lengths[number]])}")
            elif parameter.kind == "floating":
                call.vector(f"v {self._values.bits(parameter):x}")
            elif parameter.kind in SMALL and 0 < parameter.size <= POINTER_BYTES:
                bits = value if isinstance(value, int) else self._values.integer(parameter)
                call.general(f"g {_hex(bits)}{_extension(parameter)}")
            elif parameter.kind == "record" and (words := self._words(parameter)):
                call.record(self.object_of(parameter, 1, 0, len(words) * POINTER_BYTES), words)
            else:
                raise Ungenerated(f"parameter {number + 1} is {parameter.spelling or parameter.kind}")
        self._active.pop()
        return call.lines

    def _words(self, type_: CType) -> str:
        """Return where the words of a structure are passed."""
        if self._machine != "x86_64":
            raise Ungenerated(f"it passes {type_.spelling} by value: not supported on {self._machine}")
        return argument_words(type_, self._sources.records)

    def _structure(self, type_: CType, share: float) -> int | None:
        """Return a structure that the project creates or initializes, or None to fill one instead."""
        key, random = record_key(type_), self._random
        foreign = type_.target is not None and self._is_foreign(type_.target)
        setups = [
            one
            for one in self._sources.setups.get(key, ())
            if one.slot not in self._active and not (foreign and one.parameter >= 0)
        ]
        owners = self._sources.owners.get(key, ())
        full = self._setups >= MOST_SETUPS or len(self._active) > SETUP_DEPTH or len(self._objects) >= MOST_OBJECTS
        if full or not (setups or owners) or (self._size(type_.target or type_) > 0 and random.random() > share):
            return None
        if owners and (not setups or random.random() < MEMBER):
            owner, offset = random.choice(owners)
            made = self._structure(owner, 1)
            return None if made is None else self._add([f"l {made} {offset}"])
        setup = random.choices(setups, [one.weight for one in setups])[0]
        if setup.parameter < 0:
            return self._call(setup, {})
        target = setup.type.parameters[setup.parameter].target
        assert target is not None
        if target.kind == "pointer":
            made = self._add([f"o {POINTER_BYTES}"])
            self._call(setup, {setup.parameter: made})
            return self._add([f"l {made} 0"])
        made = self._add([f"o {self._size(target)}"]) if random.random() < 0.5 else self.object_of(target, 1, 0)
        self._call(setup, {setup.parameter: made})
        return made

    def _call(self, setup: SetupFunction, given: Mapping[int, int]) -> int:
        """Add a call of a setup function; return the object that is its result."""
        self._setups += 1
        try:
            return self._add([*self._arguments(setup, given), f"c {setup.slot}"])
        except Ungenerated as problem:
            raise UnusableSetup(f"{setup.slot} prepares its arguments: {problem}") from problem

    def _add(self, lines: list[str]) -> int:
        self._objects.append(lines)
        return len(self._objects) - 1

    def pointer_to(
        self, type_: CType, mapping: ParameterMapping, count: int | None = None, depth: int = 0
    ) -> str | int | None:
        """Return the number of an object for a pointer, "=NAME" or "-" for a function, or None for NULL."""
        target, random = type_.target, self._random
        assert target is not None
        if target.kind == "function":
            same = self._sources.functions.get(target.spelling)
            return f"={random.choice(same)}" if same and random.random() < CALLBACK else "-"
        kind = mapping.inner if mapping.kind == "option" else mapping.kind
        null = self._nulls if depth else {"option": 0.15, "raw": 0.05}.get(mapping.kind, 0.0) * (not self._values.calm)
        if depth >= MOST_DEPTH or len(self._objects) >= MOST_OBJECTS or random.random() < null:
            return None
        foreign = self._is_foreign(target)
        share = 1.0 if foreign else MADE_INSIDE if depth else MADE
        if target.kind == "record" and (made := self._structure(type_, share)) is not None:
            return made
        if foreign:
            raise Ungenerated(f"it takes a pointer to {target.spelling}, which only a library can fill")
        if kind == "cstr" or (target.kind == "integer" and target.size == 1 and random.random() < 0.6):
            return self._string(writable=not type_.const)
        if target.kind == "void":
            target, count = BYTE, count or (CALM_BYTES if self._values.calm else 64)
        size = self._size(target)
        if size <= 0:
            raise Ungenerated(f"it takes a pointer to {target.spelling}, whose definition is not known")
        if count is None:
            one = kind in ("ref", "mut_ref", "out")
            wild = (1,) if target.kind == "record" else (1, 4, 16, MOST_ELEMENTS)
            many = (1, CALM_RECORDS) if target.kind == "record" else (CALM_BYTES // min(size, 8),)
            count = 1 if one else random.choice(many if self._values.calm else wild)
        return self.object_of(target, count, depth)

    def _string(self, text: bytes | None = None, *, writable: bool = False) -> int:
        text = self._values.text() if text is None else text
        room = self._random.choice((CALM_BYTES,) if self._values.calm else (0, 32, 256)) if writable else 0
        return self._add([f"o {len(text) + 1 + room}", f"w 0 {text.hex()}"])

    def object_of(self, target: CType, count: int, depth: int, least: int = 0) -> int:
        """Add an object with elements of a type; return its number."""
        size, record = self._size(target), self._sources.records.get(target.key)
        flexible = record and record.fields and record.fields[-1].type.kind == "incomplete_array"
        if not 0 <= size * count <= MOST_BYTES:
            raise Ungenerated(f"{target.spelling} is too large")
        lines = [f"o {max(size * count, least) + (FLEXIBLE_BYTES if flexible else 0)}"]
        number = self._add(lines)
        if target.kind in SMALL and 0 < target.size <= POINTER_BYTES:
            _write(lines, 0, self._integers(target, min(count, MOST_ELEMENTS)))
            return number
        for index in range(min(count, MOST_RECORDS)):
            self._fill(lines, target, index * size, depth + 1)
        return number

    def _is_foreign(self, type_: CType) -> bool:
        """Return whether a library defines a record with pointers, whose contents the library's functions trust."""
        record = self._sources.records.get(type_.key)
        return (
            record is not None
            and record.file.startswith(b"/")
            and any(one.type.kind == "pointer" for one in record.fields)
        )

    def _size(self, type_: CType) -> int:
        """Return the size of a type, even of a record that is complete only in another unit."""
        record = self._sources.records.get(type_.key)
        return record.size if record else type_.size

    def _fill(self, lines: list[str], type_: CType, offset: int, depth: int) -> None:
        random = self._random
        if type_.kind in SMALL and 0 < type_.size <= POINTER_BYTES:
            _write(lines, offset, self._integers(type_, 1))
        elif type_.kind == "floating":
            _write(lines, offset, self._values.bits(type_).to_bytes(type_.size, "little"))
        elif type_.kind == "pointer":
            self._point(lines, type_, offset, depth)
        elif type_.kind == "array" and type_.target is not None and random.random() < 0.5:
            element, count = type_.target, min(type_.length, MOST_FILLED)
            if element.kind in SMALL and 0 < element.size <= POINTER_BYTES:
                _write(lines, offset, self._integers(element, count))
                return
            for index in range(min(count, MOST_RECORDS)):
                self._fill(lines, element, offset + index * element.size, depth)
        elif type_.kind == "record" and (record := self._sources.records.get(type_.key)):
            fields = record.fields if record.kind == "struct" else record.fields[:1]
            for one in fields:
                if not one.bit_field and (one.type.kind not in (*SMALL, "floating") or random.random() >= self._zeros):
                    self._fill(lines, one.type, offset + one.offset // 8, depth)

    def _integers(self, type_: CType, count: int) -> bytes:
        """Return the bytes of integers, some of them equal."""
        values = (
            self._values.integer(type_).to_bytes(16, "little", signed=True) for _ in range(min(count, MOST_DISTINCT))
        )
        distinct = [value[: type_.size] for value in values]
        return b"".join(distinct if count <= MOST_DISTINCT else self._random.choices(distinct, k=count))

    def _point(self, lines: list[str], type_: CType, offset: int, depth: int) -> None:
        try:
            target = self.pointer_to(type_, RAW, depth=depth)
        except Ungenerated:
            return
        if isinstance(target, str):
            lines.append(f"f {offset} {target}")
        elif target is not None:
            lines.append(f"p {offset} {target}")


def _write(lines: list[str], offset: int, content: bytes) -> None:
    if any(content):
        lines.append(f"w {offset} {content.hex()}")
