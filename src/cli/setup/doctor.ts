/** `pickaxe doctor`: reports problems that keep this machine from mining, or from mining well, and their remedies. */

import type { Command } from 'commander';
import { z } from 'zod';
import { kernelRows, threadChoice, usableKernel } from '../../app/composition/choose-engines.ts';
import { userConfigDirectory } from '../../app/config/config-files.ts';
import { lacksNetwork } from '../../app/config/contradictions.ts';
import type { Loaded } from '../../app/config/load.ts';
import { type Config, DEFAULTS } from '../../app/config/settings.ts';
import { examineGpus, type GpuFacts, readGpus } from '../../app/doctor/examine-gpus.ts';
import {
  type CpuFacts,
  examineCacheFolder,
  examineConfigFolder,
  examineCpu,
  examineDevices,
  examineSensors,
  examineSystem,
  miningDevices,
  readSystem,
} from '../../app/doctor/examine-machine.ts';
import {
  type ExaminedSources,
  examineAccount,
  examineFleet,
  examineNodes,
  examinePools,
  notStarting,
} from '../../app/doctor/examine-sources.ts';
import { examineEarnings } from '../../app/doctor/expected-earnings.ts';
import { earningsTerms } from '../../app/nodes/ledger-views.ts';
import { describeServedNetwork } from '../../app/nodes/node-clients.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { Finding, findingLines, isFault } from '../../base/finding.ts';
import { userCacheDirectory } from '../../base/system/files.ts';
import { Machine, thisMachine } from '../../base/system/machine.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import { plural } from '../../base/text/quantities.ts';
import { openCpuSensors } from '../../miner/engine/cpu/cpu-sensors.ts';
import { surveyKernels } from '../../miner/engine/cpu/kernels/choose.ts';
import { DeviceError } from '../../miner/engine/engine.ts';
import { gpusOf, type Io, type Line } from '../io.ts';
import { settingsOf, withSettings } from '../usage/options.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(
    command,
    'node',
    'ledger.dialect',
    'ledger.command-path',
    'pool',
    'nats',
    'rig.name',
    'miner',
    'devices.use',
    'cpu',
    'gpu.software',
    'power',
  )
    .option('--json', 'one JSON object on stdout', false)
    .action(action((options) => runDoctor((refused) => settingsOf(command, refused), options, io)));
}

interface DoctorOptions {
  readonly json: boolean;
}

type LoadSettings = (contradictions?: 'doctor') => Promise<Loaded>;

async function runDoctor(settings: LoadSettings, options: DoctorOptions, io: Io): Promise<number> {
  const { config, configuration } = await examineConfig(settings);
  const [cpu, sensors, listed, sources] = await Promise.all([
    readCpu(config),
    openCpuSensors({ threads: 1 }),
    list(config, io),
    examineWork(config),
  ]);
  const choice = [config.devices.use, cpu.kernels.some(({ chosen }) => chosen), listed.gpus] as const;
  const mining = miningDevices(...choice);
  const miners = { cpu: mining.includes('cpu') ? cpu : undefined, gpus: mining.filter((name) => name !== 'cpu') };
  const findings = [
    ...examineSystem(readSystem()),
    ...examineCpu(cpu),
    examineSensors(sensors),
    ...examineGpus(readGpus(listed)),
    examineDevices(...choice),
    configuration,
    examineCacheFolder(userCacheDirectory()),
    ...sources.findings,
    ...examineEarnings(sources.works, miners, earningsTerms(config), config.pool.urls !== undefined),
  ];
  const faults = findings.filter(isFault).length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  if (options.json) {
    const report: DoctorReport = { machine: thisMachine(), findings, faults, warnings };
    io.out(`${jsonText(report)}\n`);
  } else {
    const verdict =
      faults > 0 ? 'pickaxe cannot mine until the faults are fixed.' : 'Nothing keeps this machine from mining.';
    const lines = [
      ...findingLines(findings, io.columns),
      '',
      `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}. ${verdict}`,
    ];
    io.out(`${lines.join('\n')}\n`);
  }
  return faults > 0 ? EXIT.failed : EXIT.done;
}

/** Settings with NATS servers are for a coordinator if they also name nodes or pools. Otherwise they are for a rig. */
async function examineWork(config: Config): Promise<ExaminedSources> {
  const { pool, node, nats } = config;
  const isRig = nats.urls !== undefined && pool.urls === undefined && node.urls === undefined;
  const examine = pool.urls === undefined ? examineSolo : examinePools;
  const [{ findings, works }, fleet] = await Promise.all([
    isRig ? { findings: [], works: [] } : examine(config),
    nats.urls === undefined ? [] : examineFleet(config, !isRig),
  ]);
  return { findings: [...findings, ...fleet], works };
}

async function examineSolo(config: Config): Promise<ExaminedSources> {
  const [{ findings, works }, account] = await Promise.all([examineNodes(config), examineAccount(config)]);
  return { findings: [...findings, ...account], works };
}

async function examineConfig(settings: LoadSettings): Promise<{ config: Config; configuration: Finding }> {
  try {
    const { config, files } = await settings('doctor');
    const nameless = lacksNetwork(config.node) && config.pool.urls === undefined && config.node.urls !== undefined;
    const configuration = nameless
      ? notStarting('configuration', await describeServedNetwork(config))
      : examineConfigFolder(userConfigDirectory(process.env), files);
    return { config, configuration };
  } catch (fault) {
    const { message } = asUsageError(fault);
    // If the settings are valid and only contradict each other, they can be examined.
    const config = await settings().then(
      (loaded) => loaded.config,
      (thrown) => void asUsageError(thrown),
    );
    const more = config ? '' : '; the default settings were checked instead';
    return { config: config ?? DEFAULTS, configuration: notStarting('configuration', message, more) };
  }
}

/** @returns the error, if it is a UsageError @throws the error otherwise */
function asUsageError(fault: unknown): UsageError {
  if (fault instanceof UsageError) return fault;
  throw fault;
}

async function readCpu({ cpu }: Config): Promise<CpuFacts> {
  try {
    const threads = threadChoice(cpu);
    const asked = cpu.kernel === undefined ? undefined : usableKernel(cpu.kernel);
    const surveys = await surveyKernels({ groups: threads.groups, cacheDirectory: userCacheDirectory() });
    return { threads, kernels: kernelRows(surveys, asked) };
  } catch (fault) {
    if (!(fault instanceof UsageError)) throw fault;
    return { refused: fault.message, kernels: [] };
  }
}

async function list({ gpu }: Config, io: Io): Promise<Pick<GpuFacts, 'gpus' | 'none'>> {
  try {
    return { gpus: await gpusOf(io, { softwareGpu: gpu.software }) };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return { gpus: [], none: { message: error.message, fault: error.fault === 'missing' ? 'missing' : 'lost' } };
  }
}

export const DoctorReport = z
  .object({
    machine: Machine,
    findings: z.array(Finding),
    faults: z.int().describe('the number of such findings'),
    warnings: z.int().describe('the number of such findings'),
  })
  .describe('what is wrong with the machine and the configuration');
export type DoctorReport = Readonly<z.infer<typeof DoctorReport>>;
