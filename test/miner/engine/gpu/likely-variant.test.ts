/** Holds the variant with which GPUs begin to mine against what the makers' compilers make of all variants. */

import { describe, expect, it } from 'vitest';
import { likelyVariant } from '#pickaxe/miner/engine/gpu/likely-variant.js';
import { isTypical } from '#pickaxe/miner/engine/gpu/tuning.js';
import { recorded } from '../../../../native/compilers/instructions.mjs';

interface Row {
  readonly families: readonly string[];
  readonly compiler: string;
  readonly variant: string;
  readonly instructionsPerNonce: number;
}
const rows: readonly Row[] = recorded();

/** The maker of the chips that each compiler compiles for. */
const VENDORS: Readonly<Record<string, string>> = {
  RADV: 'amd',
  clang: 'amd',
  ptxas: 'nvidia',
  ANV: 'intel',
  ocloc: 'intel',
};
/** Dawn's architectures, for families whose maker does not decide alone. Dawn does not name Xe-HPC (pvc). */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  sm_61: 'pascal',
  cfl: 'gen-9',
  skl: 'gen-9',
  icl: 'gen-11',
  icllp: 'gen-11',
  tgl: 'gen-12lp',
  tgllp: 'gen-12lp',
  dg2: 'gen-12hp',
  'acm-g10': 'gen-12hp',
  mtl: 'xe-lpg',
  lnl: 'xe-2lpg',
  bmg: 'xe-2hpg',
};

const families = [...new Set(rows.flatMap((row) => row.families.map((family) => `${row.compiler} ${family}`)))];

describe('the likely variant', () => {
  it.each(families)('takes at most 5 %% more instructions than the best one: %s', (name) => {
    const ours = rows.filter(({ compiler, families: its }) => its.some((family) => name === `${compiler} ${family}`));
    const [maker, , family] = name.split(' ');
    const likely = likelyVariant({ vendor: VENDORS[maker], architecture: ARCHITECTURES[family] ?? '' });
    const counts = new Map(ours.map(({ variant, instructionsPerNonce }) => [variant, instructionsPerNonce]));
    const best = Math.min(...counts.values());
    expect(counts.get(likely!.shader)! / best).toBeLessThanOrEqual(1.05);
  });

  it('has the middle workgroup and loop', () => {
    expect(isTypical(likelyVariant({ vendor: 'AMD', architecture: 'rdna-3' })!)).toBe(true);
  });

  it.each(['apple', 'qualcomm', 'mesa', ''])('is not known of the maker %j', (vendor) => {
    expect(likelyVariant({ vendor, architecture: '' })).toBeUndefined();
  });
});
