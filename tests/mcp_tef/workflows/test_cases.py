"""Test cases: what a user sees of editing, copying, importing and trying them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.events import CasesChanged, Event
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import Classification
from mcp_tef.ports import Store
from mcp_tef.storage.store import open_store
from tests.support.fake_ports import picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

RICH = CaseDraft(
    name="Two steps",
    query="Find it – “now”\nand book it 🔧",
    expectation=Expectation(
        (
            (
                ExpectedCall(tool="find", server="desk", parameters={"q": {"$any_of": ["it", 1.5, None]}}),
                ExpectedCall(tool="book", parameters={"day": "2026-11-21"}, exact=True),
            ),
            (),
        ),
        ordered=True,
    ),
    servers=("desk",),
    suites=("Everyday", "Slow"),
    tags=("steps",),
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


@pytest.fixture
async def made(store: Store) -> AsyncIterator[Bench]:
    opened = bench(store, {"desk": [tool("find"), tool("book")]}, lambda _: picks("book"))
    await opened.register("desk")
    yield opened
    await opened.servers.close()


@pytest.mark.parametrize("name", ["cases.yaml", "cases.json"])
async def test_what_is_exported_and_imported_elsewhere_is_equal(made: Bench, tmp_path: Path, name: str) -> None:
    await write(made, RICH, draft("nothing to do", None))
    path = tmp_path / name
    assert (await made.case_files.export_file(path)).written == 2
    with_store = await open_store(tmp_path / "other.db")
    other = bench(with_store, {}, lambda _: picks("book"))
    await other.register("desk")
    report = await other.case_files.import_file(path)
    assert (len(report.added), report.refused) == (2, ())
    assert [case.draft for case in await other.cases.list()] == [case.draft for case in await made.cases.list()]
    await with_store.close()


async def test_a_suite_is_renamed_and_a_batch_made_before_keeps_what_it_recorded(made: Bench) -> None:
    (case,) = await write(made, RICH)
    batch = await made.runs.start(request(suites=("Slow",)))
    await made.runs.wait(batch.id)
    heard: list[Event] = []
    made.events.subscribe(heard.append)
    await made.cases.rename_suite("Slow", "  By \n night ", by="me")
    assert (await made.cases.get(case.id)).draft.suites == ("Everyday", "By night")
    assert heard == [CasesChanged((case.id,), "me")]
    assert (await made.store.runs.request(batch.id)).suites == ("Slow",)


@pytest.mark.parametrize(
    ("wanted", "says"), [(" ", "The suite has no name."), ("EVERYDAY", "A suite named “Everyday” is here already.")]
)
async def test_a_suite_takes_no_empty_name_and_none_that_another_has(made: Bench, wanted: str, says: str) -> None:
    await write(made, RICH)
    with pytest.raises(InputError, match=says):
        await made.cases.rename_suite("Slow", wanted)
    await made.cases.rename_suite("Slow", "slow")
    assert await made.cases.suites() == ("Everyday", "slow")


async def test_importing_the_same_file_twice_changes_nothing(made: Bench, tmp_path: Path) -> None:
    await write(made, RICH)
    await made.case_files.export_file(tmp_path / "cases.yaml")
    report = await made.case_files.import_file(tmp_path / "cases.yaml")
    assert (report.added, report.updated, report.unchanged) == ((), (), ("Two steps",))


async def test_an_edited_file_updates_the_case_that_it_came_from(made: Bench, tmp_path: Path) -> None:
    (case,) = await write(made, RICH)
    path = tmp_path / "cases.yaml"
    await made.case_files.export_file(path)
    path.write_text(path.read_text(encoding="utf-8").replace("Two steps", "Three steps"), encoding="utf-8")
    report = await made.case_files.import_file(path)
    assert report.updated == ("Three steps",)
    assert (await made.cases.get(case.id)).draft == replace(RICH, name="Three steps")


async def test_bad_cases_of_a_file_are_refused_with_the_reason_and_the_rest_come_in(
    made: Bench, tmp_path: Path
) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(
        """cases:
  - {name: fine, query: find it, servers: [desk], expected: [{tool: find}]}
  - {name: silent}
  - {name: lost, query: x, servers: [dsek], expected: null}
  - {name: odd, query: x, expected: 7}
  - just words
