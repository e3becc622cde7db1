"""Things that go wrong, done on purpose: what panmatch makes of them, as a table."""
