import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { makeWork } from '../../../fakes.ts';
import { eventually } from '../../source/follow.ts';
import { ready, serveShares, share } from './serving.ts';

describe('a client that costs too much', () => {
  it('is disconnected for a flood, and its address is banned for a while after many; other sessions go on', async () => {
    const limits = { lineBurst: 20, linesPerSecond: 1, banPoints: 15, banPointsPerMinute: 1, banMs: 700 };
    const { logged, client } = await serveShares({ limits });
    const honest = await ready(client());
    for (let count = 0; count < 2; count++) {
      const flood = client();
      flood.say('{"id":1,"method":"mining.ping"}\n'.repeat(100));
      await flood.closed;
      expect(flood.received.length).toBeLessThanOrEqual(20);
    }
    expect(logged).toContain('127.0.0.1 is banned for 1 minutes: flood');
    const refused = client();
    await refused.closed;
    expect(logged).toContain('127.0.0.1 was refused: banned');
    expect((await share(honest)).result).toBe(true);
    await eventually(async () => {
      const later = client();
      later.login();
      await eventually(() => expect(later.job !== undefined || later.socket.destroyed).toBe(true));
      expect(later.job).toBeDefined();
    });
  });

  it('is disconnected for a flood of good shares, and neither banned nor in the way of others', async () => {
    const limits = { lineBurst: 20, linesPerSecond: 0.001, banPoints: 5, banPointsPerMinute: 0.001 };
    const { logged, recorded, client } = await serveShares({ limits: { ...limits, reportMs: 50 } });
    for (let count = 0; count < 3; count++) {
      const asic = await ready(client());
      await eventually(() => {
        if (!asic.socket.destroyed) asic.mine();
        expect(asic.socket.destroyed).toBe(true);
      });
    }
    const ended = '127.0.0.1 is disconnected: flood';
    await eventually(() => expect(logged.filter((line) => line === ended)).toHaveLength(3));
    expect(logged.filter((line) => line.includes('banned'))).toEqual([]);
    await ready(client());
    await eventually(() => expect(recorded.of('relay').at(-1)?.refused).toMatchObject({ flood: 3, banned: 0 }));
  });

  it('is not read when its address has used up its lines, gets its jobs, and one that sends few goes on', async () => {
    const limits = { addressLineBurst: 50, addressLinesPerSecond: 0.001, reservedLinesPerSecond: 0.001 };
    const { client, source } = await serveShares({ limits });
    const honest = await ready(client());
    const greedy = await ready(client());
    for (let count = 0; count < 100; count++) greedy.say({ id: 1_000 + count, method: 'mining.ping', params: [] });
    await eventually(() => expect(greedy.answerTo(1_000 + 50)).toBeDefined());
    expect((await share(honest)).result).toBe(true);
    const late = await ready(client());
    expect((await share(late)).result).toBe(true);
    const { job } = greedy;
    source.work(makeWork(2 ** 60));
    await eventually(() => expect(greedy.job).not.toBe(job));
    expect(greedy.answerTo(1_099)).toBeUndefined();
    expect(greedy.socket.destroyed).toBe(false);
  });

  it('is read again when its address has lines again, and all that it has sent is answered in order', async () => {
    const limits = { addressLineBurst: 10, addressLinesPerSecond: 200, reservedLineBurst: 2 };
    const { client } = await serveShares({ limits });
    const clients = await Promise.all([ready(client()), ready(client())]);
    for (const each of clients) {
      for (let count = 0; count < 90; count++) each.say({ id: 1_000 + count, method: 'mining.ping', params: [] });
    }
    for (const each of clients) {
      await eventually(() => expect(each.answerTo(1_089)).toBeDefined());
      const ids = each.received.map(({ id }) => id).filter((id) => id >= 1_000);
      expect(ids).toEqual(Array.from({ length: 90 }, (_, count) => 1_000 + count));
      expect((await share(each)).result).toBe(true);
    }
  });

  it('is refused when the server is full, and makes room for others then when it brings nothing', async () => {
    let skippedMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skippedMs };
    const { logged, recorded, client, end } = await serveShares({ clock, limits: { connections: 2, reportMs: 50 } });
    const [idle, later] = [await ready(client()), await ready(client())];
    await client().closed;
    const refused = () => recorded.of('relay').at(-1)?.refused;
    await eventually(() => expect(refused()).toMatchObject({ full: 1, idle: 0 }));
    skippedMs = 151_000;
    await client().closed;
    await idle.closed;
    await eventually(() => expect(refused()).toMatchObject({ full: 2, idle: 1 }));
    await ready(client());
    expect(later.socket.destroyed).toBe(false);
    await end();
    expect(logged).toContain('refused: full 2, idle 1; from 127.0.0.1');
  });

  it.each([
    ['a line that does not end', 'x'.repeat(5_000), 'a line is longer than 4096 bytes'],
    ['junk', 'GET / HTTP/1.1\r\n'.repeat(20), 'junk'],
    ['bytes that are no text', Buffer.alloc(400, '\u0000\n', 'latin1'), 'junk'],
  ])('is disconnected for %s', async (_, bytes, reason) => {
    const { logged, client } = await serveShares();
    const asic = client({ first: bytes });
    await asic.closed;
    expect(logged).toContain(`127.0.0.1 is disconnected: ${reason}`);
  });

  it('is disconnected when it does not read, and what waits for it is bounded', async () => {
    const { logged, client } = await serveShares({ limits: { pendingBytes: 20_000, lineBurst: 1e9 } });
    const slow = await ready(client());
    slow.socket.pause();
    // Each answer echoes the long id; the system's own buffers take some megabytes of them.
    const asks = `{"id":"${'x'.repeat(4_000)}","method":"mining.ping"}\n`.repeat(50);
    await eventually(() => {
      if (!slow.socket.destroyed) slow.say(asks);
      expect(logged).toContain('127.0.0.1 is disconnected: it does not read');
    });
    expect(logged.filter((line) => line.startsWith('127.0.0.1 is disconnected'))).toHaveLength(1);
  });

  it('is disconnected when it does not log in', async () => {
    const { logged, client } = await serveShares({ limits: { loginMs: 50 } });
    await client().closed;
    expect(logged).toContain('127.0.0.1 is disconnected: no login');
  });

  it('is disconnected at once when it begins TLS on a port that has none', async () => {
    const { relay, recorded } = await serveShares();
    const socket = connect(relay.port as number, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
    socket.resume();
    await once(socket, 'end');
    await eventually(() =>
      expect(recorded.of('relay').at(-1)?.refused).toMatchObject({ handshake: 1, timeout: 0, banned: 0 }),
    );
  });

  it('is refused when its address has too many connections, until one of them ends', async () => {
    const { client } = await serveShares({ limits: { connectionsPerAddress: 2 } });
    const first = await ready(client());
    await ready(client());
    await client().closed;
    first.end();
    await eventually(async () => {
      const next = client();
      next.login();
      await eventually(() => expect(next.job !== undefined || next.socket.destroyed).toBe(true));
      expect(next.job).toBeDefined();
    });
  });
});
