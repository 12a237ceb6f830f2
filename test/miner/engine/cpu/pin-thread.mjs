// The script of a thread: pins itself to each of several sets of CPUs, and posts the CPUs that Linux then allows it.

import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { pinThread } from '#pickaxe/miner/engine/cpu/affinity.js';

function allowedAfter(cpus) {
  pinThread(cpus);
  return /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))[1];
}

parentPort.postMessage(workerData.map(allowedAfter));
