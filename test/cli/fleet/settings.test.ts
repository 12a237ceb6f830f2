/** What the command line says of a fleet's settings, without a server. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { pickaxe, start } from '../pickaxe.ts';

const NATS = 'nats://127.0.0.1:9';
const COORDINATOR = ['--node', 'http://host:1848', '--network', 'development', '--public-key', 'a1'.repeat(32)];

it('a dry run of a rig names the servers, and the rig’s name there', async () => {
  const dry = ['mine', '--dry-run', '--nats', NATS, '--rig-name', 'rig1', '--devices', 'cpu', '--threads', '1'];
  const text = await pickaxe(...dry);
  expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining(`fleet   ${NATS} (not connected), as rig1`) });
  const { stdout } = await pickaxe(...dry, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ fleet: NATS, rigName: 'rig1' });
});

it('a dry run of a coordinator says what it would publish where, and tries no device', async () => {
  const dry = ['coordinate', '--dry-run', '--nats', NATS, '--rig-name', 'c1', ...COORDINATOR];
  const { code, stdout } = await pickaxe(...dry);
  expect(code).toBe(0);
  expect(stdout).toContain(`fleet   publishes work as pickaxe.work.c1 at ${NATS} (not connected)`);
  expect(JSON.parse((await pickaxe(...dry, '--json')).stdout)).toMatchObject({
    publishes: { fleet: NATS, subject: 'pickaxe.work.c1' },
    devices: [],
  });
});

it('pickaxe alone says what a rig of a fleet can do next', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'pickaxe-fleet-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'pickaxe.toml'), `[nats]\nurls = ["${NATS}"]\n`);
  const run = start([], {}, undefined, cwd);
  expect(await run.code).toBe(0);
  expect(run.lines).toContain(`Ready to mine for the fleet at ${NATS}, according to pickaxe.toml.`);
  expect(run.lines).toContain('  pickaxe doctor    checks this machine and the fleet first');
});

it('the help of coordinate does not claim that devices mine by default', async () => {
  const help = async (command: string) => (await pickaxe(command, '--help')).stdout.replace(/\s+/g, ' ');
  expect(await help('coordinate')).toContain('(default: none) --temp-limit');
  expect(await help('mine')).toContain('(default: all) --temp-limit');
});
