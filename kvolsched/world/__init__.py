"""The world: contents, their log, views, the API server and the turns of components. Knows no scheduling rule."""
