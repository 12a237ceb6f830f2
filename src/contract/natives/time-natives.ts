/** Natives that parse, format and calculate times, and natives that convert durations to seconds. */

import { type Evaluator, type Native, strict } from '../runtime/native.ts';
import { seconds } from '../values/arithmetic.ts';
import { Time } from '../values/time.ts';
import { formatTime } from '../values/time-format.ts';
import { checkLength, ISO_FORMAT, parseTime, timeOfText } from '../values/time-parsing.ts';
import { isNumber, spendOn } from './operators.ts';

/**
 * Number of steps counted for each character of a format. Formatting one `%` code takes some microseconds, and the time
 * of a step is half a microsecond.
 */
const FORMAT_STEPS = 4;
/**
 * Parsing a time may compare each character of the format with each character of the text. One step is counted for this
 * number of comparisons.
 */
const PAIRS_PER_STEP = 4;

function spendOnReading(format: string, text: string, evaluator: Evaluator): void {
  checkLength(format);
  checkLength(text);
  evaluator.spend(Math.ceil((format.length * text.length) / PAIRS_PER_STEP));
}

/**
 * @param secondsEach number of seconds of the unit
 * @returns a native that converts minutes, hours or days to seconds, always as a decimal
 */
function duration(name: string, secondsEach: bigint): Native {
  return strict(name, ['n:decimal -> decimal', 'n:integer -> decimal'], ([count, ...more], { evaluator }) => {
    if (count === undefined || !isNumber(count) || more.length > 0) return undefined;
    spendOn([count], evaluator);
    return seconds(count, secondsEach);
  });
}

export const TIME: readonly Native[] = [
  strict('time', 'utcval:string -> time', ([text, ...more], { evaluator }) => {
    if (typeof text !== 'string' || more.length > 0) return undefined;
    spendOnReading(ISO_FORMAT, text, evaluator);
    return timeOfText(text, evaluator.dialect);
  }),
  strict('parse-time', 'format:string utcval:string -> time', ([format, text, ...more], { evaluator }) => {
    if (typeof format !== 'string' || typeof text !== 'string' || more.length > 0) return undefined;
    spendOnReading(format, text, evaluator);
    return parseTime(format, text, evaluator.dialect);
  }),
  strict('format-time', 'format:string time:time -> string', ([format, time, ...more], { evaluator }) => {
    if (typeof format !== 'string' || !(time instanceof Time) || more.length > 0) return undefined;
    checkLength(format);
    evaluator.spend(FORMAT_STEPS * format.length);
    return formatTime(format, time);
  }),
  strict(
    'add-time',
    ['time:time seconds:decimal -> time', 'time:time seconds:integer -> time'],
    ([time, count, ...more], { evaluator }) => {
      if (!(time instanceof Time) || count === undefined || !isNumber(count) || more.length > 0) return undefined;
      spendOn([count], evaluator);
      return time.add(count);
    },
  ),
  strict('diff-time', 'time1:time time2:time -> decimal', ([later, earlier, ...more]) =>
    later instanceof Time && earlier instanceof Time && more.length === 0 ? later.subtract(earlier) : undefined,
  ),
  duration('minutes', 60n),
  duration('hours', 3600n),
  duration('days', 86_400n),
];
