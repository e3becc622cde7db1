"""Shapes, and the label images that they make."""
