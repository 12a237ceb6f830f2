/** Content negotiation: the types that a request sends and accepts, read as real nodes do. */

/** A body without a `content-type` counts as bytes (RFC 9110, section 8.3). */
const DEFAULT_TYPE = 'application/octet-stream';

/** Whether a body with this `content-type` is of a type; the parameters do not count. */
export function isOfType(contentType: string | undefined, type: string): boolean {
  return (contentType ?? DEFAULT_TYPE).split(';')[0].trim().toLowerCase() === type;
}

/**
 * Whether a client with this `accept` takes a type (RFC 9110, section 12.5.1): the most specific range that matches the
 * type decides.
 */
export function admits(accept = '*/*', type: string): boolean {
  const wildcards = ['*/*', type.replace(/\/.*/, '/*'), type];
  const ranges = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { precedence: wildcards.indexOf(name), admitted: Number(weight) > 0 };
  });
  const matching = ranges.filter(({ precedence }) => precedence >= 0).sort((a, b) => b.precedence - a.precedence);
  return matching[0]?.admitted ?? false;
}
