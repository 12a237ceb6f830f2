// A stratum client for benchmarks: it really hashes, at difficulties that JavaScript meets.

import { connect } from 'node:net';
import { hashTail, puzzleOf } from '#pickaxe/protocol/chain/job.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { parseHeader, parseTarget } from '#pickaxe/protocol/wire/stratum.js';
import { nowMs } from '../lib/mock-process.mjs';

const NOTIFY = '{"method":"mining.notify",';
const CLEAN = ',true],"id":null}';
/** Where the parent's hash is in a line: after the job id of 8 digits, and 16 bytes of the header. */
const PARENT = `${NOTIFY}"params":["00000000","`.length + 32;

/**
 * When a client takes a new target: with the job that follows it, at once, or one job late. Real clients do any of
 * these.
 */
export const HABITS = ['with-job', 'at-once', 'late'];

export class StratumClient {
  nonce1;
  /** When the last clean job of a new block came, and how many have come. */
  cleanMs = 0;
  cleanJobs = 0;
  cleanParent = '';
  /** Number of its shares by answer: accepted, or the code of the error. */
  answers = {};
  /** How long each answer took, in ms. */
  latencies = [];
  retargets = 0;
  isOpen = true;
  #rest = '';
  #target;
  #formerTarget;
  #job;
  #noted;
  #next = 0;
  #id = 10;
  #sentMs = new Map();
  #habit;

  constructor(port, { habit = HABITS[0], first } = {}) {
    this.#habit = habit;
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    if (first !== undefined) this.socket.write(first);
    this.socket.setEncoding('latin1');
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isOpen = false;
    });
    this.socket.on('data', (text) => this.#read(text));
  }

  login(worker, { password = 'x', suggest } = {}) {
    if (suggest !== undefined) this.say({ id: 0, method: 'mining.suggest_difficulty', params: [suggest] });
    this.say({ id: 1, method: 'mining.subscribe', params: ['bench/1', null] });
    this.say({ id: 2, method: 'mining.authorize', params: [worker, password] });
  }

  say(message) {
    this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** How many of its shares have no answer yet. */
  get waiting() {
    return this.#sentMs.size;
  }

  /** Tries this number of nonces, and submits those that are shares. */
  mine(nonces) {
    const job = this.#current();
    if (!job || this.nonce1 === undefined) return;
    const { id, puzzle } = job;
    for (const end = this.#next + nonces; this.#next < end; this.#next++) {
      const nonce = { lane: this.nonce1, step: 1, counter: this.#next, page: 0 };
      if (!meets(hashTail(puzzle, nonce), puzzle.target)) continue;
      const nonce2 = (joinNonce(nonce) >> 16n).toString(16).padStart(12, '0');
      this.#sentMs.set(++this.#id, nowMs());
      this.say({ id: this.#id, method: 'mining.submit', params: ['w', id, nonce2] });
    }
  }

  /** Sends a ping, and measures the time until the answer. @returns ms */
  async ping() {
    const sentMs = nowMs();
    this.#sentMs.set('ping', sentMs);
    this.say({ id: 'ping', method: 'mining.ping', params: [] });
    while (this.#sentMs.has('ping') && this.isOpen) await new Promise((resolve) => setTimeout(resolve, 1));
    return nowMs() - sentMs;
  }

  #read(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith(NOTIFY)) this.#note(line);
      else this.#take(JSON.parse(line));
    }
  }

  /** Jobs are read when they are mined: here it only counts when they come. */
  #note(line) {
    const parent = line.slice(PARENT, PARENT + 64);
    if (line.endsWith(CLEAN) && this.cleanParent !== parent) {
      this.cleanMs = nowMs();
      this.cleanParent = parent;
      this.cleanJobs++;
    }
    const target = this.#habit === 'late' ? (this.#formerTarget ?? this.#target) : this.#target;
    this.#formerTarget = undefined;
    this.#noted = { line, target };
  }

  /** The newest job. */
  #current() {
    if (this.#noted) {
      const [id, header] = JSON.parse(this.#noted.line).params;
      this.#job = { id, puzzle: puzzleOf(parseHeader(header), this.#noted.target) };
      this.#next = 0;
      this.#noted = undefined;
    }
    return this.#job;
  }

  #take({ id, method, params, result, error }) {
    if (method === 'mining.set_target') {
      this.retargets++;
      this.#formerTarget = this.#target;
      this.#target = parseTarget(params[0]);
      if (this.#habit === 'at-once' && this.#job)
        this.#job.puzzle = { ...this.#job.puzzle, target: words(this.#target) };
    } else if (id === 1) this.nonce1 = Number.parseInt(result[1], 16);
    else if (this.#sentMs.has(id)) {
      if (typeof id === 'number') {
        const what = error ? `${error[0]} ${error[1]}` : 'accepted';
        this.answers[what] = (this.answers[what] ?? 0) + 1;
        this.latencies.push(nowMs() - this.#sentMs.get(id));
      }
      this.#sentMs.delete(id);
    }
  }
}

const words = (target) => puzzleOf(new Uint8Array(286), target).target;

function meets(hash, target) {
  for (let i = 7; i >= 0; i--) if (hash[i] !== target[i]) return hash[i] < target[i];
  return true;
}

/** @returns all answers of the clients, summed up */
export function answersOf(clients) {
  const sum = {};
  for (const { answers } of clients) {
    for (const [what, count] of Object.entries(answers)) sum[what] = (sum[what] ?? 0) + count;
  }
  return sum;
}
