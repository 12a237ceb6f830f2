import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { userConfigDirectory } from '#pickaxe/app/config/config-files.js';
import { foundFileNote, type Loaded, loadFile, type Places } from '#pickaxe/app/config/load.js';
import { printed } from '#pickaxe/app/config/setting-types/basic.js';
import { DEFAULTS, ENTRIES, valueIn } from '#pickaxe/app/config/settings.js';
import { Folder, problemsOf } from './folder.ts';

const USER = '.config/pickaxe/config';
const asRoot = process.getuid?.() === 0;
const onWindows = process.platform === 'win32';
const whyNot = onWindows ? ' (skipped: files on Windows have no such owners and modes)' : '';
/** The id of the user “nobody” on most systems. */
const NOBODY = 65_534;

/** Runs `look` as a user other than root, because root may read everything. */
function asAnybody<T>(look: () => T): T {
  if (!asRoot) return look();
  chmodSync(folder.path, 0o711);
  process.seteuid!(NOBODY);
  try {
    return look();
  } finally {
    process.seteuid!(0);
  }
}

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => {
  vi.restoreAllMocks();
  folder.remove();
});

describe('precedence', () => {
  it('yields the defaults where nothing is set', () => {
    const { config, origins, files } = folder.load();
    expect(config).toEqual(DEFAULTS);
    expect(origins.size).toBe(0);
    expect(files).toEqual([]);
  });

  /** The layers from the weakest to the strongest. Each sets the same setting to another value. */
  const layers = [
    { layer: 'user', where: () => join(folder.path, `${USER}.toml:2`) },
    { layer: 'project', where: () => 'pickaxe.toml:2' },
    { layer: 'environment', where: () => 'PICKAXE_THREADS' },
    { layer: 'flag', where: () => '--threads' },
  ] as const;

  it.each(layers.map(({ layer }, index) => [layer, index] as const))(
    'gives the %s layer priority over those below it',
    (layer, index) => {
      folder.write(`${USER}.toml`, '[cpu]\nthreads = 1\npriority = 1\n');
      if (index >= 1) folder.write('pickaxe.toml', '[cpu]\nthreads = 2\n');
      const environment = index >= 2 ? { PICKAXE_THREADS: '3' } : {};
      const flags = new Map(index >= 3 ? [['cpu.threads', '4']] : []);
      const { config, origins } = folder.load({ environment, flags });
      expect(config.cpu).toMatchObject({ threads: index + 1, priority: 1 });
      expect(origins.get('cpu.threads')).toEqual({ layer, where: layers[index].where() });
      expect(origins.get('cpu.priority')).toEqual({ layer: 'user', where: join(folder.path, `${USER}.toml:3`) });
    },
  );

  it('is decided for each setting, not for each item of a list', () => {
    folder.write(`${USER}.toml`, '[node]\nurls = ["http://a:1", "http://b:1"]\nnetwork = "mainnet01"');
    folder.write('pickaxe.toml', '[node]\nurls = ["http://c:1"]');
    expect(folder.load().config.node).toEqual({ urls: ['http://c:1'], network: 'mainnet01', insecureTls: false });
  });

  it('lets false override true', () => {
    folder.write('pickaxe.toml', 'gpu.software = true\nrun.json = true');
    const { config } = folder.load({ flags: new Map([['gpu.software', false]]), environment: { PICKAXE_JSON: '0' } });
    expect(config).toMatchObject({ gpu: { software: false }, run: { json: false } });
  });

  it('lets false override a default that is true', () => {
    expect(DEFAULTS.run.status).toBe(true);
    expect(folder.load({ environment: { PICKAXE_STATUS: 'false' } }).config.run.status).toBe(false);
  });
});

