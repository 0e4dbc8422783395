"""Drawing: marks, text widths, sheets and figures that every picture is made of."""
