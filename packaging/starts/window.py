"""What the executable `mcp-tef-desktop` does first."""

import sys

from app.main import main

sys.exit(main())
