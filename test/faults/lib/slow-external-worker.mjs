// An external worker as the reference mining client would start it. It hashes little, so that it takes little from the
// miner beside it: the header comes on stdin, the target is the last argument, and it prints a nonce.

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const AT_ONCE = 200;
const REST_MS = 20;

const target = Buffer.from(process.argv.at(-1), 'hex').reverse();
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const header = Buffer.concat(chunks);
let nonce = randomBytes(8).readBigUInt64LE();
for (;;) {
  for (let i = 0; i < AT_ONCE; i++) {
    nonce = BigInt.asUintN(64, nonce + 1n);
    header.writeBigUInt64LE(nonce, 278);
    const hash = createHash('blake2s256').update(header).digest().reverse();
    if (hash.compare(target) > 0) continue;
    console.log(nonce.toString(16).padStart(16, '0'));
    process.exit(0);
  }
  await sleep(REST_MS);
}
