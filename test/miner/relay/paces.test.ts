/** When simulated hashers solve works, and what the server for blocks on demand takes. */

import { once } from 'node:events';
import { Server } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { DelayPace, HashratePace, OnDemandPace } from '#pickaxe/miner/relay/simulated-relay.js';
import { makeWork } from '../../fakes.ts';

describe('a pace', () => {
  it('solves each work after a twentieth of the time in which each chain gets a block', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const pace = new DelayPace(20);
    expect(pace.what).toBe('a block of each of 20 chains in 20 s');
    let solved = 0;
    for (const round of [1, 2]) {
      pace.begin(makeWork(1), () => void solved++, systemClock);
      pace.begin(makeWork(1), () => void solved++, systemClock)();
      vi.advanceTimersByTime(999);
      expect(solved).toBe(round - 1);
      vi.advanceTimersByTime(1);
      expect(solved).toBe(round);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of a hashrate says which', () => {
    expect(new HashratePace(2_000, Math.random).what).toBe('a hashrate of 2000 H/s');
  });

  it('waits for a work that it will not solve in a lifetime, and for no timer that fires at once', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let solved = 0;
    const cancel = new HashratePace(1, () => 0.5).begin(makeWork(2 ** 60), () => void solved++, systemClock);
    vi.advanceTimersByTime(2 ** 31 - 2);
    expect([solved, vi.getTimerCount()]).toEqual([0, 1]);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the server for blocks on demand', () => {
  async function opened() {
    const listen = vi.spyOn(Server.prototype, 'listen');
    const pace = new OnDemandPace({ host: '127.0.0.1', port: 0 });
    const before = pace.what;
    await pace.open();
    onTestFinished(() => (server.listening ? pace.close() : undefined));
    const server = listen.mock.contexts[0] as Server;
    listen.mockRestore();
    const ask = async (body: string, method = 'POST') => {
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      const answer = await fetch(`http://127.0.0.1:${pace.port}/make-blocks?now`, { method, body, headers });
      return { status: answer.status, json: await answer.json() };
    };
    return { pace, server, ask, before };
  }

  it('says where it is asked, and has bounds', async () => {
    const { pace, server, before } = await opened();
    expect(before).toBe('blocks on demand: POST http://127.0.0.1:0/make-blocks');
    expect(pace.what).toBe(`blocks on demand: POST http://127.0.0.1:${pace.port}/make-blocks`);
    const { maxConnections, requestTimeout, headersTimeout } = server;
    expect({ maxConnections, requestTimeout, headersTimeout }).toEqual({
      maxConnections: 32,
      requestTimeout: 10_000,
      headersTimeout: 10_000,
    });
  });

  it('takes 16,384 bytes, chains of up to four digits, and up to 100,000 blocks of each', async () => {
    const { ask } = await opened();
    const padded = (bytes: number) => '{"1":1}'.padEnd(bytes);
    expect(await ask(padded(16_384))).toEqual({ status: 200, json: { open: { 1: 1 } } });
    expect(await ask(padded(16_385))).toMatchObject({ status: 413 });
    expect(await ask('{"9999":100000}')).toEqual({ status: 200, json: { open: { 1: 1, 9999: 100_000 } } });
    for (const body of ['{"10000":1}', '{"1":100001}', '{"1":1.5}', '{"":1}', '{"-1":1}']) {
      expect([body, (await ask(body)).status]).toEqual([body, 400]);
    }
    expect(await ask('{"1":4,"2":1}')).toEqual({ status: 200, json: { open: { 1: 5, 2: 1, 9999: 100_000 } } });
  });

  it('solves a work once, whatever is asked for meanwhile, and one that has been taken back not at all', async () => {
    const { pace, ask } = await opened();
    const solved: string[] = [];
    const begin = (name: string) => pace.begin(makeWork(1), () => void solved.push(name));
    begin('taken back')();
    await ask('{"1":1}');
    expect(solved).toEqual([]);
    await ask('', 'DELETE');
    const cancel = begin('a');
    const cancelNext = begin('b');
    // The end of a work that has been replaced takes nothing from the next one.
    cancel();
    await ask('{"1":2}');
    await ask('{"1":2}');
    expect(solved).toEqual(['b']);
    cancelNext();
    await ask('{"1":2}');
    expect(solved).toEqual(['b']);
    begin('c');
    expect(solved).toEqual(['b', 'c']);
  });

  it('ends the connection after what it refuses, and also refuses who names no host', async () => {
    const { pace } = await opened();
    const said = async (head: string, body = '') => {
      const socket = connect(pace.port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      const type = 'content-type: application/json';
      socket.write(`${head}\r\n${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return [/ (\d+) /.exec(answer.toString())?.[1], /connection: (\S+)/i.exec(answer.toString())?.[1]];
    };
    const local = 'HTTP/1.1\r\nhost: localhost';
    expect(await said(`GET /make-blocks ${local}`)).toEqual(['200', 'keep-alive']);
    expect(await said(`GET /other ${local}`)).toEqual(['404', 'close']);
    expect(await said(`POST /make-blocks ${local}`, '{}')).toEqual(['200', 'keep-alive']);
    expect(await said(`POST /make-blocks ${local}`, '[]')).toEqual(['400', 'close']);
    expect(await said('GET /make-blocks HTTP/1.0')).toEqual(['403', 'close']);
  });

  it('wants to be told that it gets JSON', async () => {
    const { pace } = await opened();
    const answer = await fetch(`http://127.0.0.1:${pace.port}/make-blocks`, {
      method: 'POST',
      body: Buffer.from('{"1":1}'),
    });
    expect(answer.status).toBe(415);
  });

  it('has ended once it has no connection any more, also where a request is not complete', async () => {
    const { pace, server } = await opened();
    const socket = connect(pace.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const arrived = once(server, 'request');
    socket.write(
      'POST /make-blocks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    );
    await arrived;
    let hasClosed = false;
    server.once('close', () => {
      hasClosed = true;
    });
    const gone = once(socket.resume(), 'close');
    await pace.close();
    expect(hasClosed).toBe(true);
    await gone;
  });

  it('counts the blocks that were accepted, and gives a chain up only after 1,000 others in a row', async () => {
    const { pace, ask } = await opened();
    await ask('{"1":2,"2":1}');
    const work = makeWork(1);
    const judged = (chain: number, outcome: 'accepted' | 'rejected', times = 1) => {
      for (let time = 0; time < times; time++) pace.judged({ ...work, chain }, { outcome, reason: '' });
    };
    const open = async () => (await fetch(`http://127.0.0.1:${pace.port}/make-blocks`)).json();
    judged(1, 'rejected', 2_000);
    expect(await open()).toEqual({ open: { 1: 2, 2: 1 } });
    judged(3, 'accepted', 999);
    judged(1, 'accepted');
    // The chain with a block is asked for anew, and the other one has had its thousandth.
    expect(await open()).toEqual({ open: { 1: 1 }, givenUp: { 2: 1 } });
    judged(3, 'accepted', 999);
    expect(await open()).toEqual({ open: { 1: 1 }, givenUp: { 2: 1 } });
    judged(1, 'accepted');
    expect(await open()).toEqual({ open: {}, givenUp: { 2: 1 } });
  });
});
