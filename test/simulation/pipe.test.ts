/** Connections in memory: what arrives, when, and how they break. */

import { describe, expect, it } from 'vitest';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { Pipe, type PipeEnd, type PipeOptions, PipePort } from './pipe.ts';
import { VirtualTime } from './virtual-time.ts';

function connected(options: Partial<PipeOptions> = {}) {
  const time = new VirtualTime();
  const [near, far] = ['near', 'far'].map((name) => time.start(name));
  const places = [
    { clock: near.clock, address: '192.0.2.1' },
    { clock: far.clock, address: '192.0.2.2' },
  ] as const;
  const pipe = new Pipe(places, { random: seededRandom(1), latencyMs: [10, 30], ...options });
  const [one, other] = pipe.ends;
  return { time, far, pipe, one, other, seen: [watch(one), watch(other)] as const };
}

/** What happens at an end: the text that it has got, its chunks, and its events. */
function watch(end: PipeEnd) {
  const seen = { text: '', chunks: 0, events: [] as string[] };
  end.on('data', (bytes: Buffer) => {
    seen.text += bytes.toString();
    seen.chunks++;
  });
  end.on('error', (fault: NodeJS.ErrnoException) => seen.events.push(fault.code ?? fault.message));
  for (const event of ['end', 'finish', 'close']) end.on(event, () => seen.events.push(event));
  return seen;
}

describe('a connection in memory', () => {
  it('delivers all bytes in order, after the latency, cut anywhere, and names the peers', async () => {
    const { time, one, other, seen } = connected();
    const text = Array.from({ length: 200 }, (_, i) => `line ${i}\n`);
    for (const line of text) one.write(line);
    other.write('answer\n');
    await time.runUntil(9);
    expect([seen[0].text, seen[1].text]).toEqual(['', '']);
    await time.runUntil(100);
    expect([seen[0].text, seen[1].text]).toEqual(['answer\n', text.join('')]);
    expect(seen[1].chunks).toBeGreaterThan(1);
    expect([one.remoteAddress, other.remoteAddress]).toEqual(['192.0.2.2', '192.0.2.1']);
  });

  it('ends in order when an end ends or is destroyed: the other one gets everything first', async () => {
    for (const how of ['end', 'destroy'] as const) {
      const { time, pipe, one, seen } = connected();
      one.write('last words');
      one[how]();
      await time.runUntil(200);
      expect(seen[1]).toMatchObject({ text: 'last words', events: ['end', 'finish', 'close'] });
      expect(seen[0].events.at(-1)).toBe('close');
      expect(pipe.isOpen).toBe(false);
    }
  });

  it('tells an end that writes to a closed one that it is reset', async () => {
    const { time, one, other, seen } = connected({ latencyMs: [10, 10] });
    other.pause();
    one.destroy();
    other.write('more');
    await time.runUntil(200);
    expect([seen[0].text, seen[1].events]).toEqual(['', ['ECONNRESET', 'close']]);
  });

  it('breaks with ECONNRESET at both ends, and what was on its way is lost', async () => {
    const { time, pipe, one, seen } = connected();
    one.write('lost');
    pipe.reset();
    await time.runUntil(200);
    expect(seen).toMatchObject([
      { text: '', events: ['ECONNRESET', 'close'] },
      { text: '', events: ['ECONNRESET', 'close'] },
    ]);
  });

  it('loses everything when it is deaf, without a word, and writes wait once the window is full', async () => {
    const { time, pipe, one, other, seen } = connected();
    one.write('on its way');
    pipe.deafen();
    for (let count = 0; count < 100; count++) one.write('x'.repeat(1_000));
    other.end();
    await time.runUntil(60_000);
    expect([seen[0], seen[1].text]).toMatchObject([{ text: '', events: [] }, '']);
    expect(one.writableLength).toBeGreaterThan(30_000);
  });

  it('delivers everything after a stall', async () => {
    const { time, pipe, one, seen } = connected();
    one.write('before ');
    pipe.stall(5_000);
    one.write('after');
    await time.runUntil(4_999);
    expect(seen[1].text).toBe('');
    await time.runUntil(5_100);
    expect(seen[1].text).toBe('before after');
  });

  it('lets writes wait while the other end does not read, and goes on when it does', async () => {
    const { time, one, other, seen } = connected();
    other.pause();
    const text = 'y'.repeat(300_000);
    for (let at = 0; at < text.length; at += 1_000) one.write(text.slice(at, at + 1_000));
    await time.runUntil(1_000);
    expect(one.writableLength).toBeGreaterThan(100_000);
    other.resume();
    await time.runUntil(30_000);
    expect([one.writableLength, seen[1].text === text]).toEqual([0, true]);
  });

  it('ends in order from outside, and delivers nothing to a frozen process until it goes on', async () => {
    const { time, far, pipe, one, seen } = connected();
    far.freeze();
    one.write('news');
    pipe.close();
    await time.runUntil(1_000);
    expect([seen[1].text, seen[0].events]).toEqual(['', ['end', 'finish', 'close']]);
    far.thaw();
    await time.runUntil(2_000);
    expect(seen[1]).toMatchObject({ text: 'news', events: ['end', 'finish', 'close'] });
  });
});

