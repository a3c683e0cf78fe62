"""Dialogs that several screens share."""
