import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { distrust, readRegularFile, whyUnreadable } from '#pickaxe/base/system/regular-file.js';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-regular-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('a file is read', () => {
  it.each([
    ['as a whole', 'abc', 10],
    ['up to the last byte that is allowed', 'abc', 3],
    ['also when it is empty', '', 3],
    ['also when it may only be empty', '', 0],
  ])('%s', (_, text, most) => {
    const { bytes, facts } = readRegularFile(file('some', text), most);
    expect([bytes.toString(), facts.size]).toEqual([text, text.length]);
  });

  it.each([
    ['a byte too many', 'abcd', 3],
    ['far too many bytes', 'a'.repeat(100_000), 3],
    ['a byte where none is allowed', 'a', 0],
  ])('unless it has %s', (_, text, most) => {
    expect(() => readRegularFile(file('large', text), most)).toThrow(`it has more than ${most} bytes`);
  });

  it('unless its facts are wrong, or it is a folder', () => {
    const check = ({ size }: { readonly size: number }) => (size === 2 ? 'it has two bytes' : undefined);
    expect(() => readRegularFile(file('two', 'ab'), 10, check)).toThrow('it has two bytes');
    expect(readRegularFile(file('three', 'abc'), 10, check).bytes.toString()).toBe('abc');
    expect(() => readRegularFile(folder, 10)).toThrow('it is a directory');
  });

  it('unless it is neither a file nor a folder', () => {
    expect(() => readRegularFile('/dev/null', 10)).toThrow('it is not a regular file');
  });
});

it('the reason why a file cannot be read is a clause', () => {
  symlinkSync(join(folder, 'missing'), join(folder, 'dangling'));
  const why = (code: string, name = 'some') => whyUnreadable({ code, message: 'EIO' } as never, join(folder, name));
  expect(why('ENOENT', 'dangling')).toBe('it is a link to a file that does not exist');
  expect(why('ENOENT', 'missing')).toBe('there is no such file');
  expect(['EACCES', 'ELOOP', 'EISDIR', 'EIO'].map((code) => why(code))).toEqual([
    'this user may not read it',
    'it is a link that leads to itself',
    'it is a directory',
    'the system says EIO',
  ]);
});

describe('a file is trusted, or who may do what is said', () => {
  const ME = 1_000;
  const reasons = (holds: 'settings' | 'secret', uid: number, bits: readonly number[], user: number | undefined = ME) =>
    bits.map((mode) => distrust('f', holds, { uid, mode: 0o100_000 | mode }, user)?.replace(/\..*/, ''));
  const others = (what: string) => `other users than its owner may ${what}`;

  it.each([
    ['settings', ME, [0o600, 0o644, 0o755], undefined],
    ['settings', ME, [0o620, 0o602], others('write to it')],
    ['settings', 0, [0o644], undefined],
    ['settings', 0, [0o664, 0o646], others('write to it')],
    ['secret', ME, [0o600, 0o700, 0o711], undefined],
    ['secret', ME, [0o640, 0o620, 0o604, 0o602], others('read or write it')],
    // The group of a file that belongs to root may be that of a service.
    ['secret', 0, [0o600, 0o640], undefined],
    ['secret', 0, [0o620, 0o604, 0o602], others('read or write it')],
    ['settings', 1, [0o600], 'it belongs to another user (uid 1)'],
    ['secret', 1_001, [0o600], 'it belongs to another user (uid 1001)'],
  ] as const)('%s of user %i', (holds, uid, bits, reason) => {
    expect(reasons(holds, uid, bits)).toEqual(bits.map(() => reason));
  });

  it('with a remedy', () => {
    expect(distrust('f', 'secret', { uid: ME, mode: 0o644 }, ME)).toContain('(chmod go-rwx f)');
    expect(distrust('f', 'settings', { uid: ME, mode: 0o666 }, ME)).toContain('(chmod go-w f)');
    expect(distrust('f', 'settings', { uid: 7, mode: 0o600 }, ME)).toContain('(chown 1000 f)');
  });
});
