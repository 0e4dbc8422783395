"""The panel: the widget that steps a run, its front end, and the page that a run is exported to."""
