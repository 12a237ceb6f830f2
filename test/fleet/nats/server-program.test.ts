import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findServer, startServer } from '#pickaxe/fleet/nats/server-program.js';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('a server that cannot be started is named with the reason', async () => {
  const folder = newFolder();
  const program = join(folder, 'nothing');
  await expect(startServer({ program, config: '', folder })).rejects.toThrow(
    `nats-server has ended at once:\nspawn ${program} ENOENT`,
  );
});

it('the program is that of the first folder of the PATH which has it', async () => {
  const name = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';
  const folder = newFolder();
  const [nothing, first, second] = ['nothing', 'first', 'second'].map((each) => join(folder, each));
  for (const each of [nothing, first, second]) mkdirSync(each);
  for (const each of [first, second]) {
    writeFileSync(join(each, name), '');
    chmodSync(join(each, name), 0o755);
  }
  const found = (...folders: string[]) => findServer({ PATH: folders.join(delimiter) });
  expect(await found(nothing, '', first, second)).toBe(join(first, name));
  expect(await found(second, first)).toBe(join(second, name));
  // Other folders, which a PATH seldom names, come last.
  const elsewhere = await found(nothing);
  expect([undefined, `/usr/sbin/${name}`, `/usr/local/sbin/${name}`]).toContain(elsewhere);
  expect(await findServer({})).toBe(elsewhere);
});
