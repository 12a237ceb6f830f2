#!/usr/bin/env bash
# What mmpOS's agent shows. It calls this file with the number of devices and the log file; pickaxe needs neither.
"$(dirname "${BASH_SOURCE[0]}")/pickaxe" stats --format mmpos --http 127.0.0.1:14048
