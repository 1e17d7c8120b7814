import { useEffect } from "preact/hooks";

import { moment } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import { select } from "../selection.ts";
import { session } from "../session.ts";
import { say } from "../words.ts";
import { notifyDevice, renewSubscription } from "./device.ts";
import { followEvents, shownEvents } from "./events.ts";
import { numbers } from "./numbers.ts";
import { noticeOf } from "./text.ts";

const STACKED_AT_MOST = 4;

/** Notices of the alerts that went off, each until the reader closes it. */
export function AlertNotices() {
  const user = session.value?.user.id ?? "";
  useEffect(() => followEvents(user, (event) => void notifyDevice(event)), [user]);
  useEffect(() => void renewSubscription().catch(() => undefined), [user]);
  const close = (id: number) => {
    shownEvents.value = shownEvents.value.filter((each) => each.id !== id);
  };
  const events = shownEvents.value;
  return (
    <div class="alert-notices" role="status">
      {events.slice(0, STACKED_AT_MOST).map((event) => {
        const { title, text } = noticeOf(event, say, numbers);
        return (
          <div key={event.id} class="notice" data-event={event.id}>
            <button
              type="button"
              class="link"
              onClick={() => {
                select(instrumentOf(event.type, event.ticker));
                close(event.id);
              }}
            >
              {title}
            </button>
            <button type="button" class="icon" aria-label={say("close")} onClick={() => close(event.id)}>
              ×
            </button>
            <p>
              {text} · <time dateTime={event.happened_at}>{moment(event.happened_at)}</time>
            </p>
          </div>
        );
      })}
      {events.length > 1 && (
        <button
          type="button"
          onClick={() => {
            shownEvents.value = [];
          }}
        >
          {say("dismissAll")} ({events.length})
        </button>
      )}
    </div>
  );
}
