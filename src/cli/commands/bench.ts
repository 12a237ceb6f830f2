/** `pickaxe bench`: the hashrate of each device, one after the other, offline. */

import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { prepareJob } from '../../chain/job.ts';
import { WORK_BYTES } from '../../chain/layout.ts';
import { LANES, PAGES } from '../../chain/nonce.ts';
import { parseWork } from '../../chain/work.ts';
import type { Loaded } from '../../config/load.ts';
import { DeviceError, type Engine } from '../../engine/engine.ts';
import { Space } from '../../mine/space.ts';
import { formatHashrate } from '../../report/units.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { makeLog, progressTo } from '../log.ts';
import { thisMachine } from '../machine.ts';
import { chooseEngines } from '../rig.ts';
import { runTune } from './tune.ts';

/** Left out of the figure: kernels warm up and batches find their size. */
const WARM_UP_MS = 1_000;

export interface BenchOptions {
  readonly seconds: number;
  readonly json: boolean;
  /** Measure the kernels of each device instead, and remember the fastest. */
  readonly tune: boolean;
}

interface Result {
  readonly name: string;
  readonly kind: 'cpu' | 'gpu';
  readonly model: string;
  readonly kernel: string;
  readonly threads?: number;
  /** H/s */
  readonly hashrate: number;
}

export async function runBench({ config, origins }: Loaded, options: BenchOptions): Promise<number> {
  const log = makeLog(config.log.level, config.log.format);
  if (options.tune) {
    // One that a file names is what mines; tuning tells whether another is faster.
    if (origins.get('cpu.kernel')?.layer === 'flag') {
      throw new UsageError('--tune measures every CPU kernel: leave out --kernel.');
    }
    return runTune(config, log, options.json);
  }
  const devices: Result[] = [];
  let code: number = EXIT.noDevice;
  for (const engine of await chooseEngines(config, log)) {
    try {
      devices.push(await measure(engine, options.seconds, log));
      if (code === EXIT.noDevice) code = EXIT.done;
    } catch (fault) {
      if (!(fault instanceof DeviceError)) throw fault;
      if (fault.fault === 'wrong hashes') code = EXIT.wrongHashes;
      log.error({ tag: engine.name }, fault.message);
    } finally {
      await engine.close();
    }
  }
  const machine = thisMachine();
  if (options.json) process.stdout.write(`${JSON.stringify({ machine, devices })}\n`);
  else process.stdout.write(table(machine.cpu, devices));
  return code;
}

/** Hashes for a target that nothing meets. */
async function measure(engine: Engine, seconds: number, log: Logger): Promise<Result> {
  const { model, kernel, threads } = await engine.open(progressTo(log, engine.name));
  const job = prepareJob(parseWork(new Uint8Array(WORK_BYTES), { id: 'bench' }), 1);
  const stop = new AbortController();
  let hashes = 0;
  let startMs = 0;
  let endMs = 0;
  setTimeout(() => {
    startMs = performance.now();
    setTimeout(() => {
      endMs = performance.now();
      stop.abort();
    }, seconds * 1000);
  }, WARM_UP_MS);
  for await (const report of engine.search(job, new Space(randomInt(LANES), randomInt(PAGES)), stop.signal)) {
    if (startMs > 0 && endMs === 0) hashes += report.hashes;
  }
  if (endMs === 0) throw new DeviceError('lost', 'the search ended by itself');
  const hashrate = (1000 * hashes) / (endMs - startMs);
  return { name: engine.name, kind: engine.kind, model, kernel, ...(threads !== undefined && { threads }), hashrate };
}

function table(cpu: string, devices: readonly Result[]): string {
  const rows = devices.map(({ name, model, kernel, threads, hashrate }) => {
    const how = threads === undefined ? kernel : `${kernel}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
    return `${name.padEnd(6)} ${formatHashrate(hashrate).padStart(12)}   ${how.padEnd(22)} ${model}\n`;
  });
  return rows.length > 0 ? rows.join('') : `no usable device on ${cpu}\n`;
}
