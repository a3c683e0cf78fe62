"""Where a long report is cut into pages."""

from app.dialogs.pdf_pages import PageSpan, PdfPage, Piece, sheets


def lines(count: int, *, keep: frozenset[int] = frozenset(), height: float = 10) -> list[Piece]:
    return [Piece(PageSpan(at * height, (at + 1) * height), at in keep) for at in range(count)]


def spans(made: list[PdfPage]) -> list[tuple[float, float]]:
    return [(sheet.span.top, sheet.span.bottom) for sheet in made]


def test_a_page_takes_as_much_as_fits() -> None:
    assert spans(sheets(lines(7), 35)) == [(0, 30), (30, 60), (60, 70)]


def test_what_fits_exactly_is_one_page() -> None:
    assert spans(sheets(lines(3), 30)) == [(0, 30)]


def test_what_stays_with_the_next_goes_to_the_next_page_with_it() -> None:
    assert spans(sheets(lines(6, keep=frozenset({1, 2})), 30)) == [(0, 10), (10, 40), (40, 60)]


def test_what_cannot_stay_together_on_any_page_is_cut_where_the_page_ends() -> None:
    assert spans(sheets(lines(5, keep=frozenset(range(5))), 30)) == [(0, 30), (30, 50)]


def test_a_table_that_goes_on_has_its_head_again_and_room_for_it() -> None:
    head = PageSpan(0, 10)
    rows = [Piece(head, keep=True), *(Piece(PageSpan(at * 10, at * 10 + 10), head=head) for at in range(1, 6))]
    assert sheets(rows, 30) == [
        PdfPage(PageSpan(0, 30)),
        PdfPage(PageSpan(30, 50), head),
        PdfPage(PageSpan(50, 60), head),
    ]


def test_a_piece_that_is_higher_than_a_page_takes_several() -> None:
    assert spans(sheets([Piece(PageSpan(0, 70))], 30)) == [(0, 30), (30, 60), (60, 70)]


def test_space_between_pieces_does_not_begin_a_page() -> None:
    assert spans(sheets([Piece(PageSpan(0, 25)), Piece(PageSpan(40, 60))], 30)) == [(0, 25), (40, 60)]
