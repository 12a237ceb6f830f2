/** The settings about certificates of nodes: how they are written, and their errors. */

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { minerContradictions } from '#pickaxe/app/config/contradictions.js';
import { configAsToml } from '#pickaxe/app/config/print.js';
import { parsePerNode, valuesFor } from '#pickaxe/app/config/setting-types/addresses.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { nodeTrust } from '#pickaxe/app/nodes/node-clients.js';
import { another, authority, type Identity, selfSigned } from '../../node/client/certificates.ts';
import { Folder } from './folder.ts';

const HEX = '86:AC:D8:4B:6D:59:8E:EF:D6:0F:55:CC:38:CB:CB:7E:77:75:69:89:C9:B2:13:EC:84:AD:0D:FC:8D:82:92:9F';
const FINGERPRINT = 'hqzYS21Zju_WD1XMOMvLfnd1aYnJshPshK0N_I2Ckp8';
const OTHER = 'A'.repeat(43);

const perNode = (text: string) => parsePerNode(text)!;

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

describe('a fingerprint', () => {
  it('is kept as Base64Url, however it is written', () => {
    const { config } = folder.load({
      flags: new Map([['node.fingerprints', [HEX, `https://a.example:1789=${HEX}`, FINGERPRINT]]]),
    });
    expect(config.node.fingerprints).toEqual([
      { value: FINGERPRINT },
      { origin: 'https://a.example:1789', value: FINGERPRINT },
    ]);
  });

  it('can come from files and the environment, too, and is printed with its origin', () => {
    folder.write('pickaxe.toml', `[node]\nfingerprints = ["https://a.example=${HEX}"]\n`);
    expect(configAsToml(folder.load())).toContain(
      `fingerprints = [ "https://a.example=${FINGERPRINT}" ]  # pickaxe.toml:2`,
    );
    const environment = { PICKAXE_NODE_FINGERPRINT: `https://a.example=${HEX}, https://b.example=${OTHER}` };
    expect(folder.load({ environment }).config.node.fingerprints).toEqual([
      { origin: 'https://a.example', value: FINGERPRINT },
      { origin: 'https://b.example', value: OTHER },
    ]);
  });

  it.each([
    ['42 characters', FINGERPRINT.slice(1)],
    ['a SHA-1', HEX.slice(0, 59)],
    ['no URL before it', `a.example=${FINGERPRINT}`],
    ['a URL alone', 'https://a.example'],
    ['a URL with nothing after it', 'https://a.example='],
    ['a URL that is not valid', `https://=${FINGERPRINT}`],
    ['a password in the URL', `https://me:secret@a.example=${FINGERPRINT}`],
  ])('that has %s is an error that says what to give', (_, text) => {
    const problems = folder.problems({ flags: new Map([['node.fingerprints', [text]]]) });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(
      /^--node-fingerprint is .*\. Give the SHA-256 .* 43 characters of Base64Url, or 64 hex .*URL=FINGERPRINT\.$/,
    );
    expect(problems[0]).not.toContain('secret');
  });
});

describe('a CA file', () => {
  it('is relative to the folder of the file that names it, with or without the URL of a node', () => {
    folder.write('pickaxe.toml', '[node]\nca-files = ["ca.pem", "https://a.example=of/a.pem", "/etc/ca.pem"]\n');
    expect(folder.load().config.node.caFiles).toEqual([
      { value: join(folder.path, 'ca.pem') },
      { origin: 'https://a.example', value: join(folder.path, 'of/a.pem') },
      { value: '/etc/ca.pem' },
    ]);
    const flags = new Map([['node.ca-files', ['ca.pem']]]);
    expect(folder.load({ flags }).config.node.caFiles).toEqual([{ value: 'ca.pem' }]);
  });

  it('cannot be a URL', () => {
    expect(folder.problems({ flags: new Map([['node.ca-files', ['https://a.example/ca.pem']]]) })).toEqual([
      '--node-ca-file is "https://a.example/ca.pem". Give the path of a file; for one of several nodes or pools, URL=FILE.',
    ]);
  });
});

it('a value that names a node applies to that node, whatever path its URL has; a value without a URL applies to the others', () => {
  const texts = ['common', 'https://a.example:443=own', 'https://A.example/some/path=too'].map(perNode);
  expect(valuesFor('https://a.example/chainweb/0.0/mainnet01', texts)).toEqual(['own', 'too']);
  expect(valuesFor('https://a.example:1789', texts)).toEqual(['common']);
  expect(valuesFor('https://b.example', texts)).toEqual(['common']);
});

