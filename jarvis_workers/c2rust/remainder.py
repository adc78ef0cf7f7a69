"""The C code that remains beside a crate: sources without the functions in Rust, and the build script.

The body of a function is removed by its extent.  A function with external linkage becomes a prototype; a static
function forwards to its Rust function under the name of its slot, so that its callers and its address remain valid.  A
static function or variable that Rust uses gets the name of its slot as a weak alias.  Where Rust functions forward to
C, the C text stays under another name.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.crate import Program
from jarvis_workers.c2rust.project import ProjectItem
from jarvis_workers.c2rust.rust import rust_template
from jarvis_workers.c2rust.slots import ORIGINAL
from jarvis_workers.paths import as_text
from jarvis_workers.source.clang.unit import CompileCommand, Extent
from jarvis_workers.source.lex import mask

CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
DIRECTORY = "c"


class CutFile(NamedTuple):
    """A C file without some functions; `uncut` are the functions, by slot, that could not be removed from the text."""

    content: bytes
    uncut: tuple[str, ...]


def cut_functions(
    content: bytes, functions: Iterable[ProjectItem], pruned: Collection[str] = (), *, originals: bool = False
) -> CutFile:
    """Return a C file without the bodies of its functions in Rust, and without its `pruned` functions, by slot.

    With `originals` they stay, under the names that forwarders call.
    """
    masked, starts = mask(content, "c").text, _line_starts(content)
    cuts, uncut = [], []
    for item in functions:
        start, end = _offsets(item.definition.extent, starts)
        body = _body_start(masked, start, end)
        name = None if body is None else _name(item, masked[start:body])
        text = name and _replacement(item, content[start:body], masked[start:body], name.end())
        if text is not None and item.slot in pruned and item.definition.internal:
            text = b""
        if name is None or text is None:
            uncut.append(item.slot)
        else:
            if originals:
                text += b" " + _original(item, content[start:end], name)
            lines = content.count(b"\n", start, end) - text.count(b"\n")
            cuts.append((start, end, text + b"\n" * lines))
    for start, end, text in sorted(cuts, reverse=True):
        content = content[:start] + text + content[end:]
    return CutFile(content, tuple(uncut))


def aliases(items: Iterable[ProjectItem]) -> bytes:
    """Return the lines that define the names by which Rust uses static functions and variables of a unit."""
    return b"".join(
        f'\nextern __typeof__({one.definition.name}) {one.slot} __attribute__((weak, alias("{one.definition.name}")));'
        .encode()
        for one in items
        if one.definition.internal
    )  # fmt: skip


def build_script(
    commands: Sequence[CompileCommand],
    libraries: Sequence[str],
    programs: Iterable[Program] = (),
    unread: Sequence[CompileCommand] = (),
    files: Iterable[str] = (),
) -> str:
    """Return build.rs for the remaining units, which are compiled from `files`; `libraries` are linked with `-l`."""
    lines = [", ".join(map(_quoted, (one.name, *pair))) for one in programs for pair in one.definitions]
    return rust_template(
        "build.rs",
        units=_units(commands),
        unread=_units(unread),
        files="".join(f"    {_quoted(file)},\n" for file in files),
        libraries=", ".join(map(_quoted, libraries)),
        definitions="".join(f"    ({line}),\n" for line in lines),
    )


def _units(commands: Iterable[CompileCommand]) -> str:
    return "".join(f"    ({_quoted(as_text(one.file))}, &[{_flags(one)}]),\n" for one in commands)


def _flags(command: CompileCommand) -> str:
    return ", ".join(map(_quoted, command.arguments))


def _quoted(text: str) -> str:
    plain = re.sub(r'[^ -~]|["\\]', lambda match: f"\\u{{{ord(match[0]):x}}}", text)
    return f'"{plain}"'


def _line_starts(content: bytes) -> list[int]:
    return [0, *(match.end() for match in re.finditer(rb"\n", content))]


def _offsets(extent: Extent, starts: Sequence[int]) -> tuple[int, int]:
    if not 0 < extent.line <= extent.end_line <= len(starts):
        return 0, 0
    return starts[extent.line - 1] + extent.column - 1, starts[extent.end_line - 1] + extent.end_column


def _body_start(masked: bytes, start: int, end: int) -> int | None:
    """Return the offset of the brace that opens the body, or None if a macro generates the definition."""
    if masked[end - 1 : end] != b"}":
        return None
    depth = 0
    for match in re.finditer(rb"[(){;]", masked[start:end]):
        depth += {b"(": 1, b")": -1}.get(match[0], 0)
        if match[0] == b"{" and depth == 0:
            body = start + match.start()
            conditions = [word for word in CONDITION.findall(masked[body:end])]
            return body if conditions.count(b"if") == conditions.count(b"endif") else None
    return None


def _name(item: ProjectItem, masked: bytes) -> re.Match[bytes] | None:
    """Return the name of a function in the head of its definition, up to its parameters."""
    return re.search(rb"\b(%b)\b[\s)]*\(" % re.escape(item.definition.name.encode()), masked)


def _original(item: ProjectItem, text: bytes, name: re.Match[bytes]) -> bytes:
    """Return a definition under the name that its forwarder calls; a static definition gets this name as an alias."""
    original = ORIGINAL + item.slot
    own = f"{original}_static" if item.definition.internal else original
    alias = f'\nextern __typeof__({own}) {original} __attribute__((alias("{own}")));' if own != original else ""
    return text[: name.start(1)] + own.encode() + text[name.end(1) :] + alias.encode()


def _replacement(item: ProjectItem, head: bytes, masked: bytes, end: int) -> bytes | None:
    """Return the declaration or wrapper that replaces a definition; `end` is where its declarator ends in `head`."""
    definition = item.definition
    parameters = [child.name for child in definition.tree.children if child is not None and child.kind == "parameter"]
    if not all(parameters):
        return None
    if definition.internal:
        assert definition.type.target is not None
        call = f"{item.slot}({', '.join(parameters)})"
        word = "" if definition.type.target.kind == "void" else "return "
        return head + f"{{ extern __typeof__({definition.name}) {item.slot}; {word}{call}; }}".encode()
    if re.search(rb"\binline\b", masked):
        return None
    # Declarations before the body: parameters in the old style, which a prototype cannot have.
    return head[:end] + b");" if b";" in masked else head.rstrip() + b";"
