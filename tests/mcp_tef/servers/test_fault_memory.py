"""The message that costs most memory for its size costs less than 300 MB; the benchmark measures all the others."""

from mcp_tef.model.servers import Transport
from tests.benchmarks.fault_memory import LIMIT_MB, growth


def test_the_worst_message_that_is_read_stays_within_the_memory_limit() -> None:
    grown, words = growth(Transport.STREAMABLE_HTTP, "worst-values")
    assert words == "0 tools, 1 set aside"
    assert grown < LIMIT_MB
