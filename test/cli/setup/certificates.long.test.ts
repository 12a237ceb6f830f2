/** Nodes whose certificates no authority has signed, on the built command line. */

import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { DIALECTS, MockNode } from '../../mock-node/node.ts';
import { another, authority, type Identity, selfSigned, signed } from '../../node/client/certificates.ts';
import { TlsFront } from '../../node/client/tls-front.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe, type Run, start } from '../pickaxe.ts';

const MINER = ['--network', 'development', '--public-key', 'a1'.repeat(32), '--devices', 'cpu', '--threads', '1'];

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-ca-'));
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, another.cert + authority.cert);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In the notation of openssl. */
const hex = ({ cert }: Identity) => new X509Certificate(cert).fingerprint256;
const base64url = ({ cert }: Identity) => fingerprintOf(new X509Certificate(cert).raw);

async function node(identity: Identity, dialect: Dialect): Promise<{ mock: MockNode; front: TlsFront }> {
  const mock = new MockNode({ dialect, difficulty: 200_000 });
  onTestFinished(() => mock.close());
  return { mock, front: await TlsFront.start(identity, (await mock.start()).url) };
}

function mine(...args: string[]): Run {
  const run = start(['mine', ...MINER, '--json', ...args]);
  onTestFinished(async () => {
    run.child.kill('SIGKILL');
    await run.code;
  });
  return run;
}

const eventsOf = (run: Run, state: string) => run.events('source').filter((event) => event.state === state);

describe('pickaxe mine', () => {
  it('mines on the node that has its fingerprint, and sends nothing to the earlier node that has another', async () => {
    const [one, two] = [await node(another, 'document'), await node(selfSigned, 'chainweb')];
    const given = [one, two].flatMap(({ front }) => [
      ...['--node', front.url],
      ...['--node-fingerprint', `${front.url}=${hex(selfSigned)}`],
    ]);
    const run = mine(...given, '--blocks', '1');
    expect(await run.code).toBe(0);
    expect(two.mock.ledger.stats.accepted).toBeGreaterThanOrEqual(1);
    expect(one.front.connections).toBeGreaterThan(0);
    expect(one.front.received).toBe(0);
  });

  it('sends nothing to a node with another fingerprint, reports both, and mines once the node has the right one', async () => {
    const { mock, front } = await node(another, 'chainweb');
    const run = mine('--node', front.url, '--node-fingerprint', hex(selfSigned), '--blocks', '1');
    await vi.waitFor(() => expect(eventsOf(run, 'lost')).toHaveLength(1), PATIENCE);
    const both = `expected ${base64url(selfSigned)}, presented ${base64url(another)}.`;
    expect(eventsOf(run, 'lost')[0].reason).toContain(both);
    await vi.waitFor(() => expect(run.stderr).toContain(both), PATIENCE);
    expect(front.received).toBe(0);
    front.restart(selfSigned);
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(1);
  });

  it.each(DIALECTS)('mines on a node of the dialect %s whose authority is in a CA file', async (dialect) => {
    const { mock, front } = await node(signed, dialect);
    const run = mine('--node', front.url, '--node-ca-file', caFile, '--blocks', '1');
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(1);
  });

  it('does not start with settings that are wrong', async () => {
    const url = 'https://127.0.0.1:9';
    const refused = async (...args: string[]) => pickaxe('mine', ...MINER, '--node', url, ...args);
    expect(await refused('--node-ca-file', join(folder, 'none.pem'))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--node-ca-file: .*none\.pem cannot be read/),
    });
    expect(await refused('--node-fingerprint', base64url(selfSigned).slice(1))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--node-fingerprint is ".{42}"\. Give the SHA-256/),
    });
    expect(await refused('--node-fingerprint', hex(selfSigned), '--insecure-tls')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--insecure-tls accepts any certificate'),
    });
  });
});

describe('pickaxe doctor', () => {
  const findings = async (...args: string[]) => {
    const { stdout } = await pickaxe('doctor', '--json', ...MINER, ...args);
    const { findings } = JSON.parse(stdout) as { findings: { about: string; state: string; what: string }[] };
    return findings.filter(({ about }) => about === 'node');
  };

  it('reports the fingerprint of a certificate that is not trusted, as an option that can be copied', async () => {
    const { front } = await node(selfSigned, 'chainweb');
    const [{ state, what }] = await findings('--node', front.url);
    expect(state).toBe('fault');
    const [, option] = /(--node-fingerprint \S+) /.exec(what)!;
    expect(option).toBe(`--node-fingerprint ${front.url}=${base64url(selfSigned)}`);
    expect(front.received).toBe(0);

    const trusting = await findings('--node', front.url, ...option.split(' '));
    expect(trusting.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  });

  it('reports a CA file that cannot be read as a finding', async () => {
    const file = join(folder, 'none.pem');
    expect(await findings('--node', 'https://127.0.0.1:9', '--node-ca-file', file)).toEqual([
      expect.objectContaining({ state: 'fault', what: expect.stringContaining(`${file} cannot be read`) }),
    ]);
  });
});

const noOpenssl = spawnSync('openssl', ['version']).status !== 0;
it.skipIf(noOpenssl)(
  `docs/configuration.md says how to read a fingerprint${noOpenssl ? ' (skipped: no openssl)' : ''}`,
  () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, command] = /\n(openssl x509 -in node\.crt [^\n#]*)/.exec(page)!;
    writeFileSync(join(folder, 'node.crt'), selfSigned.cert);
    const { stdout } = spawnSync(command, { shell: true, cwd: folder, encoding: 'utf8' });
    expect(stdout.trim()).toBe(base64url(selfSigned));
  },
);
