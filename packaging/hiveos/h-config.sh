#!/usr/bin/env bash
# Makes pickaxe's settings from the flight sheet before each start. HiveOS sources this file; the sheet's fields are variables.
#
#   Pool URL                  one or more node URLs; the first is preferred
#   Wallet and worker         %WAL%.%WORKER_NAME%: the public key (64 hex digits, with or without k:), and the rig's name
#   Pass                      the network, like mainnet01; not needed where every node URL has a path
#   Extra config arguments    flags of `pickaxe mine`, like --devices gpu --temp-limit 80

. "$(dirname "${BASH_SOURCE[0]}")/h-manifest.conf"

pickaxe_settings() {
  local nodes flags=()
  nodes=$(xargs <<< "${CUSTOM_URL//,/ }")
  # Splits words as the shell would, quotes included, but executes nothing.
  [[ -n ${CUSTOM_USER_CONFIG//[[:space:]]/} ]] && mapfile -t flags < <(xargs -n 1 printf '%s\n' <<< "$CUSTOM_USER_CONFIG")

  echo '# Made from the flight sheet at each start: your changes would be lost.'
  printf 'export PICKAXE_NODE=%q\n' "${nodes// /,}"
  [[ -n $CUSTOM_TEMPLATE ]] && printf 'export PICKAXE_PUBLIC_KEY=%q\n' "$CUSTOM_TEMPLATE"
  # HiveOS fills in "x" for an empty field.
  [[ -n $CUSTOM_PASS && $CUSTOM_PASS != x ]] && printf 'export PICKAXE_NETWORK=%q\n' "$CUSTOM_PASS"
  printf 'pickaxe_flags=('
  ((${#flags[@]})) && printf ' %q' "${flags[@]}"
  printf ' )\n'
}

pickaxe_settings > "$CUSTOM_CONFIG_FILENAME"
