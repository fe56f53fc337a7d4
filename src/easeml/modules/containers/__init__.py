"""Programs that live in an OCI image: run by podman or docker, each call in a container of its own."""
