import { describe, expect, it } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { ConfigError } from '#pickaxe/app/config/raw-settings.js';

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
