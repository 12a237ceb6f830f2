/** Natives that read, show and compute times, and give durations in seconds. */

import { seconds } from '../arithmetic.ts';
import { type Native, strict } from '../native.ts';
import { Time } from '../time.ts';
import { formatTime } from '../time-format.ts';
import { checkLength, parseTime, timeOfText } from '../time-parsing.ts';
import { isNumber } from './operators.ts';

/** @returns a native that says how many seconds some minutes, hours or days have, always as a decimal */
function duration(name: string, secondsEach: bigint): Native {
  return strict(name, ['n:decimal -> decimal', 'n:integer -> decimal'], ([count, ...more]) =>
    count !== undefined && isNumber(count) && more.length === 0 ? seconds(count, secondsEach) : undefined,
  );
}

export const TIME: readonly Native[] = [
  strict('time', 'utcval:string -> time', ([text, ...more], { evaluation }) =>
    typeof text === 'string' && more.length === 0 ? timeOfText(text, evaluation.dialect) : undefined,
  ),
  strict('parse-time', 'format:string utcval:string -> time', ([format, text, ...more], { evaluation }) => {
    if (typeof format !== 'string' || typeof text !== 'string' || more.length > 0) return undefined;
    return parseTime(format, text, evaluation.dialect);
  }),
  strict('format-time', 'format:string time:time -> string', ([format, time, ...more]) => {
    if (typeof format !== 'string' || !(time instanceof Time) || more.length > 0) return undefined;
    checkLength(format);
    return formatTime(format, time);
  }),
  strict(
    'add-time',
    ['time:time seconds:decimal -> time', 'time:time seconds:integer -> time'],
    ([time, count, ...more]) =>
      time instanceof Time && count !== undefined && isNumber(count) && more.length === 0 ? time.add(count) : undefined,
  ),
  strict('diff-time', 'time1:time time2:time -> decimal', ([later, earlier, ...more]) =>
    later instanceof Time && earlier instanceof Time && more.length === 0 ? later.subtract(earlier) : undefined,
  ),
  duration('minutes', 60n),
  duration('hours', 3600n),
  duration('days', 86_400n),
];
