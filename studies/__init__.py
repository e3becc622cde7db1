"""Case studies: every strategy at every threshold on several kinds of data; see docs/studies."""