describe('a port in memory', () => {
  const opened = async () => {
    const time = new VirtualTime();
    const server = { clock: time.start('server').clock, address: '192.0.2.80' };
    const client = { clock: time.start('client').clock, address: '192.0.2.1' };
    const port = new PipePort(server, { random: seededRandom(2) });
    const arrived: PipeEnd[] = [];
    const refused: unknown[] = [];
    const listening = await port.listen(
      { connected: (end) => arrived.push(end as PipeEnd), refused: (from) => refused.push(from), failed: () => {} },
      2,
    );
    const results: unknown[] = [];
    const connect = (stop = NEVER) =>
      void port.connect(client, 5_000, stop).then(
        (end) => {
          watch(end);
          results.push(end);
        },
        ({ code, name }: NodeJS.ErrnoException) => results.push(name === 'Error' ? code : name),
      );
    return { time, port, arrived, refused, results, connect, listening };
  };

  it('accepts as many connections as it may, and says whom it refuses', async () => {
    const { time, port, arrived, refused, results, connect } = await opened();
    for (let count = 0; count < 3; count++) connect();
    await time.runUntil(1_000);
    expect([results.length, arrived.length, refused, port.pipes.size]).toEqual([3, 2, ['192.0.2.1'], 2]);
    expect((results[0] as PipeEnd).remoteAddress).toBe('192.0.2.80');
    expect(results.filter((end) => (end as PipeEnd).destroyed)).toHaveLength(1);
  });

  it('refuses, does not answer, and obeys the signal to stop', async () => {
    const { time, port, results, connect } = await opened();
    port.state = 'refuses';
    connect();
    await time.runUntil(1_000);
    port.state = 'is silent';
    connect();
    await time.runUntil(7_000);
    const stop = new AbortController();
    connect(stop.signal);
    stop.abort();
    connect(AbortSignal.abort());
    await time.runUntil(8_000);
    expect(results).toEqual(['ECONNREFUSED', 'TimeoutError', 'AbortError', 'AbortError']);
  });

  it('has closed when its last connection has ended, and resets all when its server is killed', async () => {
    const { time, port, arrived, results, connect, listening } = await opened();
    connect();
    connect();
    await time.runUntil(1_000);
    let isClosed = false;
    void listening.close().then(() => {
      isClosed = true;
    });
    connect();
    arrived[0].resume();
    (results[0] as PipeEnd).destroy();
    await time.runUntil(2_000);
    expect([isClosed, results[2]]).toEqual([false, 'ECONNREFUSED']);
    arrived[1].on('error', () => {});
    port.kill();
    await time.runUntil(3_000);
    expect([isClosed, (results[1] as PipeEnd).destroyed]).toEqual([true, true]);
  });
});
