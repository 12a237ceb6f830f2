/** What a rig is made of by its settings, what its first lines say, and what is closed at its end. */

import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { dryRun } from '#pickaxe/app/composition/dry-run.js';
import { mine } from '#pickaxe/app/composition/rig.js';
import { type RigParts, runMiner } from '#pickaxe/app/composition/run-miner.js';
import type { Loaded } from '#pickaxe/app/config/load.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { openLogFile } from '#pickaxe/app/process/log-file.js';
import { systemd } from '#pickaxe/app/process/systemd.js';
import { makeCredentials } from '#pickaxe/fleet/nats/credentials.js';
import { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import type { RunningMiner } from '#pickaxe/rig/running-miner.js';
import { Folder } from '../config/folder.ts';
import { idleMiner } from './sidecars/fakes.ts';

vi.mock('#pickaxe/app/composition/run-miner.js', async (original) => ({ ...(await original()), runMiner: vi.fn() }));
vi.mock('#pickaxe/app/composition/dry-run.js');
vi.mock('#pickaxe/app/process/log-file.js');
vi.mock('#pickaxe/app/process/systemd.js');
vi.mock('#pickaxe/fleet/nats/nats-link.js');

const KEY = 'a'.repeat(64);
const NODE: Partial<Config> = {
  miner: { ...DEFAULTS.miner, publicKeys: [KEY] },
  node: { ...DEFAULTS.node, urls: ['http://127.0.0.1:1'], network: 'development' },
};
const POOL: Partial<Config> = { pool: { ...DEFAULTS.pool, urls: ['stratum+tcp://127.0.0.1:1'], user: 'me.rig' } };
const NATS: Partial<Config> = { nats: { ...DEFAULTS.nats, urls: ['nats://127.0.0.1:1'] } };
const LISTEN = { host: '127.0.0.1', port: 0 };
const STRATUM: Partial<Config> = { stratum: { ...DEFAULTS.stratum, listen: LISTEN } };

interface Given {
  readonly tries?: boolean;
  readonly coordinates?: boolean;
  readonly loaded?: Partial<Loaded>;
  /** What happens while it mines. */
  readonly during?: (rig: RigParts) => Promise<number> | number;
  /** The configuration after a restart. */
  readonly next?: Partial<Config>;
  /** Where the service manager listens; absent if there is none. */
  readonly notifySocket?: string;
}

/** Mines with these settings, which mines nothing: the rig is only made. */
async function made(part: Partial<Config>, given: Given = {}) {
  const { tries = false, coordinates = false, loaded, during, next, notifySocket } = given;
  vi.stubEnv('NOTIFY_SOCKET', notifySocket);
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    printed.mockRestore();
  });
  vi.mocked(NatsLink).mockClear();
  vi.mocked(dryRun).mockReset().mockResolvedValue(3);
  const rigs: RigParts[] = [];
  vi.mocked(runMiner)
    .mockReset()
    .mockImplementation(async (rig) => {
      rigs.push(rig);
      return (await during?.(rig)) ?? 0;
    });
  const devices = { ...DEFAULTS.devices, use: ['cpu'] };
  const load = (more: Partial<Config>) => ({
    config: { ...DEFAULTS, devices, ...more },
    origins: new Map(),
    files: [],
    ...loaded,
  });
  const code = await mine(load(part), async () => load(next ?? part), { tries, coordinates });
  const [rig = vi.mocked(dryRun).mock.calls[0]?.[0]] = rigs;
  const lines = rig.logTail.after(0).map(({ level, tag, message }) => `${level} ${tag}: ${message}`);
  return { code, rig, rigs, lines, links: vi.mocked(NatsLink).mock.instances };
}

