/** What the command line says of a fleet's settings, without a server. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { pickaxe, pickaxeIn } from '../in-process.ts';

const NATS = 'nats://127.0.0.1:9';

it('pickaxe alone says what a rig of a fleet can do next', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'pickaxe-fleet-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'pickaxe.toml'), `[nats]\nurls = ["${NATS}"]\n`);
  const { code, stdout } = await pickaxeIn(cwd, []);
  expect(code).toBe(0);
  expect(stdout).toContain(`Ready to mine for the fleet at ${NATS}, according to `);
  expect(stdout).toContain('\n  pickaxe doctor    checks this machine and the fleet first');
});

it('the help of coordinate does not claim that devices mine by default', async () => {
  const help = async (command: string) => (await pickaxe(command, '--help')).stdout.replace(/\s+/g, ' ');
  expect(await help('coordinate')).toContain('(default: none) --temp-limit');
  expect(await help('mine')).toContain('(default: all) --temp-limit');
});
