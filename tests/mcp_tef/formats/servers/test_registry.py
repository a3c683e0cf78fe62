"""The registry's `server.json`, in its current and older shapes, becomes the command that would run the package."""

from typing import Any

import pytest

from mcp_tef.model.servers import ServerSpec, Transport
from tests.support.configs import entries


def document(**fields: Any) -> dict[str, Any]:
    return {"name": "io.github.acme/weather", "description": "Weather.", "version": "1.2.0", **fields}


def package(**fields: Any) -> ServerSpec:
    [entry] = entries(document(packages=[fields]))
    assert entry.spec is not None, entry.refused
    return entry.spec


@pytest.mark.parametrize(
    ("fields", "argv"),
    [
        ({"registryType": "npm", "identifier": "@acme/w", "version": "1.2"}, "npx -y @acme/w@1.2"),
        ({"registry_type": "npm", "identifier": "@acme/w", "version": "1.2"}, "npx -y @acme/w@1.2"),
        ({"registry_name": "npm", "name": "@acme/w", "version": "1.2"}, "npx -y @acme/w@1.2"),
        ({"registryType": "npm", "identifier": "w", "runtimeHint": "bunx"}, "bunx w"),
        ({"registryType": "pypi", "identifier": "w", "version": "1.2"}, "uvx w==1.2"),
        ({"registryType": "oci", "identifier": "acme/w", "version": "1.2"}, "docker run -i --rm acme/w:1.2"),
        (
            {"registryType": "oci", "identifier": "a.test:5000/w:3", "version": "1"},
            "docker run -i --rm a.test:5000/w:3",
        ),
        ({"registryType": "nuget", "identifier": "Acme.W", "version": "1.2"}, "dnx Acme.W@1.2 --yes"),
    ],
)
def test_each_kind_of_package_has_its_runner(fields: dict[str, Any], argv: str) -> None:
    found = package(**fields)
    assert (found.name, " ".join(found.argv)) == ("weather", argv)


@pytest.mark.parametrize("old", [False, True])
def test_arguments_and_variables_are_given_defaulted_or_to_be_set(old: bool) -> None:
    names = {"runtimeArguments": "runtime_arguments", "packageArguments": "package_arguments"}
    names |= {"environmentVariables": "environment_variables", "isRequired": "is_required"}

    def key(name: str) -> str:
        return names[name] if old else name

    found = package(
        registryType="npm",
        identifier="w",
        **{
            key("runtimeArguments"): [{"type": "named", "name": "--yes"}, {"type": "positional", "value": "--quiet"}],
            key("packageArguments"): [
                {"type": "positional", "valueHint": "data dir", key("isRequired"): True},
                {"type": "named", "name": "--unit", "default": "c"},
                {"type": "named", "name": "--optional"},
                {"type": "named", "name": "--flag", key("isRequired"): True, "value": ""},
            ],
            key("environmentVariables"): [
                {"name": "WEATHER_KEY", key("isRequired"): True, "isSecret": True},
                {"name": "LEVEL", "default": "info"},
                {"name": "OPTIONAL"},
            ],
        },
    )
    assert found.args[:4] == ("-y", "--quiet", "w", "${WEATHER_DATA_DIR}")
    assert found.args[4:6] == ("--unit", "c")
    assert found.env == {"WEATHER_KEY": "${WEATHER_KEY}", "LEVEL": "info"}


def test_what_the_user_must_set_and_may_set_is_told() -> None:
    variables = [
        {"name": "KEY", "isRequired": True, "description": "From your account."},
        {"name": "ZONE", "description": "A time zone"},
    ]
    [entry] = entries(
        document(packages=[{"registryType": "npm", "identifier": "w", "environmentVariables": variables}])
    )
    assert entry.notes == ("Set the environment variable KEY: From your account.", "It can take ZONE: A time zone.")


def test_a_container_is_told_of_its_variables() -> None:
    variables = [{"name": "KEY", "isRequired": True}]
    found = package(registryType="oci", identifier="acme/w", environmentVariables=variables)
    assert found.args == ("run", "-i", "--rm", "-e", "KEY", "acme/w")


def test_remotes_are_addresses_with_headers_and_variables() -> None:
    remote = {
        "type": "streamable-http",
        "url": "https://{region}.a.test/mcp",
        "variables": {"region": {"default": "eu"}},
        "headers": [{"name": "X-Key", "value": "Key {key}", "variables": {"key": {"isSecret": True}}}],
    }
    first, second = entries(document(remotes=[remote, {"transport_type": "sse", "url": "https://a.test/events"}]))
    assert first.spec is not None
    assert second.spec is not None
    assert (first.spec.url, first.spec.headers) == ("https://eu.a.test/mcp", {"X-Key": "Key ${WEATHER_KEY}"})
    assert (second.spec.url, second.spec.transport) == ("https://a.test/events", Transport.SSE)
    assert "one of 2 ways" in first.notes[0]


@pytest.mark.parametrize("wrap", [lambda one: {"server": one, "_meta": {}}, lambda one: {"servers": [{"server": one}]}])
def test_answers_of_the_registry_are_read_as_well(wrap: Any) -> None:
    [entry] = entries(wrap(document(packages=[{"registryType": "pypi", "identifier": "w"}])))
    assert entry.spec is not None
    assert entry.spec.argv == ("uvx", "w")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"packages": [{"registryType": "mcpb", "identifier": "x"}]}, "Its package is of a kind that we cannot run"),
        ({"packages": [{"registryType": "npm"}]}, "It names no package."),
        ({"packages": [{"registryType": "npm", "identifier": "--eval=x"}]}, "It names no package."),
        ({"packages": [3]}, "It is not a list of settings."),
        ({"packages": []}, "It names neither a package nor a remote address."),
        (
            {"packages": [{"registryType": "npm", "identifier": "w", "transport": {"type": "sse"}}]},
            "It is a program that serves over HTTP",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(fields: dict[str, Any], reason: str) -> None:
    [entry] = entries(document(**fields))
    assert entry.refused.startswith(reason)
