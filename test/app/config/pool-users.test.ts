import { describe, expect, it } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { takePoolUsers } from '#pickaxe/app/config/pool-users.js';
import { ConfigError, type RawSettings } from '#pickaxe/app/config/raw-settings.js';

const load = (flags: Record<string, string | readonly string[]>, owner?: readonly string[]) =>
  loadConfig({
    flags: new Map(Object.entries(flags)),
    owner,
    environment: {},
    cwd: '/nowhere',
    home: () => '/nowhere',
  });
const poolOf = (...args: Parameters<typeof load>) => load(...args).config.pool;
const problemsOf = (...args: Parameters<typeof load>) => {
  try {
    load(...args);
  } catch (fault) {
    if (fault instanceof ConfigError) return fault.problems.join('\n');
    throw fault;
  }
  return '';
};

describe('a user in the URL of a pool', () => {
  it.each([
    ['stratum+tcp://bob.rig1:x@pool.example:3333', 'bob.rig1', 'x'],
    ['stratum+ssl://k%3Aabc.rig1:d=1%2C000%40@pool.example:3333/', 'k:abc.rig1', 'd=1,000@'],
    ['tcp://bob.rig1@pool.example:3333#xnsub', 'bob.rig1', undefined],
    ['stratum+tcp://bob.rig1:d=1,000@pool.example:3333', 'bob.rig1', 'd=1,000'],
  ])('%s is taken as if it was given by itself', (url, user, password) => {
    const { urls, ...pool } = poolOf({ 'pool.urls': [url] });
    expect(urls?.[0]).toMatch(/^stratum\+(tcp|ssl):\/\/pool\.example:3333$/);
    expect(pool).toMatchObject({ user });
    expect(pool.password).toBe(password);
  });

  it('may be repeated, also with --user, -u and --password', () => {
    const urls = ['stratum+tcp://bob.rig1:x@a.example:1', 'stratum+tcp://bob.rig1@b.example:2', 'c.example:3'];
    const pool = poolOf({ 'pool.urls': urls, 'pool.user': 'bob.rig1', 'pool.password': 'x' }, ['bob.rig1']);
    expect(pool).toMatchObject({ user: 'bob.rig1', password: 'x' });
    expect(pool.urls).toHaveLength(3);
  });

  it('that contradicts another one is refused, without the password in the words', () => {
    const url = 'stratum+tcp://bob.rig1:SECRET@a.example:1';
    expect(problemsOf({ 'pool.urls': [url] }, ['k:abc.rig1'])).toMatch(
      /^--pool: the URL of a pool has another user than/,
    );
    const problems = problemsOf({ 'pool.urls': [url], 'pool.password': 'HIDDEN' });
    expect(problems).toMatch(/^--pool: the URL of a pool has another password than/);
    expect(problems).not.toMatch(/SECRET|HIDDEN/);
  });

  it('is checked like any other, and a wrong URL shows no password', () => {
    expect(problemsOf({ 'pool.urls': ['stratum+tcp://bob:SECRET@a.example'] })).toMatch(/it has no port/);
    expect(problemsOf({ 'pool.urls': ['stratum+tcp://bob:SECRET@a.example'] })).not.toContain('SECRET');
  });
});

describe('the places of settings that a pool’s URL gives', () => {
  const rawOf = (document: unknown, more: Partial<RawSettings> = {}): RawSettings => ({
    document,
    where: (path) => `where ${path.join('.')}`,
    at: (path) => `at ${path.join('.')}`,
    ...more,
  });
  const placesOf = ({ where, at }: RawSettings, ...path: [string, string?]) => {
    const given = path.filter((part) => part !== undefined);
    return [where(given), at(given)];
  };
  const ofUrls = ['where pool.urls', 'at pool.urls'];

  it('are those of the URLs, unless the setting has a place of its own', () => {
    const both = takePoolUsers(rawOf({ pool: { urls: ['tcp://bob:x@a:1'] }, node: { user: 'n' } }));
    expect(both.document).toEqual({
      pool: { urls: ['tcp://a:1'], user: 'bob', password: 'x' },
      node: { user: 'n' },
    });
    expect([placesOf(both, 'pool', 'user'), placesOf(both, 'pool', 'password')]).toEqual([ofUrls, ofUrls]);
    expect(placesOf(both, 'node', 'user')).toEqual(['where node.user', 'at node.user']);
    expect(placesOf(both, 'pool')).toEqual(['where pool', 'at pool']);
    expect(placesOf(both, 'pool', 'other')).toEqual(['where pool.other', 'at pool.other']);
    const own = takePoolUsers(rawOf({ pool: { urls: 'tcp://bob:x@a:1', user: 'bob' } }));
    expect(own.document).toEqual({ pool: { urls: 'tcp://a:1', user: 'bob', password: 'x' } });
    expect([placesOf(own, 'pool', 'user'), placesOf(own, 'pool', 'password')]).toEqual([
      ['where pool.user', 'at pool.user'],
      ofUrls,
    ]);
  });

  it('are as before where no URL has a user', () => {
    const others = ['tcp://a:1', 5, 'http://bob:x@a:1', 'bob@a:1'];
    for (const document of [
      undefined,
      null,
      7,
      [],
      {},
      { pool: 7 },
      { pool: null },
      { pool: [] },
      { pool: { urls: others } },
    ]) {
      const raw = rawOf(document);
      expect(takePoolUsers(raw)).toBe(raw);
    }
  });

  it('begin each problem, after those that were known before', () => {
    const urls = ['tcp://bob:x@a:1', 'tcp://eve:x@b:1'];
    const { problems, document } = takePoolUsers(rawOf({ pool: { urls } }, { problems: ['an earlier one'] }));
    expect(problems).toEqual([
      'an earlier one',
      expect.stringMatching(/^at pool\.urls: the URL of a pool has another user than pool\.user /),
    ]);
    expect(document).toMatchObject({ pool: { user: 'bob', password: 'x' } });
  });

  it('do not exist for an empty user; spaces after a URL do not count, and a wrong encoding stays as it is', () => {
    const empty = takePoolUsers(rawOf({ pool: { urls: ['tcp://:x@a:1'] } }));
    expect(empty.document).toEqual({ pool: { urls: ['tcp://a:1'], password: 'x' } });
    const wide = takePoolUsers(rawOf({ pool: { urls: ['tcp://bob@a:1 \n'] } }));
    expect(wide.document).toEqual({ pool: { urls: ['tcp://a:1'], user: 'bob' } });
    const odd = takePoolUsers(rawOf({ pool: { urls: ['tcp://a%zz@a:1'] } }));
    expect(odd.document).toEqual({ pool: { urls: ['tcp://a:1'], user: 'a%zz' } });
  });
});
