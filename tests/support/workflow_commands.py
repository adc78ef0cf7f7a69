"""Parse workflow commands in logs as a GitHub Actions runner does (class `ActionCommand`: `TryParseV2`, `TryParse`)."""

from collections.abc import Iterable

NAMES = {
    *("add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "notice"),
    *("remove-matcher", "save-state", "set-env", "set-output", "stop-commands", "warning"),
}


def obeyed(lines: Iterable[str]) -> list[str]:
    """Return the names of the commands that the runner executes; the one that ends a pause is `resume`."""
    names, token = [], ""
    for line in lines:
        name, value = _parsed(line, NAMES | {token} - {""})
        if token:
            if name == token:
                names.append("resume")
                token = ""
        elif name:
            names.append(name)
            token = value.lower() if name == "stop-commands" else ""
    return names


def _parsed(line: str, names: set[str]) -> tuple[str, str]:
    """Return name and value of the command of a line; two empty texts if there is none."""
    trimmed = line.lstrip()
    info, end, value = trimmed[2:].partition("::") if trimmed.startswith("::") else ("", "", "")
    if end and _name(info) in names:
        return _name(info), value
    info, end, value = line.partition("##[")[2].partition("]")
    return (_name(info), value) if end and _name(info) in names else ("", "")


def _name(info: str) -> str:
    return info.split(" ", 1)[0].lower()
