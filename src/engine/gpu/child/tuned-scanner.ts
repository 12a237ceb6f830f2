/** The best scanner for a device: as remembered from an earlier start, else found by measuring. */

import { Cache, digest, type Key } from '../../../system/cache.ts';
import { DeviceError } from '../../engine.ts';
import { type Tuning, type TuningLimits, tuningShape, type VariantRow, whyTuning } from '../tuning.ts';
import { isTypical, nameOf, VARIANTS, type Variant } from '../variants.ts';
import { dawnVersion } from './device.ts';
import { Scanner, wgslOf } from './scanner.ts';
import { bestBatch, raceBatches, raceVariants } from './tune.ts';

/**
 * A shader slower than this part of the fastest one, both in their typical form, is measured in no other: workgroups and
 * trips make a tenth of a difference, and each form takes a driver part of a second to compile. Only good enough.
 */
const HOPELESS_SHADER = 0.8;

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
  /** How much is measured. */
  readonly limits: TuningLimits;
  readonly progress: Progress;
  /** Told which form runs next: should it take the process with it, the parent knows. */
  readonly trying: (variant: Variant) => void;
  /** Names of forms that did, at an earlier opening. */
  readonly skip: readonly string[];
  /** Everything that must be right before a scanner may mine. @throws DeviceError when it is not. */
  readonly check: (scanner: Scanner) => Promise<void>;
}

export interface Tuned {
  readonly scanner: Scanner;
  readonly tuning: Tuning;
  /** For people: why this one. */
  readonly why: string;
}

/** What a tuning holds for, besides the model: the driver and Dawn compile the shaders. */
export function tuningKey(driver: string): Key {
  const shaders = digest(VARIANTS.map(({ shader }) => wgslOf(shader)).join());
  return { driver, shaders, dawn: dawnVersion() };
}

/** @throws DeviceError when no form of the kernel computes right on this device. */
export async function tunedScanner(device: GPUDevice, wishes: TuningWishes): Promise<Tuned> {
  const { variant, again, model, driver, cacheDirectory, batchMs, check, trying, skip } = wishes;
  const cache = cacheDirectory === undefined ? undefined : new Cache(cacheDirectory);
  const subject = `gpu ${model}`;
  const key = tuningKey(driver);
  const recalled = again || variant ? undefined : cache?.recall(subject, key, tuningShape);
  if (recalled && !skip.includes(nameOf(recalled.variant))) {
    trying(recalled.variant);
    const { scanner } = await open(device, recalled.variant, check);
    // What ran before and does not now: measured anew, which says why where nothing runs.
    if (scanner) return { scanner, tuning: recalled, why: `${whyTuning(recalled, batchMs)}, as measured before` };
  }
  if (variant) return askedFor(device, variant, wishes);
  const { scanner, tuning } = await measure(device, wishes);
  // A form may have been blamed for what was the driver's bad moment: the next start tries it again.
  const forgotten = skip.length > 0 ? `${skip.join(', ')} cost the GPU` : remember(cache, subject, key, tuning);
  const why = whyTuning(tuning, batchMs);
  return { scanner, tuning, why: forgotten === undefined ? why : `${why}; measured at each start: ${forgotten}` };
}

/** Measures the one form that was asked for, and batches where their length was not. */
async function askedFor(device: GPUDevice, variant: Variant, wishes: TuningWishes): Promise<Tuned> {
  const { check, batchMs, limits, trying } = wishes;
  const { scanner, fault } = await open(device, variant, check);
  if (!scanner) throw fault;
  const [{ hashesPerSecond }] = await raceVariants([scanner], limits, trying);
  const variants = [{ variant, hashesPerSecond }];
  const batches = batchMs === undefined ? await raceBatches(scanner, hashesPerSecond, limits) : [];
  const tuning = {
    variant,
    variants,
    batches,
    ...(batchMs === undefined ? bestBatch(batches) : { batchMs, hashesPerSecond }),
  };
  return { scanner, tuning, why: `${nameOf(variant)} was asked for` };
}

/** @param thorough measures the forms of hopeless shaders, too */
async function measure(device: GPUDevice, wishes: TuningWishes) {
  const { progress, limits, trying, again: thorough } = wishes;
  const { forms } = limits;
  const what = `measuring ${forms.length} forms of the kernel: a few seconds, once for this GPU and driver`;
  progress(what, 0);
  const typical = await openAll(device, forms.filter(isTypical), wishes);
  if (typical.scanners.length === 0) throw typical.faults[0].fault;
  const heat = await raceVariants(typical.scanners, limits, trying);
  const hopeful = thorough ? heat : hopefulOf(heat);
  const shaders = hopeful.map(({ scanner }) => scanner.variant.shader);

  progress(what, 0.25);
  const rest = forms.filter((variant) => !isTypical(variant) && shaders.includes(variant.shader));
  const others = await openAll(device, rest, wishes);
  progress(what, 0.5);
  const ranked = await raceVariants([...hopeful.map(({ scanner }) => scanner), ...others.scanners], limits, trying);
  const [{ scanner, hashesPerSecond }] = ranked;
  const all = [...ranked, ...heat.filter((each) => !hopeful.includes(each))];
  for (const { scanner: other } of all.slice(1)) other.destroy();

  progress(`measuring how long a batch of ${nameOf(scanner.variant)} should take`, 0);
  const batches = await raceBatches(scanner, hashesPerSecond, limits);
  const variants: VariantRow[] = [
    ...all.map(({ scanner: { variant }, hashesPerSecond }) => ({ variant, hashesPerSecond })),
    ...[...typical.faults, ...others.faults].map(({ variant, fault }) => ({ variant, fault: fault.message })),
  ];
  const { batchMs, hashesPerSecond: inFlight } = bestBatch(batches);
  return { scanner, tuning: { variant: scanner.variant, batchMs, hashesPerSecond: inFlight, variants, batches } };
}

/** @param heat of the shaders in their typical form, fastest first */
export function hopefulOf<Rated extends { readonly hashesPerSecond: number }>(heat: readonly Rated[]): Rated[] {
  return heat.filter(({ hashesPerSecond }) => hashesPerSecond >= HOPELESS_SHADER * heat[0].hashesPerSecond);
}

async function openAll(device: GPUDevice, variants: readonly Variant[], { trying, check, skip }: TuningWishes) {
  const scanners: Scanner[] = [];
  const faults: { readonly variant: Variant; readonly fault: Error }[] = [];
  for (const variant of variants) {
    trying(variant);
    const { scanner, fault } = skip.includes(nameOf(variant)) ? SKIPPED : await open(device, variant, check);
    if (scanner) scanners.push(scanner);
    else faults.push({ variant, fault });
  }
  return { scanners, faults };
}

const SKIPPED: Opened = { fault: new DeviceError('lost', 'the GPU was lost when it was tried') };

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
function remember(cache: Cache | undefined, subject: string, key: Key, tuning: Tuning): string | undefined {
  if (!cache) return 'there is no cache directory';
  try {
    cache.remember(subject, key, tuning);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
