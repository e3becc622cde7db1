"""What a page shows, and links that say it."""
