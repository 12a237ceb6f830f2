import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { systemd } from '#pickaxe/app/process/systemd.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Events, type MinerEvent } from '#pickaxe/miner/events/events.js';
import { LogTail } from '#pickaxe/rig/log/log-tail.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { PATIENCE } from '../../../patience.ts';
import { device, hashes, relay, SETUP, share, worker } from '../../../rig/status/fakes.ts';
import { receive, whyNoReceiver } from './receiver.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-systemd-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let sockets = 0;
const newAddress = () => join(folder, `notify${sockets++}`);

const connected: MinerEvent = { type: 'source', source: 'node', kind: 'node', state: 'connected', reason: '' };

/** Short, so that a test soon sees several messages. */
const WATCHDOG_USEC = '20000';

async function serve(
  environment: Record<string, string> = {},
  relays: { name: string }[] = [],
  beginsAgain = () => false,
) {
  const NOTIFY_SOCKET = newAddress();
  const { messages } = await receive(NOTIFY_SOCKET);
  const asked: Record<string, string | undefined> = { NOTIFY_SOCKET, WATCHDOG_USEC, ...environment };
  const sidecar = await systemd(asked);
  expect(asked).toEqual({});
  const events = new Events();
  const tally = new Tally(systemClock, [], relays);
  events.on(tally.listen);
  const controls = { pause: () => true, resume: () => true, stop: () => {} };
  const log = pino({ level: 'silent' });
  const end = await sidecar({
    rigName: 'rig-7',
    setup: SETUP,
    controls,
    events,
    tally,
    clock: systemClock,
    log,
    logTail: new LogTail(),
    beginsAgain,
  });
  const has = (line: string) => messages.filter((lines) => lines.includes(line)).length;
  return { events, messages, end, has, asked, NOTIFY_SOCKET };
}

const skipped = whyNoReceiver !== undefined && !process.env.CI;

describe.skipIf(skipped)(`a service of systemd${skipped ? `, not tried: ${whyNoReceiver}` : ''}`, () => {
  test('is ready once a device is in service, and shows signs of life while it hashes or has a reason not to', async () => {
    const { events, messages, end, has } = await serve();
    await vi.waitFor(() => expect(has('WATCHDOG=1')).toBeGreaterThan(2), PATIENCE);
    expect(has('READY=1')).toBe(0);
    expect(messages[0]).toContain(
      'STATUS=0 H/s, 0 accepted, 0 rejected, 0 stale; starting (no device has been opened yet)',
    );

    events.emit(device('cpu', 'ready'));
    await vi.waitFor(() => expect(has('READY=1')).toBeGreaterThan(0), PATIENCE);

    // From here on the device should hash, but it does not.
    events.emit(connected);
    const silent = () => messages.at(-1)!.every((line) => line !== 'WATCHDOG=1');
    await vi.waitFor(() => expect(silent()).toBe(true), PATIENCE);
    const before = has('WATCHDOG=1');
    const seen = messages.length;
    await vi.waitFor(() => expect(messages.length).toBeGreaterThan(seen + 3), PATIENCE);
    expect(has('WATCHDOG=1')).toBe(before);

    events.emit(hashes('cpu', 1000));
    await vi.waitFor(() => expect(has('WATCHDOG=1')).toBe(before + 1), PATIENCE);

    events.emit(device('cpu', 'paused', '91 °C'));
    await vi.waitFor(() => expect(has('WATCHDOG=1')).toBeGreaterThan(before + 3), PATIENCE);

    await end();
    await vi.waitFor(() => expect(messages.at(-1)).toContain('STOPPING=1'), PATIENCE);
    expect(has('STOPPING=1')).toBe(1);
  });

  test('does not stop when mining begins again in its process, which can report to systemd again', async () => {
    const { messages, end, has, asked, NOTIFY_SOCKET } = await serve({}, [], () => true);
    await end();
    await vi.waitFor(() => expect(messages.at(-1)).toEqual(['STATUS=restarting']), PATIENCE);
    expect(has('STOPPING=1')).toBe(0);
    expect(asked).toEqual({ NOTIFY_SOCKET, WATCHDOG_USEC });
  });

  test('without devices is ready at once, lives while it has work, and says how its workers are doing', async () => {
    const { events, messages, end, has } = await serve({}, [{ name: 'stratum' }]);
    await vi.waitFor(() => expect(has('READY=1')).toBeGreaterThan(0), PATIENCE);
    events.emit(connected);
    events.emit({ type: 'work', chain: 3, height: 42n, difficulty: 1e15, shareDifficulty: 1e9 });
    events.emit(relay('stratum', worker('attic')));
    events.emit(share('stratum', 'accepted', '', { isRelay: true }));
    const status =
      'STATUS=workers 1 ~700.0 GH/s, shares: 1 accepted, 0 rejected, 0 stale; blocks: 0 accepted, 0 rejected, 0 stale';
    const lives = () => messages.filter((lines) => lines.includes(status) && lines.includes('WATCHDOG=1')).length;
    await vi.waitFor(() => expect(lives()).toBeGreaterThan(2), PATIENCE);
    await end();
  });

  test('sends no sign of life when the watchdog watches another process', async () => {
    const { events, has, end } = await serve({ WATCHDOG_PID: '1' });
    events.emit(connected);
    await vi.waitFor(() => expect(has('READY=1')).toBe(1), PATIENCE);
    await end();
    await vi.waitFor(() => expect(has('STOPPING=1')).toBe(1), PATIENCE);
    expect(has('WATCHDOG=1')).toBe(0);
  });
});

test.each([
  [{ NOTIFY_SOCKET: 'vsock:2:1' }, /neither a path nor @.*Type=exec/],
  [{ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: 'soon' }, /WATCHDOG_USEC/],
  [{ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '0' }, /WATCHDOG_USEC/],
])('%j is an error that says what is wrong', async (environment, says) => {
  await expect(systemd(environment)).rejects.toThrow(says);
});
