"""Importing servers: a preview that promises, all of it or nothing, and never a program started."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import ConflictError, InputError, NotFoundError
from mcp_tef.events import Event, EventStream, ServersChanged
from mcp_tef.model.servers import AuthType, ServerSpec, ServerStatus, Transport
from mcp_tef.model.transfer import FieldChange, ImportedServer, ImportStatus
from mcp_tef.ports import Store
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.server_import import ServerFiles
from tests.support.configs import CLOCK, written

DESK = {"url": "https://desk.test/mcp"}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


@pytest.fixture
def heard() -> list[Event]:
    return []


@pytest.fixture
def files(store: Store, heard: list[Event], tmp_path: Path) -> ServerFiles:
    events = EventStream()
    events.subscribe(heard.append)
    return ServerFiles(store.servers, events, {"HOME": str(tmp_path)}, "linux")


def config(path: Path, **servers: Any) -> Path:
    return written(path, {"mcpServers": servers})


def holding(folder: Path, secret: bytes) -> list[Path]:
    """The files of the workspace that hold a secret."""
    return [file for file in folder.glob("workspace.db*") if file.is_file() and secret in file.read_bytes()]


async def fates(files: ServerFiles, source: Path | str) -> list[tuple[str, str]]:
    return [(server.name, server.fate.value) for server in (await files.preview(source)).servers]


async def only(files: ServerFiles, source: Path | str) -> ImportedServer:
    [server] = (await files.preview(source)).servers
    return server


async def test_a_preview_changes_nothing_and_applying_it_starts_nothing(
    files: ServerFiles, store: Store, heard: list[Event], tmp_path: Path
) -> None:
    preview = await files.preview(config(tmp_path / "mcp.json", clock=CLOCK, desk=DESK, odd=3))
    assert [server.fate for server in preview.servers] == [ImportStatus.ADDED, ImportStatus.ADDED, ImportStatus.REFUSED]
    assert await store.servers.all() == ()
    added = await files.apply(preview, by="me")
    assert [server.name for server in added] == ["clock", "desk"]
    assert [server.status for server in await store.servers.all()] == [ServerStatus.INACTIVE, ServerStatus.INACTIVE]
    assert heard == [ServersChanged(tuple(server.id for server in added), "me")]


async def test_importing_again_changes_nothing(files: ServerFiles, heard: list[Event], tmp_path: Path) -> None:
    path = config(tmp_path / "mcp.json", clock=CLOCK, desk=DESK)
    await files.apply(await files.preview(path))
    preview = await files.preview(path)
    assert [server.fate for server in preview.servers] == [ImportStatus.UNCHANGED] * 2
    assert preview.changes_nothing
    assert await files.apply(preview) == ()
    assert len(heard) == 1


async def test_a_config_that_changed_changes_what_it_brought(files: ServerFiles, store: Store, tmp_path: Path) -> None:
    path = config(tmp_path / "mcp.json", clock={**CLOCK, "env": {"A": "1"}})
    [clock] = await files.apply(await files.preview(path))
    await store.servers.update(clock.id, replace(clock.spec, alias="c", allowed_tools=("now",)))
    config(path, clock={**CLOCK, "env": {"A": "2", "B": "1"}, "command": "pipx"})
    server = await only(files, path)
    assert server.fate is ImportStatus.CHANGED
    assert server.changes == (FieldChange("command", "uvx", "pipx"), FieldChange("env", "A", "A, B"))
    [changed] = await files.apply(await files.preview(path))
    assert (changed.id, changed.spec.command, changed.spec.alias) == (clock.id, "pipx", "c")
    assert changed.spec.allowed_tools == ("now",)


async def test_a_name_that_something_else_has_gets_a_number(files: ServerFiles, store: Store, tmp_path: Path) -> None:
    await store.servers.add(ServerSpec(name="clock", transport=Transport.STDIO, command="own"))
    path = config(tmp_path / "mcp.json", clock=CLOCK)
    assert await fates(files, path) == [("clock-2", "added")]
    await files.apply(await files.preview(path))
    assert await fates(files, path) == [("clock-2", "unchanged")]
    config(path, clock={"command": "pipx"})
    assert await fates(files, path) == [("clock-2", "changed")]
    assert (await store.servers.find("clock")).spec.command == "own"


async def test_an_address_that_a_server_has_already_is_refused(files: ServerFiles, store: Store) -> None:
    await store.servers.add(ServerSpec(name="desk", transport=Transport.SSE, url="https://desk.test/mcp"))
    server = await only(files, '{"url": "https://desk.test/mcp"}')
    assert (server.fate, server.reason) == (ImportStatus.REFUSED, "The server desk has that address already.")


async def test_the_same_server_twice_in_one_config_comes_in_once(files: ServerFiles, tmp_path: Path) -> None:
    preview = await files.preview(config(tmp_path / "mcp.json", a=CLOCK, b=CLOCK, c=DESK, d={**DESK, "type": "sse"}))
    assert [(server.name, server.fate.value, server.reason, server.notes) for server in preview.servers] == [
        ("a", "added", "", ()),
        ("b", "unchanged", "", ("It is the same as a above.",)),
        ("c", "added", "", ()),
        ("d", "refused", "The server c has that address already.", ()),
    ]
    assert [server.name for server in await files.apply(preview)] == ["a", "c"]


async def test_where_one_cannot_be_stored_none_is(files: ServerFiles, store: Store, tmp_path: Path) -> None:
    preview = await files.preview(config(tmp_path / "mcp.json", clock=CLOCK, desk=DESK))
    await store.servers.add(ServerSpec(name="desk", transport=Transport.STDIO, command="own"))
    with pytest.raises(ConflictError):
        await files.apply(preview)
    assert [server.name for server in await store.servers.all()] == ["desk"]


async def test_where_what_would_change_has_gone_nothing_is_added(
    files: ServerFiles, store: Store, tmp_path: Path
) -> None:
    path = config(tmp_path / "mcp.json", clock=CLOCK)
    [clock] = await files.apply(await files.preview(path))
    preview = await files.preview(config(path, clock={"command": "pipx"}, desk=DESK))
    await store.servers.remove([clock.id])
    with pytest.raises(NotFoundError):
        await files.apply(preview)
    assert await store.servers.all() == ()


async def test_some_of_a_config_can_be_chosen(files: ServerFiles, tmp_path: Path) -> None:
    preview = await files.preview(config(tmp_path / "mcp.json", clock=CLOCK, desk=DESK))
    assert [server.name for server in files.chosen(preview, ["desk"]).servers] == ["desk"]
    with pytest.raises(NotFoundError) as caught:
        files.chosen(preview, ["clok"])
    assert "clock" in caught.value.hint


async def test_what_must_be_set_is_named_once_and_only_where_it_is_not(store: Store) -> None:
    files = ServerFiles(store.servers, EventStream(), {"SET": "1"}, "linux")
    env = {"A": "${SET}", "B": "${env:NOT_SET}", "C": "${NOT_SET}", "D": "${OTHER:-x}", "E": "${input:zone}"}
    server = await only(files, f'{{"command": "x", "env": {env!r}}}'.replace("'", '"'))
    assert server.needs == ("NOT_SET", "ZONE")


async def test_a_secret_is_told_by_its_place_and_kept_nowhere(files: ServerFiles, store: Store, tmp_path: Path) -> None:
    path = config(tmp_path / "mcp.json", clock={**CLOCK, "env": {"API_KEY": "hush-4711"}, "x": {"token": "hush-4712"}})
    preview = await files.preview(path)
    [server] = preview.servers
    assert [(one.where, one.variable) for one in server.secrets] == [
        ("variable API_KEY", "API_KEY"),
        ("setting token", "CLOCK_TOKEN"),
    ]
    assert server.needs == ("API_KEY",)
    await files.apply(preview)
    assert "hush" not in repr(preview)
    assert not holding(tmp_path, b"hush")
    assert await fates(files, path) == [("clock", "unchanged")]


async def test_the_secret_for_one_address_is_never_sent_to_another(
    files: ServerFiles, store: Store, tmp_path: Path
) -> None:
    path = config(tmp_path / "mcp.json", desk=DESK)
    [desk] = await files.apply(await files.preview(path))
    ours = replace(desk.spec, alias="d", auth_type=AuthType.BEARER, secret="${keychain:desk}")
    await store.servers.update(desk.id, ours)
    headed = await only(files, config(path, desk={**DESK, "headers": {"X-Team": "docs"}}))
    assert headed.spec == replace(ours, headers={"X-Team": "docs"})
    assert headed.notes == ()
    moved = await only(files, config(path, desk={"url": "https://elsewhere.test/mcp"}))
    assert moved.spec is not None
    assert (moved.spec.alias, moved.spec.auth_type, moved.spec.secret) == ("d", AuthType.NONE, None)
    assert moved.notes == ("Its address is another one, so the secret that you gave it for the old one is not kept.",)


async def test_what_nobody_but_its_own_program_can_fill_in_is_told(files: ServerFiles) -> None:
    server = await only(files, '{"command": "x", "args": ["${command:pick}", "${workspaceFolder}/x"]}')
    assert server.notes == (
        "${command:pick} means something to its own program only. Write the value itself.",
        "${workspaceFolder} is a folder that only its own program knows. Write the folder itself.",
    )


async def test_configs_in_the_usual_places_are_found(files: ServerFiles, store: Store, tmp_path: Path) -> None:
    config(tmp_path / ".config" / "Claude" / "claude_desktop_config.json", clock=CLOCK)
    written(tmp_path / ".cursor" / "mcp.json", "{broken")
    written(tmp_path / ".config" / "Code" / "User" / "settings.json", '{"editor.tabSize": 4, // none\n}')
    written(tmp_path / ".claude.json", {"projects": {"/srv": {}}})
    config(tmp_path / "bikes" / ".mcp.json", desk=DESK)
    claude, cursor, project = await files.discover(tmp_path / "bikes")
    assert (claude.title, project.title) == ("Claude Desktop", "Claude Code (project)")
    assert claude.preview is not None
    assert [server.name for server in claude.preview.servers] == ["clock"]
    assert cursor.preview is None
    assert cursor.problem == "mcp.json is not valid JSON at line 1."
    assert await store.servers.all() == ()


async def test_several_configs_are_planned_as_if_those_before_had_been_brought_in(
    files: ServerFiles, store: Store, tmp_path: Path
) -> None:
    one = config(tmp_path / ".config" / "Claude" / "claude_desktop_config.json", clock=CLOCK, desk=DESK)
    other = config(tmp_path / ".codeium" / "windsurf" / "mcp_config.json", time=CLOCK, desk={"command": "desk"})
    for found in (await files.preview_all([one, other]), await files.discover(together=True)):
        previews = [item.preview for item in found if item.preview]
        assert [(server.name, server.fate.value, server.notes) for item in previews for server in item.servers] == [
            ("clock", "added", ()),
            ("desk", "added", ()),
            ("time", "unchanged", ("It is the same as clock above.",)),
            ("desk-2", "added", ()),
        ]
    whole = replace(previews[0], servers=tuple(server for item in previews for server in item.servers))
    assert [server.name for server in await files.apply(whole)] == ["clock", "desk", "desk-2"]
    alone = [item.preview for item in await files.discover() if item.preview]
    assert [server.fate.value for server in alone[1].servers] == ["unchanged", "unchanged"]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00\x01", b"\x80abc", None])
async def test_a_file_that_is_no_text_is_refused_in_a_sentence(
    files: ServerFiles, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "mcp.json"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InputError):
        await files.preview(path)
