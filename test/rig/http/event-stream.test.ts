import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Writable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import { Refusals } from '#pickaxe/base/system/bounded.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { EventStream } from '#pickaxe/rig/http/event-stream.js';
import { httpLimits, REASONS } from '#pickaxe/rig/http/http-access.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { PATIENCE } from '../../patience.ts';
import { device, FakeClock, verdict } from '../status/fakes.ts';
import { serve } from './serving.ts';

const MOST_CLIENTS = 16;
/** Number of events of 64 KiB that make 30 MB. */
const ENOUGH = 480;
const MOST_KEPT = 100_000;
const MARK = 'event: source\n';

interface Listening {
  readonly asked: ClientRequest;
  readonly response: IncomingMessage;
  text: string;
  /** Number of received events `source`. */
  received: number;
  /** The data of all events of this name that it has received. */
  events(name: string): Record<string, unknown>[];
}

async function listen(port: number): Promise<Listening> {
  const asked = request({ host: '127.0.0.1', port, path: '/api/v1/events', agent: false }).end();
  asked.on('error', () => {});
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  const listening: Listening = {
    asked,
    response,
    text: '',
    received: 0,
    events: (name) =>
      [...listening.text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)]
        .filter((match) => match[1] === name)
        .map((match) => JSON.parse(match[2])),
  };
  response.on('data', (chunk) => {
    // A chunk may end in the middle of the mark.
    const since = listening.text.slice(-(MARK.length - 1)) + chunk;
    listening.received += since.split(MARK).length - 1;
    listening.text = `${listening.text}${chunk}`.slice(-MOST_KEPT);
  });
  return listening;
}

it('a client gets a status at once and every second, and the events of --json', async () => {
  const { port, emit } = await serve();
  const client = await listen(port);
  expect(client.response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  expect(client.response.headers['cache-control']).toBe('no-store');
  await vi.waitFor(() => expect(client.events('status')).toHaveLength(1), PATIENCE);
  expect(client.events('status')[0]).toMatchObject({ type: 'status', devices: {}, ready: false });
  emit(device('cpu', 'ready'));
  emit({ type: 'hashes', device: 'cpu', hashes: 5, difficulty: 1 });
  emit(verdict('cpu', 'accepted'));
  await vi.waitFor(() => expect(client.events('verdict')).toHaveLength(1), PATIENCE);
  expect(client.events('verdict')[0]).toMatchObject({
    type: 'verdict',
    nonce: String(2n ** 63n),
    timeMillis: expect.any(Number),
  });
  expect(client.events('device')).toMatchObject([{ state: 'ready' }]);
  expect(client.events('hashes')).toEqual([]);
  await vi.waitFor(() => expect(client.events('status')).toHaveLength(2), PATIENCE);
  expect(client.events('status')[1]).toMatchObject({ devices: { cpu: { hashes: 5 } } });
});

it('a line break in a message stays within its event', async () => {
  const { port, emit } = await serve();
  const client = await listen(port);
  emit({ type: 'source', source: 'x', kind: 'node', state: 'warning', reason: 'a\n\nevent: status\ndata: {}' });
  await vi.waitFor(() => expect(client.events('source')).toHaveLength(1), PATIENCE);
  expect(client.text.match(/^event: status$/gm)).toHaveLength(1);
});

it('many clients can listen, further ones are refused for the moment, and a client that leaves makes room', async () => {
  const { port, ask } = await serve();
  const clients = await Promise.all(Array.from({ length: MOST_CLIENTS }, () => listen(port)));
  expect(await ask('/api/v1/events')).toMatchObject({ status: 503, json: { error: { code: 'too-many-clients' } } });
  expect((await ask('/api/v1/status')).status).toBe(200);
  clients[0].asked.destroy();
  await vi.waitFor(async () => {
    const client = await listen(port);
    expect(client.response.statusCode).toBe(200);
  }, PATIENCE);
});

it('a client that does not read is dropped, and the others get everything', async () => {
  const { port, emit } = await serve();
  const lazy = await listen(port);
  lazy.response.pause();
  const eager = await listen(port);
  const closed = vi.fn();
  lazy.response.on('close', closed);
  const reason = 'x'.repeat(64 * 1024);
  // The system buffers megabytes before anything waits in this process.
  for (let sent = 1; sent <= ENOUGH; sent++) {
    emit({ type: 'source', source: 'x', kind: 'node', state: 'info', reason });
    if (sent % 3 === 0) await vi.waitFor(() => expect(eager.received).toBe(sent), { ...PATIENCE, interval: 1 });
  }
  lazy.response.resume();
  await vi.waitFor(() => expect(closed).toHaveBeenCalled(), PATIENCE);
  expect(lazy.received).toBeLessThan(ENOUGH);
  expect((await listen(port)).response.statusCode).toBe(200);
});

it('the stream ends with the server, at once', async () => {
  const { port, http } = await serve();
  const client = await listen(port);
  const ended = vi.fn();
  client.response.on('close', ended);
  await http.close();
  await vi.waitFor(() => expect(ended).toHaveBeenCalled(), PATIENCE);
  // The response is complete.
  expect(client.response.complete).toBe(true);
});

it('a client that comes after the last one has left gets each event and each status once', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { stream, events } = unserved();
    const [first, second] = [new Reader(), new Reader()];
    const write = vi.spyOn(second, 'write');
    stream.join(first.reply);
    first.destroy();
    await once(first, 'close');
    expect(vi.getTimerCount()).toBe(0);
    stream.join(second.reply);
    events.emit(device('cpu', 'ready'));
    vi.advanceTimersByTime(1_000);
    const written = write.mock.calls.map(([text]) => /^event: (.*)$/m.exec(text)?.[1]);
    expect(written).toEqual(['status', 'device', 'status']);
    second.destroy();
    await once(second, 'close');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it.each([
  [256 * 1024, false],
  [256 * 1024 + 1, true],
])('a client for which %i bytes wait is dropped with the next event: %s', async (bytes, isDropped) => {
  const { stream, events, refusals } = unserved();
  const [client, other] = [new Reader(), new Reader()];
  for (const { reply } of [client, other]) stream.join(reply);
  const writes = [client, other].map((each) => vi.spyOn(each, 'write'));
  vi.spyOn(client, 'writableLength', 'get').mockReturnValue(bytes);
  events.emit(device('cpu', 'ready'));
  expect([client.destroyed, refusals.counts.unread]).toEqual([isDropped, isDropped ? 1 : 0]);
  expect(writes.map(({ mock }) => mock.calls.length)).toEqual([isDropped ? 0 : 1, 1]);
  for (const each of [client, other]) each.destroy();
  await vi.waitFor(() => expect([client.closed, other.closed]).toEqual([true, true]), PATIENCE);
});

it('a client gets a comment every 15 s, which keeps its connection open', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { stream } = unserved();
    const client = new Reader();
    const write = vi.spyOn(client, 'write');
    stream.join(client.reply);
    const comments = () => write.mock.calls.filter(([text]) => text === ': still here\n\n').length;
    const counts = [14_999, 1, 14_999, 1].map((ms) => {
      vi.advanceTimersByTime(ms);
      return comments();
    });
    expect(counts).toEqual([0, 1, 1, 2]);
    client.destroy();
    await once(client, 'close');
  } finally {
    vi.useRealTimers();
  }
});

