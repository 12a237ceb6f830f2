import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { dryRun } from '#pickaxe/app/composition/dry-run.js';
import type { FleetMember } from '#pickaxe/app/composition/fleet-link.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { FakeEngine } from '../../fakes.ts';
import { listeningLog } from '../../rig/pauses/fakes.ts';

const failing = (name: string, fault: Error) => {
  const engine = new FakeEngine(name);
  engine.openFaults.push(fault);
  return engine;
};

async function tried(engines: readonly FakeEngine[], relays: readonly unknown[] = []) {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(`${text}`) > 0);
  onTestFinished(() => write.mockRestore());
  const rig = { engines, relays, log: listeningLog().log, source: { name: 'http://one', kind: 'node' } };
  const code = await dryRun(rig as never, { ...DEFAULTS, run: { ...DEFAULTS.run, json: true } }, undefined);
  write.mockRestore();
  return { code, plan: JSON.parse(written.join('')) };
}

describe('a dry run', () => {
  const missing = () => failing('gpu0', new DeviceError('missing', 'there is none'));
  const wrong = () => failing('gpu1', new DeviceError('wrong-hashes', 'it computes wrong hashes'));

  it.each([
    ['a device that can be used', [new FakeEngine('cpu')], [], 0],
    ['one of two that can be used', [new FakeEngine('cpu'), missing()], [], 0],
    ['none that can be used', [missing()], [], 3],
    ['none, but a relay', [missing()], ['stratum'], 0],
    ['one that computes wrong hashes', [new FakeEngine('cpu'), wrong()], [], 6],
    ['nothing', [], [], 3],
  ])('with %s opens each and closes it', async (_, engines, relays, code) => {
    const result = await tried(engines, relays);
    expect(result.code).toBe(code);
    expect(engines.map(({ opened, closed }) => [opened, closed])).toEqual(engines.map(() => [1, 1]));
    expect(result.plan.devices.map(({ name }: { name: string }) => name)).toEqual(engines.map(({ name }) => name));
  });

  it('says of each device whether it can be used, and why not', async () => {
    const { plan } = await tried([new FakeEngine('cpu'), missing()]);
    expect(plan.devices).toEqual([
      expect.objectContaining({ name: 'cpu', usable: true, model: 'fake', kernel: 'reference' }),
      expect.objectContaining({ name: 'gpu0', usable: false, why: 'there is none', fault: 'missing' }),
    ]);
  });

  it('says of a CPU how many threads it would have, and on which cores', async () => {
    const hybrid = new FakeEngine('cpu');
    const cores = [
      { kind: 'performance', threads: 6, kernel: 'avx2' },
      { kind: 'efficiency', threads: 4, kernel: 'sse41' },
    ] as const;
    hybrid.info = { threads: 10, cores, why: 'the kinds of cores differ', detail: 'they were measured' };
    const plain = new FakeEngine('gpu0');
    plain.info = { why: 'it is the fastest' };
    const { plan } = await tried([hybrid, plain]);
    expect(plan.devices).toEqual([
      expect.objectContaining({ threads: 10, cores, why: 'they were measured' }),
      expect.objectContaining({ name: 'gpu0', why: 'it is the fastest' }),
    ]);
    expect(plan.devices[1]).not.toHaveProperty('threads');
    expect(plan.devices[1]).not.toHaveProperty('cores');
  });

  it('does not take a mistake of the program for a fault of the device, and closes the device', async () => {
    const broken = failing('cpu', new TypeError('x is undefined'));
    await expect(tried([broken])).rejects.toThrow('x is undefined');
    expect(broken.closed).toBe(1);
  });
});

