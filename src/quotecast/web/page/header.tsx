import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { logOut } from "./account.ts";
import { openAccount } from "./account-state.ts";
import { addPane, resetLayout } from "./arrangement.ts";
import { DENSITIES, type Density, density } from "./density.ts";
import { openKeyList } from "./key-list.tsx";
import { KINDS } from "./layout.ts";
import { Menu } from "./menu.tsx";
import { Choice } from "./pane.tsx";
import { RewindButton } from "./rewind-dialog.tsx";
import { Search } from "./search.tsx";
import { session } from "./session.ts";
import { openSignIn } from "./sign-in.tsx";
import { Tabs } from "./tabs.tsx";
import { THEME_NAMES, THEMES, theme } from "./theme.ts";
import { HOUR_NAMES, HOURS, hours, ZONE_NAMES, ZONES, zone } from "./time-choice.ts";
import { LANGUAGE_NAMES, LANGUAGES, language, say, type Word } from "./words.ts";

const DENSITY_NAMES: Record<Density, Word> = { compact: "densityCompact", roomy: "densityRoomy" };

export function Header() {
  return (
    <header class="top">
      <a class="skip" href="#workspace">
        {say("skipToWorkspace")}
      </a>
      <div class="side">
        <h1>
          <img src="/favicon.svg" alt="" width="20" height="20" /> quotecast
        </h1>
        <Tabs />
      </div>
      <Search />
      <div class="side">
        <AddPane />
        <RewindButton />
        <Settings />
        <Account />
      </div>
      <span class="unseen">{say("terminal")}</span>
    </header>
  );
}

function AddPane() {
  const [isOpen, setOpen] = useState(false);
  const then = (action: () => void) => () => {
    setOpen(false);
    action();
  };
  return (
    <Menu class="add" label={say("addPane")} text="+" isOpen={isOpen} setOpen={setOpen}>
      {KINDS.map((kind) => (
        <button key={kind} type="button" onClick={then(() => addPane(kind))}>
          {say(kind)}
        </button>
      ))}
      <button type="button" onClick={then(resetLayout)}>
        ↺ {say("resetLayout")}
      </button>
    </Menu>
  );
}

function Settings() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Menu class="settings" label={say("settings")} text="⚙" isOpen={isOpen} setOpen={setOpen}>
      <Setting label="theme" of={theme} options={THEMES} text={(each) => say(THEME_NAMES[each])} />
      <Setting label="language" of={language} options={LANGUAGES} text={(each) => LANGUAGE_NAMES[each]} />
      <Setting label="density" of={density} options={DENSITIES} text={(each) => say(DENSITY_NAMES[each])} />
      <Setting label="hours" of={hours} options={HOURS} text={(each) => say(HOUR_NAMES[each])} />
      <Setting label="zone" of={zone} options={ZONES} text={(each) => say(ZONE_NAMES[each])} />
      <button
        type="button"
        onClick={() => {
          setOpen(false);
          openKeyList();
        }}
      >
        {say("keyList")} <kbd aria-hidden="true">?</kbd>
      </button>
      <a href="/api/docs">API</a>
    </Menu>
  );
}

interface SettingProps<T extends string> {
  readonly label: Word;
  readonly of: Signal<T>;
  readonly options: readonly T[];
  readonly text: (option: T) => string;
}

/** A choice that this browser remembers. */
function Setting<T extends string>({ label, of, options, text }: SettingProps<T>) {
  const choose = (each: T) => {
    of.value = each;
  };
  return <Choice label={say(label)} options={options} value={of.value} text={text} onChoose={choose} />;
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
