/** `pickaxe fleet` over a fleet in memory: the table, JSON, and requests to rigs. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runControl } from '#pickaxe/cli/fleet/control.js';
import { runWatch, type WatchOptions } from '#pickaxe/cli/fleet/watch.js';
import { FleetControlAnswer } from '#pickaxe/fleet/operator/fleet-answers.js';
import { FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { expectShape } from '../../expect-shape.ts';
import { delivered, SUBJECTS, sendReport, sendState, stateWithWork } from '../../fleet/operator/messages.ts';
import { pickaxe } from '../in-process.ts';
import { type Pretended, pretendedIo } from '../pretended-io.ts';
import { answeringRig, LOADED, setUp } from './members.ts';

const OPTIONS: WatchOptions = { once: true, json: false, wait: 15, sort: 'attention' };

/** Runs the command until it ends by itself; time passes when it begins to listen. */
function watching(options: Partial<WatchOptions>, io: Pretended = pretendedIo()) {
  const fleet = setUp();
  const running = runWatch(LOADED, { ...OPTIONS, ...options }, io, fleet.open);
  return { ...fleet, io, running };
}

describe('pickaxe fleet --once', () => {
  it('listens for 15 s, and prints the table', async () => {
    const { nats, clock, io, running, isClosed } = watching({});
    await delivered();
    expect(io.stderr).toBe('Listening for 15 s: each rig reports once in 10 s …\n');
    sendState(nats.link('c1'), 'c1', stateWithWork(1));
    sendReport(nats.link('rig'), 'rig', { group: 'hall-a' });
    clock.advance(14_900);
    await delivered();
    expect(io.stdout).toBe('');
    clock.advance(100);
    expect(await running).toBe(0);
    expect(io.stdout).toMatch(/^rigs +1 mining/);
    expect(io.stdout).toMatch(/^c1 +gives work/m);
    expect(io.stdout).toMatch(/^rig +hall-a +mining/m);
    expect(isClosed()).toBe(true);
    const late = nats
      .link('late')
      .request(SUBJECTS.report('late'), new Uint8Array(), 1_000, new AbortController().signal);
    await expect(late).rejects.toThrow('nobody');
  });

  it('prints the status as JSON, with the chosen rigs only', async () => {
    const { nats, clock, io, running } = watching({ json: true, group: 'hall-a', name: 'rig?', state: ['mining'] });
    await delivered();
    const link = nats.link('rigs');
    sendReport(link, 'rig1', { group: 'hall-a' });
    sendReport(link, 'rig2');
    sendReport(link, 'rig3', { group: 'hall-a', state: 'paused' });
    sendReport(link, 'rig10', { group: 'hall-a' });
    await delivered();
    clock.advance(15_000);
    expect(await running).toBe(0);
    const status = JSON.parse(io.stdout);
    expectShape(FleetStatus, status);
    expect(status).toMatchObject({ rigsMining: 3, rigs: [{ name: 'rig1' }] });
  });

  it('fails without a connection, and says why', async () => {
    const { link, clock, io, running } = watching({});
    link.disconnect('the server is away');
    await delivered();
    clock.advance(15_000);
    expect(await running).toBe(1);
    expect(io.stdout).toBe('');
    expect(io.stderr).toContain('error: there is no connection to a NATS server: the server is away\n');
  });
});

