// Lets a pool misbehave in every way, then makes it honest on the same port: does the pool client survive, say in one
// line what is wrong, and mine again? Then lets a pool attack the built miner, whose second pool is honest: what does
// that cost?
//
//   node test/faults/pool-misbehaviour.mjs [--seconds 5] [--kind NAME|none]… [--attack NAME|none]… [--attack-seconds 16]
//     [--warm-up 8] [--alone] [--seed N] [--json] [--out FILE]
//
// The exit code is 1 when the client throws, gives out a work or a reason that is not well formed, or does not mine
// again. The pauses between connections are shorter than usual in that part, so that more of them are made.
//
// The result for each attack, from its beginning on: the hashrate of one thread, how long /healthz takes, the part of a
// core that the main thread takes, the memory, and what is logged. With --alone, the miner has no second pool. The
// attacks need Linux.

import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { OUTCOMES } from '#pickaxe/miner/events/vocabulary.js';
import { formatTarget } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { updatesOf } from '#pickaxe/miner/source/following.js';
import { PoolSource } from '#pickaxe/miner/source/pool/pool-source.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, laneWithin } from '#pickaxe/protocol/chain/nonce.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { printHeading, printTable, save } from '../../bench/lib/figures.mjs';
import { MockPool } from '../../bench/lib/mock-pool.mjs';
import { ATTACKS } from './lib/pool-attacker.mjs';
import { underAttack } from './lib/pool-attacks.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    kind: { type: 'string', multiple: true },
    attack: { type: 'string', multiple: true },
    'attack-seconds': { type: 'string', default: '16' },
    'warm-up': { type: 'string', default: '8' },
    alone: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

const random = seededRandom(Number(values.seed));
const below = (n) => Math.floor(random() * n);
const oneOf = (all) => all[below(all.length)];

const LIMITS = {
  pauses: { firstMs: 10, mostMs: 50 },
  refusedPauses: { firstMs: 10, mostMs: 50 },
  handshakeMs: 1_000,
  noWorkMs: 2_000,
  submitMs: 500,
  submitAfterStopMs: 100,
};
/** Far longer than the pool client takes to mine again. */
const PATIENCE_MS = 30_000;
/** Hashes that a share of the honest pool takes. */
const SHARE = 64;
/** How many nonces are tried for one share, so that targets that nothing meets do not stop the bench. */
const MOST_TRIED = 4_096;
/** How much a bad pool writes before it lets others run. */
const BURST_BYTES = 65_536;

const METHODS = [
  ...['mining.notify', 'mining.set_target', 'mining.set_difficulty', 'mining.set_extranonce', 'client.reconnect'],
  ...['client.show_message', 'client.get_version', 'mining.dance', '', '__proto__'],
];

/** @returns a JSON value of any type */
function anything(depth = 3) {
  const kinds = [
    () => null,
    () => random() < 0.5,
    () => below(10),
    () => (random() - 0.5) * 1e300,
    () => '',
    () => 'ab'.repeat(below(300)),
    () => '\u001b[31m\u202e\u0000',
    () => header(),
    () => '00'.repeat(32),
  ];
  if (depth > 0) {
    kinds.push(() => Array.from({ length: below(5) }, () => anything(depth - 1)));
    kinds.push(() => ({ [oneOf(['id', 'code', 'message', '__proto__', 'constructor'])]: anything(depth - 1) }));
  }
  return oneOf(kinds)();
}

/** @returns the hex digits of a header with a random parent */
function header() {
  const bytes = new Uint8Array(286);
  for (let i = 8; i < 158; i++) bytes[i] = below(256);
  bytes.set(targetForDifficulty(1e12), 158);
  return toHex(bytes);
}

const line = (message) => `${JSON.stringify(message)}\n`;
const target = (difficulty) => formatTarget(targetForDifficulty(difficulty));
const notify = (clean = true) =>
  line({ id: null, method: 'mining.notify', params: [`${below(1e9)}`, header(), ...oneOf([[clean], []])] });
const setTarget = () => line({ id: null, method: 'mining.set_target', params: [target(1 + below(1e6))] });
const greeting = () =>
  line({ id: 1, result: [null, oneOf(['', '7f', '09e8']), undefined], error: null }) +
  line({ id: 2, result: true, error: null });