describe('among clients that never read', () => {
  const closing = (client: Listening) => {
    const closed = vi.fn();
    client.response.on('close', closed);
    return closed;
  };

  it('the oldest makes room after a while, so that others can listen', async () => {
    const { port, ask, clock, emit } = await serve();
    const clients: Listening[] = [];
    for (let i = 0; i < MOST_CLIENTS; i++) clients.push(await listen(port));
    const [oldest, second] = clients.map(closing);
    clock.advance(5_000);
    expect((await ask('/api/v1/events')).status).toBe(503);
    clock.advance(10_000);
    const late = await listen(port);
    expect(late.response.statusCode).toBe(200);
    await vi.waitFor(() => expect(oldest).toHaveBeenCalled(), PATIENCE);
    emit(device('cpu', 'ready'));
    await vi.waitFor(() => expect(late.events('device')).toHaveLength(1), PATIENCE);
    expect(second).not.toHaveBeenCalled();
    expect((await ask('/metrics')).text).toContain('pickaxe_http_refused_total{reason="crowded"} 1');
  });

  it('one that has left something unread for 15 s is dropped, and one that reads it late is not', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const { stream, clock, refusals } = unserved();
      const [never, slow] = [new Reader(), new Reader()];
      for (const reader of [never, slow]) stream.join(reader.reply);
      for (let second = 0; second < 60; second++) {
        if (second % 10 === 9) slow.read();
        clock.advance(1_000);
        vi.advanceTimersByTime(1_000);
        // The limit is reached with the check of the fourteenth second.
        if (second === 12) expect([never.destroyed, slow.destroyed]).toEqual([false, false]);
        if (second === 13) expect([never.destroyed, slow.destroyed]).toEqual([true, false]);
      }
      expect(slow.destroyed).toBe(false);
      expect(refusals.counts.unread).toBe(1);
      stream.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

/** A client that reads only when the test makes it read. */
class Reader extends Writable {
  #taken: () => void = () => {};

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(_chunk: Buffer, _encoding: string, taken: () => void): void {
    this.#taken = taken;
  }

  /** @returns everything that was written to the client */
  read(): void {
    while (this.writableLength > 0) this.#taken();
  }

  writeHead(): void {}

  get reply(): FastifyReply {
    return { hijack: () => {}, raw: this } as unknown as FastifyReply;
  }
}

function unserved() {
  const clock = new FakeClock();
  const refusals = new Refusals(systemClock, REASONS, () => {}, 60_000);
  const events = new Events();
  const stream = new EventStream(events, clock, () => ({}) as Status, { limits: httpLimits, refusals });
  return { stream, events, clock, refusals };
}
