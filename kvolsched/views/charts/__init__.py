"""Charts of answers: tables with named columns, altair charts of them, and how an altair chart is shown."""
