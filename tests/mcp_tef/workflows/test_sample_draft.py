"""The prepared draft of the sample is better for the baseline, and a search there finds a text that is better, too."""

from pathlib import Path

from mcp_tef.engine import Engine
from mcp_tef.model.improvements import ImprovementEnd, ImprovementRequest
from mcp_tef.model.runs import ModelSettings
from mcp_tef.workflows.sample import SAMPLE_SERVER


async def test_the_prepared_draft_breaks_none_and_a_search_is_better_on_sealed_cases(tmp_path: Path) -> None:
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
        request = ImprovementRequest(server=SAMPLE_SERVER, settings=ModelSettings(), budget=1_000)
        result = await engine.improvements.run(await engine.improvements.plan(request))
        assert result.sealed is not None
        assert (result.end, result.sealed.losses) == (ImprovementEnd.BETTER, 0)
        assert result.draft is not None
        assert "update_booking" in result.draft.changed_tools()
