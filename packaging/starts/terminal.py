"""What the executable `mcp-tef` does first."""

import sys

from mcp_tef.__main__ import main

sys.exit(main())
