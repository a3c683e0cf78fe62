"""Configs of servers, reviews and rewrites from people who mean harm, made at random, and what must hold of readers."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import read_text
from mcp_tef.formats.servers.server_formats import read_config
from mcp_tef.model.ids import ServerId
from mcp_tef.model.servers import Server, ServerSpec
from mcp_tef.model.transfer import ImportStatus, ServerFileFormat
from mcp_tef.prompts.writing_prompts import HIGHEST, LOWEST, ReviewError, RewriteError, read_review, read_rewrite
from mcp_tef.storage.columns import dump, storable
from mcp_tef.storage.server_rows import cells_of
from mcp_tef.workflows.server_import import ServerPlan
from tests.support.fuzzing import WORDS, damaged, mutated, require_sentence

_COMMAND = {
    "command": "npx", "args": ["-y", "@acme/clock@1.2", "--token", "${CLOCK_TOKEN:-none}"], "cwd": "${userHome}/clock",
    "env": {"CLOCK_TOKEN": "hush-4711-and-more", "LEVEL": 3, "GONE": None}, "disabled": False, "disabledTools": ["a"],
    "envFile": "${workspaceFolder}/.env", "timeout": 30, "alwaysAllow": [],
}  # fmt: skip
_ADDRESS = {
    "type": "http",
    "url": "https://u:p@a.test/mcp?key=1",
    "headers": {"Authorization": "Bearer ${input:token}"},
}
_SERVERS = {"clock": _COMMAND, "desk": _ADDRESS, "old": {"serverUrl": "https://a.test/sse"}}
_INPUTS = [{"type": "promptString", "id": "token", "description": "Your token", "password": True, "default": "x"}]
_PACKAGE = {
    "registryType": "npm", "identifier": "@acme/clock", "version": "1.2", "runtimeHint": "npx",
    "transport": {"type": "stdio"}, "runtimeArguments": [{"type": "named", "name": "--yes"}],
    "packageArguments": [{"type": "positional", "valueHint": "zone", "isRequired": True, "value": "{zone}",
                          "variables": {"zone": {"default": "UTC", "choices": ["UTC"]}}}],
    "environmentVariables": [{"name": "CLOCK_TOKEN", "isRequired": True, "isSecret": True, "description": "Yours."}],
}  # fmt: skip
_REMOTE = {"type": "sse", "url": "https://{zone}.a.test/sse", "variables": {"zone": {"default": "eu"}}, "headers": []}
_REGISTRY = {"name": "io.github.acme/clock", "version": "1", "packages": [_PACKAGE], "remotes": [_REMOTE]}
CONFIGS: dict[ServerFileFormat, tuple[str, Any]] = {
    ServerFileFormat.CLAUDE_DESKTOP: ("claude_desktop_config.json", {"mcpServers": _SERVERS}),
    ServerFileFormat.CLAUDE_CODE: (
        ".claude.json",
        {"mcpServers": _SERVERS, "projects": {"/srv/bikes": {"mcpServers": _SERVERS, "history": []}}},
    ),
    ServerFileFormat.CURSOR: (".cursor/mcp.json", {"mcpServers": _SERVERS}),
    ServerFileFormat.CODEX: (".codex/any.json", {"mcp_servers": _SERVERS}),
    ServerFileFormat.GEMINI: (".gemini/settings.json", {"mcpServers": _SERVERS}),
    ServerFileFormat.ZED: (".zed/settings.json", {"context_servers": _SERVERS}),
    ServerFileFormat.VSCODE: (".vscode/mcp.json", {"inputs": _INPUTS, "servers": _SERVERS}),
    ServerFileFormat.WINDSURF: ("mcp_config.json", {"mcpServers": _SERVERS}),
    ServerFileFormat.INSPECTOR: ("mcp.json", {"mcpServers": _SERVERS}),
    ServerFileFormat.REGISTRY: ("server.json", {"servers": [{"server": _REGISTRY, "_meta": {}}]}),
    ServerFileFormat.SNIPPET: ("any.txt", _SERVERS),
}
_GRADE = {"score": 7, "explanation": "It says what it does."}
REVIEW = {"clarity": _GRADE, "completeness": _GRADE, "conciseness": _GRADE, "suggested_description": "Tells the time."}
REWRITE = {"description": "Tells the time.", "rationale": "It names the clock."}
LONGEST_PREVIEW = 4_000_000


@st.composite
def config_files(draw: st.DrawFn, form: ServerFileFormat) -> tuple[str, bytes]:
    """A config of a form, by name and bytes: a sound one changed in its values and its bytes, or bytes of any kind."""
    name, document = CONFIGS[form]
    if draw(st.integers(0, 9)) == 0:
        return name, draw(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
    chance = random.Random(draw(st.integers(0, 2**32)))
    text = json.dumps(mutated(document, chance), ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 2)))
    text = (
        chance.choice(("", "", "// ours\n", "Put this there:\n\n```json\n"))
        + text
        + chance.choice(("", "", ",", "\n```"))
    )
    encoding = chance.choice(("utf-8",) * 8 + ("utf-8-sig", "utf-16"))
    return name, damaged(text.encode(encoding, "surrogatepass"), chance)


@st.composite
def advice(draw: st.DrawFn) -> str:
    """What a model may write as a review or a rewrite: a sound one with its values changed, among other pieces."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    whole = json.dumps(mutated(chance.choice((REVIEW, REWRITE)), chance), ensure_ascii=chance.random() < 0.5)
    pieces = draw(st.lists(st.sampled_from(WORDS) | st.text(max_size=10), max_size=6))
    pieces.insert(chance.randint(0, len(pieces)), whole)
    text = "".join(pieces)
    return text[: chance.randint(0, len(text))] if chance.random() < 0.3 else text


def check_config(name: str, data: bytes, folder: Path) -> int:
    """Read a config as an import does; the number of servers that may come in, each of which can be kept and shown."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    try:
        _, entries = read_config(read_text(path), path)
    except InputError as error:
        require_sentence(error.message)
        return 0
    plan = ServerPlan((), {"A": "1"})
    found = [plan.planned(entry, str(path)) for entry in entries]
    for refused in (server for server in found if server.fate is ImportStatus.REFUSED):
        require_sentence(refused.reason)
    specs = [server.spec for server in found if server.spec]
    for spec in specs:
        dump(cells_of(spec)).encode("utf-8")
        storable(spec.name).encode("utf-8")
    assert len(repr(found)) < LONGEST_PREVIEW
    again = ServerPlan([_stored(spec) for spec in specs], {"A": "1"})
    assert not any(again.planned(entry, str(path)).fate is ImportStatus.ADDED for entry in entries)
    return len(specs)


def _stored(spec: ServerSpec) -> Server:
    return Server(id=ServerId(spec.name), spec=spec, created_at=datetime.now(UTC), updated_at=datetime.now(UTC))


def check_advice(text: str) -> int:
    """Read an answer as a review and as a rewrite; how many of them it was."""
    return _is_review(text) + _is_rewrite(text)


def _is_review(text: str) -> bool:
    try:
        grades = read_review(text)
    except ReviewError as error:
        require_sentence(str(error))
        return False
    assert all(LOWEST <= one.score <= HIGHEST for one in (grades.clarity, grades.completeness, grades.conciseness))
    return True


def _is_rewrite(text: str) -> bool:
    try:
        read_rewrite(text)
    except RewriteError as error:
        require_sentence(str(error))
        return False
    return True
