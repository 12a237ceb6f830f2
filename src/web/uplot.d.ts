/** The chart library is served beside the page's own modules (`report/http/route.ts`); these are its types. */
export { default } from 'uplot';
