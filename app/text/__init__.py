"""Texts for the window: formatted values, differences of texts and the glossary."""
