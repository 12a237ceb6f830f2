import { describe, expect, it } from 'vitest';
import * as contradictions from '#pickaxe/app/config/contradictions.js';
import type { PerGpu } from '#pickaxe/app/config/setting-types/basic.js';
import { assemble, DEFAULTS, ENTRIES, valueIn } from '#pickaxe/app/config/settings.js';
import { parseHttpAddress } from '#pickaxe/base/text/addresses.js';

/** @returns the messages. `about` must name settings */
function said(all: readonly contradictions.Contradiction[]): string[] {
  const paths = ENTRIES.map(({ path }) => path);
  for (const { about } of all) expect(paths).toEqual(expect.arrayContaining([...about]));
  return all.map(({ message }) => message);
}

const minerContradictions = (settings: Parameters<typeof contradictions.minerContradictions>[0]) =>
  said(contradictions.minerContradictions(settings));

const address = (text: string) => parseHttpAddress(text)!;

/** @returns the contradictions of these settings and the defaults of all others */
const rig = (settings: Parameters<typeof valueIn>[0]) =>
  said(contradictions.rigContradictions(assemble((entry) => valueIn(settings, entry) ?? entry.setting.default)));

describe('HTTP', () => {
  const listens = '--http-token-file and --http-control need --http [HOST:]PORT.';
  it.each([[{ tokenFile: 'token' }], [{ control: true }], [{ tokenFile: 'token', control: true }]])(
    'with %j needs an address to listen at',
    (http) => {
      expect(rig({ http })).toEqual([listens]);
      expect(rig({ http: { ...http, listen: address('8080') } })).toEqual([]);
    },
  );

  it.each(['0.0.0.0:8080', '[::]:8080', '192.168.0.9:8080', 'rig.example:8080'])(
    'at %s, which other machines can reach, needs a token',
    (text) => {
      const listen = address(text);
      expect(rig({ http: { listen } })).toEqual([
        `--http ${text} can be reached by other machines: give a file with a token (--http-token-file FILE).`,
      ]);
      expect(rig({ http: { listen, tokenFile: 'token' } })).toEqual([]);
    },
  );

  it.each(['8080', '127.0.0.1:8080', '[::1]:8080', 'localhost:8080'])('at %s needs no token', (text) => {
    expect(rig({ http: { listen: address(text) } })).toEqual([]);
  });
});

it('a webhook has one URL, and a token needs a webhook', () => {
  const [url, file, token] = [{ url: 'https://host/' }, { urlFile: 'url' }, { tokenFile: 'token' }];
  for (const webhook of [url, file, { ...url, ...token }, { ...file, ...token }]) expect(rig({ webhook })).toEqual([]);
  expect(rig({ webhook: token })).toEqual(['--webhook-token-file needs a --webhook.']);
  expect(rig({ webhook: { ...url, ...file } })).toEqual(['Give --webhook or --webhook-file, not both.']);
});

it('the temperature at which a device resumes must be below its limit', () => {
  const devices = (tempLimit: number | 'none', tempResume: number) => rig({ devices: { tempLimit, tempResume } });
  expect(devices(80, 79)).toEqual([]);
  expect(devices(80, 80)).toEqual(['--temp-resume (80) must be below --temp-limit (80).']);
  expect(devices('none', 70)).toEqual(['--temp-resume needs a --temp-limit.']);
  const cpu = (cpuTempLimit: number | 'none', cpuTempResume: number) =>
    rig({ devices: { tempLimit: 60, cpuTempLimit, cpuTempResume } });
  expect(cpu(95, 90)).toEqual([]);
  expect(cpu(90, 90)).toEqual(['--cpu-temp-resume (90) must be below --cpu-temp-limit (90).']);
  expect(cpu('none', 70)).toEqual(['--cpu-temp-resume needs a --cpu-temp-limit.']);
});

it('the temperatures of a GPU with values of its own are compared with each other', () => {
  const gpu0 = (value: number) => ({ gpu: 'gpu0', value });
  const heat = (tempLimit: PerGpu<number | 'none'>, tempResume: PerGpu<number>) =>
    rig({ devices: { tempLimit, tempResume } });
  expect(heat([{ value: 85 }, gpu0(80)], [{ value: 75 }, gpu0(70)])).toEqual([]);
  expect(heat([{ value: 85 }, gpu0(70)], 75)).toEqual(['--temp-resume (75) must be below --temp-limit (70) for gpu0.']);
  expect(heat(60, [gpu0(65)])).toEqual(['--temp-resume (65) must be below --temp-limit (60) for gpu0.']);
  expect(heat([{ value: 85 }, { value: 80 }], 70)).toEqual(['--temp-limit is given twice for all GPUs.']);
  expect(rig({ gpu: { batchMs: [gpu0(20), gpu0(30)] } })).toEqual(['--gpu-batch-ms is given twice for gpu0.']);
});

