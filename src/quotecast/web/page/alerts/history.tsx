import { useEffect } from "preact/hooks";

import { moment } from "../formats.ts";
import { AnswerView, useVisible } from "../pane.tsx";
import { rest, useAnswer } from "../service.ts";
import { say } from "../words.ts";
import { arrivals } from "./events.ts";
import { numbers } from "./numbers.ts";
import { noticeOf } from "./text.ts";

const EVENTS_AT_MOST = 100;

/** The newest events, with their times. */
export function History() {
  const ask = () => rest.call("GET /api/alerts/events", { query: { limit: EVENTS_AT_MOST } });
  const answer = useAnswer(ask, "events", { active: useVisible() });
  const arrived = arrivals.value;
  useEffect(() => {
    if (arrived) answer.again();
  }, [arrived]);
  return (
    <AnswerView answer={answer}>
      {({ events }) =>
        events.length ? (
          <ol class="alert-events">
            {events.toReversed().map((event) => {
              const { title, text } = noticeOf(event, say, numbers);
              return (
                <li key={event.id}>
                  <time dateTime={event.happened_at}>{moment(event.happened_at)}</time>
                  <strong>{title}</strong> <span>{text}</span>
                </li>
              );
            })}
          </ol>
        ) : (
          <p class="quiet">{say("alertNoneYet")}</p>
        )
      }
    </AnswerView>
  );
}
