"""One router a resource; each route says what it takes and calls one use case."""