describe('the first lines of a rig', () => {
  it.each([
    ['on nodes', NODE, `info miner: mines on development for k:${KEY}`],
    ['on pools', POOL, 'info miner: mines as me.rig at stratum+tcp://127.0.0.1:1'],
    ['of a fleet', NATS, 'info miner: mines for the fleet at nats://127.0.0.1:1, whose coordinators say who is paid'],
  ])('%s say who is paid', async (_, part, line) => {
    expect((await made(part)).lines.slice(1)).toEqual([line]);
  });

  it('of a coordinator say who is paid for its node', async () => {
    const { lines } = await made({ ...NODE, ...NATS }, { coordinates: true });
    expect(lines[1]).toBe(`info miner: mines on development for k:${KEY}`);
  });

  it('name the rig, by default after the machine, and the files of its settings', async () => {
    const [first] = (await made(NODE)).lines;
    expect(first).toContain(`, rig ${hostname()}, no configuration file`);
    const named = await made({ ...NODE, rig: { ...DEFAULTS.rig, name: 'rig-7' } }, { loaded: { files: ['/a.toml'] } });
    expect(named.lines[0]).toContain(', rig rig-7, settings from /a.toml');
    expect(named.rig.setup).toMatchObject({ configFiles: ['/a.toml'], account: `k:${KEY}`, network: 'development' });
    expect(named.rig.rigName).toBe('rig-7');
  });

  const NOTE = 'info config: settings are from pickaxe.toml, which was found in this folder';
  const origin = (layer: string) => ({ layer, where: layer });
  it.each([
    ['and the log is as usual', 'info', { 'cpu.threads': 'project' }, true],
    ['and it makes the log quieter itself', 'warn', { 'log.level': 'project' }, true],
    ['and it turns the log off', 'silent', { 'log.level': 'project' }, true],
    ['and the user has made the log quieter', 'warn', { 'cpu.threads': 'project', 'log.level': 'flag' }, false],
    ['but decides nothing', 'info', { 'cpu.threads': 'flag' }, false],
  ] as const)('tell of a file that was found in the folder, %s', async (_, level, origins, isTold) => {
    const log = { ...DEFAULTS.log, level };
    const all = new Map(Object.entries(origins).map(([path, layer]) => [path, origin(layer)]));
    const loaded = { found: 'pickaxe.toml', origins: all as never };
    const { lines } = await made({ ...NODE, log }, { loaded });
    expect(lines.filter((line) => line.includes('config:'))).toEqual(isTold ? [NOTE] : []);
  });

  it.each([
    ['node', { ...NODE, node: { ...NODE.node!, urls: ['https://one.example'], insecureTls: true } }],
    [
      'pool',
      { pool: { ...POOL.pool!, urls: ['stratum+ssl://one.example:1'] }, node: { ...DEFAULTS.node, insecureTls: true } },
    ],
  ])('warn of a %s whose certificate is not checked', async (tag, part) => {
    const { lines } = await made(part);
    expect(lines.at(-1)).toMatch(
      new RegExp(`^warn ${tag}: --insecure-tls accepts any certificate from .*one.example.*: somebody .*; give the`),
    );
  });

  it('warn of no certificate where there is none', async () => {
    const { lines } = await made({ ...NODE, node: { ...NODE.node!, insecureTls: true } });
    expect(lines.filter((line) => line.startsWith('warn'))).toEqual([]);
  });
});

describe('the source of a rig', () => {
  it.each([
    ['nodes', NODE, {}, 'node'],
    ['pools', POOL, {}, 'pool'],
    ['a fleet', NATS, {}, 'fleet'],
    ['a fleet, where nodes are named, too', { ...NODE, ...NATS }, {}, 'fleet'],
    ['nodes, of a coordinator', { ...NODE, ...NATS }, { coordinates: true }, 'node'],
  ] as const)('is of %s', async (_, part, given, kind) => {
    const { rig } = await made(part, given);
    expect(rig.source.kind).toBe(kind);
    expect(rig.relays).toHaveLength('coordinates' in given ? 1 : 0);
  });

  it('is refused where no network is named, after the node was asked for it', async () => {
    const part = { ...NODE, node: { ...DEFAULTS.node, urls: ['http://127.0.0.1:1'] } };
    const asked = 'Asking for it failed: ';
    await expect(made(part)).rejects.toThrow(asked);
    await expect(made({ ...part, ...NATS }, { coordinates: true })).rejects.toThrow(asked);
    expect(vi.mocked(runMiner)).not.toHaveBeenCalled();
    // Where something else is missing, too, nobody is asked.
    await expect(made({ ...part, miner: DEFAULTS.miner })).rejects.toThrow(/^No key is configured/);
    await expect(made({ miner: NODE.miner! })).rejects.toThrow(/^No node is configured/);
    // A dry run asks nobody.
    const refusal = await made(part, { tries: true }).catch(({ message }: Error) => message);
    expect(refusal).toBe('No network is configured. Give one with --network, like --network mainnet01.');
    // In a fleet the coordinators choose the node.
    expect((await made({ ...part, ...NATS })).code).toBe(0);
  });

  it('of a coordinator needs a server, and one of a rig does not', async () => {
    await expect(made(NODE, { coordinates: true })).rejects.toThrow('No NATS server is configured');
    expect((await made(NODE)).links).toEqual([]);
  });
});

