// A stratum client for benchmarks: it really hashes, at difficulties that JavaScript meets.

import { once } from 'node:events';
import { connect } from 'node:net';
import { hashTail, puzzleOf } from '#pickaxe/chain/job.js';
import { joinNonce } from '#pickaxe/chain/nonce.js';
import { parseHeader, parseTarget } from '#pickaxe/wire/stratum.js';
import { nowMs } from './mock-process.mjs';

/** When a client takes a new target: with the job that follows it, at once, or one job late. Real ones do any of these. */
export const HABITS = ['with-job', 'at-once', 'late'];

export class StratumClient {
  nonce1;
  /** When the last clean job came, and its header. */
  cleanMs = 0;
  cleanHeader = '';
  /** What became of its shares: accepted, or the code of the error. */
  answers = {};
  /** How long each answer took, in ms. */
  latencies = [];
  retargets = 0;
  isOpen = true;
  #rest = '';
  #target;
  #formerTarget;
  #job;
  #next = 0;
  #id = 10;
  #sentMs = new Map();
  #habit;

  constructor(port, { habit = HABITS[0], onClean = () => {} } = {}) {
    this.#habit = habit;
    this.onClean = onClean;
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isOpen = false;
    });
    this.socket.on('data', (text) => this.#read(text));
  }

  async login(worker, { password = 'x', suggest } = {}) {
    await once(this.socket, 'connect');
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

  /** Tries so many nonces, and submits what is a share. */
  mine(nonces) {
    if (!this.#job || this.nonce1 === undefined) return;
    const { id, puzzle } = this.#job;
    for (const end = this.#next + nonces; this.#next < end; this.#next++) {
      const nonce = { lane: this.nonce1, counter: this.#next, page: 0 };
      if (!meets(hashTail(puzzle, nonce), puzzle.target)) continue;
      const nonce2 = (joinNonce(nonce) >> 16n).toString(16).padStart(12, '0');
      this.#sentMs.set(++this.#id, nowMs());
      this.say({ id: this.#id, method: 'mining.submit', params: ['w', id, nonce2] });
    }
  }

  /** Answers a ping, as honest sessions do for measuring. @returns ms */
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
    for (const line of lines) this.#take(JSON.parse(line));
  }

  #take({ id, method, params, result, error }) {
    if (method === 'mining.set_target') {
      this.retargets++;
      this.#formerTarget = this.#target;
      this.#target = parseTarget(params[0]);
      if (this.#habit === 'at-once' && this.#job)
        this.#job.puzzle = { ...this.#job.puzzle, target: words(this.#target) };
    } else if (method === 'mining.notify') {
      const [job, header, clean] = params;
      if (clean && this.cleanHeader.slice(32, 96) !== header.slice(32, 96)) {
        this.cleanMs = nowMs();
        this.cleanHeader = header;
        this.onClean(this);
      }
      const target = this.#habit === 'late' ? (this.#formerTarget ?? this.#target) : this.#target;
      this.#formerTarget = undefined;
      this.#job = { id: job, puzzle: puzzleOf(parseHeader(header), target) };
      this.#next = 0;
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
