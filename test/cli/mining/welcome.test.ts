/** What `pickaxe` alone, `--print-config` and the devices of `pickaxe coordinate` come to, by the settings. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, inNewFolders, KEY, pickaxe, project } from '../in-folder.ts';

inNewFolders();

const NODE = 'node.urls = ["http://127.0.0.1:9"]\n';
const POOL = 'pool.urls = ["stratum+tcp://127.0.0.1:9"]\n';
const NATS = 'nats.urls = ["nats://127.0.0.1:9"]\n';
const MINER = `miner.public-keys = ["${KEY}"]\n`;

async function welcome(toml: string | undefined, env: Record<string, string> = {}): Promise<string[]> {
  if (toml !== undefined) folder.write('pickaxe.toml', toml);
  const { code, stdout, stderr } = await pickaxe([], env);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.replaceAll(join(folder.path, '/'), '').split('\n');
  expect(lines[0]).toMatch(/^pickaxe \d/);
  expect(lines.at(-1)).toBe('  pickaxe --help    all commands');
  return lines.slice(2, -1);
}

const FIRST = expect.stringMatching(/^ {2}pickaxe demo /);

describe('pickaxe alone', () => {
  it('suggests first steps where nothing is configured', async () => {
    expect(await welcome(undefined)).toEqual([
      'Nothing is configured yet.',
      '',
      FIRST,
      expect.anything(),
      expect.anything(),
    ]);
  });

  it.each([
    ['no node', 'cpu.threads = 1\n'],
    ['no key', NODE],
    ['no node, but a key', MINER],
    ['a pool, but no user', POOL],
    ['a pool and a key, but no user', POOL + NODE + MINER],
  ])('suggests them, too, beside a file that has %s', async (_, toml) => {
    const [what, , first] = await welcome(toml);
    expect(what).toBe('pickaxe.toml names no node or no key yet, nor a pool and a user.');
    expect(first).toEqual(FIRST);
  });

  it.each([
    ['a node', NODE + MINER, 'on http://127.0.0.1:9', 'node'],
    ['a pool', `${POOL}pool.user = "me.rig"\n${NODE}${MINER}`, 'on stratum+tcp://127.0.0.1:9', 'pool'],
    ['a fleet', NATS, 'for the fleet at nats://127.0.0.1:9', 'fleet'],
    ['a fleet, and the node of a coordinator', NATS + NODE + MINER, 'on http://127.0.0.1:9', 'node'],
  ])('says that a rig with %s is ready', async (_, toml, where, kind) => {
    const [what, , mine, doctor] = await welcome(toml);
    expect(what).toBe(`Ready to mine ${where}, according to pickaxe.toml.`);
    expect(mine).toBe('  pickaxe mine      starts mining');
    expect(doctor).toBe(`  pickaxe doctor    checks this machine and the ${kind} first`);
  });

  it('needs no file for that', async () => {
    const [what] = await welcome(undefined, { PICKAXE_NODE: 'http://127.0.0.1:9', PICKAXE_PUBLIC_KEY: KEY });
    expect(what).toBe('Ready to mine on http://127.0.0.1:9.');
  });

  it('says what is wrong with a file', async () => {
    const lines = await welcome('cpu.threads = "many"\n');
    expect(lines[0]).toContain('cpu.threads');
    expect(lines.at(-1)).toBe('  pickaxe config check');
  });
});

describe('the settings of a command', () => {
  it('are printed as a file, or as JSON', async () => {
    folder.write('pickaxe.toml', project);
    const text = await pickaxe(['mine', '--print-config']);
    expect([text.code, text.stdout]).toEqual([0, expect.stringContaining('\nuse = [ "cpu" ]  # pickaxe.toml:9\n')]);
    const json = await pickaxe(['mine', '--print-config', '--json']);
    expect(JSON.parse(json.stdout)).toBeTypeOf('object');
  });

  it('of a coordinator have no devices unless they name some', async () => {
    folder.write('pickaxe.toml', NODE + MINER + NATS);
    const devices = async (...args: string[]) => {
      const { stdout } = await pickaxe(['coordinate', '--network', 'development', '--print-config', ...args]);
      return /^use = .*$/m.exec(stdout)?.[0];
    };
    expect(await devices()).toBe('use = "none"  # default');
    expect(await devices('--devices', 'cpu')).toMatch(/^use = \[ "cpu" \]/);
  });
});
