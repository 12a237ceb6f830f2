/**
 * Runs every example of docs/coins.md that is marked as one for the shell, in its order, with a server that
 * answers as a node does.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseTransactions } from '#pickaxe/cli/coins/tx/command-files.js';
import { stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { Folder } from '../../../app/config/folder.ts';
import { type Behaviour, type Seen, serve } from '../../../node/client/server.ts';
import { results } from '../../../protocol/ledger/command-vectors.ts';
import { proofs } from '../../../protocol/ledger/vectors.ts';
import { isolated, MAIN } from '../../pickaxe.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const PAGE = readFileSync(new URL('../../../../docs/coins.md', import.meta.url), 'utf8');
/** The blocks of code on the page, in their order. */
const BLOCKS = [...PAGE.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, kind, text]) => ({ kind, text }));
const TARGET = '2';
const { proof } = proofs.find(
  ({ proof }) => JSON.parse(`${Buffer.from(proof, 'base64url')}`).chain === Number(TARGET),
)!;

const resultOf = (reqKey: string) => ({
  ...JSON.parse(stringifyExactJson(results.commandResults[0].result)),
  reqKey,
  result: { status: 'success', data: 'Write succeeded' },
  continuation: null,
  metaData: { blockHeight: 5, blockTime: 1, blockHash: 'A'.repeat(43), prevBlockHash: 'A'.repeat(43) },
});

/** What was sent is in a block at once. */
function node(): { answer: (request: Seen) => Behaviour; sent: Map<string, string> } {
  const sent = new Map<string, string>();
  const answer = ({ path, body }: Seen): Behaviour => {
    if (body === '') return { body: 'OK' };
    const asked = JSON.parse(body);
    const [, chain, endpoint] = /\/chain\/(\d+)\/pact\/(?:api\/v1\/)?(\w+)/.exec(path)!;
    switch (endpoint) {
      case 'local':
        return {
          body: path.includes('preflight=true')
            ? { preflightResult: resultOf(asked.hash), preflightWarnings: [] }
            : resultOf(asked.hash),
        };
      case 'send': {
        const keys = asked.cmds.map(({ hash }: { hash: string }) => hash);
        for (const key of keys) sent.set(key, chain);
        return { body: { requestKeys: keys } };
      }
      case 'poll':
        return {
          body: Object.fromEntries(
            asked.requestKeys
              .filter((key: string) => sent.get(key) === chain)
              .map((key: string) => [key, resultOf(key)]),
          ),
        };
      case 'spv':
        return asked.targetChainId === TARGET && sent.has(asked.requestKey)
          ? { body: JSON.stringify(proof) }
          : { status: 404 };
      default:
        return { status: 404 };
    }
  };
  return { answer, sent };
}

/** @returns the text with the keys of the key files that exist by now */
function withKeys(text: string): string {
  const read = (name: string) => JSON.parse(readFileSync(join(folder.path, name), 'utf8'));
  return text
    .replaceAll('ALICE_PUBLIC_KEY', () => read('alice.json').publicKey)
    .replaceAll('ALICE_SECRET_KEY', () => read('alice.json').secretKey)
    .replaceAll('CAROL_PUBLIC_KEY', () => read('carol.json').publicKey)
    .replaceAll('REQUEST_KEY', () => {
      const [left] = parseTransactions({ file: '', text: readFileSync(join(folder.path, 'leave.json'), 'utf8') });
      return left.kind === 'command' ? left.command.hash : '';
    });
}

test('every example of the page works', async () => {
  folder.write('bin/pickaxe', `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(folder.path, 'bin/pickaxe'), 0o755);
  const { answer, sent } = node();
  const { url } = await serve(answer);
  const env = {
    ...isolated.env,
    PATH: `${join(folder.path, 'bin')}:${process.env.PATH}`,
    PICKAXE_NODE: url,
    PICKAXE_NETWORK: 'mainnet01',
  };
  const outputs = new Map<string, string>();
  const shell = async (line: string) => {
    // The server has no blocks, which would prove its results.
    const run = line.replace(/^pickaxe tx (?:poll|send) .*$/, '$& --trust-nodes');
    const child = spawn('bash', ['-eo', 'pipefail', '-c', run], {
      cwd: folder.path,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const [code] = await once(child, 'close');
    expect(code, `${line}\n${err}`).toBe(0);
    outputs.set(line, out);
  };
  // carol.json is made after the request that names its key was written.
  const lines = BLOCKS.flatMap(({ kind, text }) => (kind === 'sh' ? text.trim().split('\n') : []));
  for (const line of lines.filter((line) => line.startsWith('pickaxe keygen '))) await shell(line);
  for (const { kind, text } of BLOCKS) {
    if (kind === 'yaml') folder.write(/^# (\S+)\n/.exec(text)![1], withKeys(text));
    if (kind === 'sh')
      for (const line of text.trim().split('\n')) if (!line.startsWith('pickaxe keygen ')) await shell(line);
  }
  expect(outputs.size).toBe(lines.length);
  expect([...sent.values()]).toEqual(['3', '3', TARGET]);
  expect(outputs.get('pickaxe tx show transfer.form.yaml')).toContain('1 signature is missing');
  expect(outputs.get('pickaxe tx show joint.json --json')).toContain('"verdict":"valid"');
  expect(outputs.get('pickaxe tx poll arrive.json')).toContain('success');
  expect(readFileSync(join(folder.path, 'arrive.json'), 'utf8')).toContain(proof);
});
