import type { KeySecret } from "quotecast-client";
import { Form } from "../form.tsx";
import { today } from "../formats.ts";
import { rest } from "../service.ts";
import { say } from "../words.ts";
import { newKeyOf } from "./state.ts";

const FEEDS = ["market", "crypto", "doviz"] as const;

/** Makes a key with a name and, if the user wants, an end and a scope. */
export function NewKeyForm({ onMake }: { readonly onMake: (key: KeySecret) => void }) {
  const send = async (given: FormData) => {
    onMake(await rest.call("POST /api/keys", { body: newKeyOf(given) }));
    return "";
  };
  return (
    <details>
      <summary>{say("keyMakeTitle")}</summary>
      <Form label={say("keyMakeTitle")} send={send} button={say("keyMake")}>
        <label>
          {say("keyName")}
          <input name="name" required maxLength={100} autocomplete="off" />
        </label>
        <label>
          {say("keyExpires")}
          <input name="expires" type="date" min={today()} />
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
      </Form>
    </details>
  );
}
