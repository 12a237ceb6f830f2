/** Types of the chart library uPlot. rig/http/route.ts serves the library in the page's folder, as `uplot.js`. */
export { default } from 'uplot';
