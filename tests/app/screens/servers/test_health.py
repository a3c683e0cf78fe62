"""Health of servers: rows of an hour, the pane with its checks, and watching with notices."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFileDialog

from app.core_link.targets import ShowServer, ShowServerHealth
from app.screens.servers.health_presenter import HealthPresenter, health_sentence, latency_line, scale_of, time_text
from app.screens.servers.page import ServersPage
from mcp_tef import ContactKind, HealthState, ServerContact, ServerHealth, ServerSpec, Transport
from tests.support.fake_engine import FakeEngine
from tests.support.fake_ports import silent
from tests.support.windows import opened_dialog, page_bench

NOW = datetime(2026, 11, 26, 8, tzinfo=UTC)


def contact(minutes: float, taken: int, error: str | None = None, now: datetime = NOW) -> ServerContact:
    return ServerContact(
        server="Bike shop",
        kind=ContactKind.CALL,
        at=now - timedelta(minutes=minutes),
        duration_ms=taken,
        error=error,
        failures=int(error is not None),
    )


def test_the_line_has_a_point_for_each_two_minutes_with_a_success() -> None:
    found = [contact(59, 100), contact(30.5, 300), contact(30.2, 500), contact(10, 900, "gone"), contact(1, 200)]
    points = latency_line(found, NOW)
    assert [(one.p50_ms, one.p95_ms) for one in points] == [(100, 100), (300, 500), (200, 200)]
    assert [one.place for one in points] == sorted(one.place for one in points)
    assert latency_line([], NOW) == ()


@pytest.mark.parametrize(("times", "end"), [([], 100), ([90, 130], 200), ([3_200], 3_200), ([90_000], 90_000)])
def test_a_scale_ends_at_a_round_time(times: list[int], end: int) -> None:
    assert scale_of(times) == end
    assert time_text(204) == "204 ms"


def test_a_sentence_says_how_many_failed_and_why_that_matters() -> None:
    health = ServerHealth(server="github", state=HealthState.DEGRADED, reason="11 % of the last hour’s contacts failed")
    headline, reason = health_sentence(health, [contact(1, 2, "gone"), contact(2, 2)])
    assert "1 of 2 contacts failed" in headline
    assert reason.startswith("11 %")
    assert "no contact" in health_sentence(health, [])[0]


def test_a_notice_tells_changes_only() -> None:
    presenter = HealthPresenter(None)  # type: ignore[arg-type]  # nothing is asked of the core
    healthy = ServerHealth(server="github", state=HealthState.HEALTHY)
    gone = replace(healthy, state=HealthState.UNAVAILABLE, reason="the last 3 contacts failed")
    said = [bool(presenter.notice(one)) for one in (healthy, healthy, gone, gone, healthy)]
    assert said == [False, False, True, False, True]


async def filled() -> FakeEngine:
    """A server that answers, and one that does not."""
    fake = FakeEngine({"Mail": silent("Mail")})
    await fake.open_sample()
    await fake.servers.add(ServerSpec(name="Mail", transport=Transport.STREAMABLE_HTTP, url="http://127.0.0.1/mail"))
    now = datetime.now(UTC)
    await fake.store.contacts.record_contacts([contact(minutes, 100 + minutes, now=now) for minutes in (40, 20, 3)])
    return fake


async def test_the_tab_shows_an_hour_checks_servers_and_is_exported(qapp: QApplication, tmp_path: Path) -> None:
    async with page_bench(ServersPage, await filled()) as bench:
        health = bench.page.health
        bench.page.open_target(ShowServerHealth("Bike shop"))
        await bench.until(lambda: health.pane.title.text().startswith("Bike shop: all"))
        assert bench.page.current_target() == ShowServerHealth("Bike shop")
        _, check = bench.page.header.buttons()
        for _ in range(3):
            check.click()
            await bench.session.begun()
        names = [health.pane.list.rows.row(place).name for place in range(2)]
        assert names == ["Mail", "Bike shop"]
        assert health.pane.list.rows.row(0).state is HealthState.UNAVAILABLE
        health.pane.list.select(health.pane.presenter.id_of("Mail"))
        assert health.pane.error_table.rows.rowCount() >= 3
        shown, contacts = health.pane.export_actions()
        shown.do()
        dialog = await opened_dialog(bench.page, QFileDialog)
        for ending in ("png", "csv"):
            dialog.fileSelected.emit(str(tmp_path / f"health.{ending}"))
            saved = f"Saved health.{ending}"
            await bench.until(partial(bench.said.__contains__, saved))
        dialog.close()
        assert QImage(str(tmp_path / "health.png")).height() > 2 * health.pane.list.rows.rowCount() * 72
        assert "Mail,Unavailable" in (tmp_path / "health.csv").read_text("utf-8-sig")
        assert contacts.text.startswith("Contacts")
        health.pane.links.buttons[0].click()
        assert isinstance(bench.gone[-1], ShowServer)
        assert not health.shown()


async def test_watching_is_remembered_and_tells_what_turned_bad(qapp: QApplication) -> None:
    fake = await filled()
    async with page_bench(ServersPage, fake) as bench:
        pane = bench.page.health.pane
        bench.page.health.open()
        pane.watch("60")
        await bench.until(lambda: len(pane.presenter.states) == 2)
        assert bench.session.settings.get("servers.watch_seconds", "") == "60"
        pane.changes_reported.emit(ServerHealth(server="Mail", state=HealthState.UNAVAILABLE, reason="it is gone"))
        await bench.until(lambda: any("Mail is unavailable" in one for one in bench.said))
        pane.watch("0")
        await bench.session.begun()
