"""Readers of the published forms of a Maple model."""
