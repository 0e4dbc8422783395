"""What people look at: the only room that may import altair, ipywidgets and anywidget.

Nothing is imported here, so that a picture costs no widget and a widget no chart.
"""
