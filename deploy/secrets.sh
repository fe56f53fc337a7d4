#!/bin/sh
# Makes what compose.yaml needs before the first start, beside this file: .env and the folder secrets.
# What is there already stays. Each secret is 256 random bits.
set -eu
cd "$(dirname "$0")"
umask 077

random() {
  od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

if [ ! -e .env ]; then
  cat >.env <<END
DATABASE_PASSWORD=$(random)
STORE_KEY=easeml
STORE_SECRET=$(random)
END
fi

# The folder is closed to other people of this machine. The files in it are open, since the user of
# the containers, who has no name here, has to read them.
mkdir -p secrets
for name in password key metrics-key; do
  [ -e "secrets/$name" ] && continue
  case $name in
    *key) echo "eml_$(random)" >"secrets/$name" ;;
    *) random >"secrets/$name" ;;
  esac
  chmod 444 "secrets/$name"
done
echo "The provider is admin; the password is in $(pwd)/secrets/password."
