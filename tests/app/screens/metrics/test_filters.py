"""Filters of the metrics screen, as they are set, kept and taken away."""

from datetime import timedelta

from app.screens.kit import NO_FILTERS, FilterValues
from app.screens.metrics.filters import (
    FIELDS,
    INVENTED,
    NO_TOOL,
    Dimension,
    button_text,
    filter_chips,
    filter_choices,
    period_start,
    run_filter,
    toggled,
)
from mcp_tef import BatchId, FilterChoices, LabelKind, RunFilter, ToolLabel
from tests.support.run_factories import GPT, NOW, past_batch

TIME = f"{past_batch(1).created_at.astimezone():%H:%M}"
BATCHES = {BatchId("batch-1"): past_batch(1)}
CHOICES = FilterChoices(models=("offline/retrieval", GPT), tools=("read_file",), servers=("docs",), suites=("A", "B"))


def chosen(*values: tuple[Dimension, str]) -> FilterValues:
    """Filters with these values."""
    filters = NO_FILTERS
    for dimension, value in values:
        filters = toggled(filters, dimension, value)
    return filters


def test_several_suites_may_hold_but_only_one_expected_tool() -> None:
    filters = chosen((Dimension.SUITE, "A"), (Dimension.SUITE, "B"))
    filters = toggled(toggled(filters, Dimension.EXPECTED, "read_file"), Dimension.EXPECTED, "list_dir")
    assert filters.of(Dimension.SUITE) == ("A", "B")
    assert filters.of(Dimension.EXPECTED) == ("list_dir",)


def test_a_tool_and_a_server_of_one_kind_are_one_label() -> None:
    where = run_filter(chosen((Dimension.SELECTED, "read_file"), (Dimension.SELECTED_SERVER, "docs")), NOW)
    assert where.selected == ToolLabel("read_file", "docs")
    assert where.expected is None


def test_no_tool_and_invented_tools_can_be_asked_for() -> None:
    where = run_filter(chosen((Dimension.EXPECTED, NO_TOOL), (Dimension.SELECTED, INVENTED)), NOW)
    assert where.expected == ToolLabel(kind=LabelKind.NO_TOOL)
    assert where.selected == ToolLabel(kind=LabelKind.INVENTED)


def test_a_period_begins_at_a_local_midnight() -> None:
    start = period_start("7", NOW)
    assert start is not None
    assert (start.hour, start.minute) == (0, 0)
    assert timedelta(days=6) <= NOW - start < timedelta(days=7)
    assert period_start("", NOW) is None


def test_only_known_fields_and_periods_are_restored() -> None:
    known = chosen((Dimension.SUITE, "A"), (Dimension.PERIOD, "30"))
    assert FIELDS.known(known) == known
    assert FIELDS.known(FilterValues({"colour": ("red",), "period": ("31",), "expected": ("a", "b")})) == chosen(
        (Dimension.EXPECTED, "a")
    )


def test_every_filter_is_a_chip_in_words() -> None:
    filters = chosen(
        (Dimension.MODEL, "offline/retrieval"),
        (Dimension.SUITE, "A"),
        (Dimension.BATCH, "batch-1"),
        (Dimension.BATCH, "gone"),
        (Dimension.PERIOD, "7"),
        (Dimension.EXPECTED, NO_TOOL),
    )
    assert [chip.text for chip in filter_chips(filters, BATCHES, NOW)] == [
        "Suite: A",
        "Model: offline baseline",
        f"Batch: Everyday, gpt-4.1-mini, Yesterday {TIME}",
        "Batch: a deleted batch",
        "Date: Last 7 days",
        "Expected tool: no tool",
    ]


def test_each_dimension_offers_what_occurs() -> None:
    def texts(dimension: Dimension) -> list[str]:
        return [choice.text for choice in filter_choices(dimension, CHOICES, BATCHES, NOW)]

    assert texts(Dimension.SUITE) == ["A", "B"]
    assert texts(Dimension.MODEL) == ["offline baseline", "gpt-4.1-mini"]
    assert texts(Dimension.EXPECTED) == ["no tool", "read_file"]
    assert texts(Dimension.SELECTED) == ["no tool", "invented tool", "read_file"]
    assert texts(Dimension.OFFERED) == ["read_file"]
    assert texts(Dimension.SELECTED_SERVER) == ["docs"]
    assert texts(Dimension.BATCH) == [f"Everyday, gpt-4.1-mini, Yesterday {TIME}"]
    assert texts(Dimension.PERIOD)[0] == "Today"


def test_a_quick_menu_says_what_is_chosen() -> None:
    def words(*values: str, dimension: Dimension = Dimension.SUITE) -> str:
        return button_text(dimension, chosen(*((dimension, value) for value in values)), "All suites", {})

    assert words() == "All suites"
    assert words("Core tools") == "Suite: Core tools"
    assert words("A", "B") == "Suite: 2"
    assert words("A suite with a very long name") == "Suite: A suite with a ve…"
    assert words("30", dimension=Dimension.PERIOD) == "Last 30 days"


def test_without_filters_every_run_counts() -> None:
    assert run_filter(NO_FILTERS, NOW) == RunFilter()
