"""The references of a definition and the facts about its body, from the cursors below it in pre-order."""

from collections.abc import Sequence

from jarvis_workers.source.clang.declaration_facts import type_facts
from jarvis_workers.source.clang.declaration_keys import DeclarationKey, DeclarationKeys
from jarvis_workers.source.clang.kinds import STORAGE_STATIC, TYPES, CursorKind
from jarvis_workers.source.clang.libclang import Cursor, children, descendants, library
from jarvis_workers.source.clang.pretty_printer import PrettyPrinter, attributes
from jarvis_workers.source.clang.unit import Category, Language, Reference, ReferenceKind

BODY_FACTS: dict[int, str] = {
    CursorKind.GOTO: "goto",
    CursorKind.INDIRECT_GOTO: "computed_goto",
    CursorKind.ADDRESS_OF_LABEL: "computed_goto",
    CursorKind.ASM: "inline_asm",
    CursorKind.MS_ASM: "inline_asm",
    CursorKind.STATEMENT_EXPR: "statement_expression",
    CursorKind.GENERIC_SELECTION: "generic_selection",
}
CALL_FACTS = {
    **dict.fromkeys(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp"), "setjmp"),
    **dict.fromkeys(("longjmp", "_longjmp", "siglongjmp", "__builtin_longjmp"), "longjmp"),
    **dict.fromkeys(("alloca", "__builtin_alloca"), "alloca"),
}
KIND_OF: dict[Category, ReferenceKind] = {"function": "call", "type": "type", "global": "global", "macro": "macro"}
# Cursors that may be between a call and the name of its callee: parentheses, `*f`, `&f`, casts.
BEFORE_CALLEE = frozenset({CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN, CursorKind.UNARY, CursorKind.C_CAST})
TYPED = frozenset({CursorKind.VARIABLE, CursorKind.PARAMETER, CursorKind.C_CAST, CursorKind.FLOATING_LITERAL})
# Maximum distance in cursors from a variable to its attributes, which are its last cursors.
ATTRIBUTE_DISTANCE = 16
# Only these kinds matter; this is checked first, since most cursors are of other kinds.
RELEVANT = (
    TYPED
    | TYPES
    | BODY_FACTS.keys()
    | {CursorKind.CALL, CursorKind.DECL_REF, CursorKind.MEMBER_REF, CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF}
    | {CursorKind.UNEXPOSED_ATTR}
)


class BodyReader:
    """Collects the references of definitions, one definition at a time.

    `targets` are all referenced declarations, by key; `calls_by_name` are calls of functions that an attribute names.
    """

    def __init__(self, keys: DeclarationKeys, language: Language, printer: PrettyPrinter) -> None:
        self._keys = keys
        self._language = language
        self._printer = printer
        self._lib = library()
        self._facts_of_type: dict[int | None, tuple[str, ...]] = {}
        self.references: set[Reference] = set()
        self.targets: dict[str, DeclarationKey] = {}
        self.calls_by_name: list[tuple[str, str]] = []

    def read(self, source: DeclarationKey, cursors: Sequence[Cursor]) -> set[str]:
        """Record the references of a definition and return the facts about its body."""
        self._source = source
        self._cursors = cursors
        self._kinds = [cursor.kind for cursor in cursors]
        self._facts: set[str] = set()
        self._callees: set[int] = set()
        self._unselected: set[int] = set()
        self._called: set[str] = set()
        for index, kind in enumerate(self._kinds):
            if kind not in RELEVANT:
                continue
            cursor = cursors[index]
            if kind == CursorKind.DECL_REF:
                self._name(index, cursor)
            elif kind == CursorKind.MEMBER_REF:
                self._member(cursor)
            elif kind == CursorKind.CALL:
                self._call(index, cursor)
            else:
                self._other(index, kind, cursor)
        return self._facts

    def _name(self, index: int, cursor: Cursor) -> None:
        target = self._referenced(cursor)
        function = target is not None and target.category == "function"
        if function and index in self._unselected:
            return
        if index in self._callees and not function:
            self._facts.add("indirect_calls")
        if target is None:
            return
        if not function:
            self._refer(target, KIND_OF[target.category])
        elif index in self._callees or target.key in self._called:
            self._refer(target, "call")
            if target.name in CALL_FACTS:
                self._facts.add(CALL_FACTS[target.name])
        else:
            self._refer(target, "address")

    def _member(self, cursor: Cursor) -> None:
        target = self._referenced(cursor)
        if target is not None:
            self._refer(target, KIND_OF[target.category])

    def _call(self, index: int, cursor: Cursor) -> None:
        if self._language == "c++":
            target = self._referenced(cursor)
            if target is not None and target.category == "function":
                self._called.add(target.key)
                self._refer(target, "call")
                return
        callee = index + 1
        while callee < len(self._kinds) and self._kinds[callee] in BEFORE_CALLEE:
            callee = self._operand(callee) if self._kinds[callee] == CursorKind.C_CAST else callee + 1
        kind = self._kinds[callee] if callee < len(self._kinds) else None
        if kind == CursorKind.DECL_REF:
            self._callees.add(callee)
        elif kind == CursorKind.GENERIC_SELECTION:
            self._select(callee)
        else:
            self._facts.add("indirect_calls")

    def _operand(self, cast: int) -> int:
        """Return the index of the operand of a cast: its last child, after those of the type."""
        below = children(self._cursors[cast])
        behind = len(descendants(below[-1])) if below else 0
        return cast + max(len(descendants(self._cursors[cast])) - behind, 1)

    def _select(self, generic: int) -> None:
        """Treat the functions that `_Generic` may select as called; the type of the expression determines which."""
        below = range(generic + 1, generic + 1 + len(descendants(self._cursors[generic])))
        names = {index for index in below if self._kinds[index] == CursorKind.DECL_REF}
        selected = {index for index in names if self._canonical(index) == self._canonical(generic)}
        self._callees |= selected or names
        self._unselected |= names - selected if selected else set()

    def _canonical(self, index: int) -> int | None:
        type_ = self._lib.clang_getCanonicalType(self._lib.clang_getCursorType(self._cursors[index]))
        pointer: int | None = type_.pointer
        return pointer

    def _other(self, index: int, kind: int, cursor: Cursor) -> None:
        if fact := BODY_FACTS.get(kind):
            self._facts.add(fact)
        elif kind in TYPED:
            self._typed(kind, cursor)
        elif kind == CursorKind.UNEXPOSED_ATTR:
            self._attribute(index)
        elif kind in TYPES:
            if target := self._keys.of(cursor):
                self._refer(target, "type")
        elif target := self._referenced(cursor):
            self._refer(target, KIND_OF[target.category])

    def _attribute(self, index: int) -> None:
        """Record the function named by the `cleanup` attribute of a local variable as called."""
        before = reversed(self._cursors[max(index - ATTRIBUTE_DISTANCE, 0) : index])
        owner = next((one for one in before if one.kind == CursorKind.VARIABLE), None)
        name = attributes(self._printer.print(owner)).get("cleanup") if owner is not None else None
        if name:
            self._facts.add("cleanup")
            self.calls_by_name.append((self._source.key, name))

    def _typed(self, kind: int, cursor: Cursor) -> None:
        type_ = self._lib.clang_getCursorType(cursor)
        if type_.pointer not in self._facts_of_type:
            self._facts_of_type[type_.pointer] = tuple(type_facts(type_))
        self._facts.update(self._facts_of_type[type_.pointer])
        if kind == CursorKind.VARIABLE and self._lib.clang_Cursor_getStorageClass(cursor) == STORAGE_STATIC:
            self._facts.add("static_locals")

    def _referenced(self, cursor: Cursor) -> DeclarationKey | None:
        return self._keys.of(self._lib.clang_getCursorReferenced(cursor))

    def _refer(self, target: DeclarationKey, kind: ReferenceKind) -> None:
        if target.key != self._source.key or kind == "call":
            self.references.add(Reference(self._source.key, target.key, kind))
            self.targets[target.key] = target
