#!/usr/bin/env bash
# Prints what mmpOS's agent shows. The agent passes the number of devices and the log file; pickaxe needs neither.
"$(dirname "${BASH_SOURCE[0]}")/pickaxe" stats --format mmpos --http 127.0.0.1:14048
