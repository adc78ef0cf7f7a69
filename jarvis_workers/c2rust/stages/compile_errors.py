"""The errors of rustc in a translated body: by class, with their place in the body, and the help of rustc."""

import re
from collections.abc import Iterator, Mapping, Sequence

from jarvis_workers.c2rust.crate import BODY_LINE, CrateItem, function_of
from jarvis_workers.c2rust.vendored_crates import VendoredCrates
from jarvis_workers.errors import StepFailed
from jarvis_workers.toolchain.cargo import CargoMessage

# The classes of seed section 5.5 (`_classify_rust_error`), by the codes of rustc's error index.
CODES: Mapping[str, str] = {
    "missing_import": "E0405 E0412 E0422 E0423 E0424 E0425 E0432 E0531 E0574",
    "type_mismatch": "E0053 E0057 E0061 E0069 E0070 E0107 E0191 E0271 E0277 E0282 E0283 E0308 E0369 E0560 E0599 E0600 "
    "E0604 E0605 E0606 E0607 E0608 E0609 E0610 E0614 E0618 E0620",
    "visibility": "E0446 E0451 E0603 E0616 E0624",
    "borrow_checker": "E0106 E0133 E0373 E0381 E0382 E0384 E0499 E0502 E0503 E0505 E0506 E0507 E0515 E0521 E0594 E0596 "
    "E0597 E0621 E0700 E0713 E0716",
    "dependency_missing": "E0462 E0463",
    "module_not_found": "E0433 E0583",
}
CLASSES = {code: name for name, codes in CODES.items() for code in codes.split()}
CRATE = re.compile(r"\bcrate\b(?!::| root)")
ERRORS_SHOWN, HELP_SHOWN = 8, 4


def error_class(error: CargoMessage) -> str:
    """Return the class of an error: a crate, a module or a type may all be what E0432 and E0433 do not find."""
    if error.code in ("E0432", "E0433"):
        text = f"{error.text} {error.label}"
        if CRATE.search(text):
            return "dependency_missing"
        if "undeclared type" in text:
            return "missing_import"
        if "could not find" in text or "module" in text:
            return "module_not_found"
    return CLASSES.get(error.code, "other")


def own_errors(messages: Sequence[CargoMessage], item: CrateItem) -> list[CargoMessage]:
    """Return the errors in a function, or all if none is there. Raises StepFailed if cargo itself failed."""
    errors = [one for one in messages if one.level == "error"]
    if not errors or errors[-1].text.startswith("cargo: "):
        raise StepFailed(f"the crate does not build: {errors[-1].text if errors else 'no message'}")
    return [one for one in errors if function_of(one.file) == item.name.removeprefix("r#")] or errors


def crate_failure(messages: Sequence[CargoMessage], item: CrateItem, crates: VendoredCrates) -> str:
    """Return why the vendored crates that a function uses do not build, "" if it uses none or has errors itself."""
    used = [f"{one.name} {one.version}" for one in crates.used_in([item.text])]
    errors = [one for one in messages if one.level == "error"]
    if not used or any(function_of(one.file) == item.name.removeprefix("r#") for one in errors):
        return ""
    first = f"{errors[0].code} {errors[0].text}".strip() if errors else "no message"
    return f"dependency_missing: {', '.join(used)} cannot be used: {first.removeprefix('cargo: ')}"


def error_summary(errors: Sequence[CargoMessage], item: CrateItem) -> str:
    """Return the errors on one line, each with its class and its line of code."""
    rows = _rows(item)
    texts = (
        f"{one.code} ({error_class(one)}) {one.text}: `{rows.get(one.line, '').strip()}`"
        for one in errors[:ERRORS_SHOWN]
    )
    return "; ".join(texts)


def error_report(errors: Sequence[CargoMessage], item: CrateItem, first: int) -> str:
    """Return the errors for the model; lines are those of its body, which begins on the line `first` of the item."""
    return "\n".join(line for one in errors[:ERRORS_SHOWN] for line in _error_lines(one, _rows(item), first))


def _error_lines(error: CargoMessage, rows: Mapping[int, str], first: int) -> Iterator[str]:
    number = error.line - BODY_LINE - first + 2
    place = f"line {number}, column {error.column}" if number > 0 else "in the code that calls your function"
    label = f" ({error.label})" if error.label else ""
    yield f"{error_class(error)}, {error.code or 'error'}, {place}: {error.text}{label}"
    if row := rows.get(error.line, "").strip():
        yield f"    {row}"
    yield from (f"    {line}" for line in error.help[:HELP_SHOWN])


def _rows(item: CrateItem) -> dict[int, str]:
    """Return the lines of an item by their number in its file."""
    return dict(enumerate(item.text.split("\n"), BODY_LINE))
