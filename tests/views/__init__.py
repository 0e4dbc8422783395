"""Views are judged here over hand-made frames."""