describe('the lines of a dry run', () => {
  const KEY = 'a'.repeat(64);
  const NODE: Partial<Config> = { miner: { ...DEFAULTS.miner, publicKeys: [KEY] } };
  const POOL: Partial<Config> = { pool: { ...DEFAULTS.pool, urls: ['stratum+tcp://one:1'], user: 'me.rig' } };
  const NATS: Partial<Config> = { nats: { ...DEFAULTS.nats, urls: ['nats://a:1', 'nats://b:1'] } };
  const member = { name: 'north', subjects: new FleetSubjects('pickaxe') } as FleetMember;
  const gpu = Object.assign(new FakeEngine('gpu0'), { kind: 'gpu' });

  interface Given {
    readonly source?: { readonly name: string; readonly kind: string };
    readonly engines?: readonly FakeEngine[];
    readonly member?: FleetMember;
  }

  async function lines(part: Partial<Config>, given: Given = {}) {
    const { source = { name: 'http://one', kind: 'node' }, engines = [] } = given;
    const written: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(`${text}`) > 0);
    onTestFinished(() => write.mockRestore());
    const rig = { engines, relays: [], log: listeningLog().log, source };
    await dryRun(rig as never, { ...DEFAULTS, ...part }, given.member);
    write.mockRestore();
    return written.join('').trimEnd().split('\n');
  }

  const PUBLISHES = 'fleet   publishes work as pickaxe.work.north at nats://a:1, nats://b:1 (not connected)';
  it.each<[what: string, part: Partial<Config>, given: Given, expected: string[]]>([
    ['nodes', NODE, {}, ['node    http://one (not asked)', `miner   k:${KEY}, keys-all of ${KEY}`]],
    ['pools', POOL, { source: { name: 'one', kind: 'pool' } }, ['pool    one (not asked)', 'user    me.rig']],
    [
      'a fleet',
      NATS,
      { source: { name: 'nats://a:1', kind: 'fleet' }, member },
      ['fleet   nats://a:1 (not connected), as north'],
    ],
    [
      'nodes, for a fleet',
      { ...NODE, ...NATS },
      { member },
      ['node    http://one (not asked)', `miner   k:${KEY}, keys-all of ${KEY}`, PUBLISHES],
    ],
    [
      'pools, for a fleet',
      { ...POOL, ...NATS },
      { source: { name: 'one', kind: 'pool' }, member },
      ['pool    one (not asked)', 'user    me.rig', PUBLISHES],
    ],
  ])('say where it would mine and who would be paid: on %s', async (_, part, given, expected) => {
    expect(await lines(part, given)).toEqual(expected);
  });

  it('name each device, and the temperatures at which it would pause', async () => {
    const devices = {
      ...DEFAULTS.devices,
      cpuTempLimit: 80,
      tempLimit: [{ value: 75 }, { gpu: 'gpu0', value: 70 }],
      tempResume: [{ value: 60 }],
    } as Config['devices'];
    const broken = Object.assign(failing('gpu1', new DeviceError('missing', 'there is none')), { kind: 'gpu' });
    const shown = (await lines({ ...NODE, devices }, { engines: [new FakeEngine('cpu'), gpu, broken] })).slice(2);
    expect(shown).toEqual([
      expect.stringMatching(/^cpu {5}fake: /),
      expect.stringMatching(/^gpu0 {4}fake: /),
      'gpu1    cannot be used: there is none',
      'heat    CPU: pause at 80 °C, resume at 70 °C; GPUs: pause at 75 °C, resume at 60 °C; ' +
        'gpu0: pause at 70 °C, resume at 60 °C',
    ]);
    const unlimited = {
      ...DEFAULTS.devices,
      cpuTempLimit: 'none',
      tempLimit: [{ value: 'none' }],
    } as Config['devices'];
    const cpu = { engines: [new FakeEngine('cpu')] };
    expect((await lines({ ...NODE, devices: unlimited }, cpu)).at(-1)).toBe('heat    CPU: no limit; GPUs: no limit');
  });

  it('have the same in JSON, and the file of the ledger of shares', async () => {
    const run = { ...DEFAULTS.run, json: true };
    const listen = { host: '127.0.0.1', port: 3_333 };
    const stratum = { shareSeconds: 10, listen, ledger: '/shares.jsonl' };
    const [json] = await lines({ ...POOL, ...NATS, run, stratum }, { source: { name: 'one', kind: 'pool' }, member });
    expect(JSON.parse(json)).toEqual({
      pool: 'one',
      user: 'me.rig',
      publishes: { fleet: 'nats://a:1, nats://b:1', subject: 'pickaxe.work.north' },
      temperatureLimits: expect.any(Object),
      devices: [],
      stratum: { listen: '127.0.0.1:3333', shareSeconds: 10, tls: false, ledger: '/shares.jsonl' },
    });
    const [none] = await lines({ ...NODE, run, stratum: { shareSeconds: 10, listen } });
    expect(JSON.parse(none).stratum).not.toHaveProperty('ledger');
  });

  it.each([
    [{}, 'stratum 127.0.0.1:3333, a share each 10 s'],
    [{ tlsCert: '/c.pem' }, 'stratum 127.0.0.1:3333 with TLS, a share each 10 s'],
  ])('tell of the server for ASICs: %j', async (more, line) => {
    const listen = { host: '127.0.0.1', port: 3_333 };
    expect((await lines({ ...NODE, stratum: { shareSeconds: 10, listen, ...more } })).at(-1)).toBe(line);
  });
});
