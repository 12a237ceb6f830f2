#!/usr/bin/env bash
# Mines until HiveOS stops it. It runs in HiveOS's screen, so the status line and the keys work there.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
. ./h-manifest.conf
. "$CUSTOM_CONFIG_FILENAME"
mkdir -p "$(dirname "$CUSTOM_LOG_BASENAME")"
exec ./pickaxe mine --http "127.0.0.1:$WEB_PORT" --log-file "$CUSTOM_LOG_BASENAME.log" "${pickaxe_flags[@]}"
