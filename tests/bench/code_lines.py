"""Count the lines of code of two revisions: no docstrings, comments or blank lines.

python -m tests.bench.code_lines v1.0 HEAD
"""

import ast
import io
import subprocess
import sys
import tokenize

PACKAGES = ("jarvis_workers", "jarvis_cli")
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text: str) -> int:
    """Return the number of lines with a token of code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for one in tokens if one.type not in LAYOUT for line in range(one.start[0], one.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and ast.get_docstring(node) is not None:
                lines -= set(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def of_revision(revision: str) -> int:
    names = _git("ls-tree", "-r", "--name-only", revision, *PACKAGES).splitlines()
    return sum(code_lines(_git("show", f"{revision}:{name}")) for name in names if name.endswith(".py"))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    for revision in sys.argv[1:]:
        sys.stdout.write(f"{revision} {of_revision(revision):,}\n")
