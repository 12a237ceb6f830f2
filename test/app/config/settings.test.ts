import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { integer, path, printed } from '#pickaxe/app/config/setting-types/basic.js';
import { kernelName, notice } from '#pickaxe/app/config/setting-types/rig.js';
import { DEFAULTS, ENTRIES } from '#pickaxe/app/config/settings.js';
import { describe as describeSetting, entriesOf, kebab } from '#pickaxe/app/config/settings-table.js';
import { UNATTENDED } from '#pickaxe/app/config/tables/unattended.js';
import { KERNEL_NAMES } from '#pickaxe/miner/engine/device.js';
import { NOTICES } from '#pickaxe/rig/notify/notices.js';
import { expectTable } from '../../generated.ts';

describe('the table of settings', () => {
  it('gives each setting a path, a flag and a variable of its own', () => {
    for (const names of [
      ENTRIES.map(({ path }) => path),
      ENTRIES.flatMap(({ flag }) => flag ?? []),
      ENTRIES.map(({ variable }) => variable),
    ]) {
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it.each(ENTRIES.map((entry) => [entry.path, entry] as const))('describes %s completely', (_, { setting, flag }) => {
    const { type, about, default: value, otherwise, example } = setting;
    expect(about).toMatch(/^\S.*[^.\s]$/);
    expect(type.hint).toMatch(/\S/);
    const schema = type.schema(z);
    if (value !== undefined) {
      expect(schema.parse(printed(type, value))).toEqual(value);
      expect(otherwise, 'what holds otherwise is the default').toBeUndefined();
    } else {
      expect(printed(type, schema.parse(example))).toEqual(example);
    }
    if (flag)
      expect(setting.flag).toMatch(type.form === 'switch' ? /^--[a-z-]+$/ : /^--[a-z-]+ (<[a-z]+>|\[[a-z]+\])$/);
  });

  it('names all CPU kernels', () => {
    expect(kernelName.choices).toEqual(KERNEL_NAMES);
  });

  it('names all notices', () => {
    expect(notice.choices).toEqual(NOTICES);
    expect(Object.keys(UNATTENDED.hooks.settings).map(kebab)).toEqual(NOTICES);
  });

  it('has the defaults of a miner without any configuration', () => {
    expect(DEFAULTS).toEqual({
      node: { insecureTls: false },
      ledger: { dialect: 'auto' },
      miner: { predicate: 'keys-all' },
      rig: {},
      pool: { allowReconnect: false },
      nats: { subject: 'pickaxe' },
      fleet: { control: false },
      blocks: { log: true, settledDepth: 6 },
      devices: { use: 'all', tempLimit: 90, cpuTempLimit: 105 },
      cpu: { cores: 'all' },
      gpu: { software: false },
      stratum: { shareSeconds: 10 },
      run: { json: false, status: true },
      power: {},
      http: { control: false },
      log: { level: 'info', format: 'text' },
      logFile: { size: 10_485_760, keep: 5 },
      pause: { onBattery: false },
      alarm: { after: 300 },
      externalWorker: {},
      testNetwork: {},
      hooks: {},
      webhook: {},
    });
  });
});

describe('a project file that was only found', () => {
  const naming = (wanted: unknown) =>
    ENTRIES.filter(({ setting }) => setting.needsNaming === wanted).map(({ path }) => path);

  /**
   * A new setting fails here until it is decided whether such a file may have it: `needsNaming` says what forbids it.
   */
  it('may have these settings, and no others', () => {
    expect(naming(undefined)).toEqual([
      'node.network',
      'miner.public-keys',
      'miner.account',
      'miner.predicate',
      'rig.name',
      'ledger.peer-url',
      'ledger.dialect',
      'ledger.command-path',
      'pool.user',
      'pool.difficulty',
      'fleet.group',
      'blocks.log',
      'blocks.settled-depth',
      'devices.use',
      'devices.temp-limit',
      'devices.temp-resume',
      'devices.cpu-temp-limit',
      'devices.cpu-temp-resume',
      'cpu.threads',
      'cpu.cores',
      'cpu.priority',
      'cpu.affinity',
      'cpu.kernel',
      'gpu.batch-ms',
      'gpu.software',
      'stratum.share-seconds',
      'run.blocks',
      'run.duration',
      'run.json',
      'run.status',
      'power.price',
      'power.watts',
      'log.level',
      'log.format',
      'pause.on-battery',
      'pause.on-activity',
      'pause.schedule',
      'alarm.min-hashrate',
      'alarm.after',
    ]);
  });

  it('may have these unless a password or a URL is from elsewhere', () => {
    expect(naming('if-mixed')).toEqual([
      'node.urls',
      'node.fingerprints',
      'node.ca-files',
      'pool.urls',
      'pool.allow-reconnect',
      'pool.fingerprints',
      'pool.ca-files',
      'nats.urls',
      'nats.ca-file',
      'nats.subject',
    ]);
  });

  it.each(ENTRIES.filter(({ setting: { secretFile, hidden } }) => secretFile || hidden))(
    'must not name a secret: $path',
    ({ setting }) => expect(setting.needsNaming).toBe(true),
  );
});

test('names and the heading follow from a place in the table: the variable’s name from the flag, or else from the path', () => {
  const about = 'a setting';
  const http = {
    about,
    heading: 'HTTP',
    settings: {
      allowControl: { type: path, about },
      tokenFile: { type: path, about, flag: '--http-token-file <file>', heading: 'Secrets' },
    },
  };
  expect(entriesOf({ http })).toMatchObject([
    {
      table: 'http',
      key: 'allow-control',
      path: 'http.allow-control',
      variable: 'PICKAXE_HTTP_ALLOW_CONTROL',
      heading: 'HTTP',
    },
    { path: 'http.token-file', flag: '--http-token-file', variable: 'PICKAXE_HTTP_TOKEN_FILE', heading: 'Secrets' },
  ]);
  expect(entriesOf({ http })[0]).not.toHaveProperty('flag');
  expect(kebab('insecureTls')).toBe('insecure-tls');
});

test('a setting is described in one line', () => {
  const type = integer(1, 3);
  expect(describeSetting({ type, about: 'how many' })).toBe('how many');
  expect(describeSetting({ type, about: 'how many', default: 2 })).toBe('how many (default: 2)');
  expect(describeSetting({ type: kernelName, about: 'which', otherwise: 'the fastest' })).toMatch(
    /^which \(choices: avx512x2, .*, wasm; default: the fastest\)$/,
  );
});

test('docs/configuration.md has a line for every setting, and no other lines', () => {
  expectTable(
    'docs/configuration.md',
    '## Settings',
    ENTRIES.map(({ path, flag, variable, setting }) => {
      // The document says how a variable is named, and does not list them.
      expect(variable).toBe(`PICKAXE_${flag!.slice(2).replaceAll('-', '_').toUpperCase()}`);
      const names = [path, flag].map((name) => `\`${name}\``);
      const named = { true: '; named', 'if-mixed': '; named if mixed', undefined: '' }[`${setting.needsNaming}`];
      const marks = `${setting.live ? '; live' : ''}${named}${setting.inHelp === 'never' ? '; for files' : ''}`;
      return `| ${names.join(' | ')} | ${describeSetting(setting)}${marks} |`;
    }),
  );
});
