import { logOut } from "./account.ts";
import { openAccount } from "./account-state.ts";
import { addPane, resetLayout } from "./arrangement.ts";
import { KINDS, type Kind } from "./layout.ts";
import { RewindButton } from "./rewind-dialog.tsx";
import { Search } from "./search.tsx";
import { session } from "./session.ts";
import { openSignIn } from "./sign-in.tsx";
import { Tabs } from "./tabs.tsx";
import { type Theme, theme } from "./theme.ts";
import { type Language, language, say, type Word } from "./words.ts";

const THEMES: Record<Theme, Word> = { auto: "themeAuto", dark: "themeDark", light: "themeLight" };

export function Header() {
  return (
    <header class="top">
      <a class="skip" href="#workspace">
        {say("skipToWorkspace")}
      </a>
      <h1>
        <img src="/favicon.svg" alt="" width="20" height="20" /> quotecast
      </h1>
      <Search />
      <Tabs />
      <RewindButton />
      <AddPane />
      <Settings />
      <Account />
      <a class="docs" href="/api/docs" title="API">
        API
      </a>
      <span class="unseen">{say("terminal")}</span>
    </header>
  );
}

function AddPane() {
  const add = (event: Event) => {
    const select = event.currentTarget as HTMLSelectElement;
    if (select.value === "default") resetLayout();
    else addPane(select.value as Kind);
    select.value = "";
  };
  return (
    <select class="button" aria-label={say("addPane")} value="" onChange={add}>
      <option value="" disabled>
        + {say("addPane")}
      </option>
      {KINDS.map((kind) => (
        <option key={kind} value={kind}>
          {say(kind)}
        </option>
      ))}
      <option value="default">{say("resetLayout")}</option>
    </select>
  );
}

function Settings() {
  return (
    <>
      <select
        class="button"
        aria-label={say("theme")}
        value={theme.value}
        onChange={(event) => {
          theme.value = event.currentTarget.value as Theme;
        }}
      >
        {Object.entries(THEMES).map(([each, word]) => (
          <option key={each} value={each}>
            {say(word)}
          </option>
        ))}
      </select>
      <select
        class="button"
        aria-label={say("language")}
        value={language.value}
        onChange={(event) => {
          language.value = event.currentTarget.value as Language;
        }}
      >
        <option value="en">EN</option>
        <option value="tr">TR</option>
      </select>
    </>
  );
}

function Account() {
  const entered = session.value;
  if (!entered)
    return (
      <button type="button" class="main" onClick={openSignIn}>
        {say("logIn")}
      </button>
    );
  return (
    <>
      <button
        type="button"
        class="who"
        title={entered.user.email}
        aria-label={say("accountSettings", { name: entered.user.name })}
        aria-haspopup="dialog"
        onClick={openAccount}
      >
        {entered.user.name}
      </button>
      <button type="button" onClick={logOut}>
        {say("logOut")}
      </button>
    </>
  );
}
