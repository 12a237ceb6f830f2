/** What is found of the pools and of the NATS servers of the settings, by their names. */

import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { examineFleet, examinePools } from '#pickaxe/app/doctor/examine-sources.js';
import type { Finding } from '#pickaxe/base/finding.js';
import { MockPool } from '../../miner/source/pool/mock-pool.ts';
import { GREETING, jobLine, makeHeader, USER } from '../../miner/source/pool/pool.ts';
import { Folder } from '../config/folder.ts';

const NO_POOL = 'stratum+tcp://127.0.0.1:9';
const NO_SERVER = 'nats://127.0.0.1:9';

const brief = (findings: readonly Finding[]) => findings.map(({ about, state, what }) => `${state} ${about}: ${what}`);
const starts = (what: string) => ({ state: 'fault', what, why: 'pickaxe mine does not start until this is corrected' });

function missingFile(): string {
  const folder = new Folder();
  onTestFinished(() => folder.remove());
  return join(folder.path, 'missing');
}

describe('pools', () => {
  const examined = (pool: Partial<Config['pool']>, insecureTls = false) =>
    examinePools({
      pool: { ...DEFAULTS.pool, user: USER, ...pool },
      node: { ...DEFAULTS.node, insecureTls },
    });

  it('are each named before what is found of them, and give works', async () => {
    const { url } = await MockPool.start([...GREETING, jobLine('a', makeHeader({ chain: 3 }))]);
    const { findings, works } = await examined({ urls: [url, NO_POOL] });
    expect(brief(findings)).toEqual([
      expect.stringContaining(`ok pool: ${url} connection: can be reached`),
      expect.stringContaining(`ok pool: ${url} user: answers`),
      expect.stringContaining(`ok pool: ${url} work: sends a job (chain 3`),
      expect.stringContaining(`warning pool: ${NO_POOL} connection: `),
    ]);
    expect(works.map(({ chain }) => chain)).toEqual([3]);
  });

  it('that are all away are a fault', async () => {
    const { findings, works } = await examined({ urls: [NO_POOL] });
    expect(findings).toMatchObject([{ about: 'pool', state: 'fault' }]);
    expect(works).toEqual([]);
  });

  it('are asked as the user of the settings, with the password of its file', async () => {
    const pool = await MockPool.start([...GREETING, jobLine('a', makeHeader())]);
    await examined({ urls: [pool.url], password: 'secret' });
    expect(pool.log.join('\n')).toContain(`["${USER}","secret"]`);
    const passwordFile = missingFile();
    const { findings, works } = await examined({ urls: [pool.url], passwordFile });
    expect(findings).toMatchObject([{ about: 'pool', ...starts(expect.stringContaining(passwordFile) as never) }]);
    expect(works).toEqual([]);
  });

  it('cause a warning if their certificates are not checked', async () => {
    const { findings } = await examined({ urls: ['stratum+ssl://127.0.0.1:9'] }, true);
    expect(findings.at(-1)).toMatchObject({
      about: 'pool',
      state: 'warning',
      what: '--insecure-tls accepts any certificate from stratum+ssl://127.0.0.1:9',
      remedy: expect.stringContaining('--pool-fingerprint'),
    });
  });
});

describe('a fleet’s servers', () => {
  const settings = (nats: Partial<Config['nats']>) => ({
    nats: { ...DEFAULTS.nats, urls: [NO_SERVER], ...nats },
    rig: { ...DEFAULTS.rig, name: 'elm' },
  });

  it.each([
    [false, 'the fleet’s work comes by way of it'],
    [true, 'the fleet’s rigs are reached by way of it'],
  ])('that cannot be reached are named, with what they are for (a coordinator: %s)', async (isCoordinator, why) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
    onTestFinished(() => void vi.useRealTimers());
    let findings: readonly Finding[] | undefined;
    const examining = examineFleet(settings({}), isCoordinator).then((found) => {
      findings = found;
    });
    while (findings === undefined) await vi.advanceTimersByTimeAsync(100);
    await examining;
    expect(findings).toMatchObject([{ about: 'fleet', state: 'fault', why }]);
    expect(findings[0].what).toMatch(/^nats:\/\/127\.0\.0\.1:9 connection: /);
  });

  it('are not asked with credentials that cannot be read', async () => {
    const credentialsFile = missingFile();
    const findings = await examineFleet(settings({ credentialsFile }), false);
    expect(findings).toMatchObject([{ about: 'fleet', ...starts(expect.stringContaining(credentialsFile) as never) }]);
  });
});
