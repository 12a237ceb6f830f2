/** All variants of the WGSL that a GPU may be given. */

import { VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { shaderProperties } from './shader-properties.ts';

for (const variant of VARIANTS) shaderProperties(variant);
