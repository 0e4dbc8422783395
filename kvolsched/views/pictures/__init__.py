"""Pictures: pure functions from the rows of a frame to SVG (or a sheet) and to words; `picture` lists them."""
