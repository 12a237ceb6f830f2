/** Types of the chart library, which is served beside the page's modules (`rig/http/route.ts`). */
export { default } from 'uplot';
