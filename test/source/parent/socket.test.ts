import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listenAt } from '#pickaxe/source/parent/socket.js';
import { Folder } from '../../config/folder.ts';

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
});
