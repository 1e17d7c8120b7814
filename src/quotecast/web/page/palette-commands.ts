import { logOut } from "./account.ts";
import { addPane, resetLayout, showPane } from "./arrangement.ts";
import { type Command, registeredCommands } from "./commands.ts";
import { openKeyList } from "./key-list.tsx";
import { KINDS } from "./layout.ts";
import { isRecorded } from "./replay-state.ts";
import { openRewind } from "./rewind-dialog.tsx";
import { session } from "./session.ts";
import { openSignIn } from "./sign-in.tsx";
import { THEME_NAMES, THEMES, theme } from "./theme.ts";
import { LANGUAGE_NAMES, LANGUAGES, language, say } from "./words.ts";

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
  ...(isRecorded.value ? [{ id: "rewind", title: () => say("rewind"), run: openRewind }] : []),
  ...THEMES.map((name) => ({
    id: `theme-${name}`,
    title: () => say("themeOf", { theme: say(THEME_NAMES[name]) }),
    run: () => {
      theme.value = name;
    },
  })),
  ...LANGUAGES.map((name) => ({
    id: `language-${name}`,
    title: () => say("languageOf", { language: LANGUAGE_NAMES[name] }),
    run: () => {
      language.value = name;
    },
  })),
  { id: "keyList", title: () => say("keyList"), run: openKeyList },
  ...registeredCommands(),
  session.value
    ? { id: "logOut", title: () => say("logOut"), run: logOut }
    : { id: "logIn", title: () => say("logIn"), run: openSignIn },
  { id: "docs", title: () => say("openDocs"), run: () => location.assign("/api/docs") },
];