describe('texts of variables and flags', () => {
  it('are converted to the types of their settings', () => {
    const environment = {
      PICKAXE_NODE: 'http://a:1, http://b:2/x/y',
      PICKAXE_DEVICES: 'cpu,gpu0,cpu',
      PICKAXE_PUBLIC_KEY: 'A1'.repeat(32),
      PICKAXE_INSECURE_TLS: 'true',
      PICKAXE_SOFTWARE_GPU: '1',
      PICKAXE_TEMP_LIMIT: 'none',
      PICKAXE_GPU_BATCH_MS: '12.5',
      PICKAXE_CPU_AFFINITY: '0,2-5',
      PICKAXE_ACCOUNT: '',
    };
    expect(folder.load({ environment }).config).toMatchObject({
      node: { urls: ['http://a:1', 'http://b:2/x/y'], insecureTls: true },
      devices: { use: ['cpu', 'gpu0'], tempLimit: 'none' },
      miner: { publicKeys: ['a1'.repeat(32)] },
      gpu: { batchMs: 12.5, software: true },
      cpu: { affinity: [0, 2, 3, 4, 5] },
    });
  });

  it('may name no device at all', () => {
    expect(folder.load({ flags: new Map([['devices.use', ['none']]]) }).config.devices.use).toEqual([]);
  });

  it('may give a list in one text or in several', () => {
    const flags = new Map([
      ['node.urls', ['http://a:1', 'http://b:1']],
      ['devices.use', ['cpu,gpu1', 'gpu0']],
    ]);
    expect(folder.load({ flags }).config).toMatchObject({
      node: { urls: ['http://a:1', 'http://b:1'] },
      devices: { use: ['cpu', 'gpu1', 'gpu0'] },
    });
  });

  it.each([
    ['node.urls', 'localhost:1848', ['http://localhost:1848']],
    ['devices.use', 'gpu1', ['gpu1']],
    ['webhook.events', 'block', ['block']],
    ['node.ca-files', '/ca.pem', [{ value: '/ca.pem' }]],
    ['alarm.min-hashrate', '20 GH/s', [{ limit: 20e9 }]],
    ['miner.public-keys', `k:${'a1'.repeat(32)}`, ['a1'.repeat(32)]],
    ['node.fingerprints', 'A'.repeat(43), [{ value: 'A'.repeat(43) }]],
    ['stratum.proxies', '10.0.0.0/8', ['10.0.0.0/8']],
    ['pool.urls', 'STRATUM+TLS://Pool.example:3334', ['stratum+ssl://pool.example:3334']],
    [
      'pool.ca-files',
      'ssl://pool.example:3334=/ca.pem',
      [{ origin: 'stratum+ssl://pool.example:3334', value: '/ca.pem' }],
    ],
    ['pool.fingerprints', 'A'.repeat(43), [{ value: 'A'.repeat(43) }]],
    ['nats.urls', 'nats://Hub.example', ['nats://hub.example:4222']],
    ['devices.temp-limit', 'gpu0=80', [{ gpu: 'gpu0', value: 80 }, { value: 90 }]],
    ['devices.temp-resume', 'gpu0=70', [{ gpu: 'gpu0', value: 70 }]],
    ['gpu.batch-ms', '12.5', 12.5],
  ])('of %s may be a single text in a file, too, although the setting is a list', (path, text, values) => {
    const lists = ENTRIES.filter(({ setting }) => setting.type.form === 'list').map((entry) => entry.path);
    expect(lists).toHaveLength(15);
    const entry = ENTRIES.find((each) => each.path === path)!;
    const file = folder.write('a.toml', stringify({ [entry.table]: { [entry.key]: text } }));
    expect(valueIn(folder.load({ file }).config, entry)).toEqual(values);
  });

  it.each([
    ['PICKAXE_THREADS', '1e2', /^PICKAXE_THREADS is "1e2"\. Give a whole number from 1 to 1024, or a part/],
    ['PICKAXE_THREADS', '2.5', /whole number/],
    ['PICKAXE_JSON', 'yes', /true or false/],
    ['PICKAXE_NODE', 'http://a:1,,http://b:1', /^PICKAXE_NODE is "": it is not the URL of a host\. Write/],
    [
      'PICKAXE_NODE',
      'http://me:hunter2@a:1',
      /^PICKAXE_NODE is "http:\/\/\*\*\*@a:1": it must have no user and password\./,
    ],
    [
      'PICKAXE_NODE',
      `http://me:h<u"n't er2@a:1`,
      /^PICKAXE_NODE is "http:\/\/\*\*\*@a:1": it must have no user and password\./,
    ],
    [
      'PICKAXE_NODE',
      'http://b:1,https://me:h,unte,r2@a:1',
      /^PICKAXE_NODE is "https:\/\/\*\*\*@a:1": it must have no user and password\./,
    ],
    ['PICKAXE_DURATION', 'Infinity', /seconds/],
    ['PICKAXE_CPU_AFFINITY', '5-2', /like 0,2-5/],
    ['PICKAXE_ACCOUNT', 'a\nb', /account/],
    ['PICKAXE_DEVICES', 'none,cpu', /or none/],
    ['PICKAXE_STRATUM_PROXY_PROTOCOL', '10.0.0.0/33', /a network like/],
    ['PICKAXE_STRATUM_PROXY_PROTOCOL', 'proxy.example', /an IP address/],
    ['PICKAXE_STRATUM_SHARE_SECONDS', '4', /from 5 to 30/],
  ])('that are invalid cause an error that says what is expected: %s=%j', (name, value, says) => {
    const problems = folder.problems({ environment: { [name]: value } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(says);
  });

  it.each([
    ['PICKAXE_THREDS', 'Did you mean PICKAXE_THREADS?'],
    ['PICKAXE_CPU_THREADS', 'Did you mean PICKAXE_THREADS?'],
    ['PICKAXE_POOL_URLS', 'Did you mean PICKAXE_POOL?'],
    ['PICKAXE_POOL_URL', 'Did you mean PICKAXE_POOL?'],
    ['PICKAXE_POOL_USER', 'Did you mean PICKAXE_USER?'],
    ['PICKAXE_CONFIGURATION_OF_ALL', 'there is no such setting.'],
    ['PICKAXE_PRIVATE_KEY', 'Mining needs only the public key'],
    ['PICKAXE_HTTP_TOKEN', 'Secrets do not belong here'],
  ])('are refused for %s, which is not a variable of pickaxe', (name, says) => {
    const problems = folder.problems({ environment: { [name]: 'hunter2' } });
    expect(problems).toEqual([expect.stringContaining(says)]);
    expect(problems[0]).toContain(name);
    expect(problems[0]).not.toContain('hunter2');
  });
});

describe('errors', () => {
  it('are reported all at once, with file, line, key, what is expected and what was probably meant', () => {
    folder.write(
      'pickaxe.toml',
      `# a comment with [cpu] in it
tokn = 1
[cpu]
thread = 4
threads = "many"
[node]
urls = [
  "http://ok:1",
  "ftp://no:1", # not this one
]
network = "main net"
nodes = 3
[logs]
level = "x"
[miner]
publicKeys = ["ab"]
software-gpu = true
threads = 3
`,
    );
    folder.write(`${USER}.toml`, '\n\nlog.level = "loud"\ngpu = 7');
    const user = join(folder.path, USER);
    const problems = folder.problems({ flags: new Map([['run.blocks', '0']]), environment: { PICKAXE_JSN: '1' } });
    expect(problems).toEqual([
      'PICKAXE_JSN: there is no such setting. Did you mean PICKAXE_JSON?',
      '--blocks is 0. Give a whole number from 1 to 1000000000.',
      'pickaxe.toml:2:1: there is no table tokn.',
      'pickaxe.toml:4:1: there is no setting cpu.thread. Did you mean threads?',
      'pickaxe.toml:5:1: cpu.threads is "many". Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.',
      expect.stringMatching(/^pickaxe\.toml:7:1: node\.urls\[1\] is "ftp:\/\/no:1": a node has no ftp:\/\/\. Write/),
      'pickaxe.toml:11:1: node.network is "main net". A network is written like mainnet01 or testnet04.',
      expect.stringMatching(/^pickaxe\.toml:12:1: there is no setting node\.nodes\. Did you mean urls\?$/),
      'pickaxe.toml:13:1: there is no table logs. Did you mean log?',
      'pickaxe.toml:16:1: there is no setting miner.publicKeys. Did you mean public-keys?',
      'pickaxe.toml:17:1: there is no setting miner.software-gpu. Did you mean gpu.software?',
      'pickaxe.toml:18:1: there is no setting miner.threads. Did you mean cpu.threads?',
      `${user}.toml:3:1: log.level is "loud". Give one of: fatal, error, warn, info, debug, trace, silent.`,
      `${user}.toml:4:1: gpu is 7. It must be a table with batch-ms, software.`,
    ]);
  });

  it('suggest a setting of the same table before settings of other tables', () => {
    folder.write('pickaxe.toml', '[node]\nurl = "http://a:1"\n');
    expect(folder.problems()).toEqual(['pickaxe.toml:2:1: there is no setting node.url. Did you mean urls?']);
  });

  it('name the settings of a table when no known name is similar', () => {
    folder.write('pickaxe.toml', '[http]\nport = 8080\n');
    expect(folder.problems()).toEqual([
      'pickaxe.toml:2:1: there is no setting http.port. The table http has listen, token-file, control.',
    ]);
  });

  it('say what is wrong with a public key, wherever it is given', () => {
    const key = `${'a'.repeat(63)}g`;
    const says = 'its character 64, "g", is not a hex digit. A public key is 64 hex digits.';
    folder.write('pickaxe.toml', `[miner]\npublic-keys = ["k:${'a'.repeat(64)}", "${key}"]\n`);
    folder.write(`${USER}.toml`, `[miner]\npublic-keys = "${key}"\n`);
    expect(folder.problems({ environment: { PICKAXE_PUBLIC_KEY: key } })).toEqual([
      expect.stringContaining(`PICKAXE_PUBLIC_KEY is a text of 64 characters: ${says}`),
      expect.stringContaining(`pickaxe.toml:2:1: miner.public-keys[1] is a text of 64 characters: ${says}`),
      expect.stringContaining(`config.toml:2:1: miner.public-keys is a text of 64 characters: ${says}`),
    ]);
  });

  it.each([
    ['"$schema" = 7', 'pickaxe.toml:1:1: $schema is 7. Give a text.'],
    [
      'node = []',
      'pickaxe.toml:1:1: node is an empty list. It must be a table with urls, network, fingerprints, ca-files, insecure-tls.',
    ],
    [
      'node = [1, 2]',
      'pickaxe.toml:1:1: node is a list of 2. It must be a table with urls, network, fingerprints, ca-files, insecure-tls.',
    ],
  ])('for the document %s say what a configuration file must contain', (toml, problem) => {
    folder.write('pickaxe.toml', toml);
    expect(folder.problems()).toEqual([problem]);
  });

  it('are listed up to the twentieth', () => {
    folder.write('pickaxe.toml', Array.from({ length: 25 }, (_, index) => `unknown${index} = 1`).join('\n'));
    expect(() => folder.load()).toThrow(/^25 errors in the configuration:\n(.*\n){20} {2}… and 5 more$/);
  });

  it.each([
    ['token = "hunter2"', 'Secrets do not belong here'],
    ['[node]\nprivate-key = "hunter2"', 'which pickaxe never needs'],
    ['[miner]\nsecretKey = "hunter2"', 'which pickaxe never needs'],
    ['[node]\npassword = "hunter2"', 'Secrets do not belong here'],
    ['[node]\nurls = ["http://me:hunter2@host:1"]', 'http://***@host:1'],
    ['[node]\npassword = hunter2', 'not valid TOML'],
  ])('for %j say where a secret belongs, and do not repeat it', (toml, says) => {
    folder.write('pickaxe.toml', toml);
    const problems = folder.problems();
    expect(problems).toContainEqual(expect.stringContaining(says));
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each(['node = { password = hunter2 }', 'node = { password = "hunter2", ', 'node.password = "hunter2" x'])(
    'do not repeat any of the text %j',
    (text) => {
      folder.write('pickaxe.toml', text);
      const problems = folder.problems();
      expect(problems).toContainEqual(expect.stringMatching(/^pickaxe\.toml:\d+:\d+: not valid TOML: /));
      expect(problems.join()).not.toContain('hunter2');
    },
  );

  it('name the line and the column', () => {
    folder.write('pickaxe.toml', '[cpu]\n\nthreads = many');
    expect(folder.problems()).toEqual([
      'pickaxe.toml:3:11: not valid TOML: invalid value; a text needs quotes, like "mainnet01".',
    ]);
  });

  it('do not repeat a token that was given instead of the path of its file', () => {
    folder.write('rig.toml', 'http.token-file = 31337');
    expect(folder.problems({ file: 'rig.toml' })).toEqual([
      'rig.toml:1:1: http.token-file is not a path. Give the path of a file.',
    ]);
  });
});

describe('prototypes of objects', () => {
  it.each([
    ['pickaxe.toml', '[constructor.prototype]\npolluted = 1'],
    ['pickaxe.toml', '[__proto__]\npolluted = 1'],
    ['pickaxe.toml', '[cpu.__proto__]\nthreads = 3'],
    ['pickaxe.toml', 'cpu = { "__proto__" = { threads = 3 }, toString = 1 }'],
  ])('cannot be changed by %s with %j', (file, text) => {
    folder.write(file, text);
    const problems = folder.problems();
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem).toMatch(/there is no (table|setting) /);
    expect({}).not.toHaveProperty('polluted');
    expect({}).not.toHaveProperty('threads');
  });
});

describe('files', () => {
  it('named by --config or PICKAXE_CONFIG replace the project’s, and must exist', () => {
    folder.write('pickaxe.toml', 'cpu.threads = 1');
    folder.write('rigs/a.toml', 'cpu.threads = 2');
    folder.write('b.toml', 'cpu.threads = 3');
    const environment = { PICKAXE_CONFIG: 'b.toml' };
    expect(folder.load({ environment }).config.cpu.threads).toBe(3);
    const { config, files, origins } = folder.load({ environment, file: 'rigs/a.toml' });
    expect(config.cpu.threads).toBe(2);
    expect(files).toEqual([join(folder.path, 'rigs/a.toml')]);
    expect(origins.get('cpu.threads')?.where).toBe('rigs/a.toml:1');
    expect(folder.problems({ file: 'c.toml' })).toEqual(['c.toml: there is no such file.']);
    expect(folder.problems({ file: folder.write('d.conf', '') })[0]).toBe(
      `${join(folder.path, 'd.conf')}: a configuration file is TOML, and its name ends in .toml.`,
    );
    folder.write('E.TOML', 'cpu.threads = 4');
    expect(folder.load({ file: 'E.TOML' }).config.cpu.threads).toBe(4);
  });

  it('are not named by an empty PICKAXE_CONFIG', () => {
    folder.write('pickaxe.toml', 'cpu.threads = 1');
    expect(folder.load({ environment: { PICKAXE_CONFIG: '' } }).config.cpu.threads).toBe(1);
  });

  it('contain paths that are relative to their own folders', () => {
    const file = folder.write('rigs/a.toml', '[http]\ntoken-file = "token"\n[log-file]\npath = "../log"');
    const { http, logFile } = folder.load({ file }).config;
    expect([http.tokenFile, logFile.path]).toEqual([join(folder.path, 'rigs/token'), join(folder.path, 'log')]);
    expect(folder.load({ environment: { PICKAXE_HTTP_TOKEN_FILE: 'token' } }).config.http.tokenFile).toBe('token');
  });

  it.each([['pickaxe.toml'], []])(
    'are TOML: one in JSON, also beside %s, is an error that says what to do',
    (...toml) => {
      for (const file of toml) folder.write(file, '');
      folder.write('pickaxe.json', '{}');
      folder.write(`${USER}.json`, '{}');
      expect(folder.problems()).toEqual([
        expect.stringMatching(
          /pickaxe\.json: pickaxe reads TOML only\. Move its settings to pickaxe\.toml, and remove it\.$/,
        ),
        expect.stringMatching(
          /config\.json: pickaxe reads TOML only\. Move its settings to config\.toml, and remove it\.$/,
        ),
      ]);
      expect(folder.problems({ file: 'rig.json' })[0]).toBe(
        'rig.json: a configuration file is TOML, and its name ends in .toml.',
      );
    },
  );

  it('may be links, and must otherwise be regular files', () => {
    folder.write('real.toml', 'cpu.threads = 1');
    symlinkSync('real.toml', join(folder.path, 'pickaxe.toml'));
    expect(folder.load().config.cpu.threads).toBe(1);
    symlinkSync('nowhere.toml', join(folder.path, 'dangling.toml'));
    symlinkSync('loop.toml', join(folder.path, 'loop.toml'));
    mkdirSync(join(folder.path, 'folder.toml'));
    expect(folder.problems({ file: 'dangling.toml' })).toEqual([
      'dangling.toml: it is a link to a file that does not exist.',
    ]);
    expect(folder.problems({ file: 'loop.toml' })).toEqual(['loop.toml: it is a link that leads to itself.']);
    expect(folder.problems({ file: 'folder.toml' })).toEqual(['folder.toml: it is a directory.']);
  });

  test.skipIf(onWindows)(`must be readable${whyNot}`, () => {
    chmodSync(folder.write('pickaxe.toml', ''), 0);
    expect(asAnybody(() => folder.problems())).toEqual(['pickaxe.toml: this user may not read it.']);
  });

  /** Each place that a configuration file is taken from. */
  const places: [string, string, Partial<Places>][] = [
    ['found in the current folder', 'pickaxe.toml', {}],
    ['named', 'rig.toml', { file: 'rig.toml' }],
    ['named by a variable', 'rig.toml', { environment: { PICKAXE_CONFIG: 'rig.toml' } }],
    ['of the user', `${USER}.toml`, {}],
  ];

  describe.skipIf(onWindows)(`are trusted by the same rule in each place${whyNot}`, () => {
    it.each(places)('if they are %s: neither the group nor others may write to them', (_, name, where) => {
      const file = folder.write(name, 'cpu.threads = 1');
      for (const mode of [0o644, 0o640, 0o600]) {
        chmodSync(file, mode);
        expect(folder.load(where).config.cpu.threads).toBe(1);
      }
      for (const mode of [0o664, 0o620, 0o646, 0o602, 0o666]) {
        chmodSync(file, mode);
        expect(folder.problems(where)).toEqual([
          expect.stringMatching(/: other users than its owner may write to it\. Forbid that \(chmod go-w \S+\)\.$/),
        ]);
      }
    });

    it.each(places)('if they are %s: they must belong to the user, even under sudo', (_, name, where) => {
      const file = folder.write(name, 'cpu.threads = 1');
      // Every user trusts files that belong to root.
      if (asRoot) chownSync(file, 12_345, 12_345);
      const owner = statSync(file).uid;
      const user = vi.spyOn(process, 'geteuid').mockReturnValue(owner);
      expect(folder.load(where).config.cpu.threads).toBe(1);
      for (const other of [owner + 1, 0]) {
        user.mockReturnValue(other);
        const environment = { ...where.environment, SUDO_UID: String(owner) };
        expect(folder.problems({ ...where, environment })).toEqual([
          expect.stringContaining(`it belongs to another user (uid ${owner})`),
        ]);
      }
    });

    it('links are judged by the files that they lead to', () => {
      const file = folder.write('real.toml', 'cpu.threads = 1');
      symlinkSync('real.toml', join(folder.path, 'pickaxe.toml'));
      expect(folder.load().config.cpu.threads).toBe(1);
      chmodSync(file, 0o666);
      expect(folder.problems()).toEqual([expect.stringContaining('(chmod go-w pickaxe.toml)')]);
    });

    it('the rule also holds when a single file is checked', () => {
      chmodSync(folder.write('rig.toml', ''), 0o664);
      expect(problemsOf(() => loadFile('rig.toml', folder.path))).toEqual([expect.stringContaining('chmod go-w')]);
    });
  });

  describe('that nobody named', () => {
    const unasked = [
      '[hooks]',
      'start = "touch ran"',
      '[webhook]',
      'url = "https://host/"',
      '[log-file]',
      'path = "x"',
    ];
    const toml = ['[cpu]', 'threads = 1', ...unasked].join('\n');

    it('may not run commands, inform others or choose a file to write to', () => {
      folder.write('pickaxe.toml', toml);
      expect(folder.problems()).toEqual([
        'pickaxe.toml:8:1: log-file.path, hooks.start, webhook.url cannot be set by a file that was only found here. ' +
          'Give the file with --config pickaxe.toml, or move the setting to your user file.',
      ]);
    });

    it.each(ENTRIES.filter(({ setting }) => setting.needsNaming === true))('may not set $path', (entry) => {
      const { type, default: value, example } = entry.setting;
      const text = value === undefined ? example : printed(type, value);
      folder.write('pickaxe.toml', stringify({ [entry.table]: { [entry.key]: text } }));
      expect(folder.problems()).toEqual([
        expect.stringMatching(`^pickaxe\\.toml:\\d+:\\d+: ${entry.path} cannot be set`),
      ]);
    });

    it.each([
      'pool.password-file = "/home/u/.vault-token"',
      'node.insecure-tls = true',
      'http.listen = "0.0.0.0:8080"',
      'http.control = true',
      'http.token-file = "token"',
      'stratum.listen = "0.0.0.0:1917"',
      'stratum.tls-key = "/home/u/key.pem"',
      'stratum.proxies = ["0.0.0.0/0"]',
    ])('may not have %s', (line) => {
      folder.write('pickaxe.toml', `pool.urls = ["evil.example:3333"]\npool.user = "x"\n${line}\n`);
      const path = line.split(' ')[0];
      expect(folder.problems()).toEqual([
        `pickaxe.toml:3:1: ${path} cannot be set by a file that was only found here. ` +
          'Give the file with --config pickaxe.toml, or move the setting to your user file.',
      ]);
    });

    describe('beside what comes from elsewhere', () => {
      const evil = 'pool.urls = ["stratum+tcp://evil.example:3333"]\n';
      const own = 'pool.user = "me.rig1"\npool.password-file = "pool.password"\n';

      it('may not choose the pool that gets the user’s password', () => {
        folder.write(`${USER}.toml`, `pool.urls = ["stratum+ssl://pool.example:3334"]\n${own}`);
        folder.write('pickaxe.toml', evil);
        expect(folder.problems()).toEqual([
          'pickaxe.toml:1:1: pool.urls cannot be set by a file that was only found here while pool.password-file is from ' +
            `${join(folder.path, USER)}.toml:3: what is yours could go to somebody else. ` +
            'Give the file with --config pickaxe.toml, or move all of it to one place.',
        ]);
      });

      it.each([
        ['a flag', { flags: new Map([['pool.password-file', 'p']]) }],
        ['the environment', { environment: { PICKAXE_PASSWORD_FILE: 'p' } }],
        ['the command line', { flags: new Map([['pool.password', 'p']]) }],
      ])('may not choose it for a password from %s either', (_, places) => {
        folder.write('pickaxe.toml', evil);
        expect(folder.problems(places)).toEqual([expect.stringMatching(/while pool\.password(-file)? is from /)]);
      });

      it.each([
        ['pool', 'fingerprints = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"'],
        ['pool', 'ca-files = "evil.pem"'],
        ['pool', 'allow-reconnect = true'],
        ['node', 'fingerprints = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"'],
        ['node', 'ca-files = "evil.pem"'],
      ])('may not say who is trusted at the user’s own %s: %s', (table, line) => {
        const url = { pool: 'stratum+ssl://pool.example:3334', node: 'https://node.example/KEY/ledger/0.0/mainnet01' }[
          table
        ];
        folder.write(`${USER}.toml`, `${table}.urls = ["${url}"]\n`);
        folder.write('pickaxe.toml', `[${table}]\n${line}\n`);
        const path = `${table}.${line.split(' ')[0]}`;
        expect(folder.problems()).toEqual([
          expect.stringMatching(`^pickaxe\\.toml:2:1: ${path} cannot be set .* while ${table}\\.urls is from `),
        ]);
      });

      it('may name its own pool or node, with the certificates there', () => {
        folder.write(`${USER}.toml`, 'pool.user = "me.rig1"\nnode.urls = ["https://own.example"]\nhttp.listen = "1"');
        folder.write(
          'pickaxe.toml',
          `${evil}pool.allow-reconnect = true\nnode.urls = "https://n"\nnode.ca-files = "a.pem"`,
        );
        expect(folder.load().config).toMatchObject({ pool: { user: 'me.rig1' }, node: { urls: ['https://n'] } });
      });

      it.each([
        ['node', 'https://its-own.example:1848', 'https://node.example'],
        ['pool', 'stratum+ssl://its-own.example:3334', 'stratum+ssl://pool.example:3334'],
      ] as const)(
        'may say who is trusted at its own %s, which is ignored where the user names another one',
        (table, its, users) => {
          const pin = (url: string) => `"${url}=${'A'.repeat(43)}"`;
          const write = (pins: string) =>
            folder.write(
              'pickaxe.toml',
              `[${table}]\nurls = ["${its}"]\nfingerprints = [${pins}]\nca-files = ["${its}=ca.pem"]\n`,
            );
          const flags = new Map([[`${table}.urls`, [users]]]);
          write(pin(its));
          expect(folder.load().config).toMatchObject({ [table]: { urls: [its], caFiles: [{}], fingerprints: [{}] } });
          const { config, origins } = folder.load({ flags });
          expect(config[table]).toEqual({ ...DEFAULTS[table], urls: [users] });
          expect([...origins.keys()]).toEqual([`${table}.urls`]);
          // Different spellings of a URL are the same URL. A value without a URL is for all.
          for (const pins of [
            pin(users),
            `${pin(its)}, ${pin(users.replace('example', 'EXAMPLE'))}`,
            `"${'A'.repeat(43)}"`,
          ]) {
            write(pins);
            expect(folder.problems({ flags })).toEqual([
              expect.stringMatching(
                `^pickaxe\\.toml:3:1: ${table}\\.fingerprints cannot be set .* while ${table}\\.urls is from `,
              ),
            ]);
          }
          // A file that was named belongs to the user, so a URL in it that is no longer used is reported as a mistake.
          expect(folder.load({ file: 'pickaxe.toml', flags }).config).toMatchObject({
            [table]: { fingerprints: [{}] },
          });
        },
      );

      it('may not say who is trusted at the P2P port of the user’s node', () => {
        const its = 'https://own.example:1789';
        folder.write('pickaxe.toml', `node.fingerprints = ["${its}=${'A'.repeat(43)}"]\n`);
        const flags = new Map<string, string | string[]>([
          ['node.urls', ['https://own.example']],
          ['ledger.peer-url', its],
        ]);
        expect(folder.problems({ flags })).toEqual([expect.stringContaining('node.fingerprints cannot be set by')]);
      });

      it('does not matter where the user’s own URL counts instead of the file’s', () => {
        folder.write(`${USER}.toml`, own);
        folder.write('pickaxe.toml', evil);
        const { config } = folder.load({ flags: new Map([['pool.urls', ['own.example:3333']]]) });
        expect(config.pool.urls).toEqual(['stratum+tcp://own.example:3333']);
      });

      it('may all be set in it once it is named', () => {
        folder.write(`${USER}.toml`, own);
        folder.write('pickaxe.toml', evil);
        expect(folder.load({ file: 'pickaxe.toml' }).config.pool.urls).toEqual(['stratum+tcp://evil.example:3333']);
      });
    });

    it('are noted with the settings that say who is paid', () => {
      folder.write('pickaxe.toml', `cpu.threads = 1\nminer.public-keys = "${'a1'.repeat(32)}"\nnode.urls = "http://n"`);
      const note = ({ found, origins }: Loaded) => foundFileNote(found, origins);
      expect(note(folder.load())).toBe(
        'settings are from pickaxe.toml, which was found in this folder; it says where to mine or who is paid (node.urls, miner.public-keys)',
      );
      const flags = new Map<string, string[] | string>([
        ['node.urls', ['http://n']],
        ['miner.public-keys', ['cd'.repeat(32)]],
      ]);
      expect(note(folder.load({ flags }))).toBe('settings are from pickaxe.toml, which was found in this folder');
      expect(note(folder.load({ file: 'pickaxe.toml' }))).toBeUndefined();
      expect(note(folder.load({ flags: new Map([...flags, ['cpu.threads', '2']]) }))).toBeUndefined();
    });

    it('may do so once they are named', () => {
      folder.write('pickaxe.toml', toml);
      for (const named of [{ file: 'pickaxe.toml' }, { environment: { PICKAXE_CONFIG: './pickaxe.toml' } }]) {
        expect(folder.load(named).config.hooks.start).toBe('touch ran');
      }
      expect(loadFile('pickaxe.toml', folder.path).config.hooks.start).toBe('touch ran');
    });

    it('do not disable what the user’s own file says', () => {
      folder.write('pickaxe.toml', 'cpu.threads = 1');
      folder.write(`${USER}.toml`, unasked.join('\n'));
      const { config } = folder.load();
      expect([config.cpu.threads, config.hooks.start, config.webhook.url]).toEqual([1, 'touch ran', 'https://host/']);
    });

    it.each(['hooks', 'hooks = []', 'hooks = "x"', '[__proto__.hooks]'])(
      'cause an error like other files if they contain %s',
      (toml) => {
        folder.write('pickaxe.toml', toml);
        expect(folder.problems()).toHaveLength(1);
      },
    );
  });

  it('must be UTF-8 text of limited size', () => {
    folder.write('pickaxe.toml', '#'.repeat(256 * 1024));
    expect(folder.problems()).toEqual([]);
    folder.write('pickaxe.toml', '#'.repeat(256 * 1024 + 1));
    folder.write(`${USER}.toml`, new Uint8Array([0x23, 0xff, 0xfe]));
    expect(folder.problems()).toEqual([
      'pickaxe.toml: it has more than 262144 bytes.',
      `${join(folder.path, USER)}.toml: it is not UTF-8 text.`,
    ]);
  });

  it('may be UTF-16 with a byte order mark, as PowerShell 5 writes it', () => {
    folder.write('pickaxe.toml', Buffer.from('\ufeff[rig]\r\nname = "Zürich"\r\n', 'utf16le'));
    expect(folder.load().config.rig.name).toBe('Zürich');
  });

  it('may begin with a byte order mark and have the line ends of Windows', () => {
    folder.write('pickaxe.toml', '\ufeff[cpu]\r\nthreads = 2\r\npriority = 3\r\n');
    const { config, origins } = folder.load();
    expect(config.cpu).toMatchObject({ threads: 2, priority: 3 });
    expect(origins.get('cpu.priority')?.where).toBe('pickaxe.toml:3');
  });

  it('may name their schema', () => {
    folder.write('pickaxe.toml', '"$schema" = "./pickaxe.schema.json"');
    expect(folder.load().config).toEqual(DEFAULTS);
  });

  it('can be checked one at a time', () => {
    folder.write('pickaxe.toml', 'cpu.threads = 1');
    folder.write('other.toml', 'cpu.priority = 1');
    expect(loadFile('other.toml', folder.path).config.cpu).toMatchObject({ priority: 1 });
    expect(problemsOf(() => loadFile('none.toml', folder.path))).toEqual(['none.toml: there is no such file.']);
  });
});

describe('the user’s configuration directory', () => {
  const home = () => '/home/me';
  it.each([
    [{ XDG_CONFIG_HOME: '/x' }, 'linux', '/x/pickaxe'],
    [{ XDG_CONFIG_HOME: 'x' }, 'linux', '/home/me/.config/pickaxe'],
    [{}, 'linux', '/home/me/.config/pickaxe'],
    [{}, 'darwin', '/home/me/.config/pickaxe'],
    [{ APPDATA: '/roaming' }, 'win32', '/roaming/pickaxe'],
    [{ XDG_CONFIG_HOME: '/x', APPDATA: '/roaming' }, 'win32', '/x/pickaxe'],
    [{ APPDATA: '/roaming' }, 'linux', '/home/me/.config/pickaxe'],
  ])('with %j on %s is %s', (environment, platform, directory) => {
    expect(userConfigDirectory(environment, platform, home)).toBe(directory);
  });

  it('does not exist without a home directory', () => {
    expect(userConfigDirectory({}, 'linux', () => 'unknown')).toBeUndefined();
    const nobody = () => {
      throw new Error('no such user');
    };
    expect(userConfigDirectory({}, 'linux', nobody)).toBeUndefined();
  });
});

describe('what -u says', () => {
  const KEY = 'a1'.repeat(32);
  const owner = [`k:${KEY}.rig1`];
  const pool = 'stratum+tcp://pool.example:3333';
  const whose = (places: Parameters<typeof folder.load>[0]) => {
    const { miner, pool, rig } = folder.load({ owner, ...places }).config;
    return { keys: miner.publicKeys, user: pool.user, rig: rig.name };
  };
  const asKey = { keys: [KEY], user: undefined, rig: 'rig1' };
  const asUser = { keys: undefined, user: owner[0], rig: 'rig1' };

  it('is the public key where nodes are mined on, and where nothing is', () => {
    expect(whose({})).toEqual(asKey);
    expect(whose({ flags: new Map([['node.urls', ['http://a:1']]]) })).toEqual(asKey);
  });

  it.each([
    ['a flag', { flags: new Map([['pool.urls', [pool]]]) }, ''],
    ['the environment', { environment: { PICKAXE_POOL: pool } }, ''],
    ['a file', { file: 'a.toml' }, `pool.urls = "${pool}"`],
  ])('is the user where %s names a pool', (_, places, text) => {
    folder.write('a.toml', text);
    expect(whose(places)).toEqual(asUser);
  });

  it('goes by the strongest place that names nodes or pools', () => {
    folder.write('a.toml', `pool.urls = "${pool}"`);
    expect(whose({ file: 'a.toml', flags: new Map([['node.urls', ['http://a:1']]]) })).toEqual(asKey);
    folder.write('b.toml', 'node.urls = "http://a:1"');
    expect(whose({ file: 'b.toml', flags: new Map([['pool.urls', [pool]]]) })).toEqual(asUser);
  });

  it('is the public key where a fleet is mined for, which needs none', () => {
    folder.write('a.toml', `pool.urls = "${pool}"`);
    expect(whose({ file: 'a.toml', flags: new Map([['nats.urls', ['nats://hub.example']]]) })).toEqual(asKey);
  });

  it.each(['missing.toml', 'broken.toml'])('is not judged where %s may say what is mined on', (file) => {
    folder.write('broken.toml', '[pool\nurls = ');
    const problems = folder.problems({ file, owner: ['B.r'], contradictions: 'start' });
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join('\n')).not.toMatch(/--public-key|--user/);
    const flags = new Map([['node.urls', ['http://a:1']]]);
    expect(folder.problems({ file, owner: ['B.r'], flags }).join('\n')).toContain('--public-key is "B.r"');
  });

  it('comes before the keys of --public-key', () => {
    const flags = new Map([['miner.public-keys', ['cd'.repeat(32)]]]);
    expect(whose({ flags }).keys).toEqual([KEY, 'cd'.repeat(32)]);
  });

  it('is one user for all pools', () => {
    const flags = new Map<string, string | string[]>([['pool.urls', [pool]]]);
    const once = 'A pool has one user, which is the same for all pools: give -u or --user once.';
    expect(whose({ flags, owner: [...owner, ...owner] })).toEqual(asUser);
    expect(folder.problems({ flags, owner: ['a', 'b'] })).toEqual([once]);
    expect(folder.problems({ flags: flags.set('pool.user', 'c'), owner: ['a'] })).toEqual([once]);
  });
});

describe('nodes and pools', () => {
  const pool = 'stratum+tcp://pool.example:3333';
  const KEY = 'a1'.repeat(32);
  const nodeFile = `[node]\nurls = ["http://a:1"]\nnetwork = "mainnet01"\n[miner]\npublic-keys = "${KEY}"\n`;

  it.each(['pickaxe.toml', `${USER}.toml`])('of %s give way to pools that a flag names', (file) => {
    folder.write(file, nodeFile);
    const flags = new Map([['pool.urls', [pool]]]);
    const { config, origins, found } = folder.load({ flags, owner: ['B.r'], contradictions: 'start' });
    expect(config).toMatchObject({ node: { network: 'mainnet01' }, pool: { urls: [pool], user: 'B.r' } });
    expect(config.node).not.toHaveProperty('urls');
    expect(origins.has('node.urls')).toBe(false);
    const note = 'settings are from pickaxe.toml, which was found in this folder';
    expect(foundFileNote(found, origins)).toBe(file === 'pickaxe.toml' ? note : undefined);
  });

  it('of nodes give way to a fleet that a stronger place names, except for a coordinator', () => {
    folder.write('a.toml', 'node.urls = "http://a:1"\nrig.name = "rig1"');
    const places = { file: 'a.toml', flags: new Map([['nats.urls', ['hub.example']]]) };
    const { node, nats, rig } = folder.load(places).config;
    expect([node.urls, nats.urls, rig.name]).toEqual([undefined, ['nats://hub.example:4222'], 'rig1']);
    const coordinator = folder.load({ ...places, coordinates: true }).config;
    expect([coordinator.node.urls, coordinator.nats.urls]).toEqual([['http://a:1'], nats.urls]);
    folder.write('b.toml', 'nats.urls = "hub.example"');
    const own = folder.load({ file: 'b.toml', flags: new Map([['node.urls', ['http://a:1']]]) }).config;
    expect([own.node.urls, own.nats.urls]).toEqual([['http://a:1'], undefined]);
  });

  it('of a pool give way to nodes that a stronger place names', () => {
    const environment = { PICKAXE_POOL: pool };
    const flags = new Map<string, string | string[]>([
      ['node.urls', ['http://a:1']],
      ['node.network', 'mainnet01'],
    ]);
    const { config } = folder.load({ environment, flags, owner: [KEY], contradictions: 'start' });
    expect(config).toMatchObject({ node: { urls: ['http://a:1'] }, miner: { publicKeys: [KEY] } });
    expect(config.pool).not.toHaveProperty('urls');
  });

  it('stay contradictory in one place, which is named', () => {
    folder.write('pickaxe.toml', `${nodeFile}[pool]\nurls = "${pool}"\nuser = "B.r"\n`);
    expect(folder.problems({ contradictions: 'start' })).toEqual([
      expect.stringMatching(
        /^pickaxe\.toml:\d+:\d+: Nodes .* cannot be mined on at the same time: remove one of them\.$/,
      ),
    ]);
    const flags = new Map([['pool.urls', [pool]]]);
    expect(folder.load({ flags, contradictions: 'start' }).config.node).not.toHaveProperty('urls');
  });

  it('are both there for a command that reads from nodes', () => {
    folder.write(`${USER}.toml`, nodeFile);
    const { config } = folder.load({ environment: { PICKAXE_POOL: pool }, readsNodes: true });
    expect(config).toMatchObject({ node: { urls: ['http://a:1'] }, pool: { urls: [pool] } });
  });
});
