import { describe, expect, it } from 'vitest';
import { renameFile, renameFileSync } from '#pickaxe/base/system/files.js';

/** A system on which the first renames fail. */
function failing(times: number, code: string, platform = 'win32') {
  const calls: string[] = [];
  const waited: number[] = [];
  const rename = (from: string, to: string) => {
    calls.push(`${from} > ${to}`);
    if (calls.length <= times) throw Object.assign(new Error(code), { code });
  };
  return { calls, waited, system: { platform, rename, wait: (ms: number) => void waited.push(ms) } };
}

describe.each([
  ['renameFile', async (system: Parameters<typeof renameFile>[2]) => renameFile('new', 'file', system)],
  ['renameFileSync', async (system: Parameters<typeof renameFileSync>[2]) => renameFileSync('new', 'file', system)],
] as const)('%s', (_, rename) => {
  it.each(['EPERM', 'EACCES', 'EBUSY'])('tries again on Windows while a file is in use (%s)', async (code) => {
    const { calls, waited, system } = failing(3, code);
    await rename(system);
    expect(calls).toEqual(Array(4).fill('new > file'));
    expect(waited).toEqual([10, 20, 40]);
  });

  it('gives up after little more than a second, with the error of the system', async () => {
    const { waited, system } = failing(Number.POSITIVE_INFINITY, 'EBUSY');
    await expect(rename(system)).rejects.toMatchObject({ code: 'EBUSY' });
    expect(waited.reduce((sum, ms) => sum + ms)).toBe(1300);
  });

  it.each([
    ['ENOSPC', 'win32'],
    ['EACCES', 'linux'],
  ])('does not try again for %s on %s', async (code, platform) => {
    const { calls, system } = failing(1, code, platform);
    await expect(rename(system)).rejects.toMatchObject({ code });
    expect(calls).toHaveLength(1);
  });
});
