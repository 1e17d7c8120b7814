import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { forgetSession, logIn } from "./account.ts";
import { accountIsOpen } from "./account-state.ts";
import { Form } from "./form.tsx";
import { lazy } from "./lazy.tsx";
import { useModal } from "./modal.ts";
import { Choice } from "./pane.tsx";
import { logInAgain, rest } from "./service.ts";
import { isOver, session } from "./session.ts";
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
      {isOver.value && <SessionOver />}
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
  const send = async (given: FormData) => {
    const body = Object.fromEntries(given) as Record<"name" | "email" | "password", string>;
    const entered = await (way === "logIn"
      ? rest.call("POST /api/auth/login", { body })
      : rest.call("POST /api/auth/register", { body }));
    logIn(entered, way === "register");
    closeSignIn();
  };
  return (
    <Form send={send} button={say(way)} onClose={closeSignIn}>
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
      <Password autocomplete={way === "logIn" ? "current-password" : "new-password"} />
    </Form>
  );
}

function Password({ autocomplete }: { readonly autocomplete: "current-password" | "new-password" }) {
  return (
    <label>
      {say("password")}
      <input name="password" type="password" required minLength={8} autocomplete={autocomplete} />
    </label>
  );
}

/** Asks for the password of a session that has ended: what the reader has typed stays, and what it sent is sent again. */
function SessionOver() {
  const dialog = useRef<HTMLDialogElement>(null);
  const user = session.value?.user;
  // It is above every other dialog, and Escape does not answer it.
  const show = () => dialog.current?.showModal();
  useLayoutEffect(() => {
    show();
    // The user may have ended the session of a lost device: their own data is hidden meanwhile.
    document.documentElement.toggleAttribute("data-session-over", true);
    return () => {
      document.documentElement.toggleAttribute("data-session-over", false);
    };
  }, []);
  const send = async (given: FormData) => {
    session.value = await logInAgain(user?.email ?? "", String(given.get("password")));
  };
  return (
    <dialog
      class="session-over"
      ref={dialog}
      aria-label={say("sessionEnded")}
      onCancel={(event) => event.preventDefault()}
      onClose={show}
    >
      <h2>{say("sessionEnded")}</h2>
      <p>{say("sessionEndedText", { email: user?.email ?? "" })}</p>
      <Form send={send} button={say("logIn")}>
        <Password autocomplete="current-password" />
        <button type="button" onClick={forgetSession}>
          {say("logOut")}
        </button>
      </Form>
    </dialog>
  );
}
