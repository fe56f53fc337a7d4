"""The chart: values that are refused, and pods, policies and claims of what it makes.

What Helm makes of it lies in ``rendered.yaml``, so that it is looked at without Helm as well.
"""

import copy
import json
import re
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from launching import DEPLOY, HOME, USER, check_command, check_probe, check_settings

from easeml.service.accounts import first_start
from easeml.settings import Settings

CHART = DEPLOY / "chart"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())
OF_THE_CHART = {"home", "host", "port", "database_url", "artefacts_url", "first_secrets"} | {
    "isolation",
    "workers",
    "machines",
}
SECRET = {"smtp_url", "openid_client_secret"}
"""Settings with a password in them, which belong into a Secret."""


def _script() -> Any:
    path = DEPLOY.parent / "scripts" / "chart.py"
    spec = spec_from_file_location("chart", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chart = _script()
RENDERED = list(yaml.safe_load_all(chart.RENDERED.read_text()))


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [one for one in RENDERED if one["kind"] == kind]


def values(**changed: Any) -> dict[str, Any]:
    """Values that are good but for what is changed, named by its path: ``service.port``."""
    made = copy.deepcopy(DEFAULTS)
    for path, value in {"artefacts.url": "s3://lab/easeml", **changed}.items():
        *above, last = path.split(".")
        place = made
        for name in above:
            place = place[name]
        place[last] = value
    return made


def needs_helm() -> str:
    helm = shutil.which("helm")
    if helm is None:
        pytest.skip("helm is not installed.")
    return helm


def pods() -> dict[str, dict[str, Any]]:
    found = {}
    for kind in ("StatefulSet", "Deployment"):
        (one,) = of_kind(kind)
        labels = one["spec"]["template"]["metadata"]["labels"]
        found[labels["app.kubernetes.io/component"]] = one["spec"]["template"]["spec"]
    return found


def container(component: str) -> dict[str, Any]:
    (one,) = pods()[component]["containers"]
    return one


def variables(component: str) -> dict[str, str]:
    given = container(component).get("env", [])
    return {one["name"]: one["value"] for one in given if "value" in one}


def test_what_was_rendered_is_of_the_chart_as_it_is() -> None:
    first = chart.RENDERED.read_text().splitlines()[0]
    assert first.endswith(chart.digest()), "Run scripts/chart.py where helm is installed."


def test_helm_makes_what_was_rendered_and_finds_no_fault() -> None:
    helm = needs_helm()
    assert chart.render() == chart.RENDERED.read_text()
    lint = [helm, "lint", "--strict", str(CHART), "--values", str(chart.VALUES)]
    subprocess.run(lint, check=True, capture_output=True)


def test_helm_refuses_what_the_schema_refuses() -> None:
    command = [needs_helm(), "template", "lab", str(CHART)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "artefacts.url" in refused.stderr


def test_the_defaults_say_all_but_where_the_artefacts_are() -> None:
    Draft7Validator.check_schema(SCHEMA)
    validator = Draft7Validator(SCHEMA)
    assert not list(validator.iter_errors(values()))
    (missing,) = validator.iter_errors(DEFAULTS)
    assert list(missing.path) == ["artefacts", "url"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("artefacts.url", "/srv/easeml"),
        ("artefacts.url", "file:///srv/easeml"),
        ("artefacts.secret", "Lab Secret"),
        ("database.secret", ""),
        ("database.url", "postgresql+psycopg://easeml:secret@db/easeml"),
        ("first.password", "hunter2"),
        ("isolation", "sandbox"),
        ("isolation", "user"),
        ("settings.lease_second", 20),
        ("settings.lease_seconds", "20"),
        ("settings.lease_seconds", 0),
        ("settings.upload_limit", 1.5),
        ("settings.host", "0.0.0.0"),
        ("settings.database_url", "sqlite:///home.db"),
        ("settings.smtp_url", "smtp://easeml:secret@mail.lab"),
        ("service.replicas", -1),
        ("service.replica", 2),
        ("service.workers", 0),
        ("service.home", "20 GB"),
        ("service.port", 80000),
        ("workers.devices", 0),
        ("image.tag", "two words"),
        ("network.ports", ["https"]),
        ("surprise", True),
    ],
)
def test_values_that_could_not_work_are_refused_with_their_place(path: str, value: Any) -> None:
    faults = list(Draft7Validator(SCHEMA).iter_errors(values(**{path: value})))
    assert len(faults) == 1
    place = ".".join(str(part) for part in faults[0].path)
    name = path.rsplit(".", 1)[-1]
    assert place.startswith(path) or f"'{name}' was unexpected" in faults[0].message


def test_every_setting_may_be_set_that_the_chart_does_not_set_itself() -> None:
    described = Settings.model_json_schema()["properties"]
    allowed = SCHEMA["properties"]["settings"]["properties"]
    assert allowed.keys() == described.keys() - OF_THE_CHART - SECRET
    for name, rules in allowed.items():
        of_setting = {rule: described[name].get(rule) for rule in rules}
        assert rules == of_setting, name


def test_pods_start_commands_with_settings() -> None:
    options = check_command(container("service")["args"])
    assert options["isolation"] is None  # the variable says it
    settings = check_settings(variables("service"))
    assert (settings.isolation, settings.host) == ("process", "0.0.0.0")
    assert (settings.upload_limit, settings.lease_seconds) == (4294967296, 7.5)
    assert settings.access_log is True
    options = check_command(container("worker")["args"])
    assert str(options["home"]) == str(settings.home) == f"{HOME}/home"
    assert str(options["token_file"]) == "/run/secrets/easeml/key"
    (service,) = of_kind("Service")
    name, port = service["metadata"]["name"], service["spec"]["ports"][0]["port"]
    assert options["join"] == f"http://{name}:{port}"
    assert not [name for name in variables("worker") if name.startswith("EASEML_")]


def test_a_service_without_its_database_does_not_start() -> None:
    """Else each pod would make a SQLite database of its own."""
    (address,) = [one for one in container("service")["env"] if "valueFrom" in one]
    assert address["name"] == "EASEML_DATABASE_URL"
    assert "optional" not in address["valueFrom"]["secretKeyRef"]


def test_no_variable_of_kubernetes_becomes_a_setting() -> None:
    """A Service named easeml would make EASEML_PORT=tcp://…"""
    assert all(pod["enableServiceLinks"] is False for pod in pods().values())


def test_secrets_lie_where_the_settings_say() -> None:
    settings = check_settings(variables("service"))
    mounts = {one["name"]: one for one in container("service")["volumeMounts"]}
    assert mounts["first"]["mountPath"] == settings.first_secrets
    (key,) = [one for one in pods()["worker"]["volumes"] if one["name"] == "key"]
    assert [item["key"] for item in key["secret"]["items"]] == ["key"]
    (monitor,) = of_kind("ServiceMonitor")
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["authorization"]["credentials"]["key"] in first_start.KEYS
    assert endpoint["path"] == "/metrics"


def test_probes_ask_routes_on_the_port_of_the_controller() -> None:
    one = container("service")
    (port,) = one["ports"]
    assert port["containerPort"] == check_settings(variables("service")).port
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = one[probe]["httpGet"]
        check_probe(asked["path"])
        assert asked["port"] == port["name"]
    assert one["startupProbe"]["httpGet"]["path"] == "/readyz"
    seconds = one["startupProbe"]["periodSeconds"] * one["startupProbe"]["failureThreshold"]
    assert seconds >= 300


@pytest.mark.parametrize("component", ["service", "worker"])
def test_pods_have_no_rights(component: str) -> None:
    pod, one = pods()[component], container(component)
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == USER
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert one["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = {mount["mountPath"] for mount in one["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {HOME, "/tmp"}


def test_volumes_stay_when_the_chart_goes() -> None:
    (service,) = of_kind("StatefulSet")
    kept = service["spec"]["persistentVolumeClaimRetentionPolicy"]
    assert set(kept.values()) == {"Retain"}
    (claim,) = service["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "home"
    assert not of_kind("Secret")  # those are the provider's, and stay as well


def test_selectors_name_pods_that_there_are() -> None:
    made = [*of_kind("StatefulSet"), *of_kind("Deployment")]
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in made]

    def chosen(selector: dict[str, str]) -> int:
        return sum(selector.items() <= own.items() for own in labels)

    (service,) = of_kind("Service")
    assert chosen(service["spec"]["selector"]) == 1
    for one in [*made, *of_kind("PodDisruptionBudget")]:
        assert chosen(one["spec"]["selector"]["matchLabels"]) == 1
    for one in of_kind("NetworkPolicy"):
        assert chosen(one["spec"]["podSelector"]["matchLabels"]) == 1
    assert len(of_kind("PodDisruptionBudget")) == len(of_kind("NetworkPolicy")) == 2


def test_workers_are_asked_by_nobody_and_the_service_by_those_named() -> None:
    by_pods = {
        one["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"]: one["spec"]
        for one in of_kind("NetworkPolicy")
    }
    assert by_pods["worker"]["ingress"] == []
    (allowed,) = by_pods["service"]["ingress"]
    workers, *others = allowed["from"]
    assert workers["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "worker"
    assert others == yaml.safe_load(chart.VALUES.read_text())["network"]["from"]
    for policy in by_pods.values():
        assert policy["policyTypes"] == ["Ingress", "Egress"]


def test_templates_use_values_that_there_are() -> None:
    for template in (CHART / "templates").iterdir():
        for path in re.findall(r"\.Values\.([\w.]+)", template.read_text()):
            place = DEFAULTS
            for name in path.split("."):
                assert name in place, (template.name, path)
                place = place[name]


def test_the_version_is_that_of_easeml() -> None:
    import easeml

    described = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert described["version"] == described["appVersion"] == easeml.__version__
