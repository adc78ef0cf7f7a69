"""Assemble crates from the bodies of functions: for the gates, and for the user.

Both are functions of their arguments alone.  In the crate for the gates each function has a file of its own, and calls
everything else through the slots of the C programs, also what is Rust; in the user's crate a module holds the functions
of a C file, in its order, and calls of Rust functions are direct.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Files = dict[str, str]

ALLOWED = (
    "clashing_extern_declarations", "dead_code", "improper_ctypes", "improper_ctypes_definitions",
    "non_camel_case_types", "non_snake_case", "non_upper_case_globals", "path_statements", "private_interfaces",
    "static_mut_refs", "unreachable_code", "unused", "unused_parens", "unpredictable_function_pointer_comparisons",
    "unknown_lints", "unconditional_recursion", "overflowing_literals", "arithmetic_overflow",
    "unconditional_panic", "ambiguous_glob_reexports", "ambiguous_glob_imports",
)  # fmt: skip
LINTS = "#![allow(\n{}\n)]\n".format("\n".join(f"    {name}," for name in ALLOWED))
IMPORTS = "use crate::c::*;\nuse crate::types::*;\n"
PROFILE = 'panic = "abort"\noverflow-checks = false\ndebug-assertions = false\n'
SLOT_PREFIX = "jvr_"


class CrateItem(NamedTuple):
    """A function or global in Rust.

    `name` is its Rust name, `slot` its name in C programs, `text` its items; `exported` is the symbol that C code finds
    it by, "" if none does.
    """

    name: str
    slot: str
    module: str
    text: str
    exported: str = ""


def bench_crate(types: str, declarations: Iterable[str], functions: Sequence[CrateItem]) -> Files:
    """Return the files of the crate whose library replaces functions of C programs when they start.

    `declarations` are those of all functions and globals of the project and of the libraries that it uses.
    """
    files = {
        "Cargo.toml": _manifest("bench", 'crate-type = ["cdylib"]', f"[profile.dev]\nopt-level = 1\n{PROFILE}"),
        "src/types.rs": types,
        "src/c.rs": _extern_block(declarations),
    }
    modules = []
    for function in functions:
        module = f"f_{function.name.removeprefix('r#')}"
        modules.append(f"mod {module};")
        files[f"src/{module}.rs"] = IMPORTS + "\n" + export(function._replace(exported=SLOT_PREFIX + function.slot))
    files["src/lib.rs"] = "\n".join([LINTS, "mod c;", "mod types;", *modules, ""])
    return files


def function_of(file: str) -> str | None:
    """Return the function that a file of the crate for the gates holds, None for the others."""
    match = re.fullmatch(r"src/f_(\w+)\.rs", file)
    return match[1] if match else None


def user_crate(
    name: str, types: str, declarations: Iterable[str], items: Sequence[CrateItem], documents: Mapping[str, str]
) -> Files:
    """Return the files of the crate for a user, without its remainder in C.

    `declarations` are those of what is not in Rust; `documents` are the introductory lines of modules, by module.
    """
    modules = defaultdict[str, list[CrateItem]](list)
    for item in items:
        modules[item.module].append(item)
    exports = "".join(f"pub use crate::{module}::*;\n" for module in sorted(modules))
    files = {
        "Cargo.toml": _manifest(name, 'crate-type = ["rlib", "staticlib", "cdylib"]', _profiles()),
        "src/types.rs": "//! The types of the C library, with their C layout.\n\n" + types,
        "src/c.rs": "//! The functions that a module may call: those of the other modules, and those in C.\n\n"
        f"{exports}\n{_extern_block(declarations)}",
        "src/lib.rs": LINTS + "\n" + "".join(f"pub mod {module};\n" for module in sorted({*modules, "c", "types"})),
    }
    for module, own in modules.items():
        text = "\n".join(export(item) for item in own)
        files[f"src/{module}.rs"] = f"{documents.get(module, '')}\n{IMPORTS}\n{text}"
    return files


def export(item: CrateItem) -> str:
    """Return the text of an item with the attribute that exports it."""
    if not item.exported:
        return item.text
    name = re.escape(item.name)
    definition = re.compile(rf'^pub (?:unsafe extern "C" fn|static(?: mut)?) {name}\b', re.MULTILINE)
    attribute = "#[no_mangle]" if item.exported == item.name else f'#[export_name = "{item.exported}"]'
    return definition.sub(lambda match: f"{attribute}\n{match[0]}", item.text, count=1)


def _extern_block(declarations: Iterable[str]) -> str:
    lines = [f"    {line}" for one in declarations for line in one.splitlines()]
    return "use crate::types::*;\n\n" + 'extern "C" {\n' + "".join(f"{line}\n" for line in lines) + "}\n"


def _manifest(name: str, kinds: str, profiles: str) -> str:
    package = f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n'
    return f"{package}\n[lib]\n{kinds}\n\n{profiles}\n[workspace]\n"


def _profiles() -> str:
    return f"[profile.dev]\n{PROFILE}\n[profile.release]\n{PROFILE}"
