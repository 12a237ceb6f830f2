/** Where a socket for parents can be, and who may connect to it. */

import { type EventEmitter, once } from 'node:events';
import { existsSync, linkSync, statSync, writeFileSync } from 'node:fs';
import { connect, Server, Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listenAt, socketPath } from '#pickaxe/miner/source/parent/connection.js';
import { Folder } from '../../../app/config/folder.ts';
import { pretendPlatform } from '../../../platform.ts';
import { eventually } from '../follow.ts';

function folder(): string {
  const made = new Folder();
  onTestFinished(() => made.remove());
  return made.path;
}

describe.skipIf(process.platform === 'win32')('the address of a socket', () => {
  it.each([
    ['unix:/run/pickaxe.sock', '/run/pickaxe.sock'],
    ['unix:pickaxe.sock', resolve('pickaxe.sock')],
    [`unix:/${'a'.repeat(102)}`, `/${'a'.repeat(102)}`],
  ])('%s is a path', (address, path) => {
    expect(socketPath(address)).toBe(path);
  });

  it.each([
    ['unix:', '“unix:” is not the address of a Unix socket'],
    ['', '“” is not the address of a Unix socket'],
    ['/run/pickaxe.sock', 'is not the address of a Unix socket: write it like unix:/run'],
    [`unix:/${'a'.repeat(103)}`, 'the path of a socket has at most 103 bytes'],
    // Bytes count, and not characters.
    [`unix:/${'ü'.repeat(52)}`, 'has 105'],
  ])('%s is none', (address, message) => {
    expect(() => socketPath(address)).toThrow(message);
  });
});

it('there are no sockets for parents on Windows', () => {
  pretendPlatform('win32');
  expect(() => socketPath('unix:/run/pickaxe.sock')).toThrow('use stdin and stdout instead');
});

/** Lets the next call of a method end with this error, as the event of its object. */
function failing<Name extends string>(prototype: Record<Name, unknown>, name: Name, fault: Error) {
  const spy = vi.spyOn(prototype as Record<string, () => unknown>, name).mockImplementation(function (this: unknown) {
    setImmediate(() => (this as EventEmitter).emit('error', fault));
    return this;
  });
  onTestFinished(() => spy.mockRestore());
}
const faultOf = (code?: string) => Object.assign(new Error('the system says no'), code && { code });

/** @returns the path of a socket that a killed process has left behind */
async function staleSocket(): Promise<string> {
  const parent = folder();
  const [first, path] = [join(parent, 'first'), join(parent, 'socket')];
  const end = await listenAt(first, () => {});
  linkSync(first, path);
  await end();
  return path;
}

describe.skipIf(process.platform === 'win32')('a socket', () => {
  it('that a killed process has left is replaced', async () => {
    const path = await staleSocket();
    const end = await listenAt(path, (socket) => socket.end('here'));
    const parent = connect(path);
    const [chunk] = await once(parent, 'data');
    expect(String(chunk)).toBe('here');
    parent.destroy();
    await end();
  });

  it.each([
    ['EAGAIN', 'cannot be replaced (EAGAIN): remove it'],
    [undefined, 'cannot be replaced (): remove it'],
  ])('of which nobody knows whether it is used (%s) is not replaced', async (code, message) => {
    const path = await staleSocket();
    failing(Socket.prototype, 'connect', faultOf(code));
    await expect(listenAt(path, () => {})).rejects.toThrow(message);
    expect(existsSync(path)).toBe(true);
  });

  it.each([
    ['EACCES', 'this user may not make a socket at'],
    ['EROFS', 'no socket can be made at'],
  ])('that the system refuses (%s) is not made, with the reason', async (code, message) => {
    failing(Server.prototype, 'listen', faultOf(code));
    await expect(listenAt(join(folder(), 'socket'), () => {})).rejects.toThrow(message);
  });

  it('is for its owner alone even where no umask applies to sockets', async () => {
    const path = join(folder(), 'socket');
    const umask = vi.spyOn(process, 'umask').mockReturnValue(0);
    onTestFinished(() => umask.mockRestore());
    const end = await listenAt(path, () => {});
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await end();
  });

  it('is for its owner alone', async () => {
    const path = join(folder(), 'socket');
    const end = await listenAt(path, () => {});
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await end();
  });

  it('is not made in a folder that does not exist, or in place of a file', async () => {
    const parent = folder();
    const file = join(parent, 'file');
    writeFileSync(file, 'kept');
    await expect(listenAt(join(parent, 'none', 'socket'), () => {})).rejects.toThrow('does not exist: make it');
    await expect(listenAt(file, () => {})).rejects.toThrow('exists and is no socket: remove it');
  });

  it('that somebody listens at is not taken, and its connections go on', async () => {
    const path = join(folder(), 'socket');
    const closed: Promise<unknown>[] = [];
    const end = await listenAt(path, (socket) => {
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      socket.allowHalfOpen = false;
      socket.on('error', () => {}).write('first');
      socket.resume();
    });
    await expect(listenAt(path, () => {})).rejects.toThrow(`another worker listens at ${path}: stop it`);
    // The question whether somebody listens leaves no connection open.
    await eventually(() => expect(closed).toHaveLength(1));
    await closed[0];
    const parent = connect(path);
    const [chunk] = await once(parent, 'data');
    expect(String(chunk)).toBe('first');
    parent.destroy();
    await end();
  });
});
