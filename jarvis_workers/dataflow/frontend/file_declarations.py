"""Read the declarations of a file outside of functions: variables, types and macros.

Long declarations and function prototypes are skipped; for a variable with a long initializer, only the type is read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from jarvis_workers.dataflow.frontend.declared import TYPES, declared, plain_type, specified, type_name
from jarvis_workers.dataflow.frontend.deferred import cleanup_macros
from jarvis_workers.dataflow.frontend.grammar import FileNames, Node, Reading
from jarvis_workers.dataflow.frontend.lowering import ParsedSource, clean, grammar
from jarvis_workers.dataflow.frontend.macros import defined_macros, loop_heads, lowered_macros, parameter_lists
from jarvis_workers.dataflow.queries.name_heuristics import never_returns

DECLARATION_MAX = 1_024
TYPE_MAX = 32_768
WORD = re.compile(rb"\w+")
SKIPPED = frozenset(b"friend static_assert _Static_assert using return goto if for while".split())
ALIAS = re.compile(rb"\s*using\s+(\w+)\s*=\s*([^;]{1,200});")
DIRECTIVE = re.compile(rb"^[ \t]*+#(?>[^\\\n]++|\\.)*+", re.DOTALL | re.MULTILINE)
# An attribute, or a macro for one, that says that a function never returns; and the names that it may be about.
NO_RETURN = re.compile(rb"\b(?:_Noreturn|\w*no_?return\w*)\b", re.IGNORECASE)
DECLARED = re.compile(rb"\b([A-Za-z_]\w*)\s*(,?)\s*\(")
# A function that is named like an allocator and returns no pointer.
NUMBER = re.compile(
    rb"\s*+(?>(?:extern|static|inline|\w+_EXPORT|\w+_API)\s++)*+(?>unsigned\s++)?+"
    rb"(?:void|bool|_Bool|int|long|short|BOOL|s?size_t|u?int\d+_t|\w+(?:err|error|status|errno)_t)\s++"
    rb"(\w*(?:alloc|dup)\w*)\s*+\("
)
# A macro without parameters for a single call.
CALLING = re.compile(rb"[ \t]++(\w++)\(\s*+\)[ \t]++(\w++)[ \t]*+\([^()\n;]{0,200}\)\s*+;?\s*+")
POINTER = re.compile(rb"\(\s*+\*\s*+([A-Za-z_]\w*+)\s*+\)\s*+\(")
ATTRIBUTES = frozenset((b"__attribute__", b"__attribute", b"__declspec"))
TEMPLATE = re.compile(rb"\s*+template\s*<[^;{}()]*>\s*(?=class|struct|union)")


class Outside:
    """Declarations by name; the first declaration of a name wins.

    `ending` are the functions whose prototypes say that they never return, with a star before the name of a pointer to
    such a function or of its type, and with # before the name those like an allocator that return a number;
    `opaque` are the macros that are not understood, `names` the declarations.
    """

    def __init__(
        self,
        source: ParsedSource,
        declarations: list[list[tuple[int, int]]],
        *,
        header: bool,
        defines: Sequence[str] = (),
    ) -> None:
        self.globals: dict[str, Any] = {}
        self.types: dict[str, Any] = {}
        self.typedefs: dict[str, str] = {}
        self.ending: set[str] = set()
        spans = [(one.end - len(one.rest), one.end) for one in source.branches.live() if one.word == b"define"]
        texts = defined_macros(source, spans, defines)
        cleanups = cleanup_macros({one.name: one.body for one in texts.values()})
        self.names = FileNames(
            self.globals, self.types, self.typedefs, loop_heads(texts), parameter_lists(texts), cleanups
        )
        self.macros = lowered_macros(texts, cpp=source.cpp)
        defined = [
            (name[0], source.content[start:end])
            for start, end in spans
            if (name := WORD.search(source.content, start, end))
        ]
        self.opaque = {name.decode("latin-1") for name, _ in defined}.difference(self.macros)
        self._excluded(source, {name for name, _ in defined})
        self._attributes = frozenset(name for name, text in defined if NO_RETURN.search(text))
        self._source = source
        self._header = header
        self._line, self._behind = 1, 0
        for parts in declarations:
            self._declaration(parts)

    def note(self, reading: Reading) -> None:
        """Record the types and constants that a function body declares."""
        for name, type_ in reading.types.items():
            self.types.setdefault(name, type_)
        for name, value in reading.constants.items():
            self.macros.setdefault(name, value)

    def _declaration(self, parts: list[tuple[int, int]]) -> None:
        text = self._source.text
        size = sum(end - start for start, end in parts)
        masked = b"".join([text[start:end] for start, end in parts]) if size <= 4 * TYPE_MAX else b""
        if b"#" in masked:
            masked = DIRECTIVE.sub(_spaces, masked)
        template = TEMPLATE.match(masked)
        bare = masked[template.end() :] if template else masked
        first = WORD.search(bare)
        if first is None or (first[0] in SKIPPED and not ALIAS.match(bare)):
            return
        if alias := ALIAS.match(bare):
            self.typedefs.setdefault(alias[1].decode("latin-1"), plain_type(alias[2].decode("latin-1").strip()))
            return
        brace, equals, call = bare.find(b"{"), bare.find(b"="), bare.find(b"(")
        is_type = brace >= 0 and (equals < 0 or brace < equals)
        if not is_type and first[0] != b"typedef" and _is_prototype(bare, call, equals):
            if self._never_returns(bare):
                self.ending.update(_declared_name(bare))
            if (number := NUMBER.match(bare)) is not None:
                self.ending.add(f"#{number[1].decode('latin-1')}")
            return
        self._pointers(bare)
        code = b"".join([clean(self._source, start, end) for start, end in parts])
        code = code[len(masked) - len(bare) :]
        if len(code) > (TYPE_MAX if is_type else DECLARATION_MAX):
            if is_type or equals < 0:
                return
            code = code[:equals] + b"= __long_initializer__;"
        self._read(code, parts[0][0])

    def _excluded(self, source: ParsedSource, defined: set[bytes]) -> None:
        """Record a macro that never returns where it is defined, which is in an excluded branch."""
        for one in source.branches.directives:
            macro = CALLING.fullmatch(one.rest) if one.word == b"define" else None
            if macro and macro[1] not in defined and never_returns(macro[2].decode("latin-1")):
                self.ending.add(macro[1].decode("latin-1"))

    def _never_returns(self, declaration: bytes) -> bool:
        return bool(NO_RETURN.search(declaration)) or not self._attributes.isdisjoint(WORD.findall(declaration))

    def _pointers(self, text: bytes) -> None:
        """Record the pointers to functions that never return, among members and typedefs, too."""
        behind = 0
        for pointer in POINTER.finditer(text):
            if pointer.start() < behind:
                # It is a parameter.
                continue
            start = max(text.rfind(mark, behind, pointer.start()) for mark in (b";", b"{", b"}")) + 1
            end = text.find(b";", pointer.end())
            behind = end if end >= 0 else len(text)
            if self._never_returns(text[max(start, 0) : behind]):
                self.ending.add(f"*{pointer[1].decode('latin-1')}")

    def _read(self, code: bytes, start: int) -> None:
        self._line += self._source.content.count(b"\n", self._behind, start)
        self._behind = start
        reading = Reading(grammar(cpp=self._source.cpp), code, self._line)
        reading.names = self.names
        for node in reading.root.named_children:
            if node.type == "declaration":
                self._variables(reading, node)
            elif node.type == "type_definition":
                self._typedef(reading, node)
            elif node.type in TYPES:
                type_name(reading, node, node.type)
        self.note(reading)

    def _variables(self, reading: Reading, node: Node) -> None:
        out: list[Any] = []
        reading.add(node, out)
        is_extern = "extern" in specified(reading, reading.children(node)).words
        for name, kind, dims, value, flags in (variable for tag, _, *variable in out if tag == "d"):
            if name:
                unknown = value == ["v", "__long_initializer__"]
                marks = flags.replace("e", "") + (
                    "e" if value is None and (is_extern or (self._header and "s" not in flags)) else ""
                )
                self._keep(name, [kind, dims, ["x"] if unknown else value, marks])

    def _keep(self, name: str, rows: list[Any]) -> None:
        _, _, value, _ = rows
        _, _, earlier, marks = self.globals.get(name, (None, None, None, "e"))
        if "e" in marks or (earlier is None and value is not None):
            self.globals[name] = rows

    def _typedef(self, reading: Reading, node: Node) -> None:
        children = [child for child in reading.children(node) if child.type not in ("typedef", ";", ",")]
        of = specified(reading, children)
        for child in of.rest:
            if not child.type.endswith(("declarator", "identifier")):
                continue
            declarator = declared(reading, child, of)
            if not declarator.name:
                continue
            if of.type.startswith("struct@") and declarator.type == of.type:
                if of.type in reading.types:
                    reading.types[declarator.name] = reading.types.pop(of.type)
                of = of._replace(type=declarator.name)
            else:
                levels = "*" * (len(declarator.dims) - 1) + "[]" if declarator.dims else ""
                kind = "fn*" if declarator.function is not None else declarator.type + levels
                self.typedefs.setdefault(declarator.name, kind)


def _spaces(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _declared_name(prototype: bytes) -> Iterator[str]:
    """Yield the name of a function; a macro that forms its prototype has the name as an argument before parameters."""
    names = [
        one for one in DECLARED.finditer(prototype) if one[1] not in ATTRIBUTES and not NO_RETURN.fullmatch(one[1])
    ]
    inside = [one for one in names if one[2]]
    yield from (one[1].decode("latin-1") for one in (inside or names)[:1])


def _is_prototype(text: bytes, call: int, equals: int) -> bool:
    if call < 0 or 0 <= equals < call:
        return False
    return text[call + 1 : call + 12].lstrip()[:1] not in (b"*", b"^")
