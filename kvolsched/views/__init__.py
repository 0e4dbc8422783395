"""Pictures of a cluster and the panel: the only room that may import altair, ipywidgets and anywidget.

Floors: drawing, rows (`frame`), then `fill` (rows of a cluster) and `pictures` (of rows), `pages` (of answers), the
panel, `show`. Nothing is imported here, so that a picture loads no widget and a widget no chart.
"""
