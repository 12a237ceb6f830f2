/** What `pickaxe init` asks of the miner, and what it lets change when the nodes give it no work. */

import { describe, expect, it, vi } from 'vitest';
import { examineAccount } from '#pickaxe/app/doctor/examine-sources.js';
import type { Finding } from '#pickaxe/base/finding.js';
import { askNodesAndMiner } from '#pickaxe/cli/setup/init/ask-miner.js';
import { examineNode } from '#pickaxe/rig/survey/examine-node.js';
import { folder, inNewFolders } from '../../in-folder.ts';
import { A, Answering, B, found } from './answering.ts';

vi.mock('#pickaxe/app/doctor/examine-sources.js');
vi.mock('#pickaxe/rig/survey/examine-node.js');

inNewFolders();

const KEY = 'a1'.repeat(32);
const OTHER = 'b2'.repeat(32);

describe('the miner', () => {
  const noWork = [found('work', 'fault', 'none')];
  const otherKeys = (state: Finding['state']) => [found('account', state, 'other keys')];

  it.each([
    ['nothing', [], { publicKey: KEY, network: 'n' }],
    ['account', ['bob'], { publicKey: KEY, account: 'bob', network: 'n' }],
    ['key', ['paste', OTHER, ''], { publicKey: OTHER, network: 'n' }],
    ['network', ['m'], { publicKey: KEY, network: 'm' }],
    ['node', [B, '', ''], { publicKey: KEY, urls: [B], network: 'mainnet01' }],
  ] as const)('that gets no work may change it: %s', async (what, answers, expected) => {
    const quiet = { findings: [] };
    vi.mocked(examineAccount)
      .mockReset()
      .mockResolvedValue([found('account', 'ok')]);
    vi.mocked(examineNode)
      .mockReset()
      .mockResolvedValue(quiet)
      .mockResolvedValueOnce({ findings: [], network: 'n' })
      .mockResolvedValueOnce({ findings: noWork });
    const person = new Answering(A, '', '', 'paste', KEY, '', what, ...answers);
    expect(await askNodesAndMiner(person)).toEqual({ urls: [A], ...expected });
    expect(person.talk).toContain(`? The node gives this miner no work. What would you like to change? > ${what}`);
    expect(person.talk.some((line) => line.includes('Anybody can take a name'))).toBe(what === 'account');
  });

  it.each([
    [[], 'ok', undefined],
    [noWork, 'ok', 'The node gives this miner no work'],
    [[], 'warning', 'The account has other keys than this miner'],
    [noWork, 'warning', 'The node gives this miner no work'],
    [[], 'fault', 'The account has other keys than this miner'],
    [noWork, 'fault', 'The account has other keys than this miner'],
  ] as const)('has this trouble: %j, %s', async (findings, state, trouble) => {
    vi.mocked(examineAccount).mockReset().mockResolvedValue(otherKeys(state));
    vi.mocked(examineNode)
      .mockReset()
      .mockResolvedValueOnce({ findings: [], network: 'n' })
      .mockResolvedValue({ findings });
    const person = new Answering(A, '', '', 'paste', KEY, '', 'nothing');
    await askNodesAndMiner(person);
    expect(person.talk.filter((line) => line.endsWith('> nothing'))).toEqual(
      trouble === undefined ? [] : [`? ${trouble}. What would you like to change? > nothing`],
    );
    expect(person.talk.some((line) => line.includes('other keys') && line.includes(state))).toBe(state !== 'ok');
  });

  it('is examined as it is, on each node', async () => {
    vi.mocked(examineAccount).mockReset().mockResolvedValue([]);
    vi.mocked(examineNode).mockReset().mockResolvedValue({ findings: [], network: 'n' });
    const person = new Answering(A, B, '', '', 'paste', `k:${KEY}.rig7`, 'bob');
    expect(await askNodesAndMiner(person)).toEqual({
      urls: [A, B],
      network: 'n',
      publicKey: KEY,
      account: 'bob',
      rigName: 'rig7',
    });
    const miner = { account: 'bob', predicate: 'keys-all', publicKeys: [KEY] };
    const asked = vi
      .mocked(examineNode)
      .mock.calls.slice(2)
      .map(([question]) => question);
    expect(asked).toMatchObject([A, B].map((url) => ({ url, network: 'n', miner, trust: { by: 'authority' } })));
    expect(vi.mocked(examineAccount).mock.calls[0][0]).toMatchObject({ node: { urls: [A, B], network: 'n' }, miner });
    expect(person.talk.slice(-3)).toMatchInlineSnapshot(`
      [
        "  Anybody can take a name that is not k: and a key, on each chain where nobody has it yet. You could not be paid there.",
        "  name of the rig: rig7",
        "  asking for work as bob …",
      ]
    `);
  });

  it('has its rig named by its account, if not by its key', async () => {
    vi.mocked(examineAccount).mockReset().mockResolvedValue([]);
    vi.mocked(examineNode).mockReset().mockResolvedValue({ findings: [] });
    const account = `k:${OTHER}`;
    const person = new Answering(A, '', '', 'paste', KEY, `${account}.rig8`);
    expect(await askNodesAndMiner(person)).toMatchObject({ publicKey: KEY, account, rigName: 'rig8' });
    expect(person.talk).toContain('  name of the rig: rig8');
  });

  it('is offered no other network if all URLs have one', async () => {
    vi.mocked(examineAccount).mockReset().mockResolvedValue([]);
    vi.mocked(examineNode).mockReset().mockResolvedValue({ findings: noWork });
    const person = new Answering(`${A}/ledger/0.0/n`, '', 'paste', KEY, '', 'network');
    await expect(askNodesAndMiner(person)).rejects.toThrow(
      'nothing: the node’s operator will add this miner; the account; the key; the node',
    );
  });

  it('has a new key in a file that did not exist', async () => {
    vi.mocked(examineAccount).mockReset().mockResolvedValue([]);
    vi.mocked(examineNode).mockReset().mockResolvedValue({ findings: [] });
    const [taken, fresh] = [folder.write('taken.json', ''), `${folder.path}/fresh.json`];
    const person = new Answering(A, '', '', 'make', taken, ` ${fresh} `, '');
    const { publicKey, ...rest } = await askNodesAndMiner(person);
    expect(publicKey).toMatch(/^[\da-f]{64}$/);
    expect(rest).toEqual({ urls: [A], network: 'mainnet01' });
    const about = person.talk
      .filter((line) => /taken|fresh|public key/.test(line))
      .map((line) => line.replaceAll(folder.path, '').replaceAll(publicKey, 'KEY'));
    expect(about).toMatchInlineSnapshot(`
      [
        "? File for the secret half (pickaxe-key.json) > /taken.json",
        "  /taken.json already exists and stays as it is: give another file.",
        "? File for the secret half (pickaxe-key.json) >  /fresh.json ",
        "  public key KEY",
        "  The secret half is in /fresh.json: only you can read it. Keep a copy; nobody can restore it.",
      ]
    `);
  });
});
