"""Import and export of cases, and the bundled sample."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import (
    CaseFileFormat,
    ConflictError,
    Engine,
    ImportStatus,
    InputError,
    NotFoundError,
    ServerSpec,
    Transport,
)
from mcp_tef.workflows.sample_program import sample_spec
from tests.support.workspace_files import case, tools_file, weather, written


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path / "work.db")
    spec = ServerSpec(name="city", transport=Transport.FILE, path=str(tools_file(tmp_path)))
    server = await opened.servers.add(spec)
    await opened.servers.check(server.id)
    yield opened
    await opened.close()


def cases_file(folder: Path, *cases: dict[str, Any]) -> Path:
    return written(folder / "cases.json", {"cases": cases})


def row(number: int, **changes: Any) -> dict[str, Any]:
    function = {"name": "area", "description": "An area.", "parameters": {"type": "dict", "properties": {}}}
    return {
        "id": f"simple_{number}",
        "question": [[{"role": "user", "content": f"Question {number}"}]],
        "function": [function],
        "ground_truth": [{"area": {}}],
        **changes,
    }


def lines(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


async def test_a_preview_says_what_would_come_of_each_case_and_does_nothing(engine: Engine, tmp_path: Path) -> None:
    await engine.case_files.import_file(cases_file(tmp_path, weather(1), weather(2)))
    changed = {**weather(2), "tags": ["new"], "expected": None}
    preview = await engine.case_files.preview(cases_file(tmp_path, weather(1), changed, weather(3), {"name": "mute"}))
    assert [one.fate.value for one in preview.cases] == ["unchanged", "changed", "added", "refused"]
    assert [(change.field, change.before, change.after) for change in preview.cases[1].changes] == [
        ("expected", '[{"tool": "weather_report"}]', "no tool"),
        ("tags", "none", "new"),
    ]
    assert preview.cases[3].reason == "It has no query."
    assert len(await engine.cases.list()) == 2


async def test_cases_with_one_id_are_refused_with_all_places_named(engine: Engine, tmp_path: Path) -> None:
    twice = [{**weather(1), "id": "x"}, weather(2), {**weather(3), "id": "x"}]
    preview = await engine.case_files.preview(cases_file(tmp_path, *twice))
    refused = preview.of(ImportStatus.REFUSED)
    assert {one.reason for one in refused} == {"The id x is there 2 times: case 1 and case 3."}
    assert [one.label for one in preview.of(ImportStatus.ADDED)] == ["weather report 2"]


async def test_equal_cases_of_a_file_stay_as_many_however_often_it_is_imported(engine: Engine, tmp_path: Path) -> None:
    file = cases_file(tmp_path, weather(1), weather(1))
    await engine.case_files.import_file(file)
    report = await engine.case_files.import_file(file)
    assert (len(report.unchanged), len(await engine.cases.list())) == (2, 2)


async def test_nothing_comes_in_where_a_case_went_away_after_the_preview(engine: Engine, tmp_path: Path) -> None:
    await engine.case_files.import_file(cases_file(tmp_path, weather(1)))
    [there] = await engine.cases.list()
    changed = {**weather(1), "id": there.id, "query": "Another question"}
    preview = await engine.case_files.preview(cases_file(tmp_path, *map(weather, range(2, 400)), changed))
    await engine.cases.remove([there.id])
    with pytest.raises(NotFoundError):
        await engine.case_files.apply(preview)
    assert await engine.cases.list() == ()


async def test_nothing_comes_in_where_a_name_was_taken_after_the_preview(engine: Engine, tmp_path: Path) -> None:
    preview = await engine.case_files.preview(lines(tmp_path, row(1)))
    [new] = preview.servers
    await engine.servers.add(ServerSpec(name=new.name, transport=Transport.FILE, path=str(tmp_path / "tools.json")))
    with pytest.raises(ConflictError):
        await engine.case_files.apply(preview)
    assert await engine.cases.list() == ()


async def test_bfcl_rows_bring_a_tools_file_for_each_set_of_functions(engine: Engine, tmp_path: Path) -> None:
    other = [{"name": "volume", "parameters": {"type": "dict", "properties": {}}}]
    file = lines(tmp_path, row(1), row(2), row(3, function=other, ground_truth=[{"volume": {}}]))
    preview = await engine.case_files.preview(file)
    assert [(new.name, len(new.tools)) for new in preview.servers] == [
        ("Tools of simple_1", 1),
        ("Tools of simple_3", 1),
    ]
    assert not preview.servers[0].path.exists()
    await engine.case_files.apply(preview)
    assert preview.servers[0].path.parent == tmp_path / "work-tools"
    first, second, third = await engine.cases.list()
    assert first.draft.servers == second.draft.servers != third.draft.servers
    assert await engine.cases.warnings(third.draft) == ()
    again = await engine.case_files.preview(file)
    assert (again.changes_nothing, again.servers) == (True, ())


async def test_bfcl_rows_go_out_with_their_functions_and_come_in_elsewhere_as_they_were(
    engine: Engine, tmp_path: Path
) -> None:
    await engine.case_files.import_file(cases_file(tmp_path, weather(1)))
    report = await engine.case_files.export_file(tmp_path / "out.jsonl")
    assert (report.form, report.written, report.left_out, report.lost) == (CaseFileFormat.BFCL, 1, (), ())
    elsewhere = await Engine.open(tmp_path / "elsewhere.db")
    await elsewhere.case_files.import_file(tmp_path / "out.jsonl")
    assert [one.draft for one in await elsewhere.cases.list()] == [one.draft for one in await engine.cases.list()]
    [server] = await elsewhere.servers.list()
    assert (server.name, server.tool_count) == ("city", 2)
    await elsewhere.close()


async def test_what_a_form_cannot_hold_is_told_case_by_case(engine: Engine, tmp_path: Path) -> None:
    pattern = case("pattern", [{"tool": "weather_report", "parameters": {"city": {"$regex": "L"}}}])
    await engine.case_files.import_file(cases_file(tmp_path, weather(1), pattern))
    report = await engine.case_files.export_file(tmp_path / "out.yaml", form=CaseFileFormat.PROMPTFOO)
    assert report.written == 1
    assert report.left_out == (
        ("pattern", "The value expected of city is a matcher, which this form has no word for."),
    )


async def test_a_file_that_was_there_stays_where_nothing_can_be_written(engine: Engine, tmp_path: Path) -> None:
    several = case("several", {"any_of": [[{"tool": "weather_report"}], []]})
    await engine.case_files.import_file(cases_file(tmp_path, several))
    file = tmp_path / "out.yaml"
    file.write_text("mine")
    with pytest.raises(InputError, match="can hold none of these cases"):
        await engine.case_files.export_file(file, form=CaseFileFormat.MCP_EVAL)
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.yaml", "cases: [{query: x}]", CaseFileFormat.TEF),
        ("a.json", '{"cases": [{"inputs": "x"}]}', CaseFileFormat.MCP_EVAL),
        ("a.yml", "tests: [{vars: {query: x}}]", CaseFileFormat.PROMPTFOO),
        ("a.csv", "query,expected\nx,", CaseFileFormat.CSV),
        ("a.jsonl", '{"question": "x"}', CaseFileFormat.BFCL),
    ],
)
async def test_the_form_is_seen_from_the_name_and_from_what_the_file_holds(
    engine: Engine, tmp_path: Path, name: str, text: str, form: CaseFileFormat
) -> None:
    (tmp_path / name).write_text(text)
    assert (await engine.case_files.preview(tmp_path / name)).form is form


async def test_a_name_without_a_known_extension_needs_the_form_said(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "cases.txt").write_text("query,expected\nx,")
    with pytest.raises(InputError, match="does not say what form"):
        await engine.case_files.preview(tmp_path / "cases.txt")
    assert (await engine.case_files.preview(tmp_path / "cases.txt", CaseFileFormat.CSV)).of(ImportStatus.ADDED)


async def test_reading_a_large_file_lets_others_work_meanwhile(engine: Engine, tmp_path: Path) -> None:
    file = cases_file(tmp_path, *map(weather, range(3000)))
    reading = asyncio.ensure_future(engine.case_files.preview(file))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert (len((await reading).cases), turns > 5) == (3000, True)


def test_from_the_source_python_starts_it() -> None:
    assert sample_spec().command == sys.executable
    assert sample_spec().args == ("-P", "-m", "mcp_tef", "sample-server")


def test_a_built_app_starts_its_own_command_line_even_from_the_window() -> None:
    spec = sample_spec(Path("/opt/mcp-tef/mcp-tef-desktop"), built=True)
    assert Path(spec.command or "") == Path("/opt/mcp-tef/mcp-tef")
    assert spec.args == ("sample-server",)
    assert Path(sample_spec(Path("mcp-tef-desktop.exe"), built=True).command or "").name == "mcp-tef.exe"
