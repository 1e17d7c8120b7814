import { useState } from "preact/hooks";

import type { KeySecret } from "quotecast-client";
import { AnswerView } from "../pane.tsx";
import { rest, useAnswer } from "../service.ts";
import { session } from "../session.ts";
import { say } from "../words.ts";
import { NewKeyForm } from "./new-key-form.tsx";
import { KeyRow } from "./row.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** The API keys of the user: a list, and the forms that make, rotate and revoke them. */
export function ApiKeys() {
  const answer = useAnswer(() => rest.call("GET /api/keys"), session.value?.user.id ?? "");
  /** The key that was made last: the service shows a secret once. */
  const [made, setMade] = useState<KeySecret | null>(null);
  const show = (key: KeySecret) => {
    setMade(key);
    answer.again();
  };
  const forget = (id: string) => {
    setMade((before) => (before?.id === id ? null : before));
    answer.again();
  };
  return (
    <section class="api-keys" aria-label={say("apiKeys")}>
      <h3>{say("apiKeys")}</h3>
      <p class="quiet">{say("apiKeysAbout")}</p>
      {made && <SecretOnce key={made.secret_key} name={made.name} text={made.secret_key} />}
      <AnswerView answer={answer}>
        {(keys) =>
          keys.length ? (
            <ul>
              {keys.map((each) => (
                <KeyRow key={each.id} shown={each} onRotate={show} onRevoke={() => forget(each.id)} />
              ))}
            </ul>
          ) : (
            <p class="quiet">{say("apiKeysNone")}</p>
          )
        }
      </AnswerView>
      <NewKeyForm onMake={show} />
    </section>
  );
}
