// An external worker for tests: what it does is its first argument, and the target is its last.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';

/** A test that fails may not end it. */
const LONGEST_MS = 60_000;

const [how, file] = process.argv.slice(2);
const target = process.argv.at(-1);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const header = Buffer.concat(chunks);

const number = (bytes) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const solves = () => number(createHash('blake2s256').update(header).digest()) <= number(Buffer.from(target, 'hex'));
const isAsked = () => solves() === (how !== 'lies');

if (how === 'takes turns') {
  // It crashes, but for its third run.
  appendFileSync(file, '.');
  if (readFileSync(file, 'utf8').length !== 3) process.exit(3);
}
console.error(`started ${how} with ${header.length} bytes`);
if (how === 'crashes') process.exit(3);
if (how === 'finds nothing') process.exit(0);
if (how === 'talks') console.log('I am a worker');
if (how === 'hangs') {
  // A process of its own, which must be killed, too.
  const child = spawn(process.execPath, ['-e', `setTimeout(() => {}, ${LONGEST_MS})`], { stdio: 'ignore' });
  appendFileSync(file, `${process.pid} ${child.pid}\n`);
  setTimeout(() => {}, LONGEST_MS);
} else {
  let nonce = 0n;
  for (; ; nonce++) {
    header.writeBigUInt64LE(nonce, 278);
    if (isAsked()) break;
  }
  const rate = { boasts: 3n * 10n ** 19n, dreams: 10n ** 30n }[how] ?? 12_345n;
  const answer = `${nonce.toString(16).padStart(16, '0')} ${nonce + 1n} ${rate}`;
  if (how === 'leaves a printer') {
    // It prints when this process has ended.
    const script = `while kill -0 ${process.pid} 2>/dev/null; do sleep 0.01; done; echo ${answer}`;
    spawn('sh', ['-c', script], { stdio: ['ignore', 'inherit', 'ignore'] }).unref();
  } else {
    process.stdout.write(how === 'ends its line never' ? answer : `${answer}\n`);
  }
}
