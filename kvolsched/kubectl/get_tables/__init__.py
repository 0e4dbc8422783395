"""Tables of `kubectl get`: one row an object, in the columns of the API server's printers."""
