import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { logIn } from "./account.ts";
import { accountIsOpen } from "./account-state.ts";
import { lazy } from "./lazy.tsx";
import { useModal } from "./modal.ts";
import { Choice } from "./pane.tsx";
import { explain, rest } from "./service.ts";
import { say } from "./words.ts";

/** Whether the sign-in dialog is open. */
const isOpen = signal(false);

export function openSignIn(): void {
  isOpen.value = true;
}

function closeSignIn(): void {
  isOpen.value = false;
}

const WAYS = ["logIn", "register"] as const;

const AccountDialog = lazy(async () => (await import("./account-dialog.tsx")).AccountDialog);

/** The dialogs of the account: of a reader who is logged in, and of one who is not. */
export function SignIn() {
  return (
    <>
      <SignInDialog />
      {accountIsOpen.value && <AccountDialog />}
    </>
  );
}

function SignInDialog() {
  return (
    <dialog {...useModal(isOpen)} aria-label={say("account")}>
      {isOpen.value && <SignInForm />}
    </dialog>
  );
}

/** Fields that are empty each time the dialog opens: the next reader at this browser sees no password. */
function SignInForm() {
  const [way, setWay] = useState<(typeof WAYS)[number]>("logIn");
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Record<
      "name" | "email" | "password",
      string
    >;
    try {
      const entered = await (way === "logIn"
        ? rest.call("POST /api/auth/login", { body: given })
        : rest.call("POST /api/auth/register", { body: given }));
      logIn(entered, way === "register");
      closeSignIn();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <form onSubmit={submit}>
      <Choice label={say("account")} options={WAYS} value={way} text={(each) => say(each)} onChoose={setWay} />
      {way === "register" && (
        <label>
          {say("nameOfYou")}
          <input name="name" required maxLength={100} autocomplete="name" />
        </label>
      )}
      <label>
        {say("email")}
        <input name="email" type="email" required autocomplete="email" />
      </label>
      <label>
        {say("password")}
        <input
          name="password"
          type="password"
          required
          minLength={8}
          autocomplete={way === "logIn" ? "current-password" : "new-password"}
        />
      </label>
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
      <div class="row">
        <button type="button" onClick={closeSignIn}>
          {say("close")}
        </button>
        <button class="main" type="submit">
          {say(way)}
        </button>
      </div>
    </form>
  );
}
