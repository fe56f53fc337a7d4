"""Settings of a home: flags > environment ``EASEML_*`` > ``config.toml`` in the home > defaults."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from easeml.confinement import Isolation

ORIGINS = "EASEML_ORIGINS"


class Settings(BaseSettings):
    """What a provider may set. Sizes in bytes, times in seconds."""

    model_config = SettingsConfigDict(env_prefix="EASEML_", extra="forbid")

    home: Path = Field(Path(".easeml"), description="folder of all state")
    host: str = Field("127.0.0.1", description="address the controller listens on")
    port: int = Field(8080, description="port the controller listens on")
    public_url: str = Field(
        "", description="address that people use, where a proxy with TLS stands before easeml"
    )
    trusted_proxies: str = Field(
        "",
        description="addresses or networks (10.0.0.0/8) of proxies that are believed who asks and "
        "whether by TLS (X-Forwarded-For, X-Forwarded-Proto), with commas; empty: nobody is",
    )
    access_log: bool = Field(
        False, description="write a line for each request to logs/access.log in the home"
    )
    workers: int = Field(2, ge=1, description="worker processes the supervisor starts")
    machines: int = Field(
        0, ge=0, description="further machines to simulate here, each with as many workers"
    )
    database_url: str = Field("", description="SQLAlchemy URL; empty: SQLite in the home")
    artefacts_url: str = Field(
        "", description="object store of data and models (s3://BUCKET/PREFIX); empty: in the home"
    )
    artefacts_cache: int = Field(
        20 * 2**30, gt=0, description="bytes that a machine keeps of an object store's artefacts"
    )
    upload_limit: int = Field(2 * 2**30, gt=0, description="largest upload")
    request_limit: int = Field(64 * 2**20, gt=0, description="largest prediction request")
    keep_models: int = Field(
        20,
        ge=1,
        description="how many of the best models of an application's newest search are kept",
    )
    keep_model_days: float = Field(
        30.0,
        ge=0,
        description="days after which other models that nobody needs are removed; 0: never",
    )
    keep_result_days: float = Field(
        30.0, ge=0, description="days after which predictions of files are removed; 0: never"
    )
    keep_log_days: float = Field(
        90.0, ge=0, description="days after which logs of finished tasks are removed; 0: never"
    )
    keep_event_days: float = Field(
        365.0,
        ge=0,
        description="days after which events, and with them the audit, are removed; 0: never",
    )
    task_seconds: float = Field(600.0, gt=0, description="longest run of one attempt")
    long_task_seconds: float = Field(
        6 * 3600.0, gt=0, description="longest run of an attempt that predicts a file"
    )
    task_memory: int = Field(4 * 2**30, gt=0, description="most memory of one attempt")
    task_disk: int = Field(
        20 * 2**30, gt=0, description="most bytes that one attempt writes to its work folder"
    )
    offer_memory: int = Field(
        0,
        ge=0,
        description="most memory of all tasks of this machine together; 0: what it has",
    )
    offer_disk: int = Field(
        0,
        ge=0,
        description="most bytes that all tasks of this machine write together; 0: what is free",
    )
    task_threads: int = Field(
        0,
        ge=0,
        description="most threads of one attempt; 0: the cores here, shared by the workers",
    )
    predictor_memory: int = Field(4 * 2**30, gt=0, description="most memory of one serving child")
    loaded_endpoints: int = Field(
        100,
        ge=1,
        description="most applications whose models a predictor keeps loaded; those that nobody has "
        "asked for longest rest, and load when they are asked",
    )
    replicas: int = Field(
        4, ge=1, description="most predictors, of as many machines, that answer for one application"
    )
    serve_at: str = Field(
        "",
        description="address (HOST or HOST:PORT) at which a machine that joined answers predictions "
        "for services of other machines; empty: it runs tasks only",
    )
    isolation: Isolation = Field(
        "none",
        description="what tasks and serving children are confined to: none (limits only), process "
        "(no network, no other files, no other processes; Linux on x86-64), user (a user id of "
        "their own as well; root only), or sandbox (namespaces of their own as well)",
    )
    executor: str = Field(
        "local",
        description="what runs the tasks of this machine: local, ray or slurm (an existing cluster), "
        "or a plug-in by its name",
    )
    first_secrets: str = Field(
        "",
        description="folder with the secrets of the first start, a file each: password of its "
        "provider, key (theirs for commands and machines that join), metrics-key (for /metrics); "
        "empty: they are made, and shown once",
    )
    device_kind: str = Field(
        "",
        max_length=50,
        description="kind of the devices of this machine, such as their processor: what runs cost "
        "is learned by kind; empty: the usual",
    )
    fault_domain: str = Field(
        "",
        max_length=50,
        description="what fails together with this machine, such as its rack: machines that answer "
        "predictions of one application are taken from several; empty: the machine alone",
    )
    lease_seconds: float = Field(10.0, gt=0, description="how long a silent process keeps its work")
    module_packages: str = Field(
        "", description="more packages whose classes added models may name, with commas"
    )
    embeddings: str = Field(
        "",
        description="pre-trained models on this machine by which feasibility looks at pictures and "
        "texts, with commas: folders of Hugging Face models, files of ONNX (.onnx) or torch models",
    )
    package_index: str = Field(
        "",
        description="where packages come from that modules name in requirements.txt: the address of "
        "an index, a folder of wheels, or none; empty: as pip of this machine is configured",
    )
    smtp_url: str = Field(
        "",
        description="server that takes mail: smtp://USER:PASSWORD@HOST:587 (with STARTTLS where it "
        "has it) or smtps://...; empty: no mail is sent",
    )
    mail_from: str = Field(
        "easeml@localhost", description="address that mail of this easeml comes from"
    )
    openid_issuer: str = Field(
        "",
        description="address of an identity provider (OpenID Connect) by which people sign in "
        "beside passwords; empty: none",
    )
    openid_client_id: str = Field(
        "", description="client id of this easeml at the identity provider"
    )
    openid_client_secret: str = Field(
        "", description="secret of this client; empty: none (a public client)"
    )
    openid_name: str = Field(
        "", description="what people call the identity provider; empty: its host"
    )
    openid_admits: str = Field(
        "invited",
        description="who may come by it without an invitation and gets a tenant: invited (nobody), "
        "everybody, or mail domains such as example.org, with commas",
    )
    outgoing_hosts: str = Field(
        "",
        description="hosts with addresses of your own network that people may fetch from and have "
        "notifications posted to, with commas",
    )
    mlflow_tracking_uri: str = Field(
        "",
        description="MLflow tracking server that is told of all runs of searches: "
        "http://[USER:PASSWORD@]HOST:PORT; empty: none is",
    )
    otlp_endpoint: str = Field(
        "",
        description="collector of OpenTelemetry (OTLP over HTTP) that is told how each application "
        "came to its first prediction: http://HOST:4318; empty: none is",
    )
    policy: str = Field("default", description="policy of the scheduler")
    preemption: str = Field(
        "least-delay",
        description="rule that chooses the task that ends so that an urgent one can run; fifo: none ends",
    )
    optimizer: str = Field(
        "default", description="optimizer that proposes configurations of models"
    )

    _flags: frozenset[str] = PrivateAttr(frozenset())

    def __init__(self, **flags: Any):
        """``flags``: what the command line says."""
        super().__init__(**flags)
        self._flags = frozenset(flags)

    def origins(self) -> dict[str, str]:
        """Return where each setting came from: flag, environment, config.toml or default.

        Processes that a supervisor started get all settings from it, and their origins as
        ``EASEML_ORIGINS``.
        """
        if ORIGINS in os.environ:
            return json.loads(os.environ[ORIGINS])
        file = self.home / "config.toml"
        written = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
        names = type(self).model_fields
        in_file = list(filter(written.__contains__, names))
        in_environment = [name for name in names if f"EASEML_{name.upper()}" in os.environ]
        origins = dict.fromkeys(names, "default")
        origins |= dict.fromkeys(in_file, "config.toml")
        origins |= dict.fromkeys(in_environment, "environment")
        origins |= dict.fromkeys(self._flags, "flag")
        return origins

    def flags(self) -> dict[str, str]:
        """Return what the command line said, as variables of another program."""
        values = self.model_dump(mode="json", include=set(self._flags) | {"home"})
        return {f"EASEML_{name.upper()}": str(value) for name, value in values.items()}

    @property
    def database(self) -> str:
        """The SQLAlchemy URL in force."""
        return self.database_url or f"sqlite:///{(self.home / 'easeml.db').resolve()}"

    @property
    def identity_provider_name(self) -> str:
        """What people call the identity provider; empty where there is none."""
        return self.openid_name or urlsplit(self.openid_issuer).hostname or ""

    @property
    def artefacts(self) -> Path:
        """Folder of the artefact store."""
        return self.home / "artefacts"

    @property
    def shared_artefacts(self) -> str:
        """URL under which another machine, or another home, reaches the artefacts."""
        return self.artefacts_url or self.artefacts.resolve().as_uri()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        given = {**env_settings(), **init_settings()}
        home = Path(given.get("home", cls.model_fields["home"].default))
        return (
            init_settings,
            env_settings,
            TomlConfigSettingsSource(settings_cls, home / "config.toml"),
        )
