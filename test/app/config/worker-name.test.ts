import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folder } from './folder.ts';

const KEY = 'a1'.repeat(32);

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

describe('the name of a rig after a key', () => {
  it.each([
    [{ PICKAXE_PUBLIC_KEY: `k:${KEY}.rig1` }, { publicKeys: [KEY] }],
    [{ PICKAXE_ACCOUNT: `k:${KEY}.rig1` }, { account: `k:${KEY}` }],
    [{ PICKAXE_PUBLIC_KEY: `${KEY},${KEY}.rig1`, PICKAXE_ACCOUNT: `k:${KEY}.other` }, { publicKeys: [KEY] }],
  ])('becomes the name of the rig: %j', (environment, miner) => {
    const { config, origins } = folder.load({ environment });
    expect(config.miner).toMatchObject(miner);
    expect(config.rig.name).toBe('rig1');
    expect(origins.get('rig.name')).toEqual({ layer: 'environment', where: Object.keys(environment)[0] });
  });

  it('is overridden by a rig name from the same place, or from a stronger one', () => {
    folder.write('pickaxe.toml', `[miner]\npublic-keys = "k:${KEY}.rig1"\n[rig]\nname = "rig2"\n`);
    expect(folder.load().config).toMatchObject({ miner: { publicKeys: [KEY] }, rig: { name: 'rig2' } });
    const flags = new Map([['rig.name', 'rig3']]);
    const environment = { PICKAXE_PUBLIC_KEY: `k:${KEY}.rig4` };
    expect(folder.load({ flags, environment }).config.rig.name).toBe('rig3');
    expect(folder.load({ environment }).config.rig.name).toBe('rig4');
  });

  it('is absent without a dot after a key', () => {
    expect(folder.load({ environment: { PICKAXE_ACCOUNT: 'alice.example' } }).config.rig).toEqual({});
  });

  it('is reported as an error in the key if it is not valid', () => {
    const [problem, ...more] = folder.problems({ environment: { PICKAXE_PUBLIC_KEY: `k:${KEY}.` } });
    expect(more).toEqual([]);
    expect(problem).toMatch(
      /^PICKAXE_PUBLIC_KEY is a text of 67 characters: the rig’s name after the dot must have 1 to 64/,
    );
  });
});

describe('the name of a rig in the user at a pool', () => {
  it.each([
    [`k:${KEY}.garage`, 'garage'],
    ['NAME.garage', 'garage'],
    ['my.account.garage', 'garage'],
    ['NAME', undefined],
    ['NAME.', undefined],
    ['.garage', undefined],
    ['me@mail.example', undefined],
    [`NAME.${'x'.repeat(65)}`, undefined],
    [`k:${KEY}. `, undefined],
  ])('of %s becomes the name of the rig, and the pool gets the user unchanged', (user, name) => {
    const { config, origins } = folder.load({ environment: { PICKAXE_USER: user } });
    expect([config.pool.user, config.rig.name]).toEqual([user, name]);
    if (name !== undefined) expect(origins.get('rig.name')).toEqual({ layer: 'environment', where: 'PICKAXE_USER' });
  });

  it('gives way to --rig-name', () => {
    const flags = new Map([['rig.name', 'shed']]);
    expect(folder.load({ flags, environment: { PICKAXE_USER: 'NAME.garage' } }).config.rig.name).toBe('shed');
  });
});
