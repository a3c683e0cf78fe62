"""Generated requests to the REST service: of 5,000, none has an answer that its OpenAPI document does not describe.

Statuses of 500 and more are allowed only as 502 and 504. The number of requests may be given; it is seeded.

    python -m tests.benchmarks.rest_requests [5000]
"""

import os
import sys
import tempfile
import time
from pathlib import Path

REQUESTS = 5_000


def main() -> int:
    """Ask, print the statuses, and fail for any problem."""
    from tests.support.openapi_requests import answers_to

    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    began = time.perf_counter()
    statuses, problems = answers_to(wanted)
    seconds = time.perf_counter() - began
    print(f"{statuses.total():,} requests in {seconds:.0f} s: {dict(sorted(statuses.items()))}")
    for problem in problems[:20]:
        print(problem)
    print(f"{len(problems):,} answers that are not described")
    return int(bool(problems) or statuses.total() < wanted)


if __name__ == "__main__":
    sys.path.insert(0, os.fspath(Path(__file__).parents[2]))
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        os.environ["HF_HUB_OFFLINE"] = "1"
        sys.exit(main())
