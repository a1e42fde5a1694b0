"""One worker per peer; each imports only what its own environment has."""
