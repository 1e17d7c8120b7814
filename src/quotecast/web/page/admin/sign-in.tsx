import { useState } from "preact/hooks";

import { call, ended, explain, token } from "./client.ts";
import { say } from "./words.ts";

/** The form of operators: email, password and, where the operator has codes, one of them. */
export function SignIn() {
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const body = Object.fromEntries(new FormData(form));
    try {
      const session = await call<{ token: string }>("POST", "/login", body);
      ended.value = "";
      token.value = session.token;
    } catch (refusal) {
      setError(refusal);
      // A code works once.
      (form.elements.namedItem("code") as HTMLInputElement).value = "";
    }
  };
  return (
    <form class="sign-in" aria-label={say("signIn")} onSubmit={(event) => void submit(event)}>
      {ended.value && <p role="status">{ended.value}</p>}
      <label>
        {say("email")}
        <input name="email" type="email" required autocomplete="username" />
      </label>
      <label>
        {say("password")}
        <input name="password" type="password" required autocomplete="current-password" />
      </label>
      <label>
        {say("code")}
        <input name="code" inputMode="numeric" autocomplete="one-time-code" maxLength={7} pattern="[0-9 ]*" />
      </label>
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
      <div class="row">
        <button type="submit" class="main">
          {say("signIn")}
        </button>
      </div>
    </form>
  );
}
