/** How long an operator waits for a connection and for reports. */

import { describe, expect, it } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { collectReports, connected, endDisconnected, openOperator, rosterOf } from '#pickaxe/cli/fleet/operator.js';
import { delivered, sendReport } from '../../fleet/operator/messages.ts';
import { SteppedClock } from '../../stepped-clock.ts';
import { isolated } from '../pickaxe.ts';
import { pretendedIo } from '../pretended-io.ts';
import { setUp } from './members.ts';

function fleet() {
  const clock = new SteppedClock();
  const { nats, link, operator } = setUp();
  return { nats, clock, link, operator: { ...operator, clock } };
}

/** Moves the clock by steps, between which the command does what it does then. */
async function pass(clock: SteppedClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    clock.advance(100);
    await delivered();
  }
}

/** Notes when a promise settles. */
function noting<T>(promise: Promise<T>) {
  const noted = { isOver: false, promise };
  void promise.finally(() => {
    noted.isOver = true;
  });
  return noted;
}

describe('a connection', () => {
  it('is waited for up to ten seconds', async () => {
    const { clock, link, operator } = fleet();
    link.disconnect();
    const waiting = noting(connected(operator, new AbortController().signal));
    await pass(clock, 9_900);
    expect(waiting.isOver).toBe(false);
    await pass(clock, 100);
    expect([waiting.isOver, await waiting.promise]).toEqual([true, false]);
  });

  it('that is made meanwhile is used at once, as one that exists', async () => {
    const { clock, link, operator } = fleet();
    const { signal } = new AbortController();
    expect(await connected(operator, signal)).toBe(true);
    link.disconnect();
    const waiting = noting(connected(operator, signal));
    await pass(clock, 5_000);
    link.reconnect();
    await pass(clock, 100);
    expect([waiting.isOver, await waiting.promise]).toEqual([true, true]);
  });

  it('is not waited for any more when the command is stopped', async () => {
    const { clock, link, operator } = fleet();
    link.disconnect();
    const stop = new AbortController();
    const waiting = noting(connected(operator, stop.signal));
    await pass(clock, 1_000);
    stop.abort();
    await delivered();
    expect([waiting.isOver, await waiting.promise]).toEqual([true, false]);
  });

  it('that there is not is said with the reason', () => {
    const io = pretendedIo();
    expect(endDisconnected('it is away', io)).toBe(1);
    expect(io.stderr).toBe('error: there is no connection to a NATS server: it is away\n');
  });
});

describe('reports', () => {
  function collecting(seconds: number, change: (link: ReturnType<typeof fleet>['link']) => void = () => {}) {
    const { nats, clock, link, operator } = fleet();
    change(link);
    const warned: string[] = [];
    const roster = rosterOf(operator, (line) => warned.push(line));
    const stop = new AbortController();
    const io = pretendedIo({ stop: stop.signal });
    const waiting = noting(collectReports(seconds, roster, operator, io));
    return { nats, clock, roster, warned, stop, io, waiting };
  }

  it('are collected for the time that was asked for, which is said, as are those that cannot be read', async () => {
    const { nats, clock, roster, warned, io, waiting } = collecting(15);
    expect(io.stderr).toBe('Listening for 15 s: each rig reports once in 10 s …\n');
    sendReport(nats.link('elm'), 'elm', {});
    sendReport(nats.link('oak'), 'oak', { devices: 7 } as never);
    await pass(clock, 14_900);
    expect(waiting.isOver).toBe(false);
    await pass(clock, 100);
    expect(waiting.isOver).toBe(true);
    expect(roster.status().rigs.map(({ name }) => name)).toEqual(['elm']);
    expect(warned).toEqual([expect.stringContaining('oak')]);
  });

  it('are given up without a connection', async () => {
    const { clock, waiting } = collecting(60, (link) => link.disconnect());
    await pass(clock, 9_900);
    expect(waiting.isOver).toBe(false);
    await pass(clock, 200);
    expect(waiting.isOver).toBe(true);
  });

  it('are collected until the command is stopped', async () => {
    const { clock, stop, waiting } = collecting(60);
    await pass(clock, 1_000);
    stop.abort();
    await delivered();
    expect(waiting.isOver).toBe(true);
  });
});

it('an operator has a name of its own, an inbox of operators, and a connection that it opens and closes', async () => {
  const flags = new Map<string, unknown>([
    ['nats.urls', ['nats://127.0.0.1:9']],
    ['rig.name', 'me'],
  ]);
  const loaded = loadConfig({ flags: flags as never, environment: {}, cwd: isolated.cwd });
  const operator = openOperator(loaded, () => {});
  expect(operator.instance).toMatch(/^[\da-f]{16}$/);
  expect(operator.link.state.isConnected).toBe(false);
  await operator.close();
});
