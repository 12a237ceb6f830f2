import { describe, expect, it } from 'vitest';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { examineAccount, examineNodes } from '#pickaxe/app/doctor/examine-sources.js';
import type { Finding } from '#pickaxe/base/finding.js';
import type { NodeQuestion } from '#pickaxe/rig/survey/examine-node.js';

const brief = (findings: readonly Finding[]) => findings.map(({ about, state }) => `${state} ${about}`);

/** Every warning and fault says why it matters and what to do. */
function isHelpful(findings: readonly Finding[]): void {
  for (const finding of findings.filter(({ state }) => state !== 'ok')) {
    expect(finding).toMatchObject({ why: expect.any(String), remedy: expect.any(String) });
  }
}

describe('nodes', () => {
  const key = 'a1'.repeat(32);
  const settings = (urls: string[], publicKeys: string[] = [key]) => ({
    node: { ...DEFAULTS.node, urls, network: 'mainnet01' },
    miner: { ...DEFAULTS.miner, publicKeys },
  });
  const fault = { about: 'work', state: 'fault', what: 'refused', why: 'w' } as const;
  const fine = { about: 'work', state: 'ok', what: 'gives work' } as const;
  const ask = async ({ url }: NodeQuestion) => ({ findings: [url.includes('bad') ? fault : fine] });

  it('are a fault if there are none', async () => {
    const { findings } = await examineNodes(DEFAULTS, ask);
    expect(brief(findings)).toEqual(['fault node']);
    expect(findings[0].remedy).toContain('pickaxe init');
  });

  it('that fail are a fault only if no node is left', async () => {
    expect(brief((await examineNodes(settings(['http://bad']), ask)).findings)).toEqual(['fault node']);
    expect(brief((await examineNodes(settings(['http://bad', 'http://good']), ask)).findings)).toEqual([
      'warning node',
      'ok node',
    ]);
  });

  it('are asked with the settings of the configuration', async () => {
    const asked: NodeQuestion[] = [];
    await examineNodes(settings(['http://good']), async (question) => {
      asked.push(question);
      return { findings: [] };
    });
    const miner = { account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] };
    expect(asked).toMatchObject([{ url: 'http://good', network: 'mainnet01', miner, trust: { by: 'authority' } }]);
  });

  it('cause a warning if their certificates are not checked', async () => {
    const about = async (urls: string[], insecureTls: boolean) => {
      const given = settings(urls);
      const { findings } = await examineNodes({ ...given, node: { ...given.node, insecureTls } }, ask);
      return findings.filter(({ what }) => what.includes('--insecure-tls'));
    };
    const findings = await about(['https://good', 'http://good'], true);
    expect(findings).toMatchObject([{ about: 'node', state: 'warning' }]);
    expect(findings[0].what).toMatch(/ https:\/\/good$/);
    expect(findings[0].remedy).toContain('--node-fingerprint');
    isHelpful(findings);
    expect(await about(['https://good'], false)).toEqual([]);
    expect(await about(['http://good'], true)).toEqual([]);
  });

  it('are shown without the keys in their paths, and numbered if they look the same', async () => {
    const urls = [
      'http://good',
      'https://good/SECRET/chainweb/0.0/mainnet01',
      'https://good/OTHER/chainweb/0.0/mainnet01',
    ];
    const names = (await examineNodes(settings(urls), ask)).findings.map(({ what }) => what.split(' work:')[0]);
    expect(names).toEqual([
      'http://good',
      'https://good/…/chainweb/0.0/mainnet01',
      'https://good/…/chainweb/0.0/mainnet01 (2)',
    ]);
  });

  it('are not asked for work without a public key, and cannot be mined on', async () => {
    const asked: NodeQuestion[] = [];
    const { findings } = await examineNodes(settings(['http://good'], []), async (question) => {
      asked.push(question);
      return { findings: [fine] };
    });
    expect(asked[0].miner).toBeUndefined();
    expect(brief(findings)).toEqual(['ok node', 'fault miner']);
    isHelpful(findings);
  });
});

describe('the miner’s account', () => {
  const key = 'a1'.repeat(32);

  it.each([
    ['node', {}, [key]],
    ['key', { urls: ['http://127.0.0.1:9'], network: 'development' }, undefined],
  ])('is no finding without a %s, which is one of its own', async (_, node, publicKeys) => {
    const miner = { ...DEFAULTS.miner, ...(publicKeys && { publicKeys }) };
    expect(await examineAccount({ ...DEFAULTS, node: { ...DEFAULTS.node, ...node }, miner })).toEqual([]);
  });

  it('is skipped where no node answers', async () => {
    const config = { ...DEFAULTS, node: { ...DEFAULTS.node, urls: ['http://127.0.0.1:9'], network: 'development' } };
    const miner = { ...DEFAULTS.miner, publicKeys: [key] };
    expect(await examineAccount({ ...config, miner })).toMatchObject([
      { about: 'account', state: 'skipped', what: expect.stringContaining('was not checked: cannot reach') },
    ]);
  });
});
