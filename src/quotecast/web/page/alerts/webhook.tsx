import { useState } from "preact/hooks";

import { ApiError, type Trial, type WebhookShown } from "quotecast-client";
import { Form } from "../form.tsx";
import { moment } from "../formats.ts";
import { AnswerView, useVisible } from "../pane.tsx";
import { explain, rest, useAnswer } from "../service.ts";
import { say } from "../words.ts";

const NONE = 404;

/** The webhook with its last delivery; null without one. */
async function askForWebhook(): Promise<{ hook: WebhookShown | null }> {
  try {
    return { hook: await rest.call("GET /api/alerts/webhook") };
  } catch (error) {
    if (error instanceof ApiError && error.status === NONE) return { hook: null };
    throw error;
  }
}

/** The address to which the service posts events, with its secret and a test. */
export function WebhookSettings() {
  const answer = useAnswer(askForWebhook, "webhook", { active: useVisible() });
  const [secret, setSecret] = useState("");
  const [trial, setTrial] = useState<Trial | null>(null);
  const [error, setError] = useState<unknown>(null);
  const act = async (work: () => Promise<unknown>) => {
    setError(null);
    setTrial(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    }
    answer.again();
  };
  const save = async (given: FormData) => {
    setTrial(null);
    const { secret } = await rest.call("PUT /api/alerts/webhook", { body: { url: String(given.get("url")) } });
    setSecret(secret);
    answer.again();
  };
  const remove = () => act(() => rest.call("DELETE /api/alerts/webhook").then(() => setSecret("")));
  const test = () => act(async () => setTrial(await rest.call("POST /api/alerts/webhook/test")));
  return (
    <section aria-label={say("webhookTitle")}>
      <h3>{say("webhookTitle")}</h3>
      <p>{say("webhookAbout")}</p>
      <AnswerView answer={answer}>
        {({ hook }) => (
          <>
            <Form key={hook?.url} send={save} button={say("webhookSave")}>
              <label>
                {say("webhookUrl")}
                <input
                  name="url"
                  type="url"
                  required
                  maxLength={2048}
                  placeholder="https://"
                  defaultValue={hook?.url ?? ""}
                />
              </label>
            </Form>
            {secret && <Secret text={secret} />}
            {hook && <Deliveries hook={hook} />}
            {hook && (
              <div class="row">
                <button type="button" onClick={() => void test()}>
                  {say("webhookTest")}
                </button>
                <button type="button" onClick={() => void remove()}>
                  {say("webhookRemove")}
                </button>
              </div>
            )}
          </>
        )}
      </AnswerView>
      <p role="status">{trial && outcomeOf(trial)}</p>
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
    </section>
  );
}

const outcomeOf = ({ delivered, status, error }: Trial): string =>
  delivered ? say("webhookDelivered", { status: status ?? "" }) : say("webhookFailed", { error: error ?? "" });

function Secret({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <p class="secret">
      <label>
        {say("webhookSecret")}
        <input readOnly value={text} onFocus={(event) => event.currentTarget.select()} />
      </label>
      {navigator.clipboard && (
        <button type="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
          {say(isCopied ? "webhookCopied" : "webhookCopy")}
        </button>
      )}
    </p>
  );
}

function Deliveries({ hook }: { readonly hook: WebhookShown }) {
  return (
    <ul>
      <li>{say("webhookQueue", { waiting: hook.waiting, failed: hook.failed })}</li>
      {hook.last_sent_at && <li>{say("webhookLastSent", { time: moment(hook.last_sent_at) })}</li>}
      {hook.last_error && hook.last_error_at && (
        <li>{say("webhookLastError", { error: hook.last_error, time: moment(hook.last_error_at) })}</li>
      )}
    </ul>
  );
}
