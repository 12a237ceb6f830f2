import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Lock, LockedError } from '#pickaxe/node/sweep/state-files.js';

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  return { ...real, linkSync: vi.fn(real.linkSync), writeFileSync: vi.fn(real.writeFileSync) };
});

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'pickaxe-lock-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const fails = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

/** From now on the disk is full: a file can be created, and then nothing can be written to it. */
function fillDisk(): void {
  const write = vi.mocked(writeFileSync);
  const real = write.getMockImplementation()!;
  onTestFinished(() => void write.mockImplementation(real));
  write.mockImplementation((file, text, options) => {
    if (typeof file === 'string') real(file, '', options);
    return fails('ENOSPC')() ?? text;
  });
}

/** From now on the file system has no links. */
function refuseLinks(code: string): void {
  const link = vi.mocked(linkSync);
  const real = link.getMockImplementation()!;
  onTestFinished(() => void link.mockImplementation(real));
  link.mockImplementation(fails(code));
}

it('a full disk leaves no lock behind, with links and without them', () => {
  const directory = folder();
  const lock = new Lock(join(directory, 'lock'));
  fillDisk();
  expect(() => lock.take()).toThrow('ENOSPC');
  refuseLinks('EPERM');
  expect(() => lock.take()).toThrow('ENOSPC');
  expect(readdirSync(directory)).toEqual([]);
});

// Android and some network file systems report that links are not permitted.
it.each(['ENOTSUP', 'EPERM', 'EACCES'])('a file system without links has locks, too: %s', (code) => {
  const directory = folder();
  const [one, other] = [1, 2].map(() => new Lock(join(directory, 'lock')));
  refuseLinks(code);
  one.take();
  expect(readdirSync(directory)).toEqual(['lock']);
  expect(readFileSync(join(directory, 'lock'), 'utf8')).toMatch(new RegExp(`^${process.pid} \\S+ [0-9a-f]{12}$`));
  writeFileSync(join(directory, 'lock'), '1 another-machine 1');
  expect(() => other.take()).toThrow(LockedError);
  one.release();
  other.take();
  other.release();
  expect(readdirSync(directory)).toEqual([]);
});

it('a lock that cannot be made for another reason is an error', () => {
  const directory = folder();
  refuseLinks('EIO');
  expect(() => new Lock(join(directory, 'lock')).take()).toThrow('EIO');
  expect(readdirSync(directory)).toEqual([]);
});
