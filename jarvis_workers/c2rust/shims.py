"""Shims and forwarders: how a function with Rust parameters is called from C, and calls C.

A shim is the `extern "C"` function that C programs call: it converts C arguments according to the mappings of the
parameters, and calls the Rust function.  A forwarder takes the place of the body of the Rust function: it converts the
arguments back, and calls the C original.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from jarvis_workers.c2rust.mechanical.context import decay
from jarvis_workers.c2rust.mechanical.names import Names, RustBody
from jarvis_workers.c2rust.mechanical.translate import declaration, spelled
from jarvis_workers.c2rust.project import ProjectItem, is_main
from jarvis_workers.c2rust.rust_names import identifier
from jarvis_workers.c2rust.signatures import ERROR_TYPE, RESULT, MappingKind, ParameterMapping
from jarvis_workers.c2rust.slots import ORIGINAL
from jarvis_workers.c2rust.translation import NOT_CHOSEN, Translated, TranslatedProject
from jarvis_workers.paths import from_text
from jarvis_workers.source.clang.c_types import CType

FLOAT_BYTES = 4
ENTRY_POINT = "the entry point of a program"
HEADER_COPY = "a static function of a header: each file has its own"
NOT_DECLARED = "a type of its signature has no counterpart in Rust"
VARIADIC = "variadic: Rust cannot forward its arguments"


class ArgumentConversion(NamedTuple):
    """The Rust type of a parameter, the expressions that convert its argument from C and to C, and the safety claim.

    `{a}` is the name of the C argument, `{p}` that of the parameter, `{n}` the C argument with the length, `{t}` the
    type of the element, or of a number, `{e}` that of the enum.
    """

    type: str
    argument: str
    original: str
    claim: str


RAW_POINTER = re.compile(r"\*\s*(?:const|mut)\b")
UNCHANGED, UNSHARED = "nothing changes it during the call", "nothing else accesses it during the call"
CSTR, UNINIT, SLICE = "core::ffi::CStr", "core::mem::MaybeUninit<{t}>", "core::slice::from_raw_parts"
ELEMENTS = "match usize::try_from({{n}}) {{{{ Ok(n) if !{{a}}.is_null() => {0}({{a}}, n), _ => &{1}[] }}}}"
CONVERSIONS: Mapping[str, ArgumentConversion] = {
    "ref": ArgumentConversion("&{t}", "&*{a}", "core::ptr::from_ref({p})", f"points to a value; {UNCHANGED}"),
    "mut_ref": ArgumentConversion(
        "&mut {t}", "&mut *{a}", "core::ptr::from_mut({p})", f"points to a value; {UNSHARED}"
    ),
    "out": ArgumentConversion(
        f"&mut {UNINIT}", "&mut *{a}.cast()", "{p}.as_mut_ptr()", f"is valid for writes; {UNSHARED}"
    ),
    "slice": ArgumentConversion(
        "&[{t}]", ELEMENTS.format(SLICE, ""), "{p}.as_ptr()", f"has {{n}} elements; {UNCHANGED}"
    ),
    "mut_slice": ArgumentConversion(
        "&mut [{t}]", ELEMENTS.format(f"{SLICE}_mut", "mut "), "{p}.as_mut_ptr()", f"has {{n}} elements; {UNSHARED}"
    ),
    "cstr": ArgumentConversion(
        f"&{CSTR}", f"{CSTR}::from_ptr({{a}}.cast())", "{p}.as_ptr().cast()", f"ends with NUL; {UNCHANGED}"
    ),
    "option ref": ArgumentConversion(
        "Option<&{t}>", "{a}.as_ref()", "{p}.map_or(core::ptr::null(), core::ptr::from_ref)", f"is NULL, or {UNCHANGED}"
    ),
    "option mut_ref": ArgumentConversion(
        "Option<&mut {t}>",
        "{a}.as_mut()",
        "{p}.map_or(core::ptr::null_mut(), core::ptr::from_mut)",
        f"is NULL, or {UNSHARED}",
    ),
    "option out": ArgumentConversion(
        f"Option<&mut {UNINIT}>",
        f"{{a}}.cast::<{UNINIT}>().as_mut()",
        "{p}.map_or(core::ptr::null_mut(), |p| p.as_mut_ptr())",
        f"is NULL, or {UNSHARED}",
    ),
    "option cstr": ArgumentConversion(
        f"Option<&{CSTR}>",
        f"(!{{a}}.is_null()).then(|| {CSTR}::from_ptr({{a}}.cast()))",
        "{p}.map_or(core::ptr::null(), |p| p.as_ptr()).cast()",
        f"is NULL or ends with NUL; {UNCHANGED}",
    ),
    "enum": ArgumentConversion(
        "Result<{e}, {t}>", "{e}::try_from({a})", "{p}.map_or_else(|value| value, {t}::from)", ""
    ),
    "flags": ArgumentConversion("{e}", "{e} {{ bits: {a} }}", "{p}.bits", ""),
}


class ResultConversion(NamedTuple):
    """The Rust type of a result, and the expressions that convert it from C and to C.

    `{t}` is the C type in Rust, `{e}` its element or the type of the mapping, `{v}` the value; `{m}`, `{n}` and `{c}`
    are a cast, NULL and a cast for its mutability.
    """

    type: str
    original: str
    value: str


NON_NULL = "core::ptr::NonNull"
RESULTS: Mapping[str, ResultConversion] = {
    "value": ResultConversion("{t}", "{v}", "{v}"),
    "option": ResultConversion(
        f"Option<{NON_NULL}<{{e}}>>", f"{NON_NULL}::new({{v}}{{m}})", "{v}.map_or({n}, |p| p.as_ptr(){c})"
    ),
    "result": ResultConversion(
        f"Result<{{t}}, {ERROR_TYPE}<{{t}}>>",
        f"match {{v}} {{{{ value @ 0.. => Ok(value), code => Err({ERROR_TYPE}::new(code)) }}}}",
        "match {v} {{ Ok(value) => value, Err(error) => error.code }}",
    ),
    "status": ResultConversion(
        f"Result<(), {ERROR_TYPE}<{{t}}>>",
        f"match {{v}} {{{{ 0 => Ok(()), code => Err({ERROR_TYPE}::new(code)) }}}}",
        "match {v} {{ Ok(()) => 0, Err(error) => error.code }}",
    ),
    "enum": ResultConversion("{e}", "{e}::try_from({v}).unwrap_or_else(|_| std::process::abort())", "{t}::from({v})"),
    "flags": ResultConversion("{e}", "{e} {{ bits: {v} }}", "{v}.bits"),
}
ABORT = "    if {} {{\n        std::process::abort();\n    }}\n"
TEXT = """{head} {{
{checks}{claims}    {call}
}}

