export const english = {
  addPaneOf: "Add pane: {pane}",
  commands: "Commands",
  goToPane: "Go to pane: {pane}",
  languageOf: "Language: {language}",
  matches: "{count} matches",
  openDocs: "Open the API reference",
  paletteHint: "↑ ↓ choose · Enter opens · > shows commands only · Esc closes",
  recent: "Recent",
  searchOrCommand: "Symbol, name or command",
  symbols: "Symbols",
  themeOf: "Theme: {theme}",
} as const;

export const turkish: Record<keyof typeof english, string> = {
  addPaneOf: "Pano ekle: {pane}",
  commands: "Komutlar",
  goToPane: "Panoya git: {pane}",
  languageOf: "Dil: {language}",
  matches: "{count} sonuç",
  openDocs: "API başvurusunu aç",
  paletteHint: "↑ ↓ seçer · Enter açar · > yalnız komutları gösterir · Esc kapatır",
  recent: "Son seçilenler",
  searchOrCommand: "Sembol, ad veya komut",
  symbols: "Semboller",
  themeOf: "Tema: {theme}",
};
