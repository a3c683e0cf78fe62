"""The rules of every test: a home of its own, no network, no leftovers, no unexpected complaints."""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import hypothesis
import pydantic.types  # noqa: F401 - before PySide6, as in app/__init__.py
import pytest

from tests.support import isolation

isolation.prepare_process()
NETWORK = isolation.Network()
COMPLAINTS = isolation.Complaints()

hypothesis.settings.register_profile("tef", deadline=None, derandomize=True, database=None, max_examples=25)
hypothesis.settings.load_profile("tef")

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
    if config.option.markexpr not in ("unit", "unit and not hypothesis"):
        return None
    place = f"{collection_path.relative_to(config.rootpath).as_posix()}/"
    units = [f"{unit}/" for unit, kind in KINDS.items() if kind == "unit"]
    leads_to_some = any(place.startswith(unit) or unit.startswith(place) for unit in units)
    return None if leads_to_some and KINDS.get(place[:-1], "unit") == "unit" else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its kind, and have those with a loop or with the application keep the rules for these.

    A loop over the application needs that first, and ends before garbage is collected.
    """
    for item in items:
        item.add_marker(kind_of(item))
        if isinstance(item, pytest.Function) and "rules" in item.fixturenames:
            after = item.fixturenames.index("rules") + 1
            has_loop, has_qt = inspect.iscoroutinefunction(inspect.unwrap(item.obj)), isolation.uses_qt(item)
            item.fixturenames[after:after] = ["no_task_is_left"] * has_loop + ["the_application_is_as_new"] * has_qt
            if has_qt:
                item.fixturenames.insert(after - 1, "qapp")


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


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Home folders for one test after the other."""
    return isolation.empty_folders(tmp_path_factory.mktemp("homes"))


@pytest.fixture(autouse=True)
def rules(request: pytest.FixtureRequest, homes: Iterator[Path]) -> Iterator[Path]:
    """Hold every test to the rules, in one fixture, since each costs as much as a small test; return its home folder.

    The contexts end from the last to the first: threads are counted once nothing else of the test is left.
    """
    home = next(homes)
    with (
        isolation.no_rubbish_is_left(isolation.uses_qt(request.node)),
        isolation.same_interpreter(),
        isolation.at_home(home),
        isolation.same_secrets(),
        NETWORK.nothing_refused(),
        COMPLAINTS.none(expected="caplog" in request.fixturenames),
        isolation.no_thread_is_left(),
    ):
        yield home


@pytest.fixture
def home(rules: Path) -> Path:
    """The empty home folder of this test; HOME and the XDG folders point into it, also where no test asks for it."""
    return rules


@pytest.fixture
def no_task_is_left(rules: Path, _function_scoped_runner: asyncio.Runner) -> Iterator[None]:
    """Fail a test whose tasks outlive its fixtures; the loop with its own threads ends before threads are counted."""
    loop = _function_scoped_runner.get_loop()
    yield
    left = loop.run_until_complete(isolation.tasks_left())
    assert not left, f"tasks were left running: {left}"


@pytest.fixture
def the_application_is_as_new(qapp: object) -> Iterator[None]:
    """Keep windows, looks and the clipboard of earlier tests from those that use the application."""
    from tests.support.windows import TestApplication, delete_windows, renew

    assert isinstance(qapp, TestApplication)
    renew(qapp)
    yield
    delete_windows(qapp)
