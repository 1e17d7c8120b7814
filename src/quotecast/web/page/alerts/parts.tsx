import { lazy } from "../lazy.tsx";
import { session } from "../session.ts";
import { draft } from "./open.ts";

const AlertDialog = lazy(async () => (await import("./dialog.tsx")).AlertDialog);
const AlertNotices = lazy(async () => (await import("./notices.tsx")).AlertNotices);

/** The parts of alerts outside of their pane; the page loads the code of each with its first use. */
export function AlertParts() {
  return (
    <div class="alert-parts">
      {draft.value !== null && <AlertDialog />}
      {session.value !== null && <AlertNotices />}
    </div>
  );
}
