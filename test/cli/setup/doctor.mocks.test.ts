/** `pickaxe doctor` with pretended kernels, nodes, pools and fleets: what it asks, what it counts, and how it ends. */

import { beforeEach, expect, it, vi } from 'vitest';
import * as sources from '#pickaxe/app/doctor/examine-sources.js';
import type { Finding } from '#pickaxe/base/finding.js';
import { plural } from '#pickaxe/base/text/quantities.js';
import type { DoctorReport } from '#pickaxe/cli/setup/doctor.js';
import { surveyKernels } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { folder, inNewFolders } from '../in-folder.ts';
import { pickaxeIn } from '../in-process.ts';
import type { Given } from '../pretended-io.ts';

vi.mock('#pickaxe/miner/engine/cpu/kernels/choose.js', async (load) => ({
  ...(await load<object>()),
  surveyKernels: vi.fn(),
}));
vi.mock('#pickaxe/app/doctor/examine-sources.js', async (load) => ({
  ...(await load<object>()),
  examineNodes: vi.fn(),
  examineAccount: vi.fn(),
  examinePools: vi.fn(),
  examineFleet: vi.fn(),
}));

inNewFolders();

const found = (about: string, state: Finding['state'] = 'ok'): Finding => ({ about, state, what: 'pretended' });

beforeEach(() => {
  vi.mocked(surveyKernels).mockResolvedValue([
    { threads: 1, speeds: { wasm: 5e6 }, unusable: new Map(), fastest: 'wasm' },
  ]);
  vi.mocked(sources.examineNodes).mockResolvedValue({ findings: [found('nodes')], works: [] });
  vi.mocked(sources.examineAccount).mockResolvedValue([found('account')]);
  vi.mocked(sources.examinePools).mockResolvedValue({ findings: [found('pools')], works: [] });
  vi.mocked(sources.examineFleet)
    .mockReset()
    .mockImplementation(async (_, isCoordinator) => [found(isCoordinator ? 'fleet of a coordinator' : 'fleet')]);
});

const doctor = (line: string, given: Given = {}) =>
  pickaxeIn(folder.path, ['doctor', ...line.split(' ')], { XDG_CONFIG_HOME: folder.path }, given);

const POOL = '--pool stratum+tcp://127.0.0.1:1 --user me.rig';
const NODE = '--node http://127.0.0.1:1 --network development';
const NATS = '--nats nats://127.0.0.1:1';

it.each([
  ['a pool', POOL, 'pools'],
  ['a node', NODE, 'nodes, account'],
  ['a rig of a fleet', NATS, 'fleet'],
  ['a coordinator on a node', `${NODE} ${NATS}`, 'nodes, account, fleet of a coordinator'],
  ['a coordinator on a pool', `${POOL} ${NATS}`, 'pools, fleet of a coordinator'],
])('asks what is configured: %s', async (_, line, about) => {
  const { findings }: DoctorReport = JSON.parse((await doctor(`${line} --json`)).stdout);
  const asked = findings.filter(({ what }) => what === 'pretended');
  expect(asked.map((finding) => finding.about).join(', ')).toBe(about);
});

it.each([
  [[], 0, 0],
  [['warning'], 0, 1],
  [['fault'], 1, 0],
  [['fault', 'warning', 'fault'], 2, 1],
] as const)('counts faults and warnings: %j', async (states, faults, warnings) => {
  const findings = states.map((state) => found('pools', state));
  const { stdout: bare } = await doctor(`${POOL} --json`);
  vi.mocked(sources.examinePools).mockResolvedValue({ findings, works: [] });
  const { stdout, ...told } = await doctor(`${POOL} --json`);
  const [before, report] = [bare, stdout].map((text): DoctorReport => JSON.parse(text));
  expect([report.faults - before.faults, report.warnings - before.warnings]).toEqual([faults, warnings]);
  const verdict =
    report.faults > 0 ? 'pickaxe cannot mine until the faults are fixed.' : 'Nothing keeps this machine from mining.';
  const counts = `${plural(report.faults, 'fault')}, ${plural(report.warnings, 'warning')}`;
  const shown = await doctor(POOL);
  expect(shown.stdout.split('\n').slice(-2)).toEqual(['', `${counts}. ${verdict}`]);
  expect([shown.code, told.code]).toEqual(report.faults > 0 ? [1, 1] : [0, 0]);
});

it.each([
  [new DeviceError('missing', 'no adapter found'), 'ok', 'none'],
  [new DeviceError('lost', 'the driver crashed'), 'warning', 'listing fails: the driver crashed'],
] as const)('says why no GPU is listed: %s', async (gpus, state, what) => {
  const { findings }: DoctorReport = JSON.parse((await doctor(`${POOL} --json`, { gpus })).stdout);
  expect(findings.filter(({ about }) => about === 'GPU')).toMatchObject([{ state, what }]);
});

it.each(['gpus', 'surveys'] as const)('does not make a finding of a fault of the program: %s', async (where) => {
  const fault = new RangeError('a fault of the program');
  if (where === 'surveys') vi.mocked(surveyKernels).mockRejectedValue(fault);
  const { code, stdout, stderr } = await doctor(POOL, where === 'gpus' ? { gpus: fault } : {});
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^internal error, please report it: RangeError: a fault of the program\n/);
});

it.each([
  ['contradict each other', '', `${POOL} ${NODE}`, 'pools', /^Nodes \(--node, .* remove one of them\.$/, /^[^;]*$/],
  [
    'cannot be read',
    '[cpu]\nthreds = 2\n',
    POOL,
    'nodes, account',
    /^pickaxe\.toml:2:1: there is no setting cpu\.threds/,
    /; the default settings were checked instead$/,
  ],
])('examines what it can of settings that %s', async (_, file, line, about, what, why) => {
  folder.write('pickaxe.toml', file);
  const { code, stdout } = await doctor(`${line} --json`);
  const { findings }: DoctorReport = JSON.parse(stdout);
  const asked = findings.filter((finding) => finding.what === 'pretended');
  expect([code, asked.map((finding) => finding.about).join(', ')]).toEqual([1, about]);
  const [wrong] = findings.filter((finding) => finding.about === 'configuration');
  expect(wrong).toMatchObject({ what: expect.stringMatching(what), why: expect.stringMatching(why) });
});
