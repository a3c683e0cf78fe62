"""Takes pictures of the real window: every screen and sheet, light and dark, 1× and 2×, empty, full and in trouble."""
