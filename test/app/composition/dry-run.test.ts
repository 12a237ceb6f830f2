import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { dryRun } from '#pickaxe/app/composition/dry-run.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
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

  it('does not take a mistake of the program for a fault of the device, and closes the device', async () => {
    const broken = failing('cpu', new TypeError('x is undefined'));
    await expect(tried([broken])).rejects.toThrow('x is undefined');
    expect(broken.closed).toBe(1);
  });
});
