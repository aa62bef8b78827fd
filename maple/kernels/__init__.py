"""The packed 2-bit layout and the arithmetic on it."""
