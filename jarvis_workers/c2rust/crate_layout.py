"""The plan of a crate: which module contains which function (seed 001, 5.4 and 5.5), and enums with a type in Rust.

Plans are written by models and by people, and are untrusted.  What is wrong with an entry is named, and the functions
that it concerns stay in the module of their C file; the rest of the plan counts.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from jarvis_workers.c2rust.project import RESERVED_MODULES, enum_problems
from jarvis_workers.c2rust.rust_names import KEYWORDS
from jarvis_workers.paths import listing

NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
MISSING = "in no module"
SOURCE, SUFFIX, PROGRAMS = "src", ".rs", "bin"
DEPTH_MAX, SHOWN_MAX, NAMES_SHOWN = 4, 100, 20


def _names(value: object) -> object:
    """Return a list of names; a text is split at commas, and nothing is an empty list."""
    return [one.strip() for one in value.split(",")] if isinstance(value, str) else value or ()


class PlannedModule(BaseModel):
    """A module with its functions."""

    model_config = ConfigDict(frozen=True)

    path: str = Field(description="src/NAME.rs or src/DIRECTORY/NAME.rs, in snake case")
    functions: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(description="the functions in it")


class CratePlan(BaseModel):
    """The modules of a crate, and what becomes of some enums, by name."""

    model_config = ConfigDict(frozen=True)

    modules: tuple[PlannedModule, ...]
    enums: dict[str, str] = Field({}, description="enum or flags, by the name of an enum")

    @model_validator(mode="before")
    @classmethod
    def _from_tree(cls, value: Any) -> Any:
        """Accept a tree of directories and files beside the list of modules."""
        enums: Any = None
        if isinstance(value, Mapping):
            value = dict(value)
            enums = value.pop("enums", None)
            value = value["modules"] if value.keys() == {"modules"} else value
        return {"modules": list(_modules(value, "")), "enums": enums or {}}


def _modules(value: Any, place: str) -> Iterator[Any]:
    """Yield the modules in a list of modules, or in a tree such as `src/: {codec/: {huffman.rs: [encode]}}`."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _modules(one, place)
    elif isinstance(value, Mapping) and "path" not in value:
        for name, inner in value.items():
            if str(name).endswith(SUFFIX):
                yield {"path": f"{place}{name}", "functions": inner}
            else:
                yield from _modules(inner, f"{place}{str(name).rstrip('/')}/")
    elif not isinstance(value, str):
        # Files without functions, such as Cargo.toml, are texts.
        yield value


class Placement(NamedTuple):
    """The modules of functions and the kinds of enums by name, and what is wrong with the plan, one line each."""

    modules: Mapping[str, str]
    problems: tuple[str, ...] = ()
    enums: Mapping[str, str] = MappingProxyType({})


def read_placement(
    plan: CratePlan, functions: Collection[str], types: Collection[str] = (), enums: Collection[str] = ()
) -> Placement:
    """Return the modules of the functions that a plan places; `types` are the names of the types of the crate.

    `enums` are the names of the enums that can have a type in Rust.
    """
    modules, problems, planned = dict[str, str](), list[str](), set[str]()
    wrong = enum_problems(plan.enums, enums)
    kinds = {name: kind for name, kind in plan.enums.items() if name not in wrong}
    for one in plan.modules:
        try:
            module = module_of(one.path, (*types, *kinds))
        except ValueError as error:
            problems.append(str(error))
            continue
        if module in planned:
            problems.append(f"{one.path}: the module occurs twice")
        planned.add(module)
        if unknown := [_shown(name) for name in one.functions if name not in functions]:
            problems.append(f"{one.path}: there is no function {listing(unknown, NAMES_SHOWN)}")
        for name in one.functions:
            if modules.get(name, module) != module:
                problems.append(f"{name}: it is in two modules, src/{modules[name]}.rs and {one.path}")
            elif name in functions:
                modules[name] = module
    if missing := [name for name in functions if name not in modules]:
        problems.append(f"{MISSING}: {listing(missing, NAMES_SHOWN)}")
    return Placement(modules, (*problems, *wrong.values()), kinds)


def module_of(path: str, types: Collection[str] = ()) -> str:
    """Return the path of a module, such as "codec/huffman", for its file.

    Raises ValueError with the reason if the file cannot have functions.
    """
    source, _, inside = path.partition("/")
    *directories, file = inside.split("/")
    place = _shown(path)
    if source != SOURCE or not file.endswith(SUFFIX) or "" in directories:
        raise ValueError(f"{place}: not a file src/….rs")
    names = [*directories, file.removesuffix(SUFFIX)]
    if names[-1] == "mod" and directories:
        names.pop()
    if len(names) > DEPTH_MAX:
        raise ValueError(f"{place}: more than {DEPTH_MAX} levels")
    for name in names:
        if not NAME.fullmatch(name):
            raise ValueError(f"{place}: not a name in snake case: {_shown(name)}")
        if name in KEYWORDS:
            raise ValueError(f"{place}: {name} is a keyword of Rust")
        if name in RESERVED_MODULES or names[0] == PROGRAMS:
            raise ValueError(f"{place}: reserved for other contents; choose another module")
    # All modules see all types, and the modules within other modules.
    if hidden := [name for name in names[1:] if name in types]:
        raise ValueError(f"{place}: {hidden[0]} is also a type; choose another name")
    return "/".join(names)


def _shown(name: str) -> str:
    return ascii(name[:SHOWN_MAX])[1:-1]


def plan_text(modules: Mapping[str, str], enums: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a plan as YAML; `modules` are by function, `enums` by name."""
    functions = dict[str, list[str]]()
    for name, module in modules.items():
        functions.setdefault(module, []).append(name)
    rows = [{"path": f"{SOURCE}/{module}{SUFFIX}", "functions": names} for module, names in sorted(functions.items())]
    return yaml.safe_dump({"modules": rows} | ({"enums": dict(enums)} if enums else {}), sort_keys=False)
