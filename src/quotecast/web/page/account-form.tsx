import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { explain } from "./service.ts";

interface FormProps {
  readonly label: string;
  /** Sends the form; returns what to say then. */
  readonly send: (given: Record<string, string>) => Promise<string>;
  readonly button: string;
  readonly children: ComponentChildren;
}

/** A form that says whether the service took it. */
export function Form({ label, send, button, children }: FormProps) {
  const [outcome, setOutcome] = useState("");
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = Object.fromEntries(new FormData(form)) as Record<string, string>;
    try {
      setOutcome(await send(given));
      setError(null);
      form.reset();
    } catch (refusal) {
      setOutcome("");
      setError(refusal);
    }
  };
  return (
    <form aria-label={label} onSubmit={submit}>
      {children}
      <div class="row">
        <span role="status">{outcome}</span>
        <button type="submit">{button}</button>
      </div>
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
    </form>
  );
}
