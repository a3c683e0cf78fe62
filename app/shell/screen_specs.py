"""The screens of the window, each built when it is first needed, large ones in parts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.core_link.session import Page, Session
from app.core_link.settings import Settings
from app.widgets import IncrementalBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSpec:
    """A screen; `make` builds its page, at the first visit or ahead, after `module` was imported.

    A `rare` one stands below "More" in the navigation, and is not built ahead, until it was visited once.
    """

    key: str
    title: str
    icon: str
    make: Callable[[Session], IncrementalBuild[Page]]
    module: str = ""
    rare: bool = False


def screens() -> list[ScreenSpec]:
    """Return the screens in the order of the navigation."""
    return [
        _place("servers", "Servers", "hard-drives", _servers),
        _place("cases", "Test cases", "check-square", _cases),
        _place("runs", "Runs", "play-circle", _runs),
        _place("metrics", "Metrics", "chart-bar", _metrics),
        _place("similarity", "Similarity", "grid-four", _similarity),
        _place("workshop", "Workshop", "wrench", _workshop),
        _place("quality", "Quality", "medal", _quality),
        replace(_place("library", "Library", "books", _library), rare=True),
        replace(_place("models", "Models", "cpu", _models), rare=True),
    ]


def last_screen(settings: Settings) -> str:
    """Return the key of the screen that was shown last, else of the first one."""
    known = [place.key for place in screens()]
    return settings.get("window.place", known[0], known.__contains__)


def _place(key: str, title: str, icon: str, make: Callable[[Session], IncrementalBuild[Page]]) -> ScreenSpec:
    return ScreenSpec(key=key, title=title, icon=icon, make=make, module=f"app.screens.{key}.page")


def _servers(session: Session) -> IncrementalBuild[Page]:
    from app.screens.servers.page import ServersPage
    from app.screens.servers.server_pane import ServerPane

    pane = yield from ServerPane.in_parts(session)
    return ServersPage(session, pane)


def _cases(session: Session) -> IncrementalBuild[Page]:
    from app.screens.cases.page import CasesPage

    yield
    return CasesPage(session)


def _runs(session: Session) -> IncrementalBuild[Page]:
    from app.screens.runs.page import RunsPage
    from app.screens.runs.view import RunsView

    view = yield from RunsView.in_parts()
    return RunsPage(session, view)


def _metrics(session: Session) -> IncrementalBuild[Page]:
    from app.screens.metrics.page import MetricsPage

    yield
    return MetricsPage(session)


def _similarity(session: Session) -> IncrementalBuild[Page]:
    from app.screens.similarity.page import SimilarityPage

    yield
    return SimilarityPage(session)


def _workshop(session: Session) -> IncrementalBuild[Page]:
    from app.screens.workshop.page import WorkshopPage
    from app.screens.workshop.view import WorkshopView

    view = yield from WorkshopView.in_parts()
    return WorkshopPage(session, view)


def _quality(session: Session) -> IncrementalBuild[Page]:
    from app.screens.quality.page import QualityPage

    yield
    return QualityPage(session)


def _library(session: Session) -> IncrementalBuild[Page]:
    from app.screens.library.page import LibraryPage
    from app.screens.library.view import LibraryView

    view = yield from LibraryView.in_parts()
    return LibraryPage(session, view)


def _models(session: Session) -> IncrementalBuild[Page]:
    from app.screens.models.page import ModelsPage

    yield
    return ModelsPage(session)
