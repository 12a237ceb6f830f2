/**
 * A farm behind one address: its connections, their budgets and their difficulties are real; sockets, time and hashing
 * are not.
 */

import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { ConnectionLimiter, type SharedLines } from '#pickaxe/miner/relay/stratum/connection-limiter.js';
import { Connection } from '#pickaxe/miner/relay/stratum/socket.js';
import { stratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { Vardiff, type VardiffOptions } from '#pickaxe/miner/relay/stratum/vardiff.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';

const ADDRESS = '192.0.2.1';
const STEP_MS = 100;
const FIRST = 2 ** 42;

/** The socket of a connection. What comes while it is paused waits, as it does in the system's buffers. */
class TestSocket extends EventEmitter {
  readonly writableLength = 0;
  readonly unread: string[] = [];
  isPaused = false;

  write(): void {}
  cork(): void {}
  uncork(): void {}
  end(): void {}
  destroy(): void {}

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Has the connection read what has come. */
  deliver(): void {
    if (this.isPaused || this.unread.length === 0) return;
    this.emit('data', Buffer.from(this.unread.splice(0).join('')));
  }
}

interface Kind {
  /** In H/s. */
  readonly rate: number;
  readonly vardiff?: Partial<VardiffOptions>;
  /** Whether it goes on with its first difficulty, whatever it is told. */
  readonly keepsDifficulty?: boolean;
  /** Lines of the client a second that are no shares. */
  readonly junk?: number;
}

class Miner {
  readonly socket = new TestSocket();
  readonly vardiff: Vardiff;
  readonly #farm: Farm;
  readonly #junk: number;
  readonly #keepsDifficulty: boolean;
  rate: number;
  #offered: number;
  #due = 0;
  lines = 0;
  /** Why it was disconnected. */
  ended: string | undefined;

  constructor(farm: Farm, kind: Kind) {
    this.#farm = farm;
    this.rate = kind.rate;
    this.#junk = kind.junk ?? 0;
    this.#keepsDifficulty = kind.keepsDifficulty ?? false;
    const { learningSeconds } = farm;
    this.vardiff = new Vardiff({ aimSeconds: 10, difficulty: FIRST, learningSeconds, ...kind.vardiff });
    this.#offered = this.vardiff.difficulty;
    this.vardiff.offer(this.#offered, farm.nowMs);
    const ended = (reason: string, points: number) => {
      this.ended = reason;
      farm.door.leave(ADDRESS);
      farm.door.note(ADDRESS, points, reason, farm.nowMs);
    };
    const sharedLines = farm.door.enter(ADDRESS, farm.nowMs) as SharedLines;
    const { clock } = farm;
    const socket = this.socket as unknown as Socket;
    const connection = new Connection({
      stream: socket,
      address: ADDRESS,
      clock,
      limits: stratumLimits,
      sharedLines,
      heldUpMs: (nowMs) => farm.door.heldUpMs(nowMs),
      ended,
    });
    connection.start({
      receive: (line) => this.#receive(line),
      waits: () => this.vardiff.slowDown(farm.nowMs),
    });
    this.socket.unread.push('login\n'.repeat(4));
  }

  /** Mines for the time of a step. */
  step(): void {
    const { random, nowMs } = this.#farm;
    const expected = ((this.rate / this.#offered) * STEP_MS) / 1000;
    const wait = () => -Math.log(random());
    for (let at = wait(); at < expected; at += wait()) {
      this.socket.unread.push(`${nowMs}\n`);
    }
    this.#due += (this.#junk * STEP_MS) / 1000;
    for (; this.#due >= 1; this.#due--) this.socket.unread.push('junk\n');
    if (this.ended === undefined) this.socket.deliver();
  }

  retarget(): void {
    if (this.#keepsDifficulty || !this.vardiff.retarget(this.#farm.nowMs)) return;
    this.#offered = this.vardiff.difficulty;
    this.vardiff.offer(this.#offered, this.#farm.nowMs);
  }

  #receive(line: string): boolean {
    this.lines++;
    if (line === 'login' || line === 'junk') return false;
    this.#farm.lateMs = Math.max(this.#farm.lateMs, this.#farm.nowMs - Number(line));
    this.vardiff.share(this.#offered, this.#farm.nowMs);
    this.retarget();
    return true;
  }
}

class Farm {
  readonly logged: string[] = [];
  readonly door: ConnectionLimiter;
  readonly miners: Miner[] = [];
  readonly random: () => number;
  readonly clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => this.nowMs };
  nowMs = 0;
  /** How late a share was taken at most, since that was last set to 0. */
  lateMs = 0;
  #learning = 0;

  constructor() {
    const random = seededRandom(1);
    this.random = () => random() || Number.MIN_VALUE;
    const log = { debug() {}, info() {}, warn: (line: string) => void this.logged.push(line) };
    this.door = new ConnectionLimiter(stratumLimits, log, 0);
  }

  readonly learningSeconds = () => Math.max(0.15, this.#learning / 1_000);

  get ended(): Miner[] {
    return this.miners.filter(({ ended }) => ended !== undefined);
  }

  /** Lets time pass. @param begins how many clients of this kind connect in each second */
  pass(seconds: number, begins = 0, kind: Kind = { rate: 0 }): void {
    let begun = 0;
    for (let step = 1; step <= (seconds * 1000) / STEP_MS; step++) {
      this.nowMs += STEP_MS;
      for (; begun < (begins * step * STEP_MS) / 1000; begun++) this.miners.push(new Miner(this, kind));
      this.door.serve(this.nowMs);
      for (const miner of this.miners) miner.step();
      if (this.nowMs % 1_000 !== 0) continue;
      for (const miner of this.miners) miner.retarget();
      this.#learning = this.miners.filter(({ vardiff }) => vardiff.isLearning && vardiff.hashesPerSecond > 0).length;
    }
  }
}

describe('a farm behind one address', () => {
  it.each([1, 4])('starts with 8,192 fast miners in %d s, and none of them is disconnected or banned', (seconds) => {
    const farm = new Farm();
    farm.pass(seconds, 8_192 / seconds, { rate: 29e12 });
    farm.pass(60 - seconds);
    expect(farm.miners).toHaveLength(8_192);
    expect([farm.ended, farm.logged]).toEqual([[], []]);
    farm.lateMs = 0;
    farm.pass(10);
    expect(farm.lateMs).toBeLessThan(1_000);
  });

  it('goes on where its miners have chosen difficulties that are far too low, and shares soon are few enough', () => {
    const farm = new Farm();
    farm.pass(5, 60, { rate: 10 * 2 ** 32, vardiff: { difficulty: 2 ** 32, isChosen: true } });
    farm.pass(115);
    expect([farm.ended, farm.logged]).toEqual([[], []]);
    farm.lateMs = 0;
    farm.pass(10);
    expect(farm.lateMs).toBeLessThan(1_000);
  });

  it('is not read for a while where it sends far too much, and then goes on, however much has come meanwhile', () => {
    const farm = new Farm();
    farm.pass(1, 300, { rate: 20 * FIRST, keepsDifficulty: true });
    farm.pass(60);
    expect(farm.miners.every(({ socket }) => socket.isPaused)).toBe(true);
    const lines = farm.miners.map((miner) => miner.lines);
    expect(Math.max(...lines) / Math.min(...lines)).toBeLessThan(1.2);
    for (const miner of farm.miners) miner.rate = 0;
    farm.pass(240);
    expect([farm.ended, farm.logged]).toEqual([[], []]);
    expect(farm.miners.filter(({ socket }) => socket.isPaused || socket.unread.length > 0)).toEqual([]);
  });

  it('has clients disconnected that send more than one of them may, where there are lines', () => {
    const farm = new Farm();
    farm.pass(1, 2, { rate: 200 * FIRST, keepsDifficulty: true });
    farm.pass(10);
    expect(farm.ended.map(({ ended }) => ended)).toEqual(['flood', 'flood']);
    expect(farm.logged).toEqual([]);
  });

  it('keeps what is reserved for each miner, and an equal part, where neighbours send all that they may', () => {
    const farm = new Farm();
    farm.pass(1, 500, { rate: 0, junk: 40 });
    farm.pass(1, 1, { rate: FIRST / 2, vardiff: { isChosen: true } });
    const [honest] = farm.miners.slice(-1);
    farm.pass(60);
    expect(honest.ended).toBeUndefined();
    expect(farm.lateMs).toBeLessThan(1_000);
  });
});
