"""The controllers: one file each, meeting only in the API objects. None imports another."""
