"""Configs of Codex, Zed and Gemini CLI: each setting comes in, or is named as left out."""

from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.server_formats import read_config
from mcp_tef.formats.servers.settings import ServerEntry
from mcp_tef.model.servers import ServerSpec, Transport

DATA = Path(__file__).parents[3] / "data" / "clients"
PLACES = {
    "codex": ("codex.toml", "/srv/bikes/.codex/config.toml"),
    "zed": ("zed.json", "/home/ines/.config/zed/settings.json"),
    "gemini": ("gemini.json", "/srv/bikes/.gemini/settings.json"),
}


def read(client: str) -> dict[str, ServerEntry]:
    """The servers of a config by name."""
    file, place = PLACES[client]
    form, found = read_config((DATA / file).read_text("utf-8"), Path(place))
    assert form.form == client
    return {one.label: one for one in found}


def spec(entry: ServerEntry) -> ServerSpec:
    """Its definition, of one that was not refused."""
    assert entry.spec is not None, entry.refused
    return entry.spec


def test_servers_of_codex_come_in_with_tools_folder_and_references() -> None:
    found = read("codex")
    docs, issues = spec(found["docs"]), spec(found["issues"])
    assert docs.argv == ("npx", "-y", "@acme/docs-mcp@2.1")
    assert docs.env == {"DOCS_TOKEN": "${DOCS_TOKEN}", "DOCS_LEVEL": "info"}
    assert (docs.cwd, docs.allowed_tools, docs.disallowed_tools) == (
        "/srv/bikes/services/docs",
        ("search", "read"),
        ("write",),
    )
    assert issues.headers == {
        "X-Team": "bikes",
        "X-User": "${ISSUES_USER}",
        "Authorization": "Bearer ${ISSUES_TOKEN}",
    }
    assert found["docs"].notes == ("Not taken over: startup_timeout_sec, tool_timeout_sec.",)
    assert found["issues"].notes == ("It is switched off there.",)


def test_servers_of_zed_come_in_in_both_layouts() -> None:
    found = read("zed")
    assert spec(found["docs"]).env == {"DOCS_TOKEN": "${DOCS_TOKEN:-none}"}
    older = spec(found["older"])
    assert (older.argv, older.env) == (("uvx", "mcp-server-git"), {"LEVEL": "1"})
    assert found["older"].notes == ("Not taken over: settings.",)


def test_servers_of_gemini_come_in_with_their_variables() -> None:
    found = read("gemini")
    docs, issues = spec(found["docs"]), spec(found["issues"])
    assert docs.args[-1] == "--key=${DOCS_KEY}"
    assert docs.env == {"DOCS_TOKEN": "${DOCS_TOKEN}", "HOME_URL": "${HOME_URL}"}
    assert (docs.allowed_tools, docs.disallowed_tools) == (("search", "read"), ("write",))
    assert (issues.transport, issues.headers) == (
        Transport.STREAMABLE_HTTP,
        {"Authorization": "Bearer ${ISSUES_TOKEN}"},
    )
    assert found["docs"].notes == ("Not taken over: timeout, trust.",)


def test_a_part_of_a_toml_file_can_be_pasted() -> None:
    form, (only,) = read_config('[mcp_servers.clock]\ncommand = "uvx"\ncwd = "here"\n')
    assert (form.form, spec(only).command) == ("codex", "uvx")
    assert only.notes == ("Its path “here” is relative, and no folder is known for it.",)


def test_a_damaged_toml_file_is_named() -> None:
    with pytest.raises(InputError, match=r"config\.toml is not valid TOML"):
        read_config("[mcp_servers", Path("/srv/config.toml"))
