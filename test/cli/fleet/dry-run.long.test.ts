/** What a dry run shows of a fleet's settings, without a server. */

import { expect, it } from 'vitest';
import { pickaxe } from '../pickaxe.ts';

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
