/** `pickaxe mine --external-worker` against a mock node. */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DIALECTS } from '../../mock-node/node.ts';
import { folder, inNewFolders, KEY, asProgram as pickaxe } from '../in-folder.ts';
import { MAIN } from '../pickaxe.ts';
import { mine } from './mine-on-mock.ts';

inNewFolders();

const SCRIPT = fileURLToPath(new URL('../../miner/relay/external-relay/pretend-worker.mjs', import.meta.url));

it.each(DIALECTS)(
  'mines without devices, with a worker that others have written, on a node of the dialect %s',
  async (dialect) => {
    const command = `"${process.execPath}" "${SCRIPT}" works`;
    const { run, mock } = await mine(dialect, ['--devices', 'none', '--external-worker', command], {}, 100);
    expect(await run.code, run.stderr).toBe(0);
    expect(mock.ledger.stats).toMatchObject({ rejected: 0 });
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(3);
    const verdicts = run.events('verdict');
    expect(new Set(verdicts.map(({ device }) => device))).toEqual(new Set(['external-worker']));
    expect(run.events('summary')).toMatchObject([{ hashes: 0 }]);
  },
);

it('mines with pickaxe’s own external worker', async () => {
  const command = `"${process.execPath}" "${MAIN}" external-worker --devices cpu --threads 1`;
  const { run, mock } = await mine('chainweb', ['--devices', 'none', '--external-worker', command], {}, 1_000);
  expect(await run.code, run.stderr).toBe(0);
  expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(3);
});

it('needs something that hashes, and a file that was named', async () => {
  const node = ['--node', 'http://127.0.0.1:9', '--network', 'development', '--public-key', KEY];
  const { code, stderr } = await pickaxe(['mine', ...node, '--devices', 'none']);
  expect(code).toBe(2);
  expect(stderr).toContain('--devices none leaves nothing that hashes');
  expect((await pickaxe(['mine', ...node, '--devices', 'none,cpu'])).code).toBe(2);
  folder.write('pickaxe.toml', '[external-worker]\ncommand = ["worker"]\n');
  expect((await pickaxe(['mine', ...node, '--dry-run'])).code).toBe(2);
  const named = ['--config', join(folder.path, 'pickaxe.toml'), '--devices', 'none'];
  const dry = await pickaxe(['mine', ...node, ...named, '--dry-run', '--json']);
  expect(dry.code, dry.stderr).toBe(0);
  expect(JSON.parse(dry.stdout)).toMatchObject({ devices: [] });
});