"""
    )
    report = await made.case_files.import_file(path)
    assert report.added == ("fine",)
    assert report.refused == (
        ("silent", "It has no query."),
        ("lost", "There is no server named dsek. Did you mean desk?"),
        ("odd", "The expectation is neither null nor a list of calls nor an object with any_of or calls."),
        ("case 5", "It is not an object with a query."),
    )


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cases.yaml", b"cases: [}", "not valid YAML at line 1"),
        ("cases.json", b'{"cases": [\n{"query"', "not valid JSON at line 2"),
        ("cases.yaml", b"\xff\xfe\x00", "not UTF-16"),
        ("cases.yaml", b"hello: there", "no list of cases"),
    ],
)
async def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(
    made: Bench, tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        await made.case_files.import_file(path)
    assert await made.cases.list() == ()


async def test_a_missing_file_is_named(made: Bench, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml could not be read"):
        await made.case_files.import_file(tmp_path / "nowhere.yaml")


async def test_a_date_in_yaml_stays_the_text_that_was_typed(made: Bench, tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text("cases: [{query: x, servers: [desk], expected: [{tool: book, parameters: {day: 2026-11-21}}]}]")
    await made.case_files.import_file(path)
    (case,) = await made.cases.list()
    call = case.draft.expectation.first_call
    assert call
    assert call.parameters == {"day": "2026-11-21"}


async def test_a_mistyped_tool_gets_a_warning_with_the_nearest_name_and_is_kept(made: Bench) -> None:
    server = await made.servers.find("desk")
    await made.servers.check(server.id)
    typo = draft("find it", "fnd")
    assert await made.cases.warnings(typo) == (
        "No server of the case has a tool named fnd. Did you mean find?",
        "Runs of this case fail, and no model is asked.",
    )
    assert await made.cases.warnings(draft("find it", "find")) == ()
    assert len(await write(made, typo)) == 1


async def test_nothing_is_said_of_a_tool_while_its_server_was_never_seen(made: Bench) -> None:
    assert await made.cases.warnings(draft("find it", "fnd")) == ()


async def test_a_case_without_a_query_is_refused(made: Bench) -> None:
    with pytest.raises(InputError, match="no query"):
        await made.cases.add([draft("  ")])


async def test_a_case_without_a_name_is_named_by_its_query(made: Bench) -> None:
    (case,) = await made.cases.add([replace(draft("Where is it?\nTell me."), name="")])
    assert case.name == "Where is it?"


async def test_a_copy_is_named_as_such_and_leaves_the_original(made: Bench) -> None:
    (case,) = await write(made, RICH)
    (copy,) = await made.cases.duplicate([case.id])
    assert (copy.draft, copy.id != case.id) == (replace(RICH, name="Two steps (copy)"), True)
    assert await made.cases.get(case.id) == case


async def test_a_removed_case_comes_back_with_its_runs(made: Bench) -> None:
    (case,) = await write(made, draft("one"))
    await made.runs.wait((await made.runs.start(request())).id)
    await made.cases.remove([case.id])
    assert await made.cases.list() == ()
    assert await made.cases.recent() == {}
    await made.cases.restore([case.id])
    (back,) = await made.cases.list()
    assert (back.id, back.draft) == (case.id, case.draft)
    assert len((await made.cases.recent())[case.id]) == 1


async def test_a_changed_expectation_can_be_tried_on_past_answers_without_changing_them(made: Bench) -> None:
    (case,) = await write(made, draft("one", "find"))
    await made.runs.wait((await made.runs.start(request())).id)
    ((run, verdict),) = await made.cases.try_on_last(case.id, draft("one", "book"))
    assert (run.classification, verdict.classification) == (Classification.FN, Classification.TP)
    ((same, _),) = await made.cases.try_on_last(case.id, case.draft)
    assert same.classification is Classification.FN


async def test_every_write_says_what_was_touched_and_by_whom(made: Bench) -> None:
    (case,) = await made.cases.add([draft("one")], by="editor")
    await made.cases.edit(case.id, draft("two"), by="editor")
    await made.cases.remove([case.id], by="list")
    assert made.of(CasesChanged) == [
        CasesChanged((case.id,), "editor"),
        CasesChanged((case.id,), "editor"),
        CasesChanged((case.id,), "list"),
    ]


SIZED = Tool(
    server="desk",
    name="sized",
    description="",
    input_schema={
        "type": "object",
        "properties": {"size": {"enum": ["S", "M"]}, "limit": {"type": "integer", "maximum": 50}, "text": {}},
        "required": ["text"],
    },
    raw={},
)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"size": "XL"}, ["size"]),
        ({"size": "M", "limit": 90}, ["limit"]),
        ({"size": {"$any_of": ["XL", "M"]}, "limit": {"$approx": 90}}, []),
        ({"limit": 50}, []),
    ],
)
async def test_expected_values_that_the_schema_refuses_are_told_and_matchers_and_gaps_are_not(
    store: Store, parameters: dict[str, object], said: list[str]
) -> None:
    opened = bench(store, {"desk": [SIZED]}, lambda _: picks("sized"))
    await opened.register("desk")
    await opened.servers.check((await opened.servers.find("desk")).id)
    call = ExpectedCall(tool="sized", server="desk", parameters=parameters)
    case = replace(draft("find it", "sized"), expectation=Expectation(((call,),)))
    warnings = await opened.cases.warnings(case)
    opening = "An expected value does not fit the schema of sized: "
    assert [warning.removeprefix(opening).split()[0] for warning in warnings] == said
    assert all(warning.startswith(opening) for warning in warnings)
    await opened.servers.close()
