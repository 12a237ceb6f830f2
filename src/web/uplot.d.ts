/** Types of the chart library, which is served beside the page's modules (`report/http/route.ts`). */
export { default } from 'uplot';
