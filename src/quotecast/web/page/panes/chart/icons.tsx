const PATHS = {
  indicators: "M2 12 6 6l3 4 5-7M2 15h12",
  compare: "M2 5h11l-3-3M14 11H3l3 3",
  scale: "M4 2v12M4 2 2 4m2-2 2 2M4 14l-2-2m2 2 2-2M9 4h5M9 8h4M9 12h3",
  draw: "M4 12l8-8M1.5 13a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M11.5 3a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0",
  picture: "M8 2v8m0 0L5 7m3 3 3-3M2 13.5h12",
  full: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
} as const;

/** A symbol of the toolbar, in the colour of the text. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
    </svg>
  );
}