describe('pickaxe fleet', () => {
  it('prints the table once where nobody could see it change, on no terminal and without a page', async () => {
    const { nats, clock, io, running } = watching({ once: false });
    sendReport(nats.link('rig'), 'rig');
    await delivered();
    clock.advance(15_000);
    expect(await running).toBe(0);
    expect(io.stdout).toMatch(/^rigs +1 mining/);
  });

  it('prints an object at each refresh with --json, until it is stopped', async () => {
    const stopping = new AbortController();
    const io = pretendedIo({ stop: stopping.signal });
    const { nats, running } = watching({ once: false, json: true, every: 0.001 }, io);
    sendReport(nats.link('rig'), 'rig');
    while (io.stdout.split('\n').length < 4) await delivered();
    stopping.abort();
    expect(await running).toBe(0);
    for (const line of io.stdout.trimEnd().split('\n')) expectShape(FleetStatus, JSON.parse(line));
  });

  it.each([
    { what: 'an object every 10 s', json: true, seconds: 10, first: 0 },
    { what: 'a table every 2 s', json: false, seconds: 2, first: 1 },
    { what: 'a table every 7 s, as is asked', json: false, seconds: 7, first: 1, every: 7 },
  ])('prints $what', async ({ json, seconds, first, every }) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const stopping = new AbortController();
    const texts: string[] = [];
    const io = { ...pretendedIo({ stop: stopping.signal }), columns: 60, rows: 20 };
    io.out = (text) => void (/"rigsMining"|sorted by/.test(text) && texts.push(text));
    const { running } = watching({ once: false, json, ...(every !== undefined && { every }) }, io);
    const counts: number[] = [];
    const count = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      counts.push(texts.length - first);
    };
    await count(0);
    for (let round = 0; round < 2; round++) {
      await count(1_000 * seconds - 1);
      await count(1);
    }
    stopping.abort();
    expect(await running).toBe(0);
    expect(counts).toEqual([0, 0, 1, 1, 2]);
  });

  it('covers a terminal with tables that fit it, and uncovers it at the end', async () => {
    const stopping = new AbortController();
    const io = { ...pretendedIo({ stop: stopping.signal }), columns: 60, rows: 20 };
    const texts: string[] = [];
    io.out = (text) => texts.push(text);
    const { nats, running } = watching({ once: false, every: 0.001 }, io);
    const link = nats.link('rigs');
    for (let i = 0; i < 100; i++) sendReport(link, `rig${i}`);
    while (!texts.at(-1)?.includes('… and ')) await delivered();
    stopping.abort();
    expect(await running).toBe(0);
    const table = texts.findLast((text) => text.includes('… and ')) ?? '';
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the table begins with commands to the terminal
    const rows = table.replace(/\x1b\[[?\d;]*[A-Za-z]/g, '').split('\n');
    expect(rows).toHaveLength(20);
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(60);
    expect(rows.at(-1)).toMatch(/^sorted by attention; Ctrl-C ends this; still listening/);
    expect(texts.at(-1)).toContain('\u001b[?1049l');
  });
});

describe('pickaxe fleet --http', () => {
  const listening = (level: 'info' | 'silent') => {
    const { config } = LOADED;
    const http = { ...config.http, listen: { host: '127.0.0.1', port: 0 } };
    return { ...LOADED, config: { ...config, http, log: { ...config.log, level } } };
  };

  it('serves its page beside the table, below which are the last three lines of the log', async () => {
    const stopping = new AbortController();
    let table: string[] = [];
    const io = { ...pretendedIo({ stop: stopping.signal }), columns: 150, rows: 20 };
    io.out = (text) => {
      if (text.includes('sorted by')) table = text.split('\n').slice(-4);
    };
    const fleet = setUp();
    const options = { ...OPTIONS, once: false, every: 0.001 };
    const running = runWatch(listening('info'), options, io, fleet.open);
    while (!table[2]?.includes('listening at')) await delivered();
    const url = /http:\S+(?=,)/.exec(table[2])![0];
    expect(table).toEqual([
      expect.anything(),
      '',
      `listening at ${url}, read-only`,
      'sorted by attention; Ctrl-C ends this; still listening: a rig reports once in 10 s',
    ]);
    const ask = () => fetch(new URL('/api/v1/fleet', url), { headers: { connection: 'close' } });
    expectShape(FleetStatus, await (await ask()).json());
    for (const name of ['a', 'b', 'c', 'd']) sendReport(fleet.nats.link(name), name, { devices: 7 } as never);
    fleet.clock.advance(15_000);
    while (!table.at(-2)?.includes(' d ')) await delivered();
    expect(table.slice(0, 3)).toEqual(['b', 'c', 'd'].map((name) => expect.stringContaining(` ${name} `)));
    expect(table[3]).toBe('sorted by attention; Ctrl-C ends this');
    stopping.abort();
    expect([await running, fleet.isClosed()]).toEqual([0, true]);
    await expect(ask()).rejects.toThrow('fetch failed');
  });

  it('serves its page without a terminal, until it is stopped', async () => {
    const stopping = new AbortController();
    const io = pretendedIo({ stop: stopping.signal });
    const fleet = setUp();
    const running = runWatch(listening('silent'), { ...OPTIONS, once: false }, io, fleet.open);
    for (let turn = 0; turn < 20; turn++) await delivered();
    expect(fleet.isClosed()).toBe(false);
    stopping.abort();
    expect([await running, fleet.isClosed(), io.stdout]).toEqual([0, true, '']);
  });
});

