#!/usr/bin/env bash
# Makes pickaxe's settings from the flight sheet before each start. HiveOS sources this file; the sheet's fields are variables.
#
#                             on your nodes                                  on pools
#   Pool URL                  one or more node URLs                          one or more pool URLs (stratum+tcp:// or +ssl://)
#   Wallet and worker         %WAL%.%WORKER_NAME%: the public key            %WAL%.%WORKER_NAME%: as the pool wants it
#                             (64 hex digits, with or without k:)
#   Pass                      the network, like mainnet01; not needed        the password at the pool; x for none
#                             where every node URL has a path
#   Extra config arguments    flags of `pickaxe mine`, like --devices gpu --temp-limit 80
#
# The first of several URLs is preferred.

. "$(dirname "${BASH_SOURCE[0]}")/h-manifest.conf"

# @param 1 the name of a variable, 2 its value
pickaxe_export() {
  [[ -z $2 ]] || printf 'export PICKAXE_%s=%q\n' "$1" "$2"
}

# Other users could read a password among the settings of the process. @param 1 the password; prints the name of its file
pickaxe_password_file() {
  local file
  file="$(dirname "$CUSTOM_CONFIG_FILENAME")/pool.password"
  rm -f "$file"
  (umask 077 && printf '%s\n' "$1" > "$file")
  echo "$file"
}

pickaxe_settings() {
  local urls pass flags=()
  urls=$(xargs <<< "${CUSTOM_URL//,/ }")
  urls=${urls// /,}
  # HiveOS fills in "x" for an empty field.
  pass=${CUSTOM_PASS:-x}
  # Splits words as the shell would, quotes included, but executes nothing.
  [[ -n ${CUSTOM_USER_CONFIG//[[:space:]]/} ]] && mapfile -t flags < <(xargs -n 1 printf '%s\n' <<< "$CUSTOM_USER_CONFIG")

  echo '# Made from the flight sheet at each start: your changes would be lost.'
  if [[ $urls == stratum* ]]; then
    pickaxe_export POOL "$urls"
    pickaxe_export USER "$CUSTOM_TEMPLATE"
    [[ $pass == x ]] || pickaxe_export PASSWORD_FILE "$(pickaxe_password_file "$pass")"
  else
    pickaxe_export NODE "$urls"
    pickaxe_export PUBLIC_KEY "$CUSTOM_TEMPLATE"
    [[ $pass == x ]] || pickaxe_export NETWORK "$pass"
  fi
  printf 'pickaxe_flags=('
  ((${#flags[@]})) && printf ' %q' "${flags[@]}"
  printf ' )\n'
}

pickaxe_settings > "$CUSTOM_CONFIG_FILENAME"