unsafe fn {name}({parameters}){result} {{
    extern "C" {{
        #[link_name = "{symbol}"]
        {original}
    }}
    {back}
}}
"""


def forward_project(
    project: TranslatedProject,
    mappings: Mapping[str, Sequence[ParameterMapping]],
    raw: Collection[str] = (),
    *,
    checked: bool = False,
) -> TranslatedProject:
    """Return a project whose functions are shims and forwarders; `mappings` are by function key.

    The functions in `raw`, given by slot, keep raw pointers.  `checked` shims end the process if an argument
    contradicts its mapping.
    """
    forwarders = forwarder_names([one.item.rust_name for one in project.items])
    items = (
        _forwarded(
            one, mappings, project.names[one.item.unit.file], raw, forwarders[one.item.rust_name], checked=checked
        )
        for one in project.functions
    )
    return replace(project, items=tuple(items))


def forwarder_names(rust_names: Iterable[str], prefix: str = "forward_") -> dict[str, str]:
    """Return a free name for each Rust name: `forward_sum`, or `forward_sum_` if the project has that."""
    taken = set(rust_names)
    forwarders = dict[str, str]()
    for name in sorted(taken):
        forwarder = f"{prefix}{name.removeprefix('r#')}"
        while forwarder in taken:
            forwarder += "_"
        taken.add(forwarder)
        forwarders[name] = forwarder
    return forwarders


def _forwarded(
    one: Translated,
    mappings: Mapping[str, Sequence[ParameterMapping]],
    names: Names,
    raw: Collection[str],
    forwarder: str,
    *,
    checked: bool,
) -> Translated:
    item = one.item
    refusal = NOT_CHOSEN if one.refusal == NOT_CHOSEN else item.refusal or forward_refusal(item)
    if refusal:
        return Translated(item, None, refusal)
    chosen = tuple(mappings.get(item.definition.key, ()))
    if item.slot in raw:
        chosen = tuple(ParameterMapping(one.parameter, _raw_kind(one), type=one.type) for one in chosen)
    text = shim_text(item, chosen, names, forwarder, checked=checked)
    if not text:
        return Translated(item, None, VARIADIC if item.definition.type.variadic else NOT_DECLARED)
    return Translated(item, RustBody(text, ()), "", chosen)


def _raw_kind(mapping: ParameterMapping) -> MappingKind:
    return "value" if mapping.kind == "value" or mapping.parameter == RESULT or mapping.type else "raw"


def forward_refusal(item: ProjectItem) -> str:
    """Return the reason why a function keeps its C signature, "" for all others."""
    if is_main(item.definition):
        return ENTRY_POINT
    return HEADER_COPY if item.definition.internal and from_text(item.file) != item.unit.file else ""


def shim_text(
    item: ProjectItem, mappings: Sequence[ParameterMapping], names: Names, forwarder: str, *, checked: bool = False
) -> str | None:
    """Return the shim and the forwarder of a function, or None if Rust cannot declare it or forward its arguments."""
    type_, mappings, form = item.definition.type, *_split(mappings)
    promoted = any(one.kind == "floating" and one.size == FLOAT_BYTES for one in type_.parameters)
    if type_.variadic or len(mappings) != len(type_.parameters) or (promoted and not type_.prototyped):
        return None
    try:
        original = declaration("original", type_, names).removeprefix("pub ")
        head = declaration(item.rust_name, type_, names).removeprefix("pub ").removesuffix(";")
    except ValueError:
        return None
    passed = _passed(mappings, type_, names)
    return TEXT.format(
        head=f'pub unsafe extern "C" {head}',
        checks="".join(_checks(mappings, type_, names)) if checked else "",
        claims=passed.claims,
        name=forwarder,
        call=_result(type_, form, names, f"{forwarder}({passed.arguments})").value,
        parameters=passed.parameters,
        result=_result(type_, form, names).type,
        symbol=ORIGINAL + item.slot,
        original=original,
        back=_result(type_, form, names, f"original({passed.originals})").original,
    )


def wrapper_text(item: ProjectItem, mappings: Sequence[ParameterMapping], names: Names, name: str) -> str:
    """Return a safe function that calls a function of C, "" if its Rust signature has raw pointers."""
    type_, mappings, form = item.definition.type, *_split(mappings)
    passed = _passed(mappings, type_, names)
    result = _result(type_, form, names, f"unsafe {{ crate::c::{item.rust_name}({passed.originals}) }}")
    if RAW_POINTER.search(passed.parameters + result.type):
        return ""
    head = f"pub fn {name}({passed.parameters}){result.type}"
    return f"{head} {{\n    // SAFETY: its arguments are valid for the call.\n    {result.original}\n}}\n"


def _split(mappings: Sequence[ParameterMapping]) -> tuple[Sequence[ParameterMapping], ParameterMapping]:
    """Return the mappings of the parameters, and that of the result."""
    parameters = [one for one in mappings if one.parameter != RESULT]
    return parameters, next((one for one in mappings if one.parameter == RESULT), ParameterMapping(RESULT, "value"))


class PassedArguments(NamedTuple):
    """The texts of a shim and its forwarder: claims, arguments of the Rust function, its parameters, those of C."""

    claims: str
    arguments: str
    parameters: str
    originals: str


def _passed(mappings: Sequence[ParameterMapping], type_: CType, names: Names) -> PassedArguments:
    lengths = {one.length: number for number, one in enumerate(mappings) if one.kind in ("slice", "mut_slice")}
    claims, arguments, parameters, originals = "", list[str](), list[str](), list[str]()
    words = _names(mappings, names)
    for number, (mapping, parameter) in enumerate(zip(mappings, map(decay, type_.parameters), strict=True)):
        if number in lengths:
            originals.append(f"{words[lengths[number]]}.len() as {spelled(parameter, names)}")
            continue
        made = _converted(mapping, parameter, names)
        values = {"a": f"a{number}", "p": words[number], "n": f"a{mapping.length}", "e": mapping.type}
        values["t"] = spelled(parameter, names) if mapping.type else _element(parameter, names)
        kind, argument, back, claim = (text.format(**values) for text in made)
        parameters.append(f"{words[number]}: {kind}")
        arguments.append(argument)
        originals.append(back)
        claims += f"    // SAFETY: as in C, a{number} {claim}.\n" if claim else ""
    return PassedArguments(claims, ", ".join(arguments), ", ".join(parameters), ", ".join(originals))


def _result(type_: CType, mapping: ParameterMapping, names: Names, value: str = "") -> ResultConversion:
    """Return the conversion of a result, where `value` is the expression; the type with its arrow, if any."""
    result = type_.target
    if result is None or result.kind == "void":
        return ResultConversion("", value, value)
    cast, null = (".cast_mut()", "core::ptr::null()") if result.const else ("", "core::ptr::null_mut()")
    element = mapping.type or _element(result, names)
    values = {"t": spelled(result, names), "e": element, "v": value, "m": cast, "n": null}
    values["c"] = ".cast_const()" if result.const else ""
    found = ResultConversion(*(text.format(**values) for text in RESULTS[mapping.kind]))
    return found._replace(type=f" -> {found.type}")


def _checks(mappings: Sequence[ParameterMapping], type_: CType, names: Names) -> Iterator[str]:
    """Yield statements for NULL, misalignment and overlapping targets, which tests might not notice."""
    targets = list[tuple[str, str, bool]]()
    for number, (mapping, parameter) in enumerate(zip(mappings, map(decay, type_.parameters), strict=True)):
        kind = mapping.form.removeprefix("option ")
        if kind not in CONVERSIONS or mapping.type:
            continue
        address, element = f"a{number}", _element(parameter, names)
        if mapping.kind in ("ref", "mut_ref", "out", "cstr"):
            yield ABORT.format(f"{address}.is_null()")
        yield ABORT.format(f"{address} as usize % core::mem::align_of::<{element}>() != 0")
        count = f"usize::try_from(a{mapping.length}).unwrap_or(0)" if mapping.length is not None else "1"
        size = f"core::mem::size_of::<{element}>() * {count}"
        targets.append((address, size, kind in ("mut_ref", "mut_slice", "out")))
    for (one, size, mutable), (other, other_size, other_mutable) in combinations(targets, 2):
        if mutable or other_mutable:
            here, there = f"{one} as usize", f"{other} as usize"
            apart = f"{here} + {size} <= {there} || {there} + {other_size} <= {here}"
            yield ABORT.format(f"!{one}.is_null() && !{other}.is_null() && !({apart})")


def _converted(mapping: ParameterMapping, parameter: CType, names: Names) -> ArgumentConversion:
    return CONVERSIONS.get(mapping.form, ArgumentConversion(spelled(parameter, names), "{a}", "{p}", ""))


def _element(parameter: CType, names: Names) -> str:
    target = parameter.target if parameter.kind == "pointer" else None
    return spelled(target, names) if target and target.kind != "function" else ""


def _names(mappings: Sequence[ParameterMapping], names: Names) -> list[str]:
    """Return a name for each parameter: the C name, if it is a unique identifier that hides no other name."""
    found = [identifier(one.parameter) if one.parameter else "" for one in mappings]
    taken = {"", "original", *names.reserved, *(name for name in found if found.count(name) > 1)}
    return [f"a{number}" if name in taken else name for number, name in enumerate(found)]
