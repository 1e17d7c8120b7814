/** Panes that few first screens have: alone each would be too small for a file of its own. */
export { Company } from "./company.tsx";
export { Earnings } from "./earnings.tsx";
export { Screener } from "./screener.tsx";
