/** Where a socket for parents can be, and who may connect to it. */

import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenAt, socketPath } from '#pickaxe/miner/source/parent/connection.js';
import { Folder } from '../../../app/config/folder.ts';

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

describe.skipIf(process.platform === 'win32')('a socket', () => {
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
    const end = await listenAt(path, (socket) => socket.on('error', () => {}).write('first'));
    await expect(listenAt(path, () => {})).rejects.toThrow(`another worker listens at ${path}: stop it`);
    const parent = connect(path);
    const [chunk] = await once(parent, 'data');
    expect(String(chunk)).toBe('first');
    parent.destroy();
    await end();
  });
});
