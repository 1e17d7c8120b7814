import { signal } from "@preact/signals";

/** Whether the dialog of the account is open. */
export const accountIsOpen = signal(false);

export function openAccount(): void {
  accountIsOpen.value = true;
}
