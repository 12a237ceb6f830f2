import { expect, it, onTestFinished, test } from 'vitest';
import { distrust } from '#pickaxe/base/system/regular-file.js';

const ME = 1000;
const judge = (holds: 'settings' | 'secret', mode: number, uid = ME, user = ME) =>
  distrust('a file', holds, { uid, mode: 0o100000 | mode }, user);

it.each([0o600, 0o640, 0o644, 0o400, 0o444, 0o755])('settings may have the mode %o', (mode) => {
  expect(judge('settings', mode)).toBeUndefined();
});

it.each([0o620, 0o602, 0o622, 0o664, 0o666, 0o777])('settings may not have the mode %o', (mode) => {
  expect(judge('settings', mode)).toContain('(chmod go-w a file)');
  expect(judge('settings', mode, 0)).toContain('(chmod go-w a file)');
});

it.each([0o600, 0o400, 0o700])('a secret may have the mode %o', (mode) => {
  expect(judge('secret', mode)).toBeUndefined();
});

it.each([0o622, 0o602, 0o620, 0o640, 0o604, 0o644, 0o660, 0o666])('a secret may not have the mode %o', (mode) => {
  expect(judge('secret', mode)).toContain('(chmod go-rwx a file)');
});

test('a secret that belongs to root may be read by its group, and by nobody else', () => {
  for (const mode of [0o440, 0o640]) expect(judge('secret', mode, 0)).toBeUndefined();
  for (const mode of [0o444, 0o460, 0o660, 0o604]) expect(judge('secret', mode, 0)).toContain('chmod go-rwx');
});

it.each(['settings', 'secret'] as const)(
  '%s are trusted if the user or root owns them; root trusts only its own',
  (holds) => {
    expect(judge(holds, 0o600, ME, ME)).toBeUndefined();
    expect(judge(holds, 0o600, 0, ME)).toBeUndefined();
    expect(judge(holds, 0o600, 0, 0)).toBeUndefined();
    expect(judge(holds, 0o600, ME + 1, ME)).toMatch(/another user \(uid 1001\)\. .* \(chown 1000 a file\)$/);
    expect(judge(holds, 0o600, ME, 0)).toMatch(/another user \(uid 1000\)\. .* \(chown 0 a file\)$/);
  },
);

test('where files have no owners and modes, as on Windows, all files are trusted', () => {
  const { geteuid } = process;
  onTestFinished(() => void Object.assign(process, { geteuid }));
  Reflect.deleteProperty(process, 'geteuid');
  for (const holds of ['settings', 'secret'] as const) {
    expect(distrust('a file', holds, { uid: 12_345, mode: 0o100666 })).toBeUndefined();
  }
});
