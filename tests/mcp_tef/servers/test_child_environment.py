"""A program is given what any program needs to run, what its server says, and nothing else of our environment."""

import json
import os

import pytest

from mcp_tef.model.secrets import MASK
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.telling_server import program

USUAL = {"HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
PLANTED = {
    "OPENAI_API_KEY": "planted-key-of-a-model",
    "AWS_SECRET_ACCESS_KEY": "planted-key-of-a-cloud",
    "CITY_PASS": "planted-pass",
    "PLANTED": "planted-word",
    "NODE_OPTIONS": "--planted",
    "PYTHONSTARTUP": "/planted.py",
    "SSH_AUTH_SOCK": "/planted.sock",
}


async def test_nothing_of_ours_reaches_a_program_but_what_its_server_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    command, *args = program("environment")
    env = {"CITY": "${CITY_PASS}", "REGION": "eu"}
    spec = ServerSpec(name="telling", transport=Transport.STDIO, command=command, args=tuple(args), env=env)
    lister = McpToolLister(dict(os.environ))
    listing = await lister.list_tools(spec, timeout=20)
    await lister.close()
    seen = json.loads(listing.tools[0].description)
    assert {*seen} - USUAL == {"CITY", "REGION"}
    assert [value for value in seen.values() if "planted" in value] == []
    assert (seen["REGION"], seen["CITY"]) == ("eu", MASK)
    assert seen["PATH"] == os.environ["PATH"]
