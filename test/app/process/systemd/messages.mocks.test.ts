/** What is sent to the service manager, and when, with a C library and a clock of the test. */

import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openNotifySocket, systemd } from '#pickaxe/app/process/systemd.js';
import { device, relay, worker } from '../../../rig/status/fakes.ts';
import { idleMiner } from '../../composition/sidecars/fakes.ts';

const system = vi.hoisted(() => ({
  descriptor: 7,
  /** Number of bytes that a call fails to send. */
  lost: 0,
  sockets: [] as number[][],
  sent: [] as { text: string; to: Buffer; numbers: number[] }[],
  closed: [] as number[],
}));

vi.mock('koffi', () => {
  const library: Record<string, (...given: never[]) => number> = {
    socket: (...given: number[]) => {
      system.sockets.push(given);
      return system.descriptor;
    },
    sendto: (from: number, bytes: Buffer, size: number, flags: number, to: Buffer, length: number) => {
      system.sent.push({ text: bytes.toString(), to, numbers: [from, size - bytes.length, flags, length - to.length] });
      return size - system.lost;
    },
    close: (descriptor: number) => system.closed.push(descriptor),
  };
  return { default: { load: () => ({ func: (name: string) => library[name] }), errno: () => 11 } };
});

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  Object.assign(system, { descriptor: 7, lost: 0, sockets: [], sent: [], closed: [] });
});

const said = () => system.sent.splice(0).map(({ text }) => text);

async function serving(environment: Record<string, string> = {}, beginsAgain = false) {
  const given: Record<string, string | undefined> = { NOTIFY_SOCKET: '@pickaxe', OTHER: '1', ...environment };
  const sidecar = await systemd(given);
  const { running, said: logged } = idleMiner();
  const end = await sidecar({ ...running, beginsAgain: () => beginsAgain });
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return said();
  };
  return { ...running, end, after, logged, given };
}

const FIGURES = '0 H/s, 0 accepted, 0 rejected, 0 stale';
const starting = (seconds: number) => `STATUS=${FIGURES}; starting for ${seconds} s (no device has been opened yet)`;

it('a message each ten seconds says how the rig is, from its first device on that it is ready, and one its end', async () => {
  const { events, end, after } = await serving();
  expect(system.sockets).toEqual([[1, 0o2000002, 0]]);
  expect([await after(9_999), await after(1), await after(10_000)]).toEqual([[], [starting(10)], [starting(20)]]);
  events.emit(device('cpu', 'reopening'));
  expect(said()).toEqual([]);
  events.emit(device('cpu', 'ready'));
  const [first, ...more] = said();
  expect([first.split('\n')[0], more]).toEqual(['READY=1', []]);
  events.emit(device('gpu0', 'ready'));
  expect(said()).toEqual([]);
  expect((await after(10_000)).map((text) => text.split('\n')[0])).toEqual(['READY=1']);
  // It stays ready, whatever becomes of its devices.
  for (const name of ['cpu', 'gpu0']) events.emit(device(name, 'reopening'));
  expect((await after(10_000)).map((text) => text.split('\n')[0])).toEqual(['READY=1']);
  const handlers = ['SIGINT', 'SIGTERM'].map((signal) => process.listenerCount(signal));
  process.emit('SIGTERM', 'SIGTERM');
  const stopping = ['STOPPING=1\nSTATUS=waiting for pending submissions'];
  expect([said(), await after(60_000)]).toEqual([stopping, []]);
  await end();
  expect([said(), system.closed]).toEqual([[], [7]]);
  expect(['SIGINT', 'SIGTERM'].map((signal) => process.listenerCount(signal) + 1)).toEqual(handlers);
});

it('a message goes to the socket with its zero byte, and no call waits', async () => {
  const name = (text: string) => Buffer.concat([Buffer.from(new Uint16Array([1]).buffer), Buffer.from(text)]);
  for (const [address, to] of [
    ['@pickaxe', '\0pickaxe'],
    ['/run/notify', '/run/notify\0'],
    [`/${'x'.repeat(106)}`, `/${'x'.repeat(106)}\0`],
  ]) {
    const socket = await openNotifySocket(address);
    expect(socket.send({ READY: 1, STATUS: 'two\nlines' })).toBeUndefined();
    expect(system.sent.splice(0)).toEqual([
      { text: 'READY=1\nSTATUS=two lines', to: name(to), numbers: [7, 0, 0x4040, 0] },
    ]);
  }
  await expect(openNotifySocket(`/${'x'.repeat(107)}`)).rejects.toThrow('is longer than the name of a socket can be');
  for (const address of ['', '@', '/', 'run', '/a\0b']) {
    await expect(openNotifySocket(address)).rejects.toThrow(`${JSON.stringify(address)} is neither a path nor @`);
  }
  system.descriptor = -1;
  await expect(openNotifySocket('@pickaxe')).rejects.toThrow('the system provides no socket (error 11)');
  system.descriptor = 0;
  await expect(openNotifySocket('@pickaxe')).resolves.toBeDefined();
});

it('a watchdog gets two signs of life in its time, if it watches this process', async () => {
  const alive = `WATCHDOG=1\n${starting(1)}`;
  for (const [watched, at1s] of [
    [{ WATCHDOG_USEC: '2000000' }, [alive]],
    [{ WATCHDOG_USEC: '2000000', WATCHDOG_PID: `${process.pid}` }, [alive]],
    [{ WATCHDOG_USEC: '2000000', WATCHDOG_PID: '1' }, []],
    [{ WATCHDOG_USEC: '60000000' }, []],
  ] as const) {
    const { end, after, given } = await serving(watched);
    expect(given).toEqual({ OTHER: '1' });
    expect([await after(999), await after(1)]).toEqual([[], at1s]);
    await end();
    expect(given).toEqual({ OTHER: '1' });
    said();
  }
});

it('a rig that begins again says so, and finds the variables of the service manager as they were', async () => {
  const { end, given } = await serving({ WATCHDOG_USEC: '2000000' }, true);
  await end();
  expect([said(), given]).toEqual([
    ['STATUS=restarting'],
    { NOTIFY_SOCKET: '@pickaxe', WATCHDOG_USEC: '2000000', OTHER: '1' },
  ]);
});

it('a message that is not sent is a warning, and the next one only after one that was sent', async () => {
  const { end, after, logged } = await serving();
  const warning = { level: 'warn', msg: 'cannot send to @pickaxe (error 11); trying again' };
  system.lost = 1;
  await after(30_000);
  expect(logged).toEqual([warning]);
  system.lost = 0;
  await after(10_000);
  system.lost = 1;
  await after(20_000);
  expect(logged).toEqual([warning, warning]);
  await end();
});

it('workers are told beside devices', async () => {
  const { events, end, after } = await serving();
  events.emit(device('cpu', 'ready'));
  events.emit(relay('stratum', worker('attic')));
  said();
  const [text] = await after(10_000);
  expect(text).toContain('STATUS=0 H/s, workers 1 ~700.0 GH/s, 0 accepted, 0 rejected, 0 stale');
  await end();
});
