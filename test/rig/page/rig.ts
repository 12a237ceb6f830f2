/** A rig that a test controls, served with its page. */

import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import { type Controls, Events, type MinerEvent, type PauseReason } from '#pickaxe/miner/events/events.js';
import { serveHttp } from '#pickaxe/rig/http/api.js';
import type { Http, ServerOptions } from '#pickaxe/rig/http/http-server.js';
import { pageRoutes } from '#pickaxe/rig/http/route.js';
import { LogLines } from '#pickaxe/rig/log/log-lines.js';
import { LOG_LINE_OPTIONS, LogTail } from '#pickaxe/rig/log/log-tail.js';
import type { AskBalance, EarningsTerms } from '#pickaxe/rig/status/earnings.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { asker } from '../http/serving.ts';
import { device, FakeClock, hashes, relay, SETUP, share, verdict, worker } from '../status/fakes.ts';

const STEP_MS = 10_000;

export class Rig {
  readonly clock = new FakeClock();
  readonly events = new Events();
  readonly tally: Tally;
  readonly logTail = new LogTail();
  readonly emit = this.events.emit;
  /** What the page asked for: `pause gpu0`, `resume all` … */
  readonly asked: string[] = [];
  /** Answers for the node with a balance; absent if there is no node to ask. */
  askBalance: AskBalance | undefined;
  #http: Http | undefined;
  readonly #devices = new Set<string>();

  /**
   * @param startMs the start by the rig's clock
   * @param relays the names of the relays
   * @param terms the terms for the rig's estimate of earnings
   */
  constructor(startMs = 0, relays: readonly string[] = [], terms: EarningsTerms = {}) {
    this.clock.advance(startMs);
    this.tally = new Tally(
      this.clock,
      [],
      relays.map((name) => ({ name })),
      'node',
      terms,
    );
    this.events.on(this.tally.listen);
    this.events.on(new LogLines(pino(LOG_LINE_OPTIONS, this.logTail), this.tally).listen);
    this.events.on((event) => event.type === 'device' && this.#devices.add(event.device));
  }

  get url(): string {
    if (!this.#http) throw new Error('not served');
    return this.#http.url;
  }

  get ask() {
    return asker(Number(new URL(this.url).port));
  }

  /** Serves the rig until the test and its pages have ended. Only `steps` adds steps to the history. */
  async serve(options: Partial<ServerOptions> = {}): Promise<this> {
    onTestFinished(() => this.close());
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const controls: Controls = {
      pause: (_, why, name) => this.#act('pause', name, 'paused', why),
      resume: (_: PauseReason, name) => this.#act('resume', name, 'ready'),
      stop: () => this.asked.push('stop'),
    };
    const settings = { host: '127.0.0.1', port: 0, control: false, ...options };
    const { events, tally, clock, logTail } = this;
    const log = pino(LOG_LINE_OPTIONS, logTail);
    const askBalance = this.askBalance && ((stop: AbortSignal) => this.askBalance!(stop));
    const running = { rigName: 'rig-7', setup: SETUP, controls, events, tally, clock, log, logTail, askBalance };
    this.#http = await serveHttp(running, settings, pageRoutes());
    return this;
  }

  async close(): Promise<void> {
    await this.#http?.close();
    this.#http = undefined;
    vi.useRealTimers();
  }

  /** Adds steps of ten seconds to the history, with these events in the middle of each. */
  steps(count: number, ...events: MinerEvent[]): void {
    for (let step = 0; step < count; step++) {
      this.clock.advance(STEP_MS / 2);
      for (const event of events) this.emit(event);
      this.clock.advance(STEP_MS / 2);
      vi.advanceTimersByTime(STEP_MS);
    }
  }

  #act(action: string, name: string | undefined, state: 'paused' | 'ready', why?: string): boolean {
    const named = name === undefined ? [...this.#devices] : [name].filter((one) => this.#devices.has(one));
    this.asked.push(`${action} ${name ?? 'all'}`);
    for (const each of named) this.emit(device(each, state, why));
    return named.length > 0;
  }
}

export const NODE = 'http://127.0.0.1:1848/ledger';

/** Makes a CPU and a GPU work, with a value for every figure. */
export function work(rig: Rig): Rig {
  const { emit } = rig;
  emit({ type: 'source', source: NODE, kind: 'node', state: 'connected', reason: 'the node gives work' });
  emit({ type: 'source', source: 'http://127.0.0.1:1849/ledger', kind: 'node', state: 'lost', reason: 'refused' });
  emit({ type: 'source', source: NODE, kind: 'node', state: 'warning', reason: 'its clock is 3 s late' });
  emit(device('cpu', 'ready'));
  emit(device('gpu0', 'ready'));
  emit(device('gpu1', 'parked', 'it was lost'));
  emit({ type: 'work', chain: 7, height: 41n, difficulty: 9e6 });
  emit({ type: 'new-cut', chain: 3 });
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 5e6 });
  emit({ type: 'job-switch', device: 'gpu0', switchSeconds: 0.00425 });
  const sensors: MinerEvent = {
    type: 'telemetry',
    device: 'gpu0',
    telemetry: { temperatureCelsius: 61, powerWatts: 161.5, fanRatio: 0.4 },
  };
  rig.steps(6, hashes('cpu', 2e6, 5e6), hashes('gpu0', 40e6, 5e6), sensors);
  emit({ type: 'proof', device: 'gpu0', hashes: 230e6, difficulty: 88e6 });
  for (const each of ['accepted', 'accepted', 'rejected', 'stale', 'unknown'] as const)
    emit(verdict('gpu0', each, 'so it is'));
  emit({ type: 'hardware-error', device: 'cpu', nonce: 1n });
  emit(sensors);
  return rig;
}

/** A pool takes shares of the GPU, and two workers, one of which is gone, hash through a relay. */
export function workOnPool(rig: Rig): Rig {
  const { emit } = rig;
  emit({
    type: 'source',
    source: 'stratum+tcp://pool.example:3333',
    kind: 'pool',
    state: 'connected',
    reason: 'the pool gives work',
  });
  emit(device('gpu0', 'ready'));
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 5e18, shareDifficulty: 2 ** 40 });
  const { difficulty: _, lastShareSeconds: __, ...gone } = worker('gone', { sessions: 0, hashesPerSecond: 0 });
  emit(relay('stratum', worker('attic', { sessions: 2 }), gone));
  rig.steps(6, hashes('gpu0', 180e7, 5e18), { type: 'proof', device: 'gpu0', hashes: 181e7, difficulty: 88e6 });
  for (const each of ['accepted', 'accepted', 'rejected', 'stale'] as const) emit(share('gpu0', each, 'so it is'));
  emit(share('stratum', 'accepted', '', { isRelay: true, isBlock: true }));
  emit(relay('stratum', worker('attic', { sessions: 2, blocks: 1 }), gone));
  return rig;
}
