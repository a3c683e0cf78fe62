"""The icon in the forms that Windows and macOS want; and, run by itself, its drawing in the sizes that Linux wants."""

import sys

from project import BUILD, NAME, ROOT

ICONS = ROOT / "resources" / "icons"
DRAWING = ICONS / f"{NAME}.svg"
SIZES = (16, 32, 48, 64, 128, 256, 512)


def size_file(size: int) -> str:
    """Return the name of the icon in one size."""
    return f"{NAME}-{size}.png"


def write_icons() -> None:
    """Write the .ico and the .icns."""
    from PIL import Image

    BUILD.mkdir(exist_ok=True)
    largest = Image.open(ICONS / size_file(SIZES[-1]))
    largest.save(BUILD / f"{NAME}.ico", sizes=[(size, size) for size in SIZES if size <= 256])
    largest.save(BUILD / f"{NAME}.icns")


def draw_sizes() -> None:
    """Draw the icon again in every size, after a change of the drawing."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    running = QGuiApplication.instance() or QGuiApplication(sys.argv)
    drawing = QSvgRenderer(str(DRAWING), running)
    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        drawing.render(painter)
        painter.end()
        image.save(str(ICONS / size_file(size)))


if __name__ == "__main__":
    draw_sizes()
