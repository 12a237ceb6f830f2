import { it } from 'vitest';
import { fuzzParents } from './fuzz.ts';

it('many random parents do no harm', { timeout: 600_000 }, () => fuzzParents(3_000));
