"""Names, values, defaults and hints of a tool, changed in the workshop."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.targets import ChangeTool
from app.screens.workshop import commands as ids
from mcp_tef import Json, ToolLabel
from tests.app.screens.workshop.test_drafts import WorkshopBench, workshop

BIKES = ChangeTool(ToolLabel(tool="search_bikes", server="Bike shop"))


async def change_all(bench: WorkshopBench) -> None:
    """Come to a tool, and show all its fields."""
    await bench.change(BIKES)
    bench.page.view.editor.every.click()
    await bench.until(lambda: bench.page.view.editor.row("required:limit"))


def schema(bench: WorkshopBench) -> dict[str, Json]:
    """The schema of the tool in the draft."""
    _, raw = bench.page.presenter.tool()
    assert raw is not None
    return dict(raw["inputSchema"])


async def step(bench: WorkshopBench, key: str, text: str) -> None:
    """Change one field, as its kind is changed, and wait until it is a step."""
    row, before = bench.row(key), bench.draft.step
    editor = row.editor()
    if editor is row.choice:
        row.choice.choose(text)
    elif editor is row.line:
        row.line.selectAll()
        QTest.keyClicks(row.line, text)
        QTest.keyClick(row.line, Qt.Key.Key_Return)
    else:
        row.draft.setPlainText(text)
    await bench.until(lambda: bench.draft.step > before)


async def test_values_defaults_and_required_are_fields(qapp: QApplication) -> None:
    async with workshop() as bench:
        await change_all(bench)
        await step(bench, "values:size", "S\nM\nL\nXL")
        await step(bench, "json default:limit", "20")
        await step(bench, "required:size", "yes")
        properties = schema(bench)["properties"]
        assert properties["size"]["enum"] == ["S", "M", "L", "XL"]
        assert properties["limit"]["default"] == 20
        assert schema(bench)["required"] == ["text", "size"]
        bench.page.view.editor.every.click()
        await bench.until(lambda: not bench.page.view.editor.row("hint:readOnlyHint"))
        assert bench.page.view.editor.row("values:size"), "what is changed stays in sight"
        assert bench.page.view.editor.others.isHidden()
        await step(bench, "json default:limit", "")
        assert "default" not in schema(bench)["properties"]["limit"]


async def test_a_parameter_is_renamed_and_keeps_its_original_beside_it(qapp: QApplication) -> None:
    async with workshop() as bench:
        await change_all(bench)
        await step(bench, "name:size", "frame")
        assert set(schema(bench)["properties"]) == {"text", "frame", "limit"}
        await bench.until(lambda: bench.page.view.editor.row("name:frame"))
        assert bench.row("name:frame").original.text() == "size"
        bench.row("name:frame").reset.click()
        await bench.until(lambda: "size" in schema(bench)["properties"])


async def test_hints_are_stated_and_taken_back(qapp: QApplication) -> None:
    async with workshop() as bench:
        await change_all(bench)
        await step(bench, "hint:readOnlyHint", "yes")
        _, raw = bench.page.presenter.tool()
        assert raw is not None
        assert raw["annotations"] == {"readOnlyHint": True}
        assert bench.row("hint:readOnlyHint").original.text() == "Not stated"
        await step(bench, "hint:readOnlyHint", "")
        assert not bench.draft.revisions


async def test_a_value_that_is_no_json_stays_typed_with_its_reason(qapp: QApplication) -> None:
    async with workshop() as bench:
        await change_all(bench)
        bench.row("json default:limit").draft.setPlainText("ten")
        await bench.until(lambda: bench.page.presenter.problem)
        assert bench.row("json default:limit").draft.text() == "ten"
        assert bench.page.view.editor.notice.isVisible()
        bench.do(ids.UNDO)
        await bench.until(lambda: bench.row("json default:limit").draft.text() == "10")
