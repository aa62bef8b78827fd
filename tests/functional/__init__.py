"""Tests against the real server in a child process."""
