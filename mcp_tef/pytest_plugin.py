"""The pytest plugin: cases of a file as tests (`--mcp-tef cases.yaml`) and the fixture `tef`, loaded when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcp_tef import QualityReport
    from mcp_tef.quick import QuickSession, SuiteResult


class ToolsUnderTest:
    """The fixture `tef`: the quick functions, with the server and the model of the command line as defaults."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def check(self, cases: Any, server: Any = None, model: str | None = None, **options: Any) -> SuiteResult:
        """Run cases and judge the answers, as `mcp_tef.quick.check` does."""
        from mcp_tef import quick

        options.setdefault("base_url", self._config.getoption("mcp_tef_base_url"))
        return quick.check(server or self.server, cases, model or self.model, **options)

    def lint(self, server: Any = None) -> QualityReport:
        """Check the texts of tools, as `mcp_tef.quick.lint` does."""
        from mcp_tef import quick

        return quick.lint(server or self.server)

    @property
    def server(self) -> str:
        """The server of the command line."""
        return _server(self._config)

    @property
    def model(self) -> str:
        """The model of the command line; by default the baseline, which costs nothing."""
        return str(self._config.getoption("mcp_tef_model"))


class FailedCase(AssertionError):  # noqa: N818 (pytest shows the name above the text)
    """A case whose runs are not all correct calls; its text is what the verdict says."""


class CaseItem(pytest.Item):
    """One case, as a test."""

    def runtest(self) -> None:
        """Run the case, and fail if a run is not a correct call."""
        config, file = self.config, self.parent
        assert isinstance(file, CaseFile)
        from mcp_tef.quick import model_settings

        settings = model_settings(config.getoption("mcp_tef_model"), config.getoption("mcp_tef_base_url"))
        result = file.session_of_file().check(
            settings,
            case=self.name,
            repeats=config.getoption("mcp_tef_repeats"),
            max_cost_usd=config.getoption("mcp_tef_max_cost"),
        )
        self.add_report_section("call", "mcp-tef", str(result).partition("\n")[0])
        if not result.passed:
            raise FailedCase(str(result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the verdict in place of a traceback; the message and hint of an error of the product."""
        from mcp_tef import TefError

        if isinstance(excinfo.value, FailedCase):
            return str(excinfo.value)
        if isinstance(excinfo.value, TefError):
            return f"{excinfo.value.message} {excinfo.value.hint}".rstrip()
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return what headings of reports say."""
        return self.path, None, f"case: {self.name}"


class CaseFile(pytest.File):
    """A case file; its cases share one temporary workspace in each process."""

    _open: QuickSession | None = None

    def session_of_file(self) -> QuickSession:
        """Return the session, opened when it is first used."""
        if self._open is None:
            from mcp_tef.quick import QuickSession

            self._open = QuickSession(_server(self.config), self.path).__enter__()
            self.session.config.add_cleanup(self._close)
        return self._open

    def _close(self) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None

    def collect(self) -> Iterator[CaseItem]:
        """Yield a test for each case."""
        from mcp_tef import TefError

        try:
            names = self.session_of_file().case_names()
        except TefError as error:
            raise self.CollectError(f"{error.message} {error.hint}".rstrip()) from error
        for name in names:
            yield CaseItem.from_parent(self, name=name)


def _server(config: pytest.Config) -> str:
    server = config.getoption("mcp_tef_server")
    if not server:
        raise pytest.UsageError("Name the tools with --mcp-tef-server: a command, an address or a tools file.")
    return str(server)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("mcp-tef", "test if a language model selects the right tools")
    group.addoption("--mcp-tef", action="append", default=[], dest="mcp_tef_files", metavar="FILE", help="a case file")
    group.addoption("--mcp-tef-server", metavar="S", help="the tools: a command, an address or a tools file")
    group.addoption("--mcp-tef-model", default="offline/words", metavar="PROVIDER/NAME", help="default: the baseline")
    group.addoption("--mcp-tef-base-url", metavar="U", help="the address of a local or compatible server")
    group.addoption("--mcp-tef-repeats", type=int, default=1, metavar="N", help="times that each case is run")
    group.addoption("--mcp-tef-max-cost", type=float, metavar="USD", help="most dollars for one case")


def pytest_configure(config: pytest.Config) -> None:
    """Have the case files collected, beside the other tests."""
    for file in config.getoption("mcp_tef_files"):
        if file not in config.args:
            config.args.append(file)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Take the case files of the command line."""
    files = parent.config.getoption("mcp_tef_files")
    if file_path in [Path(parent.config.invocation_params.dir, file).resolve() for file in files]:
        return CaseFile.from_parent(parent, path=file_path)
    return None


@pytest.fixture(scope="session")
def tef(pytestconfig: pytest.Config) -> ToolsUnderTest:
    """Return the quick functions with the defaults of the command line."""
    return ToolsUnderTest(pytestconfig)
