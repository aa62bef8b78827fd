"""Tests; a package so that test files can share helpers by `from tests...`."""
