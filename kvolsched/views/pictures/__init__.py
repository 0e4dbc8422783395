"""Pictures: one pure function for each, from the rows of a frame to marks and to words."""
