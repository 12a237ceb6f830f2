#!/usr/bin/env bash
# From the flight sheet to pickaxe's settings, before each start. HiveOS includes this file: the sheet's fields are variables.
#
#   Pool URL                  one or more node URLs, the first preferred
#   Wallet and worker         %WAL%.%WORKER_NAME%: the public key (64 hex digits, with or without k:), and the rig's name
#   Pass                      the network, like mainnet01; not needed where every node URL has a path
#   Extra config arguments    flags of `pickaxe mine`, like --devices gpu --temp-limit 80

. "$(dirname "${BASH_SOURCE[0]}")/h-manifest.conf"

pickaxe_settings() {
  local nodes flags=()
  nodes=$(xargs <<< "${CUSTOM_URL//,/ }")
  # Words as the shell would split them, quotes and all, but nothing in them is executed.
  [[ -n ${CUSTOM_USER_CONFIG//[[:space:]]/} ]] && mapfile -t flags < <(xargs -n 1 printf '%s\n' <<< "$CUSTOM_USER_CONFIG")

  echo '# Made from the flight sheet at each start: changes are lost.'
  printf 'export PICKAXE_NODE=%q\n' "${nodes// /,}"
  [[ -n $CUSTOM_TEMPLATE ]] && printf 'export PICKAXE_PUBLIC_KEY=%q\n' "$CUSTOM_TEMPLATE"
  # HiveOS fills in "x" where nothing was given.
  [[ -n $CUSTOM_PASS && $CUSTOM_PASS != x ]] && printf 'export PICKAXE_NETWORK=%q\n' "$CUSTOM_PASS"
  printf 'pickaxe_flags=('
  ((${#flags[@]})) && printf ' %q' "${flags[@]}"
  printf ' )\n'
}

pickaxe_settings > "$CUSTOM_CONFIG_FILENAME"
