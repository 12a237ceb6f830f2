/**
 * HiveOS's and mmpOS's scripts, run as those systems run them: with the sheet's fields as variables, beside a stub of
 * pickaxe.
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const PACKAGING = fileURLToPath(new URL('../../packaging/', import.meta.url));
const KEY = 'a1'.repeat(32);

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pickaxe-os-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** Unpacks a system's scripts, beside a pickaxe that prints its arguments, or runs the given line. */
function unpack(system: 'hiveos' | 'mmpos', message = 'printf "%s\\n" "$@"; env | grep ^PICKAXE_') {
  const folder = join(home, 'pickaxe');
  cpSync(join(PACKAGING, system), folder, { recursive: true });
  writeFileSync(join(folder, 'pickaxe'), `#!/usr/bin/env bash\n${message}\n`);
  chmodSync(join(folder, 'pickaxe'), 0o755);
  const manifest = join(folder, 'h-manifest.conf');
  if (system === 'hiveos') {
    const text = readFileSync(manifest, 'utf8').replace('/var/log/miner', join(home, 'log'));
    writeFileSync(manifest, text);
  }
  return folder;
}

function bash(script: string, env: Record<string, string> = {}) {
  const { PATH = '' } = process.env;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', script], {
    encoding: 'utf8',
    env: { PATH, ...env },
  });
  expect(stderr).toBe('');
  return { stdout, status };
}

const skipped = process.platform === 'win32';
const why = skipped ? ' (skipped: these systems are Linux, and their scripts need bash)' : '';

describe.skipIf(skipped)(`HiveOS${why}`, () => {
  /** The steps of HiveOS at a start: the manifest, the configuration, and then the miner in its screen. */
  function startWith(sheet: Record<string, string>) {
    const folder = unpack('hiveos');
    bash(`. ${folder}/h-manifest.conf; . ${folder}/h-config.sh`, sheet);
    const { stdout, status } = bash(`cd / && ${folder}/h-run.sh`);
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const variables = lines.filter((line) => line.startsWith('PICKAXE_'));
    return { args: lines.filter((line) => !line.startsWith('PICKAXE_')), variables };
  }
  const always = ['mine', '--http', '127.0.0.1:14048', '--log-file'];

  test('the flight sheet becomes settings', () => {
    const { args, variables } = startWith({
      CUSTOM_URL: 'http://10.0.0.2:1848\nhttp://10.0.0.3:1848',
      CUSTOM_TEMPLATE: `k:${KEY}`,
      CUSTOM_PASS: 'mainnet01',
      CUSTOM_USER_CONFIG: ' --devices gpu  --account "two words" ',
    });
    expect(args).toEqual([
      ...always,
      join(home, 'log/pickaxe/pickaxe.log'),
      ...['--devices', 'gpu', '--account', 'two words'],
    ]);
    expect(variables.sort()).toEqual([
      'PICKAXE_NETWORK=mainnet01',
      'PICKAXE_NODE=http://10.0.0.2:1848,http://10.0.0.3:1848',
      `PICKAXE_PUBLIC_KEY=k:${KEY}`,
    ]);
    expect(existsSync(join(home, 'log/pickaxe'))).toBe(true);
  });

  test('pickaxe does without what the sheet does not set, or says that it is missing', () => {
    const { args, variables } = startWith({ CUSTOM_URL: 'http://n:1', CUSTOM_TEMPLATE: KEY, CUSTOM_PASS: 'x' });
    expect(args).toHaveLength(always.length + 1);
    expect(variables.sort()).toEqual(['PICKAXE_NODE=http://n:1', `PICKAXE_PUBLIC_KEY=${KEY}`]);
  });

  test('the wallet is passed on as it is: pickaxe itself reads the worker’s name behind the key', () => {
    const { variables } = startWith({ CUSTOM_URL: 'http://n:1', CUSTOM_TEMPLATE: `k:${KEY}.rig1`, CUSTOM_PASS: 'x' });
    expect(variables).toContain(`PICKAXE_PUBLIC_KEY=k:${KEY}.rig1`);
  });

  test('a sheet with pools gives a user instead of a key, and the password in a file of its own', () => {
    const urls = { CUSTOM_URL: 'stratum+ssl://one.example:3334 stratum+tcp://two.example:3333' };
    const { variables } = startWith({ ...urls, CUSTOM_TEMPLATE: `k:${KEY}.rig1`, CUSTOM_PASS: 'it is secret' });
    const [password, pool, user] = variables.sort();
    expect(pool).toBe('PICKAXE_POOL=stratum+ssl://one.example:3334,stratum+tcp://two.example:3333');
    expect(user).toBe(`PICKAXE_USER=k:${KEY}.rig1`);
    const file = password.replace('PICKAXE_PASSWORD_FILE=', '');
    expect(readFileSync(file, 'utf8')).toBe('it is secret\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const without = startWith({ ...urls, CUSTOM_TEMPLATE: 'a.b', CUSTOM_PASS: 'x' });
    expect(without.variables.sort()).toEqual([pool, 'PICKAXE_USER=a.b']);
  });

  test('nothing in the sheet is executed', () => {
    const evil = `$(touch ${home}/pwned) \`touch ${home}/pwned\` ; touch ${home}/pwned`;
    const sheet = { CUSTOM_URL: evil, CUSTOM_TEMPLATE: evil, CUSTOM_PASS: evil, CUSTOM_USER_CONFIG: `-x ${evil}` };
    const { args } = startWith(sheet);
    expect(args).toContain(`$(touch`);
    expect(existsSync(join(home, 'pwned'))).toBe(false);
  });

  test('the agent gets both of its variables', () => {
    const folder = unpack('hiveos', 'echo 123.4; echo \'{"hs":[123.4],"temp":[null]}\'; echo "$@" > "$0.args"');
    const { stdout } = bash(`khs=; stats=; . ${folder}/h-stats.sh; echo "$khs|$stats"`);
    expect(stdout.trim()).toBe('123.4|{"hs":[123.4],"temp":[null]}');
    expect(readFileSync(`${folder}/pickaxe.args`, 'utf8').trim()).toBe('stats --format hive --http 127.0.0.1:14048');
  });

  test('a miner that does not answer has no hashrate', () => {
    const folder = unpack('hiveos', 'echo 1; exit 1');
    expect(bash(`khs=5; . ${folder}/h-stats.sh; echo "$khs|$stats"`).stdout.trim()).toBe('0|null');
  });
});

describe.skipIf(skipped)(`mmpOS${why}`, () => {
  test('the profile’s arguments are the miner’s', () => {
    const folder = unpack('mmpos');
    const { stdout } = bash(`cd / && ${folder}/mmp-launch.sh --node http://n:1 --account 'two words'`);
    expect(stdout.trimEnd().split('\n')).toEqual([
      ...['mine', '--http', '127.0.0.1:14048', '--node', 'http://n:1', '--account', 'two words'],
    ]);
  });

  test('the agent gets JSON, whatever it calls with', () => {
    const folder = unpack('mmpos', 'echo "$@"');
    expect(bash(`cd / && ${folder}/mmp-stats.sh 6 /var/log/x`).stdout.trim()).toBe(
      'stats --format mmpos --http 127.0.0.1:14048',
    );
  });
});
