/** What a stratum server does when it is full, what it says of refused clients, and when it has ended. */

import { once } from 'node:events';
import { connect, Server } from 'node:net';
import { createSecureContext } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { StratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { type StratumOptions, StratumRelay } from '#pickaxe/miner/relay/stratum/stratum-server.js';
import { FakeSource, makeWork, Recorder } from '../../../fakes.ts';
import { selfSigned } from '../../../node/client/certificates.ts';
import { turns, turnsUntil } from '../../../turns.ts';
import { eventually } from '../../source/follow.ts';
import { Asic } from './asic.ts';

/** A server on a clock that the test moves, which tells with each tick how it does. */
async function serving(limits: Partial<StratumLimits>, more: Partial<StratumOptions> = {}) {
  const source = new FakeSource();
  const recorded = new Recorder();
  const warnings: string[] = [];
  const time = { ms: 0 };
  const relay = new StratumRelay({
    source,
    emit: recorded.listen,
    clock: { ...systemClock, monotonicMs: () => time.ms },
    log: { debug() {}, info() {}, warn: (line) => void warnings.push(line) },
    listen: { host: '127.0.0.1', port: 0 },
    limits: { tickMs: 5, reportMs: 0, ...limits },
    ...more,
  });
  await relay.open();
  const stop = new AbortController();
  const running = relay.run(stop.signal);
  source.work(makeWork(2 ** 60));
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const client = (first?: string) => {
    const asic = new Asic(relay.port as number, first === undefined ? {} : { first });
    onTestFinished(() => asic.end());
    return asic;
  };
  const ready = async () => {
    const asic = client();
    asic.login();
    await eventually(() => expect(asic.job).toBeDefined());
    return asic;
  };
  const told = () => recorded.of('relay').at(-1);
  /** Lets the server look after its clients some times more. */
  const ticks = async () => {
    const before = recorded.of('relay').length;
    await eventually(() => expect(recorded.of('relay').length).toBeGreaterThan(before + 3));
  };
  return { relay, recorded, warnings, time, stop, running, client, ready, told, ticks };
}

it('a full server makes room for as many as it has refused, at most once in a second', async () => {
  const { time, client, ready, told, ticks } = await serving({ connections: 4 });
  const old = [await ready(), await ready(), await ready(), await ready()];
  const refuse = async (full: number) => {
    await client().closed;
    await eventually(() => expect(told()?.refused?.full).toBe(full));
    await ticks();
  };
  const ended = () => old.map(({ socket }) => socket.destroyed);
  // All of them have come too lately to be sent away.
  time.ms = 149_500;
  await refuse(1);
  time.ms = 150_499;
  for (const full of [2, 3]) await refuse(full);
  expect([told()?.refused?.idle, ended()]).toEqual([0, [false, false, false, false]]);
  time.ms = 150_500;
  await ticks();
  expect(told()?.refused?.idle).toBe(2);
  await eventually(() => expect(ended()).toEqual([true, true, false, false]));
  // Nobody else has come, so nobody else has to go.
  time.ms = 300_000;
  await ticks();
  expect(told()?.refused?.idle).toBe(2);
});

it('a server says once in a minute whom it has refused', async () => {
  const { relay, warnings, told } = await serving({});
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const refuse = async (count: number) => {
    const socket = connect(relay.port as number, '127.0.0.1').on('error', () => {});
    socket.write(Buffer.from([0x16, 0x03, 0x01]));
    await once(socket.resume(), 'end');
    socket.destroy();
    await turnsUntil(() => told()?.refused?.handshake === count);
  };
  await refuse(1);
  await refuse(2);
  vi.advanceTimersByTime(59_999);
  expect(warnings).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(warnings.splice(0)).toEqual(['refused: handshake 2; from 127.0.0.1']);
  await refuse(3);
  vi.advanceTimersByTime(59_999);
  expect(warnings).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(warnings).toEqual(['refused: handshake 1; from 127.0.0.1']);
});

it('a server has ended only once its port and its connections are closed', async () => {
  const { relay, running, stop, ready } = await serving({});
  await ready();
  const close = vi.spyOn(Server.prototype, 'close').mockImplementation(function (this: Server, ended) {
    close.mockRestore();
    return this.close((fault) => held.push(() => ended?.(fault)));
  });
  const held: (() => void)[] = [];
  let hasEnded = false;
  void running.then(() => {
    hasEnded = true;
  });
  stop.abort();
  await eventually(() => expect(held).toHaveLength(1));
  await turns();
  expect([hasEnded, relay.port]).toEqual([false, undefined]);
  held[0]();
  await running;
  expect(hasEnded).toBe(true);
});

it('a server logs ten faults of its own at once, and one in ten seconds with how many it left out', async () => {
  const secureContext = {
    get context(): never {
      throw new Error('the key is gone');
    },
  };
  const { warnings, client, time } = await serving({}, { secureContext });
  const line = '127.0.0.1 was refused: the key is gone';
  for (let count = 0; count < 12; count++) await client().closed;
  expect(warnings.splice(0)).toEqual(Array(10).fill(line));
  time.ms = 10_000;
  await client().closed;
  await client().closed;
  expect(warnings.splice(0)).toEqual([`${line}; there were 2 others`]);
  time.ms = 30_000;
  for (let count = 0; count < 3; count++) await client().closed;
  expect(warnings).toEqual([`${line}; there were 1 others`, line]);
});

it('a client that says something else than TLS has two penalty points for it', async () => {
  const secureContext = createSecureContext({ cert: selfSigned.cert, key: selfSigned.key });
  const { warnings, client, told } = await serving({ banPoints: 5, banPointsPerMinute: 0 }, { secureContext });
  for (const count of [1, 2, 3]) {
    expect(warnings).toEqual([]);
    await client('GET / HTTP/1.1\r\n\r\n').closed;
    await eventually(() => expect(told()?.refused?.handshake).toBe(count));
  }
  expect(warnings).toEqual(['127.0.0.1 is banned for 5 minutes: the handshake of TLS failed']);
});
