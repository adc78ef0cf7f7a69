"""Audit lock files against the advisories of the index, by pip-audit: python .ci/audit.py [--offline] LOCK...

Exit code 0: no advisory; 1: an advisory, or not checked since the service cannot be reached. With --offline, what is
not checked passes, and a line says so: for a rehearsal, not for a release.
"""

import json
import subprocess
import sys
from pathlib import Path

SECONDS = 180
NOT_CHECKED = "not checked"
OFFLINE = "--offline"


def conclusion(lock: str, report: str, errors: str, *, offline: bool = False) -> tuple[bool, str]:
    """Return whether a lock passes, and a line that says why, from what pip-audit has written.

    What is not checked passes only `offline`.
    """
    try:
        found = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (errors.strip().splitlines() or ["no report"])[-1]
        return offline, f"{lock}: {NOT_CHECKED}: {last[:300]}"
    affected = [f"{one['name']} {one['version']} ({row['id']})" for one in found for row in one.get("vulns", ())]
    skipped = [one["skip_reason"] for one in found if "skip_reason" in one]
    if affected:
        return False, f"{lock}: advisories: {', '.join(affected)}"
    if skipped:
        return offline, f"{lock}: {NOT_CHECKED}: {len(skipped)} of {len(found)} packages: {skipped[0][:300]}"
    if not found:
        return False, f"{lock}: no packages were audited"
    return True, f"{lock}: no advisory for {len(found)} packages"


def audit(lock: str, *, offline: bool) -> tuple[bool, str]:
    """Audit a lock file."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ["--disable-pip", "--require-hashes", "--progress-spinner", "off", "--timeout", "10", "-f", "json"]
    try:
        done = subprocess.run(
            [program, *options, "-r", lock], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return offline, f"{lock}: {NOT_CHECKED}: no answer within {SECONDS} s"
    return conclusion(lock, done.stdout, done.stderr, offline=offline)


def main(words: list[str]) -> int:
    """Audit lock files and print a line for each."""
    results = [audit(lock, offline=OFFLINE in words) for lock in words if lock != OFFLINE]
    for _, line in results:
        sys.stdout.write(f"audit: {line}\n")
    return 0 if results and all(passes for passes, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
