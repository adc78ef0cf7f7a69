"""The functions, classes and imports of a project, read from its source without importing it.

Modules are parsed when a name leads to them. A type is read from annotations alone: a class of the project, what a
container or a context manager of such holds, or None for everything else.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tests.support.syntax import parse, statements

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
CONTAINERS = {"Iterator", "Iterable", "Sequence", "Collection", "Generator", "AbstractContextManager", "Mapping"}
CONTAINERS |= {"list", "tuple", "set", "frozenset", "dict"}
RE_EXPORTS = 8


@dataclass(frozen=True, eq=False)
class Module:
    """A module: its definitions, and the dotted names that it imports, within functions too, by their local name."""

    name: str
    path: str
    tree: ast.Module

    @cached_property
    def definitions(self) -> Mapping[str, FunctionNode | ast.ClassDef]:
        nodes = statements(self.tree)
        known = (node for node in nodes if isinstance(node, FunctionNode | ast.ClassDef))
        top = {id(node) for node in self.tree.body} | {
            id(inner) for node in self.tree.body if isinstance(node, ast.If | ast.Try) for inner in ast.walk(node)
        }
        return {node.name: node for node in known if id(node) in top}

    @cached_property
    def imports(self) -> Mapping[str, str]:
        names: dict[str, str] = {}
        for node in statements(self.tree):
            if isinstance(node, ast.Import):
                names |= {
                    one.asname or one.name.partition(".")[0]: (one.asname and one.name) or one.name.partition(".")[0]
                    for one in node.names
                }
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        return names


class Function(NamedTuple):
    """A function or method; `owner` is the class of a method."""

    module: Module
    node: FunctionNode
    owner: "Class | None" = None

    @property
    def parameters(self) -> list[str]:
        arguments = self.node.args
        return [one.arg for one in (*arguments.posonlyargs, *arguments.args)]

    @property
    def is_property(self) -> bool:
        return any("property" in ast.unparse(one) for one in self.node.decorator_list)

    @property
    def is_bound(self) -> bool:
        """Whether the first parameter is the object or the class."""
        return self.owner is not None and "staticmethod" not in map(ast.unparse, self.node.decorator_list)


class Class(NamedTuple):
    module: Module
    node: ast.ClassDef


@dataclass(frozen=True)
class Type:
    """An object of a class, or the class itself; for a container, `holds` is the type of what it yields."""

    of: Class | None = None
    holds: "Type | None" = None
    is_class: bool = False


@dataclass
class Project:
    """The packages below a directory."""

    root: Path
    _modules: dict[str, Module | None] = field(default_factory=dict)

    def module(self, name: str) -> Module | None:
        if name not in self._modules:
            base = self.root.joinpath(*name.split("."))
            files = [base.with_suffix(".py"), base / "__init__.py"]
            file = next((one for one in files if one.is_file()), None) if "tests" not in name.split(".") else None
            path = file and str(file.relative_to(self.root))
            self._modules[name] = Module(name, path, parse(file.read_bytes())) if file and path else None
        return self._modules[name]

    def find(self, dotted: str, depth: int = RE_EXPORTS) -> "Module | Function | Class | None":
        """Return what a dotted name means, followed through the packages that only hand it on."""
        holder, _, name = dotted.rpartition(".")
        package = self.module(dotted)
        if package and not (holder and (above := self.module(holder)) and name in above.imports):
            return package
        found = self.find(holder, depth) if holder else None
        if isinstance(found, Class):
            return self.method(found, name)
        return (self.named(found, name, depth) if isinstance(found, Module) else None) or package

    def named(self, module: Module, name: str, depth: int = RE_EXPORTS) -> "Module | Function | Class | None":
        """Return what a name of a module means."""
        node = module.definitions.get(name)
        if isinstance(node, ast.ClassDef):
            return Class(module, node)
        if node is not None:
            return Function(module, node)
        target = module.imports.get(name)
        return self.find(target, depth - 1) if target and depth else None

    def method(self, owner: Class, name: str) -> Function | None:
        for one in self.lineage(owner):
            for node in one.node.body:
                if isinstance(node, FunctionNode) and node.name == name:
                    return Function(one.module, node, owner)
        return None

    def lineage(self, owner: Class) -> Iterator[Class]:
        """Yield a class and its bases, nearest first."""
        yield owner
        for base in owner.node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            found = self.expressed(owner.module, inner)
            if isinstance(found, Class) and found.node is not owner.node:
                yield from self.lineage(found)

    def attribute(self, owner: Class, name: str) -> Type | None:
        """Return the type of a field or property by its annotation."""
        for one in self.lineage(owner):
            for node in one.node.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
                    return self.type_of(one.module, node.annotation)
        method = self.method(owner, name)
        return self.type_of(method.module, method.node.returns) if method and method.is_property else None

    def expressed(self, module: Module, node: ast.expr) -> "Module | Function | Class | None":
        """Return what a name or a dotted name in the source of a module means."""
        if isinstance(node, ast.Name):
            return self.named(module, node.id)
        if isinstance(node, ast.Attribute):
            holder = self.expressed(module, node.value)
            if isinstance(holder, Module):
                return self.named(holder, node.attr) or self.module(f"{holder.name}.{node.attr}")
            return self.method(holder, node.attr) if isinstance(holder, Class) else None
        return None

    def type_of(self, module: Module, annotation: ast.expr | None) -> Type | None:
        """Read an annotation."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return self.type_of(module, ast.parse(annotation.value, mode="eval").body)
        if isinstance(annotation, ast.BinOp):
            return self.type_of(module, annotation.left) or self.type_of(module, annotation.right)
        if isinstance(annotation, ast.Subscript):
            return self._generic(module, annotation)
        found = self.expressed(module, annotation) if annotation is not None else None
        return Type(found) if isinstance(found, Class) else None

    def _generic(self, module: Module, annotation: ast.Subscript) -> Type | None:
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        name = ast.unparse(annotation.value).rpartition(".")[2]
        if name in ("Annotated", "Optional", "ClassVar", "Final"):
            return self.type_of(module, parts[0])
        if name in CONTAINERS:
            held = (self.type_of(module, one) for one in parts)
            return Type(holds=next((one for one in held if one), None))
        return self.type_of(module, annotation.value)
