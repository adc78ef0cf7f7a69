"""Audit lock files against the advisories of the index, by pip-audit: python .ci/audit.py LOCK...

Exit code 0: no advisory, or not checked since the service cannot be reached, which is said; 1: an advisory.
"""

import json
import subprocess
import sys
from pathlib import Path

SECONDS = 180
NOT_CHECKED = "not checked"


def conclusion(lock: str, report: str, errors: str) -> tuple[bool, str]:
    """Return whether a lock passes, and a line that says why, from what pip-audit has written."""
    try:
        found = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (errors.strip().splitlines() or ["no report"])[-1]
        return True, f"{lock}: {NOT_CHECKED}: {last[:300]}"
    affected = [f"{one['name']} {one['version']} ({row['id']})" for one in found for row in one.get("vulns", ())]
    skipped = [one["skip_reason"] for one in found if "skip_reason" in one]
    if affected:
        return False, f"{lock}: advisories: {', '.join(affected)}"
    if skipped:
        return True, f"{lock}: {NOT_CHECKED}: {len(skipped)} of {len(found)} packages: {skipped[0][:300]}"
    return True, f"{lock}: no advisory for {len(found)} packages"


def audit(lock: str) -> tuple[bool, str]:
    """Audit a lock file."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ["--disable-pip", "--require-hashes", "--progress-spinner", "off", "--timeout", "10", "-f", "json"]
    try:
        done = subprocess.run(
            [program, *options, "-r", lock], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return True, f"{lock}: {NOT_CHECKED}: no answer within {SECONDS} s"
    return conclusion(lock, done.stdout, done.stderr)


def main(locks: list[str]) -> int:
    """Audit lock files and print a line for each."""
    results = [audit(lock) for lock in locks]
    for _, line in results:
        sys.stdout.write(f"audit: {line}\n")
    return 0 if all(passes for passes, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
