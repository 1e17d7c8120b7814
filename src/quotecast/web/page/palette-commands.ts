import { logOut } from "./account.ts";
import { addPane, resetLayout, showPane } from "./arrangement.ts";
import { type Command, registeredCommands } from "./commands.ts";
import { KINDS } from "./layout.ts";
import { openRewind } from "./rewind-dialog.tsx";
import { session } from "./session.ts";
import { openSignIn } from "./sign-in.tsx";
import { type Theme, theme } from "./theme.ts";
import { type Language, language, say, type Word } from "./words.ts";

const THEMES: Record<Theme, Word> = { auto: "themeAuto", dark: "themeDark", light: "themeLight" };
const LANGUAGES: Record<Language, string> = { en: "English", tr: "Türkçe" };

/** Returns every command, in the order of the empty palette. */
export const allCommands = (): Command[] => [
  ...KINDS.map((kind) => ({
    id: `goTo-${kind}`,
    title: () => say("goToPane", { pane: say(kind) }),
    run: () => showPane(kind),
  })),
  ...KINDS.map((kind) => ({
    id: `add-${kind}`,
    title: () => say("addPaneOf", { pane: say(kind) }),
    run: () => addPane(kind),
  })),
  { id: "resetLayout", title: () => say("resetLayout"), run: resetLayout },
  { id: "rewind", title: () => say("rewind"), run: openRewind },
  ...Object.entries(THEMES).map(([name, word]) => ({
    id: `theme-${name}`,
    title: () => say("themeOf", { theme: say(word) }),
    run: () => {
      theme.value = name as Theme;
    },
  })),
  ...Object.entries(LANGUAGES).map(([name, its]) => ({
    id: `language-${name}`,
    title: () => say("languageOf", { language: its }),
    run: () => {
      language.value = name as Language;
    },
  })),
  ...registeredCommands(),
  session.value
    ? { id: "logOut", title: () => say("logOut"), run: logOut }
    : { id: "logIn", title: () => say("logIn"), run: openSignIn },
  { id: "docs", title: () => say("openDocs"), run: () => location.assign("/api/docs") },
];
