"""Run a command in a sandbox."""

from jarvis_workers.sandbox.limits import CommandOutcome as CommandOutcome
from jarvis_workers.sandbox.limits import SandboxLimits as SandboxLimits
from jarvis_workers.sandbox.limits import Tier as Tier
from jarvis_workers.sandbox.sandbox import RUNNING as RUNNING
from jarvis_workers.sandbox.sandbox import open_sandbox as open_sandbox
from jarvis_workers.sandbox.sandbox import refusal as refusal
