"""Links from findings to the source on a web server, such as https://host/team/{repo}/blob/{rev}/{path}#L{line}.

Values are percent-encoded before insertion, so that a file name can only change the path.
"""

import re
from urllib.parse import quote

from jarvis_workers.paths import from_shown

PLACES = ("repo", "rev", "path", "line")
TEMPLATE = re.compile(r"https?://[^\s\"'<>\\]{1,500}")
NAME = re.compile(r"(?:\.git)?(?:@[0-9a-f]{40,64})?\Z")


def check_template(template: str) -> str:
    """Return the template. Raises ValueError if it is not a URL or has unknown names in braces."""
    names = re.findall(r"{([^{}]*)}", template)
    if not TEMPLATE.fullmatch(template) or "path" not in names or set(names) - set(PLACES):
        raise ValueError("should be an http(s) address with {path}, and with {repo}, {rev} and {line} as needed")
    return template


def fill_template(template: str, *, root: str, prefix: str, commit: str | None) -> str | None:
    """Fill in the parts common to all findings of a run; return None if the template needs an unknown commit.

    `root` is the scanned directory or address, `prefix` the path to it from the repository root; {repo} is the name of
    the repository root.
    """
    if "{rev}" in template and commit is None:
        return None
    top = NAME.sub("", root.rstrip("/"))
    repository = top.removesuffix(f"/{prefix}").rpartition("/")[2] if prefix else top.rpartition("/")[2]
    below = f"{quote(from_shown(prefix))}/" if prefix else ""
    filled = template.replace("{repo}", quote(from_shown(repository), safe="")).replace("{rev}", quote(commit or ""))
    return filled.replace("{path}", f"{below}{{path}}")


def link_to_source(template: str, file: str, line: int) -> str:
    """Return the URL of a line of a file."""
    return link_to_file(template, file).replace("{line}", str(line))


def link_to_file(template: str, file: str) -> str:
    """Return the URL of a file, with {line} still to be filled in; an encoded name contains no braces."""
    return template.replace("{path}", quote(from_shown(file)))
