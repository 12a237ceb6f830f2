import { it } from 'vitest';
import { cases } from '../../../cases.ts';
import { fuzzParents } from './fuzz.ts';

it('random parents do no harm', () => fuzzParents(cases(60)));
