import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DryRunPlan } from '#pickaxe/app/composition/dry-run.js';
import { PrintedConfig } from '#pickaxe/app/config/raw-settings.js';
import { expectShape } from '../../expect-shape.ts';
import { DIALECTS, MockNode } from '../../mock-node/node.ts';
import { asProgram, folder, inNewFolders, KEY, pickaxe, project } from '../in-folder.ts';

inNewFolders();

describe('pickaxe mine --print-config', () => {
  it('shows the values of all four layers, and the defaults', async () => {
    folder.write('pickaxe/config.toml', '[cpu]\nthreads = 3\nkernel = "wasm"');
    folder.write('pickaxe.toml', `${project}[cpu]\nthreads = 2\npriority = 5\n`);
    const env = { PICKAXE_CPU_PRIORITY: '6', PICKAXE_TEMP_LIMIT: '80' };
    const { code, stdout } = await pickaxe(['mine', '--print-config', '--temp-limit', 'none', '--json'], env);
    expect(code).toBe(0);
    const printed = JSON.parse(stdout);
    expectShape(PrintedConfig, printed);
    expect(printed).toMatchObject({
      'cpu.threads': { value: 2, origin: 'project', where: 'pickaxe.toml:11' },
      'cpu.kernel': { value: 'wasm', origin: 'user', where: join(folder.path, 'pickaxe/config.toml:3') },
      'cpu.priority': { value: 6, origin: 'environment', where: 'PICKAXE_CPU_PRIORITY' },
      'devices.temp-limit': { value: 'none', origin: 'flag', where: '--temp-limit' },
      'run.json': { value: true, origin: 'flag', where: '--json' },
      'log.level': { value: 'info', origin: 'default' },
    });
  });

  it('prints TOML, also for a switch that a flag turns off', async () => {
    folder.write('rig.toml', 'gpu.software = true');
    const { code, stdout } = await pickaxe(['mine', '--print-config', '--config', 'rig.toml', '--no-software-gpu']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^software = false {2}# --software-gpu$/m);
  });
});

describe('pickaxe mine --dry-run', () => {
  it('opens the devices and says what it would mine with, without asking the node anything', async () => {
    let connections = 0;
    const node = createServer(() => connections++).listen(0, '127.0.0.1');
    await once(node, 'listening');
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    folder.write('pickaxe.toml', project);
    const { code, stdout } = await asProgram([
      'mine',
      '--dry-run',
      '--node',
      url,
      '--threads',
      '1',
      '--kernel',
      'wasm',
    ]);
    node.close();
    expect(code).toBe(0);
    expect(connections).toBe(0);
    expect(stdout).toContain(`${url} (not asked)`);
    expect(stdout).toContain(`k:${KEY}, keys-all`);
    expect(stdout).toMatch(/^cpu +\S.*: kernel wasm: asked for; 1 thread: asked for/m);
    expect(stdout).toMatch(/^heat +CPU: pause at 105 °C, resume at 95 °C; GPUs: pause at 90 °C, resume at 80 °C$/m);
  });

  it('prints JSON for a wrapper', async () => {
    folder.write('pickaxe.toml', `${project}[run]\njson = true`);
    const { code, stdout } = await asProgram(['mine', '--dry-run', '--devices', 'cpu,gpu77', '--threads', '1']);
    expect(code).toBe(0);
    const plan = JSON.parse(stdout);
    expectShape(DryRunPlan, plan);
    expect(plan).toMatchObject({
      account: `k:${KEY}`,
      temperatureLimits: {
        cpu: { stopCelsius: 105, resumeCelsius: 95 },
        gpu: { stopCelsius: 90, resumeCelsius: 80 },
      },
      devices: [
        { name: 'cpu', usable: true, threads: 1 },
        { name: 'gpu77', usable: false, fault: 'missing' },
      ],
    });
  });

  it('says which GPUs have limits of their own, and which of these are not used', async () => {
    folder.write('pickaxe.toml', `${project}[run]\njson = true`);
    const limits = ['--temp-limit', '85', '--temp-limit', 'gpu77=70,gpu5=60'];
    const dryRun = ['mine', '--dry-run', '--devices', 'gpu77', ...limits];
    const { stdout, stderr } = await asProgram(dryRun);
    expect(JSON.parse(stdout)).toMatchObject({
      temperatureLimits: { gpu: { stopCelsius: 85, resumeCelsius: 75 } },
      devices: [{ name: 'gpu77', temperatureLimits: { stopCelsius: 70, resumeCelsius: 60 } }],
    });
    expect(stderr).toContain('--temp-limit has a value for gpu5, which is not used');
    expect(stderr).not.toContain('value for gpu77');
    expect((await asProgram([...dryRun, '--no-json'])).stdout).toContain(
      'GPUs: pause at 85 °C, resume at 75 °C; gpu77: pause at 70 °C, resume at 60 °C',
    );
  });

  it.each([
    [['--devices', 'gpu77'], 3, ''],
    [['--node', 'ftp://host'], 2, '--node is "ftp://host"'],
    [['--temp-resume', '95'], 2, '--temp-resume (95) must be below --temp-limit (90)'],
    [['--cpu-temp-resume', '110'], 2, '--cpu-temp-resume (110) must be below --cpu-temp-limit (105)'],
    [['--cpu-affinity', '1023'], 2, 'cannot be pinned'],
    [['--public-key', 'cd'.repeat(32), '--public-key', KEY], 2, '--account'],
  ])('ends with %j as mining would', async (args, exit, message) => {
    folder.write('pickaxe.toml', project);
    const { code, stderr } = await asProgram(['mine', '--dry-run', ...args]);
    expect(code).toBe(exit);
    expect(stderr).toContain(message);
  });
});

describe('settings in files', () => {
  it.each(DIALECTS)('apply to pickaxe mine, on a node of the dialect %s', async (dialect) => {
    const mock = new MockNode({ dialect, difficulty: 100_000 });
    const { url } = await mock.start();
    folder.write('pickaxe.toml', `${project.replace('http://127.0.0.1:9', url)}[cpu]\nthreads = 1\nkernel = "wasm"\n`);
    folder.write('pickaxe/config.toml', '[run]\njson = true\nblocks = 2\nduration = 60\n[log]\nformat = "json"');
    const { code, run } = await asProgram(['mine']);
    await mock.close();
    expect(code).toBe(0);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(2);
    expect(run.events('device')[0]).toMatchObject({ device: 'cpu', description: expect.stringMatching(/wasm/) });
  });

  it.each([['mine'], ['demo'], ['bench'], ['devices'], ['mock-node']])(
    'that are wrong end pickaxe %s',
    async (command) => {
      folder.write('pickaxe.toml', '[cpu]\nthreads = 0\nkernl = "wasm"');
      const { code, stdout, stderr } = await pickaxe([command]);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toBe(`error: 2 errors in the configuration:
  pickaxe.toml:2:1: cpu.threads is 0. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
  pickaxe.toml:3:1: there is no setting cpu.kernl. Did you mean kernel?
`);
    },
  );

  it.each([
    ['verify', 'abcd'],
    ['config', 'example'],
    ['config', 'schema'],
  ])('are ignored by pickaxe %s %s', async (...args) => {
    folder.write('pickaxe.toml', 'nonsense');
    const { stderr } = await pickaxe(args);
    expect(stderr).not.toContain('pickaxe.toml');
  });
});

describe('pickaxe config', () => {
  it('prints an example that it accepts itself', async () => {
    folder.write('pickaxe.toml', (await pickaxe(['config', 'example'])).stdout);
    const { code, stdout } = await pickaxe(['config', 'check', 'pickaxe.toml']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(folder.path, 'pickaxe.toml')}: OK` });
  });

  it('checks all files that apply here when none is named', async () => {
    expect(await pickaxe(['config', 'check'])).toMatchObject({
      code: 0,
      stdout: 'no configuration file, only defaults: OK',
    });
    folder.write('pickaxe.toml', project);
    folder.write('pickaxe/config.toml', '');
    const { code, stdout } = await pickaxe(['config', 'check']);
    const files = ['pickaxe.toml', 'pickaxe/config.toml'].map((file) => join(folder.path, file));
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${files.join(', ')}: OK` });
    expect(await pickaxe(['config', 'check'], { PICKAXE_THREADS: '0' })).toMatchObject({ code: 2 });
  });

  it('reports settings of a file that contradict each other', async () => {
    folder.write('hot.toml', '[devices]\ntemp-limit = 70\ntemp-resume = 75');
    const { code, stderr } = await pickaxe(['config', 'check', 'hot.toml']);
    expect(code).toBe(2);
    expect(stderr).toContain('must be below --temp-limit (70)');
  });

  it('reports all contradictions at once', async () => {
    folder.write('pickaxe.toml', 'devices.temp-resume = 95');
    const { code, stderr } = await pickaxe(['demo', '--http-control']);
    expect(code).toBe(2);
    expect(stderr).toContain('must be below --temp-limit (90)');
    expect(stderr).toContain('need --http');
  });

  it('says what is wrong with a place where a file should be', async () => {
    symlinkSync('nowhere', join(folder.path, 'pickaxe.toml'));
    const { code, stderr } = await pickaxe(['config', 'check']);
    expect(code).toBe(2);
    expect(stderr).toBe('error: pickaxe.toml: it is a link to a file that does not exist.\n');
  });

  it('prints the schema', async () => {
    const { code, stdout } = await pickaxe(['config', 'schema']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'pickaxe configuration', additionalProperties: false });
  });

  it('leaves the file unchanged', async () => {
    const text = `${project}# mine`;
    const file = folder.write('pickaxe.toml', text);
    await pickaxe(['mine', '--print-config']);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