/** Writes what `make` returns until the connection is gone. @param pauseMs between bursts */
async function keepWriting(socket, make, { bytes = BURST_BYTES, pauseMs = 0 } = {}) {
  while (!socket.destroyed && !socket.writableEnded) {
    let text = make();
    while (text.length < bytes) text += make();
    if (!socket.write(text)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    await (pauseMs > 0 ? sleep(pauseMs) : nextTurn());
  }
}

/** What a pool can do to a connection that it has accepted. */
const KINDS = {
  closes: (socket) => oneOf([() => socket.destroy(), () => socket.end(), () => socket.resetAndDestroy()])(),
  junk: (socket) =>
    keepWriting(socket, () => String.fromCharCode(...Array.from({ length: 64 }, () => below(256))), { bytes: 1_024 }),
  'wrong-types': (socket) => {
    socket.write(greeting());
    return keepWriting(socket, () => line(anything()), { bytes: 1, pauseMs: 1 });
  },
  'wrong-parameters': (socket) => {
    socket.write(greeting());
    const call = () => line({ id: anything(1), method: oneOf(METHODS), params: anything() });
    const answer = () => line({ id: below(6), result: anything(), error: anything() });
    return keepWriting(socket, () => oneOf([call, answer, notify])(), { bytes: 1, pauseMs: 1 });
  },
  'half-lines': (socket) => {
    const text = greeting() + setTarget() + notify();
    socket.end(text.slice(0, below(text.length)));
  },
  'huge-lines': (socket) => keepWriting(socket, () => 'x'.repeat(BURST_BYTES)),
  'long-strings': (socket) => {
    socket.write(greeting());
    const message = () => line({ id: null, method: 'client.show_message', params: ['y'.repeat(16_000)] });
    return keepWriting(socket, message);
  },
  slow: async (socket) => {
    for (const character of greeting() + setTarget() + notify().repeat(1_000)) {
      if (socket.destroyed) return;
      socket.write(character);
      await sleep(1);
    }
  },
  'job-flood': (socket) => {
    socket.write(greeting() + setTarget());
    return keepWriting(socket, notify);
  },
  'target-flood': (socket) => {
    socket.write(greeting() + notify());
    return keepWriting(socket, setTarget);
  },
  // Sends requests all the time and reads no answer.
  deaf: (socket) => {
    socket.pause();
    socket.write(greeting() + setTarget() + notify());
    return keepWriting(socket, () => line({ id: 'v'.repeat(500), method: 'client.get_version', params: [] }));
  },
};

/** Submits the first share of every work, as long as the source gives some. */
class OneShareMiner {
  works = 0;
  verdicts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0]));
  lost = new Map();
  #source;
  #stopping = new AbortController();
  #work;
  #running;

  constructor(url) {
    const emit = (event) => {
      if (event.type !== 'source') return;
      assert.match(event.reason, /^[^\p{C}]{1,600}$/u);
      const reason = event.reason.replace(/stratum\S+\d/g, 'the pool').replace(/[“:(\d].*$/, '…');
      if (event.state === 'lost') this.lost.set(reason, (this.lost.get(reason) ?? 0) + 1);
    };
    this.#source = new PoolSource({ url, user: 'bench.rig', password: 'x' }, { limits: LIMITS, emit });
    this.#running = Promise.all([this.#follow(), this.#mine()]);
  }

  async stop() {
    this.#stopping.abort();
    await this.#running;
  }

  async #follow() {
    for await (const { kind, work } of updatesOf(this.#source, this.#stopping.signal)) {
      if (kind !== 'work') continue;
      assert.equal(work.header.length, 286);
      assert.equal(work.target.length, 32);
      assert.ok(work.nonce1.bytes <= 2 && work.nonce1.value < 2 ** (8 * work.nonce1.bytes));
      this.works++;
      this.#work = work;
    }
  }

  async #mine() {
    while (!this.#stopping.signal.aborted) {
      const work = this.#work;
      this.#work = undefined;
      const solution = work && firstShare(work);
      if (solution) void this.#submit(solution);
      await sleep(1);
    }
  }

  async #submit(solution) {
    const { outcome, reason } = await this.#source.submit(solution, this.#stopping.signal);
    assert.ok(OUTCOMES.includes(outcome) && /^[^\p{C}]{0,400}$/u.test(reason));
    this.verdicts[outcome]++;
  }
}

function firstShare(work) {
  const job = prepareJob(work);
  const lane = laneWithin(work.nonce1, 0);
  for (let counter = 0; counter < MOST_TRIED; counter++) {
    const nonce = { ...lane, counter, page: 0 };
    if (solves(job, nonce)) return verify(job, joinNonce(nonce)).solution;
  }
  return undefined;
}

