// Starts `pickaxe worker`, sends it a job, judges its shares and ends it, as a pool's client or a proxy does.
//
//   node parent.mjs

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SHARES = 5;
/** A share is a hash of at most this number: one in a million hashes. */
const SHARE_TARGET = 2n ** 236n - 1n;
/** A block is a thousand times as rare. This number is in the header. */
const BLOCK_TARGET = 2n ** 226n - 1n;

/** @param {bigint} number */
const toHex = (number) => number.toString(16).padStart(64, '0');

// A real header comes from a pool or a node. This one has only a creation time and a target.
const header = Buffer.alloc(286);
header.writeBigUInt64LE(BigInt(Date.now()) * 1000n, 8);
header.set(Buffer.from(toHex(BLOCK_TARGET), 'hex').reverse(), 158);

/** @param {{ header: string }} share */
function judge(share) {
  const solved = Buffer.from(share.header, 'hex');
  const isOurs = solved.subarray(0, 278).equals(header.subarray(0, 278)); // The nonce follows.
  const hash = createHash('blake2s256').update(solved).digest().reverse();
  return isOurs && BigInt(`0x${hash.toString('hex')}`) <= SHARE_TARGET ? 'accepted' : 'rejected';
}

// The command of the installed package. Its log is on stderr.
const main = fileURLToPath(new URL('./cli/main.js', import.meta.resolve('pickaxe')));
const args = [main, 'worker', '--devices', 'cpu', '--log-level', 'error'];
const worker = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const exited = once(worker, 'exit');
worker.stdin.on('error', () => {}); // A worker that has ended reads nothing more.

/** @param {object} message */
const say = (message) => worker.stdin.write(`${JSON.stringify(message)}\n`);

let accepted = 0;
for await (const line of createInterface({ input: worker.stdout })) {
  const answer = JSON.parse(line);
  switch (answer.type) {
    case 'hello':
      console.log(`pickaxe ${answer.version}`);
      say({ type: 'job', id: '1', header: header.toString('hex'), target: toHex(SHARE_TARGET), verdicts: true });
      break;
    case 'device':
      console.log(`${answer.device} ${answer.state}: ${answer.reason ?? answer.description}`);
      break;
    case 'share': {
      const outcome = judge(answer);
      say({ type: 'verdict', share: answer.share, outcome });
      console.log(`${answer.isBlock ? 'block' : 'share'} with nonce ${answer.nonce} ${outcome}`);
      if (outcome === 'accepted' && ++accepted === SHARES) say({ type: 'drain' });
      break;
    }
    case 'error':
      console.log(`line ${answer.line} was refused: ${answer.message}`);
      break;
    case 'bye':
      console.log(`bye: ${answer.reason}`);
  }
}

const [code] = await exited;
console.log(`${accepted} shares accepted, exit code ${code}`);
