/** The script of a GPU's child process. */

import { startChild } from './child.ts';

startChild();
