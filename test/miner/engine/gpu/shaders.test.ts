/** One variant of the WGSL; `shaders.long.test.ts` runs them all. */

import { settled } from './adapter.ts';
import { shaderProperties } from './shader-properties.ts';

shaderProperties(settled.variant);
