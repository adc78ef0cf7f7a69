"""Read the settings, and record the origin of each.

Order of precedence: flags, JARVIS_* variables, jarvis.yaml, [tool.jarvis] in pyproject.toml (both files in the
directory of the command), defaults. Unknown settings are rejected in each source, and each source is validated
separately, so that the error message can name it.

In variables, two underscores separate section and name (JARVIS_SCAN__EXTENSIONS), commas separate list elements, and a
mapping is a=b,c=d; an empty variable counts as unset. A secret may be read from a file (JARVIS_STORE_URL_FILE).
"""

from jarvis_workers.settings.field_types import ScopeNotes
from jarvis_workers.settings.origins import Origin, origins, untrusted_programs
from jarvis_workers.settings.schema import Cache, ReportSettings, RulesSettings, ScanSettings, Settings
from jarvis_workers.settings.sources import FLAG, TOML_FILE, TOML_PLACE, TRUSTED_CONFIG, YAML_FILE, load_settings

__all__ = [
    "FLAG",
    "TOML_FILE",
    "TOML_PLACE",
    "TRUSTED_CONFIG",
    "YAML_FILE",
    "Cache",
    "Origin",
    "ReportSettings",
    "RulesSettings",
    "ScanSettings",
    "ScopeNotes",
    "Settings",
    "load_settings",
    "origins",
    "untrusted_programs",
]
