// A pool in another process that gives work and answers shares as it should, until it gets the order to attack. It goes
// on attacking on every later connection.
//
// The child gets { attack } as its first argument and sends { url }. The message { begin: true } begins the attack. The
// message { report: true } is answered with the number of connections, of shares, and of bytes that were written.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { formatTarget } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { startForked } from '../../../bench/lib/forked.mjs';

/** Number of bytes that are written before a check whether the miner reads. */
const BURST_BYTES = 65_536;
/** Hashes that a share of an honest pool takes: some a second. */
const SHARE_DIFFICULTY = 2 ** 24;
const JOB_MS = 1_000;

let made = 0;

/** @returns the hex digits of a header with a parent of its own @param blockTarget 32 bytes */
function header(blockTarget = targetForDifficulty(2 ** 60)) {
  const bytes = new Uint8Array(286);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(8, BigInt(Date.now()) * 1000n, true);
  view.setUint32(16, ++made, true);
  bytes.set(blockTarget, 158);
  return toHex(bytes);
}

const line = (message) => `${JSON.stringify(message)}\n`;
const call = (method, ...params) => line({ id: null, method, params });
const job = (clean = true, blockTarget = undefined) => call('mining.notify', `${made}`, header(blockTarget), clean);
const target = (difficulty = SHARE_DIFFICULTY) =>
  call('mining.set_target', formatTarget(targetForDifficulty(difficulty)));
const EASY = new Uint8Array(32).fill(0xff);

/**
 * What each attack sends again and again, as fast as the miner reads, or as fast as `bytesPerSecond` allows; and how it
 * answers shares, where not with `true`. `same` is sent unchanged.
 */
export const ATTACKS = {
  'newlines-0.3': { what: 'empty lines, 0.3 MB a second', same: '\n'.repeat(3_000), bytesPerSecond: 3e5 },
  'newlines-0.9': { what: 'empty lines, 0.9 MB a second', same: '\n'.repeat(9_000), bytesPerSecond: 9e5 },
  'newlines-2.5': { what: 'empty lines, 2.5 MB a second', same: '\n'.repeat(25_000), bytesPerSecond: 25e5 },
  blanks: { what: 'lines of 16 kB of blanks', same: `${' '.repeat(16_000)}\n` },
  'stray-answers': { what: 'answers to nothing', same: line({ id: 1e9, result: true, error: null }) },
  'unknown-methods': { what: 'unknown methods', same: call('mining.dance') },
  targets: { what: 'targets', next: () => target(SHARE_DIFFICULTY + (++made % 1_000)) },
  nonce1: { what: 'another nonce1', next: () => call('mining.set_extranonce', (++made % 256).toString(16), 7) },
  jobs: { what: 'clean jobs, each on another parent', next: job },
  'jobs-90': { what: '90 clean jobs a second, which are taken', next: job, bytesPerSecond: 90 * 660 },
  'same-job': { what: 'one job again and again', same: job() },
  'easy-header': { what: 'jobs that make every hash a block', easy: true, answer: [null, [20, 'no', null]] },
  unanswered: { what: 'jobs as before, and no answers to shares', answer: undefined, isQuiet: true },
};

/** @param attack one of ATTACKS; without it, the pool stays honest */
export async function startPoolAttacker(attack) {
  const { send, ...pool } = await startForked(fileURLToPath(import.meta.url), { attack });
  return { ...pool, begin: () => send({ begin: true }) };
}

async function attackOn(socket, { same, next, bytesPerSecond }, stats) {
  const pieces = Math.ceil(BURST_BYTES / (same?.length ?? 600));
  const beganMs = performance.now();
  let written = 0;
  while (!socket.destroyed) {
    const text = bytesPerSecond
      ? (same ?? next())
      : (same?.repeat(pieces) ?? Array.from({ length: pieces }, next).join(''));
    written += text.length;
    stats.bytes += text.length;
    if (!socket.write(text)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    if (!bytesPerSecond) await nextTurn();
    else await sleep(Math.max(1, beganMs + (1000 * written) / bytesPerSecond - performance.now()));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { attack } = JSON.parse(process.argv[2]);
  const how = ATTACKS[attack];
  const stats = { connections: 0, shares: 0, bytes: 0 };
  const sockets = new Set();
  let isAttacking = false;

  const begin = (socket) => {
    if (how.easy) socket.write(target(1) + job(true, EASY));
    else if (!how.isQuiet) void attackOn(socket, how, stats);
  };
  const respond = (socket, { id, method }) => {
    const answer = (result, error = null) => socket.write(line({ id, result, error }));
    if (method === 'mining.subscribe') answer([null, '09e8', 6]);
    else if (method === 'mining.authorize') {
      answer(true);
      socket.write(target() + job());
      socket.isReady = true;
      if (isAttacking) begin(socket);
    } else if (method === 'mining.submit') {
      stats.shares++;
      if (!isAttacking || !('answer' in how)) answer(true);
      else if (how.answer) answer(...how.answer);
    }
  };
  const server = createServer((socket) => {
    let unread = '';
    stats.connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      const lines = `${unread}${chunk}`.split('\n');
      unread = lines.pop();
      for (const each of lines) respond(socket, JSON.parse(each));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  setInterval(() => {
    for (const socket of sockets)
      if (socket.isReady) socket.write(job(true, isAttacking && how.easy ? EASY : undefined));
  }, JOB_MS);
  process.on('message', ({ begin: begins, report }) => {
    if (begins && how && !isAttacking) {
      isAttacking = true;
      for (const socket of sockets) if (socket.isReady) begin(socket);
    }
    if (report) process.send(stats);
  });
  process.on('disconnect', () => process.exit(0));
  process.send({ url: `stratum+tcp://127.0.0.1:${server.address().port}` });
}
