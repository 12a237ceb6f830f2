#!/usr/bin/env bash
# Runs pickaxe on the Node.js that came with it.
home=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
exec "$home/node/node" "$home/app/dist/cli/main.js" "$@"
