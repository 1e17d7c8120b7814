import type { ComponentChildren, Ref } from "preact";
import { useState } from "preact/hooks";

import { ApiError } from "quotecast-client";
import { explain } from "./service.ts";
import { say } from "./words.ts";

interface FormProps {
  readonly label?: string;
  readonly class?: string;
  readonly ref?: Ref<HTMLFormElement>;
  /** Sends what is given; returns what to say then; a form that says something is empty again. */
  readonly send: (given: FormData) => Promise<unknown>;
  readonly button: string;
  readonly disabled?: boolean;
  /** Adds a button that closes the form; Escape does the same. */
  readonly onClose?: () => void;
  readonly children?: ComponentChildren;
}

/**
 * A form whose content goes to the service: it is sent once at a time, says what came of it, and keeps what the service
 * refuses. A refused field is marked: fields have the names that the service knows.
 */
export function Form({ send, button, disabled = false, onClose, label, children, ...own }: FormProps) {
  const [outcome, setOutcome] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setOutcome("");
    try {
      const said = await send(new FormData(form));
      setError(null);
      markRefused(form, []);
      if (typeof said !== "string") return;
      setOutcome(said);
      form.reset();
    } catch (refusal) {
      setError(refusal);
      markRefused(form, refusal instanceof ApiError ? (refusal.problem.errors ?? []).map(({ field }) => field) : []);
    } finally {
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!onClose || event.key !== "Escape") return;
    event.stopPropagation();
    onClose();
  };
  return (
    <form {...own} aria-label={label} aria-busy={busy} onSubmit={submit} onKeyDown={onKeyDown}>
      {children}
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
      <div class="row">
        {onClose ? (
          <button type="button" onClick={onClose}>
            {say("close")}
          </button>
        ) : (
          <span role="status">{outcome}</span>
        )}
        <button class="main" type="submit" disabled={disabled || busy}>
          {button}
        </button>
      </div>
    </form>
  );
}

function markRefused(form: HTMLFormElement, names: readonly string[]): void {
  for (const field of form.querySelectorAll("input, select"))
    field.setAttribute("aria-invalid", String(names.includes(field.getAttribute("name") ?? "")));
  form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}