it('a password at a pool is given once, and a key is no user', () => {
  const pool = { ...DEFAULTS.pool, urls: ['stratum+tcp://a:1'], user: 'me' };
  const settings = { node: DEFAULTS.node, miner: DEFAULTS.miner, pool };
  expect(minerContradictions({ ...settings, pool: { ...pool, password: 'x' } })).toEqual([]);
  expect(minerContradictions({ ...settings, pool: { ...pool, password: 'x', passwordFile: 'f' } })).toEqual([
    'Give --password or --password-file, not both.',
  ]);
  const { user, ...noUser } = pool;
  expect(minerContradictions({ ...settings, pool: noUser, miner: { ...DEFAULTS.miner, publicKeys: ['ab'] } })).toEqual([
    expect.stringContaining(`A public key is for nodes; most pools take --user k:ab.rig1.`),
  ]);
});

it('a minimum hashrate is given at most once for the rig and once for a device', () => {
  const least = (device: string) => ({ device, limit: 5e9 });
  expect(rig({ alarm: { minHashrate: [{ limit: 20e9 }, least('gpu0'), least('gpu1')] } })).toEqual([]);
  expect(
    rig({ alarm: { minHashrate: [{ limit: 20e9 }, least('gpu0'), { limit: 10e9 }, least('gpu0'), least('gpu0')] } }),
  ).toEqual(['--min-hashrate is given twice for the rig.', '--min-hashrate is given twice for gpu0.']);
});

it('settings of the stratum server need one, and a certificate and its key belong together', () => {
  const [tlsCert, tlsKey] = ['a.crt', 'a.key'];
  expect(rig({ stratum: { ledger: 'l', proxies: ['::1'], tlsCert, tlsKey } })).toEqual(
    ['ledger', 'proxy-protocol', 'tls-cert', 'tls-key'].map(
      (name) => `--stratum-${name} needs --stratum-listen [HOST:]PORT.`,
    ),
  );
  const listen = address('0.0.0.0:1917');
  expect(rig({ stratum: { listen, tlsCert, tlsKey, ledger: 'l', proxies: ['::1'] } })).toEqual([]);
  const both = ['Give both --stratum-tls-cert and --stratum-tls-key, or neither.'];
  expect([rig({ stratum: { listen, tlsCert } }), rig({ stratum: { listen, tlsKey } })]).toEqual([both, both]);
});

it('a pool leaves no room for the sessions of a stratum server, and takes no simulated shares', () => {
  const pool = { ...DEFAULTS.pool, urls: ['stratum+tcp://pool.example:3333'], user: 'a.b' };
  const listen = address('1917');
  const settings = { ...DEFAULTS, pool };
  expect(minerContradictions(settings)).toEqual([]);
  expect(minerContradictions({ ...settings, stratum: { ...DEFAULTS.stratum, listen } })).toEqual([
    '--stratum-listen needs a node: it tells sessions apart by bytes of the nonce (nonce1) that a pool has fixed already.',
  ]);
  const simulate = { kind: 'delay', seconds: 5 } as const;
  expect(minerContradictions({ ...settings, testNetwork: { simulate } })).toEqual([
    '--simulate needs a node of a test network: a pool takes no shares without proof of work.',
  ]);
});

it('a rig of a fleet needs nothing but the servers, and mines on nothing else', () => {
  const nats = { ...DEFAULTS.nats, urls: ['nats://hub.example:4222'] };
  const settings = { ...DEFAULTS, nats };
  expect(minerContradictions(settings)).toEqual([]);
  const node = { ...DEFAULTS.node, urls: ['http://127.0.0.1:1848'] };
  const pool = { ...DEFAULTS.pool, urls: ['stratum+tcp://pool.example:3333'] };
  expect(minerContradictions({ ...settings, node, pool })).toEqual([
    expect.stringMatching(/^A fleet .* and nodes .* at the same time: .*pickaxe coordinate\.$/),
    expect.stringMatching(/^A fleet .* and pools .* at the same time: .*pickaxe coordinate\.$/),
  ]);
  const stratum = { ...DEFAULTS.stratum, listen: address('1917') };
  const testNetwork = { simulate: { kind: 'delay', seconds: 5 } as const };
  expect(minerContradictions({ ...settings, stratum, testNetwork })).toEqual([
    expect.stringMatching(/^--stratum-listen cannot be used on a rig of a fleet: /),
    expect.stringMatching(/^--simulate needs a node of a test network: a coordinator /),
  ]);
});

it('the servers of a fleet beside nodes are a coordinator’s', () => {
  const nats = { ...DEFAULTS.nats, urls: ['nats://hub.example:4222'] };
  const node = { ...DEFAULTS.node, urls: ['http://127.0.0.1:1848'] };
  const either = (config: Partial<typeof DEFAULTS>) =>
    said(contradictions.CONTRADICTIONS.either({ ...DEFAULTS, ...config }));
  expect(either({ nats })).toEqual([]);
  expect(either({ nats, node })).toEqual(either({ node }));
  expect(said(contradictions.CONTRADICTIONS.doctor({ ...DEFAULTS, nats, node }))).toEqual([]);
  expect(said(contradictions.CONTRADICTIONS.mine({ ...DEFAULTS, nats, node }))).toHaveLength(1);
});