describe('requests to rigs', () => {
  const DONE = { done: true, message: 'every device is paused' };

  it('are sent at once to rigs that are named, and each answer is printed', async () => {
    const { nats, open, isClosed } = setUp();
    const requests = answeringRig(nats, 'rig1', DONE);
    answeringRig(nats, 'rig2', { done: false, message: 'the owner\n does not allow it' });
    const io = pretendedIo();
    const which = { wait: 15, json: false };
    const code = await runControl(LOADED, ['rig1', 'rig2', 'rig3', 'rig1'], which, { command: 'pause' }, io, open);
    expect(code).toBe(1);
    expect(io.stdout).toBe(
      [
        'rig1  done      every device is paused',
        'rig2  NOT DONE  the owner does not allow it',
        'rig3  NOT DONE  it is not connected, has another name, or an earlier version of pickaxe',
        '1 of 3 rigs did it\n',
      ].join('\n'),
    );
    expect(requests).toEqual([{ command: 'pause' }]);
    expect(isClosed()).toBe(true);
  });

  it('go to the rigs of a group or of a pattern once these have reported', async () => {
    const { nats, clock, open } = setUp();
    const asked = ['a1', 'a2', 'b1'].map((name) => answeringRig(nats, name, DONE));
    const io = pretendedIo();
    const which = { group: 'hall', wait: 15, json: true };
    const running = runControl(LOADED, ['a*', 'b1', 'c1'], which, { command: 'restart' }, io, open);
    await delivered();
    const link = nats.link('rigs');
    sendReport(link, 'a1', { group: 'hall' });
    sendReport(link, 'a2', { group: 'hall', control: false });
    sendReport(link, 'a3');
    sendReport(link, 'b1', { group: 'hall' });
    await delivered();
    clock.advance(15_000);
    expect(await running).toBe(1);
    const answer = JSON.parse(io.stdout);
    expectShape(FleetControlAnswer, answer);
    expect(answer).toMatchObject({
      done: 2,
      failed: 1,
      rigs: [
        { name: 'a1', done: true },
        { name: 'a2', done: false, message: 'its owner does not let operators control it' },
        { name: 'b1', done: true },
      ],
    });
    expect(asked.map(({ length }) => length)).toEqual([1, 0, 1]);
  });

  it('fail when no such rig has reported, and without a connection', async () => {
    const { clock, open, link } = setUp();
    const io = pretendedIo();
    const running = runControl(LOADED, ['x*'], { wait: 15, json: false }, { command: 'pause' }, io, open);
    await delivered();
    clock.advance(15_000);
    expect(await running).toBe(1);
    expect(io.stderr).toContain('error: no such rig has reported.\n');
    link.disconnect('the server is away');
    const again = runControl(LOADED, ['x'], { wait: 15, json: false }, { command: 'pause' }, io, open);
    await delivered();
    clock.advance(10_000);
    expect(await again).toBe(1);
    expect(io.stderr).toContain('error: there is no connection to a NATS server: the server is away\n');
  });

  it.each([
    [['pause'], 'Say which rigs'],
    [['limits', 'rig1'], 'Give a limit'],
    [['limits', 'rig1', '--gpu', '1000'], 'Give a temperature'],
    [['pause', 'x'.repeat(65)], 'No rig’s name is longer'],
    [['--sort', 'colour'], 'Allowed choices are'],
    [['--state', 'tired'], 'Give some of'],
    [['pause', 'rig1'], 'No NATS server is configured'],
    [['pause', 'rig1', '--nats', 'http://x'], 'Write the URL of a NATS server'],
    [['limits', '--group', 'hall-a', '--gpu', '70'], 'No NATS server is configured'],
    [['--once', '--nats', 'http://x'], 'Write the URL of a NATS server'],
    [['--once'], 'No NATS server is configured'],
    [['--once', '--wait', '3601'], 'Give a time of at most an hour'],
    [['--once', '--wait', '1h'], 'No NATS server is configured'],
  ])('refuses pickaxe fleet %j', async (words, says) => {
    const { code, stderr } = await pickaxe('fleet', ...words);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });
});
