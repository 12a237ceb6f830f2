/**
 * The chart library uPlot. In browsers this module is the library itself, which rig/http/route.ts serves in its place:
 * a browser does not know where the package is.
 */
export { default } from 'uplot';
