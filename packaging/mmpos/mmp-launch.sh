#!/usr/bin/env bash
# mmpOS starts this with the arguments of the miner profile, such as
#   --node %pool_server%:%pool_port% --network mainnet01 --public-key %wallet_address% --devices gpu
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
exec ./pickaxe mine --http 127.0.0.1:14048 "$@"
