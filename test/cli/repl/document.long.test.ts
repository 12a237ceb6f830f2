/** The commands that docs/repl.md shows, on a mock node. */

import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { Folder } from '../../app/config/folder.ts';
import { PATIENCE } from '../../patience.ts';
import { isolated, MAIN, start } from '../pickaxe.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

const page = readFileSync(new URL('../../../docs/repl.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
const block = (start: string) => blocks.find((each) => each.startsWith(start))!;
const contract = block('(module savings');

it('the commands on the mock node work', async () => {
  folder.write('savings.pact', contract);
  folder.write('bin/pickaxe', `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(folder.path, 'bin/pickaxe'), 0o755);
  const env = { ...isolated.env, PATH: `${join(folder.path, 'bin')}:${process.env.PATH}` };
  /** Runs lines in the shell, with what stands in the page in place of the key and the address of the node. */
  const shell = (lines: string, url = '') => {
    const text = lines.replaceAll('http://127.0.0.1:1848', url);
    return spawnSync('sh', ['-e', '-c', text], { cwd: folder.path, env, encoding: 'utf8' });
  };
  const [make, serve] = block('pickaxe keygen alice.json').trim().split('\n');
  expect(shell(make)).toMatchObject({ status: 0 });
  const { publicKey } = JSON.parse(readFileSync(join(folder.path, 'alice.json'), 'utf8'));
  const withKey = (text: string) => text.replaceAll('ALICE_PUBLIC_KEY', publicKey);
  folder.write('deposit.yaml', withKey(block('# deposit.yaml')));

  const [, ...flags] = withKey(serve.replace('--port 1848', '')).split(/ +/);
  const node = start(flags, {}, MAIN, folder.path);
  onTestFinished(() => void node.child.kill('SIGKILL'));
  await vi.waitFor(() => expect(node.stderr).toMatch(/curl http/), PATIENCE);
  const url = /mock node at (http\S+),/.exec(node.stderr)![1];

  const sent = shell(block('pickaxe tx build deposit.yaml'), url);
  expect(sent, sent.stderr).toMatchObject({ status: 0 });
  expect(sent.stdout.match(/^result +success$/gm)?.length).toBeGreaterThanOrEqual(1);
  const answer = shell(block('pickaxe tx local --code'), url);
  expect(answer.stdout).toContain('\ndata       5\n');
});
