import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { endSoon, listenAt } from '#pickaxe/miner/source/parent/connection.js';
import { Folder } from '../../../app/config/folder.ts';
import { eventually } from '../follow.ts';

/** More than a system's buffer holds. */
const BYTES = 4_000_000;

describe.skipIf(process.platform === 'win32')('a socket for parents', () => {
  it('ends although somebody does not read, and is gone then', async () => {
    const folder = new Folder();
    const path = join(folder.path, 'socket');
    const umask = process.umask();
    let connected: (socket: Socket) => void = () => {};
    const socket = new Promise<Socket>((resolve) => {
      connected = resolve;
    });
    const end = await listenAt(path, (each) => connected(each));
    expect(process.umask()).toBe(umask);
    const deaf = connect(path);
    await once(deaf, 'connect');
    const ours = await socket;
    while (ours.write(Buffer.alloc(65_536)));
    ours.end();
    await end();
    expect(existsSync(path)).toBe(false);
    deaf.destroy();
    folder.remove();
  });

  it('holds no connection that has ended', async () => {
    const folder = new Folder();
    const path = join(folder.path, 'socket');
    const sockets: Socket[] = [];
    const end = await listenAt(path, (each) => sockets.push(each));
    const [first, second] = [connect(path), connect(path)];
    await eventually(() => expect(sockets).toHaveLength(2));
    const destroyed = sockets.map((socket) => vi.spyOn(socket, 'destroy'));
    const closed = once(sockets[0], 'close');
    sockets[0].destroy();
    await closed;
    await end();
    expect(destroyed.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    for (const parent of [first, second]) parent.destroy();
    folder.remove();
  });

  it('outlives connections that cannot be accepted', async () => {
    const folder = new Folder();
    const listen = vi.spyOn(Server.prototype, 'listen');
    const end = await listenAt(join(folder.path, 'socket'), () => {});
    const server = listen.mock.contexts[0] as Server;
    listen.mockRestore();
    for (let i = 0; i < 3; i++) server.emit('error', new Error('accept ENOBUFS'));
    expect(server.listening).toBe(true);
    const closed = vi.fn();
    server.once('close', closed);
    await end();
    expect(closed).toHaveBeenCalledOnce();
    folder.remove();
  });

  it('is for its owner alone from its first moment', async () => {
    const folder = new Folder();
    const { listen } = Server.prototype;
    const umasks: number[] = [];
    const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
      umasks.push(process.umask());
      return Reflect.apply(listen, this, args);
    });
    onTestFinished(() => spy.mockRestore());
    const end = await listenAt(join(folder.path, 'socket'), () => {});
    expect(umasks).toEqual([0o177]);
    await end();
    folder.remove();
  });

  it.each([
    ['reads has everything before its end', true],
    ['does not read is ended, too', false],
  ])('a parent that %s', async (_, reads) => {
    const folder = new Folder();
    const path = join(folder.path, 'socket');
    const closed: Promise<unknown>[] = [];
    const end = await listenAt(path, (socket) => {
      socket.write(Buffer.alloc(BYTES));
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      endSoon(socket, reads ? 60_000 : 10);
    });
    const parent = connect({ path, allowHalfOpen: true });
    await once(parent, 'connect');
    let read = 0;
    if (reads) {
      parent.on('data', ({ length }) => {
        read += length;
      });
      await once(parent, 'end');
      expect(read).toBe(BYTES);
    }
    await eventually(() => expect(closed).toHaveLength(1));
    await closed[0];
    parent.destroy();
    await end();
    folder.remove();
  });
});

it('a connection is destroyed once all was read, or after two seconds', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const socketOf = () =>
    Object.assign(new EventEmitter(), { end: vi.fn<(done: () => void) => void>(), destroy: vi.fn() });
  const [read, unread, closed] = [socketOf(), socketOf(), socketOf()];
  for (const socket of [read, unread, closed]) endSoon(socket as unknown as Socket);
  read.end.mock.calls[0][0]();
  closed.emit('close');
  vi.advanceTimersByTime(1_999);
  expect([read, unread, closed].map(({ destroy }) => destroy.mock.calls.length)).toEqual([1, 0, 0]);
  vi.advanceTimersByTime(1);
  expect([unread, closed].map(({ destroy }) => destroy.mock.calls.length)).toEqual([1, 0]);
  expect(vi.getTimerCount()).toBe(0);
});
