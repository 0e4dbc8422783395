"""The world: contents, their log, views of them, the API server and the turns of components. Knows no scheduling rule."""
