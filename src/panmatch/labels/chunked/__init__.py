"""Label images that are stored in chunks, and are never in memory as a whole."""
