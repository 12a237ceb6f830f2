/** Numbers for all GPUs, or for single ones: `80`, `gpu0=75`. */

import { batchSeconds, celsius, celsiusOrNone } from './numbers.ts';
import { list, parsed, type SettingType } from './setting-type.ts';

/** A value for all GPUs, or several values of which some are for single GPUs. */
export type PerGpu<T> = T | readonly ForGpu<T>[];

export interface ForGpu<T> {
  /** `gpu0`; absent where the value is for all GPUs that no other value names. */
  readonly gpu?: string;
  readonly value: T;
}

type Value = number | 'none';

const WRITTEN = /^(?:(gpu\d{1,3})=)?(\d{1,20}(?:\.\d{1,20})?|none)$/;

/** @param otherwise the value for GPUs that the setting does not name, where it has none for all */
function perGpu<T extends Value>(one: SettingType<T>, otherwise?: T): SettingType<PerGpu<T>> {
  const says = `${one.says.replace(/\.$/, '')}; for one of several GPUs like gpu0=NUMBER.`;
  const items = list(forGpu(one, says));
  return {
    form: items.form,
    says,
    schema: (z) => items.schema(z).transform((given) => complete(given, otherwise)),
    print: (values) => (typeof values === 'object' ? items.print!(values) : values),
  };
}

function forGpu<T extends Value>(one: SettingType<T>, says: string): SettingType<ForGpu<T>> {
  return {
    form: 'text',
    says,
    schema: (z) => {
      const values = one.schema(z);
      const parse = (written: string) => {
        if (written.startsWith('cpu=')) throw new RangeError('it is for GPUs, and the CPU’s flags begin with --cpu-');
        const [, gpu, rest] = WRITTEN.exec(written) ?? [];
        const { data: value } = values.safeParse(rest === 'none' ? rest : Number(rest));
        return value === undefined ? undefined : { ...(gpu !== undefined && { gpu }), value };
      };
      const text = parsed<ForGpu<T>>({ says, pattern: WRITTEN, parse });
      return z.union([values.transform((value) => ({ value })), text.schema(z)]);
    },
    print: ({ gpu, value }) => (gpu === undefined ? value : `${gpu}=${value}`),
  };
}

function complete<T extends Value>(given: readonly ForGpu<T>[], otherwise: T | undefined): PerGpu<T> {
  const forAll = given.filter(({ gpu }) => gpu === undefined);
  if (given.length === 1 && forAll.length === 1) return forAll[0].value;
  return forAll.length > 0 || otherwise === undefined ? given : [...given, { value: otherwise }];
}

export function valuesForGpus<T extends Value>(values: PerGpu<T> | undefined): readonly ForGpu<T>[] {
  if (values === undefined) return [];
  return typeof values === 'object' ? values : [{ value: values }];
}

/** @returns a GPU's own value, or the one for all others; undefined where there is neither */
export function valueForGpu<T extends Value>(values: PerGpu<T> | undefined, name?: string): T | undefined {
  const all = valuesForGpus(values);
  return (all.find(({ gpu }) => gpu === name) ?? all.find(({ gpu }) => gpu === undefined))?.value;
}

/** °C at which GPUs are paused unless a setting says otherwise. */
export const USUAL_GPU_LIMIT = 90;

export const gpuLimit = perGpu(celsiusOrNone, USUAL_GPU_LIMIT);
export const gpuResume = perGpu(celsius);
export const gpuBatch = perGpu(batchSeconds);
