"""The values of a batch: those of the chart's values.yaml that concern it. The other sections are accepted and ignored.

A test compares the defaults with those of the chart.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from jarvis_workers.constraints import located
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, read_regular
from jarvis_workers.yamlloader import UniqueKeys

Objects = list[dict[str, Any]]
Texts = list[str]
Id = Annotated[int, Field(ge=1)] | None
LARGEST_FILE = 1 << 20


class ValuesSection(BaseModel):
    """A section of values.yaml; unknown values are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class ImageValues(ValuesSection):
    repository: str = "jarvis-workers"
    tag: str = ""
    digest: str = ""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"


class StoreValues(ValuesSection):
    existing_secret: str = ""
    key: str = "url"
    owner_secret: str = ""
    owner_key: str = "url"


class BrokerValues(ValuesSection):
    existing_secret: str = ""
    key: str = "url"


class ClaimValues(ValuesSection):
    create: bool = False
    existing: str = ""
    size: str = "20Gi"
    access_modes: Texts = ["ReadWriteMany"]
    storage_class_name: str = ""


class BlobsValues(ValuesSection):
    url: str = ""
    existing_secret: str = ""
    key: str = "url"
    credentials_secret: str = ""
    credentials_key: str = "credentials"
    env: dict[str, str | int | float | bool] = {}
    claim: ClaimValues = ClaimValues()


class BatchValues(ValuesSection):
    enabled: bool = False
    kind: Literal["sec", "c2rust"] = "sec"
    command: Literal["fast", "agent", "transpile", "scan"] = "agent"
    source: str = ""
    name: str = ""
    output: str = ""
    extra_args: Texts = []
    git_token_secret: str = ""
    git_token_key: str = "token"
    backoff_limit: int = 6
    active_deadline_seconds: int = 86_400
    ttl_seconds_after_finished: int = 604_800
    tmp_size: str = "20Gi"
    extra_env: Objects = []
    extra_volumes: Objects = []
    extra_volume_mounts: Objects = []
    node_selector: dict[str, str] = {}
    tolerations: Objects = []
    resources: dict[str, Any] = {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "4Gi"}}


class AccountValues(ValuesSection):
    create: bool = True
    name: str = ""
    annotations: dict[str, str] = {}


class SecurityValues(ValuesSection):
    run_as_user: Id = 10_001
    run_as_group: Id = 10_001
    fs_group: Id = 10_001


class EgressRule(ValuesSection):
    to: Objects = []
    ports: list[int]


def _dns() -> EgressRule:
    system = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}
    return EgressRule(to=[system], ports=[53])


PRIVATE: Objects = [
    {"namespaceSelector": {}},
    *({"ipBlock": {"cidr": one}} for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")),
]
NOT_PUBLIC = ["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"]
PUBLIC: Objects = [
    {"ipBlock": {"cidr": "0.0.0.0/0", "except": NOT_PUBLIC}},
    {"ipBlock": {"cidr": "::/0", "except": ["fc00::/7", "fe80::/10"]}},
]


class PolicyValues(ValuesSection):
    enabled: bool = True
    dns: EgressRule = Field(default_factory=_dns)
    store: EgressRule = EgressRule(to=PRIVATE, ports=[5432])
    broker: EgressRule = EgressRule(to=PRIVATE, ports=[6379])
    blobs: EgressRule = EgressRule(to=PUBLIC, ports=[443])
    models: EgressRule = EgressRule(to=PUBLIC, ports=[443])
    sources: EgressRule = EgressRule(to=PUBLIC, ports=[443, 22])
    extra_egress: Objects = []
    ingress: Mapping[str, Objects] = {}


class ServerValues(BaseModel):
    """A bundled server, only one value of which is used here."""

    enabled: bool = False


class ChartValues(ValuesSection):
    """The sections of values.yaml."""

    image: ImageValues = ImageValues()
    image_pull_secrets: Texts = []
    store: StoreValues = StoreValues()
    broker: BrokerValues = BrokerValues()
    blobs: BlobsValues = BlobsValues()
    config: dict[str, Any] = {}
    batch: BatchValues = BatchValues()
    service_account: AccountValues = AccountValues()
    security_context: SecurityValues = SecurityValues()
    network_policy: PolicyValues = Field(default_factory=PolicyValues)
    extra_env: Objects = []
    postgres: ServerValues = ServerValues()
    redis: ServerValues = ServerValues()
    # Of the installation, not of a batch.
    name_override: Any = None
    fullname_override: Any = None
    model_keys: Any = None
    worker_defaults: Any = None
    workers: Any = None
    metrics: Any = None
    web: Any = None
    flower: Any = None
    migrate: Any = None


def read_values(path: Path | None) -> ChartValues:
    """Return the values of a file, or the defaults if it is None. Raises UsageError with a one-line message."""
    if path is None:
        return ChartValues()
    shown = plain(str(path))
    try:
        content = read_regular(path, LARGEST_FILE)
        if len(content) > LARGEST_FILE:
            raise UsageError(f"--values {shown}: larger than {LARGEST_FILE:,} bytes")
        document = yaml.load(content, UniqueKeys)  # noqa: S506  a SafeLoader
        return ChartValues.model_validate({} if document is None else document)
    except OSError as error:
        raise UsageError(f"--values {shown}: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UsageError(f"--values {shown}: {plain(located(first))}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"--values {shown}: cannot be read as YAML: {plain(' '.join(str(error).split()))}") from error
