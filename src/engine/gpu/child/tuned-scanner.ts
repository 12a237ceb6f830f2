/** The best scanner for a device: as remembered from an earlier start, else found by measuring. */

import { Cache, digest } from '../../../cache.ts';
import { DeviceError } from '../../engine.ts';
import { type Tuning, tuningShape, type VariantRow, whyTuning } from '../tuning.ts';
import { nameOf, VARIANTS, type Variant } from '../variants.ts';
import { Scanner, wgslOf } from './scanner.ts';
import { bestBatch, raceBatches, raceVariants } from './tune.ts';

/**
 * Told what takes seconds, again and again while it goes on.
 * @param what one line for people
 * @param done part of it that is done, 0 to 1
 */
export type Progress = (what: string, done: number) => void;

export interface TuningWishes {
  /** What tunings are remembered by. */
  readonly model: string;
  readonly driver: string;
  /** Where they are remembered; left out, everything is measured at each start. */
  readonly cacheDirectory?: string | undefined;
  /** Measure whatever is remembered. */
  readonly again: boolean;
  /** Takes this form and measures no other; nothing is remembered. */
  readonly variant?: Variant | undefined;
  /** The length of a batch that will be used, if that is settled. */
  readonly batchMs?: number | undefined;
  readonly progress: Progress;
  /** Everything that must be right before a scanner may mine. @throws DeviceError when it is not. */
  readonly check: (scanner: Scanner) => Promise<void>;
}

export interface Tuned {
  readonly scanner: Scanner;
  readonly tuning: Tuning;
  /** For people: why this one. */
  readonly why: string;
}

/** @throws DeviceError when no form of the kernel computes right on this device. */
export async function tunedScanner(device: GPUDevice, wishes: TuningWishes): Promise<Tuned> {
  const { variant, again, model, driver, cacheDirectory, progress, check } = wishes;
  const cache = cacheDirectory === undefined ? undefined : new Cache(cacheDirectory);
  const subject = `gpu ${model}`;
  const key = { driver, shaders: digest(VARIANTS.map(({ shader }) => wgslOf(shader)).join()) };
  const recalled = again || variant ? undefined : cache?.recall(subject, key, tuningShape);
  if (recalled) {
    const { scanner } = await open(device, recalled.variant, check);
    // What ran before and does not now: measured anew, which says why where nothing runs.
    if (scanner) return { scanner, tuning: recalled, why: `${whyTuning(recalled)}, as measured before` };
  }
  if (variant) return askedFor(device, variant, wishes);
  const { scanner, tuning } = await measure(device, progress, check);
  return {
    scanner,
    tuning,
    why: [whyTuning(tuning), ...forgotten(() => cache?.remember(subject, key, tuning))].join('; '),
  };
}

/** Measures the one form that was asked for, and batches where their length was not. */
async function askedFor(device: GPUDevice, variant: Variant, { check, batchMs }: TuningWishes): Promise<Tuned> {
  const { scanner, fault } = await open(device, variant, check);
  if (!scanner) throw fault;
  const [{ hashesPerSecond }] = await raceVariants([scanner]);
  const variants = [{ variant, hashesPerSecond }];
  const batches = batchMs === undefined ? await raceBatches(scanner, hashesPerSecond) : [];
  const tuning = {
    variant,
    variants,
    batches,
    ...(batchMs === undefined ? bestBatch(batches) : { batchMs, hashesPerSecond }),
  };
  return { scanner, tuning, why: `${nameOf(variant)} was asked for` };
}

async function measure(device: GPUDevice, progress: Progress, check: TuningWishes['check']) {
  const racing = `measuring ${VARIANTS.length} forms of the kernel: a few seconds, once for this GPU and driver`;
  const opened = [];
  for (const [i, variant] of VARIANTS.entries()) {
    progress(racing, (0.5 * i) / VARIANTS.length);
    opened.push({ variant, ...(await open(device, variant, check)) });
  }
  const scanners = opened.flatMap(({ scanner }) => scanner ?? []);
  if (scanners.length === 0) throw opened[0].fault;
  const ranked = await raceVariants(scanners, (done) => progress(racing, 0.5 + 0.5 * done));
  const [{ scanner, hashesPerSecond }] = ranked;
  for (const { scanner: other } of ranked.slice(1)) other.destroy();
  progress(`measuring how long a batch of ${nameOf(scanner.variant)} should take`, 0);
  const batches = await raceBatches(scanner, hashesPerSecond);
  const variants: VariantRow[] = [
    ...ranked.map(({ scanner: { variant }, hashesPerSecond }) => ({ variant, hashesPerSecond })),
    ...opened.flatMap(({ variant, fault }) => (fault ? [{ variant, fault: fault.message }] : [])),
  ];
  const { batchMs, hashesPerSecond: inFlight } = bestBatch(batches);
  return { scanner, tuning: { variant: scanner.variant, batchMs, hashesPerSecond: inFlight, variants, batches } };
}

type Opened =
  | { readonly scanner: Scanner; readonly fault?: never }
  | { readonly scanner?: never; readonly fault: Error };

/** A form that does not compile, or that computes wrong hashes, costs only itself. */
async function open(device: GPUDevice, variant: Variant, check: TuningWishes['check']): Promise<Opened> {
  let scanner: Scanner | undefined;
  try {
    scanner = await Scanner.compile(device, variant);
    await check(scanner);
    return { scanner };
  } catch (fault) {
    scanner?.destroy();
    if (fault instanceof DeviceError) return { fault };
    return {
      fault: new DeviceError('lost', `the driver cannot run it: ${(fault as Error).message}`, { cause: fault }),
    };
  }
}

/** @returns why it could not be remembered */
function forgotten(remember: () => void): string[] {
  try {
    remember();
    return [];
  } catch (error) {
    return [`measured at each start: ${(error as Error).message}`];
  }
}
