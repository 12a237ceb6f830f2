#!/usr/bin/env bash
# What HiveOS's agent shows. It sources this file every few seconds and reads two variables: khs, and stats as JSON.
. "$(dirname "${BASH_SOURCE[0]}")/h-manifest.conf"

khs=0
stats=null
if pickaxe_answer=$("$pickaxe_folder/pickaxe" stats --format hive --http "127.0.0.1:$WEB_PORT" 2> /dev/null); then
  { read -r khs && read -r stats; } <<< "$pickaxe_answer"
fi
