"""The objectives of the zoo, each described by a TOML file beside its class."""
