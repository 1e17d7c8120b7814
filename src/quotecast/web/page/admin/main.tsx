import { signal } from "@preact/signals";
import { render } from "preact";

import { Boundary } from "../boundary.tsx";
import { followTheme } from "../theme.ts";
import { language } from "../words.ts";
import { call, renewOnUse, token } from "./client.ts";
import { Keys } from "./keys.tsx";
import { Log } from "./log.tsx";
import { Overview } from "./overview.tsx";
import { SignIn } from "./sign-in.tsx";
import { Usage } from "./usage.tsx";
import { Users } from "./users.tsx";
import { say } from "./words.ts";

const PARTS = { overview: Overview, users: Users, keys: Keys, usage: Usage, log: Log } as const;
type Part = keyof typeof PARTS;

const isPart = (text: string): text is Part => Object.hasOwn(PARTS, text);
const partOf = (hash: string): Part => (isPart(hash.slice(1)) ? (hash.slice(1) as Part) : "overview");

/** The part in the address. */
const part = signal<Part>(partOf(location.hash));

function signOut(): void {
  // Without an answer the token is forgotten all the same, and ends when it is idle.
  call("POST", "/logout").catch(() => undefined);
  token.value = "";
}

function App() {
  return (
    <Boundary>
      <header>
        <h1>quotecast</h1>
        {token.value && <Parts />}
        <span class="grow" />
        <button
          type="button"
          onClick={() => {
            language.value = language.value === "tr" ? "en" : "tr";
          }}
        >
          {language.value === "tr" ? "English" : "Türkçe"}
        </button>
        {token.value && (
          <button type="button" onClick={signOut}>
            {say("signOut")}
          </button>
        )}
      </header>
      <main>{token.value ? <Shown /> : <SignIn />}</main>
    </Boundary>
  );
}

function Parts() {
  return (
    <nav aria-label={say("operators")}>
      {Object.keys(PARTS)
        .filter(isPart)
        .map((each) => (
          <a key={each} href={`#${each}`} aria-current={part.value === each ? "page" : undefined}>
            {say(each)}
          </a>
        ))}
    </nav>
  );
}

function Shown() {
  const Chosen = PARTS[part.value];
  return <Chosen key={part.value} />;
}

followTheme();
renewOnUse();
addEventListener("hashchange", () => {
  part.value = partOf(location.hash);
});
language.subscribe((value) => {
  document.documentElement.lang = value;
});
render(<App />, document.getElementById("operators") as HTMLElement);