describe('the trust in nodes', () => {
  interface Texts {
    readonly urls: string[];
    readonly fingerprints?: string[];
    readonly caFiles?: string[];
    readonly insecureTls?: boolean;
  }
  const contradictions = ({ fingerprints = [], caFiles = [], ...node }: Texts) => {
    const trust = { fingerprints: fingerprints.map(perNode), caFiles: caFiles.map(perNode) };
    const all = minerContradictions({
      node: { ...DEFAULTS.node, network: 'n', ...node, ...trust },
      miner: DEFAULTS.miner,
      pool: DEFAULTS.pool,
    });
    return all.map(({ message }) => message);
  };
  const [a, b] = ['https://a.example', 'https://b.example:1789'];

  it.each([
    ['one node', { urls: [a], fingerprints: [FINGERPRINT, OTHER] }],
    ['several', { urls: [a, b], fingerprints: [`${a}=${FINGERPRINT}`, `${b}=${OTHER}`] }],
    ['one of several', { urls: [a, b, 'http://c.example'], fingerprints: [`${b}=${OTHER}`] }],
    ['a node with a path', { urls: [`${a}/some/path`], fingerprints: [`${a}=${OTHER}`] }],
    ['a file for all', { urls: [a, b, 'http://c.example'], caFiles: ['ca.pem'] }],
    ['a file for the others', { urls: [a, b], fingerprints: [`${a}=${OTHER}`], caFiles: ['ca.pem', `${b}=b.pem`] }],
    ['nodes that flags will name', { urls: [], fingerprints: [`${a}=${OTHER}`] }],
  ])('can be set for %s', (_, node) => {
    expect(contradictions(node)).toEqual([]);
  });

  it.each([
    [
      { urls: ['http://c.example', a], fingerprints: [OTHER] },
      `There are 2 nodes: write --node-fingerprint with the URL of one of them, like ${a}=${OTHER}.`,
    ],
    [
      { urls: [a], fingerprints: [`${b}=${OTHER}`] },
      `--node-fingerprint names ${b}, which is not one of the nodes (${a}): correct its URL, or remove the setting.`,
    ],
    [
      { urls: [a], caFiles: [`${b}=ca.pem`] },
      `--node-ca-file names ${b}, which is not one of the nodes (${a}): correct its URL, or remove the setting.`,
    ],
    [
      { urls: ['http://c.example:1848'], fingerprints: [OTHER] },
      '--node-fingerprint needs a node URL that begins with https://, unlike http://c.example:1848.',
    ],
    [
      { urls: [a, 'http://c.example'], fingerprints: [`http://c.example=${OTHER}`] },
      '--node-fingerprint needs a node URL that begins with https://, unlike http://c.example.',
    ],
    [
      { urls: ['http://c.example', 'http://d.example'], caFiles: ['ca.pem'] },
      '--node-ca-file needs a node URL that begins with https://, unlike http://c.example and http://d.example.',
    ],
    [
      { urls: [a], fingerprints: [OTHER], caFiles: ['ca.pem'] },
      `${a} has a --node-fingerprint, which needs no --node-ca-file: remove one of them.`,
    ],
    [
      { urls: [a, b], fingerprints: [`${b}=${OTHER}`], caFiles: [`${b}=ca.pem`] },
      `${b} has a --node-fingerprint, which needs no --node-ca-file: remove one of them.`,
    ],
    [
      { urls: [a], fingerprints: [OTHER], insecureTls: true },
      '--insecure-tls accepts any certificate, and --node-fingerprint does not: give only one of them.',
    ],
    [
      { urls: [a], caFiles: ['ca.pem'], insecureTls: true },
      '--insecure-tls accepts any certificate, and --node-ca-file does not: give only one of them.',
    ],
  ])('that is set by %j is an error that says what to do', (node, says) => {
    expect(contradictions(node)).toEqual([says]);
  });

  it('is taken from the settings of each node', () => {
    const node = { ...DEFAULTS.node, fingerprints: [`${a}=${FINGERPRINT}`, `${a}=${OTHER}`].map(perNode) };
    expect(nodeTrust(a, node)).toEqual({ by: 'fingerprint', fingerprints: [FINGERPRINT, OTHER] });
    expect(nodeTrust(b, node)).toEqual({ by: 'authority' });
    expect(nodeTrust(b, { insecureTls: true })).toEqual({ by: 'nothing' });
    expect(nodeTrust(a, { ...node, insecureTls: true }).by).toBe('fingerprint');
  });

  it('includes the authorities of all files that are given for that node', () => {
    const file = (name: string, { cert }: Identity) => folder.write(name, cert);
    const own = [authority, another].map((one, index) => `${a}=${file(`${index}.pem`, one)}`);
    const node = { ...DEFAULTS.node, caFiles: [...own, file('common.pem', selfSigned)].map(perNode) };
    const trusted = (...all: Identity[]) => ({ by: 'authority', authorities: all.map(({ cert }) => cert.trim()) });
    expect(nodeTrust(a, node)).toEqual(trusted(authority, another));
    expect(nodeTrust(b, node)).toEqual(trusted(selfSigned));
  });
});
