"""The prepared draft of the sample is better for the baseline, and breaks nothing."""

from pathlib import Path

from mcp_tef.engine import Engine


async def test_the_prepared_draft_fixes_cases_and_breaks_none(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    async with await Engine.open(tmp_path / "work.db", environment=environment) as engine:
        await engine.open_sample()
        draft = await engine.open_sample_draft()
        prediction = await engine.predictions.predict(draft)
        assert prediction is not None
        assert (prediction.fixed > 0, prediction.broken) == (True, 0)
        assert not prediction.tools[0].findings_new
        assert await engine.open_sample_draft() == draft
        assert len(await engine.drafts.list()) == 1
