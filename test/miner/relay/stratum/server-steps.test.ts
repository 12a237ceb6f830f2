/** What a stratum server does with its connections, on streams in memory and a clock that the test moves. */

import { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { ListenEvents } from '#pickaxe/miner/relay/stratum/listening.js';
import { type StratumOptions, StratumRelay } from '#pickaxe/miner/relay/stratum/stratum-server.js';
import { FakeSource, makeWork, Recorder } from '../../../fakes.ts';
import { selfSigned } from '../../../node/client/certificates.ts';
import { isSettled, turns } from '../../../turns.ts';
import { parse } from './session-bench.ts';

const TICK_MS = 100;
const HARD = 2 ** 60;

/** The server's side of a connection. The test is its client. */
class Stream extends Duplex {
  readonly remoteAddress: string | undefined;
  #sent = '';

  constructor(remoteAddress?: string) {
    super({ read() {} });
    this.remoteAddress = remoteAddress;
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#sent += chunk.toString('latin1');
    done();
  }

  async gets(bytes: string): Promise<string[]> {
    this.push(Buffer.from(bytes, 'latin1'));
    await turns();
    return this.sent();
  }

  /** @returns the lines that the server has sent since it was last asked */
  sent(): string[] {
    const lines = this.#sent.split('\n').slice(0, -1);
    this.#sent = '';
    return lines;
  }

  login(user = 'w', password = 'x'): Promise<string[]> {
    const subscribe = { id: 1, method: 'mining.subscribe', params: ['asic/1', null] };
    const authorize = { id: 2, method: 'mining.authorize', params: [user, password] };
    return this.gets([subscribe, authorize].map((message) => `${JSON.stringify(message)}\n`).join(''));
  }
}

let nowMs: number;
beforeEach(() => {
  nowMs = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
  // A connection that was closed has a second for its last words.
  vi.advanceTimersByTime(1_000);
  const timers = vi.getTimerCount();
  vi.useRealTimers();
  expect(timers).toBe(0);
});

/** Lets time pass, a tick of the server at a time. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += TICK_MS) {
    nowMs += TICK_MS;
    vi.advanceTimersByTime(TICK_MS);
  }
  await turns();
}

/** Lets time pass in which the server does nothing. */
function skip(ms: number): void {
  nowMs += ms;
}

async function serving(options: Partial<StratumOptions> = {}) {
  const source = new FakeSource();
  const recorded = new Recorder();
  const logged: string[] = [];
  const log = (level: string) => (line: string) => void logged.push(`${level}: ${line}`);
  let closed = () => {};
  let events: ListenEvents | undefined;
  const relay = new StratumRelay({
    source,
    emit: recorded.listen,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    log: { debug: log('debug'), info: log('info'), warn: log('warn') },
    listen: async (given) => {
      events = given;
      const closing = new Promise<void>((resolve) => {
        closed = resolve;
      });
      return { port: 1917, close: () => closing };
    },
    ...options,
  });
  await relay.open();
  const stop = new AbortController();
  const running = relay.run(stop.signal);
  endings.push(async () => {
    stop.abort();
    closed();
    await running;
  });
  const connect = async (address: string | undefined = '192.0.2.1', first?: string) => {
    const stream = new Stream(address);
    if (first !== undefined) stream.push(first);
    events?.connected(stream);
    await turns();
    return stream;
  };
  const give = async (work = makeWork(HARD)) => {
    source.work(work);
    await turns();
    return work;
  };
  const report = async () => {
    await pass(5_000);
    return recorded.of('relay').at(-1)!;
  };
  const warned = () => logged.filter((line) => line.startsWith('warn')).map((line) => line.slice('warn: '.length));
  return {
    relay,
    source,
    logged,
    warned,
    events: events!,
    connect,
    give,
    report,
    stop,
    running,
    listenEnded: () => closed(),
  };
}

const methods = (lines: readonly string[]) => lines.map((line) => parse(line).method?.slice('mining.'.length));
const cleans = (lines: readonly string[]) =>
  lines.map(parse).flatMap(({ method, params }) => (method === 'mining.notify' ? [params[2]] : []));

describe('a stratum server', () => {
  it('numbers its sessions from 1, and its nonce1 from the lane after its miner’s', async () => {
    const { connect, give, logged, relay } = await serving({ lane: 7 });
    await give();
    const [one, other] = [await connect(), await connect()];
    const answers = [await one.login('a'), await other.login('b')].map((lines) => parse(lines[0]).result[1]);
    expect(answers).toEqual(['0008', '0009']);
    expect(logged.filter((line) => line.includes('has begun'))).toEqual([
      'debug: session 1 of a has begun: 192.0.2.1, asic/1',
      'debug: session 2 of b has begun: 192.0.2.1, asic/1',
    ]);
    expect(relay.port).toBe(1917);
  });

  it('needs neither a clock nor a log nor a listener, and then leaves lane 0 to its miner', async () => {
    const source = new FakeSource();
    let events: ListenEvents | undefined;
    const relay = new StratumRelay({
      source,
      listen: async (given) => {
        events = given;
        return { port: 1, close: async () => {} };
      },
    });
    await relay.open();
    const stop = new AbortController();
    const running = relay.run(stop.signal);
    const stream = new Stream('192.0.2.1');
    events?.connected(stream);
    expect(parse((await stream.login())[0]).result[1]).toBe('0001');
    stop.abort();
    await running;
  });

  it('has clients drop their jobs after stale work, once, and not after work that was replaced', async () => {
    const { connect, give, source } = await serving();
    const client = await connect();
    await client.login();
    await give();
    expect(cleans(client.sent())).toEqual([true]);
    await give();
    expect(cleans(client.sent())).toEqual([false]);
    source.rest();
    const current = await give();
    expect(cleans(client.sent())).toEqual([false]);
    source.stale(current);
    await give();
    await give();
    expect(cleans(client.sent())).toEqual([true, false]);
  });

  it('gives no work of which a part of the nonce is fixed, and says so once', async () => {
    const { connect, give, warned } = await serving();
    const early = await connect();
    await early.login('early');
    for (const bytes of [1, 2] as const) await give(makeWork(HARD, { nonce1: { value: 1, bytes } }));
    const late = await connect();
    await late.login('late');
    await pass(1_000);
    expect([early.sent(), late.sent()]).toEqual([[], []]);
    expect(warned()).toEqual(['fake source fixes a part of the nonce, which leaves no room for sessions']);
    await give();
    for (const client of [early, late]) expect(methods(client.sent())).toEqual(['set_target', 'notify']);
  });

  it('looks after its sessions with each tick: a slow target falls, and who does not log in is disconnected', async () => {
    const { connect, give, report, logged } = await serving();
    await give();
    const [client, silent] = [await connect(), await connect('192.0.2.2')];
    await client.login();
    await pass(5_100);
    expect(methods(client.sent())).toContain('set_target');
    await pass(25_000);
    expect(silent.destroyed || silent.writableEnded).toBe(true);
    expect(logged).toContain('debug: 192.0.2.2 is disconnected: no login');
    expect(await report()).toMatchObject({ sessions: 1, refused: { timeout: 1 } });
  });

  it('serves lines that wait with each tick', async () => {
    const limits = { reservedLineBurst: 2, reservedLinesPerSecond: 0, addressLineBurst: 1, addressLinesPerSecond: 10 };
    const { connect } = await serving({ limits });
    const client = await connect();
    const ping = (id: number) => `{"id":${id},"method":"mining.ping"}\n`;
    expect(await client.gets([1, 2, 3, 4, 5].map(ping).join(''))).toHaveLength(3);
    await pass(100);
    expect(client.sent()).toHaveLength(1);
    await pass(100);
    expect(client.sent()).toHaveLength(1);
  });
});

describe('a connection', () => {
  it('counts for its address until it ends, and one that was refused does not count', async () => {
    const { connect, report } = await serving({ limits: { connectionsPerAddress: 1 } });
    const first = await connect();
    for (const refused of [await connect(), await connect()]) expect(refused.destroyed).toBe(true);
    expect((await connect('192.0.2.2')).destroyed).toBe(false);
    first.destroy();
    await turns();
    expect((await connect()).destroyed).toBe(false);
    expect((await connect()).destroyed).toBe(true);
    expect((await report()).refused).toMatchObject({ crowded: 3, handshake: 0 });
  });

  it('that has ended before it was accepted is no fault and no refusal', async () => {
    const { connect, events, report, warned, logged } = await serving();
    const nameless = new Stream();
    events.connected(nameless);
    expect([(await connect('')).destroyed, nameless.destroyed]).toEqual([true, true]);
    expect(warned()).toEqual([]);
    expect(logged).toEqual(Array(2).fill('debug:  was refused: it has closed the connection'));
    expect(Object.values((await report()).refused!).some((count) => count > 0)).toBe(false);
  });

  it('that ends leaves its session’s worker idle, and its penalty points to its address', async () => {
    const { connect, give, report, warned, logged } = await serving({
      limits: { junkLines: 0, banPoints: 15, banPointsPerMinute: 0 },
    });
    await give();
    for (const bans of [0, 1]) {
      const client = await connect();
      await client.login();
      expect((await report()).sessions).toBe(1);
      await client.gets('junk\n');
      expect([(await report()).sessions, warned().length]).toEqual([0, bans]);
      expect(logged).toContain('debug: 192.0.2.1 is disconnected: junk');
    }
    expect(warned()).toEqual(['192.0.2.1 is banned for 5 minutes: junk']);
    expect((await connect()).destroyed).toBe(true);
    expect((await report()).refused).toMatchObject({ junk: 2, banned: 1 });
  });

  it('that breaks is no fault of the server, before and after its login', async () => {
    const { connect, give, warned } = await serving({ proxies: ['192.0.2.9'] });
    await give();
    const [proxied, client] = [await connect('192.0.2.9'), await connect()];
    await client.login();
    for (const stream of [proxied, client]) stream.destroy(new Error('read ECONNRESET'));
    await turns();
    expect(warned()).toEqual([]);
  });

  it('that cannot be accepted is logged, ten at once, and then with how many were left out', async () => {
    const { events, warned } = await serving();
    for (let count = 0; count < 11; count++) events.failed('accept EMFILE');
    const line = 'a connection could not be accepted: accept EMFILE';
    expect(warned()).toEqual(Array(10).fill(line));
    await pass(20_000);
    for (let count = 0; count < 2; count++) events.failed('accept EMFILE');
    expect(warned().slice(10)).toEqual([`${line}; there were 1 others`, line]);
  });

  it('that meets a fault of the server ends, and that is logged', async () => {
    const secureContext = {
      get context(): never {
        throw new Error('the key is gone');
      },
    };
    const { connect, warned, report } = await serving({ secureContext });
    expect((await connect()).destroyed).toBe(true);
    expect(warned()).toEqual(['192.0.2.1 was refused: the key is gone']);
    expect((await report()).refused).toMatchObject({ handshake: 0 });
  });
});

describe('behind a proxy', () => {
  const header = 'PROXY TCP4 198.51.100.7 192.0.2.1 56324 1917\r\n';
  const proxies = ['192.0.2.9', '10.0.0.0/8', '2001:db8::/32', '2001:db9::1'];

  it.each([
    ['192.0.2.9', true],
    ['192.0.2.8', false],
    ['10.255.0.1', true],
    ['11.0.0.1', false],
    ['2001:db8:1::1', true],
    ['2001:db9::1', true],
    ['2001:db9::2', false],
  ])('of %s a connection begins with a header: %s', async (address, isProxy) => {
    const { connect, give, logged } = await serving({ proxies });
    await give();
    const client = await connect(address);
    if (isProxy) {
      for (const part of [header.slice(0, 20), header.slice(20)]) expect(await client.gets(part)).toEqual([]);
    }
    await client.login();
    const shown = isProxy ? '198.51.100.7' : address;
    expect(logged).toContain(`debug: session 1 of w has begun: ${shown}, asic/1`);
    expect(client.listenerCount('readable')).toBe(0);
    const direct = await connect('203.0.113.1');
    expect(client.listenerCount('close')).toBe(direct.listenerCount('close'));
  });

  it('the first lines may come with the header, and a header may name nobody', async () => {
    const { connect } = await serving({ proxies });
    const ping = '{"id":1,"method":"mining.ping"}\n';
    const answer = ['{"result":"pong","error":null,"id":1}'];
    expect((await connect('192.0.2.9', header + ping)).sent()).toEqual(answer);
    expect((await connect('192.0.2.9', `PROXY UNKNOWN\r\n${ping}`)).sent()).toEqual(answer);
  });

  it('what comes instead of the header, or too late, is refused without a penalty', async () => {
    const { connect, report, warned } = await serving({ proxies, limits: { banPoints: 1 } });
    for (let count = 0; count < 5; count++) {
      expect((await connect('192.0.2.9', 'GET / HTTP/1.1\r\n\r\n')).destroyed).toBe(true);
    }
    const late = await connect('192.0.2.9', header.slice(0, 10));
    await pass(4_900);
    expect(late.destroyed).toBe(false);
    await pass(100);
    expect(late.destroyed).toBe(true);
    const gone = await connect('192.0.2.9', header.slice(0, 10));
    gone.destroy();
    await turns();
    expect((await report()).refused).toMatchObject({ handshake: 5, timeout: 1 });
    expect(warned()).toEqual([]);
    expect((await connect('192.0.2.9', header)).destroyed).toBe(false);
  });
});

it('a client that says something else than TLS is refused, with two penalty points', async () => {
  const secureContext = createSecureContext({ cert: selfSigned.cert, key: selfSigned.key });
  const { connect, report, warned } = await serving({ secureContext, limits: { banPoints: 5, banPointsPerMinute: 0 } });
  for (let count = 0; count < 3; count++) {
    expect(warned()).toEqual([]);
    expect((await connect('192.0.2.1', 'GET / HTTP/1.1\r\n\r\n')).destroyed).toBe(true);
  }
  expect(warned()).toEqual(['192.0.2.1 is banned for 5 minutes: the handshake of TLS failed']);
  expect((await report()).refused).toMatchObject({ handshake: 3 });
});

describe('a full server', () => {
  it('makes room for as many as it has refused, at most once in a second, and for a hundred at most', async () => {
    const { connect, give, events, report } = await serving();
    await give();
    for (let index = 0; index < 120; index++) await (await connect(`192.0.2.${index}`)).login();
    const idle = async () => (await report()).refused?.idle;
    skip(150_000);
    // Nobody was refused, so nobody has to go.
    expect(await idle()).toBe(0);
    const refuse = (count: number) => {
      for (let index = 0; index < count; index++) events.refused('198.51.100.1');
    };
    refuse(2);
    await pass(100);
    refuse(3);
    await pass(900);
    expect(await idle()).toBe(2 + 3);
    refuse(110);
    await pass(100);
    refuse(1);
    await pass(900);
    const counts = await report();
    expect(counts.refused).toMatchObject({ idle: 5 + 101, full: 116 });
    expect(await idle()).toBe(106);
  });

  it('does not make room twice within a second', async () => {
    const { connect, give, events, logged } = await serving();
    await give();
    for (const address of ['192.0.2.1', '192.0.2.2']) await (await connect(address)).login();
    skip(200_000);
    await pass(500);
    const gone = () => logged.filter((line) => line.endsWith('the server is full')).length;
    events.refused(undefined);
    await pass(100);
    expect(gone()).toBe(1);
    events.refused(undefined);
    await pass(900);
    expect(gone()).toBe(1);
    await pass(100);
    expect(gone()).toBe(2);
  });
});

describe('the end of a server', () => {
  it('closes all connections, tells the ledger what is left, and waits for its port and the ledger', async () => {
    const entries: unknown[] = [];
    let closeLedger = () => {};
    const openLedger = async () => ({
      record: (entry: unknown) => void entries.push(entry),
      close: () =>
        new Promise<void>((resolve) => {
          entries.push('closed');
          closeLedger = resolve;
        }),
    });
    const { relay, connect, give, stop, running, warned, logged, listenEnded } = await serving({
      openLedger: openLedger as never,
      limits: { ledgerBurst: 0, connectionsPerAddress: 2 },
      proxies: ['192.0.2.9'],
    });
    await give();
    const former = await connect('192.0.2.3');
    former.destroy();
    await turns();
    const destroy = vi.spyOn(former, 'destroy');
    const [client, waiting] = [await connect(), await connect('192.0.2.9')];
    await client.login();
    await client.gets('{"id":3,"method":"mining.submit","params":["w","1","00"]}\n');
    await connect();
    await connect();
    expect(entries).toEqual([]);
    stop.abort();
    await turns();
    expect([client.destroyed, waiting.destroyed, relay.port]).toEqual([true, true, undefined]);
    expect(logged).toContain('debug: 192.0.2.1 is disconnected: the server ends');
    expect(entries).toEqual([]);
    // A connection that has ended is not remembered.
    expect(destroy).not.toHaveBeenCalled();
    listenEnded();
    await turns();
    expect(entries).toEqual([expect.objectContaining({ type: 'left-out', worker: 'w', lines: 1 }), 'closed']);
    expect(warned()).toEqual(['refused: crowded 1; from 192.0.2.1']);
    expect(await isSettled(running)).toBe(false);
    closeLedger();
    await running;
  });

  it('comes at once, with a closed ledger, where it cannot listen', async () => {
    let closed = 0;
    const relay = new StratumRelay({
      source: new FakeSource(),
      openLedger: async () => ({ close: async () => void closed++ }) as never,
      listen: async () => {
        throw new Error('listen EADDRINUSE');
      },
    });
    await expect(relay.open()).rejects.toThrow('EADDRINUSE');
    expect([closed, relay.port]).toEqual([1, undefined]);
  });
});
