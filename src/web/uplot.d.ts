/** The chart library is served beside the page's own modules (`report/http/page.ts`); these are its types. */
export { default } from 'uplot';
