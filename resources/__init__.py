"""Files that ship with the app: help pages, the sample, icons, the theme, schemas."""
