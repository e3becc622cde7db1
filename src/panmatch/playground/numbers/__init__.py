"""From what is shown to the numbers of all panels."""
