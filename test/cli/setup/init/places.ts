/** Nodes, pools and people for tests of `pickaxe init`. All of them end with their tests. */

import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { onTestFinished } from 'vitest';
import { MockPool } from '../../../../bench/lib/mock-pool.mjs';
import { Folder } from '../../../app/config/folder.ts';
import { MockNode, type OtherOptions } from '../../../mock-node/node.ts';
import { Person } from '../../person.ts';
import type { Given } from '../../pretended-io.ts';

export const KEY = 'a1'.repeat(32);

/** Nothing listens there. */
export const NO_NODE = 'http://127.0.0.1:9';
export const NO_POOL = 'stratum+tcp://127.0.0.1:9';

export async function startNode(options: OtherOptions = {}): Promise<{ node: MockNode; url: string }> {
  const node = new MockNode({ dialect: 'chainweb', difficulty: 1_000_000, chains: 4, ...options });
  onTestFinished(() => node.close());
  return { node, url: (await node.start()).url };
}

export async function startPool(options: ConstructorParameters<typeof MockPool>[0] = {}) {
  const pool = new MockPool({ difficulty: 1e6, shareDifficulty: 1e5, ...options });
  onTestFinished(() => pool.close());
  return { pool, url: await pool.start() };
}

export function newFolder(): Folder {
  const folder = new Folder();
  onTestFinished(() => folder.remove());
  return folder;
}

/** Runs `pickaxe init` in a folder. */
export function init(folder: Folder, options: readonly string[] = [], given: Given = {}): Person {
  return new Person(folder.path, ['init', ...options], given);
}

export function settingsIn(folder: Folder, file = 'pickaxe.toml'): Record<string, unknown> {
  return parse(readFileSync(`${folder.path}/${file}`, 'utf8'));
}

/** Chooses a node, and answers what is asked until the key has been typed. */
export async function untilKey(person: Person, url: string, key = KEY): Promise<void> {
  await person.chooses('Mine on', 0);
  await person.answers('Node URL', url);
  await person.answers('Another node');
  await person.answers('Network');
  await person.chooses('Key for the rewards', 0);
  await person.answers('Public key', key);
}
