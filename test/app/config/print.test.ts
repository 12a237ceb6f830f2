import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configAsJson, configAsToml, exampleToml, settingsToml } from '#pickaxe/app/config/print.js';
import { fileSchema, jsonSchema } from '#pickaxe/app/config/schema.js';
import { printed } from '#pickaxe/app/config/setting-types/basic.js';
import { DEFAULTS, ENTRIES } from '#pickaxe/app/config/settings.js';
import { Folder } from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

/** The example with every setting in effect. */
const uncommented = exampleToml().replace(/^# ([a-z-]+ = )/gm, '$1');

describe('the example', () => {
  it('sets nothing', () => {
    folder.write('pickaxe.toml', exampleToml());
    const { config, origins } = folder.load();
    expect(config).toEqual(DEFAULTS);
    expect(origins.size).toBe(0);
  });

  it('names every setting, with a valid value, and the default where there is one', () => {
    const file = folder.write('all.toml', uncommented);
    const { config, origins } = folder.load({ file });
    expect([...origins.keys()]).toEqual(ENTRIES.map(({ path }) => path));
    expect(config).toMatchObject(DEFAULTS);
    for (const { setting, variable, flag } of ENTRIES) {
      expect(uncommented).toContain(`# ${setting.about}`);
      expect(uncommented).toContain(flag ? `# ${flag}, ${variable}\n` : `# ${variable}\n`);
    }
  });
});

describe('a file of answers', () => {
  it('has what is set, each with its comment, and nothing else', () => {
    const values = { node: { urls: ['http://a:1'], network: 'mainnet01' }, rig: {}, cpu: { threads: 3 } };
    const text = settingsToml(values);
    folder.write('pickaxe.toml', text);
    const { config, origins } = folder.load();
    expect(config).toMatchObject(values);
    expect([...origins.keys()]).toEqual(['node.urls', 'node.network', 'cpu.threads']);
    expect(text).not.toMatch(/^# [a-z-]+ = /m);
    expect(text.match(/^\[.*\]$/gm)).toEqual(['[node]', '[cpu]']);
    expect(text.split('\n').slice(3, 6)).toEqual([
      '[node]',
      '# node URL; repeat for failover: the first one is preferred',
      'urls = [ "http://a:1" ]',
    ]);
    expect(text.trimEnd().split('\n').length).toBeLessThan(20);
  });
});

describe('the JSON Schema', () => {
  const validate = new Ajv2020({ strict: true }).compile(jsonSchema());

  it('uses draft 2020-12 and describes every setting', () => {
    const schema = jsonSchema() as { $schema: string; properties: Record<string, { properties: object }> };
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    for (const { table, key, setting } of ENTRIES) {
      expect(schema.properties[table].properties).toHaveProperty(
        key,
        expect.objectContaining({
          description: expect.stringContaining(setting.about),
          ...(setting.default !== undefined && { default: printed(setting.type, setting.default) }),
          ...(setting.example !== undefined && { examples: [setting.example] }),
        }),
      );
    }
  });

  it.each([
    ['nothing', {}],
    ['the example', parse(uncommented)],
    ['the name of the schema', { $schema: './pickaxe.schema.json' }],
    ['no temperature limit', { devices: { 'temp-limit': 'none' } }],
    ['one text instead of a list', { node: { urls: 'localhost:1848' }, devices: { use: 'all' } }],
    ['a key in capitals', { miner: { 'public-keys': ['A1'.repeat(32)] } }],
  ])('accepts what a file may say: %s', (_, document) => {
    expect(fileSchema.safeParse(document).success).toBe(true);
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    ['an unknown table', { logs: {} }],
    ['an unknown setting', { log: { loudness: 3 } }],
    ['a number out of range', { cpu: { threads: 0 } }],
    ['a fraction', { cpu: { threads: 1.5 } }],
    ['another choice', { miner: { predicate: 'keys-some' } }],
    ['an empty list', { node: { urls: [] } }],
    ['another protocol alone', { node: { urls: 'ftp://a' } }],
    ['another protocol', { node: { urls: ['ftp://a'] } }],
    ['a short key', { miner: { 'public-keys': ['ab'] } }],
  ])('refuses what a file may not say: %s', (_, document) => {
    expect(fileSchema.safeParse(document).success).toBe(false);
    expect(validate(document)).toBe(false);
  });
});

describe('--print-config', () => {
  const load = () => {
    folder.write('pickaxe.toml', '[node]\nurls = ["http://a:1"]\n[cpu]\naffinity = "0,2-5"');
    return folder.load({ environment: { PICKAXE_LOG_LEVEL: 'debug' }, flags: new Map([['cpu.threads', '2']]) });
  };

  it('prints TOML that yields the same configuration, with the origin of each value', () => {
    const printed = configAsToml(load());
    expect(printed).toMatch(/^urls = .* {2}# pickaxe\.toml:2$/m);
    expect(printed).toMatch(/^threads = 2 {2}# --threads$/m);
    expect(printed).toMatch(/^level = "debug" {2}# PICKAXE_LOG_LEVEL$/m);
    expect(printed).toMatch(/^format = "text" {2}# default$/m);
    expect(printed).toMatch(/^# priority: 19$/m);
    expect(printed).toMatch(/^# network: not set$/m);
    const file = folder.write('printed.toml', printed);
    expect(folder.load({ file }).config).toEqual(load().config);
  });

  it('prints the same as JSON', () => {
    const printed = JSON.parse(configAsJson(load()));
    expect(Object.keys(printed)).toEqual(ENTRIES.map(({ path }) => path));
    expect(printed).toMatchObject({
      'node.urls': { value: ['http://a:1'], origin: 'project', where: 'pickaxe.toml:2' },
      'cpu.threads': { value: 2, origin: 'flag', where: '--threads' },
      'log.level': { value: 'debug', origin: 'environment', where: 'PICKAXE_LOG_LEVEL' },
      'cpu.priority': { value: null, origin: 'default', where: 'default' },
    });
  });
});

it('a value that looks like a secret is not printed, whatever setting has it', () => {
  const loaded = folder.load({ flags: new Map([['miner.account', 'Bearer hunter2']]) });
  expect(loaded.config.miner.account).toBe('Bearer hunter2');
  expect(configAsToml(loaded)).toContain('account = "Bearer ***"  # --account');
  expect(JSON.parse(configAsJson(loaded))['miner.account'].value).toBe('Bearer ***');
});

it('a key in the path of a node’s URL is not printed', () => {
  const urls = [
    'http://127.0.0.1:1848',
    'https://node.example/SECRET/chainweb/0.0/mainnet01',
    'https://b.example/SECRET',
  ];
  folder.write('pickaxe.toml', settingsToml({ node: { urls } }));
  const loaded = folder.load();
  expect(loaded.config.node.urls).toEqual(urls);
  const shown = ['http://127.0.0.1:1848', 'https://node.example/…/chainweb/0.0/mainnet01', 'https://b.example/…'];
  expect(parse(configAsToml(loaded))).toMatchObject({ node: { urls: shown } });
  expect(JSON.parse(configAsJson(loaded))['node.urls'].value).toEqual(shown);
});