async function tryOut(kind) {
  const honest = new MockPool({ difficulty: 1e9, shareDifficulty: SHARE, refreshMs: 50 });
  let isHonest = false;
  let connections = 0;
  const sockets = new Set();
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (isHonest) honest.serve(socket);
    else {
      socket.resume();
      void Promise.resolve(KINDS[kind](socket)).catch((fault) => assert.ok(socket.destroyed, fault));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const miner = new OneShareMiner(`stratum+tcp://127.0.0.1:${server.address().port}`);

  await sleep(Number(values.seconds) * 1000);
  const during = { connections, works: miner.works, lost: [...miner.lost.values()].reduce((sum, n) => sum + n, 0) };
  isHonest = true;
  const sinceMs = performance.now();
  for (const socket of sockets) socket.destroy();
  while (honest.stats.accepted === 0 && performance.now() - sinceMs < PATIENCE_MS) await sleep(5);
  const result = {
    kind,
    ...during,
    reasons: Object.fromEntries(miner.lost),
    heapMb: Math.round(process.memoryUsage().heapUsed / 1e6),
    recovered: honest.stats.accepted > 0,
    recoverySeconds: Number(((performance.now() - sinceMs) / 1000).toFixed(2)),
  };
  await miner.stop();
  server.close();
  for (const socket of sockets) socket.destroy();
  await honest.close();
  const { wrong, low, duplicate } = honest.stats;
  assert.deepEqual({ wrong, low, duplicate }, { wrong: 0, low: 0, duplicate: 0 });
  return result;
}

const NONE = 'none';
const wanted = (names, all) => (names ?? all).filter((name) => name !== NONE);
const kinds = wanted(values.kind, Object.keys(KINDS));
const named = wanted(values.attack, Object.keys(ATTACKS));
const unknown = [...kinds.filter((kind) => !(kind in KINDS)), ...named.filter((attack) => !(attack in ATTACKS))];
if (unknown.length > 0) throw new Error(`no such kind or attack: ${unknown}`);
const seconds = Number(values.seconds);
const attackSeconds = Number(values['attack-seconds']);

if (!values.json) printHeading();
const results = [];
for (const kind of kinds) results.push(await tryOut(kind));
const attacks = [];
for (const attack of named.length > 0 ? [NONE, ...named] : []) {
  const options = { warmUpMs: 1000 * Number(values['warm-up']), hasNext: !values.alone };
  attacks.push(await underAttack(attack, attackSeconds, options));
  console.error(`${attack}: ${JSON.stringify(attacks.at(-1))}`);
}
const result = { bench: 'pool-misbehaviour', seconds, results, attackSeconds, attacks };
if (values.json) console.log(JSON.stringify(result));
else print();
save(values.out, result);
process.exit(results.every(({ recovered }) => recovered) ? 0 : 1);

function print() {
  if (results.length > 0) {
    printTable(
      ['what the pool does', 'connections', 'works', 'lost', 'heap, MB', 'mines again after, s'],
      results.map(({ kind, connections, works, lost, heapMb, recovered, recoverySeconds }) => [
        ...[kind, connections, works, lost, heapMb],
        recovered ? recoverySeconds : 'NEVER',
      ]),
    );
  }
  for (const { kind, reasons } of results) {
    for (const [reason, count] of Object.entries(reasons)) console.log(`${kind}: ${count} × ${reason}`);
  }
  if (attacks.length === 0) return;
  for (const name of named) console.log(`${name}: ${ATTACKS[name].what}`);
  console.log();
  printTable(
    [
      ...['attack', 'MH/s', '/healthz p50, ms', 'max', 'main thread', 'RSS, MiB', 'sent, MB', 'connections', 'shares'],
      ...['of the next pool', 'log lines'],
    ],
    attacks.map(
      ({ attack, mhs, healthzMs, mainPercent, rssMib, sentMb, connections, shares, nextAccepted, logLines }) => [
        ...[attack, mhs.toFixed(1), healthzMs.p50.toFixed(1), healthzMs.max.toFixed(0), `${mainPercent.toFixed(1)} %`],
        ...[rssMib.toFixed(0), sentMb.toFixed(1), connections, shares, nextAccepted ?? '', logLines],
      ],
    ),
  );
  for (const { attack, warnings } of attacks)
    for (const warning of warnings.slice(0, 3)) console.log(`${attack}: ${warning}`);
}
