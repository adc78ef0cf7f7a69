"""Attack the sandbox."""

from jarvis_workers.probe.selftest import AttackResult as AttackResult
from jarvis_workers.probe.selftest import groups as groups
from jarvis_workers.probe.selftest import judge as judge
from jarvis_workers.probe.selftest import unconfined as unconfined
