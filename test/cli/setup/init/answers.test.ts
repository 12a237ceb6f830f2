/** The devices that `pickaxe init` offers, and the text of the settings. */

import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { thisMachine } from '#pickaxe/base/system/machine.js';
import { configText } from '#pickaxe/cli/setup/init/answers.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import type { Gpu } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import type { Given } from '../../pretended-io.ts';
import { init, KEY, newFolder, settingsIn, startPool } from './places.ts';

function gpu(name: string, model: string, more: Partial<Gpu> = {}): Gpu {
  return {
    name,
    model,
    backend: 'vulkan',
    vendor: 'nvidia',
    driver: '550',
    software: false,
    usable: true,
    why: 'hardware',
    ...more,
  };
}

const SOFTWARE = gpu('gpu2', 'llvmpipe', { software: true, usable: false, why: 'runs on the CPU' });
const CARDS = [gpu('gpu0', 'RTX 4090'), gpu('gpu10', 'RTX 3060')];

describe('the devices of pickaxe init', () => {
  /** Answers the questions before that about devices. */
  async function untilDevices(gpus: NonNullable<Given['gpus']>) {
    const { url } = await startPool();
    const folder = newFolder();
    const person = init(folder, [], { gpus });
    await person.chooses('Mine on', 1);
    await person.answers('Pool URL', url);
    await person.answers('Another pool');
    await person.answers('User', 'me.rig');
    await person.answers('Password');
    return { person, folder };
  }

  it('are not asked for where only the CPU can mine', async () => {
    const { person, folder } = await untilDevices([SOFTWARE]);
    await person.sees('  gpu2, llvmpipe, is not used: runs on the CPU\n');
    await person.sees(`  the CPU mines: ${thisMachine().cpu}\n`);
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(settingsIn(folder)).not.toHaveProperty('devices');
  });

  it('are the CPU where the list of GPUs fails, and any other error is one of pickaxe', async () => {
    const { person } = await untilDevices(new DeviceError('lost', 'the driver crashed'));
    await person.sees('  no GPU: the driver crashed\n');
    await person.sees('the CPU mines');
    expect(await person.ended).toMatchObject({ code: 0 });
    const { person: other } = await untilDevices(new TypeError('broken'));
    expect(await other.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('TypeError: broken') });
  });

  it('are not named in the file if all are chosen, so that later ones mine, too', async () => {
    const { person, folder } = await untilDevices([...CARDS, SOFTWARE]);
    await person.sees('? Devices to mine with');
    await person.sees(`cpu   ${thisMachine().cpu}`);
    await person.sees('gpu0  RTX 4090');
    await person.sees('gpu10 RTX 3060');
    expect(person.text.match(/ is not used: .*/g)).toEqual([' is not used: runs on the CPU']);
    person.types('\r');
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(person.text).not.toContain('the CPU mines');
    expect(settingsIn(folder)).not.toHaveProperty('devices');
  });

  it('are named in the file if one of them is left out, and one must be chosen', async () => {
    const { person, folder } = await untilDevices(CARDS);
    await person.sees('? Devices to mine with');
    // The key `a` changes all choices, and a blank changes one.
    person.types('a\r');
    await person.sees('At least one choice must be selected');
    person.types('\u001b[B \r');
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(settingsIn(folder).devices).toEqual({ use: ['gpu0'] });
  });
});

describe('the text of the file', () => {
  it('sets what was asked for, and has nothing else', () => {
    const text = configText({ node: { urls: ['http://a', 'http://b'], publicKey: KEY } });
    const miner = { 'public-keys': [KEY] };
    expect(parse(text)).toEqual({ node: { urls: ['http://a', 'http://b'] }, miner });
    expect(text.split('\n').length).toBeLessThan(15);
    expect(text).toContain('pickaxe config example');
    const named = { account: 'me', rigName: 'attic' };
    const more = configText({
      node: { urls: ['http://a'], network: 'n1', publicKey: KEY, ...named },
      devices: ['cpu'],
    });
    expect(parse(more)).toEqual({
      node: { urls: ['http://a'], network: 'n1' },
      devices: { use: ['cpu'] },
      rig: { name: 'attic' },
      miner: { 'public-keys': [KEY], account: 'me' },
    });
    const pool = { urls: ['stratum+tcp://a:1'], user: 'me.rig', password: { file: 'pool.password', text: 'geheim' } };
    expect(parse(configText({ pool }))).toEqual({
      pool: { urls: ['stratum+tcp://a:1'], user: 'me.rig', 'password-file': 'pool.password' },
    });
  });
});
