"""Labels of runs: keys and values by which runs can be listed, such as branch=main. Reports do not contain them.

Keys have the syntax of Kubernetes labels (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/);
values may be any printable text, so that a branch name fits.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.runs.checkouts import Checkout, read_checkout
from jarvis_workers.store.values import BASELINE_OF, Run
from jarvis_workers.words import commit_mark

BRANCH, COMMIT, DIRTY, PROJECT = "branch", "commit", "dirty", "project"
KEY_MAX, VALUE_MAX, LABELS_MAX = 253, 256, 64
NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
SUBDOMAIN = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
KEY = re.compile(f"(?:{SUBDOMAIN}/)?{NAME}")
SHOWN_MAX = 80
# Variables of GitHub Actions and GitLab CI.
# https://docs.github.com/en/actions/reference/variables-reference
# https://docs.gitlab.com/ci/variables/predefined_variables/
GITHUB_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME")
GITLAB_BRANCHES = ("CI_COMMIT_REF_NAME",)


def project_of(run: Run, labels: Mapping[str, str]) -> str:
    """Return the project of a run: its label "project", else the name of its root."""
    return labels.get(PROJECT) or PurePosixPath(run.root).name or run.root


def baseline_labels(revision: str) -> dict[str, str]:
    """Return the labels of the scan of a baseline, by which lists leave it out."""
    return {BASELINE_OF: revision[:VALUE_MAX]}


def parse_labels(texts: Iterable[str]) -> dict[str, str]:
    """Return the labels given as "key=value"; the last value of a key wins. Raises UsageError."""
    labels = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f'--label: "{_cut(text)}" is not KEY=VALUE, such as team=network')
        labels[key] = value
    return check_labels(labels, "--label")


def parse_label_filters(texts: Iterable[str]) -> tuple[tuple[str, str | None], ...]:
    """Return the filters given as "key=value" or "key" (any value: None). Raises UsageError."""
    filters: list[tuple[str, str | None]] = []
    for text in texts:
        key, equals, value = text.partition("=")
        check_labels({key: value}, "--label")
        filters.append((key, value if equals else None))
    if len(filters) > LABELS_MAX:
        raise UsageError(f"--label: more than {LABELS_MAX} labels")
    return tuple(filters)


def check_labels(labels: Mapping[str, str], origin: str) -> dict[str, str]:
    """Return the labels; `origin` is named in the UsageError for an invalid one."""
    if len(labels) > LABELS_MAX:
        raise UsageError(f"{origin}: more than {LABELS_MAX} labels")
    for key, value in labels.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise UsageError(f"{origin}: {key!r}: {value!r} should be two strings")
        if len(key) > KEY_MAX or not KEY.fullmatch(key):
            raise UsageError(
                f'{origin}: the key "{_cut(key)}" should consist of letters, digits, "-", "_" and "." (at most 63), '
                'after an optional domain and "/", such as example.com/team'
            )
        if len(value) > VALUE_MAX or not value.isprintable():
            raise UsageError(
                f'{origin}: the value of {key}, "{_cut(value)}", should be printable, at most {VALUE_MAX} characters'
            )
    return dict(labels)


def automatic_labels(path: Path, branch: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    """Return branch and commit of the working tree around a file or directory; outside of one, those of the CI job.

    `branch` is that of a git URL, which is checked out detached. So is the working tree of most CI jobs; it gets the
    branch of the job if that is for the same commit. Values that are not valid labels are omitted.
    """
    checkout, job = read_checkout(path if path.is_dir() else path.parent), _ci_checkout(environ)
    commit = checkout.commit if checkout else job.commit
    branch = branch or (checkout.branch if checkout else None) or (job.branch if job.commit == commit else None)
    labels = {BRANCH: branch or "", COMMIT: commit or ""}
    return {key: value for key, value in labels.items() if value and len(value) <= VALUE_MAX and value.isprintable()}


def marked_labels(labels: Mapping[str, str], run: Run) -> dict[str, str]:
    """Return the labels of a run whose commit is marked, if the scanned files are not those of the commit."""
    checkout = RunOptions.of(run).checkout or {}
    mark = commit_mark(checkout)
    if not mark or labels.get(COMMIT) != checkout["commit"]:
        return dict(labels)
    return {DIRTY: "true" if checkout["dirty"] else "unknown", **labels, COMMIT: f"{labels[COMMIT]}{mark}"}


def _ci_checkout(environ: Mapping[str, str]) -> Checkout:
    """Return branch and commit of the CI job, or None outside of one; a job for a tag has no branch."""
    github = environ.get("GITHUB_SHA")
    is_tag = environ.get("GITHUB_REF_TYPE") == "tag" if github else bool(environ.get("CI_COMMIT_TAG"))
    names = GITHUB_BRANCHES if github else GITLAB_BRANCHES
    branch = None if is_tag else next((environ[name] for name in names if environ.get(name)), None)
    return Checkout(branch, github or environ.get("CI_COMMIT_SHA") or None)


def _cut(text: str) -> str:
    return plain(text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…")
