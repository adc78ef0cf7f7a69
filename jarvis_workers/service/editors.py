"""Open a finding in the user's editor."""

from jarvis_workers.toolchain.editors import editor_command as editor_command
from jarvis_workers.toolchain.editors import open_editor as open_editor
