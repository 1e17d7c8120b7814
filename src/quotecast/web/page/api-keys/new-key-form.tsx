import { useState } from "preact/hooks";

import type { KeySecret } from "quotecast-client";
import { explain, rest } from "../service.ts";
import { say } from "../words.ts";
import { newKeyOf } from "./state.ts";

const FEEDS = ["market", "crypto", "doviz"] as const;

/** Makes a key with a name and, if the user wants, an end and a scope. */
export function NewKeyForm({ onMake }: { readonly onMake: (key: KeySecret) => void }) {
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    try {
      onMake(await rest.call("POST /api/keys", { body: newKeyOf(new FormData(form)) }));
      setError(null);
      form.reset();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <details>
      <summary>{say("keyMakeTitle")}</summary>
      <form aria-label={say("keyMakeTitle")} onSubmit={submit}>
        <label>
          {say("keyName")}
          <input name="name" required maxLength={100} autocomplete="off" />
        </label>
        <label>
          {say("keyExpires")}
          <input name="expires" type="date" min={new Date().toISOString().slice(0, 10)} />
        </label>
        <fieldset>
          <legend>{say("keyAllFeeds")}</legend>
          {FEEDS.map((feed) => (
            <label key={feed}>
              <input type="checkbox" name="feeds" value={feed} />
              {say(feed)}
            </label>
          ))}
        </fieldset>
        <label>
          {say("keySymbols")}
          <input name="symbols" autocomplete="off" placeholder="AAPL, sector:Energy" />
        </label>
        <div class="row">
          <button type="submit">{say("keyMake")}</button>
        </div>
        {error !== null && (
          <p class="notice" role="alert">
            {explain(error)}
          </p>
        )}
      </form>
    </details>
  );
}