it('the network must be named unless every node’s URL has a path', () => {
  const [bare, full] = ['http://a.example:1848', 'http://b.example/chainweb/0.0/mainnet01'];
  const says = ['No network is configured. Give one with --network, like --network mainnet01.'];
  const node = (urls: string[], network?: string) =>
    minerContradictions({
      node: { ...DEFAULTS.node, urls, ...(network && { network }) },
      miner: DEFAULTS.miner,
      pool: DEFAULTS.pool,
    });
  expect([[bare], [bare, full], [full, bare]].map((urls) => node(urls))).toEqual([says, says, says]);
  expect([node([full, full]), node([bare, full], 'mainnet01')]).toEqual([[], []]);
});

it('a network that is probably misspelt is accepted if node URLs name it in their paths', () => {
  const node = (network: string, ...urls: string[]) =>
    minerContradictions({ node: { ...DEFAULTS.node, urls, network }, miner: DEFAULTS.miner, pool: DEFAULTS.pool });
  expect(node('mainet01', 'http://a.example:1848')).toEqual([
    'The network mainet01 is not known. Did you mean mainnet01? ' +
      'If not, write it into the node URL: --node http://a.example:1848/ledger/0.0/mainet01.',
  ]);
  expect(node('mainet01', 'http://a.example:1848/ledger/0.0/mainet01')).toEqual([]);
  expect(node('my-network', 'http://a.example:1848')).toEqual([]);
});

it('several keys require the name of their account', () => {
  const miner = (count: number, account?: string) =>
    minerContradictions({
      node: DEFAULTS.node,
      pool: DEFAULTS.pool,
      miner: {
        ...DEFAULTS.miner,
        publicKeys: Array.from({ length: count }, (_, index) => `${index}`.repeat(64)),
        ...(account && { account }),
      },
    });
  expect([miner(1), miner(2, 'ours')]).toEqual([[], []]);
  expect(miner(2)).toEqual(['With several keys there is no default account: give one with --account NAME.']);
});

describe('a pool', () => {
  const says = (pool: object, node: object = {}) =>
    minerContradictions({
      node: { ...DEFAULTS.node, ...node },
      pool: { ...DEFAULTS.pool, ...pool },
      miner: DEFAULTS.miner,
    });
  const [plain, secure] = ['stratum+tcp://pool.example:3333', 'stratum+ssl://pool.example:3334'];
  const value = 'A'.repeat(43);

  it('needs a user, and neither a network nor keys', () => {
    expect(says({ urls: [plain], user: 'a.b' })).toEqual([]);
    expect(says({ urls: [plain] })).toEqual([
      'No user is configured for the pool. Give one with --user, like --user NAME.WORKER.',
    ]);
  });

  it('cannot be mined on together with a node', () => {
    expect(says({ urls: [plain], user: 'a.b' }, { urls: ['http://127.0.0.1:1848'] })).toEqual([
      'Nodes (--node, node.urls) and pools (--pool, pool.urls) cannot be mined on at the same time: remove one of them.',
    ]);
  });

  it('has a certificate only with TLS', () => {
    const user = 'a.b';
    expect(says({ urls: [secure], user, fingerprints: [{ value }] })).toEqual([]);
    expect(says({ urls: [plain, secure], user, fingerprints: [{ origin: secure, value }] })).toEqual([]);
    expect(says({ urls: [plain], user, fingerprints: [{ value }] })).toEqual([
      `--pool-fingerprint needs a pool URL that begins with stratum+ssl://, unlike ${plain}.`,
    ]);
    expect(says({ urls: [plain, secure], user, fingerprints: [{ value }] })).toEqual([
      `There are 2 pools: write --pool-fingerprint with the URL of one of them, like ${secure}=${value}.`,
    ]);
    expect(says({ urls: [secure], user, caFiles: [{ value: 'ca.pem' }] }, { insecureTls: true })).toEqual([
      '--insecure-tls accepts any certificate, and --pool-ca-file does not: give only one of them.',
    ]);
  });
});

it('a coordinator needs a NATS server beside its node or pool', () => {
  const says = (settings: Parameters<typeof valueIn>[0]) =>
    said(
      contradictions.CONTRADICTIONS.coordinate(assemble((entry) => valueIn(settings, entry) ?? entry.setting.default)),
    );
  const urls = ['nats://127.0.0.1:4222'];
  expect(says({ node: { urls: ['http://127.0.0.1:1848'] } })).toEqual([
    'A coordinator needs the NATS server of its fleet: give it with --nats nats://HOST:4222.',
  ]);
  expect(says({ node: { urls: ['http://127.0.0.1:1848'] }, nats: { urls } })).toEqual([]);
  expect(says({ pool: { urls: ['stratum+tcp://127.0.0.1:3333'], user: 'a.b' }, nats: { urls } })).toEqual([]);
  expect(says({ pool: { urls: ['stratum+tcp://127.0.0.1:3333'] }, nats: { urls } })).toHaveLength(1);
});
