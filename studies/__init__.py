"""Case studies: every strategy at every threshold on several kinds of data.

Their pages are in docs/explanation/studies.
"""
