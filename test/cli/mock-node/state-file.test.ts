import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { StateFile } from '#pickaxe/cli/mock-node/state-file.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'pickaxe-state-file-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it('a state is written when something has changed, and at no other time', () => {
  const path = join(folder(), 'state.json');
  let saved = 0;
  const node = { changes: 0, save: () => `state ${++saved}` };
  const file = new StateFile(path, node);
  const written = [];
  for (const changes of [0, 0, 1, 1, 2]) {
    node.changes = changes;
    expect(file.write()).toBeUndefined();
    written.push(readFileSync(path, 'utf8'));
  }
  expect(written).toEqual(['state 1', 'state 1', 'state 2', 'state 2', 'state 3']);
});

it('a state that cannot be written leaves nothing behind, and is tried again', () => {
  const path = folder();
  const taken = join(path, 'state.json');
  mkdirSync(taken);
  const file = new StateFile(taken, { changes: 1, save: () => 'state' });
  for (const _ of [1, 2]) {
    expect(file.write()).toEqual(expect.any(String));
    expect(readdirSync(path)).toEqual(['state.json']);
  }
  rmSync(taken, { recursive: true });
  expect(file.write()).toBeUndefined();
  expect(readFileSync(taken, 'utf8')).toBe('state');
});
