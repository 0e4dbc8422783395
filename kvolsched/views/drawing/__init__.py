"""Drawing: the SVG vocabulary, text widths, sheets and figures; knows nothing of what is drawn."""
