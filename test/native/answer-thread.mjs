// The script of a thread under Wine: pins and prioritizes itself, and posts the results.

import { parentPort } from 'node:worker_threads';
import { pinThread, setPriority } from '#pickaxe/miner/engine/cpu/affinity.js';

function faultOf(call, argument) {
  try {
    call(argument);
    return 'none';
  } catch (error) {
    return error.message;
  }
}

parentPort.postMessage({
  pinned: faultOf(pinThread, [0]),
  // In the last of the groups that Windows may have. Wine has one.
  missing: faultOf(pinThread, [1984]),
  groups: faultOf(pinThread, [1, 65]),
  priority: faultOf(setPriority, 19),
  wrongPriority: faultOf(setPriority, 20),
});
