import { it } from 'vitest';
import { fuzzParents } from './fuzz.ts';

it('random parents do no harm', () => fuzzParents(60));
