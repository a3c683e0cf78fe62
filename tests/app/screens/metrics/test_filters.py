"""Filters of the metrics screen, as they are set, kept and taken away."""

from datetime import UTC, datetime, timedelta

from app.screens.metrics.filters import (
    INVENTED,
    NO_TOOL,
    Dimension,
    MetricsFilters,
    button_words,
    chips,
    kept_filters,
    offers,
    since,
)
from mcp_tef import BatchId, FilterChoices, LabelKind, ToolLabel
from tests.support.made_runs import GPT, NOW
from tests.support.past_runs import past_batch

TIME = f"{past_batch(1).created_at.astimezone():%H:%M}"
BATCHES = {BatchId("batch-1"): past_batch(1)}
CHOICES = FilterChoices(models=("offline/retrieval", GPT), tools=("read_file",), servers=("docs",), suites=("A", "B"))


def test_several_suites_may_hold_but_only_one_expected_tool() -> None:
    filters = MetricsFilters().toggled(Dimension.SUITE, "A").toggled(Dimension.SUITE, "B")
    filters = filters.toggled(Dimension.EXPECTED, "read_file").toggled(Dimension.EXPECTED, "list_dir")
    assert filters.of(Dimension.SUITE) == ("A", "B")
    assert filters.of(Dimension.EXPECTED) == ("list_dir",)


def test_what_is_set_twice_is_taken_away() -> None:
    filters = MetricsFilters().toggled(Dimension.TAG, "slow").toggled(Dimension.TAG, "slow")
    assert filters == MetricsFilters()


def test_a_tool_and_a_server_of_one_kind_are_one_label() -> None:
    filters = MetricsFilters().toggled(Dimension.SELECTED, "read_file").toggled(Dimension.SELECTED_SERVER, "docs")
    assert filters.where(NOW).selected == ToolLabel("read_file", "docs")
    assert filters.where(NOW).expected is None


def test_no_tool_and_invented_tools_can_be_asked_for() -> None:
    assert MetricsFilters().toggled(Dimension.EXPECTED, NO_TOOL).where(NOW).expected == ToolLabel(
        kind=LabelKind.NO_TOOL
    )
    assert MetricsFilters().toggled(Dimension.SELECTED, INVENTED).where(NOW).selected == ToolLabel(
        kind=LabelKind.INVENTED
    )


def test_a_period_begins_at_a_local_midnight() -> None:
    start = since("7", NOW)
    assert start is not None
    assert (start.hour, start.minute) == (0, 0)
    assert timedelta(days=6) <= NOW - start < timedelta(days=7)
    assert since("", NOW) is None


def test_filters_come_back_from_the_settings_and_nonsense_does_not() -> None:
    filters = MetricsFilters().toggled(Dimension.SUITE, "A").toggled(Dimension.PERIOD, "30")
    assert kept_filters(filters.to_keep()) == filters
    assert kept_filters({"suite": "A", "colour": ["red"], "tag": [3], "expected": ["a", "b"]}) == MetricsFilters(
        {Dimension.EXPECTED: ("a",)}
    )


def test_every_filter_is_a_chip_in_words() -> None:
    filters = MetricsFilters(
        {
            Dimension.MODEL: ("offline/retrieval",),
            Dimension.SUITE: ("A",),
            Dimension.BATCH: ("batch-1", "gone"),
            Dimension.PERIOD: ("7",),
            Dimension.EXPECTED: (NO_TOOL,),
        }
    )
    assert [chip.text for chip in chips(filters, BATCHES, NOW)] == [
        "Suite: A",
        "Model: offline baseline",
        f"Batch: Everyday, Yesterday {TIME}",
        "Batch: a batch that is gone",
        "Date: Last 7 days",
        "Expected tool: no tool",
    ]


def test_each_dimension_offers_what_occurs() -> None:
    def texts(dimension: Dimension) -> list[str]:
        return [offer.text for offer in offers(dimension, CHOICES, BATCHES, NOW)]

    assert texts(Dimension.SUITE) == ["A", "B"]
    assert texts(Dimension.MODEL) == ["offline baseline", "gpt-4.1-mini"]
    assert texts(Dimension.EXPECTED) == ["no tool", "read_file"]
    assert texts(Dimension.SELECTED) == ["no tool", "invented tool", "read_file"]
    assert texts(Dimension.OFFERED) == ["read_file"]
    assert texts(Dimension.SELECTED_SERVER) == ["docs"]
    assert texts(Dimension.BATCH) == [f"Everyday, Yesterday {TIME}"]
    assert texts(Dimension.PERIOD)[0] == "Today"


def test_a_quick_menu_says_what_is_chosen() -> None:
    def words(*values: str, dimension: Dimension = Dimension.SUITE) -> str:
        return button_words(dimension, MetricsFilters({dimension: values} if values else {}), "All suites", {})

    assert words() == "All suites"
    assert words("Core tools") == "Suite: Core tools"
    assert words("A", "B") == "Suite: 2"
    assert words("A suite with a very long name") == "Suite: A suite with a ve…"
    assert words("30", dimension=Dimension.PERIOD) == "Last 30 days"


def test_without_filters_every_run_counts() -> None:
    where = MetricsFilters().where(datetime.now(UTC))
    assert where == type(where)()
