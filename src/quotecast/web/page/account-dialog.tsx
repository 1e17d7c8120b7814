import { useEffect, useRef } from "preact/hooks";

import type { SessionShown } from "quotecast-client";
import { forgetSession, logOutEverywhere } from "./account.ts";
import { accountIsOpen } from "./account-state.ts";
import { ApiKeys } from "./api-keys/section.tsx";
import { deviceOf } from "./devices.ts";
import { Form } from "./form.tsx";
import { moment } from "./formats.ts";
import { AnswerView } from "./pane.tsx";
import { rest, showError, useAnswer } from "./service.ts";
import { session } from "./session.ts";
import { say } from "./words.ts";

/** The account: its name, its password, its sessions, and its deletion. */
export function AccountDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const user = session.value?.user;
  const close = () => {
    accountIsOpen.value = false;
  };
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (!user) close();
  }, [user]);
  if (!user) return null;
  return (
    <dialog ref={dialog} class="account" aria-label={say("accountSettings", { name: user.name })} onClose={close}>
      <h2>{say("account")}</h2>
      <p class="quiet">{user.email}</p>
      <NameForm />
      <PasswordForm />
      <Sessions />
      <ApiKeys />
      <DeletionForm email={user.email} />
      <div class="row">
        <button type="button" onClick={close}>
          {say("close")}
        </button>
      </div>
    </dialog>
  );
}

function NameForm() {
  const user = session.value?.user;
  const send = async (given: FormData) => {
    const changed = await rest.call("PATCH /api/auth/profile", { body: { name: String(given.get("name")) } });
    if (session.value) session.value = { ...session.value, user: changed };
    return say("saved");
  };
  return (
    <Form label={say("yourName")} send={send} button={say("save")}>
      <label>
        {say("yourName")}
        <input key={user?.name} name="name" required maxLength={100} autocomplete="name" defaultValue={user?.name} />
      </label>
    </Form>
  );
}

function PasswordForm() {
  const send = async (given: FormData) => {
    const body = { current: String(given.get("current")), new: String(given.get("new")) };
    session.value = await rest.call("POST /api/auth/password", { body });
    return say("passwordChanged");
  };
  const password = { type: "password", required: true } as const;
  return (
    <Form label={say("changePassword")} send={send} button={say("changePassword")}>
      <label>
        {say("currentPassword")}
        <input {...password} name="current" autocomplete="current-password" />
      </label>
      <label>
        {say("newPassword")}
        <input {...password} name="new" minLength={8} maxLength={128} autocomplete="new-password" />
      </label>
    </Form>
  );
}

function Sessions() {
  const answer = useAnswer(() => rest.call("GET /api/auth/sessions"), session.value?.token ?? "");
  return (
    <section aria-label={say("sessions")}>
      <h3>{say("sessions")}</h3>
      <AnswerView answer={answer}>
        {(sessions) => (
          <ul class="sessions">
            {sessions.map((each) => (
              <Row key={each.id} {...each} onEnd={answer.again} />
            ))}
          </ul>
        )}
      </AnswerView>
      <button type="button" onClick={logOutEverywhere}>
        {say("logOutEverywhere")}
      </button>
    </section>
  );
}

function Row({ id, device, address, created_at, current, onEnd }: SessionShown & { readonly onEnd: () => void }) {
  const { browser, system } = deviceOf(device);
  const known = browser && system ? say("deviceOn", { browser, system }) : device;
  const name = known || say("unknownDevice");
  const end = () =>
    rest
      .call("DELETE /api/auth/sessions/{session_id}", { path: { session_id: id } })
      .catch(showError)
      .then(onEnd);
  return (
    <li>
      <span>
        <b title={device}>{name}</b>
        <small>
          {[
            say("sessionBegan", { time: moment(created_at) }),
            address && say("addressOfSession", { address }),
            current && say("currentSession"),
          ]
            .filter(Boolean)
            .join(" · ")}
        </small>
      </span>
      <button type="button" aria-label={say("endSession", { device: name })} onClick={end}>
        {say("endSessionShort")}
      </button>
    </li>
  );
}

/** Deletes the account, once its email has been typed and its password given. */
function DeletionForm({ email }: { readonly email: string }) {
  const send = async (given: FormData) => {
    await rest.call("DELETE /api/auth/profile", { body: { password: String(given.get("password")) } });
    forgetSession();
  };
  return (
    <details>
      <summary>{say("deleteAccount")}</summary>
      <p>{say("deleteAccountText")}</p>
      <Form label={say("deleteAccount")} send={send} button={say("deleteAccount")}>
        <label>
          {say("deleteAccountAsk", { email })}
          <input
            name="email"
            required
            autocomplete="off"
            onInput={(event) => {
              const field = event.currentTarget;
              const isSame = field.value.trim().toLowerCase() === email;
              field.setCustomValidity(isSame ? "" : say("deleteAccountAsk", { email }));
            }}
          />
        </label>
        <label>
          {say("currentPassword")}
          <input name="password" type="password" required autocomplete="current-password" />
        </label>
      </Form>
    </details>
  );
}
