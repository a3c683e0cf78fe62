"""What macOS is told of the app, and its disk image."""

import subprocess
import sys
from typing import Any

from project import BUILD, DIST, HERE, MACHINE, NAME, VERSION

IDENTIFIER = "io.github.mcp-tef.desktop"
PROPERTIES: dict[str, Any] = {
    "CFBundleIdentifier": IDENTIFIER,
    "CFBundleName": NAME,
    "CFBundleDisplayName": NAME,
    "CFBundleShortVersionString": VERSION,
    "LSMinimumSystemVersion": "13.0",
    "LSApplicationCategoryType": "public.app-category.developer-tools",
    "NSHighResolutionCapable": True,
    "NSRequiresAquaSystemAppearance": False,
    "CFBundleDocumentTypes": [
        {
            "CFBundleTypeName": "mcp-tef workspace",
            "CFBundleTypeRole": "Editor",
            "LSHandlerRank": "Owner",
            "LSItemContentTypes": [f"{IDENTIFIER}.workspace"],
        }
    ],
    "UTExportedTypeDeclarations": [
        {
            "UTTypeIdentifier": f"{IDENTIFIER}.workspace",
            "UTTypeDescription": "mcp-tef workspace",
            "UTTypeConformsTo": ["public.database", "public.data"],
            "UTTypeTagSpecification": {
                "public.filename-extension": ["mcp-tef"],
                "public.mime-type": "application/x-mcp-tef-workspace",
            },
        }
    ],
}


def make_disk_image() -> None:
    """Make the .dmg in which the app is dragged to Applications."""
    image = DIST / f"{NAME}-{VERSION}-macos-{MACHINE}.dmg"
    given = (f"app={DIST / NAME}.app", f"icon={BUILD / NAME}.icns")
    settings = [part for pair in given for part in ("-D", pair)]
    command = [sys.executable, "-I", "-m", "dmgbuild", "-s", str(HERE / "dmg_settings.py"), *settings, NAME, str(image)]
    subprocess.run(command, check=True)
