import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { useModal } from "../modal.ts";
import { explain } from "./client.ts";
import { say } from "./words.ts";

interface Props {
  readonly button: string;
  /** Names the button for what it acts on. */
  readonly label: string;
  readonly text: string;
  readonly act: (given: FormData) => Promise<unknown>;
  readonly onDone: () => void;
  readonly children?: ComponentChildren;
}

/** A button whose action the operator confirms in a dialog. */
export function Confirmed({ button, label, text, act, onDone, children }: Props) {
  const isOpen = useSignal(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      await act(new FormData(event.currentTarget as HTMLFormElement));
      isOpen.value = false;
      setError(null);
      onDone();
    } catch (refusal) {
      setError(refusal);
    }
  };
  const open = () => {
    setError(null);
    isOpen.value = true;
  };
  return (
    <>
      <button type="button" class="small" aria-label={label} onClick={open}>
        {button}
      </button>
      <dialog {...useModal(isOpen)} aria-label={label}>
        {isOpen.value && (
          <form onSubmit={(event) => void submit(event)}>
            <p>{text}</p>
            {children}
            {error !== null && (
              <p class="notice" role="alert">
                {explain(error)}
              </p>
            )}
            <div class="row">
              <button
                type="button"
                onClick={() => {
                  isOpen.value = false;
                }}
              >
                {say("cancel")}
              </button>
              <button type="submit" class="main">
                {button}
              </button>
            </div>
          </form>
        )}
      </dialog>
    </>
  );
}
