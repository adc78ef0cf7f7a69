"""The assembly of a slot per machine: trampoline, monitored entry and table row.

A trampoline is the public symbol of a function and jumps to the address in the cell of its slot. The monitored entry
passes the address of the row to the runtime before it jumps; the runtime stores the monitored entry in the cell of a
function to trap, trace or shadow.  Both change only registers that linker veneers may change too (r11; x16 and x17).
"""

from dataclasses import dataclass
from types import MappingProxyType

from jarvis_workers.paths import from_text

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
