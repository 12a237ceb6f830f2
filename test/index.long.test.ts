/** Programs that use the package, among them those of docs/library.md. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import * as pickaxe from '#pickaxe/index.js';
import { Folder } from './app/config/folder.ts';
import { noServer, TestServer, whyNoServer } from './fleet/nats/server.ts';
import { programsOf, runProgram } from './library-page.ts';
import { nodesOf } from './miner/source/node/node.ts';
import { DIALECTS } from './mock-node/node.ts';

describe.skipIf(noServer)(`the program of docs/library.md about a fleet${whyNoServer}`, () => {
  it.each(DIALECTS)(
    'mines for a coordinator that is made with the package, too, on a node of the dialect %s',
    async (dialect) => {
      const { node, url: nodeUrl } = await nodesOf(dialect)({ difficulty: 50_000 });
      const server = await TestServer.start();
      const { FleetRelay, FleetSubjects, NatsLink, NodeSource, SharedSource, systemClock: clock } = pickaxe;
      const subjects = new FleetSubjects('pickaxe');
      const name = 'c1';
      const settings = { servers: [server.url], name, inbox: subjects.inbox(name) };
      const link = new NatsLink(settings, { clock, random: Math.random });
      const publicKeys = ['ab'.repeat(32)];
      const miner = { account: `k:${publicKeys[0]}`, predicate: 'keys-all', publicKeys } as const;
      const source = new SharedSource(new NodeSource({ url: nodeUrl, network: 'development', miner }));
      const log = { debug: () => {}, info: () => {}, warn: () => {} };
      const instance = '0123456789abcdef';
      const relay = new FleetRelay({ source, emit: () => {}, clock, log, link, subjects, name, instance });
      const stop = new AbortController();
      link.open();
      await relay.open();
      const running = relay.run(stop.signal);
      try {
        const [program] = programsOf('A fleet');
        // Another solution may come before the miner has stopped.
        expect(await runProgram(program, { 'nats://127.0.0.1:4222': server.url })).toMatch(/^(accepted\n)+$/);
        expect(node.ledger.stats.accepted).toBeGreaterThan(0);
      } finally {
        stop.abort();
        await running;
        await source.close();
        await link.close();
      }
    },
  );
});

const folder = new Folder();
afterAll(() => folder.remove());

const startNode = nodesOf('chainweb');

const { KeyPair, parseDecimal } = pickaxe;

describe('the programs of docs/library.md about a node', () => {
  const programs = programsOf("A node's API");
  const secret = 'ab'.repeat(32);
  const { publicKey } = new KeyPair('cd'.repeat(32));

  const run = (i: number, url: string, here: Record<string, string> = {}) =>
    runProgram(
      programs[i],
      { 'http://127.0.0.1:1848': url, mainnet01: 'development', ...here },
      { RECEIVER_KEY: publicKey },
    );

  it('read the cut and the newest blocks', async () => {
    const { node, url } = await startNode({ chains: 3 });
    // The first block of a chain has no miner.
    for (let i = 0; i < 12; i++) for (const chain of [0, 1, 2]) node.ledger.advance(chain);
    const lines = (await run(0, url)).trim().split('\n');
    expect(lines.slice(0, 3)).toEqual(
      [0, 1, 2].map((chain) => expect.stringMatching(new RegExp(`^${chain} \\d+n [\\w-]{43}$`))),
    );
    expect(lines.length).toBeGreaterThan(3);
  });

  it('pay somebody', async () => {
    const account = `k:${new KeyPair(secret).publicKey}`;
    const accounts = [{ account, balance: '10', chains: [0] }];
    const { node, url } = await startNode({ chains: 3, accounts, rivalMs: 10 });
    const keyFile = folder.write('key.yaml', `public: ${account.slice(2)}\nsecret: ${secret}\n`);
    const here = {
      "keyFile: 'my-key.json'": `keyFile: ${JSON.stringify(keyFile)}, pauseMs: 10`,
      'chain: 0': `chain: 0, stateDirectory: ${JSON.stringify(folder.path)}`,
    };
    expect(await run(1, url, here)).toMatch(/^done [\w-]{43}\n$/);
    const { state } = node.ledger.chains.tip(0).payload;
    expect(state.account(`k:${publicKey}`)?.balance).toBe(parseDecimal('2.5'));
    expect(programs).toHaveLength(2);
  });
});

it('does not load the client of NATS for a program that has no fleet', async () => {
  const hooks = 'export const load = (url, context, next) => { process._rawDebug(url); return next(url, context); }';
  const program = [
    `import { register } from 'node:module';`,
    `register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));`,
    `await import(${JSON.stringify(import.meta.resolve('#pickaxe/index.js'))});`,
  ];
  const args = ['--input-type=module', '--eval', program.join('\n')];
  const { stderr } = await promisify(execFile)(process.execPath, args);
  expect(stderr).toContain('/dist/fleet/nats/nats-link.js');
  expect(stderr).not.toMatch(/nats-io\/(?:nats-core|transport-node)/);
});
