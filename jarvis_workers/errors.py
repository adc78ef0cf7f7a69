"""Our errors, and what becomes of each.

JarvisError                one line for the user, exit 2
├── UsageError             what was asked for makes no sense: a wrong path, option or id
├── SettingsError          a setting that is unknown, of the wrong type or unreadable
├── StoreError             the results store cannot be used
│   ├── StoreOutdated      its schema is missing or too old: an administrator migrates it
│   ├── StoreUnavailable   it does not answer now: tried again while a run is on
│   └── StoreFull          it answers, and cannot write: the run is paused
├── BrokerUnavailable      Redis does not answer: at a start an error, in the middle only latency
├── SnapshotError          the source tree or its copy cannot be read
│   └── SnapshotDamaged    a blob does not match its hash: the job fails, its files are not checked
├── ModelError             a model gave no answer that can be used
│   ├── ModelRefused       its server says no, and will say so again: a wrong key, model or request
│   ├── ModelUnavailable   it did not answer in its time, however often it was asked: tried again later
│   └── BrokenAnswer       what came is no answer: tried again, then as if it had not answered
├── BudgetSpent            a run has taken what it may: it is paused, its jobs go back without blame
├── AgentStopped           a conversation reached a limit: its reason is recorded, what it was about is undecided
├── SandboxError           a command could not be confined, and was not run
├── ScanCancelled          a scan from Python was cancelled by its caller
├── StepFailed             a job's own work failed: recorded on its row, tried again, then not checked
└── GivenUp                a file took more time or memory than it may: it is not checked, its batch goes on
"""

__all__ = [
    "AgentStopped",
    "BrokenAnswer",
    "BrokerUnavailable",
    "BudgetSpent",
    "GivenUp",
    "JarvisError",
    "ModelError",
    "ModelRefused",
    "ModelUnavailable",
    "SandboxError",
    "ScanCancelled",
    "SettingsError",
    "SnapshotDamaged",
    "SnapshotError",
    "StepFailed",
    "StoreError",
    "StoreFull",
    "StoreOutdated",
    "StoreUnavailable",
    "UsageError",
]


class JarvisError(Exception):
    """A message for people: what was wrong, where, and what to do."""


class UsageError(JarvisError):
    """What was asked for makes no sense."""


class SettingsError(JarvisError):
    """A setting is unknown, of the wrong type or unreadable."""


class StoreError(JarvisError):
    """The results store cannot be used."""


class StoreOutdated(StoreError):
    """The results store has not the schema that this program needs."""


class StoreUnavailable(StoreError):
    """The results store does not answer now."""


class StoreFull(StoreError):
    """The results store answers, and cannot write."""


class BrokerUnavailable(JarvisError):
    """The broker does not answer now."""


class SnapshotError(JarvisError):
    """The source tree, or its copy, cannot be read."""


class SnapshotDamaged(SnapshotError):
    """A blob is missing or does not match its hash."""


class SandboxError(JarvisError):
    """A command could not be confined, and was not run."""


class ScanCancelled(JarvisError):
    """The caller cancelled the scan; nothing of it is left, or its run is cancelled."""


class StepFailed(JarvisError):
    """A job's own work failed."""


class GivenUp(JarvisError):
    """A piece of work took more time or memory than it may."""


class ModelError(JarvisError):
    """A model gave no answer that can be used; `tries` is how often it was asked for one."""

    tries = 1


class ModelRefused(ModelError):
    """The server says no, and will say so again."""


class ModelUnavailable(ModelError):
    """The server did not answer in time."""


class BrokenAnswer(ModelError):
    """What the server sent is no answer."""


class BudgetSpent(JarvisError):
    """A run has taken what it may, or is no longer on."""


class AgentStopped(JarvisError):
    """A conversation ended without a result; `reason` is one of `agent.limits.Reason`."""

    def __init__(self, reason: str, says: str) -> None:
        super().__init__(says)
        self.reason = reason
