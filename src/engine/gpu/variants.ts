/** The variants of the GPU kernel. Which one is the fastest depends on the driver and the chip: see child/tune.ts. */

import { z } from 'zod';

/** The shaders' files in shaders/, by the names that people see. */
export const SHADERS = {
  wgsl: 'scan.wgsl',
  'wgsl-uniform-rotates': 'scan-uniform-rotates.wgsl',
  'wgsl-multiplied-adds': 'scan-multiplied-adds.wgsl',
} as const;
export type ShaderName = keyof typeof SHADERS;

export const SHADER_NAMES = Object.keys(SHADERS) as ShaderName[];

export const variantShape = z.object({
  shader: z.enum(SHADER_NAMES),
  /** Invocations in a workgroup. */
  workgroupSize: z.int().min(64).max(256),
  /** Counters that one invocation tries, one after the other. */
  trips: z.int().min(8).max(32),
});
export type Variant = Readonly<z.infer<typeof variantShape>>;

/** 256 is the most that WebGPU promises; below 64 AMD's wide waves are not full. */
const WORKGROUP_SIZES = [64, 128, 256];
/** Below 8 the work before the loop shows; above 32 the last invocations leave the chip half empty. */
const TRIPS = [8, 16, 32];

export const VARIANTS: readonly Variant[] = SHADER_NAMES.flatMap((shader) =>
  WORKGROUP_SIZES.flatMap((workgroupSize) => TRIPS.map((trips) => ({ shader, workgroupSize, trips }))),
);

/** Whether this is the middle one of its shader's variants: shaders are compared by it. */
export const isTypical = ({ workgroupSize, trips }: Variant): boolean => workgroupSize === 128 && trips === 16;

/** Counters of one workgroup: dispatches consist of whole workgroups. */
export function workgroupCounters({ workgroupSize, trips }: Variant): number {
  return workgroupSize * trips;
}

/** `wgsl 128×16` */
export function nameOf({ shader, workgroupSize, trips }: Variant): string {
  return `${shader} ${workgroupSize}×${trips}`;
}
