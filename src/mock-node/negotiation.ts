/** What a request says of types, read as real nodes do. */

/** A body whose type is not told counts as bytes (RFC 9110, section 8.3). */
const UNTOLD = 'application/octet-stream';

/** Whether a body with this `content-type` is of a type; parameters are ignored. */
export function isOfType(contentType: string | undefined, type: string): boolean {
  return (contentType ?? UNTOLD).split(';')[0].trim().toLowerCase() === type;
}

/**
 * Whether a client with this `accept` takes a type (RFC 9110, section 12.5.1): of the ranges that fit, the most exact one
 * decides.
 */
export function admits(accept = '*/*', type: string): boolean {
  const wildcards = ['*/*', type.replace(/\/.*/, '/*'), type];
  const ranges = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { exactness: wildcards.indexOf(name), admitted: Number(weight) > 0 };
  });
  const fitting = ranges.filter(({ exactness }) => exactness >= 0).sort((a, b) => b.exactness - a.exactness);
  return fitting[0]?.admitted ?? false;
}
