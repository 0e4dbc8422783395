"""One file a release, or a document: which plugins it enables, and what the other components do differently."""
