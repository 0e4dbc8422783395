"""The modelled API kinds as frozen attrs classes, one file for each group of kinds."""
