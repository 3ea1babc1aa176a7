"""Instances of a setting: derived from its classes and letters, drawn, built, broken and made simpler."""