describe('the connection of a member of a fleet', () => {
  it('is open while it mines, and closed afterwards, also after a fault', async () => {
    const calls: number[][] = [];
    const counts = () => {
      const [link] = vi.mocked(NatsLink).mock.instances;
      return [vi.mocked(link.open).mock.calls.length, vi.mocked(link.close).mock.calls.length];
    };
    await made(NATS, { during: () => calls.push(counts()) - 1 });
    calls.push(counts());
    expect(calls).toEqual([
      [1, 0],
      [1, 1],
    ]);
    const fails = () => Promise.reject(new Error('a mistake'));
    await expect(made(NATS, { during: fails })).rejects.toThrow('a mistake');
    expect(counts()).toEqual([1, 1]);
  });

  it('has the name, the servers and the credentials of the settings', async () => {
    const folder = new Folder();
    onTestFinished(() => folder.remove());
    const credentials = makeCredentials();
    const credentialsFile = folder.write('a.nk', credentials.seed);
    const given = async (nats: Partial<Config['nats']>, name?: string) => {
      const rig = { ...DEFAULTS.rig, ...(name !== undefined && { name }) };
      await made({ rig, nats: { ...NATS.nats!, ...nats } });
      return vi.mocked(NatsLink).mock.calls[0];
    };
    const usual = { servers: NATS.nats!.urls, name: 'elm', inbox: 'pickaxe.inbox.elm' };
    const [plain, { random, warn }] = await given({}, 'elm');
    expect(plain).toEqual(usual);
    expect(plain).not.toHaveProperty('credentials');
    expect(plain).not.toHaveProperty('authorities');
    expect(random!()).toBeLessThan(1);
    expect(() => warn!('denied')).not.toThrow();
    expect((await given({ credentialsFile, subject: 'other' }, 'elm'))[0]).toEqual({
      ...usual,
      inbox: 'other.inbox.elm',
      credentials,
    });
    expect((await given({}))[0].name).toBe(hostname());
    const damaged = folder.write('b.nk', 'SU');
    await expect(given({ credentialsFile: damaged })).rejects.toThrow(
      `--nats-credentials: ${damaged} cannot be used: it has neither an nkey seed`,
    );
    const missing = join(folder.path, 'missing.pem');
    await expect(given({ caFile: missing })).rejects.toThrow(`--nats-ca-file: ${missing} cannot be read: `);
  });

  it('is not opened by a dry run', async () => {
    const { links, code } = await made(NATS, { tries: true });
    expect(code).toBe(3);
    expect(vi.mocked(runMiner)).not.toHaveBeenCalled();
    expect(vi.mocked(links[0].open)).not.toHaveBeenCalled();
    expect(vi.mocked(links[0].close)).toHaveBeenCalledOnce();
    const [rig, config, member] = vi.mocked(dryRun).mock.calls[0];
    expect([rig.source.kind, config.nats.urls, member?.name]).toEqual(['fleet', NATS.nats!.urls, hostname()]);
  });
});

