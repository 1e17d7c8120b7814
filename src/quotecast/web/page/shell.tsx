import { moment } from "./formats.ts";
import { shownFrom } from "./last-visit.ts";
import { hasNewVersion } from "./service-worker.ts";
import { say } from "./words.ts";

/** Lines about the page itself: that its values are of the last visit, and that a newer page is ready. */
export function ShellNotices() {
  return (
    <>
      {shownFrom.value !== null && (
        <p class="old-state" role="status">
          {say("offlineAsOf", { time: moment(new Date(shownFrom.value).toISOString()) })}
        </p>
      )}
      {hasNewVersion.value && (
        <p class="notice floating new-version" role="status">
          {say("newVersion")}
          <button type="button" class="main" onClick={() => location.reload()}>
            {say("reload")}
          </button>
          <button
            type="button"
            class="icon"
            aria-label={say("close")}
            onClick={() => {
              hasNewVersion.value = false;
            }}
          >
            ×
          </button>
        </p>
      )}
    </>
  );
}
