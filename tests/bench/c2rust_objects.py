"""The functions and direct calls of an object file, from its symbol table, relocations and line table.

The object must have a section per function (`-ffunction-sections`), so that every call of another function has a
relocation.  Taking an address is not a call: only the operand of a `call` or `jmp` counts, not that of a `lea`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

# Such as "12: 0000000000000000    14 FUNC    LOCAL  DEFAULT    4 helper".
SYMBOL = re.compile(r"\s*\d+: ([0-9a-f]+)\s+\w+ I?FUNC\s+(LOCAL|GLOBAL|WEAK)\s+\w+\s+(?:\[.*\] )?(\d+) (\S+)$")
LABEL = re.compile(r"[0-9a-f]+ <(.+)>:$")
LINE = re.compile(r"(/.+):\d+(?: \(discriminator \d+\))?$")
# Such as "  10:	call   15 <f+0x15>	11: R_X86_64_PC32	.text.helper-0x4".
BRANCH = r"\s+[0-9a-f]+:\t(?:bnd )?(?:call|jmp)q?\s+"
CALL = re.compile(BRANCH + r".*\t[0-9a-f]+: R_X86_64_(?:PLT32|PC32)\t(\S+)-0x4$")
# A function that calls itself needs no relocation.
OWN_CALL = re.compile(BRANCH + r"[0-9a-f]+ <([^+>]+)>$")
# In a dump of gcc's trees before any is removed.
FUNCTION = re.compile(r"^;; Function (\S+) \(", re.MULTILINE)
CALL_IN_TREE = re.compile(r"\b([A-Za-z_]\w*) \(")


class NamedCall(NamedTuple):
    """The function `caller` calls the symbol `callee`, both as an object or a dump names them."""

    caller: str
    callee: str


class ObjectCode(NamedTuple):
    """The functions of an object with the file of their first instruction, those that are local, and the calls."""

    files: Mapping[str, str]
    local: frozenset[str]
    calls: frozenset[NamedCall]


def read_object(symbols: str, disassembly: str) -> ObjectCode:
    """Parse the output of `readelf -sW` and `objdump -dlrw` for an object."""
    entries = [found.groups() for found in map(SYMBOL.match, symbols.splitlines()) if found]
    first, same = dict[tuple[str, str], str](), dict[str, str]()
    # gcc adds names such as f.localalias.
    for address, _, section, name in sorted(entries, key=lambda entry: "." in entry[-1]):
        same[name] = first.setdefault((section, address), name)
    files, calls, current = dict[str, str](), set[NamedCall](), ""
    for line in disassembly.splitlines():
        if found := LABEL.match(line):
            current = same.get(found[1], found[1])
        elif (found := LINE.match(line)) and current:
            files.setdefault(current, found[1])
        elif found := CALL.match(line) or OWN_CALL.match(line):
            callee = found[1].removeprefix(".text.")
            calls.add(NamedCall(current, same[callee] if "." in callee and callee in same else callee))
    files |= {name: files[primary] for name, primary in same.items() if primary in files and "." not in name}
    return ObjectCode(files, frozenset(entry[-1] for entry in entries if entry[1] == "LOCAL"), frozenset(calls))


def calls_of_dump(dump: str) -> frozenset[NamedCall]:
    """Return the probable calls in a dump of `-fdump-tree-original`, which includes unreachable code."""
    parts = FUNCTION.split(dump)
    return frozenset(
        NamedCall(name, callee)
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
        for callee in CALL_IN_TREE.findall(body)
    )
