/** The variants of the GPU kernel. Which one is fastest depends on the driver and the chip: see child/tune.ts. */

import { z } from 'zod';

/** The files in shaders/, by the shaders' names for people. */
export const SHADERS = {
  wgsl: 'scan.wgsl',
  'wgsl-uniform-rotates': 'scan-uniform-rotates.wgsl',
  'wgsl-multiplied-adds': 'scan-multiplied-adds.wgsl',
} as const;
export type ShaderName = keyof typeof SHADERS;

export const SHADER_NAMES = Object.keys(SHADERS) as ShaderName[];

export const variantShape = z.object({
  shader: z.enum(SHADER_NAMES),
  /** How many invocations a workgroup has. */
  workgroupSize: z.int().min(64).max(256),
  /** How many counters an invocation tries, one after the other. */
  trips: z.int().min(8).max(32),
});
export type Variant = Readonly<z.infer<typeof variantShape>>;

/** WebGPU guarantees up to 256; with fewer than 64, AMD's waves of 64 lanes would not be full. */
const WORKGROUP_SIZES = [64, 128, 256];
/** With fewer than 8, the work before the loop costs too much; with more than 32, the chip is half empty at a dispatch's end. */
const TRIPS = [8, 16, 32];

export const VARIANTS: readonly Variant[] = SHADER_NAMES.flatMap((shader) =>
  WORKGROUP_SIZES.flatMap((workgroupSize) => TRIPS.map((trips) => ({ shader, workgroupSize, trips }))),
);

/** Whether this is its shader's middle variant, with which shaders are compared. */
export const isTypical = ({ workgroupSize, trips }: Variant): boolean => workgroupSize === 128 && trips === 16;

/** @returns how many counters a workgroup tries. A dispatch has whole workgroups */
export function workgroupCounters({ workgroupSize, trips }: Variant): number {
  return workgroupSize * trips;
}

/** @returns a name such as `wgsl 128×16` */
export function nameOf({ shader, workgroupSize, trips }: Variant): string {
  return `${shader} ${workgroupSize}×${trips}`;
}
