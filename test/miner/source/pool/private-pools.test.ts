/** Where a pool of the Internet may lead a rig, and what is left of a connection. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { BY_AUTHORITY } from '#pickaxe/base/net/tls-trust.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { openConnection } from '#pickaxe/miner/source/pool/pool-source.js';
import { watchedClock } from '../../../watched-clock.ts';
import { eventually } from '../follow.ts';
import { MockPool } from './mock-pool.ts';
import { followPool, GREETING, jobLine, makeHeader } from './pool.ts';

it.each([true, false])(
  'a pool in a private network is connected to unless it must be public: %s',
  async (mustBePublic) => {
    const server = createServer((socket) => socket.on('error', () => {}));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = `stratum+tcp://127.0.0.1:${port}`;
    const address = { host: '127.0.0.1', port, tls: false, url };
    const options = { trust: BY_AUTHORITY, timeoutMs: 60_000, mustBePublic, clock: systemClock };
    const opened = openConnection(address, options, new AbortController().signal);
    if (mustBePublic) {
      const message = `${url} is in a private network, and a pool of the Internet cannot lead there.`;
      await expect(opened).rejects.toMatchObject({ fault: 'refused', message });
    } else {
      const socket = await opened;
      expect(socket.remotePort).toBe(port);
      socket.destroy();
    }
  },
);

it('nothing watches for suspensions once a source has ended', async () => {
  const { clock, intervalsMs } = watchedClock();
  const pool = await MockPool.start([...GREETING, jobLine('1', makeHeader(), 'true')]);
  const { follower } = followPool(pool.url, {}, {}, { clock });
  await follower.work();
  expect(intervalsMs()).toContain(500);
  await follower.end();
  expect(intervalsMs()).toEqual([]);
  await eventually(() => expect(pool.open).toBe(0));
});
