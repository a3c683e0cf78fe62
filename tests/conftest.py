"""The rules of every test: a home of its own, no network, no leftovers, no unexpected complaints."""

import asyncio
import gc
import inspect
import itertools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path

import hypothesis
import pydantic.types  # noqa: F401 - before PySide6, as in app/__init__.py
import pytest

from tests.support import isolation

isolation.prepare_process()
NETWORK = isolation.Network()

hypothesis.settings.register_profile("tef", deadline=None, derandomize=True, database=None, max_examples=50)
hypothesis.settings.load_profile("tef")


ROUNDS = 50
"""Collections of the middle generation, each after some 7,000 new objects, after which a full one is due."""

# Kinds of tests by folder or file; the first that fits counts, and all others are "process".
KINDS = {
    "tests/mcp_tef/reports/test_markdown.py": "window",  # it reads with Qt what was written
    **{f"tests/mcp_tef/{part}": "unit" for part in ("formats", "model", "prompts", "reports", "scoring", "statistics")},
    "tests/mcp_tef/cli/test_manners.py": "unit",
    "tests/app": "window",
    "tests/journeys": "journey",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files without unit tests unread where only those run: the libraries that they load take ten seconds."""
    if not config.option.markexpr.startswith("unit"):
        return None
    place = f"{collection_path.relative_to(config.rootpath).as_posix()}/"
    units = [f"{unit}/" for unit, kind in KINDS.items() if kind == "unit"]
    leads_to_some = any(place.startswith(unit) or unit.startswith(place) for unit in units)
    return None if leads_to_some and KINDS.get(place[:-1], "unit") == "unit" else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its kind, and watch the tasks of those that have a loop."""
    for item in items:
        item.add_marker(kind_of(item))
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(inspect.unwrap(item.obj)):
            item.fixturenames.insert(0, "no_task_is_left")
            if isolation.uses_qt(item):  # their loop needs the application, and ends before garbage is collected
                item.fixturenames[:0] = [name for name in ("qapp", "no_rubbish_is_left") if name in item.fixturenames]


def kind_of(item: pytest.Item) -> str:
    """Return "journey", "process", "window" or "unit"; pyproject.toml describes them."""
    return next(
        (kind for place, kind in KINDS.items() if item.nodeid.startswith((f"{place}/", f"{place}::"))), "process"
    )


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run a coroutine test and its fixtures on a loop that serves Qt, if one of them asks for the application."""
    return {"qt": qt_loop} if isolation.uses_qt(item) else {"asyncio": asyncio.new_event_loop}


def qt_loop() -> asyncio.AbstractEventLoop:
    """Return a loop over the application, which the fixture `qapp` has made."""
    from tests.support.windows import loop_over_application

    return loop_over_application()


@pytest.fixture(scope="session")
def qapp_cls() -> type:
    """The class that `qapp` makes the application of."""
    from tests.support.windows import TestApplication

    return TestApplication


@pytest.fixture(autouse=True)
def no_rubbish_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect Qt's objects only here, on the thread that they belong to; other tests collect by themselves.

    What outlives a test is set aside: to look through all that libraries hold takes longer than most tests, and an
    object of Qt that outlived its test would be destroyed on whichever thread a later collection ran.
    """
    has_qt = isolation.uses_qt(request.node)
    if has_qt or not gc.isenabled() or gc.get_count()[2] >= ROUNDS:
        gc.collect()  # also what the report of the test before has held
        gc.freeze()
    (gc.disable if has_qt else gc.enable)()
    yield
    if has_qt:
        gc.collect()


@pytest.fixture
async def no_task_is_left(no_thread_is_left: None) -> AsyncIterator[None]:
    """Fail a test whose tasks outlive its fixtures; the loop with its own threads ends before threads are counted."""
    before = asyncio.all_tasks()
    yield
    await asyncio.sleep(0)
    left = isolation.tasks_left(before)
    assert not left, f"tasks were left running: {left}"


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fail a test whose threads outlive it."""
    before = isolation.threads()
    yield
    left = isolation.threads_left(before)
    assert not left, f"threads were left running: {left}"


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> Iterator[None]:
    """Fail a test that tried to reach another machine, even where the code swallowed the refusal."""
    NETWORK.refused.clear()
    yield
    assert not NETWORK.refused, f"the test tried to reach {NETWORK.refused}"


@pytest.fixture(autouse=True)
def no_unexpected_complaint(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test during which our loggers complain, unless it asks for `caplog` and so expects it."""
    complaints = isolation.Complaints()
    complaints.attach()
    yield
    complaints.detach()
    if "caplog" not in request.fixturenames:
        assert not complaints.lines, f"unexpected complaints: {complaints.lines}"


@pytest.fixture(autouse=True)
def no_secret_is_held() -> Iterator[None]:
    """Keep the secrets of one test from masking the texts of the next."""
    before = isolation.held_secrets()
    yield
    isolation.let_go_of_secrets(before)


@pytest.fixture(autouse=True)
def the_interpreter_is_as_it_was() -> Iterator[None]:
    """Keep how a test has threads take turns and garbage collected from the next."""
    with isolation.same_interpreter():
        yield


@pytest.fixture(autouse=True)
def the_application_is_as_new(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep windows, looks and the clipboard of earlier tests from those that use the application."""
    if not isolation.uses_qt(request.node):
        yield
        return
    from tests.support.windows import delete_windows, renew

    application = request.getfixturevalue("qapp")
    renew(application)
    yield
    delete_windows(application)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths of home folders; pytest's own numbering would look through all earlier folders for each."""
    parent = tmp_path_factory.mktemp("homes")
    return (parent / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder for each test; HOME and the XDG folders point into it."""
    folder = next(homes)
    folder.mkdir()
    isolation.move_in(monkeypatch, folder)
    return folder
