// A small, strict pool for benchmarks and tests: it gives every connection a nonce1 of its own, verifies every share,
// and counts. Its jobs come from the ledger of a mock node, so that a share which is a block, too, makes a New Cut.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { formatNonce1, formatTarget, parseNonce2 } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { toHex, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { headerTargetOf, withNonce } from '#pickaxe/protocol/chain/work.js';
import { LineSplitter } from '#pickaxe/protocol/wire/lines.js';
import { MockNode } from './mock-node.mjs';

const MOST_LINE_BYTES = 4_096;

export class MockPool {
  stats = { accepted: 0, blocks: 0, stale: 0, duplicate: 0, low: 0, wrong: 0, connections: 0 };
  /** The users and the passwords that were sent. */
  users = new Set();
  passwords = new Set();
  /** Whether shares are answered. */
  answers = true;
  #node;
  #target;
  #user;
  #server;
  #port = 0;
  #sessions = new Set();
  #jobs = new Map();
  #job;
  #made = 0;
  #nonce1Bytes;
  #nextNonce1 = 0xfedc_0100;
  #refreshing;

  /**
   * `difficulty` and `shareDifficulty`: hashes that a block and a share take on average. `refreshMs`: how often there
   * is a newer job on the same parent, which leaves the earlier ones valid. `identity`: key and certificate, for TLS.
   * `user`: the only user that it takes; without it, it takes all. `nonce1Bytes`: how many bytes of the nonce it
   * fixes.
   * @param {{
   *   difficulty?: number,
   *   shareDifficulty?: number,
   *   refreshMs?: number,
   *   identity?: { key: string, cert: string },
   *   user?: string,
   *   nonce1Bytes?: number,
   * }} options
   */
  constructor({ difficulty = 1e6, shareDifficulty = 1e5, refreshMs, identity, user, nonce1Bytes = 2 } = {}) {
    this.#node = new MockNode({ difficulty });
    this.#user = user;
    this.#nonce1Bytes = nonce1Bytes;
    this.#target = targetForDifficulty(shareDifficulty);
    const greet = (socket) => this.serve(socket);
    this.#server = identity ? createTlsServer(identity, greet) : createServer(greet);
    this.#server.on('tlsClientError', () => {});
    this.scheme = identity ? 'stratum+ssl' : 'stratum+tcp';
    this.#node.ledger.follow((update, chain) => {
      if (update === 'New Cut' && chain === this.#job.chain) this.#newJob(true);
    });
    this.#newJob(true);
    if (refreshMs) this.#refreshing = setInterval(() => this.refresh(), refreshMs);
  }

  /** Listens, on the same port as before if there was one. @returns the pool's URL */
  async start() {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = this.#server.address().port;
    return `${this.scheme}://127.0.0.1:${this.#port}`;
  }

  /** Ends all connections at once and refuses new ones, as when the machine goes down. */
  async goAway() {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { socket } of this.#sessions) socket.destroy();
    await closed;
  }

  async close() {
    clearInterval(this.#refreshing);
    if (this.#server.listening) await this.goAway();
    await this.#node.close();
  }

  /** The open connections of miners that have subscribed. */
  get open() {
    return [...this.#sessions].filter(({ nonce1 }) => nonce1).length;
  }

  /** Another miner finds a block on the chain that is mined. */
  newCut() {
    this.#node.ledger.advance(this.#job.chain);
  }

  /** Makes a newer job on the same parent. The earlier ones stay valid. */
  refresh() {
    const { chain } = this.#job;
    this.#node.ledger.refreshPayload(chain);
    this.#newJob(false, chain);
  }

  /** Changes what a share takes, without a new job. */
  setShareDifficulty(hashes) {
    this.#target = targetForDifficulty(hashes);
    this.#toAll((session) => this.#sendTarget(session));
  }

  /**
   * Gives every connection another nonce1 for later jobs, and a newer job. The earlier ones stay valid.
   * @param bytes how many bytes it has from now on
   */
  changeNonce1(bytes = this.#nonce1Bytes) {
    this.#nonce1Bytes = bytes;
    this.#toAll((session) => {
      session.nonce1 = this.#newNonce1();
      session.send({
        id: null,
        method: 'mining.set_extranonce',
        params: [formatNonce1(session.nonce1), 8 - bytes],
      });
    });
    this.refresh();
  }

  #newNonce1() {
    return { value: this.#nextNonce1++ % 256 ** this.#nonce1Bytes, bytes: this.#nonce1Bytes };
  }

  #newJob(clean, chain) {
    const { ledger } = this.#node;
    if (chain !== undefined) ledger.pickChain = () => chain;
    const record = ledger.issueWork('pool');
    if (clean) this.#jobs.clear();
    this.#made++;
    const header = record.slice(WORK_OFFSET.header);
    const id = this.#made.toString(16);
    this.#job = { id, header, clean, chain: record[WORK_OFFSET.chain], seen: new Set(), easiest: this.#target };
    this.#jobs.set(id, this.#job);
    this.#toAll((session) => this.#sendJob(session));
  }

  #toAll(send) {
    for (const session of this.#sessions) if (session.authorized) send(session);
  }

  #sendTarget(session) {
    // Shares that are on their way were found at the earlier target.
    if (!meetsTarget(this.#target, this.#job.easiest)) this.#job.easiest = this.#target;
    session.send({ id: null, method: 'mining.set_target', params: [formatTarget(this.#target)] });
  }

  #sendJob(session) {
    const { id, header, clean } = this.#job;
    session.nonce1Of.set(id, session.nonce1);
    session.send({ id: null, method: 'mining.notify', params: [id, toHex(header), clean] });
  }

  /** Serves a connection, which other code may have accepted. */
  serve(socket) {
    const splitter = new LineSplitter(MOST_LINE_BYTES);
    const session = { socket, nonce1Of: new Map(), send: (message) => socket.write(`${JSON.stringify(message)}\n`) };
    this.#sessions.add(session);
    this.stats.connections++;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => this.#sessions.delete(session));
    socket.on('data', (chunk) => {
      for (const line of splitter.push(chunk)) this.#answer(session, JSON.parse(line));
    });
  }

  #answer(session, { id, method, params }) {
    const answer = (result, error = null) => session.send({ id, result, error });
    if (method === 'mining.subscribe') {
      session.nonce1 = this.#newNonce1();
      answer([null, formatNonce1(session.nonce1), 8 - this.#nonce1Bytes]);
    } else if (method === 'mining.authorize') {
      const [user, password] = params;
      this.users.add(user);
      this.passwords.add(password);
      if (this.#user !== undefined && user !== this.#user) return answer(null, [24, 'unauthorized worker', null]);
      session.authorized = true;
      session.user = user;
      answer(true);
      this.#sendTarget(session);
      this.#sendJob(session);
    } else if (method === 'mining.submit') {
      const verdict = this.#judge(session, params);
      if (this.answers) answer(...verdict);
    } else {
      answer(null, [-3, 'method not found', null]);
    }
  }

  /** @returns the result and the error of the answer */
  #judge(session, [user, jobId, nonce2]) {
    const job = this.#jobs.get(jobId);
    const nonce1 = session.nonce1Of.get(jobId) ?? session.nonce1;
    const nonce = parseNonce2(nonce2, nonce1);
    if (user !== session.user || nonce === undefined || nonce2.length !== 2 * (8 - nonce1.bytes)) {
      return this.#refuse('wrong', [31, 'invalid nonce', null]);
    }
    if (!job) return this.#refuse('stale', [21, 'stale share: job not found', null]);
    const key = `${nonce1.value} ${nonce}`;
    if (job.seen.has(key)) return this.#refuse('duplicate', [22, 'duplicate share', null]);
    const header = withNonce(job.header, nonce);
    const hash = powHash(header);
    const isBlock = meetsTarget(hash, headerTargetOf(header));
    if (!isBlock && !meetsTarget(hash, job.easiest)) return this.#refuse('low', [23, 'low difficulty share', null]);
    job.seen.add(key);
    this.stats.accepted++;
    if (isBlock) {
      this.stats.blocks++;
      // The answer comes before the next job.
      setImmediate(() => this.#node.ledger.submit(header));
    }
    return [true];
  }

  #refuse(kind, error) {
    this.stats[kind]++;
    return [null, error];
  }
}
