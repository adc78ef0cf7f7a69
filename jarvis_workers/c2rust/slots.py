"""Insert slots into a compiler's assembly, so that each function can be replaced when a program starts.

The definition of a function `f` is renamed to `jvc_f`, and `f` becomes a trampoline through a slot that holds the
address of `jvc_f`.  Calls, tables of function pointers and aliases mention `f` as before: only labels, `.type` and
`.size` of definitions change, never operands or strings.

A library refers to a function or static variable by its symbol name, or by `unit__name` (`unit_name`) if it is local to
its unit or is `main`, which every program has.  The latter names are weak aliases, since two objects may contain the
same static function of a header; within its object, a slot always refers to the code of that object.  Global functions
have them as well: a unit that is compiled with other macros (`#define STATIC`) may have a function static in one
program and global in another, and one Rust function replaces both.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import relpath
from types import MappingProxyType
from typing import NamedTuple

from jarvis_workers.c2rust.assembly import DIRECTIVE, LABEL, SYMBOL, Linkage, Place, Survey, compiled_lines, survey
from jarvis_workers.paths import from_text

# The assembly of a slot per machine: trampoline, monitored entry and table row.

# Rows of all objects of a program are contiguous between __start_jv_slots and __stop_jv_slots. The fields, 8 bytes
# each, are: name, file, line, cell, original, monitored, enter, target.
SECTION = "jv_slots"
ENTER_OFFSET = 48


@dataclass(frozen=True, slots=True)
class Machine:
    """The indirect jumps of a machine.

    `{cell}` and `{row}` are labels; `landing_pads` maps instructions in the compiler's output to those that mark a
    target of protected indirect branches.
    """

    type_mark: str
    trampoline: tuple[str, ...]
    monitored: tuple[str, ...]
    landing_pads: tuple[str, ...]

    def landing_pad(self, text: str) -> str:
        """Return the instruction with which each jump target must start, or "" if `text` was compiled without it."""
        return next((pad for pad in self.landing_pads if f"\t{pad}" in text), "")


MACHINES = MappingProxyType(
    {
        "x86_64": Machine(
            type_mark="@",
            trampoline=("jmp\t*{cell}(%rip)",),
            monitored=("leaq\t{row}(%rip), %r11", f"jmp\t*{ENTER_OFFSET}(%r11)"),
            landing_pads=("endbr64",),
        ),
        "aarch64": Machine(
            type_mark="%",
            trampoline=("adrp\tx16, {cell}", "ldr\tx16, [x16, :lo12:{cell}]", "br\tx16"),
            monitored=(
                "adrp\tx17, {row}",
                "add\tx17, x17, :lo12:{row}",
                f"ldr\tx16, [x17, {ENTER_OFFSET}]",
                "br\tx16",
            ),
            landing_pads=("hint\t34", "bti\tc"),
        ),
    }
)


def slot_code(machine: Machine, number: int, *, symbol: str, name: str, file: str, line: int, pad: str) -> list[str]:
    """Return the lines that define `symbol` as a trampoline to the code at the label `original_label(number)`."""
    cell, row, entry, text, path = (f".Ljv{part}{number}" for part in ("c", "r", "m", "n", "f"))
    return [
        "\t.text",
        "\t.balign\t16",
        f"\t.type\t{symbol}, {machine.type_mark}function",
        f"{symbol}:",
        *_instructions(machine.trampoline, pad, cell, row),
        f"\t.size\t{symbol}, .-{symbol}",
        f"{entry}:",
        *_instructions(machine.monitored, pad, cell, row),
        f'\t.section\t.data.rel.{SECTION},"aw"',
        "\t.balign\t8",
        f"{cell}:",
        f"\t.8byte\t{original_label(number)}",
        f'\t.section\t{SECTION},"aw"',
        "\t.balign\t8",
        f"{row}:",
        f"\t.8byte\t{text}, {path}, {line}, {cell}, {original_label(number)}, {entry}, 0, 0",
        "\t.section\t.rodata",
        f"{text}:",
        f'\t.asciz\t"{_quoted(name)}"',
        f"{path}:",
        f'\t.asciz\t"{_quoted(file)}"',
    ]


def original_label(number: int) -> str:
    """Return the local label at the renamed definition, which no other object can replace."""
    return f".Ljvo{number}"


def _instructions(lines: tuple[str, ...], pad: str, cell: str, row: str) -> list[str]:
    filled = [f"\t{line.format(cell=cell, row=row)}" for line in lines]
    return [f"\t{pad}", *filled] if pad else filled


def _quoted(text: str) -> str:
    """Escape a string for the assembler: bytes other than plain characters become octal escapes."""
    plain = (chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:03o}" for byte in from_text(text))
    return "".join(plain)


ORIGINAL = "jvc_"
# What -fsanitize-coverage calls; the runtime has the other definitions.
OBSERVERS = re.compile(r"\b__sanitizer_cov_trace_\w+")
MAIN = "main"


class Slot(NamedTuple):
    """A function that can be replaced.

    `name` is unique among the units of a library, `symbol` is its name in the object.  `file` is the source file of the
    definition, relative to the root if it is below the root. `line` counts from 1, and is 0 without a line table.
    """

    name: str
    symbol: str
    linkage: Linkage
    file: str
    line: int


class Unslotted(NamedTuple):
    """A function without a slot, and the reason."""

    symbol: str
    reason: str


class SlottedText(NamedTuple):
    """Assembly with slots.

    `slots` and `unslotted` together contain all functions that the compiler emitted, in order.
    """

    text: str
    slots: tuple[Slot, ...]
    unslotted: tuple[Unslotted, ...]


def add_slots(text: str, *, machine: str, source: str, root: str = "") -> SlottedText:
    """Return `text`, the assembly of the file `source` by gcc or clang for `machine`, with a slot for each function.

    `machine` is a key of MACHINES.  The line table of `text` (-g1) determines the file in which a function is defined;
    without one it is `source`.  Paths below `root` become relative to it.
    """
    target, lines = MACHINES[machine], text.rstrip("\n").split("\n")
    found = survey(lines)
    unslotted = tuple(Unslotted(symbol, reason) for symbol in found.functions if (reason := _reason(symbol, found)))
    left_out = {one.symbol for one in unslotted}
    source = _relative(source, root)
    slots = tuple(
        _slot(symbol, place, found.linkage(symbol), source, root)
        for symbol, place in found.functions.items()
        if symbol not in left_out
    )
    code = [*_renamed(lines, slots), *_trampolines(slots, target, text), *_aliases(slots, found, source, target)]
    return SlottedText("\n".join([*code, *_observers(text, target)]) + "\n", slots, unslotted)


def unit_name(file: str) -> str:
    """Return the prefix of names that are local to a unit: its path without suffix, with "_" for invalid characters."""
    path = PurePosixPath(file)
    if file.startswith(("/", "../")):
        path = PurePosixPath(path.name)
    return re.sub(r"\W", "_", str(path.with_suffix("")), flags=re.ASCII)


def _reason(symbol: str, found: Survey) -> str:
    if symbol in found.resolvers:
        return "ifunc resolver: runs before slots are relocated"
    return "split off by the compiler, or nested in another function" if "." in symbol else ""


def _slot(symbol: str, place: Place, linkage: Linkage, source: str, root: str) -> Slot:
    file = _relative(place.file or source, root)
    name = _local_name(file, symbol) if linkage == "local" or symbol == MAIN else symbol
    return Slot(name, symbol, linkage, file, place.line)


def _local_name(file: str, symbol: str) -> str:
    return f"{unit_name(file)}__{symbol}"


def _relative(file: str, root: str) -> str:
    return relpath(file, root) if root and file.startswith(f"{root.rstrip('/')}/") else file


def _renamed(lines: Sequence[str], slots: Sequence[Slot]) -> list[str]:
    """Rename the definitions, and make hidden symbols protected so that libraries can refer to them."""
    edited, by_symbol = list(lines), {slot.symbol: (number, slot) for number, slot in enumerate(slots)}
    for index, line in compiled_lines(lines):
        if label := LABEL.match(line):
            if label[1] in by_symbol:
                number, slot = by_symbol[label[1]]
                edited[index] = f"{ORIGINAL}{slot.name}:\n{original_label(number)}:"
        elif directive := DIRECTIVE.match(line):
            edited[index] = _renamed_directive(line, directive[1], directive[2], by_symbol)
    return edited


def _renamed_directive(line: str, directive: str, operands: str, slots: Mapping[str, tuple[int, Slot]]) -> str:
    match = SYMBOL.match(operands)
    if directive in ("hidden", "internal"):
        return f"\t.protected\t{operands}"
    if directive not in ("type", "size") or not match or match[0] not in slots:
        return line
    slot = slots[match[0]][1]
    original = ORIGINAL + slot.name
    if directive == "size":
        return "\t.size\t" + re.sub(rf"(?<![\w.$]){re.escape(slot.symbol)}(?![\w.$])", lambda _: original, operands)
    binding = "globl" if slot.linkage == "global" else "weak"
    return f"\t.{binding}\t{original}\n\t.type\t{original}{operands[match.end() :]}"


def _trampolines(slots: Sequence[Slot], machine: Machine, text: str) -> list[str]:
    pad = machine.landing_pad(text)
    code = (
        slot_code(machine, number, symbol=slot.symbol, name=slot.name, file=slot.file, line=slot.line, pad=pad)
        for number, slot in enumerate(slots)
    )
    return [line for lines in code for line in lines]


def _aliases(slots: Sequence[Slot], found: Survey, source: str, machine: Machine) -> list[str]:
    """Return aliases for local symbols, and for global functions, which another variant of the unit may have local.

    The line table does not contain variables, so a local variable gets a name for each file that contributes code to
    the unit; a global one would be named by its alias where the data of C and Rust differ.
    """
    functions = [(slot.name, slot.symbol, "function") for slot in slots if slot.name != slot.symbol]
    for slot in slots:
        if slot.name == slot.symbol:
            own = _local_name(slot.file, slot.symbol)
            functions += [(own, slot.symbol, "function"), (ORIGINAL + own, ORIGINAL + slot.name, "function")]
    files = sorted({source, *(slot.file for slot in slots)})
    local = sorted(symbol for symbol in found.variables if "." not in symbol and found.linkage(symbol) == "local")
    variables = [(_local_name(file, symbol), symbol, "object") for symbol in local for file in files]
    return [
        f"\t.weak\t{alias}\n\t.type\t{alias}, {machine.type_mark}{kind}\n\t.set\t{alias}, {symbol}"
        for alias, symbol, kind in functions + variables
        if alias not in found.labels
    ]


def _observers(text: str, machine: Machine) -> list[str]:
    """Return empty functions for a program that is linked without the runtime."""
    return [
        f"\t.text\n\t.weak\t{name}\n\t.type\t{name}, {machine.type_mark}function\n{name}:\n\tret"
        for name in sorted(set(OBSERVERS.findall(text)))
    ]
