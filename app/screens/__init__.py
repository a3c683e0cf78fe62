"""One package a screen; screens never know each other."""