describe('the hashers of a rig', () => {
  const none = { devices: { ...DEFAULTS.devices, use: [] } };

  it('can all be outside of it', async () => {
    const externalWorker = { command: { file: 'true', args: [] } as never };
    const testNetwork = { simulate: { kind: 'delay', seconds: 1 } } as never;
    const part = { ...NODE, ...none, ...STRATUM, externalWorker };
    expect((await made(part)).rig).toMatchObject({ engines: [], relays: { length: 2 } });
    // In a dry run no node is asked whether its blocks need no work.
    const { rig } = await made({ ...part, testNetwork }, { tries: true });
    expect(rig).toMatchObject({ engines: [], relays: { length: 3 } });
    await expect(made({ ...part, testNetwork })).rejects.toThrow('--simulate needs to know which network');
  });

  it('must not be none', async () => {
    await expect(made({ ...NODE, ...none })).rejects.toThrow(
      '--devices none leaves nothing that hashes: name devices, serve others (--stratum-listen',
    );
  });

  it('are paused at the temperatures of the settings', async () => {
    const devices = { ...DEFAULTS.devices, use: ['cpu'], cpuTempLimit: 80, cpuTempResume: 70 };
    const { rig } = await made({ ...NODE, devices });
    expect(rig.temperatureLimits?.('cpu', 'cpu')).toEqual({ stopCelsius: 80, resumeCelsius: 70 });
  });
});

describe('the parts beside a miner', () => {
  it('are more with a web page, and with a service manager', async () => {
    const usual = (await made(NODE)).rig.sidecars!.length;
    const http = { ...DEFAULTS.http, listen: LISTEN };
    expect((await made({ ...NODE, http })).rig.sidecars).toHaveLength(usual + 1);
    vi.mocked(systemd).mockResolvedValue(async () => () => {});
    expect((await made(NODE, { notifySocket: 'a socket' })).rig.sidecars).toHaveLength(usual + 1);
  });

  it('stop it at the first signal', async () => {
    const { rig } = await made(NODE);
    const { running, said } = idleMiner();
    const stop = vi.fn();
    const handlers = process.listenerCount('SIGINT');
    const end = await rig.sidecars![0]({ ...running, controls: { ...running.controls, stop } } as RunningMiner);
    expect(process.listenerCount('SIGINT')).toBe(handlers + 1);
    process.emit('SIGINT', 'SIGINT');
    expect(stop).toHaveBeenCalledOnce();
    expect(said.map(({ msg }) => msg)).toEqual(['stopping; repeat to exit at once']);
    await end();
    expect(process.listenerCount('SIGINT')).toBe(handlers);
  });

  it('write lines of JSON only if they are asked for', async () => {
    expect((await made(NODE)).rig.writeJson).toBeUndefined();
    const { rig } = await made({ ...NODE, run: { ...DEFAULTS.run, json: true } });
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    onTestFinished(() => written.mockRestore());
    rig.writeJson!('{}\n');
    expect(written.mock.calls.map(([text]) => text).join('')).toBe('{}\n');
  });
});

it('the log file is closed at the end, also after a fault', async () => {
  const close = vi.fn(async () => {});
  vi.mocked(openLogFile).mockResolvedValue({ write: () => {}, close } as never);
  onTestFinished(() => void vi.mocked(openLogFile).mockReset());
  const logFile = { ...DEFAULTS.logFile, path: 'a file' };
  await made({ ...NODE, logFile }, { during: () => expect(close).not.toHaveBeenCalled() as never });
  expect(close).toHaveBeenCalledOnce();
  await expect(made({ ...NODE, logFile }, { during: () => Promise.reject(new Error('no')) })).rejects.toThrow('no');
  expect(close).toHaveBeenCalledTimes(2);
  expect(vi.mocked(openLogFile).mock.calls.slice(-2)).toEqual([[logFile], [logFile]]);
});

it('a rig that is restarted mines with the settings as they are then', async () => {
  let runs = 0;
  const during = ({ restart }: RigParts) => {
    if (++runs === 1) restart!.ask();
    return runs;
  };
  const { code, rigs } = await made(NODE, { during, next: POOL });
  expect([code, rigs.map(({ source }) => source.kind)]).toEqual([2, ['node', 'pool']]);
});
