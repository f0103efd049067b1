"""A stateful GitHub on loopback sockets, for tests and benchmarks."""
