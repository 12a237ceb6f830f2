import { once } from 'node:events';
import { connect, Server, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { PeerStream } from '#pickaxe/base/net/connecting.js';
import { onTcp } from '#pickaxe/miner/relay/stratum/listening.js';
import { isSettled } from '../../../turns.ts';
import { eventually } from '../../source/follow.ts';

/** A server on a free port for so many connections, and what it tells. */
async function listening(mostConnections: number) {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  const connected: PeerStream[] = [];
  const refused: unknown[] = [];
  const failed: string[] = [];
  const events = {
    connected: (client: PeerStream) => void connected.push(client),
    refused: (address: string | undefined) => void refused.push(address),
    failed: (message: string) => void failed.push(message),
  };
  const opened = await onTcp({ host: '127.0.0.1', port: 0 })(events, mostConnections);
  const server = listen.mock.contexts[0] as Server;
  const client = (): Socket => {
    const socket = connect(opened.port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  return { opened, server, client, connected, refused, failed };
}

it('a port has so many connections; the others are refused and told, and faults of the system end nothing', async () => {
  const { opened, server, client, connected, refused, failed } = await listening(1);
  await once(client(), 'connect');
  await eventually(() => expect(connected).toHaveLength(1));
  server.emit('error', new Error('accept EMFILE'));
  server.emit('error', new Error('accept ENOBUFS'));
  await once(client(), 'close');
  expect([connected.length, refused, failed]).toEqual([1, ['127.0.0.1'], ['accept EMFILE', 'accept ENOBUFS']]);
  const closed = opened.close();
  expect(await isSettled(closed)).toBe(false);
  connected[0].destroy();
  await closed;
  await expect(once(client(), 'connect')).rejects.toThrow('ECONNREFUSED');
});

it('a connection is asked after a minute of silence whether it still works', async () => {
  const { opened, server } = await listening(1);
  expect(server).toMatchObject({ keepAlive: true, keepAliveInitialDelay: 60, noDelay: true });
  await opened.close();
});
