import { describe, expect, test } from 'vitest';
import { userCacheDirectory, userStateDirectory } from '#pickaxe/base/system/files.js';

describe.skipIf(process.platform === 'win32')('the folders of a user', () => {
  const home = () => '/home/me';
  const XDG = { XDG_CACHE_HOME: '/caches', XDG_STATE_HOME: '/states' };
  const RELATIVE = { XDG_CACHE_HOME: 'caches', XDG_STATE_HOME: 'states' };
  test.each([
    ['where XDG says', XDG, 'linux', '/caches/pickaxe', '/states/pickaxe'],
    ['not at a relative path', RELATIVE, 'linux', '/home/me/.cache/pickaxe', '/home/me/.local/state/pickaxe'],
    ['on Linux', {}, 'linux', '/home/me/.cache/pickaxe', '/home/me/.local/state/pickaxe'],
    ['on FreeBSD', { LOCALAPPDATA: '/x' }, 'freebsd', '/home/me/.cache/pickaxe', '/home/me/.local/state/pickaxe'],
    ['on macOS', {}, 'darwin', '/home/me/Library/Caches/pickaxe', '/home/me/Library/Application Support/pickaxe'],
    ['on Windows', { LOCALAPPDATA: '/local' }, 'win32', '/local/pickaxe', '/local/pickaxe'],
    ['there without its variable', {}, 'win32', '/home/me/AppData/Local/pickaxe', '/home/me/AppData/Local/pickaxe'],
  ])('are chosen as the system prescribes: %s', (_, environment, platform, cache, state) => {
    expect(userCacheDirectory(environment, platform, home)).toBe(cache);
    expect(userStateDirectory(environment, platform, home)).toBe(state);
  });

  test('do not exist for a user without a home directory', () => {
    const noHome = () => {
      throw new Error('ENOENT');
    };
    expect(userCacheDirectory({}, 'linux', noHome)).toBeUndefined();
    expect(userCacheDirectory({}, 'linux', () => '')).toBeUndefined();
    expect(userStateDirectory({}, 'linux', noHome)).toBeUndefined();
  });
});
